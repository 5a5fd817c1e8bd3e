"""Other processes and machines as the target of a search, through any executor.

A task is one variant. The process that gets it compiles, verifies and measures it on its own
device, in a measuring process of its own, and sends back the results. Each process measures base
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
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from functools import partial
from typing import Any, NamedTuple

from . import _remote as remote
from ._cores import cores
from ._deadlines import BASE_SECONDS, run_deadline
from ._remote_bench import BaseFailed
from ._status import FAULT, TIMEOUT
from ._target import Late, Request, Results
from ._workload import CompileTimeWorkload

AHEAD = 2  # tasks for each process, so that none waits for the search
MOST_COMPILING = 12  # a strategy that is asked for more has learnt from less
PROCESSES = 4  # taken to be there where an executor does not tell
ATTEMPTS = 2  # at a task whose process died, is lost, or has a GPU that cannot run it
UNHEARD = 1200.0  # seconds until the first task of a workload, which has base, counts as lost
PATIENCE, FACTOR = 60.0, 10.0  # seconds until another is, and times as long as the longest yet

Source = Executor | Callable[[], Executor]


class Task(NamedTuple):
    """Task that an executor was asked for."""

    request: Request
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
        self._ahead = AHEAD * _width(self._executor)
        self._compilers: ThreadPoolExecutor | None = None
        if compiles_for(*found):
            self._compilers = ThreadPoolExecutor(cores(), "cubc-compile")
            self._ahead += min(cores(), MOST_COMPILING)

    @property
    def compiling(self) -> int:
        """Number of variants that are compiled for the processes."""
        return len(self._compiling)

    def begin(self, workload: CompileTimeWorkload, base: Request) -> Results:
        """Let one process open the workload; the others follow with their first task."""
        self.drop()
        self._workload, self._workload_id, self._longest = workload, uuid.uuid4().hex, 0.0
        self._send(base)
        _, results = self.next(base.until)
        return results

    def wants(self) -> bool:
        """True if a process may have nothing to do soon."""
        waiting = [*self._asked, *self._compiling, *self._ready, *self._suspects]
        return len(waiting) < self._ahead

    def submit(self, request: Request) -> None:
        """Send a variant to some process, once it is compiled."""
        if self._compilers is None:
            self._ready.append(request)
            self._feed()
            return
        assert self._workload is not None
        future = self._compilers.submit(
            self._workload.compile, request.variant, BASE_SECONDS, self._abandon
        )
        self._compiling[future] = request

    def _feed(self) -> None:
        """Send the requests that are ready; suspects one at a time, with nothing beside them."""
        if not self._suspects and all(task.attempt == 1 for task in self._asked.values()):
            while self._ready:
                self._send(self._ready.popleft())
        elif not self._asked:
            self._send(self._suspects.popleft(), ATTEMPTS)

    def _send(self, request: Request, attempt: int = 1) -> None:
        assert self._workload is not None
        left = None if request.until is None else request.until - time.monotonic()
        what = (self._workload_id, self._workload, request, self._device, left, self._me)
        task = partial(remote.work, *what)
        try:
            future = self._executor.submit(task)
        except Exception:
            try:
                future = self._executor.submit(task)  # one that broke just now says so at last
            except BrokenExecutor:
                self._renew()
                future = self._executor.submit(task)
        self._asked[future] = Task(request, attempt, self._executor, time.monotonic())

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
        while True:
            self._feed()
            done = self._wait(until)
            if not done and (lost := self._lost()):
                return lost
            for built in done.intersection(self._compiling):
                self._ready.append(self._compiling.pop(built))  # if it failed, the process says so
            if not (answered := done.intersection(self._asked)):
                continue
            future = next(iter(answered))
            request, attempt, executor, sent = self._asked.pop(future)
            try:
                reply = future.result()
            except (Exception, CancelledError) as death:
                if not _is_death(death):
                    raise
                if isinstance(death, BrokenExecutor):
                    self._suspect(executor)
                if attempt < ATTEMPTS:
                    self._suspects.append(request)
                    continue
                words = f"its process died {ATTEMPTS} times: {death or type(death).__name__}"
                return self._failed(request, FAULT, words)
            self._longest = max(self._longest, time.monotonic() - sent)
            if self._fits(reply.info):
                return request, _results(reply)
            if attempt == ATTEMPTS:  # it stays unmeasured
                return request, iter(())
            self._suspects.append(request)

    def _wait(self, until: float | None) -> set[Future]:
        """Wait for what is done next, for a task that is overdue, or until Late."""
        moments = [task.sent + self._patience(task) for task in self._asked.values()]
        if until is not None:
            moments.append(until)
        left = max(0.0, min(moments) - time.monotonic()) if moments else None
        done, _ = wait([*self._asked, *self._compiling], left, FIRST_COMPLETED)
        if not done and until is not None and time.monotonic() >= until:
            raise Late
        return done

    def _patience(self, task: Task) -> float:
        """Seconds in which a task is answered unless it is lost."""
        if not self._longest:
            return UNHEARD
        longest = FACTOR * self._longest + run_deadline(0.0, task.request)
        return max(PATIENCE, longest)

    def _lost(self) -> tuple[Request, Results] | None:
        """Give overdue tasks to other processes; return the failure of one that is so twice."""
        for future, task in list(self._asked.items()):
            waited = time.monotonic() - task.sent
            if waited < self._patience(task):
                continue
            del self._asked[future]
            future.cancel()
            if task.attempt == ATTEMPTS:
                words = f"no process answered, {ATTEMPTS} times; the last for {waited:.0f} s"
                return self._failed(task.request, TIMEOUT, words)
            self._suspects.append(task.request)
        return None

    def _failed(self, request: Request, status: str, words: str) -> tuple[Request, Results]:
        if request.variant == "base":
            raise BaseFailed(words)
        return request, iter([(request.runs[0], {"status": status, "message": words})])

    def _suspect(self, broken: Executor) -> None:
        """Stop waiting for the tasks of a broken executor, which may never answer."""
        for future, task in list(self._asked.items()):
            if task.executor is broken and not future.done():
                del self._asked[future]
                self._suspects.append(task.request)

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


def _results(reply: remote.Reply) -> Results:
    for run, fields in reply.base:
        yield run, fields | {"device": reply.info, "variant": "base"}
    for run, fields in reply.results:
        yield run, fields | {"device": reply.info}


def _width(executor: Executor) -> int:
    """Number of processes of an executor; PROCESSES if it does not tell."""
    known = getattr(executor, "_max_workers", None)
    client = getattr(executor, "_client", None)  # Dask's
    if client is not None:
        known = len(client.scheduler_info()["workers"])
    return known if isinstance(known, int) and known > 0 else PROCESSES
