"""The search's hold on the measuring process (worker.py): start, ask, wait with a deadline, kill.

The process is started as a plain command rather than through multiprocessing, which would import
the user's ``__main__`` and so fail in notebooks and in scripts without a guard. It has a session of
its own, so that a Ctrl-C in the terminal reaches only the search.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from .status import FAULT, OK, TIMEOUT
from .target import Request, Results, Run

ATTEMPTS = 3  # deaths in a row while base is set up before it is given up
DEATHS = 2  # in a row over one variant before they are put down to it
SET_UP_SECONDS = 300.0  # to start, open a device and draw the inputs
USERS = {"CUBC_POLICIES", "CUBC_TUNE"}  # variables that are not for the measuring process
TAIL = 2000  # bytes of the dead process's last words that are kept

# What a process does to itself. Any other end may have come from outside: SIGKILL is how a system
# short of memory picks its victims, SIGTERM how an administrator does.
CRASHES = {signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT}


class WorkerDied(RuntimeError):
    """The measuring process ended without a report.

    Attributes
    ----------
    crashed : bool
        Whether it was what it ran that ended it, and so would end it again.
    """

    def __init__(self, code: int, words: str):
        self.crashed = -code in CRASHES
        how = f"died of {_signal_name(-code)}" if code < 0 else f"left with status {code}"
        super().__init__(f"the measuring process {how}" + (f"\n{words}" if words else ""))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time one
        return f"signal {number}"


class WorkerLate(RuntimeError):
    """The measuring process gave no answer in time."""


class Closed(RuntimeError):
    """The measuring process is not needed any more."""


class BaseFailed(RuntimeError):
    """A compile-time workload cannot be searched because its base does not run."""


class Process:
    """One measuring process."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        # The base is the shipped one, whatever policies the user has overlaid.
        environment = {k: v for k, v in os.environ.items() if k not in USERS}
        self._words = tempfile.TemporaryFile()  # noqa: SIM115
        command = [sys.executable, "-m", "cubc.tuner.worker"]
        with theirs:
            self._process = subprocess.Popen(
                [*command, str(theirs.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=self._words,
                stderr=self._words,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                env=environment,
            )
        self._connection = Connection(ours.detach())

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    def send(self, *request: Any) -> None:
        """Send a request; WorkerDied if nobody is there to read it."""
        try:
            self._connection.send(request)
        except OSError:
            raise self._death() from None

    def receive(self, until: float | None = None) -> tuple:
        """Next reply; WorkerDied, or WorkerLate past the moment `until` of the monotonic clock."""
        left = None if until is None else max(0.0, until - time.monotonic())
        try:
            if not self._connection.poll(left):
                raise WorkerLate
            return self._connection.recv()
        except (EOFError, OSError):
            raise self._death() from None

    def _death(self) -> WorkerDied:
        try:
            code = self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        size = self._words.seek(0, os.SEEK_END)
        self._words.seek(max(0, size - TAIL))
        return WorkerDied(code, self._words.read().decode(errors="replace").strip())

    def kill(self) -> None:
        """End the process at once and give back everything that belongs to it."""
        self._connection.close()
        self._process.kill()
        self._process.wait()
        self._words.close()


class RemoteBench:
    """A benchmark opened in a measuring process that is replaced when it dies or hangs.

    Requests wait in a queue of which the process has the first ones already, so that it goes from
    one to the next without waiting for us.
    """

    def __init__(self, device: str) -> None:
        self._device = device
        self._process: Process | None = None
        self._what: tuple = ()  # asked for, not necessarily open yet
        self._open = False
        self._queue: deque[Waiting] = deque()
        self._sent = 0  # how many of the queue the process has
        self._fresh = (
            True  # it has answered nothing yet, so that what kills it is the first request
        )
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

    def open(self, what: tuple) -> None:
        """Set up a compile-time workload with all its run-time workloads.

        Parameters
        ----------
        what
            A unit's `opening`.

        Raises
        ------
        BaseFailed
            If base does not compile or load, the inputs do not fit, or the process died three
            times in a row.
        """
        self._what, self._open = (*what, self._device), False
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
        process.send("open", *self._what)
        reply = process.receive(time.monotonic() + SET_UP_SECONDS)
        if reply[0] == "refused":
            raise BaseFailed(reply[1])
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
        had been there, which may have spoilt the heap.

        Parameters
        ----------
        seconds
            Wall time that all of it may take in one process, from now on.

        Yields
        ------
        tuple
            A run, and the fields of a store's row that the evaluation found.
        """
        waiting = self._queue[0]
        for deaths in range(1, DEATHS + 1):
            try:
                process = self._ensure()
            except BaseException:  # nobody will answer it
                self._pop()
                raise
            suspect = self._fresh
            try:
                self._send(process)
                until = time.monotonic() + seconds
                while (reply := process.receive(until))[0] == "result":
                    _, run, fields = reply
                    suspect, self._fresh = True, False
                    waiting.done(run, fields)
                    yield run, fields
                self._pop(served=True)
                return
            except WorkerDied as death:
                self._end()
                if waiting.ended:  # after a fault it leaves of its own accord
                    return self._pop()
                if (death.crashed and suspect) or deaths == DEATHS:
                    again = f"\n({deaths} times in a row)" if deaths > 1 else ""
                    self._pop()
                    yield waiting.next, {"status": FAULT, "message": f"{death}{again}"}
                    return
            except WorkerLate:
                self._end()
                self._pop()
                if not waiting.ended:
                    late = f"ran for over {seconds:.1f} s"
                    yield waiting.next, {"status": TIMEOUT, "message": late}
                return

    def _pop(self, *, served: bool = False) -> None:
        self._queue.popleft()
        self._sent -= served


class Waiting:
    """A request whose results have not all come."""

    def __init__(self, request: Request):
        self.request = request
        self.ended = False

    @property
    def next(self) -> Run:
        """Run that comes next."""
        return self.request.runs[0]

    def done(self, run: Run, fields: dict[str, Any]) -> None:
        """Take note of a result: it is not asked for again."""
        left = [other for other in self.request.runs if other != run]
        self.request = self.request._replace(runs=left)
        self.ended = not left or fields["status"] != OK
