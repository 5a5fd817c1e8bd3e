"""A benchmark that is open in a measuring process, and the requests that wait for it.

A measuring process (_process.py) may die or hang over a variant. It is replaced here, and here the
fault is put down to the variant, to one before it that has damaged the shared memory, or to nobody.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ._measurer import Late, Request, Results, Run
from ._process import Process, WorkerDied, WorkerLate
from ._status import OK, TIMEOUT, WRONG

ATTEMPTS = 3  # deaths in a row while base is set up before it is given up
CHECKS_OF_WRONG = 16  # launches compared of a variant that was wrong in a process of others
DEATHS = 2  # in a row over one variant before they are put down to it
SET_UP_SECONDS = 300.0  # to start, open a device and draw the inputs


class Closed(RuntimeError):
    """The measuring process is not needed any more."""


class BaseFailed(RuntimeError):
    """A compile-time workload cannot be searched because its base does not run.

    Examples
    --------
    >>> try:
    ...     tuner.search("reduce.sum")  # doctest: +SKIP
    ... except tuner.BaseFailed as error:
    ...     print(error)
    """


def check_base(fields: Mapping[str, Any]) -> None:
    """Raise BaseFailed unless a result of base is one."""
    if fields["status"] == TIMEOUT:
        raise BaseFailed(f"{fields['message']}: it hangs, or its workloads are too large")
    if fields["status"] != OK:
        raise BaseFailed(fields["message"])


class RemoteBench:
    """A benchmark opened in a measuring process that is replaced when it dies or hangs.

    Requests wait in a queue of which the process has the first ones already, so that it goes from
    one to the next without waiting for us.
    """

    def __init__(self, device: str) -> None:
        self._device = device
        self._process: Process | None = None
        self._opening: tuple = ()  # asked for, not necessarily open yet
        self._open = False
        self._queue: deque[Waiting] = deque()
        self._sent = 0  # number of the queue's first that the process has
        self._fresh = True  # it has answered nothing yet: what kills it is its first request
        self._closed = False

    def close(self) -> None:
        """End the process for good; whoever waits for a result gets WorkerDied."""
        self._closed = True
        self._end()

    def _end(self) -> None:
        self._open, self._sent, self._fresh = False, 0, True
        process, self._process = self._process, None
        if process is not None:
            process.kill()

    def open(self, opening: tuple) -> None:
        """Set up a compile-time workload with all its run-time workloads.

        Parameters
        ----------
        opening
            A compile-time workload's `opening`.

        Raises
        ------
        BaseFailed
            If base does not compile or load, the inputs do not fit, or the process died three
            times in a row.
        """
        self._opening, self._open = (*opening, self._device), False
        self._ensure()

    def _ensure(self) -> Process:
        """Return a process that has the benchmark open."""
        deaths = 0
        while True:
            try:
                if self._closed:
                    raise Closed
                if self._process is None:
                    self._process = Process()
                if self._closed:  # while it was started
                    self._end()
                    raise Closed
                if not self._open:
                    self._set_up(self._process)
                return self._process
            except (WorkerDied, WorkerLate) as death:
                self._end()
                deaths += 1
                if deaths == ATTEMPTS:
                    late = f"the measuring process was not ready within {SET_UP_SECONDS:.0f} s"
                    reason = late if isinstance(death, WorkerLate) else str(death)
                    raise BaseFailed(f"{reason}\n({deaths} times in a row)") from None

    def _set_up(self, process: Process) -> None:
        process.send("open", *self._opening)
        reply = process.receive(time.monotonic() + SET_UP_SECONDS)
        if reply[0] == "refused":
            raise BaseFailed(reply[1])
        if reply[0] != "opened":
            raise process.reject()
        self._open = True

    def put(self, request: Request) -> None:
        """Queue a request. The process gets it now if it is there, else with the next `take`."""
        self._queue.append(Waiting(request))
        if self._open and self._process is not None:
            with suppress(WorkerDied):  # is found out when results are read
                self._send(self._process)

    def _send(self, process: Process) -> None:
        while self._sent < len(self._queue):
            process.send("evaluate", self._queue[self._sent].request)
            self._sent += 1

    def take(self, seconds: float) -> Results:
        """Results of the oldest request, in order, up to its first failure.

        Where the process dies and the variant need not be the cause, a fresh one goes on once: it
        was killed from outside, or it crashed before the variant's first result and after others
        had been there, which may have spoilt the heap; or what it gave is wrong after others had
        been there, which may have written anywhere. One that is wrong in a fresh process is the
        last there.

        Parameters
        ----------
        seconds
            Wall time that all of it may take in one process, from now on.

        Yields
        ------
        tuple
            A run, and the fields of a store's row that the evaluation found.

        Raises
        ------
        Late
            Past the moment at which it is given up, if it has not had its seconds by then.
        """
        waiting = self._queue[0]
        until = waiting.request.until
        end = math.inf if until is None else until
        deaths = 0
        while True:
            try:
                if time.monotonic() > end and not self._sent:
                    raise Late
                process = self._ensure()
            except BaseException:  # nobody will answer it
                self._pop()
                raise
            suspect = first = self._fresh
            try:
                self._send(process)
                process.begin()
                late = time.monotonic() + seconds
                while (reply := process.receive(min(late, end)))[0] == "result":
                    _, run, fields = reply
                    if run not in waiting.request.runs:
                        raise process.reject()
                    if fields["status"] == WRONG and not first:
                        break
                    suspect, self._fresh = True, False
                    waiting.done(run, fields)
                    yield run, fields
                    if fields["status"] == WRONG:
                        self._pop()
                        return self._end()
                if reply[0] == "result":
                    self._end()
                    waiting.check_more()
                    continue
                if reply[0] != "done":
                    raise process.reject()
                self._pop(served=True)
                return
            except WorkerDied as death:
                self._end()
                deaths += 1
                if waiting.ended:  # after a fault it leaves of its own accord
                    return self._pop()
                if (death.crashed and suspect) or deaths == DEATHS:
                    times = f"\n({deaths} times in a row)" if deaths > 1 else ""
                    self._pop()
                    yield waiting.next, {"status": death.status, "message": f"{death}{times}"}
                    return
            except WorkerLate:
                self._end()
                self._pop()
                if waiting.ended:
                    return
                if end < late:
                    raise Late from None
                message = f"ran for over {seconds:.1f} s"
                yield waiting.next, {"status": TIMEOUT, "message": message}
                return

    def _pop(self, *, served: bool = False) -> None:
        self._queue.popleft()
        self._sent -= served


class Waiting:
    """A request whose results have not all come."""

    def __init__(self, request: Request):
        self.request = request
        self.ended = False

    def check_more(self) -> None:
        """Have more launches compared, so that an error that shows now and then shows again."""
        self.request = self.request._replace(checks=CHECKS_OF_WRONG)

    @property
    def next(self) -> Run:
        """Run that comes next."""
        return self.request.runs[0]

    def done(self, run: Run, fields: dict[str, Any]) -> None:
        """Take note of a result: it is not asked for again."""
        left = [other for other in self.request.runs if other != run]
        self.request = self.request._replace(runs=left)
        self.ended = not left or fields["status"] != OK
