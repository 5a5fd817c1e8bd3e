"""The driver's hold on the measuring process (worker.py): start, ask, wait with a deadline, kill.

The process is started as a plain command rather than through multiprocessing, which would import
the user's ``__main__`` and so fail in notebooks and in scripts without a guard. It has a session of
its own, so that a Ctrl-C in the terminal reaches only the driver.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any

from .status import FAULT, OK, TIMEOUT

ATTEMPTS = 3  # deaths in a row while base is set up before it is given up
DEATHS = 2  # in a row over one variant before they are put down to it
SET_UP_SECONDS = 300.0  # to start, open a device and draw the inputs
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


class BaseFailed(RuntimeError):
    """A compile-time workload cannot be searched because its base does not run."""


class Process:
    """One measuring process."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        # The base is the shipped one, whatever policies the user has overlaid.
        environment = {k: v for k, v in os.environ.items() if k != "CUBC_POLICIES"}
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
    """A benchmark opened in a measuring process that is replaced when it dies or hangs."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._process: Process | None = None
        self._what: tuple = ()  # asked for, not necessarily open yet
        self._open = False

    def close(self) -> None:
        """End the process; it is started again when it is needed."""
        self._open = False
        if self._process is not None:
            self._process.kill()
            self._process = None

    def open(self, benchmark: str, ct: dict, rts: Sequence[dict]) -> None:
        """Set up a compile-time workload with all its run-time workloads.

        Raises
        ------
        BaseFailed
            If base does not compile or load, the inputs do not fit, or the process died three
            times in a row.
        """
        self._what, self._open = (benchmark, ct, list(rts), self._device), False
        self._ensure()

    def _ensure(self) -> Process:
        """Return a process that has the benchmark open."""
        deaths = 0
        while True:
            try:
                if self._process is None:
                    self._process = Process()
                if not self._open:
                    self._set_up(self._process)
                return self._process
            except (WorkerDied, WorkerLate) as death:
                self.close()
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

    def evaluate(
        self, variant: str, which: Sequence[int], timing: dict, seconds: float
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Verify and measure a variant, in order, up to its first failure.

        Where the process dies and the variant need not be the cause, a fresh one goes on once.

        Parameters
        ----------
        variant
            A label or ``"base"``.
        which
            Places of the run-time workloads among those opened.
        timing
            Options of ``Workload.measure``.
        seconds
            Wall time that all of it may take in one process.

        Yields
        ------
        tuple
            A place, and the fields of a store's row that the evaluation found.
        """
        left = list(which)
        for deaths in range(1, DEATHS + 1):
            process = self._ensure()
            ended = False
            try:
                process.send("evaluate", variant, left.copy(), timing)
                until = time.monotonic() + seconds
                while (reply := process.receive(until))[0] == "result":
                    _, place, fields = reply
                    left.remove(place)
                    ended = not left or fields["status"] != OK
                    yield place, fields
                return
            except WorkerDied as death:
                self.close()
                if ended:  # after a fault it leaves of its own accord
                    return
                if death.crashed or deaths == DEATHS:
                    again = f"\n({deaths} times in a row)" if deaths > 1 else ""
                    yield left[0], {"status": FAULT, "message": f"{death}{again}"}
                    return
            except WorkerLate:
                self.close()
                if not ended:
                    late = f"ran for over {seconds:.1f} s"
                    yield left[0], {"status": TIMEOUT, "message": late}
                return
