"""Other processes and machines as the target of a search, through any executor.

A task is one variant: the process that gets it compiles, verifies and measures it on its own
device, through a measuring process of its own, and sends back what came of it. Base is measured by
each process for itself, so that a variant is only ever held against base on the same device. The
store, the deadlines' factors and what is to be tried again stay with the search.

Where the processes run on this machine and measure GPUs, threads of the search compile variants
before they are sent, into the cache that all share: a process then has nothing to do but measure.

When a process dies, an executor may not tell which task it had: a pool of processes fails all of
them. So each goes again by itself, and only one that its process does not survive then is at fault.
A pool that breaks while it is given a task may raise anything (Python's starts a process whose
pipes its other thread has just closed), or take the task and forget it.

An executor is anything like ``concurrent.futures.Executor``: a process pool, Dask's
(``Client.get_executor(pure=False)``), mpi4py's. What is called in the other process is in
``remote.py``.
"""

from __future__ import annotations

import socket
import uuid
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

from . import remote
from .cores import cores
from .deadlines import BASE_SECONDS
from .process import BaseFailed
from .status import FAULT
from .target import Request, Results
from .unit import Unit

AHEAD = 2  # tasks for each process, so that none waits for the search
MOST_COMPILING = 12  # a strategy that is asked for more has learnt from less
PROCESSES = 4  # taken to be there where an executor does not tell
ATTEMPTS = 2  # of a task whose process died

Source = Executor | Callable[[], Executor]


class Task(NamedTuple):
    """What an executor was asked for."""

    request: Request
    attempt: int  # from 1
    executor: Executor


class Pool:
    """An executor; see `Target`.

    Parameters
    ----------
    source
        An executor, which is left open, or a callable that makes one: then a pool that broke
        because a process died is replaced, and the last one is shut down.
    device
        What each process measures on. None: a GPU of its own for each, or else the cpu.
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
        self._unit: Unit | None = None
        self._visit = ""
        found: tuple[Mapping[str, Any], str]
        try:
            found = self._executor.submit(remote.describe, device).result()
        except BaseException:
            self._end()
            raise
        self.info: Mapping[str, Any] = found[0]
        self._ahead = AHEAD * _width(self._executor)
        self._abandon = bytearray(1)  # set when nobody needs what is being compiled any more
        self._compilers: ThreadPoolExecutor | None = None
        if compiles_for(*found):
            self._compilers = ThreadPoolExecutor(cores(), "cubc-compile")
            self._ahead += min(cores(), MOST_COMPILING)

    def begin(self, unit: Unit, base: Request) -> Results:
        """Let one process open the unit; the others follow with their first task."""
        self.drop()
        self._unit, self._visit = unit, uuid.uuid4().hex
        self._send(base)
        _, results = self.next()
        return results

    def wants(self) -> bool:
        """Whether a process may have nothing to do soon."""
        waiting = [*self._asked, *self._compiling, *self._ready, *self._suspects]
        return len(waiting) < self._ahead

    def submit(self, request: Request) -> None:
        """Send a variant to some process, once it is compiled."""
        if self._compilers is None:
            self._ready.append(request)
            self._feed()
            return
        assert self._unit is not None
        future = self._compilers.submit(
            self._unit.compile, request.variant, BASE_SECONDS, self._abandon
        )
        self._compiling[future] = request

    def _feed(self) -> None:
        """Send what is ready; but suspects, and these one at a time."""
        if not self._suspects and all(task.attempt == 1 for task in self._asked.values()):
            while self._ready:
                self._send(self._ready.popleft())
        elif not self._asked:
            self._send(self._suspects.popleft(), ATTEMPTS)

    def _send(self, request: Request, attempt: int = 1) -> None:
        assert self._unit is not None
        task = partial(remote.work, self._visit, self._unit, request, self._device)
        try:
            future = self._executor.submit(task)
        except Exception:
            try:
                future = self._executor.submit(task)  # one that broke just now says so at last
            except BrokenExecutor:
                self._renew()
                future = self._executor.submit(task)
        self._asked[future] = Task(request, attempt, self._executor)

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

    def next(self) -> tuple[Request, Results]:
        """Give the request that is done first, with its results."""
        while True:
            self._feed()
            done, _ = wait([*self._asked, *self._compiling], return_when=FIRST_COMPLETED)
            for built in done.intersection(self._compiling):
                self._ready.append(self._compiling.pop(built))  # if it failed, the process says so
            if not (answered := done.intersection(self._asked)):
                continue
            future = next(iter(answered))
            request, attempt, executor = self._asked.pop(future)
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
                if request.variant == "base":
                    raise BaseFailed(words) from death
                return request, iter([(request.runs[0], {"status": FAULT, "message": words})])
            self._check(reply.info)
            return request, _results(reply)

    def _suspect(self, broken: Executor) -> None:
        """Do not wait for what a broken executor still has: it may never answer."""
        for future, task in list(self._asked.items()):
            if task.executor is broken and not future.done():
                del self._asked[future]
                self._suspects.append(task.request)

    def _check(self, info: Mapping[str, Any]) -> None:
        """Scores of several devices are one search's only if these are alike."""
        if (info["model"], info["arch"]) != (self.info["model"], self.info["arch"]):
            raise ValueError(
                f"a process of the executor measures on {info['model']} ({info['arch']}), another "
                f"on {self.info['model']} ({self.info['arch']}): use an executor whose devices are "
                "of one model, or name the device"
            )

    def drop(self) -> None:
        """Forget what was asked for; tasks that run end unheard."""
        for future in [*self._asked, *self._compiling]:
            future.cancel()
        self._asked.clear()
        self._compiling.clear()
        self._ready.clear()
        self._suspects.clear()

    def close(self) -> None:
        """Leave the user's executor as it is; end one of our own."""
        self.drop()
        self._abandon[0] = 1
        if self._compilers is not None:
            self._compilers.shutdown(cancel_futures=True)
        self._end()

    def _end(self) -> None:
        if self._make is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)


def compiles_for(info: Mapping[str, Any], host: str) -> bool:
    """Whether to compile what the processes measure: it must not disturb them, and reach them."""
    return info["kind"] == "cuda" and host == socket.gethostname()


def _is_executor(given: Any) -> bool:
    """Whether it takes tasks: no class that makes executors, and no client of Dask's."""
    known = isinstance(given, type) or hasattr(given, "get_executor")
    return not known and hasattr(given, "submit")


def _is_death(error: BaseException) -> bool:
    """Whether an executor says that it lost a process; all else is an error of its task."""
    lost = isinstance(error, BrokenExecutor | CancelledError)
    return lost or type(error).__name__ == "KilledWorker"  # Dask's


def _results(reply: remote.Reply) -> Results:
    for run, fields in reply.base:
        yield run, fields | {"device": reply.info, "variant": "base"}
    for run, fields in reply.results:
        yield run, fields | {"device": reply.info}


def _width(executor: Executor) -> int:
    """How many processes an executor has, if it tells."""
    known = getattr(executor, "_max_workers", None)
    client = getattr(executor, "_client", None)  # Dask's
    if client is not None:
        known = len(client.scheduler_info()["workers"])
    return known if isinstance(known, int) and known > 0 else PROCESSES
