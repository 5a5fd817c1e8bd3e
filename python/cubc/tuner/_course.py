"""Course of a search: the compile-time workloads on each model of device, several at a time.

Each search of a workload is a generator that pauses where it waits for its measurer (see
`WorkloadSearch.run`). One thread runs them all: it goes on with those whose measurers are ready,
and waits where none is. On a single device there is one at a time, which waits by itself.

A model that is heard of later, as by a process that joins, gets searches of its own.
"""

from __future__ import annotations

import gc
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ._deadlines import is_over
from ._measurer import Source
from ._remote_bench import BaseFailed
from ._session import Session
from ._workload_search import Steps, WorkloadSearch

LEAST_SECONDS = 2.0  # seconds that a workload has, however small its share
NEW_OBJECTS = 50_000  # objects after which Python looks for cycles: a search makes many, which stay

Make = Callable[[Mapping[str, Any]], Sequence[tuple[WorkloadSearch, float]]]


class Running(NamedTuple):
    """A search that has begun."""

    search: WorkloadSearch
    steps: Steps
    until: float | None  # moment up to which it waits


class Model:
    """The searches on the devices of one model."""

    def __init__(self, info: Mapping[str, Any], searches: Sequence[tuple[WorkloadSearch, float]]):
        self.info = info
        self._todo = deque(searches)
        self.running: list[Running] = []

    def begin(self, most: int, end: float | None, *, is_first: bool) -> None:
        """Begin searches until `most` run; but for the first one, none past the end."""
        while self._todo and len(self.running) < most:
            now = time.monotonic()
            if not is_first and end is not None and now > end:
                return
            is_first = False
            until = self._until(most, now, end)
            search, _ = self._todo.popleft()
            self.running.append(Running(search, search.run(until), -math.inf))

    def _until(self, most: int, now: float, end: float | None) -> float | None:
        """Moment at which the next search has to end, by its weight in the time that is left."""
        if end is None or (len(self._todo) == 1 and not self.running):
            return end
        weights = [weight for _, weight in self._todo]
        share = most * (weights[0] / sum(weights) if sum(weights) else 1 / len(weights))
        return min(end, now + max((end - now) * min(1.0, share), LEAST_SECONDS))


class Course:
    """All searches of a call.

    Parameters
    ----------
    session, source
        What they share, and what measures.
    make
        Makes the searches on devices of a model, with their weights.

    Attributes
    ----------
    searches : list of WorkloadSearch
        Those that were made, whether they began or not.
    failed : list of (WorkloadSearch, str)
        Those whose base does not run, and why.
    """

    def __init__(self, session: Session, source: Source, make: Make):
        self._session, self._source, self._make = session, source, make
        self._models: list[Model] = []
        self.searches: list[WorkloadSearch] = []
        self.failed: list[tuple[WorkloadSearch, str]] = []

    def run(self, seconds: float | None) -> None:
        """Run all searches, for at most `seconds`."""
        with _seldom_collected:
            self._run(seconds)

    def _run(self, seconds: float | None) -> None:
        self._look(None)
        end = None if seconds is None else time.monotonic() + seconds
        self._session.plan(sum(one.expected for one in self.searches), end)
        is_first = True
        while True:
            self._look(end)
            for model in self._models:
                model.begin(self._source.at_once(model.info), end, is_first=is_first)
                is_first = False
            if not any(model.running for model in self._models):
                return
            for model in self._models:
                for one in [*model.running]:
                    if one.search.measurer.is_ready or is_over(one.until):
                        self._step(model, one)
            waiting = [one for model in self._models for one in model.running]
            if waiting and not any(one.search.measurer.is_ready for one in waiting):
                moments = [one.until for one in waiting if one.until is not None]
                self._source.wait(min(moments, default=None))

    def _look(self, end: float | None) -> None:
        """Plan searches on the models that are new."""
        for info in self._source.models[len(self._models) :]:
            made = self._make(info)
            if self._models:
                self._session.plan(sum(one.expected for one, _ in made), end)
            self.searches += [one for one, _ in made]
            self._models.append(Model(info, made))

    def _step(self, model: Model, one: Running) -> None:
        """Go on with a search up to its next pause."""
        place = model.running.index(one)
        try:
            model.running[place] = one._replace(until=next(one.steps))
            return
        except StopIteration:
            pass
        except BaseFailed as error:
            self.failed.append((one.search, str(error)))
        del model.running[place]
        one.search.measurer.end()
        self._session.progress.end(one.search.left)


class _SeldomCollected:
    """Lets Python look for cycles less often: else a tenth of a search over many GPUs is that.

    Searches of several threads may overlap. The first changes the thresholds, and the last one that
    ends gives them back.
    """

    def __init__(self) -> None:
        self._lock, self._running = threading.Lock(), 0
        self._before = gc.get_threshold()

    def __enter__(self) -> None:
        with self._lock:
            self._running += 1
            if self._running == 1:
                self._before = gc.get_threshold()
                if self._before[0]:
                    gc.set_threshold(max(NEW_OBJECTS, self._before[0]), *self._before[1:])

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._running -= 1
            if not self._running:
                gc.set_threshold(*self._before)


_seldom_collected = _SeldomCollected()  # thresholds are the process's
