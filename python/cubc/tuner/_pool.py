"""Other processes and machines as the target of a search, through any executor.

A task is as many variants as a device measures in half a second. The process that gets it compiles
them, on its host's cores, verifies and measures them on its own device, in a measuring process of
its own, and sends back the results. So the search has little to do for each variant: it proposes,
sends and stores them in batches, and hears of a task through a queue. Each process measures base
itself, so a variant is only compared with base on the same device. The search keeps the store, and
decides which tasks to repeat.

If the processes run on this machine and measure GPUs, threads of the search compile variants in
advance into the shared cache, so that a process only has to measure.

A node may be lost without a message. So a task that takes far longer than any before is given to
another process, once; a late answer to it is ignored.

When a process dies, an executor may not say which task it had: a pool of processes fails all of
them. So each is run once more, alone, and only a task whose process dies then is at fault. A pool
that breaks while it is given a task may raise anything (Python's starts a process whose pipes its
other thread has just closed), or lose the task.

An executor is anything like ``concurrent.futures.Executor``: a process pool, Dask's
(``Client.get_executor(pure=False)``), mpi4py's. The other process calls
``_remote.py``.
"""

from __future__ import annotations

import socket
import time
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from . import _remote as remote
from ._cores import cores
from ._deadlines import BASE_SECONDS, run_deadline
from ._remote_bench import BaseFailed
from ._status import FAULT, TIMEOUT
from ._target import Late, Request, Results
from ._workload import CompileTimeWorkload

AHEAD = 2  # tasks for each process, so that none waits for the search
TASK_SECONDS = 0.5  # that a task of several variants takes
MOST_TOGETHER = 64  # variants of a task
REFILL = 4  # part of what is asked for that has to be missing before a strategy is asked for more
LOOK = 2.0  # seconds between two looks at how many processes there are
MOST_COMPILING = 12  # a strategy that is asked for more has learnt from less
PROCESSES = 4  # taken to be there where an executor does not tell
ATTEMPTS = 2  # at a task whose process died, is lost, or has a GPU that cannot run it
UNHEARD = 1200.0  # seconds until the first task of a workload, which has base, counts as lost
PATIENCE, FACTOR = 60.0, 10.0  # seconds until another is, and times as long as the longest yet

Source = Executor | Callable[[], Executor]


class Task(NamedTuple):
    """Task that an executor was asked for."""

    requests: list[Request]
    attempt: int  # from 1
    executor: Executor
    sent: float  # moment of the monotonic clock


