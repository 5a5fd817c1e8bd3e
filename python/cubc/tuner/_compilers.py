"""Compilers of a search whose variants are measured by other processes (see ``_pool.py``).

Where those measure on GPUs of this machine, threads compile into the cache that all share (`Here`).
Where the user gives `compilers`, an executor whose processes may be on hosts without a GPU, those
compile (`Elsewhere`): a task is a variant, and its kernels travel with it to the process that
measures it, which puts them into its cache and then goes on as always. It compiles what did not
come, or is not of use there, by itself; so nothing that happens to a compiler costs a variant.

A compiler that is silent (see ``_heartbeat.py``), or late, is not waited for. If nobody else has
answered since it was asked, none is asked until one answers a question that costs nothing.
"""

from __future__ import annotations

import time
import warnings
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

import cubc

from . import _build as build
from . import _heartbeat as heartbeat
from ._deadlines import BASE_SECONDS
from ._executors import Executors, Processes, is_death
from ._limits import cores
from ._measurer import Request

if TYPE_CHECKING:
    from ._lane import Lane

MOST_DEATHS = 8  # of executors, one after another without an answer
MOST_COMPILING = 12  # a strategy that is asked for more has learnt from less
AHEAD = 2  # tasks for each process, so that none waits for the search
FIRST = 10.0  # seconds that a search waits for a first answer before it begins without
PATIENCE, FACTOR = 60.0, 10.0  # seconds until a task is late, and times as long as the longest yet


class Here:
    """Threads that compile into the cache of this machine's processes."""

    def __init__(self, ended: SimpleQueue[Future]):
        self._threads = ThreadPoolExecutor(cores(), "cubc-compile")
        self._ended = ended
        self._asked: dict[Future, tuple[Lane, Request]] = {}
        self.ahead = min(cores(), MOST_COMPILING)  # variants more that are asked for

    def __len__(self) -> int:
        """Number of variants that are compiled, or wait for that."""
        return len(self._asked)

    def submit(self, lane: Lane, request: Request) -> bool:
        """Have a variant compiled, by which it is ready; False if the process does that."""
        if request.variant == "base":
            return False
        assert lane.workload is not None
        compile = lane.workload.compile
        future = self._threads.submit(compile, request.variant, BASE_SECONDS, lane.abandon)
        self._asked[future] = lane, request
        future.add_done_callback(self._ended.put)
        return True

    def take(self, future: Future) -> bool:
        """Take what has ended; False if that is no compilation."""
        if (found := self._asked.pop(future, None)) is None:
            return False
        lane, request = found
        lane.compiled(request)  # if it failed, the process says so
        return True

    def look(self, heard: set[bytes]) -> None:
        """Nothing is lost here."""

    def drop(self, lane: Lane) -> None:
        """Forget what was asked for by a lane."""
        for future, (one, _) in list(self._asked.items()):
            if one is lane:
                del self._asked[future]
                future.cancel()

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(cancel_futures=True)


class Job(NamedTuple):
    """Variant that a process of an executor was asked to compile."""

    lane: Lane
    request: Request
    executor: Executor
    sent: float  # moment of the monotonic clock
    number: bytes  # of its pulse


