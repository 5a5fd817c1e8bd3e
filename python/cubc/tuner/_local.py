"""The device of this machine as a search uses it: compile threads and a measuring process.

Threads compile the next variants while the process measures the present one. Another thread talks
to the process, so that the process never waits for the strategy or the store. On the CPU device
compilers would take the cores that are being measured, so there a batch is compiled and then
measured (`InBatches`).

Life of a job:

1. The search submits it: it enters `_asked` and `_todo`, and its compilation begins.
2. The search asks for its results: it leaves `_asked`.
3. The measuring thread takes it from `_todo`, in order, one job for each release of `_ready`: that
   is when a job is submitted, in batches when its results are asked for.
4. The thread waits for the compilation and sends the request to the process (`put`). If the next
   job is compiled by then, its request is sent too, and the process makes no pause between them.

A dropped job is skipped, unless the process has its request: then its results are read and ignored.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from queue import Empty, SimpleQueue
from typing import Any

from ._deadlines import BASE_SECONDS, base_deadline, build_deadline, run_deadline
from ._limits import cores
from ._measurer import Late, OneDevice, Request, Results
from ._process import ENDING, WorkerDied
from ._remote_bench import BaseFailed, Closed, RemoteBench, check_base
from ._status import FAILURES, failure
from ._workload import CompileTimeWorkload

AHEAD, MOST_AHEAD = 2, 12  # variants compiled in advance, for each thread and in all: a strategy
# that is asked for more has learnt from less
BATCH = 4  # for each thread, where nothing is compiled while it measures
LEAVING = 2 * ENDING  # seconds that the thread may take to see that the process is gone


class Job:
    """A request on its way: its compilation, and its results as they come."""

    def __init__(
        self, request: Request, compiled: Future, opens: CompileTimeWorkload | None = None
    ):
        self.request, self.compiled, self.opens = request, compiled, opens
        self.events: SimpleQueue = SimpleQueue()  # results, then None or an exception
        self.dropped = self.put = False
        self.began = 0.0  # moment of the monotonic clock at which the process got it

    def results(self, until: float | None = None) -> Results:
        """Results as they come, up to the first failure; Late past the moment `until`."""
        while True:
            try:
                event = self.events.get(timeout=_left(until))
            except Empty:
                raise Late from None
            if event is None:
                return
            if isinstance(event, BaseException):
                raise event
            yield event


def _left(until: float | None) -> float | None:
    """Seconds up to a moment; None if there is no such moment."""
    return None if until is None else max(0.0, until - time.monotonic())


class Local(OneDevice):
    """A device of this machine that measures while others are compiled for it; see `Measurer`."""

    def __init__(self, info: Mapping[str, Any]):
        super().__init__(info)
        threads, self._ahead = self._room()
        self._pool = ThreadPoolExecutor(threads, "cubc-compile")
        self._bench = RemoteBench(info["name"])
        self._builds: list[Future] = []  # compilations, without those that were done
        self._abandon = bytearray(1)  # set when nobody needs what is being compiled with it
        self._workload: CompileTimeWorkload | None = None
        self._build_seconds = BASE_SECONDS
        self._base_seconds = 0.0  # that base ran
        self._asked: deque[Job] = deque()  # results not asked for yet
        self._todo: deque[Job | None] = deque()  # not measured yet; None ends the thread
        self._ready = threading.Semaphore(0)  # counts those that may be measured
        self._thread = threading.Thread(target=self._measure, name="cubc-measure", daemon=True)
        self._thread.start()

    @staticmethod
    def _room() -> tuple[int, int]:
        """Threads that compile, and variants that are compiled in advance."""
        threads = max(1, cores() - 1)
        return threads, min(MOST_AHEAD, AHEAD * threads)

    def begin(self, workload: CompileTimeWorkload, base: Request) -> Results:
        """Set up a workload and measure its base, whose time sets the deadlines."""
        self.drop()
        self._workload, self._build_seconds = workload, BASE_SECONDS
        job = self._add(base, opens=workload)
        if job.compiled not in wait([job.compiled], _left(base.until)).done:
            raise Late
        try:
            built = job.compiled.result()
        except FAILURES as error:
            self.drop()
            raise BaseFailed(failure(error)["message"]) from error
        _, results = self.next(base.until)
        for run, fields in results:
            check_base(fields)
            yield run, fields
        self._build_seconds = build_deadline(built)
        self._base_seconds = time.monotonic() - job.began

    @property
    def compiling(self) -> int:
        """Number of variants that are being compiled, or wait for that."""
        return sum(not one.done() for one in self._builds)

    def wants(self) -> bool:
        """True if more can be compiled in advance."""
        return len(self._asked) < self._ahead

    def submit(self, request: Request) -> None:
        """Begin to compile a variant, and measure it in its turn."""
        self._add(request)

    def _add(self, request: Request, opens: CompileTimeWorkload | None = None) -> Job:
        assert self._workload is not None
        compiled = self._pool.submit(
            self._workload.compile, request.variant, self._build_seconds, self._abandon
        )
        self._builds = [*(one for one in self._builds if not one.done()), compiled]
        job = Job(request, compiled, opens)
        self._asked.append(job)
        self._todo.append(job)
        self._on_submit()
        return job

    def _on_submit(self) -> None:
        """Have the measuring thread take one job more."""
        self._ready.release()

    def next(self, until: float | None = None) -> tuple[Request, Results]:
        """Give the oldest request and its results."""
        job = self._asked.popleft()
        self._on_ask()
        return job.request, job.results(until)

    def _on_ask(self) -> None:
        """Nothing is done: the thread may have measured the job already."""

    def drop(self) -> None:
        """Forget what was asked for, and what is being compiled for it."""
        self._abandon[0], self._abandon = 1, bytearray(1)
        while self._asked:
            job = self._asked.popleft()
            job.dropped = True
            job.compiled.cancel()
            self._on_ask()

    def close(self) -> None:
        """End the threads and the process."""
        self.drop()
        self._todo.append(None)
        self._ready.release()
        self._bench.close()
        self._thread.join(LEAVING)
        self._pool.shutdown(cancel_futures=True)

    # ---- the measuring thread -------------------------------------------------------------------
    def _measure(self) -> None:
        while True:
            self._ready.acquire()
            job = self._todo.popleft()
            if job is None:
                return
            try:
                for event in self._measured(job):
                    job.events.put(event)
                job.events.put(None)
            except (Closed, WorkerDied) as error:  # only by closing
                job.events.put(error)
                return
            except BaseException as error:  # abandoned compilations raise it, too
                job.events.put(error)

    def _measured(self, job: Job) -> Results:
        """Results of a job, which the process gets once it is compiled."""
        self._wait_for_others(job)
        if job.dropped and not job.put:
            return
        try:
            job.compiled.result()
        except FAILURES as error:
            yield job.request.runs[0], failure(error)
            return
        if job.opens is not None:
            self._bench.open(job.opens.opening)
        self._put(job)
        job.began = time.monotonic()
        self._put_next()
        request = job.request
        opens = job.opens is not None
        seconds = base_deadline(request) if opens else run_deadline(self._base_seconds, request)
        yield from self._bench.take(seconds)

    def _wait_for_others(self, job: Job) -> None:
        """Nothing is done: others may be compiled while the job is measured."""

    def _put_next(self) -> None:
        """Let the process have the next request as well, if it can be run by now."""
        job = next(iter(self._todo.copy()), None)
        if job is None or job.opens or job.dropped or not job.compiled.done():
            return
        if not job.compiled.cancelled() and job.compiled.exception() is None:
            self._put(job)

    def _put(self, job: Job) -> None:
        if not job.put:
            job.put = True
            self._bench.put(job.request)


class InBatches(Local):
    """A device whose cores compile, too: a batch is compiled, and only then measured."""

    def __init__(self, info: Mapping[str, Any]):
        self._batch = 1  # number of variants in it
        self._filling = True  # it is being submitted
        super().__init__(info)

    @staticmethod
    def _room() -> tuple[int, int]:
        threads = cores()
        return threads, BATCH * threads

    def begin(self, workload: CompileTimeWorkload, base: Request) -> Results:
        """Begin with a small batch: there may be little time."""
        self._batch = 1
        yield from super().begin(workload, base)

    def wants(self) -> bool:
        """True if there is room in the batch, each of which may have twice as many."""
        if not self._asked:
            self._filling, self._batch = True, min(2 * self._batch, self._ahead)
        self._filling = self._filling and len(self._asked) < self._batch
        return self._filling

    def _on_submit(self) -> None:
        """Nothing is measured before its batch is compiled."""

    def _on_ask(self) -> None:
        """Have the thread take the job, and end its batch."""
        self._filling = False
        self._ready.release()

    def drop(self) -> None:
        """Forget what was asked for, and begin another batch."""
        super().drop()
        self._filling = True

    def _wait_for_others(self, job: Job) -> None:
        wait([one.compiled for one in [job, *self._todo] if one])


def local(info: Mapping[str, Any]) -> Local:
    """Open a device of this machine."""
    return (InBatches if info["kind"] == "cpu" else Local)(info)