class Pool:
    """An executor; see `Target`.

    Parameters
    ----------
    source
        An executor, which is left open, or a callable that makes one: then a pool that broke
        because a process died is replaced, and the last one is shut down.
    device
        Device that each process measures on. None: a GPU of its own for each, or else the cpu.
    """

    several = True

    def __init__(self, source: Source, device: str | None):
        self._make: Callable[[], Executor] | None = None
        executor: Any = source
        if callable(source) and not _is_executor(source):
            self._make, executor = source, source()
        if not _is_executor(executor):
            raise TypeError(
                f"executor is {executor!r:.80}, must be an executor, as of concurrent.futures or "
                "Dask's client.get_executor(pure=False), or a callable that makes one, as "
                "lambda: ProcessPoolExecutor(4)"
            )
        self._executor: Executor = executor
        self._device = device
        self._asked: dict[Future, Task] = {}
        self._ended: SimpleQueue[Future] = SimpleQueue()  # tasks and compilations, as they end
        self._answered: deque[tuple[Request, Results]] = deque()  # that nobody took yet
        self._waiting = 0  # variants in `_asked`
        self._alone = 0  # tasks there that are tried again, with nothing beside them
        self._together, self._seconds = 1, 0.0  # variants of a task; seconds of one
        self._given_up = 0.0  # moment of the last look at what is overdue
        self._filling = True  # more is asked for until there is enough
        self._compiling: dict[Future, Request] = {}  # then they are ready
        self._ready: deque[Request] = deque()
        self._suspects: deque[Request] = deque()  # one of them may have ended its process
        self._workload: CompileTimeWorkload | None = None
        self._workload_id = ""
        self._longest = 0.0  # seconds in which a task of the workload was answered
        self._abandon = bytearray(1)  # set when nobody needs what is being compiled with it
        self._known: dict[str, Mapping[str, Any]] = {}  # devices that have answered, by uuid
        self._me = remote.this_process()
        found: tuple[Mapping[str, Any], str]
        try:
            future = self._executor.submit(remote.describe, device, self._me)
            if future not in wait([future], UNHEARD).done:
                raise TimeoutError(f"no process of the executor answered in {UNHEARD:.0f} s")
            found = future.result()
        except BaseException:
            self._end()
            raise
        self.info: Mapping[str, Any] = found[0]
        self._width, self._looked = _width(self._executor), time.monotonic()
        self._compilers: ThreadPoolExecutor | None = None
        self._more = 0  # variants that are asked for because they have to be compiled
        if compiles_for(*found):
            self._compilers = ThreadPoolExecutor(cores(), "cubc-compile")
            self._more = min(cores(), MOST_COMPILING)

    @property
    def compiling(self) -> int:
        """Number of variants that are compiled for the processes."""
        return len(self._compiling)

    def begin(self, workload: CompileTimeWorkload, base: Request) -> Results:
        """Let one process open the workload; the others follow with their first task."""
        self.drop()
        self._workload, self._workload_id, self._longest = workload, uuid.uuid4().hex, 0.0
        self._together, self._seconds = 1, 0.0
        self._send([base])
        _, results = self.next(base.until)
        return results

    @property
    def answered(self) -> int:
        """Number of requests whose results are all here."""
        return len(self._answered)

    def wants(self) -> bool:
        """True if a process may have nothing to do soon: then more is asked for at once."""
        enough = AHEAD * self._width * self._together + self._more
        queued = len(self._compiling) + len(self._ready) + len(self._suspects)
        missing = enough - self._waiting - queued - len(self._answered)
        if missing >= max(self._together, enough // REFILL if self._together > 1 else 1):
            self._filling = True
        self._filling = self._filling and missing > 0
        return self._filling

    def submit(self, request: Request) -> None:
        """Send a variant to some process, with others, once it is compiled."""
        if self._compilers is None:
            self._ready.append(request)
            if len(self._ready) >= self._together:
                self._feed()
            return
        assert self._workload is not None
        future = self._compilers.submit(
            self._workload.compile, request.variant, BASE_SECONDS, self._abandon
        )
        self._compiling[future] = request
        future.add_done_callback(self._ended.put)

    def _feed(self) -> None:
        """Send the requests that are ready; suspects one at a time, with nothing beside them."""
        if not self._suspects and not self._alone:
            # A queue at the executor is in the way of what comes later, so it has no more.
            while self._ready and len(self._asked) < AHEAD * self._width:
                self._send(self._batch())
        elif not self._asked:
            self._send([self._suspects.popleft()], ATTEMPTS)

    def _batch(self) -> list[Request]:
        """Requests of the next task; one with rounds, which take long, is by itself."""
        free = AHEAD * self._width - len(self._asked)
        share = -(-len(self._ready) // free)  # so that each process has some
        found = [self._ready.popleft()]
        while (
            self._ready
            and len(found) < min(self._together, share)
            and not found[-1].runs[-1].round
            and not self._ready[0].runs[-1].round
        ):
            found.append(self._ready.popleft())
        return found

    def _send(self, requests: list[Request], attempt: int = 1) -> None:
        assert self._workload is not None
        until = requests[0].until
        left = None if until is None else until - time.monotonic()
        what = (self._workload_id, self._workload, requests, self._device, left, self._me)
        task = partial(remote.work, *what)
        try:
            future = self._executor.submit(task)
        except Exception:
            try:
                future = self._executor.submit(task)  # one that broke just now says so at last
            except BrokenExecutor:
                self._renew()
                future = self._executor.submit(task)
        self._asked[future] = Task(requests, attempt, self._executor, time.monotonic())
        self._waiting += len(requests)
        self._alone += attempt > 1
        future.add_done_callback(self._ended.put)

    def _forget(self, future: Future) -> Task | None:
        """Task of a future that is not waited for any more; None if it was not."""
        task = self._asked.pop(future, None)
        if task is not None:
            self._waiting -= len(task.requests)
            self._alone -= task.attempt > 1
        return task

    def _renew(self) -> None:
        """Make another executor in place of a broken one."""
        if self._make is None:
            raise RuntimeError(
                "the executor is broken, since one of its processes died; what was measured is in "
                "the store. Run the search again with a new executor; or give it a function that "
                "makes one, as executor=lambda: ProcessPoolExecutor(4), which survives that"
            ) from None
        self._executor.shutdown(wait=False, cancel_futures=True)
        self._executor = self._make()

    def next(self, until: float | None = None) -> tuple[Request, Results]:
        """Give the request that is done first, with its results; Late past the moment `until`."""
        while not self._answered:
            self._feed()
            for future in self._wait(until):
                if (request := self._compiling.pop(future, None)) is not None:
                    self._ready.append(request)  # if it failed, the process says so
                elif (task := self._forget(future)) is not None:
                    self._take(future, task)
            self._count()
            self._give_up()
        self._feed()
        return self._answered.popleft()

    def _take(self, future: Future, task: Task) -> None:
        """Take the results of a task, or see to it that its requests are done again."""
        try:
            reply = future.result()
        except (Exception, CancelledError) as death:
            if not _is_death(death):
                raise
            if isinstance(death, BrokenExecutor):
                self._suspect(task.executor)
            if task.attempt < ATTEMPTS:
                self._suspects.extend(task.requests)
                return
            words = f"its process died {ATTEMPTS} times: {death or type(death).__name__}"
            self._failed(task, FAULT, words)
            return
        self._longest = max(self._longest, time.monotonic() - task.sent)
        if not self._fits(reply.info):
            if task.attempt == ATTEMPTS:  # it stays unmeasured
                self._answered.extend((request, iter(())) for request in task.requests)
            else:
                self._suspects.extend(task.requests)
            return
        base = [(run, fields | {"variant": "base"}) for run, fields in reply.base]
        for at, request in enumerate(task.requests):
            found = reply.results[at] if at < len(reply.results) else []
            self._answered.append((request, _results(reply.info, base if at == 0 else [], found)))
        if reply.results and not task.requests[0].runs[-1].round:
            mean = reply.seconds / len(reply.results)
            self._seconds = 0.8 * self._seconds + 0.2 * mean if self._seconds else mean
            together = int(TASK_SECONDS / max(self._seconds, 1e-6))
            self._together = max(1, min(MOST_TOGETHER, together, 2 * self._together))

    def _wait(self, until: float | None) -> list[Future]:
        """Wait for what is done next, for a task that is overdue, or until Late."""
        now = time.monotonic()
        moments = [now + LOOK]
        if until is not None:
            moments.append(until)
        found = []
        with suppress(Empty):
            found.append(self._ended.get(timeout=max(0.0, min(moments) - now)))
            while True:
                found.append(self._ended.get_nowait())
        if not found and until is not None and time.monotonic() >= until:
            raise Late
        return found

    def _count(self) -> None:
        """Look how many processes there are: those of Dask come and go."""
        if time.monotonic() - self._looked > LOOK:
            self._width, self._looked = _width(self._executor), time.monotonic()

    def _patience(self, task: Task) -> float:
        """Seconds in which a task is answered unless it is lost."""
        if not self._longest:
            return UNHEARD
        deadlines = sum(run_deadline(0.0, request) for request in task.requests)
        return max(PATIENCE, FACTOR * self._longest + deadlines)

    def _give_up(self) -> None:
        """Give overdue tasks to other processes; one that is so twice has failed."""
        now = time.monotonic()
        if now - self._given_up < min(LOOK, PATIENCE):
            return
        self._given_up = now
        for future, task in list(self._asked.items()):
            waited = now - task.sent
            if waited < self._patience(task):
                continue
            self._forget(future)
            future.cancel()
            if task.attempt == ATTEMPTS:
                words = f"no process answered, {ATTEMPTS} times; the last for {waited:.0f} s"
                self._failed(task, TIMEOUT, words)
            else:
                self._suspects.extend(task.requests)

    def _failed(self, task: Task, status: str, words: str) -> None:
        for request in task.requests:
            if request.variant == "base":
                raise BaseFailed(words)
            fields = {"status": status, "message": words}
            self._answered.append((request, iter([(request.runs[0], fields)])))

    def _suspect(self, broken: Executor) -> None:
        """Stop waiting for the tasks of a broken executor, which may never answer."""
        for future, task in list(self._asked.items()):
            if task.executor is broken and not future.done():
                self._forget(future)
                self._suspects.extend(task.requests)

    @property
    def others(self) -> list[Mapping[str, Any]]:
        """Devices that have answered besides the first."""
        return [*self._known.values()]

    def _fits(self, info: Mapping[str, Any]) -> bool:
        """True if the results of a device are of the architecture that is searched."""
        if info["uuid"] not in self._known and info["arch"] != self.info["arch"]:
            warnings.warn(
                f"a process of the executor measures on {info['model']} ({info['arch']}), the "
                f"search is for {self.info['arch']}: its results do not count; name the device, "
                "or search on it alone",
                RuntimeWarning,
                stacklevel=2,
            )
        self._known.setdefault(info["uuid"], info)
        return bool(info["arch"] == self.info["arch"])

    def drop(self) -> None:
        """Forget what was asked for; tasks that run end unheard, compilations at once."""
        self._abandon[0], self._abandon = 1, bytearray(1)
        for future in [*self._asked, *self._compiling]:
            future.cancel()
        self._asked.clear()
        self._waiting = self._alone = 0
        self._filling = True
        self._answered.clear()
        self._compiling.clear()
        self._ready.clear()
        self._suspects.clear()

    def close(self) -> None:
        """Leave the user's executor as it is; end one of our own."""
        self.drop()
        if self._compilers is not None:
            self._compilers.shutdown(cancel_futures=True)
        self._end()

    def _end(self) -> None:
        if self._make is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)


def compiles_for(info: Mapping[str, Any], host: str) -> bool:
    """True if compiling here neither disturbs the processes nor misses their cache."""
    return info["kind"] == "cuda" and host == socket.gethostname()


def _is_executor(given: Any) -> bool:
    """True if it takes tasks; False for a class of executors, and for a client of Dask's."""
    known = isinstance(given, type) or hasattr(given, "get_executor")
    return not known and hasattr(given, "submit")


def _is_death(error: BaseException) -> bool:
    """True if an error means that an executor lost a process, and not that its task failed."""
    lost = isinstance(error, BrokenExecutor | CancelledError)
    return lost or type(error).__name__ == "KilledWorker"  # Dask's


def _results(info: Mapping[str, Any], *parts: remote.Found) -> Results:
    for part in parts:
        for run, fields in part:
            yield run, fields | {"device": info}


def _width(executor: Executor) -> int:
    """Number of processes of an executor; PROCESSES if it does not tell."""
    known = getattr(executor, "_max_workers", None)
    client = getattr(executor, "_client", None)  # Dask's
    if client is not None:
        with suppress(Exception):  # of a scheduler that does not answer just now
            known = _threads(client)
    return known if isinstance(known, int) and known > 0 else PROCESSES


def _threads(client: Any) -> int:
    """Tasks that the workers of a Dask cluster run at a time; at least one, for it may grow."""
    try:
        workers = client.scheduler_info(n_workers=-1)["workers"]
    except TypeError:  # of an earlier version
        workers = client.scheduler_info()["workers"]
    return max(1, sum(worker.get("nthreads", 1) for worker in workers.values()))