class Elsewhere:
    """Processes of an executor that compile for the devices of others."""

    def __init__(self, source: Executors, ended: SimpleQueue[Future], listener: heartbeat.Listener):
        self._processes = Processes(source, "compilers")
        self._ended, self._listener = ended, listener
        self._todo: deque[tuple[Lane, Request]] = deque()
        self._asked: dict[Future, Job] = {}
        self._beats: dict[bytes, float] = {}  # moments of the last ones, by number of a job
        self._question: Future | None = None  # that costs nothing
        self._questioned = 0.0  # moment of that
        self._answers = False  # a process has, and was not lost since
        self._answered = 0.0  # moment of the last answer
        self._broken, self._deaths = False, 0
        self._longest = 0.0  # seconds in which a job was answered
        self._said: set[str] = set()
        self._width = self._processes.width()
        self._ask()

    def begin(self) -> None:
        """Wait a moment for a first answer, so that base is compiled by others, too."""
        end = time.monotonic() + FIRST
        while self._question is not None and (left := end - time.monotonic()) > 0:
            with suppress(Exception, CancelledError):
                self._question.exception(left)
            if self._question.done():
                self._take_answer(self._question)

    def __len__(self) -> int:
        """Number of variants that are compiled, or wait for that."""
        return len(self._asked) + len(self._todo)

    @property
    def ahead(self) -> int:
        """Number of variants more that are asked for because they have to be compiled."""
        return self._width if self._answers else 0

    def submit(self, lane: Lane, request: Request) -> bool:
        """Have a variant compiled, by which it is ready; False if the process does that."""
        if not self._answers:
            return False
        self._todo.append((lane, request))
        self._feed()
        return True

    def _feed(self) -> None:
        while self._todo and len(self._asked) < AHEAD * self._width:
            self._send(*self._todo.popleft())

    def _send(self, lane: Lane, request: Request) -> None:
        now = time.monotonic()
        left = lane.build_seconds
        if request.until is not None:
            left = min(left, request.until - now)
        if left <= 0:
            lane.compiled(request)
            return
        assert lane.workload is not None
        pulse = self._listener.pulse()
        wanted = build.Wanted(cubc.__version__, lane.info["arch"], lane.info["compiler"])
        task = partial(build.build, wanted, lane.workload, request.variant, left, pulse)
        future = self._submit(task)
        if future is None:
            lane.compiled(request)
            return
        self._asked[future] = Job(lane, request, self._processes.executor, now, pulse.number)
        future.add_done_callback(self._ended.put)

    def _submit(self, task: Callable[[], Any]) -> Future | None:
        """Give a task to the executor; None if it takes none any more."""
        if self._broken:
            return None
        try:
            return self._processes.submit(task)
        except Exception as error:
            self._broken = True
            self._lose_all(f"{type(error).__name__}: {error}")
            return None

    def take(self, future: Future) -> bool:
        """Take what has ended; False if that is no compilation."""
        if future is self._question:
            self._take_answer(future)
            return True
        job = self._asked.pop(future, None)
        if job is None:
            return False
        found = build.Built()
        try:
            found = build.checked(future.result())
            if found.missing:
                self._say(found.missing)
            self._hear(time.monotonic() - job.sent)
        except (Exception, CancelledError) as error:
            self._fail(error, job.executor)
        job.lane.compiled(job.request, found.bundle, found.seconds)
        self._feed()
        return True

    def _fail(self, error: BaseException, executor: Executor) -> None:
        """Note that a process died, or that its reply is an error or no reply."""
        if not is_death(error):
            self._say(f"{type(error).__name__}: {error}")
        if not isinstance(error, BrokenExecutor):
            return
        for future, job in list(self._asked.items()):  # which may never end
            if job.executor is executor:
                self._release(future)
        if executor is self._processes.executor:
            self._deaths += 1
            try:
                if self._deaths > MOST_DEATHS:
                    raise error
                self._processes.renew()
            except Exception:
                self._broken = True
                self._lose_all(
                    "a process of it died, and the executor is broken; a callable that makes one "
                    "survives that"
                )

    def _hear(self, seconds: float) -> None:
        self._answered, self._answers, self._deaths = time.monotonic(), True, 0
        self._longest = max(self._longest, seconds)

    def _ask(self) -> None:
        """Ask a question that costs nothing, whose answer shows that somebody is there."""
        if self._question is not None:
            self._question.cancel()
        self._questioned = time.monotonic()
        self._question = self._submit(build.answer)
        if self._question is not None:
            self._question.add_done_callback(self._ended.put)

    def _take_answer(self, future: Future) -> None:
        self._question = None
        try:
            version = future.result()
        except (Exception, CancelledError) as error:
            self._fail(error, self._processes.executor)
            return
        if version == cubc.__version__:
            self._hear(0.0)
        else:
            self._say(f"it has cubc {version!r:.40}, the search has {cubc.__version__}")

    def look(self, heard: set[bytes]) -> None:
        """Give up what is silent or late; ask if somebody is there again."""
        now = time.monotonic()
        numbers = {job.number for job in self._asked.values()}
        self._beats = {one: at for one, at in self._beats.items() if one in numbers}
        self._beats.update(dict.fromkeys(numbers & heard, now))
        patience = max(PATIENCE, FACTOR * self._longest)
        for future, job in list(self._asked.items()):
            if future not in self._asked:
                break  # all were lost
            is_silent = now - self._beats.get(job.number, now) >= heartbeat.SILENT
            if is_silent or now - job.sent >= patience:
                self._release(future)
                if self._answered < job.sent and not self._hears_another(job, now):
                    self._lose_all("none of its processes has answered")
        self._width = self._processes.width()
        if not self._answers and (self._question is None or now - self._questioned >= PATIENCE):
            self._ask()
        self._feed()

    def _hears_another(self, job: Job, now: float) -> bool:
        others = (at for number, at in self._beats.items() if number != job.number)
        return any(now - at < heartbeat.SILENT for at in others)

    def _release(self, future: Future) -> None:
        """Let a variant go on without what was to come."""
        job = self._asked.pop(future)
        future.cancel()
        job.lane.compiled(job.request)

    def _lose_all(self, why: str) -> None:
        """Let all variants go on, for nobody answers any more."""
        self._answers = False
        self._say(why)
        for future in list(self._asked):
            self._release(future)
        while self._todo:
            lane, request = self._todo.popleft()
            lane.compiled(request)

    def refused(self, variant: str, model: str) -> None:
        """Note that kernels that came with a variant were not of use where it was measured."""
        self._say(
            f"what was compiled of {variant} was of no use to a process with {model}: its cubc "
            "has other sources, or it came damaged"
        )

    def _say(self, why: str) -> None:
        """Say once what keeps processes from compiling for others."""
        if why not in self._said:
            self._said.add(why)
            warnings.warn(
                f"compilers: {why}. Such variants are compiled where they are measured",
                RuntimeWarning,
                stacklevel=2,
            )

    def drop(self, lane: Lane) -> None:
        """Forget what was asked for by a lane; what runs ends unheard."""
        self._todo = deque(one for one in self._todo if one[0] is not lane)
        for future, job in list(self._asked.items()):
            if job.lane is lane:
                del self._asked[future]
                future.cancel()

    def close(self) -> None:
        """Leave the user's executor as it is; end one of our own."""
        if self._question is not None:
            self._question.cancel()
        self._processes.end()
