"""Lane of a search among the processes of an executor: its requests on their way there and back.

A lane is a compile-time workload on the devices of one model. The lanes of a pool share its tasks
(see ``_pool.py``), and each counts for itself how many variants make half a second.
"""

from __future__ import annotations

import time
import uuid
from collections import deque
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from . import _remote as remote
from ._deadlines import BASE_SECONDS, build_deadline
from ._measurer import Gone, Late, Request, Results
from ._remote_bench import BaseFailed
from ._status import FAULT, TIMEOUT
from ._workload import CompileTimeWorkload

if TYPE_CHECKING:
    from ._pool import Pool

TASK_SECONDS = 0.5  # that a task of several variants takes
MOST_TOGETHER = 64  # variants of a task
MOST_BYTES = 8 << 20  # of compiled kernels that a task brings, unless one variant has more
REFILL = 4  # part of what is asked for that has to be missing before a strategy is asked for more


class Lane:
    """Measurer of the search of one compile-time workload; see `Measurer`.

    Attributes
    ----------
    model : tuple
        See `remote.model_of`.
    ready, lost, suspects : deque of Request
        Those to be sent: as the search asked for them; again, because a process did not answer; and
        again, alone, because a process died that may have had them.
    at : set of str
        Devices, by uuid, that have the workload open.
    moving : int
        Tasks that bring devices here from other lanes.
    together : int
        Variants of a task.
    longest : float
        Seconds in which a task was answered.
    begun : float
        Moment since which the lane asks for something.
    build_seconds : float
        Seconds to compile a variant in, where others do that for the devices.
    abandon : bytearray
        Its byte is set when nobody needs what is being compiled with it.
    turn : int
        Number of drops so far: what was asked for before the last one is not awaited any more.
    """

    several = True

    def __init__(self, pool: Pool, info: Mapping[str, Any]):
        self.info, self.model, self._pool = info, remote.model_of(info), pool
        self.workload: CompileTimeWorkload | None = None
        self._workload_id = uuid.uuid4().hex
        self.ready: deque[Request] = deque()
        self.lost: deque[Request] = deque()
        self.suspects: deque[Request] = deque()
        self.at: set[str] = set()
        self.moving = 0
        self.together, self._seconds = 1, 0.0  # seconds: of one variant
        self.longest, self.begun = 0.0, 0.0
        self._answered: deque[tuple[Request, Results]] = deque()  # that nobody took yet
        self._error: BaseFailed | Late | None = None  # that comes after them
        self._waiting = 0  # requests without an answer
        self._filling = True  # more is asked for until there is enough
        self.turn = 0
        self.abandon, self.build_seconds = bytearray(1), BASE_SECONDS
        self._kernels: dict[str, bytes] = {}  # of variants on their way, that others compiled

    @property
    def others(self) -> Collection[Mapping[str, Any]]:
        """Devices of the model that have answered."""
        return self._pool.devices(self.model).values()

    @property
    def answered(self) -> int:
        """Number of requests whose results are all here."""
        return len(self._answered)

    @property
    def is_ready(self) -> bool:
        """True if there is an answer."""
        return bool(self._answered) or self._error is not None

    @property
    def load(self) -> int:
        """Number of devices that are here or on their way."""
        return len(self.at) + self.moving

    def begin(self, workload: CompileTimeWorkload, base: Request) -> Results:
        """Let one process open the workload; the others follow with their first task."""
        self.drop()
        self.workload, self.begun = workload, time.monotonic()
        self._pool.take_in(self)
        self._waiting = 1
        if not self._pool.compile(self, base):
            self.ready.append(base)
        self._pool.feed(early=True)
        return self._first(base.until)

    def _first(self, until: float | None) -> Results:
        _, results = self.next(until)
        yield from results

    def wants(self) -> bool:
        """True if a process may have nothing to do soon: then more is asked for at once."""
        enough = self._pool.enough(self)
        missing = enough - self._waiting - len(self._answered)
        if missing >= max(self.together, enough // REFILL if self.together > 1 else 1):
            self._filling = True
        self._filling = self._filling and missing > 0
        return self._filling

    def submit(self, request: Request) -> None:
        """Send a variant to some process, with others, once it is compiled."""
        self._waiting += 1
        if not self._pool.compile(self, request):
            self.ready.append(request)
            if len(self.ready) >= self.together:
                self._pool.feed(early=True)

    def compiled(self, request: Request, bundle: bytes = b"", seconds: float = 0.0) -> None:
        """Take a variant that may be sent, with kernels if they are not in the devices' cache."""
        if bundle:
            self._kernels[request.variant] = bundle
        if bundle and request.variant == "base":
            self.build_seconds = build_deadline(seconds)
        self.ready.append(request)

    def next(self, until: float | None = None) -> tuple[Request, Results]:
        """Give the request that is done first, with its results; Late past the moment `until`."""
        while not self.is_ready:
            is_late = until is not None and time.monotonic() >= until
            self._pool.wait(until)
            if is_late and not self.is_ready:
                raise Late
        if self._answered:
            return self._answered.popleft()
        error, self._error = self._error, None
        assert error is not None
        raise error

    def batch(self, free: int) -> list[Request]:
        """Requests of the next of `free` tasks; one with rounds takes long and is by itself."""
        share = -(-len(self.ready) // free)  # so that each process has some
        found = [self.ready.popleft()]
        size = self._size(found[0])
        while (
            self.ready
            and (size := size + self._size(self.ready[0])) <= MOST_BYTES
            and len(found) < min(self.together, share)
            and not found[-1].runs[-1].round
            and not self.ready[0].runs[-1].round
        ):
            found.append(self.ready.popleft())
        return found

    def _size(self, request: Request) -> int:
        return len(self._kernels.get(request.variant, b""))

    def offer(self, requests: list[Request]) -> remote.Offer:
        """Give what a process is sent of some requests."""
        assert self.workload is not None
        until = requests[0].until
        left = None if until is None else until - time.monotonic()
        names = dict.fromkeys(request.variant for request in requests)
        if len(self.at) < self._pool.width:  # a process may open the workload with this task
            names["base"] = None
        bundle = b"".join(self._kernels.get(name, b"") for name in names)
        return remote.Offer(self.model, self._workload_id, self.workload, requests, left, bundle)

    def take(self, requests: list[Request], reply: remote.Reply, seconds: float) -> None:
        """Take the reply of a process to some requests, which took so long."""
        self.at.add(reply.info["uuid"])
        if reply.error is not None:
            self._error = reply.error
            return
        self.longest = max(self.longest, seconds)
        for variant in self._kernels.keys() & reply.compiled:
            self._pool.refused(variant, reply.info["model"])
        for _, fields in reply.base:
            fields["variant"] = "base"
        for at, request in enumerate(requests):
            found = reply.results[at] if at < len(reply.results) else []
            self._answer(request, _results(reply.info, reply.base if at == 0 else [], found))
        if reply.results and not requests[0].runs[-1].round:
            mean = reply.seconds / len(reply.results)
            self._seconds = 0.8 * self._seconds + 0.2 * mean if self._seconds else mean
            together = int(TASK_SECONDS / max(self._seconds, 1e-6))
            self.together = max(1, min(MOST_TOGETHER, together, 2 * self.together))

    def give_back(self, requests: list[Request], attempt: int, *, alone: bool) -> None:
        """Take requests back that nobody took."""
        first = self.suspects if alone else self.lost if attempt > 1 else self.ready
        first.extendleft(reversed(requests))

    def lose(self, requests: list[Request], failure: str) -> None:
        """Send requests again that no process answered, one at a time, unless that is a failure."""
        self._again(requests, self.lost, TIMEOUT, failure)

    def died(self, requests: list[Request], failure: str) -> None:
        """Send requests again whose process died, alone, unless that is a failure."""
        self._again(requests, self.suspects, FAULT, failure)

    def gone(self) -> None:
        """Await nothing any more, since no device of the model answers."""
        if self._waiting and not self.is_ready:
            self._error = Gone()

    def _again(
        self, requests: list[Request], way: deque[Request], status: str, failure: str
    ) -> None:
        if not failure:
            way.extend(requests)
            return
        for request in requests:
            if request.variant == "base":
                self._error = BaseFailed(failure)
                return
            fields = {"status": status, "message": failure}
            self._answer(request, iter([(request.runs[0], fields)]))

    def _answer(self, request: Request, results: Results) -> None:
        self._answered.append((request, results))
        if request.variant != "base":
            self._kernels.pop(request.variant, None)
        self._waiting -= 1

    def drop(self) -> None:
        """Forget what was asked for; tasks that run end unheard, compilations at once."""
        self.abandon[0], self.abandon, self.build_seconds = 1, bytearray(1), BASE_SECONDS
        self._kernels.clear()
        self.turn += 1
        self._pool.drop(self)
        for queue in (self.ready, self.lost, self.suspects, self._answered):
            queue.clear()
        self._error, self._waiting, self._filling = None, 0, True

    def end(self) -> None:
        """Leave the pool."""
        self.drop()
        self._pool.release(self)


def _results(info: Mapping[str, Any], *parts: remote.Found) -> Results:
    for part in parts:
        for run, fields in part:
            fields["device"] = info  # nobody else has them
            yield run, fields
