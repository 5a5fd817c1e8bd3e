"""The measuring process: ``python -P -m cubc.tuner._worker <socket>``.

A kernel that reads a bad address makes its CUDA context unusable, and one that hangs blocks it. So
variants run here and never in the user's process. The search (see _remote_bench.py) sends requests
over a socket and may kill this process at any moment. Requests and replies are tuples (see
_frames.py):

    ("open", *workload.opening, device)    ->  ("opened",) or ("refused", message)
    ("evaluate", Request)                  ->  ("result", Run, fields)..., ("done",)

An evaluation ends with its first failure, or when the variant has lost its race. After a fault the
device may be in any state, so the process ends and the search starts another.
"""

from __future__ import annotations

import faulthandler
import fcntl
import os
import random
import resource
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from cubc import _core
from cubc._trace import variant_range

from . import _frames as frames
from . import _limits as limits
from ._constraints import Constraint, compiled
from ._measurer import Request, Run
from ._space import parse_label
from ._status import FAILURES, FAULT, LOST, OK, PRUNED, WRONG, explain, failure
from ._user_benchmark import PickledWorkload, UserRunTimeWorkload

# A launch on outputs that were renewed: nothing may run before it, nor any launch twice.
ONCE = {"min_samples": 1, "max_samples": 1, "warmup": 0, "throttle_below": 0.0}
HOT_SECONDS = 0.01  # runs that follow each other: of base, and of a variant in its first round


class Bench:
    """A benchmark at one compile-time workload, with the inputs of all its run-time workloads."""

    def __init__(
        self, benchmark: str | PickledWorkload, ct: dict, rts: Sequence[dict], device: str
    ):
        make: Any
        self._name = benchmark if isinstance(benchmark, str) else "variant"
        if isinstance(benchmark, PickledWorkload):
            make = benchmark.load()
        else:
            make = partial(_core.Workload, benchmark, ct)
        self._threads_per_sm = _core.device_info(device)["threads_per_sm"]
        self._workloads: dict[int, Any] = {}  # each a _core.Workload or an UserRunTimeWorkload
        # The largest first: if memory does not suffice, that shows before anything is measured.
        for place in sorted(range(len(rts)), key=lambda i: -sum(rts[i].values())):
            self._workloads[place] = make(rts[place], device)
        self._bases = {place: load.variant("base") for place, load in self._workloads.items()}

    def measure(self, request: Request, run: Run, beat: float) -> dict[str, Any]:
        """Verify and measure a variant at one run-time workload, in a range of a profiler."""
        workload, base = self._workloads[run.place], self._bases[run.place]
        with variant_range(f"{self._name} {request.variant}"):
            return self._verify_and_measure(workload, base, request, run, beat)

    def _verify_and_measure(
        self, workload: Any, base: Any, request: Request, run: Run, beat: float
    ) -> dict[str, Any]:
        if run.round:
            base = workload.variant("base")
        opened = base if request.variant == "base" else workload.variant(request.variant)
        row = {"status": OK, "bytes": workload.bytes, "flops": workload.flops} | {
            name: opened.info[name]
            for name in ("registers", "local_bytes", "shared_bytes", "blocks_per_sm")
        }
        if broken := self._broken(request, opened.info):
            return row | {"status": PRUNED, "message": f"{broken} does not hold"}
        if request.variant == "base" or run.round == 1:
            row["hot"], *_ = workload.measure_hot(opened, HOT_SECONDS)
        if request.variant == "base":
            row |= _measured_fields(workload.measure(opened, **request.timing))
            row |= _metered(workload, opened, request.meter)
            wrong, checked = _compare_more(workload, opened, request.checks)
            row |= {"metrics": _metrics(workload, "base"), "checked": checked}
            return row | _verdict(wrong)
        wrong, checked = (0, 0) if run.round else (workload.verify(opened), 1)
        if not wrong:
            row |= _measured_fields(workload.measure(opened, base, beat=beat, **request.timing))
            row |= _metered(workload, opened, request.meter)
            wrong, more = _compare_more(workload, opened, request.checks)
            checked += more
        if not wrong:
            row["metrics"] = _metrics(workload, request.variant)
            if run.round:
                row |= _base_figures(workload, base, request.meter)
        row["checked"] = checked
        if wrong and workload.verify(base):  # inputs or outputs to compare with are spoilt
            sys.exit("base does not give its own results any more: something has overwritten them")
        return row | _verdict(wrong)

    def _broken(self, request: Request, info: dict[str, Any]) -> str | None:
        """First constraint that a variant does not fulfil."""
        if not request.limits:
            return None
        # They may name parameters besides; one that is called as a figure is stands for itself.
        values = compiled(info, self._threads_per_sm) | parse_label(request.variant)
        return next((text for text in request.limits if not Constraint(text)(values)), None)


