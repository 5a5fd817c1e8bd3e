"""``python -m cubc.tuner._demo``: a kernel of one's own is searched, and called before and after.

A kernel that nobody has tuned has a gain on every device; cubc's own have policies already.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import cubc
from cubc import _core

from ._benchmark import benchmark
from ._result import Result
from ._search import search
from ._state import State
from ._tuned import TunedKernel

SECONDS = 40.0  # for the search
ROUNDS = 60  # timed calls of each kind and size
ELEMENTS = {"cpu": [12, 14], "cuda": [16, 20, 24]}

SOURCE = """\
// %RANGE% TUNE_THREADS tpb 64:1024:64
// %RANGE% TUNE_ITEMS ipt 1,2,4,8
__global__ void saxpy(const T* x, T* y, T a, int n)
{
    int first = blockIdx.x * TUNE_THREADS * TUNE_ITEMS + threadIdx.x;
    for (int k = 0, i = first; k < TUNE_ITEMS; k++, i += TUNE_THREADS)
        if (i < n) y[i] += a * x[i];
}
"""


@benchmark(SOURCE, {"T{ct}": "F32", "Elements{io}[pow2]": [12, 14, 16, 20, 24]})
def saxpy(state: State) -> None:
    """Give saxpy its arrays, and say what it has to leave in them."""
    x, y = state.random(), state.random()
    state.reads(x, y)
    state.writes(y)
    state.verify(y, 2 * x.numpy() + y.numpy())
    state.exec(lambda launch: launch.kernel("saxpy", x, y, 2.0, y.size))


def main() -> None:
    """Run the demonstration on the default device."""
    device = _core.device_info()
    elements = ELEMENTS[device["kind"]]
    print(f"A kernel that nobody has tuned; %RANGE% says what may be:\n\n{SOURCE}")
    print(
        f"Searched on {device['model']}, {SECONDS:.0f} s; every variant is checked:\n", flush=True
    )
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder, "demo.db")
        sizes = {"Elements": elements}
        result = search(saxpy, sizes, db=store, seconds=SECONDS, progress=True)
        print(f"\n{len(result.groups[0].cells) - 1} variants were measured. The best, and base:\n")
        print(result.top(5))
        _tell(result, elements, device["name"])


def _tell(result: Result, elements: list[int], device: str) -> None:
    (group,) = result.groups
    winner = group.winner()
    if winner is None:
        print("\nNothing was found FASTER here: base stays.")
        return
    label = winner[1]
    print(f"\nThe winner, measured again in rounds of its own: {label}")
    print(f"Its verdict: {group.verdict(label)}")
    before, after = result.kernel(variant="base"), result.kernel()
    print("\nf = result.kernel(); f(x, y, 2.0, n): median time in microseconds\n")
    print(f"{'Elements':>10} {'before':>10} {'after':>10} {'gain':>7}")
    for e in elements:
        slow, fast = _compare(before, after, 1 << e, device)
        print(f"{f'2^{e}':>10} {slow * 1e6:10.1f} {fast * 1e6:10.1f} {slow / fast:6.2f}x")
    print(f"\nbefore: base, {before.label}; after: the winner.")


def _compare(before: TunedKernel, after: TunedKernel, n: int, device: str) -> tuple[float, float]:
    """Median seconds of a call of each; in turns, so that a drift of the machine meets both."""
    x = cubc.asarray(np.ones(n, np.float32), device=device)
    y = cubc.asarray(np.zeros(n, np.float32), device=device)

    def call(kernel: TunedKernel) -> Callable[[], None]:
        def run() -> None:
            kernel(x, y, 2.0, n)
            _core.synchronize(device)

        return run

    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(6):
        for taken, kernel in zip(times, (before, after), strict=True):
            taken += _times(call(kernel), ROUNDS // 6)
    return statistics.median(times[0]), statistics.median(times[1])


def _times(call: Callable[[], object], rounds: int) -> list[float]:
    call()  # loads or warms up
    taken = []
    for _ in range(rounds):
        begin = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begin)
    return taken


if __name__ == "__main__":
    main()
