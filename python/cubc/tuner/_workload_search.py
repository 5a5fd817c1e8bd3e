"""The visit of a unit: asks the strategy, has variants measured, and writes the store.

Base comes first: if it does not run there is nothing to compare with. Then variants are asked for
somewhat ahead of their results, and in the end those that did best are measured again, in rounds,
until the leader is one that did not win by luck.

Whatever a variant gives, times or a failure, is in the store as soon as it is known, and what is in
the store already is not done again: so a search resumes after any interruption.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from ._axes import workload_text
from ._confirmation import open_verdicts
from ._racing import Field
from ._score import weight
from ._session import Session
from ._status import LOST
from ._stores import measurement
from ._strategy import Strategy
from ._target import Late, Request, Run
from ._workload import Unit
from ._workload_results import Standing

AGAIN_SHARE = 0.1  # part of a compile-time workload's time that goes to measuring the best again
AGAIN_LEAST = 300.0  # seconds that may always go there, where the search has no end
GRACE = 1.0  # seconds past its end in which a search waits for the variant that is measured
AGAIN_SAMPLES, AGAIN_SECONDS = 20, 0.5  # at each workload in one round


def _patience(until: float | None) -> float | None:
    """Moment up to which a search with an end waits for what it has begun."""
    return None if until is None else until + GRACE


class Visit:
    """The search of one unit."""

    def __init__(
        self,
        session: Session,
        unit: Unit,
        strategy: Strategy,
        standing: Standing,
        limit: int | None,
    ):
        self._session = session
        self.unit, self._strategy, self._standing, self._limit = unit, strategy, standing, limit
        self._field = Field([weight(unit.axes, rt) for rt in unit.rts])
        self._texts = [workload_text(rt) for rt in unit.rts]
        self._open = self._ended = False  # the unit; the strategy
        self._best, self._begun = 1.0, 0.0
        size = unit.space.size
        if limit is not None and 100 * limit < size:
            self.expected = limit  # spares counting a huge space
        else:
            self.expected = min(limit or size, unit.space.count())

    def run(self, until: float | None) -> None:
        """Measure what is missing, base first; begin nothing past the moment `until`.

        Raises
        ------
        BaseFailed
            If base does not compile or run.
        ValueError
            If the store's measurements are against another base.
        """
        self._check_base()
        self._session.progress.begin(str(self.unit), self.expected)
        share = AGAIN_SHARE if self._session.again else 0.0
        self._begun = now = time.monotonic()
        try:
            self._explore(None if until is None else until - share * max(0.0, until - now))
            self._repeat(until)
        except Late:  # while base was measured
            self._session.target.drop()

    @property
    def is_empty(self) -> bool:
        """Say whether the strategy has looked and found no variant that fulfils the constraints."""
        found = any(map(self.unit.admits, self._standing.variants()))
        return self._ended and bool(self.unit.constraints) and not found

    def _check_base(self) -> None:
        for group in self._standing.groups:
            bases = dict(zip(self._texts, self.unit.bases, strict=True))
            for rt, cell in group.cells.get("base", {}).items():
                if cell.message not in ("", bases[rt]):
                    raise ValueError(
                        f"{cell.store} compares {self.unit} with another base, {cell.message}; "
                        f"this cubc's is {bases[rt]}: use another store"
                    )

    def _absent(self, variant: str, again: int = 0) -> list[Run]:
        """Runs of a round that are to be done for a variant.

        Those that another search on this device has stored meanwhile are not. Where several devices
        measure it would have to be asked for each, so there only what is known counts.
        """
        runs = (Run(again, place) for place in range(len(self.unit.rts)))
        return [run for run in runs if not self._has(variant, run)]

    def _has(self, variant: str, run: Run) -> bool:
        rt = self._texts[run.place]
        if run.round == 0 and self._standing.is_open(variant, rt, racing=self._session.racing):
            return False
        if self._session.target.several:
            return self._standing.has(variant, run.round, rt)
        return self._session.store.has(self.unit.row(variant, run.place, run.round))

    def _ensure_open(self) -> None:
        """Have the target measure base, and store of that what the store lacks.

        Late when it takes longer than the search may take.
        """
        if self._open:
            return
        every = [Run(0, place) for place in range(len(self.unit.rts))]
        until = _patience(self._session.base_until())
        request = Request("base", every, self._session.timing, until=until)
        for run, fields in self._session.target.begin(self.unit, request):
            self._record("base", run, fields)
        self._open = True

    # ---- the search -----------------------------------------------------------------------------
    def _explore(self, until: float | None) -> None:
        """Visit variants that the strategy names, some ahead of the results."""
        if self._absent("base"):
            self._ensure_open()
        todo, more, waiting = self._todo(), True, 0
        while more or waiting:
            while more and self._session.target.wants():
                item = next(todo, None)
                if item is None:
                    more, self._ended = False, True
                    break
                self._ensure_open()
                self._session.target.submit(self._request(*item, _patience(until)))
                waiting += 1
            if waiting:
                try:
                    variant = self._take(until)
                except Late:
                    break
                waiting -= 1
                self._finish(variant, fresh=True)
            if self._session.is_late(until):
                break
        self._session.target.drop()

    def _request(self, variant: str, runs: list[Run], until: float | None) -> Request:
        race = self._field.race() if self._session.racing else None
        order = self._field.order(runs)
        timing, limits = self._session.timing, self.unit.limits
        return Request(variant, order, timing, race, limits, until=until)

    def _todo(self) -> Iterator[tuple[str, list[Run]]]:
        """Variants with something left to measure; those that are done are counted and told.

        The store's come first, so that a strategy knows all that is known before it is asked.
        """
        bases = [*dict.fromkeys(self.unit.bases)]
        if len(bases) == 1:  # it is measured as such
            self._strategy.tell(bases[0], 1.0)
        limit = math.inf if self._limit is None else self._limit
        visited = 0
        stored = self._standing.variants()
        for variant in stored:
            wanted = visited < limit and self.unit.admits(variant)
            visited += wanted
            if not (runs := self._absent(variant)):
                self._finish(variant, fresh=False, counts=wanted)
            elif wanted:
                yield variant, runs
        for base in bases if len(bases) > 1 else ():  # one size's is likely at the others
            if visited < limit and base not in stored and self.unit.space.valid(base):
                visited += 1
                yield base, self._absent(base)
        known = {*stored, *bases}
        while visited < limit and (asked := self._strategy.ask()) is not None:
            if asked in known:
                continue
            visited += 1
            if runs := self._absent(asked):
                yield asked, runs
            else:  # another search has just measured it; what came of it is read the next time
                self._session.progress.step(fresh=False, failed=False)

    def _take(self, until: float | None) -> str:
        """Store each result of the next request at once; a failure holds for what is left.

        Late when it takes longer than the search may take by now.
        """
        request, results = self._session.target.next(_patience(until))
        left = list(request.runs)
        last: dict[str, Any] = {}
        for run, fields in results:
            variant = fields.get("variant", request.variant)
            if variant == request.variant:
                left.remove(run)
                last = {n: fields[n] for n in ("status", "message", "device") if n in fields}
            self._record(variant, run, fields)
        for run in left if last else ():
            if run.round == left[0].round:
                self._record(request.variant, run, last)
        return request.variant

    def _record(self, variant: str, run: Run, fields: dict[str, Any]) -> None:
        row = self.unit.row(variant, run.place, run.round) | fields
        if variant == "base":
            row["message"] = self.unit.bases[run.place]
        info = row.pop("device", self._session.target.info)
        self._session.measured_on(info)
        is_new = self._session.store.add(row)
        self._standing.add(info, measurement(row, "", self.unit.rts[run.place]), replace=is_new)

    def _finish(self, variant: str, *, fresh: bool, counts: bool = True) -> None:
        """Tell the strategy, the field and the user how a variant fared."""
        standing = self._standing
        score = standing.score(variant)
        self._strategy.tell(variant, standing.estimate(variant))
        speedups = standing.speedups(variant)
        if score is not None and speedups is not None:
            self._field.add(speedups, score)
        if score is not None and score > self._best:
            self._best = score
            self._session.progress.best(score, variant)
        if counts:
            failed = standing.failure(variant) not in (None, LOST)
            self._session.progress.step(fresh=fresh, failed=failed)

    # ---- measuring the best again ---------------------------------------------------------------
    def _repeat(self, until: float | None) -> None:
        """Measure the best variants again, a batch of rounds at a time, until nothing is open.

        Without an end it takes no longer than the search has taken, or some minutes.
        """
        if until is None:
            now = time.monotonic()
            until = now + max(AGAIN_LEAST, now - self._begun)
        timeout = min(AGAIN_SECONDS, self._session.timing.get("timeout", AGAIN_SECONDS))
        samples = min(AGAIN_SAMPLES, int(self._session.timing.get("max_samples", AGAIN_SAMPLES)))
        timing = {"min_samples": samples, "max_samples": samples, "timeout": timeout}
        while not self._session.is_late(until):
            requests = [
                Request(variant, runs, timing, until=_patience(until))
                for variant, rounds in open_verdicts(self._standing, self._session.again)
                if (runs := self._rounds(variant, rounds))
            ]
            if not requests:
                return
            self._session.progress.again(len(requests))
            self._ensure_open()
            for request in requests:
                self._session.target.submit(request)
            with suppress(Late):
                for _ in requests:
                    if self._session.is_late(until):
                        break
                    self._take(until)
            self._session.target.drop()

    def _rounds(self, variant: str, rounds: int) -> list[Run]:
        """Runs that are missing of the first rounds of a variant.

        Where several devices measure, all rounds are done by one, whichever it is, and the search's
        own measurement with them.
        """
        if self._session.target.several:
            begun = self._standing.is_begun(variant)
            places = range(len(self.unit.rts))
            return (
                [Run(again, p) for again in range(rounds + 1) for p in places] if not begun else []
            )
        every = (self._absent(variant, again) for again in range(1, rounds + 1))
        return [run for runs in every for run in runs]
