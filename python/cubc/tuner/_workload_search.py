"""The search of one compile-time workload: has variants measured and stores the results.

Base comes first: if it does not run there is nothing to compare with. Then variants are asked for
somewhat ahead of their results. In the end the best are confirmed: they are measured again in
rounds, until the leader is one that did not win by luck.

Each result, times or a failure, is stored as soon as it is known, and nothing that is stored is
measured again: so a search resumes after any interruption.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterable, Iterator, Mapping
from typing import Any

from cubc import _core

from ._axes import workload_text
from ._confirmation import undecided
from ._deadlines import is_over
from ._measurer import Gone, Late, Measurer, Request, Results, Run
from ._objective import check_figures, figures
from ._racing import BestSoFar
from ._score import weight
from ._session import Session
from ._status import LOST
from ._stores import measurement
from ._strategy import Strategy
from ._verdict import LEAST_ROUNDS
from ._workload import CompileTimeWorkload
from ._workload_results import WorkloadResults

CONFIRM_SHARE = 0.1  # part of a compile-time workload's time that is kept to confirm the best
METERED_SHARE = 0.3  # the same where each measurement takes long
CONFIRM_LEAST = 300.0  # seconds that it may always take where the search has no end
GRACE = 1.0  # seconds past its end in which a search waits for the variant that is measured
METER_SECONDS = 0.5  # of runs whose power is measured; a meter is read some tens of times a second
# Why a search ends: by one of its arguments, because the strategy knows of no variant any more, or
# because no device of its model answers any more.
ENDS = SECONDS, VARIANTS, TARGET, PATIENCE, SPACE, DEVICES = (
    "seconds",
    "variants",
    "target",
    "patience",
    "space",
    "devices",
)
CONFIRM_SAMPLES, CONFIRM_SECONDS = 20, 0.5  # at each workload in one round

Steps = Generator[float | None, None, None]


def _with_grace(until: float | None) -> float | None:
    """Moment up to which a search that ends at `until` waits for what it has begun."""
    return None if until is None else until + GRACE


def _complete(request: Request, found: Results) -> Iterator[tuple[str, Run, dict[str, Any]]]:
    """Results of a request and of base that came with it; a failure holds for what is left."""
    left = list(request.runs)
    last: dict[str, Any] = {}
    for run, fields in found:
        variant = fields.get("variant", request.variant)
        if variant == request.variant:
            left.remove(run)
            last = fields
        yield variant, run, fields
    if left and last:
        shared: dict[str, Any] = {n: last[n] for n in ("status", "message", "device") if n in last}
        for run in left:
            if run.round == left[0].round:
                yield request.variant, run, shared


class WorkloadSearch:
    """The search of one compile-time workload."""

    def __init__(
        self,
        session: Session,
        measurer: Measurer,
        workload: CompileTimeWorkload,
        strategy: Strategy,
        results: WorkloadResults,
        limit: int | None,
    ):
        self._session, self.measurer = session, measurer
        self.workload, self.results = workload, results
        self._strategy, self._limit = strategy, limit
        self._best_so_far = BestSoFar([weight(workload.axes, rt) for rt in workload.rts])
        # One list for all requests, which makes a task shorter.
        self._search_runs = self._best_so_far.order([Run(0, at) for at in range(len(workload.rts))])
        self._texts = [workload_text(rt) for rt in workload.rts]
        self._keys = [workload.row("", place) for place in range(len(workload.rts))]
        self._is_open = False  # the workload
        self.ended = ""  # one of `ENDS`
        self._best, self._begun, self._tried = 1.0, 0.0, 0
        self._sent_to_second: set[str] = set()  # winners that a second device was to confirm
        self._since_best = 0  # variants since the best one
        self._early_end = ""  # why the search ends early: one of `ENDS`
        size = workload.space.size
        if limit is not None and 100 * limit < size:
            self.expected = limit  # spares counting a huge space
        else:
            self.expected = min(limit or size, workload.space.count())
        self.left = self.expected  # variants that are not done

    def run(self, until: float | None) -> Steps:
        """Measure what is missing, base first; begin nothing past the moment `until`.

        It pauses where it waits for its measurer, and gives the moment up to which it waits: others
        may do something meanwhile. It goes on when the measurer is ready, or at that moment.

        Raises
        ------
        BaseFailed
            If base does not compile or run.
        ValueError
            If the store's measurements are against another base.
        """
        self._check_base()
        self._check_figures(is_stored=True)
        self._session.progress.begin(str(self.workload))
        share = METERED_SHARE if self._meter else CONFIRM_SHARE
        share *= self._session.confirm > 0
        self._begun = now = time.monotonic()
        try:
            end = None if until is None else until - share * max(0.0, until - now)
            yield from self._explore(end)
            yield from self._confirm(until)
        except Late:  # while base was measured
            self.measurer.drop()

    def include_others(self) -> None:
        """Take in what the store holds of other devices of the model, which have measured."""
        for info in self.measurer.others:
            self.results.include(info)

    @property
    def is_empty(self) -> bool:
        """True if the strategy has looked and found no variant that fulfils the constraints."""
        found = any(map(self.results.admits, self.results.variants()))
        return self.ended == SPACE and bool(self.workload.constraints) and not found

    def _check_base(self) -> None:
        for group in self.results.groups:
            bases = dict(zip(self._texts, self.workload.bases, strict=True))
            for rt, cell in group.cells.get("base", {}).items():
                if cell.message not in ("", bases[rt]):
                    raise ValueError(
                        f"{cell.store} compares {self.workload} with another base, {cell.message}; "
                        f"this cubc's is {bases[rt]}: use another store"
                    )

    def _missing_runs(self, variant: str, number: int = 0) -> list[Run]:
        """Runs that a variant lacks in a round; 0 is the search itself.

        Those that another search on this device has stored meanwhile are taken in. Where several
        devices measure it would have to be asked for each, so there only what is known counts.
        """
        if number == 0 and self.measurer.several and not self.results.knows(variant):
            return self._search_runs
        runs = (Run(number, place) for place in range(len(self.workload.rts)))
        return [run for run in runs if self._lacks(variant, run)]

    def _lacks(self, variant: str, run: Run) -> bool:
        rt = self._texts[run.place]
        if run.round == 0 and self.results.must_retry(variant, rt, racing=self._session.racing):
            return True
        if self.results.has(variant, run.round, rt):
            return False
        return self.measurer.several or not self._take_from_store(variant, run)

    def _take_from_store(self, variant: str, run: Run) -> bool:
        """Take in what is stored of a run; True if something is."""
        try:
            stored = self._session.store.find(self.workload.row(variant, run.place, run.round))
            if stored is not None:
                self._take_in(self.measurer.info, stored, run.place)
        except (_core.StoreError, ValueError):  # a row that is refused, as was said at the start
            return True
        return stored is not None

    def _ensure_open(self) -> Steps:
        """Have base measured, and store of that what the store lacks.

        Late when it takes longer than the search may take.
        """
        if self._is_open:
            return
        every = [Run(0, place) for place in range(len(self.workload.rts))]
        until = _with_grace(self._session.base_until())
        timing, meter = self._session.timing, self._meter
        request = Request("base", every, timing, until=until, meter=meter)
        self._session.progress.doing("base")
        found = self.measurer.begin(self.workload, request)
        yield until
        for run, fields in found:
            self._record([("base", run, fields)])
        self._session.progress.doing("")
        self._is_open = True
        self._judge_base()

    @property
    def _meter(self) -> float:
        return METER_SECONDS if self._session.objective.is_metered else 0.0

    def _judge_base(self) -> None:
        """End the search if base is good enough."""
        self._check_figures(is_stored=False)
        if self._session.goal.is_met(1.0, self.results.seconds("base")):
            self._early_end = TARGET

    def _check_figures(self, *, is_stored: bool) -> None:
        """Check that base, and all that the store holds, has what is looked for."""
        if cell := self.results.without_figures():
            check_figures(self._session.objective, cell.metrics)
            what = " and ".join(self._session.objective.texts)
            if all(part.names <= figures(cell).keys() for part in self._session.objective.parts):
                raise ValueError(
                    f"{self.workload}: {what} of base is no positive number, and scores are ratios "
                    "to it: take an expression that is, as 'error + 1e-9'"
                )
            names = {name for part in self._session.objective.parts for name in part.names}
            power = not names.isdisjoint(("power", "energy"))
            if is_stored and not (power and self.measurer.info["arch"] == "cpu"):
                where, how = f"{cell.store} holds it without", "use another store"
            else:
                where, how = "this device does not tell", "power and energy are told by GPUs"
            raise ValueError(f"{self.workload}: {where} what {what} needs: {how}")

    # ---- the search -----------------------------------------------------------------------------
    def _explore(self, until: float | None) -> Steps:
        """Measure variants that the strategy names, some ahead of the results."""
        if self._missing_runs("base"):
            yield from self._ensure_open()
        todo, more, waiting = self._todo(), True, 0
        self._judge_base()
        while more or waiting:
            while more and not self._early_end and self.measurer.wants():
                item = next(todo, None)
                if item is None:
                    more = False
                    self.ended = VARIANTS if self._tried == self._limit else SPACE
                    break
                if self._early_end:  # by what the store holds
                    break
                yield from self._ensure_open()
                if self._early_end:  # by what base takes
                    break
                self.measurer.submit(self._request(*item, _with_grace(until)))
                waiting += 1
            if waiting:
                yield _with_grace(until)
                try:
                    variants = self._take(until)
                except Late as late:
                    self.ended = DEVICES if isinstance(late, Gone) else SECONDS
                    break
                waiting -= len(variants)
                for variant in variants:
                    self._finish(variant, fresh=True)
            if self._early_end or is_over(until):
                self.ended = self._early_end or SECONDS
                break
        self.measurer.drop()

    def _request(self, variant: str, runs: list[Run], until: float | None) -> Request:
        race = self._best_so_far.race() if self._session.racing else None
        order = runs if runs is self._search_runs else self._best_so_far.order(runs)
        timing, limits = self._session.timing, self.workload.limits
        return Request(variant, order, timing, race, limits, until=until, meter=self._meter)

    def _todo(self) -> Iterator[tuple[str, list[Run]]]:
        """Variants with something left to measure; those that are done are counted and told.

        The store's come first, so that a strategy knows all that is known before it is asked.
        """
        bases = [*dict.fromkeys(self.workload.bases)]
        if len(bases) == 1:  # it is measured as such
            self._strategy.tell(bases[0], 1.0)
        limit = math.inf if self._limit is None else self._limit
        stored = self.results.variants()
        for variant in stored:
            wanted = self._tried < limit and self.results.admits(variant)
            self._tried += wanted
            if not (runs := self._missing_runs(variant)):
                self._finish(variant, fresh=False, counts=wanted)
            elif wanted:
                yield variant, runs
        for base in bases if len(bases) > 1 else ():  # one size's is likely at the others
            if self._tried < limit and base not in stored and self.workload.space.valid(base):
                self._tried += 1
                yield base, self._missing_runs(base)
        known = {*stored, *bases}
        while self._tried < limit and (asked := self._strategy.ask()) is not None:
            if asked in known:
                continue
            self._tried += 1
            if runs := self._missing_runs(asked):
                yield asked, runs
            else:  # another search has just measured it
                self._finish(asked, fresh=False)

    def _take(self, until: float | None) -> list[str]:
        """Store the results of the next request as they come, or of all that are answered.

        A failure holds for what is left of its request. Late when it takes longer than the search
        may take by now.
        """
        measurer = self.measurer
        request, found = measurer.next(_with_grace(until))
        if not measurer.answered:
            for result in _complete(request, found):
                self._record([result])
            return [request.variant]
        several = [(request, found)]
        while measurer.answered:
            several.append(measurer.next(until))
        self._record(result for one in several for result in _complete(*one))
        return [request.variant for request, _ in several]

    def _row(self, variant: str, run: Run, fields: Mapping[str, Any]) -> dict[str, Any]:
        row = {**self._keys[run.place], **fields, "variant": variant, "round": run.round}
        if variant == "base":
            row["message"] = self.workload.bases[run.place]
        return row

    def _record(self, results: Iterable[tuple[str, Run, Mapping[str, Any]]]) -> None:
        """Store results in one transaction, those of a device one after another, and take them in.

        What counts is the store's row: another search may have just measured the same.
        """
        infos: dict[str, dict[str, Any]] = {}
        of_devices: dict[str, list[tuple[dict[str, Any], int]]] = {}
        for variant, run, fields in results:
            row = self._row(variant, run, fields)
            info = row.pop("device", self.measurer.info)
            if info["uuid"] not in infos:
                infos[info["uuid"]] = dict(info)
            of_devices.setdefault(info["uuid"], []).append((row, run.place))
        devices = [infos[uuid] for uuid, rows in of_devices.items() for _ in rows]
        ordered = [one for rows in of_devices.values() for one in rows]
        stored = self._session.add_all([row for row, _ in ordered], devices)
        for info, row, (_, place) in zip(devices, stored, ordered, strict=True):
            self._take_in(info, row, place)

    def _take_in(self, info: Mapping[str, Any], stored: Mapping[str, Any], place: int) -> None:
        """Take in a row as the store holds it."""
        cell = measurement(stored, self._session.place, self.workload.rts[place])
        self.results.add(info, cell)

    def _finish(self, variant: str, *, fresh: bool, counts: bool = True) -> None:
        """Tell the strategy, the race and the user how a variant fared."""
        group = self.results.group_of(variant)
        score = group.score(variant)
        self._strategy.tell(variant, group.estimate(variant) if score is None else score)
        if score is not None and (speedups := self.results.speedups(variant)) is not None:
            self._best_so_far.add(speedups, score)
        self._since_best += counts
        if score is not None and score > self._best:
            self._best, self._since_best = score, 0
            self._session.progress.best(score, variant)
        goal = self._session.goal
        if score is not None and goal.is_met(score, self.results.seconds(variant)):
            self._early_end = TARGET
        elif self._since_best >= goal.patience:
            self._early_end = self._early_end or PATIENCE
        if counts:
            self.left -= 1
            failed = group.failure(variant) not in (None, LOST)
            self._session.progress.step(fresh=fresh, failed=failed)

    # ---- confirmation ---------------------------------------------------------------------------
    def _confirm(self, until: float | None) -> Steps:
        """Measure the best variants in rounds, a batch at a time, until every verdict is decided.

        Without an end it takes no longer than the search has taken, or some minutes.
        """
        if until is None:
            now = time.monotonic()
            until = now + max(CONFIRM_LEAST, now - self._begun)
        timeout = min(CONFIRM_SECONDS, self._session.timing.get("timeout", CONFIRM_SECONDS))
        samples = min(
            CONFIRM_SAMPLES, int(self._session.timing.get("max_samples", CONFIRM_SAMPLES))
        )
        timing = {"min_samples": samples, "max_samples": samples, "timeout": timeout}
        while not is_over(until):
            requests = [
                Request(variant, runs, timing, until=_with_grace(until), meter=self._meter)
                for variant, rounds in undecided(self.results, self._session.confirm)
                if (runs := self._missing_rounds(variant, rounds))
            ] or self._on_second_device(timing, until)
            if not requests:
                return
            self._session.progress.doing(f"measuring the best {len(requests)} again")
            yield from self._ensure_open()
            for request in requests:
                self.measurer.submit(request)
            try:
                left = len(requests)
                while left > 0 and not is_over(until):
                    yield _with_grace(until)
                    left -= len(self._take(until))
            except Gone:
                return
            except Late:
                pass
            finally:
                self.measurer.drop()

    def _on_second_device(self, timing: dict[str, Any], until: float) -> list[Request]:
        """Requests that have a second device of the model confirm what wins, each once."""
        if not self._session.confirm or len(self.measurer.others) < 2:
            return []
        found = []
        for variant, device in self.results.confirmed_once():
            if variant not in self._sent_to_second:
                self._sent_to_second.add(variant)
                runs = self._search_and_rounds(LEAST_ROUNDS)
                end, meter = _with_grace(until), self._meter
                found.append(
                    Request(variant, runs, timing, until=end, meter=meter, not_on=(device,))
                )
        return found

    def _search_and_rounds(self, rounds: int) -> list[Run]:
        """Runs of the search and of the first `rounds` rounds, all of which one device does."""
        places = range(len(self.workload.rts))
        return [Run(number, place) for number in range(rounds + 1) for place in places]

    def _missing_rounds(self, variant: str, rounds: int) -> list[Run]:
        """Runs that a variant lacks in its first rounds.

        Where several devices measure, all rounds are done by one, whichever it is, and the search's
        own measurement with them.
        """
        if self.measurer.several:
            return [] if self.results.has_rounds(variant) else self._search_and_rounds(rounds)
        every = (self._missing_runs(variant, number) for number in range(1, rounds + 1))
        return [run for runs in every for run in runs]
