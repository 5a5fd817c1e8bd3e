"""Verification of new policies: which workloads they slow down.

A search scores a variant over all sizes, so a winner may lose at some. `verify` measures each
workload of a changed policy in rounds and gives a verdict on it. The manifests of `_machine_code`
show whether a change affects other types and architectures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cubc import _core

from . import _axes as ax
from ._compare import Compared, Comparison
from ._local import Local, local
from ._measurer import Request, Run
from ._restriction import restrict
from ._status import OK
from ._stores import StorePaths, expand, measurement, read
from ._verdict import LEAST_ROUNDS, MORE_ROUNDS, MOST_ROUNDS, Verdict, confidence_of_all, judge
from ._warning import warn
from ._winners import Winner, no_winner, warn_unconfirmed, winners
from ._workload import CompileTimeWorkload, compile_time_workloads

TIMING = {"min_samples": 20, "max_samples": 20, "timeout": 0.5}  # for each workload in a round
LARGEST = 28  # exponent of the elements at the end of a range


def verify(
    benchmark: str,
    variant: str,
    axes: Mapping[str, Any] | None = None,
    *,
    device: str | None = None,
) -> Comparison:
    """Hold a variant against base at every run-time workload, a verdict for each.

    Parameters
    ----------
    benchmark
        Name of one benchmark.
    variant
        The label that is to become the policy.
    axes
        Compile-time workloads that it is for, as ``{"T": "F32"}``; all by default.
    device
        Where to measure; the default device if None.

    Returns
    -------
    Comparison
        With base as the first and the variant as the second; ``slower`` are the regressions.

    Raises
    ------
    LookupError, NoDeviceError
        As `search`.
    TypeError
        If the variant is no text.
    ValueError
        As `search`; and if the variant is none, or fails somewhere: the message says how.
    BaseFailed
        If base does not run.

    Examples
    --------
    >>> label = tuner.analyze("my.db", "reduce.sum", {"T": "F32"}).best().label  # doctest: +SKIP
    >>> tuner.verify("reduce.sum", label, {"T": "F32"}).slower  # doctest: +SKIP
    []
    """
    if not isinstance(variant, str):
        raise TypeError(f"variant is {variant!r:.80}, must be a label, as best().label gives one")
    info = _core.device_info(device)
    workloads = compile_time_workloads(benchmark, axes, info["arch"])
    return _verify(info, [(workload, variant) for workload in workloads])


def verify_winners(
    paths: StorePaths,
    R: str | None = None,
    axes: Mapping[str, Any] | None = None,
    *,
    device: str | None = None,
) -> Comparison:
    """Hold the winners of some stores against base, each where it won and at the ends of its range.

    The winners are those that `Analysis.policies` prints, of the architecture of the device. One
    that was found at a number of elements, not at an exponent of two, is measured there alone.

    Parameters
    ----------
    paths
        Stores, or glob patterns.
    R, axes
        Restrict benchmarks and compile-time workloads, as in `analyze`.
    device
        Where to measure; the default device if None.

    Returns
    -------
    Comparison
        As of `verify`, of all winners together.

    Raises
    ------
    FileNotFoundError, StoreError, LookupError
        As `analyze`.
    ValueError, BaseFailed, NoDeviceError
        As `verify`; and ValueError if the stores have no winner for the device.

    Examples
    --------
    >>> print(tuner.verify_winners("my.db").markdown())  # doctest: +SKIP
    """
    info = _core.device_info(device)
    arch = info["arch"]
    groups = [group for group in restrict(read(expand(paths)), R, axes) if group.arch == arch]
    passed = {str(group.benchmark) for group in groups if not group.current}
    if stale := sorted(passed.intersection(_core.benchmarks())):
        warn(
            f"{', '.join(stale)}: measurements of another version of the kernel were passed over; "
            "search again to renew them"
        )
    current = [group for group in groups if group.current]
    warn_unconfirmed(current, by_workload=True)
    wanted = [
        (workload, one.label)
        for one in winners(current, by_workload=True)
        for workload in compile_time_workloads(one.group.benchmark, _axes_of(one), arch)
    ]
    if not wanted:
        own = ", ".join(sorted(passed.difference(_core.benchmarks())))
        also = f" ({own}: not built in; compare its stores instead)" if own else ""
        raise ValueError(no_winner(expand(paths), groups, f" on {arch}") + also)
    return _verify(info, wanted)


def _axes_of(one: Winner) -> dict[str, Any]:
    """Axes of the workload where a policy won, and of the ends of the range that it is for."""
    axes: dict[str, Any] = {**one.group.ct, **one.group.workloads[0]}
    if (at := axes.get(ax.ELEMENTS)) is not None:
        axes[ax.ELEMENTS] = [n for n in (at - 2, at, at + 2) if 0 <= n <= max(at, LARGEST)]
    return axes


def _verify(
    info: Mapping[str, Any], wanted: Sequence[tuple[CompileTimeWorkload, str]]
) -> Comparison:
    confidence = confidence_of_all(sum(len(workload.rts) for workload, _ in wanted))
    found: list[Compared] = []
    measurer = local(info)
    try:
        for workload, variant in wanted:
            found += _verified(measurer, workload, variant, confidence)
    finally:
        measurer.close()
    return Comparison(found)


def _verified(
    measurer: Local, workload: CompileTimeWorkload, variant: str, confidence: float
) -> Iterator[Compared]:
    for rt in workload.rts:
        if reason := _core.variant_invalid(*workload.policy_key, variant, rt):
            raise ValueError(f"{variant} is no variant for {workload}: {reason}")
    every = range(len(workload.rts))
    list(measurer.begin(workload, Request("base", [Run(0, place) for place in every], TIMING)))
    measurer.submit(Request(variant, [Run(0, place) for place in every], TIMING))  # its results
    _check(workload, variant, measurer)
    ratios: list[list[float]] = [[] for _ in every]
    times: list[tuple[float, float]] = [(0.0, 0.0) for _ in every]
    verdicts: list[Verdict] = []
    rounds = 0
    while rounds < MOST_ROUNDS and not (rounds and all(one.decided for one in verdicts)):
        more = range(rounds + 1, rounds + 1 + (MORE_ROUNDS if rounds else LEAST_ROUNDS))
        rounds = more[-1]
        measurer.submit(Request(variant, [Run(n, place) for n in more for place in every], TIMING))
        for place, cell in _check(workload, variant, measurer):
            ratios[place].append(cell.ratio)
            times[place] = (cell.base_center, cell.center)
        verdicts = [judge(some, confidence=confidence) for some in ratios]
    for place in every:
        ct, at = ",".join(workload.ct.values()), ax.workload_text(workload.rts[place])
        yield Compared(
            workload.benchmark, ct, at, measurer.info["model"], *times[place], verdicts[place]
        )


def _check(workload: CompileTimeWorkload, variant: str, measurer: Local) -> list[tuple[int, Any]]:
    """Measurements of the oldest request by place; ValueError if one failed."""
    found = []
    _, results = measurer.next()
    for run, fields in results:
        if fields["status"] != OK:
            what = f"{workload} {ax.workload_text(workload.rts[run.place])} {variant}"
            raise ValueError(f"{what}: {fields['status']}: {fields.get('message', '')}")
        row = workload.row(variant, run.place, run.round) | fields
        found.append((run.place, measurement(row, "", workload.rts[run.place])))
    return found
