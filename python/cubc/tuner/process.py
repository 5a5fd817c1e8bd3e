"""The search's hold on the measuring process (worker.py): start, ask, wait with a deadline, kill.

The process is started as a plain command rather than through multiprocessing, which would import
the user's ``__main__`` and so fail in notebooks and in scripts without a guard. Its parent is a
supervisor (supervisor.py), with which all that it has started ends. It has a session of its own, so
that a Ctrl-C in the terminal reaches only the search; and nothing of the current folder is on its
path.

Nothing that comes from it is trusted: replies are read against a deadline and decoded as data
(frames.py), and while the search waits it watches what the process holds and prints (limits.py).
"""

from __future__ import annotations

import math
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from . import frames, limits
from .status import FAULT, OK, RESOURCES, TIMEOUT, WRONG
from .target import Late, Request, Results, Run

ATTEMPTS = 3  # deaths in a row while base is set up before it is given up
CONFIRMING = 16  # launches compared of a variant that was wrong in a process of others
DEATHS = 2  # in a row over one variant before they are put down to it
SET_UP_SECONDS = 300.0  # to start, open a device and draw the inputs
START_SECONDS = 30.0  # for the supervisor alone
LEAVING = 5.0  # seconds that the supervisor may take to end what there is
GRACE = 2.0  # seconds in which a process that has closed its end of the socket has to end
TICK = 0.25  # seconds between two looks at what the process holds
USERS = {"CUBC_POLICIES", "CUBC_TUNE"}  # variables that are not for the measuring process
TAIL = 2000  # bytes of the dead process's last words that are kept
CHUNK = 1 << 16  # bytes read at a time
LINE = 32  # bytes of a line of the supervisor
SUPERVISOR = [sys.executable, "-I", "-S", str(Path(__file__).with_name("supervisor.py"))]
WORKER = [sys.executable, "-P", "-m", "cubc.tuner.worker"]

# What a process does to itself. Any other end may have come from outside: SIGKILL is how a system
# short of memory picks its victims, SIGTERM how an administrator does.
CRASHES = {signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT}


class WorkerDied(RuntimeError):
    """The measuring process ended without a report.

    Attributes
    ----------
    crashed : bool
        Whether it was what it ran that ended it, and so would end it again.
    status : str
        Of the variant, if it was what did it.
    """

    def __init__(self, message: str, words: str, *, crashed: bool, status: str = FAULT):
        super().__init__(f"the measuring process {message}" + (f"\n{words}" if words else ""))
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


class Closed(RuntimeError):
    """The measuring process is not needed any more."""


class BaseFailed(RuntimeError):
    """A compile-time workload cannot be searched because its base does not run."""


