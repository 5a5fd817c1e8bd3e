"""The measuring process: ``python -m cubc.tuner.worker <socket> <parent>``.

A kernel that reads a bad address poisons its CUDA context, and one that hangs blocks it; so
variants run here and never in the user's process. The search (see process.py) sends requests over a
socket and may kill this process at any moment. Requests and replies are plain tuples:

    ("open", *Unit.opening, device)        ->  ("opened",) or ("refused", message)
    ("evaluate", Request)                  ->  ("result", Run, fields)..., ("done",)

An evaluation ends with its first failure, or when the variant has lost its race. After a fault the
process does not trust its device any more and leaves; the search starts another.
"""

from __future__ import annotations

import faulthandler
import os
import select
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from cubc import _core

from .constraints import Constraint, compiled
from .own import Shipped
from .space import parse_label
from .status import FAILURES, FAULT, LOST, OK, PRUNED, WRONG, explain, failure
from .target import Request, Run

HOT_SECONDS = 0.01  # of runs that follow each other: of base, and of what is measured again


class Bench:
    """A benchmark at one compile-time workload, with the inputs of all its run-time workloads."""

    def __init__(self, benchmark: str | Shipped, ct: dict, rts: Sequence[dict], device: str):
        make: Any
        if isinstance(benchmark, Shipped):
            make = benchmark.load()
        else:
            make = partial(_core.Workload, benchmark, ct)
        self._threads_per_unit = _core.device_info(device)["threads_per_unit"]
        self._workloads: dict[int, Any] = {}  # each a _core.Workload or an OwnWorkload
        # The largest first: if memory does not suffice, that shows before anything is measured.
        for place in sorted(range(len(rts)), key=lambda i: -sum(rts[i].values())):
            self._workloads[place] = make(rts[place], device)
        self._bases = {place: load.variant("base") for place, load in self._workloads.items()}

    def evaluate(self, request: Request, run: Run, beat: float) -> dict[str, Any]:
        """Verify and measure a variant at one run-time workload."""
        workload, base = self._workloads[run.place], self._bases[run.place]
        if run.round:
            base = workload.variant("base")
        opened = base if request.variant == "base" else workload.variant(request.variant)
        row = {"status": OK, "bytes": workload.bytes} | {
            name: opened.info[name]
            for name in ("registers", "local_bytes", "shared_bytes", "blocks_per_unit")
        }
        if broken := self._broken(request, opened.info):
            return row | {"status": PRUNED, "message": f"{broken} does not hold"}
        if request.variant == "base" or run.round == 1:
            row["hot"], _ = workload.measure_hot(opened, HOT_SECONDS)
        if request.variant == "base":
            return row | _kept(workload.measure(opened, **request.timing))
        wrong = 0 if run.round else workload.verify(opened)
        if wrong and workload.verify(base):  # inputs or outputs to compare with are spoilt
            sys.exit("base does not give its own results any more: something has overwritten them")
        if wrong:
            said = isinstance(wrong, str)
            message = wrong if said else f"{wrong} items differ from base's output"
            return row | {"status": WRONG, "message": message}
        return row | _kept(workload.measure(opened, base, beat=beat, **request.timing))

    def _broken(self, request: Request, info: dict[str, Any]) -> str | None:
        """First constraint that a variant does not fulfil."""
        if not request.limits:
            return None
        # They may name parameters besides; one that is called as a figure is stands for itself.
        values = compiled(info, self._threads_per_unit) | parse_label(request.variant)
        return next((text for text in request.limits if not Constraint(text)(values)), None)


def _kept(measured: dict[str, Any]) -> dict[str, Any]:
    """Fields of a store's row that a measurement gives."""
    names = ("samples", "base_samples", "clocks", "base_clocks", "temperature", "power")
    return {name: measured[name] for name in names} | {"given_up": int(measured["given_up"])}


def evaluate(bench: Bench, request: Request) -> Iterator[tuple]:
    """Reply for each run-time workload, up to the first failure or the end of its race."""
    known: dict[int, float] = {}
    race = request.race
    for run in request.runs:
        beat = race.needs(known, run.place) if race else 0.0
        if race and beat > race.caps[run.place]:
            row = {"status": LOST}
        else:
            try:
                row = bench.evaluate(request, run, max(0.0, beat))
            except FAILURES as error:
                row = failure(error)
        yield ("result", run, row)
        if row["status"] == FAULT:
            sys.exit()
        if row["status"] != OK:
            break
        if race:
            known[run.place] = _speedup(row)
    yield ("done",)


def _speedup(row: dict[str, Any]) -> float:
    times = (np.frombuffer(row[name], np.float32) for name in ("base_samples", "samples"))
    base, variant = map(np.median, times)
    return float(base / variant)


def serve(connection: Connection) -> None:
    """Answer requests until the search closes its end."""
    bench: Any = None
    while True:
        try:
            kind, *arguments = connection.recv()
        except EOFError:
            return
        if kind == "open":
            bench = None  # frees the memory of the one before
            try:
                bench = Bench(*arguments)
            except Exception as error:
                connection.send(("refused", explain(error)))
            else:
                connection.send(("opened",))
        else:
            for reply in evaluate(bench, *arguments):
                connection.send(reply)


def leave_with_search(socket: int, parent: int) -> None:
    """End this process as soon as the search is gone, whatever a kernel is doing.

    The second condition serves when somebody else still holds the search's end of the socket.
    """
    poll = select.poll()
    poll.register(socket, 0)  # nothing but the other end closing
    while not poll.poll(1000) and os.getppid() == parent:
        pass
    os._exit(1)


def main() -> None:
    """Serve the search that started this process."""
    socket, parent = map(int, sys.argv[1:])
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=leave_with_search, args=(socket, parent), daemon=True).start()
    with Connection(socket) as connection:
        serve(connection)


if __name__ == "__main__":
    main()
