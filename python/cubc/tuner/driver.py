"""The driver of a search: compiles ahead, has variants measured, and writes the store.

For every benchmark and compile-time workload base comes first: it fixes the deadlines, and if it
does not run there is nothing to compare with. Threads compile the next variants while the
measuring process works on the present one; on the CPU device, where compilers would take the cores
that are being measured, a batch is compiled first and measured then.

Whatever a variant gives, times or a failure, is in the store before the next one begins, and what
is in the store already is not done again: so a search resumes after any interruption.
"""

from __future__ import annotations

import math
import os
import time
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from cubc import _core

from .process import BaseFailed, RemoteBench
from .progress import Progress
from .records import Group, Measurement
from .status import FAILURES, OK, TIMEOUT, failure
from .strategy import Strategy
from .unit import Unit

# Deadlines: so many times what base took, and at least so many seconds. The factors are CUB's.
BUILD_FACTOR, BUILD_FLOOR = 10.0, 10.0
RUN_FACTOR, RUN_FLOOR = 50.0, 5.0
BASE_SECONDS = 300.0  # for base itself, to compile and then to run, before its timing's timeouts
AHEAD = 4  # variants compiled in advance, for each thread


class Job(NamedTuple):
    """A variant on its way: the run-time workloads that the store lacks, and its compilation."""

    variant: str
    places: list[int]
    compiled: Future


class Driver:
    """What the visits of a search share: compile threads, measuring process, store, progress."""

    def __init__(self, store: _core.Store, device: Mapping[str, Any], timing: dict[str, float]):
        self.store, self.timing = store, timing
        self.alone = device["kind"] == "cpu"  # then nothing is compiled while it measures
        affinity = getattr(os, "sched_getaffinity", None)  # not on macOS
        cores = len(affinity(0)) if affinity else os.cpu_count() or 1
        threads = cores if self.alone else max(1, cores - 1)
        self.ahead = AHEAD * threads
        self.pool = ThreadPoolExecutor(threads, "cubc-compile")
        self.bench = RemoteBench(device["name"])
        self.progress = Progress(0, False)

    def show(self, total: int, progress: bool | None, until: float | None) -> None:
        """Begin the line of progress."""
        self.progress = Progress(total, progress, until)

    def __enter__(self) -> Driver:
        return self

    def __exit__(self, kind: type | None, *exception: object) -> None:
        self.bench.close()
        self.progress.close()
        self.pool.shutdown(wait=kind is None, cancel_futures=True)