def _compare_more(workload: Any, opened: Any, most: int) -> tuple[int | str, int]:
    """Compare more launches, timed as those before; return the error, 0 or "", and their number.

    A variant that is right once may be wrong at other times: what races depends on the clock, on
    what the caches hold and on what ran before.
    """
    wrong, checked = 0, 0
    while not wrong and checked < most:
        workload.poison()
        workload.measure(opened, **ONCE)
        wrong, checked = workload.wrong(), checked + 1
    return wrong, checked


def _verdict(wrong: int | str) -> dict[str, Any]:
    """Fields of a variant whose outputs are wrong, or not."""
    if not wrong:
        return {}
    message = wrong if isinstance(wrong, str) else f"{wrong} items differ from base's output"
    return {"status": WRONG, "message": message}


def _metered(workload: Any, opened: Any, seconds: float) -> dict[str, float]:
    """Time of runs that follow each other, and the power meanwhile, if that is asked for."""
    if not seconds:
        return {}
    hot, _, watts = workload.measure_hot(opened, seconds)
    return {"hot": hot, "power": watts}


def _metrics(workload: Any, label: str) -> str:
    """Metrics of a variant that ran just now, where a user's benchmark has some."""
    return workload.metrics(label) if isinstance(workload, UserRunTimeWorkload) else ""


def _base_figures(workload: Any, base: Any, seconds: float) -> dict[str, Any]:
    """Figures of base in a round, beside its samples."""
    found: dict[str, Any] = {f"base_{n}": v for n, v in _metered(workload, base, seconds).items()}
    if isinstance(workload, UserRunTimeWorkload):
        _compare_more(workload, base, 1)  # leaves its outputs
        found["base_metrics"] = _metrics(workload, "base")
    return found


def _measured_fields(measured: dict[str, Any]) -> dict[str, Any]:
    """Fields of a store's row that a measurement gives."""
    names = ("samples", "base_samples", "clocks", "base_clocks", "temperature", "power")
    return {name: measured[name] for name in names} | {"given_up": int(measured["given_up"])}


def replies(bench: Bench, request: Request) -> Iterator[tuple]:
    """Measure a variant, with a reply for each run-time workload.

    It ends with the first failure, or when the variant has lost its race.
    """
    speedups: dict[int, float] = {}
    race = request.race
    for run in request.runs:
        beat = race.needs(speedups, run.place) if race else 0.0
        if race and beat > race.caps[run.place]:
            row = {"status": LOST}
        else:
            before, compilers = relatives(), _core.compilers_started()
            try:
                row = bench.measure(request, run, max(0.0, beat))
            except FAILURES as error:
                row = failure(error)
            left = relatives() - before
            if compilers != _core.compilers_started():  # one may leave the server of its cache
                left &= limits.children(os.getpid())
            if left:
                row = {"status": FAULT, "message": f"left processes behind: {len(left)}"}
        yield ("result", run, row)
        if row["status"] == FAULT:
            sys.exit()
        if row["status"] != OK:
            break
        if race:
            speedups[run.place] = _speedup(row)
    yield ("done",)


def relatives() -> set[int]:
    """Other processes under the supervisor, which adopts those whose parents have ended."""
    return {*limits.descendants(os.getppid())} - {os.getpid()}


def _speedup(row: dict[str, Any]) -> float:
    times = (np.frombuffer(row[name], np.float32) for name in ("base_samples", "samples"))
    base, variant = map(np.median, times)
    return float(base / variant)


def serve(channel: socket.socket) -> None:
    """Answer requests until the search closes its end."""
    bench: Any = None
    requests = channel.makefile("rb")
    while request := frames.read_request(requests):
        kind, *arguments = request
        if kind == "open":
            bench = None  # frees the memory of the one before
            try:
                bench = Bench(*arguments)
            except Exception as error:
                answer(channel, ("refused", explain(error)))
            else:
                answer(channel, ("opened",))
        else:
            for reply in replies(bench, *arguments):
                answer(channel, reply)


def answer(channel: socket.socket, reply: tuple) -> None:
    """Send a reply."""
    channel.sendall(frames.frame(frames.encode(reply)))


def moved_away(descriptor: int) -> socket.socket:
    """Move the search's socket to a descriptor that a stray write or close does not meet.

    Processes that are started from here do not inherit it.
    """
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    least = most - 1 - random.randrange(1, max(2, most // 4))
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, least)
    os.close(descriptor)
    return socket.socket(fileno=moved)


def report_crashes() -> None:
    """Print the stack of the thread that a fatal signal is sent to.

    Those of other threads change while they are read, and a second fault would take the place of
    the first in what this process died of.
    """
    faulthandler.enable(all_threads=False)


def main() -> None:
    """Serve the search that started this process."""
    report_crashes()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with moved_away(int(sys.argv[1])) as channel:
        serve(channel)


if __name__ == "__main__":
    main()
