"""``python -m cubc.tuner._demo``: search live, and see the next call run faster because of it."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import cubc
from cubc import _core

from ._analyze import winners
from ._axes import items
from ._policies import use_policies
from ._search import search

SECONDS = 45.0  # for the search
ROUNDS = 60  # timed calls of each kind and size
ELEMENTS = {"cpu": [16, 20, 24], "cuda": [16, 20, 24, 28]}


def main() -> None:
    """Run the demonstration on the default device."""
    device = _core.device_info()
    elements = ELEMENTS[device["kind"]]
    print(f"Searching reduce.sum for F64 on {device['model']}, about {SECONDS:.0f} s ...\n")
    _core.clear_policies()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder, "demo.db")
        result = search("reduce.sum", {"T": "F64", "Elements": elements}, db=store, seconds=SECONDS)
        tried = len(result.groups[0].cells) - 1
        print(f"{tried} variants were measured. The best, against the policies that cubc ships:\n")
        print(result.top(5).to_string(index=False, float_format="{:.3f}".format))
        found = winners(result.groups, by_workload=True)
        if not found:
            print("\nNothing was found FASTER here: the next calls run what they ran before.")
            return
        arrays = {e: np.random.default_rng(42).random(1 << e) for e in elements}
        before, after = _compare(arrays, device["name"], store)
    print("\nMeasured again and found FASTER, so that the next calls run it:\n")
    for one in found:
        sizes = ", ".join(f"2^{items(rt).bit_length() - 1}" for rt in one.group.workloads)
        print(f"{sizes}: {one.label}, {one.group.verdict(one.label)}")
    print("\nThe same call, x on the device, median time in microseconds:\n")
    _table(arrays, before, after)
    print("\nbefore: the shipped policies; after: with the winners in force.")


def _compare(
    arrays: dict[int, np.ndarray], device: str, store: Path
) -> tuple[dict[int, float], dict[int, float]]:
    """Median seconds of ``cubc.reduce(x)`` before and after the found policy.

    Both are timed in turns, so that a drift of the machine meets both alike.
    """
    before: dict[int, list[float]] = {e: [] for e in arrays}
    after: dict[int, list[float]] = {e: [] for e in arrays}
    on_device = {e: cubc.asarray(x, device=device) for e, x in arrays.items()}
    outs = {e: cubc.empty((), x.dtype, device=device) for e, x in arrays.items()}
    for _ in range(6):
        for times in (before, after):
            _core.clear_policies()
            if times is after:
                use_policies(store)
            for e, x in on_device.items():
                times[e] += _times(partial(_reduce, x, outs[e], device), ROUNDS // 6)
    return _medians(before), _medians(after)


def _reduce(x: cubc.Array, out: cubc.Array, device: str) -> None:
    cubc.reduce(x, out=out)
    _core.synchronize(device)


def _medians(times: dict[int, list[float]]) -> dict[int, float]:
    return {e: statistics.median(taken) for e, taken in times.items()}


def _times(call: Callable[[], object], rounds: int) -> list[float]:
    call()  # compiles or warms up
    taken = []
    for _ in range(rounds):
        begin = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begin)
    return taken


def _table(
    arrays: dict[int, np.ndarray], before: dict[int, float], after: dict[int, float]
) -> None:
    print(f"{'Elements':>10} {'before':>10} {'after':>10} {'gain':>7} {'numpy.sum':>10}")
    for e, x in arrays.items():
        numpy = statistics.median(_times(x.sum, ROUNDS // 3))
        row = f"{'2^' + str(e):>10} {before[e] * 1e6:10.1f} {after[e] * 1e6:10.1f}"
        print(f"{row} {before[e] / after[e]:6.2f}x {numpy * 1e6:10.1f}")


if __name__ == "__main__":
    main()