class Visit:
    """The search of one unit."""

    def __init__(self, unit: Unit, strategy: Strategy, group: Group, limit: int | None):
        self.unit, self._strategy, self._group, self._limit = unit, strategy, group, limit
        self._best = 1.0
        size = unit.space.size
        if limit is not None and 100 * limit < size:
            self.expected = limit  # spares counting a huge space
        else:
            self.expected = min(limit or size, unit.space.count())

    def run(self, driver: Driver, until: float | None) -> None:
        """Measure what is missing, base first; begin nothing past the moment `until`.

        Raises
        ------
        BaseFailed
            If base does not compile or run.
        ValueError
            If the store's measurements are against another base.
        """
        self._check_base()
        driver.progress.begin(str(self.unit), self.expected)
        todo = self._todo(driver)
        first = next(todo, None)
        places = self._absent(driver, "base")
        if first is not None or places:
            build, run = self._base(driver, places)
            rest = todo if first is None else chain([first], todo)
            for job in self._compiled(driver, rest, build):
                self._evaluate(driver, job, run)
                if until is not None and time.monotonic() > until:
                    break

    def _check_base(self) -> None:
        for cell in self._group.cells.get("base", {}).values():
            if cell.message not in ("", self.unit.base):
                raise ValueError(
                    f"{cell.store} compares {self.unit} with another base, {cell.message}; this "
                    f"cubc's is {self.unit.base}: use another store"
                )

    def _absent(self, driver: Driver, variant: str) -> list[int]:
        """Places of the run-time workloads that the store lacks for a variant."""
        places = range(len(self.unit.rts))
        return [place for place in places if not driver.store.has(self.unit.row(variant, place))]

    def _todo(self, driver: Driver) -> Iterator[tuple[str, list[int]]]:
        """Variants with something left to measure; those that are done are counted and told.

        The store's come first, so that a strategy knows all that is known before it is asked.
        """
        self._strategy.tell(self.unit.base, 1.0)  # base is measured as such
        limit = math.inf if self._limit is None else self._limit
        stored = [label for label in self._group.cells if label != "base"]
        for visited, variant in enumerate(stored):
            if not (places := self._absent(driver, variant)):
                self._finish(driver, variant, fresh=False, counts=visited < limit)
            elif visited < limit:
                yield variant, places
        known = {self.unit.base, *stored}
        visited = len(stored)
        while visited < limit and (variant := self._strategy.ask()) is not None:
            if variant in known:
                continue
            visited += 1
            if places := self._absent(driver, variant):
                yield variant, places
            else:  # another search has just measured it; what came of it is read the next time
                driver.progress.step(fresh=False, failed=False)

    def _base(self, driver: Driver, places: list[int]) -> tuple[float, float]:
        """Compile and run base, store what the store lacks, and return the two deadlines."""
        try:
            built = _core.compile(*self.unit.where, "base", BASE_SECONDS)
        except FAILURES as error:
            raise BaseFailed(failure(error)["message"]) from error
        driver.bench.open(self.unit.benchmark, self.unit.ct, self.unit.rts)
        every = range(len(self.unit.rts))
        limit = BASE_SECONDS + len(every) * driver.timing.get("timeout", 0.0)
        begin = time.monotonic()
        outcomes = list(driver.bench.evaluate("base", every, driver.timing, limit))
        ran = time.monotonic() - begin
        last = outcomes[-1][1]
        if last["status"] == TIMEOUT:
            raise BaseFailed(f"{last['message']}: it hangs, or its workloads are too large")
        if last["status"] != OK:
            raise BaseFailed(last["message"])
        for place, fields in outcomes:
            if place in places:
                self._record(driver, "base", place, fields | {"message": self.unit.base})
        return max(BUILD_FLOOR, BUILD_FACTOR * built), max(RUN_FLOOR, RUN_FACTOR * ran)

    def _compiled(
        self, driver: Driver, todo: Iterator[tuple[str, list[int]]], deadline: float
    ) -> Iterator[Job]:
        """Variants in order, each with its compilation begun some time before."""
        queue: deque[Job] = deque()
        try:
            while True:
                if not (driver.alone and queue):
                    for variant, places in islice(todo, driver.ahead - len(queue)):
                        task = partial(_core.compile, *self.unit.where, variant, deadline)
                        queue.append(Job(variant, places, driver.pool.submit(task)))
                    if driver.alone:
                        wait([job.compiled for job in queue])
                if not queue:
                    return
                yield queue.popleft()
        finally:
            for job in queue:
                job.compiled.cancel()

    def _evaluate(self, driver: Driver, job: Job, deadline: float) -> None:
        """Measure a variant and store each outcome at once; a failure holds for what is left."""
        left = list(job.places)
        try:
            job.compiled.result()
        except FAILURES as error:
            outcomes = iter([(left[0], failure(error))])
        else:
            outcomes = driver.bench.evaluate(job.variant, job.places, driver.timing, deadline)
        for place, fields in outcomes:
            left.remove(place)
            self._record(driver, job.variant, place, fields)
        for place in left:
            told = {name: fields[name] for name in ("status", "message")}
            self._record(driver, job.variant, place, told)
        self._finish(driver, job.variant, fresh=True)

    def _record(self, driver: Driver, variant: str, place: int, fields: dict[str, Any]) -> None:
        driver.store.add(self.unit.row(variant, place) | fields)
        self._group.add(
            Measurement(
                store="",
                id=0,
                variant=variant,
                rt=self.unit.rts[place],
                status=fields["status"],
                message=fields.get("message", ""),
                center=_median(fields.get("samples", b"")),
                base_center=_median(fields.get("base_samples", b"")),
                samples=len(fields.get("samples", b"")) // 4,
                extra={},
            )
        )

    def _finish(self, driver: Driver, variant: str, *, fresh: bool, counts: bool = True) -> None:
        """Tell the strategy and the user how a variant fared."""
        score = self._group.score(variant)
        self._strategy.tell(variant, score)
        if score is not None and score > self._best:
            self._best = score
            driver.progress.best(score, variant)
        if counts:
            driver.progress.step(fresh=fresh, failed=score is None)


def _median(samples: bytes) -> float | None:
    return float(np.median(np.frombuffer(samples, np.float32))) if samples else None
