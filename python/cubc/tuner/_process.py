"""One measuring process as a search or a live comparison holds it: start, ask, wait, kill.

The process is started as a plain command rather than through multiprocessing, which would import
the user's ``__main__`` and so fail in notebooks and in scripts without a guard. Its parent is a
supervisor (_supervisor.py): when that ends, all that the process has started ends. It has a session
of its own, so a Ctrl-C in the terminal reaches only the search. Nothing of the current folder is on
its path.

Nothing that it sends is trusted. Replies are read against a deadline and decoded as data
(_frames.py). While a reply is awaited, the process's memory, files and output are watched
(_limits.py).
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

from . import _frames as frames
from . import _limits as limits
from ._status import FAULT, RESOURCES
from ._supervisor import SURVIVING

START_SECONDS = 30.0  # for the supervisor alone
ENDING = SURVIVING + 2.0  # seconds that the supervisor may take to end what there is, and itself
GRACE = 2.0  # seconds in which a process that has closed its end of the socket has to end
TICK = 0.25  # seconds between two looks at what the process holds
USERS = {
    "CUBC_POLICIES",
    "CUBC_RECORD",
    "CUBC_RECORD_KEYS",
    "CUBC_TUNE",
}  # variables that are not for the measuring process
TAIL = 2000  # bytes kept of the end of what the process prints
READ_BYTES = 1 << 16  # at a time
LINE = 32  # bytes of a line of the supervisor
SUPERVISOR = [sys.executable, "-I", "-S", str(Path(__file__).with_name("_supervisor.py"))]
WORKER = [sys.executable, "-P", "-m", "cubc.tuner._worker"]

# Signals of what a process does to itself. Any other end may have come from outside: SIGKILL is how
# a system short of memory picks its victims, SIGTERM how an administrator does.
CRASHES = {signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT}


class WorkerDied(RuntimeError):
    """The measuring process ended without a report.

    Attributes
    ----------
    crashed : bool
        True if the variant that ran ended it, and so would end it again.
    status : str
        Status of the variant, if that was the cause.
    """

    def __init__(self, message: str, output: str, *, crashed: bool, status: str = FAULT):
        super().__init__(f"the measuring process {message}" + (f"\n{output}" if output else ""))
        self.crashed, self.status = crashed, status


def _ending(code: int) -> str:
    """Describe the end of a process that left this status."""
    if code >= 0:
        return f"left with status {code}"
    try:
        return f"died of {signal.Signals(-code).name}"
    except ValueError:  # a real-time one
        return f"died of signal {-code}"


class WorkerLate(RuntimeError):
    """The measuring process gave no answer in time."""


class Process:
    """One measuring process.

    Parameters
    ----------
    command
        Program that serves the socket whose descriptor is its last argument; _worker.py by default.
    variables
        Variables of its environment, beside those of this process.
    decode
        Function that gives a reply's content as a tuple; ``frames.Garbled`` if it is no reply.

    Attributes
    ----------
    pid : int
        Number of the process, whose parent is the supervisor.
    """

    def __init__(
        self,
        command: Sequence[str] = WORKER,
        variables: Mapping[str, str] = MappingProxyType({}),
        decode: Callable[[bytes], tuple] = frames.decode,
    ) -> None:
        self._memory = limits.memory()
        # The base is the shipped one, whatever policies the user has overlaid.
        environment = {k: v for k, v in os.environ.items() if k not in USERS} | {**variables}
        self._socket, theirs = socket.socketpair()
        reading, writing = os.pipe()
        self._output = open(reading, "rb", buffering=0)  # noqa: SIM115
        with theirs, open(writing, "wb", buffering=0) as stderr:
            channel = str(theirs.fileno())
            self._supervisor = subprocess.Popen(
                [*SUPERVISOR, channel, *command, channel],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                env=environment,
                bufsize=0,
            )
        self._socket.setblocking(False)
        os.set_blocking(self._output.fileno(), False)
        self._replies = frames.Buffer(decode)
        self._unsent = bytearray()  # sent as soon as the process reads it
        self._last_output = bytearray()  # the end of what was printed
        self._printed = 0  # bytes, since the last request was begun
        self._looked = 0.0  # moment of the last look at its limits
        self._lock = threading.RLock()  # held by whoever uses or closes what `kill` closes
        self.pid = self._started()

    def _started(self) -> int:
        line = self._line(START_SECONDS)
        if line and line[:1] == b"p":
            return int(line[1:])
        self._stop()
        output = self._output_tail()
        self.kill()
        raise WorkerDied("could not be started", output, crashed=False)

    @property
    def _status(self) -> IO[bytes]:
        """Pipe on which the supervisor writes the process's number, and how it ended."""
        assert self._supervisor.stdout is not None
        return self._supervisor.stdout

    def _line(self, seconds: float) -> bytes | None:
        """Next line of the supervisor, b"" if it has ended; None if there is none in time.

        A variant may have written here, so the line may be of any length and never end.
        """
        line, until = b"", time.monotonic() + seconds
        poll = select.poll()
        poll.register(self._status, select.POLLIN)
        while not line.endswith(b"\n"):
            left = max(0.0, until - time.monotonic())
            if len(line) > LINE or not poll.poll(1000 * left):
                return None
            byte = self._status.read(1)
            if not byte:
                return b""
            line += byte
        return line

    def send(self, *request: Any) -> None:
        """Send the worker a request; as `write`."""
        self.write(pickle.dumps(request, pickle.HIGHEST_PROTOCOL))

    def write(self, content: bytes) -> None:
        """Send a frame, later if it is not taken at once; WorkerDied if nobody reads it."""
        with self._lock:
            self._check_open()
            self._unsent += frames.frame(content)
            self._flush()

    def _flush(self) -> None:
        try:
            while self._unsent:
                del self._unsent[: self._socket.send(self._unsent[:READ_BYTES])]
        except BlockingIOError:
            pass
        except OSError:
            raise self._death() from None

    def begin(self) -> None:
        """Count what is printed from here on."""
        self._printed = 0

    def receive(self, until: float | None = None) -> tuple:
        """Next reply; WorkerDied, or WorkerLate past the moment `until` of the monotonic clock."""
        with self._lock:
            while True:
                self._check_open()
                try:
                    if reply := self._replies.take():
                        return reply
                except frames.Garbled as error:
                    raise self._stopped(f"sent what is no reply ({error})") from None
                left = TICK if until is None else until - time.monotonic()
                if left <= 0:
                    raise WorkerLate
                self._wait(min(left, TICK))
                self._look()

    def _wait(self, seconds: float) -> None:
        """Read what has come: replies first, then output, and the end of the process last."""
        poll, channel = select.poll(), self._socket.fileno()
        poll.register(channel, select.POLLIN | (select.POLLOUT if self._unsent else 0))
        poll.register(self._output, select.POLLIN)
        poll.register(self._status, select.POLLIN)
        ready = dict(poll.poll(1000 * seconds))
        if ready.get(channel, 0) & select.POLLOUT:
            self._flush()
        if ready.get(channel, 0) & ~select.POLLOUT:
            try:
                received = self._socket.recv(READ_BYTES)
            except OSError:
                received = b""
            if not received:
                raise self._death()
            self._replies.add(received)
        elif self._output.fileno() in ready and self._read_output():
            pass
        elif self._status.fileno() in ready:
            raise self._death()

    def _read_output(self) -> int:
        """Read what was printed, and return its number of bytes."""
        try:
            read = self._output.read(READ_BYTES) or b""
        except OSError:
            read = b""
        self._last_output = (self._last_output + read)[-TAIL:]
        self._printed += len(read)
        return len(read)

    def _look(self) -> None:
        """End a process that is beyond one of its limits."""
        if self._printed > limits.OUTPUT:
            raise self._stopped(f"printed over {limits.OUTPUT >> 20} MiB", RESOURCES)
        if time.monotonic() - self._looked > TICK:
            self._looked = time.monotonic()
            if beyond := limits.exceeded(self.pid, self._supervisor.pid, self._memory):
                raise self._stopped(beyond, RESOURCES)

    def reject(self) -> WorkerDied:
        """End a process whose last reply was not asked for."""
        return self._stopped("sent a reply that was not asked for")

    def _stopped(self, why: str, status: str = FAULT) -> WorkerDied:
        """End a process for what it did."""
        self._stop()
        return WorkerDied(why, self._output_tail(), crashed=True, status=status)

    def _death(self) -> WorkerDied:
        """Say how a process ended, or end one that has closed its end of the socket."""
        line = self._line(GRACE)
        if line is None:
            return self._stopped("closed its connection and went on")
        self._stop()
        if not line:
            return WorkerDied("lost its supervisor", self._output_tail(), crashed=False)
        try:
            code = int(line[1:])
        except ValueError:
            return WorkerDied(
                "wrote what its supervisor does not", self._output_tail(), crashed=True
            )
        return WorkerDied(_ending(code), self._output_tail(), crashed=-code in CRASHES)

    def _output_tail(self) -> str:
        """End of what the process has printed."""
        if not self._output.closed:
            for _ in range(1 + limits.OUTPUT // READ_BYTES):
                if not self._read_output():
                    break
        return self._last_output.decode(errors="replace").strip()

    def _stop(self) -> None:
        """Have the supervisor end the process and all that it has started."""
        assert self._supervisor.stdin is not None
        self._supervisor.stdin.close()
        try:
            self._supervisor.wait(ENDING)
        except subprocess.TimeoutExpired:  # a variant may have stopped it
            self._supervisor.kill()  # which kills the process as well
            self._supervisor.wait()
            with suppress(ProcessLookupError, PermissionError, AttributeError):
                os.killpg(self.pid, signal.SIGKILL)

    def _check_open(self) -> None:
        if self._output.closed:
            raise WorkerDied("was ended", "", crashed=False)

    def kill(self) -> None:
        """End the process at once and give back everything that belongs to it."""
        self._stop()
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # whoever waits for a reply stops waiting
        with self._lock:
            self._socket.close()
            self._output.close()
            self._status.close()
