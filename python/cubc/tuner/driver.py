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
from collections.abc import Iterator, Mapping
from typing import Any

from cubc import _core

from .axes import workload_text
from .progress import Progress
from .racing import Field
from .score import weight
from .standing import Standing
from .status import LOST
from .stores import measurement
from .strategy import Strategy
from .target import Request, Run, Target
from .unit import Unit
from .verdict import LEAST, MOST, STEP

AGAIN_SHARE = 0.1  # of the time that a compile-time workload has: for measuring the best again
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
        timing: dict[str, Any],
        *,
        racing: bool,
        again: int,
    ):
        self.store, self.target, self.timing = store, target, timing
        self.racing, self.again = racing, again
        self.progress = Progress(0, False)
        self._device = ""
        self.measured_on(target.info)

    def show(self, total: int, progress: bool | None, until: float | None) -> None:
        """Begin the line of progress."""
        self.progress = Progress(total, progress, until)

    def __enter__(self) -> Driver:
        return self

    def __exit__(self, kind: type | None, *exception: object) -> None:
        self.progress.close()

    def measured_on(self, info: Mapping[str, Any]) -> None:
        """Let the next rows be of a device."""
        if info["uuid"] != self._device:
            self.store.set_device(dict(info))
            self._device = info["uuid"]

    def is_late(self, until: float | None) -> bool:
        """Whether a moment has passed."""
        return until is not None and time.monotonic() > until


