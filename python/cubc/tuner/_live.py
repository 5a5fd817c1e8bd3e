"""Two installations of cubc side by side: A and B are measured by turns, so drift cancels.

Two stores differ by the change and by the machine's drift between two searches (see `_compare`).
Here each round starts one process of each side and measures the same workloads in both, A before B
and in the next round B before A. A drift adds the same to both sides; what is left of it scatters
the rounds' ratios, and the interval comes from that scatter (see `_verdict`). Each round has
processes of its own, because times depend on where a process has its memory; within a process the
variant is opened several times. The processes have the limits of a search's (see `_process`).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cubc import _core

from . import _axes as ax
from ._checks import count
from ._compare import Compared, Comparison
from ._frames import Garbled
from ._process import Process, WorkerDied, WorkerLate
from ._verdict import (
    LEAST_ROUNDS,
    MORE_ROUNDS,
    MOST_ROUNDS,
    Verdict,
    confidence_of_all,
    judge,
    round_time,
)
from ._workload import CompileTimeWorkload, compile_time_workloads

OPENINGS = 4  # times that a variant is opened in one process
TIMING = {"min_samples": 10, "max_samples": 10, "timeout": 0.5}  # for each opening
SECONDS = 600.0  # time that a process may take; the first one compiles
SIDE = str(Path(__file__).with_name("_side.py"))


class Side(NamedTuple):
    """Command that runs a side, and its name in messages."""

    name: str
    python: str
    variables: dict[str, str]


def compare_live(
    a: str | os.PathLike,
    b: str | os.PathLike,
    R: str,
    axes: Mapping[str, Any] | None = None,
    *,
    variant: str = "base",
    device: str | None = None,
    rounds: int = MOST_ROUNDS,
) -> Comparison:
    """Measure two installations of cubc by turns, with a verdict on each workload.

    Parameters
    ----------
    a, b
        Before and after: the Python of an environment that has a cubc, as ``"old/bin/python"``; or
        a variable for this Python, as ``"CUBC_KERNELS=old/kernels"`` or ``"CUBC_CXX=clang++"``.
    R
        Name of a benchmark, or a regular expression that names match from their start.
    axes
        Axis name to one declared value or several, as in `search`; all by default.
    variant
        Variant that is measured: base, or a label that both sides have.
    device
        Where to measure; the default device if None.
    rounds
        Largest number of rounds; it ends earlier if all verdicts are decided. A round is two
        processes.

    Returns
    -------
    Comparison
        Its intervals hold together: fewer than 1 in 100 tables have a false verdict at all.

    Raises
    ------
    FileNotFoundError
        If a side is neither a Python nor a variable.
    LookupError, NoDeviceError
        As `search`.
    ValueError
        As `search`; and if a side cannot measure, as a variant that it does not have: the message
        says why, or has the end of its output.

    Examples
    --------
    >>> found = tuner.compare_live(
    ...     "old/bin/python", "new/bin/python", "reduce.sum"
    ... )  # doctest: +SKIP
    """
    sides = _side(a), _side(b)
    most = count("rounds", rounds)
    info = _core.device_info(device)
    wanted = compile_time_workloads(R, axes, info["arch"])
    request = {
        "device": info["name"],
        "variant": variant,
        "openings": OPENINGS,
        "timing": TIMING,
        "work": [[workload.benchmark, workload.ct, workload.rts] for workload in wanted],
    }
    places = sum(len(workload.rts) for workload in wanted)
    times: tuple[list[list[float]], ...] = ([], [])  # each side's, by round and place
    verdicts: list[Verdict] = []
    while len(times[0]) < most and not (verdicts and all(one.decided for one in verdicts)):
        for _ in range(min(MORE_ROUNDS if verdicts else LEAST_ROUNDS, most - len(times[0]))):
            order = (0, 1) if len(times[0]) % 2 == 0 else (1, 0)
            for which in order:
                times[which].append(measure(sides[which], request, places))
        verdicts = verdicts_of(*times)
    return Comparison([*_compared(wanted, info["model"], times, verdicts)])


def verdicts_of(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]]) -> list[Verdict]:
    """Verdict on each place, of the times of both sides by round and place."""
    ratios = np.asarray(a, float) / np.asarray(b, float)
    confidence = confidence_of_all(ratios.shape[1])
    return [judge(column, confidence=confidence) for column in ratios.T]


def _compared(
    wanted: Sequence[CompileTimeWorkload],
    device: str,
    times: tuple[list[list[float]], ...],
    verdicts: Sequence[Verdict],
) -> list[Compared]:
    names = [
        (workload.benchmark, ",".join(workload.ct.values()), ax.workload_text(rt), device)
        for workload in wanted
        for rt in workload.rts
    ]
    a, b = (np.median(one, axis=0).tolist() for one in times)
    return [Compared(*name, *pair) for name, *pair in zip(names, a, b, verdicts, strict=True)]


def _side(given: str | os.PathLike) -> Side:
    text = os.fspath(given)
    name, is_variable, value = text.partition("=")
    if is_variable and re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        return Side(text, sys.executable, {name: value})
    python = shutil.which(os.path.expanduser(text))
    if python is None:
        raise FileNotFoundError(
            f"there is no program {text!r:.200}: a side is the Python of an environment with cubc, "
            "or a variable with its value, as CUBC_KERNELS=old/kernels"
        )
    return Side(text, python, {})


def measure(side: Side, request: Mapping[str, Any], places: int) -> list[float]:
    """Times of all places in one process of a side; ValueError if it gives none."""
    try:
        answer = _ask(side, request)
    except WorkerLate:
        raise ValueError(f"{side.name}: no answer within {SECONDS:.0f} s") from None
    except WorkerDied as death:
        raise ValueError(f"{side.name}: {death}") from None
    if isinstance(answer, dict) and isinstance(answer.get("refused"), str):
        raise ValueError(f"{side.name}: {answer['refused']:.1000}")
    try:
        times = [float(np.exp(np.mean([np.log(round_time(o)) for o in one]))) for one in answer]
    except (ValueError, TypeError):
        times = []
    if len(times) != places or not (np.isfinite(times).all() and min(times) > 0):
        raise ValueError(f"{side.name}: its process gave no times: {answer!r:.200}")
    return times


def _ask(side: Side, request: Mapping[str, Any]) -> Any:
    """Answer of a process of a side."""
    process = Process([side.python, "-P", SIDE], side.variables, _decoded)
    try:
        process.write(json.dumps(request).encode())
        _, answer = process.receive(time.monotonic() + SECONDS)
        return answer
    finally:
        process.kill()


def _decoded(content: bytes) -> tuple[str, Any]:
    try:
        return "answer", json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Garbled("no JSON") from error
