"""The driver of a search: asks the strategy, has variants measured, and writes the store.

For every benchmark and compile-time workload base comes first: if it does not run there is nothing
to compare with. Then variants are asked for somewhat ahead of their results, and in the end those
that did best are measured again, in rounds, until the leader is one that did not win by luck.

Whatever a variant gives, times or a failure, is in the store as soon as it is known, and what is in
the store already is not done again: so a search resumes after any interruption.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

from cubc import _core

from .progress import Progress
from .racing import Field
from .records import Group
from .score import weight
from .status import LOST
from .stores import measurement
from .strategy import Strategy
from .target import Request, Target
from .unit import Unit
from .verdict import LEAST, MOST, STEP

AGAIN_SHARE = 0.2  # of the time that a compile-time workload has: for measuring the best again
AGAIN_SAMPLES, AGAIN_SECONDS = 20, 0.5  # of each workload in one round
AGAIN_MOST = 4  # times as many as asked for, if the leader changes again and again


class Driver:
    """What the visits of a search share: target, store, progress, and how to measure.

    Parameters
    ----------
    store, target
        Where results are kept, and who measures.
    timing
        Options of ``Workload.measure``.
    racing
        Whether a variant that cannot win any more is given up.
    again
        How many of the best are measured again; 0 for none.
    """

    def __init__(
        self,
        store: _core.Store,
        target: Target,
        timing: dict[str, float],
        *,
        racing: bool,
        again: int,
    ):
        self.store, self.target, self.timing = store, target, timing
        self.racing, self.again = racing, again
        self.progress = Progress(0, False)

    def show(self, total: int, progress: bool | None, until: float | None) -> None:
        """Begin the line of progress."""
        self.progress = Progress(total, progress, until)

    def __enter__(self) -> Driver:
        return self

    def __exit__(self, kind: type | None, *exception: object) -> None:
        self.target.close(quick=kind is not None)
        self.progress.close()

    def is_late(self, until: float | None) -> bool:
        """Whether a moment has passed."""
        return until is not None and time.monotonic() > until


class Visit:
    """The search of one unit."""

    def __init__(self, unit: Unit, strategy: Strategy, group: Group, limit: int | None):
        self.unit, self._strategy, self._group, self._limit = unit, strategy, group, limit
        self._field = Field([weight(unit.axes, rt) for rt in unit.rts])
        self._open = False
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
        share = AGAIN_SHARE if driver.again else 0.0
        now = time.monotonic()
        self._explore(driver, None if until is None else until - share * max(0.0, until - now))
        self._repeat(driver, until)

    def _check_base(self) -> None:
        for cell in self._group.cells.get("base", {}).values():
            if cell.message not in ("", self.unit.base):
                raise ValueError(
                    f"{cell.store} compares {self.unit} with another base, {cell.message}; this "
                    f"cubc's is {self.unit.base}: use another store"
                )

    def _absent(self, driver: Driver, variant: str, again: int = 0) -> list[int]:
        """Places of the run-time workloads that the store lacks for a variant in a round."""
        places = range(len(self.unit.rts))
        has = driver.store.has
        return [place for place in places if not has(self.unit.row(variant, place, again))]

    def _ensure_open(self, driver: Driver) -> None:
        """Have the target measure base, and store of that what the store lacks."""
        if self._open:
            return
        absent = self._absent(driver, "base")
        every = [*range(len(self.unit.rts))]
        for place, fields in driver.target.begin(self.unit, Request("base", every, driver.timing)):
            if place in absent:
                self._record(driver, "base", place, fields | {"message": self.unit.base})
        self._open = True

    # ---- the search -----------------------------------------------------------------------------
    def _explore(self, driver: Driver, until: float | None) -> None:
        """Visit variants that the strategy names, some ahead of the results."""
        if self._absent(driver, "base"):
            self._ensure_open(driver)
        todo, more, waiting = self._todo(driver), True, 0
        while more or waiting:
            while more and driver.target.wants():
                item = next(todo, None)
                if item is None:
                    more = False
                    break
                self._ensure_open(driver)
                driver.target.submit(self._request(driver, *item))
                waiting += 1
            if waiting:
                variant = self._take(driver)
                waiting -= 1
                self._finish(driver, variant, fresh=True)
            if driver.is_late(until):
                break
        driver.target.drop()

    def _request(self, driver: Driver, variant: str, places: list[int]) -> Request:
        race = self._field.race() if driver.racing else None
        order = self._field.order(places)
        return Request(variant, order, driver.timing, race=race, limits=self.unit.limits)

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
        while visited < limit and (asked := self._strategy.ask()) is not None:
            if asked in known:
                continue
            visited += 1
            if places := self._absent(driver, asked):
                yield asked, places
            else:  # another search has just measured it; what came of it is read the next time
                driver.progress.step(fresh=False, failed=False)

    def _take(self, driver: Driver) -> str:
        """Store each result of the oldest request at once; a failure holds for what is left."""
        request, results = driver.target.next()
        variant, again = request.variant, request.round
        left = list(request.places)
        last: dict[str, Any] = {}
        for place, fields in results:
            left.remove(place)
            last = {name: fields[name] for name in ("status", "message") if name in fields}
            self._record(driver, variant, place, fields, again)
        for place in left:
            self._record(driver, variant, place, last, again)
        return variant

    def _record(
        self, driver: Driver, variant: str, place: int, fields: dict[str, Any], again: int = 0
    ) -> None:
        row = self.unit.row(variant, place, again) | fields
        driver.store.add(row)
        self._group.add(measurement(row, "", self.unit.rts[place]))

    def _finish(self, driver: Driver, variant: str, *, fresh: bool, counts: bool = True) -> None:
        """Tell the strategy, the field and the user how a variant fared."""
        score = self._group.score(variant)
        self._strategy.tell(variant, self._group.estimate(variant))
        speedups = [*self._group.speedups(variant).values()]
        if score is not None and len(speedups) == len(self.unit.rts):
            self._field.add(speedups, score)
        if score is not None and score > self._best:
            self._best = score
            driver.progress.best(score, variant)
        if counts:
            failed = self._group.failure(variant) not in (None, LOST)
            driver.progress.step(fresh=fresh, failed=failed)

    # ---- measuring the best again ---------------------------------------------------------------
    def _repeat(self, driver: Driver, until: float | None) -> None:
        """Measure the best variants again, a batch of rounds at a time, until nothing is open."""
        timeout = min(AGAIN_SECONDS, driver.timing.get("timeout", AGAIN_SECONDS))
        samples = min(AGAIN_SAMPLES, int(driver.timing.get("max_samples", AGAIN_SAMPLES)))
        timing = {"min_samples": samples, "max_samples": samples, "timeout": timeout}
        while not driver.is_late(until):
            requests = [
                Request(variant, places, timing, again)
                for variant, rounds in self._open_verdicts(driver.again)
                for again in range(1, rounds + 1)
                if (places := self._absent(driver, variant, again))
            ]
            if not requests:
                return
            driver.progress.again(len({request.variant for request in requests}))
            self._ensure_open(driver)
            for request in requests:
                driver.target.submit(request)
            for _ in requests:
                if driver.is_late(until):
                    break
                self._take(driver)
            driver.target.drop()

    def _open_verdicts(self, wanted: int) -> Iterator[tuple[str, int]]:
        """Variants whose verdict is open, with the rounds that they should have next.

        They are the best `wanted`, and then whoever leads: a variant that leads by luck falls back
        when it is measured again, and another takes its place.
        """
        ranked = [variant for _, variant in self._group.ranked() if variant != "base"]
        begun = [variant for variant in ranked if self._group.rounds.get(variant)]
        new = [variant for variant in ranked if variant not in begun][: wanted - len(begun)]
        if wanted and not new and ranked[:1] != begun[:1] and len(begun) < AGAIN_MOST * wanted:
            new = ranked[:1]
        verdicts = {variant: self._group.verdict(variant) for variant in begun}
        lead = max((found.low for found in verdicts.values() if found), default=0.0)
        for variant in new:
            yield variant, LEAST
        for variant, found in verdicts.items():
            rounds = found.rounds if found else 0
            if rounds < LEAST:
                yield variant, LEAST
            elif found and not found.decided and found.high >= lead and rounds < MOST:
                yield variant, rounds + STEP