class Visit:
    """The search of one unit."""

    def __init__(self, unit: Unit, strategy: Strategy, standing: Standing, limit: int | None):
        self.unit, self._strategy, self._standing, self._limit = unit, strategy, standing, limit
        self._field = Field([weight(unit.axes, rt) for rt in unit.rts])
        self._texts = [workload_text(rt) for rt in unit.rts]
        self._open = self._ended = False  # the unit; the strategy
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

    @property
    def is_empty(self) -> bool:
        """Whether the strategy has looked and found no variant that fulfils the constraints."""
        return self._ended and bool(self.unit.constraints) and not self._standing.variants()

    def _check_base(self) -> None:
        for group in self._standing.groups:
            for cell in group.cells.get("base", {}).values():
                if cell.message not in ("", self.unit.base):
                    raise ValueError(
                        f"{cell.store} compares {self.unit} with another base, {cell.message}; "
                        f"this cubc's is {self.unit.base}: use another store"
                    )

    def _absent(self, driver: Driver, variant: str, again: int = 0) -> list[Run]:
        """Runs of a round that are to be done for a variant.

        What another search on this device has stored in the meantime is not. Where several devices
        measure it would have to be asked for each, so there only what is known counts.
        """
        runs = (Run(again, place) for place in range(len(self.unit.rts)))
        return [run for run in runs if not self._has(driver, variant, run)]

    def _has(self, driver: Driver, variant: str, run: Run) -> bool:
        rt = self._texts[run.place]
        if run.round == 0 and self._standing.is_open(variant, rt, racing=driver.racing):
            return False
        if driver.target.several:
            return self._standing.has(variant, run.round, rt)
        return driver.store.has(self.unit.row(variant, run.place, run.round))

    def _ensure_open(self, driver: Driver) -> None:
        """Have the target measure base, and store of that what the store lacks."""
        if self._open:
            return
        every = [Run(0, place) for place in range(len(self.unit.rts))]
        for run, fields in driver.target.begin(self.unit, Request("base", every, driver.timing)):
            self._record(driver, "base", run, fields)
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
                    more, self._ended = False, True
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

    def _request(self, driver: Driver, variant: str, runs: list[Run]) -> Request:
        race = self._field.race() if driver.racing else None
        order = self._field.order(runs)
        return Request(variant, order, driver.timing, race, self.unit.limits)

    def _todo(self, driver: Driver) -> Iterator[tuple[str, list[Run]]]:
        """Variants with something left to measure; those that are done are counted and told.

        The store's come first, so that a strategy knows all that is known before it is asked.
        """
        self._strategy.tell(self.unit.base, 1.0)  # base is measured as such
        limit = math.inf if self._limit is None else self._limit
        stored = self._standing.variants()
        for visited, variant in enumerate(stored):
            if not (runs := self._absent(driver, variant)):
                self._finish(driver, variant, fresh=False, counts=visited < limit)
            elif visited < limit:
                yield variant, runs
        known = {self.unit.base, *stored}
        visited = len(stored)
        while visited < limit and (asked := self._strategy.ask()) is not None:
            if asked in known:
                continue
            visited += 1
            if runs := self._absent(driver, asked):
                yield asked, runs
            else:  # another search has just measured it; what came of it is read the next time
                driver.progress.step(fresh=False, failed=False)

    def _take(self, driver: Driver) -> str:
        """Store each result of the next request at once; a failure holds for what is left."""
        request, results = driver.target.next()
        left = list(request.runs)
        last: dict[str, Any] = {}
        for run, fields in results:
            variant = fields.get("variant", request.variant)
            if variant == request.variant:
                left.remove(run)
                last = {n: fields[n] for n in ("status", "message", "device") if n in fields}
            self._record(driver, variant, run, fields)
        for run in left:
            if run.round == left[0].round:
                self._record(driver, request.variant, run, last)
        return request.variant

    def _record(self, driver: Driver, variant: str, run: Run, fields: dict[str, Any]) -> None:
        row = self.unit.row(variant, run.place, run.round) | fields
        if variant == "base":
            row["message"] = self.unit.base
        info = row.pop("device", driver.target.info)
        driver.measured_on(info)
        is_new = driver.store.add(row)
        self._standing.add(info, measurement(row, "", self.unit.rts[run.place]), replace=is_new)

    def _finish(self, driver: Driver, variant: str, *, fresh: bool, counts: bool = True) -> None:
        """Tell the strategy, the field and the user how a variant fared."""
        standing = self._standing
        score = standing.score(variant)
        self._strategy.tell(variant, standing.estimate(variant))
        speedups = standing.speedups(variant)
        if score is not None and speedups is not None:
            self._field.add(speedups, score)
        if score is not None and score > self._best:
            self._best = score
            driver.progress.best(score, variant)
        if counts:
            failed = standing.failure(variant) not in (None, LOST)
            driver.progress.step(fresh=fresh, failed=failed)

    # ---- measuring the best again ---------------------------------------------------------------
    def _repeat(self, driver: Driver, until: float | None) -> None:
        """Measure the best variants again, a batch of rounds at a time, until nothing is open."""
        timeout = min(AGAIN_SECONDS, driver.timing.get("timeout", AGAIN_SECONDS))
        samples = min(AGAIN_SAMPLES, int(driver.timing.get("max_samples", AGAIN_SAMPLES)))
        timing = {"min_samples": samples, "max_samples": samples, "timeout": timeout}
        while not driver.is_late(until):
            requests = [
                Request(variant, runs, timing)
                for variant, rounds in self._open_verdicts(driver.again)
                if (runs := self._rounds(driver, variant, rounds))
            ]
            if not requests:
                return
            driver.progress.again(len(requests))
            self._ensure_open(driver)
            for request in requests:
                driver.target.submit(request)
            for _ in requests:
                if driver.is_late(until):
                    break
                self._take(driver)
            driver.target.drop()

    def _rounds(self, driver: Driver, variant: str, rounds: int) -> list[Run]:
        """What is missing of the first rounds of a variant.

        Where several devices measure, all rounds are done by one, whichever it is, and the search's
        own measurement with them.
        """
        if driver.target.several:
            begun = self._standing.is_begun(variant)
            places = range(len(self.unit.rts))
            return (
                [Run(again, p) for again in range(rounds + 1) for p in places] if not begun else []
            )
        every = (self._absent(driver, variant, again) for again in range(1, rounds + 1))
        return [run for runs in every for run in runs]

    def _open_verdicts(self, wanted: int) -> Iterator[tuple[str, int]]:
        """Variants whose verdict is open, with the rounds that they should have by then.

        They are the best `wanted`, and then whoever leads: a variant that leads by luck falls back
        when it is measured again, and another takes its place.
        """
        standing = self._standing
        ranked = standing.ranked()
        begun = [variant for variant in ranked if standing.is_begun(variant)]
        new = [variant for variant in ranked if variant not in begun]
        new = new[: max(0, wanted - len(begun))]
        if wanted and not new and ranked[:1] != begun[:1] and len(begun) < AGAIN_MOST * wanted:
            new = ranked[:1]
        verdicts = {variant: standing.verdict(variant) for variant in begun}
        lead = max((found.low for found in verdicts.values() if found), default=0.0)
        for variant in new:
            yield variant, LEAST
        for variant, found in verdicts.items():
            rounds = found.rounds if found else 0
            if rounds < LEAST:
                yield variant, LEAST
            elif found and not found.decided and found.high >= lead and rounds < MOST:
                yield variant, rounds + STEP