class Process:
    """One measuring process.

    Attributes
    ----------
    pid : int
        Number of the process, whose parent is the supervisor.
    """

    def __init__(self) -> None:
        self._memory = limits.memory()
        # The base is the shipped one, whatever policies the user has overlaid.
        environment = {k: v for k, v in os.environ.items() if k not in USERS}
        self._socket, theirs = socket.socketpair()
        words, said = os.pipe()
        self._words = open(words, "rb", buffering=0)  # noqa: SIM115
        with theirs, open(said, "wb", buffering=0) as stderr:
            channel = str(theirs.fileno())
            self._supervisor = subprocess.Popen(
                [*SUPERVISOR, channel, *WORKER, channel],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                env=environment,
                bufsize=0,
            )
        self._socket.setblocking(False)
        os.set_blocking(self._words.fileno(), False)
        self._replies = frames.Buffer()
        self._out = bytearray()  # to be sent as soon as it is taken
        self._said = bytearray()  # the end of what was printed
        self._printed = 0  # bytes, since the last request was begun
        self._looked = 0.0  # moment of the last look at its limits
        self._lock = threading.RLock()  # of what `kill` closes
        self.pid = self._started()

    def _started(self) -> int:
        line = self._line(START_SECONDS)
        if line and line[:1] == b"p":
            return int(line[1:])
        self._stop()
        words = self._tail()
        self.kill()
        raise WorkerDied("could not be started", words, crashed=False)

    @property
    def _status(self) -> IO[bytes]:
        """Where the supervisor writes the process's number, and how it ended."""
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
        """Send a request, later if it is not taken at once; WorkerDied if nobody reads it."""
        with self._lock:
            self._check_open()
            self._out += frames.frame(pickle.dumps(request, pickle.HIGHEST_PROTOCOL))
            self._flush()

    def _flush(self) -> None:
        try:
            while self._out:
                del self._out[: self._socket.send(self._out[:CHUNK])]
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
        """Take what there is: replies before the rest, and what was printed before the end."""
        poll, channel = select.poll(), self._socket.fileno()
        poll.register(channel, select.POLLIN | (select.POLLOUT if self._out else 0))
        poll.register(self._words, select.POLLIN)
        poll.register(self._status, select.POLLIN)
        ready = dict(poll.poll(1000 * seconds))
        if ready.get(channel, 0) & select.POLLOUT:
            self._flush()
        if ready.get(channel, 0) & ~select.POLLOUT:
            try:
                received = self._socket.recv(CHUNK)
            except OSError:
                received = b""
            if not received:
                raise self._death()
            self._replies.add(received)
        elif self._words.fileno() in ready and self._listen():
            pass
        elif self._status.fileno() in ready:
            raise self._death()

    def _listen(self) -> int:
        """Take what was printed; how many bytes it was."""
        try:
            heard = self._words.read(CHUNK) or b""
        except OSError:
            heard = b""
        self._said = (self._said + heard)[-TAIL:]
        self._printed += len(heard)
        return len(heard)

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
        return WorkerDied(why, self._tail(), crashed=True, status=status)

    def _death(self) -> WorkerDied:
        """Say how a process ended, or end one that has closed its end of the socket."""
        line = self._line(GRACE)
        if line is None:
            return self._stopped("closed its connection and went on")
        self._stop()
        if not line:
            return WorkerDied("lost its supervisor", self._tail(), crashed=False)
        try:
            code = int(line[1:])
        except ValueError:
            return WorkerDied("wrote what its supervisor does not", self._tail(), crashed=True)
        return WorkerDied(_ending(code), self._tail(), crashed=-code in CRASHES)

    def _tail(self) -> str:
        """Last words."""
        if not self._words.closed:
            for _ in range(1 + limits.OUTPUT // CHUNK):
                if not self._listen():
                    break
        return self._said.decode(errors="replace").strip()

    def _stop(self) -> None:
        """Have the supervisor end the process and all that it has started."""
        assert self._supervisor.stdin is not None
        self._supervisor.stdin.close()
        try:
            self._supervisor.wait(LEAVING)
        except subprocess.TimeoutExpired:  # a variant may have stopped it
            self._supervisor.kill()  # which kills the process as well
            self._supervisor.wait()
            with suppress(ProcessLookupError, PermissionError, AttributeError):
                os.killpg(self.pid, signal.SIGKILL)

    def _check_open(self) -> None:
        if self._words.closed:
            raise WorkerDied("was ended", "", crashed=False)

    def kill(self) -> None:
        """End the process at once and give back everything that belongs to it."""
        self._stop()
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # whoever waits for a reply stops waiting
        with self._lock:
            self._socket.close()
            self._words.close()
            self._status.close()


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
        for deaths in range(1, DEATHS + 1):
            try:
                if time.monotonic() > end and not self._sent:
                    raise Late
                process = self._ensure()
            except BaseException:  # nobody will answer it
                self._pop()
                raise
            suspect = alone = self._fresh
            try:
                self._send(process)
                process.begin()
                late = time.monotonic() + seconds
                while (reply := process.receive(min(late, end)))[0] == "result":
                    _, run, fields = reply
                    if run not in waiting.request.runs:
                        raise process.reject()
                    if fields["status"] == WRONG and not alone:
                        break
                    suspect, self._fresh = True, False
                    waiting.done(run, fields)
                    yield run, fields
                    if fields["status"] == WRONG:
                        self._pop()
                        return self._end()
                if reply[0] == "result":
                    self._end()
                    waiting.confirm()
                    continue
                if reply[0] != "done":
                    raise process.reject()
                self._pop(served=True)
                return
            except WorkerDied as death:
                self._end()
                if waiting.ended:  # after a fault it leaves of its own accord
                    return self._pop()
                if (death.crashed and suspect) or deaths == DEATHS:
                    again = f"\n({deaths} times in a row)" if deaths > 1 else ""
                    self._pop()
                    yield waiting.next, {"status": death.status, "message": f"{death}{again}"}
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

    def confirm(self) -> None:
        """Have so many launches compared that what is wrong now and then shows again."""
        self.request = self.request._replace(checks=CONFIRMING)

    @property
    def next(self) -> Run:
        """Run that comes next."""
        return self.request.runs[0]

    def done(self, run: Run, fields: dict[str, Any]) -> None:
        """Take note of a result: it is not asked for again."""
        left = [other for other in self.request.runs if other != run]
        self.request = self.request._replace(runs=left)
        self.ended = not left or fields["status"] != OK
