"""Measurements, in groups within which times may be compared.

A group is one benchmark and compile-time workload on one physical device in one state (its
multiprocessors or granted cores, its ECC), with one driver, one compiler, one version of the kernel
source and one declaration of its axes. A base of one group is never compared with a variant of
another, even in one file. The versions of cubc and of the CUDA runtime are in the store, but do not
separate groups: neither is part of what is measured.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from cubc import _core

from . import _axes as ax
from ._constraints import Expression
from ._objective import TIME, Objective, figures, figures_of_base, value
from ._score import score
from ._space import Space, Value, parse_label
from ._status import FAULT, LOST, OK, WRONG, weight
from ._verdict import BETTER, FASTER, LEAST_ROUNDS, Verdict, judge

PARTIAL = "partial"  # status of a variant that was not measured at all workloads of its group


@dataclass(slots=True)  # frozen ones take several times as long to make, and a search makes many
class Measurement:
    """One variant at one run-time workload. Times are medians in seconds, None without samples.

    `round` is 0 in the search, and counts from 1 where a variant is measured again; then `ratio` is
    its speed over base's in that round, and `base` has what else was measured of base.
    """

    store: str
    id: int
    variant: str
    rt: dict[str, int]
    round: int
    status: str
    message: str
    center: float | None
    base_center: float | None
    ratio: float | None
    samples: int
    metrics: dict[str, float]
    base: dict[str, float]
    extra: dict[str, Any]

    @property
    def label(self) -> str:
        """The variant. Base differs by workload: its label there, "" if that is not known."""
        return self.message if self.variant == "base" else self.variant

    def replaces(self, before: Measurement) -> bool:
        """True if it counts, and not an earlier one of the same key."""
        mine, other = weight(self.status, self.message), weight(before.status, before.message)
        return self.variant == "base" or mine >= other

    @property
    def parameters(self) -> dict[str, Value]:
        """Values of the label; none if it is not known."""
        try:
            return parse_label(self.label)
        except ValueError:
            return {}


class Key(NamedTuple):
    """Values that measurements share whose times may be compared."""

    benchmark: str
    ct: str
    arch: str
    device_uuid: str
    device_state: tuple[int, int]
    driver: str
    compiler: str
    source_hash: str
    axes: str


@dataclass(repr=False)
class Group:
    """Comparable measurements of one benchmark and compile-time workload."""

    benchmark: str
    ct: dict[str, str]
    arch: str
    device: str
    device_uuid: str
    device_state: tuple[int, int]  # multiprocessors, or cores granted; ECC: 1 on, 0 off, -1 unknown
    driver: str
    compiler: str
    source_hash: str
    axes: tuple[ax.Axis, ...]  # run-time ones with all their declared values: they give the weights
    cells: dict[str, dict[str, Measurement]] = field(default_factory=dict)  # by variant and rt
    # Measurements of later rounds, by variant, round and rt.
    rounds: dict[str, dict[int, dict[str, Measurement]]] = field(default_factory=dict)
    wrong: set[str] = field(default_factory=set)  # variants that were wrong once, anywhere
    disputed: set[str] = field(default_factory=set)  # those that do not win on another device
    _rts: dict[str, dict[str, int]] = field(default_factory=dict)
    _ordered: list[str] = field(default_factory=list)  # its keys in order, once they are asked for
    objective: Objective = TIME  # figure of which speedups and scores are ratios

    def __repr__(self) -> str:
        name = f"{self.benchmark} {ax.workload_text(self.ct)}".rstrip()
        counts = f"{len(self.cells)} variants, {len(self._rts)} workloads"
        return f"<Group {name} on {self.device}: {counts}>"

    @property
    def key(self) -> Key:
        """Values that a measurement must share to be compared with those of this group."""
        return Key(
            self.benchmark,
            ax.workload_text(self.ct),
            self.arch,
            self.device_uuid,
            self.device_state,
            self.driver,
            self.compiler,
            self.source_hash,
            ax.axes_text(self.axes),
        )

    @property
    def model_key(self) -> tuple[str, Key]:
        """Key that groups of several devices of one model share."""
        if self.arch == "replay":  # another file is another device, whatever its name is
            return "", self.key
        return self.device, self.key._replace(device_uuid="")

    @property
    def workload(self) -> str:
        """The compile-time workload without axis names: ``F32``."""
        return ",".join(self.ct.values())

    @property
    def rts(self) -> list[str]:
        """All run-time workloads that were measured, smallest first."""
        if len(self._ordered) != len(self._rts):
            self._ordered = sorted(self._rts, key=lambda text: tuple(self._rts[text].values()))
        return self._ordered

    @property
    def workloads(self) -> list[dict[str, int]]:
        """All run-time workloads that were measured."""
        return [*self._rts.values()]

    @cached_property
    def current(self) -> bool:
        """True if these times are of the kernel source and of the axes that this cubc has."""
        try:
            declared = {axis.plain for axis in ax.declared(self.benchmark)}
            declared.update(_core.key_axes(self.benchmark))
            known = declared.issuperset(axis.plain for axis in self.axes)
            source = _core.source_hash(self.benchmark, self.ct, self.arch)
            return known and self.source_hash == source
        except (LookupError, ValueError):  # a workload or an architecture that it does not have
            return False

    @property
    def stale(self) -> bool:
        """True of a benchmark of cubc, measured with another version of its kernel source."""
        return self.arch != "replay" and self.benchmark in _core.benchmarks() and not self.current

    @property
    def environment(self) -> tuple[tuple[int, int], str, str]:
        """State of the device, driver and compiler: a device may have been measured in several."""
        return self.device_state, self.driver, self.compiler

    def add(self, measurement: Measurement) -> None:
        """Take in a measurement.

        A later one of the same workload and round replaces an earlier, unless that weighs more.
        """
        rt = ax.workload_text(measurement.rt)
        if measurement.status == WRONG:
            self.wrong.add(measurement.variant)
        if measurement.round:
            rounds = self.rounds.setdefault(measurement.variant, {})
            cells = rounds.setdefault(measurement.round, {})
        else:
            cells = self.cells.setdefault(measurement.variant, {})
            self._rts[rt] = measurement.rt
        if (before := cells.get(rt)) is None or measurement.replaces(before):
            cells[rt] = measurement

    def measurements(self) -> Iterator[Measurement]:
        """All measurements, those of the search before those of later rounds."""
        for cells in self.cells.values():
            yield from cells.values()
        for rounds in self.rounds.values():
            for _, cells in sorted(rounds.items()):
                yield from cells.values()

    def measurements_of(self, variant: str) -> list[Measurement]:
        """All of a variant, those of the search before those of later rounds."""
        found = [*self.cells.get(variant, {}).values()]
        for _, cells in sorted(self.rounds.get(variant, {}).items()):
            found += cells.values()
        return found

    def metrics(self) -> set[str]:
        """Names of what a user's benchmark measured."""
        return {name for cell in self.measurements() for name in cell.metrics}

    def only(self, rts: Iterable[Mapping[str, int]]) -> Group:
        """Copy this group with some of its run-time workloads only.

        A variant that was wrong at another one stays so.
        """
        kept = dataclasses.replace(
            self, cells={}, rounds={}, wrong=set(self.wrong), disputed=set(), _rts={}, _ordered=[]
        )
        texts = {ax.workload_text(rt) for rt in rts}
        for measurement in self.measurements():
            if ax.workload_text(measurement.rt) in texts:
                kept.add(measurement)
        return kept

    def among(self, admits: Callable[[str], bool]) -> Group:
        """Copy this group with some of its variants only; its workloads stay."""
        cells = {variant: found for variant, found in self.cells.items() if admits(variant)}
        rounds = {variant: found for variant, found in self.rounds.items() if admits(variant)}
        return dataclasses.replace(self, cells=cells, rounds=rounds)

    def by_time(self) -> Group:
        """Copy this group with time as its objective."""
        return dataclasses.replace(self, objective=TIME)

    @property
    def has_base(self) -> bool:
        """True if a time of base is there: its own, or one that was taken in turns with another."""
        return any(
            cell.base_center or (cell.variant == "base" and cell.center)
            for cell in self.measurements()
        )

    def speedup(self, variant: str, rt: str) -> float | None:
        """Speedup of a variant over base by the objective; None if it is not known.

        By several objectives it is the geometric mean of theirs. That of time is the mean over the
        rounds if there are any. Else it is the median of base over the median of the variant, if
        possible of the base samples that were taken in turns with it, because a drift cancels
        between these.
        """
        cell = self.cells[variant].get(rt)
        if cell is None or cell.status != OK or not cell.center:
            return None
        if variant == "base":
            return 1.0
        return _mean_of_all([self._speedup_by(part, variant, rt) for part in self.objective.parts])

    def _speedup_by(self, part: Expression, variant: str, rt: str) -> float | None:
        """Speedup of a variant by one objective."""
        cell, base = self.cells[variant][rt], self.cells.get("base", {}).get(rt)
        if found := [self._in_round(part, cells[rt]) for cells in self.complete_rounds(variant)]:
            return geometric_mean(one for one in found if one is not None)
        if part.text != "time":
            return _ratio(value(part, figures(base)) if base else None, value(part, figures(cell)))
        reference = cell.base_center or (base and base.center)
        return reference / cell.center if reference and cell.center else None

    def _in_round(self, part: Expression, cell: Measurement) -> float | None:
        """Speedup by one objective in a round, over base in the same round."""
        if part.text == "time" or cell.status != OK:
            return cell.ratio
        base = self.cells.get("base", {}).get(ax.workload_text(cell.rt))
        if base is None:
            return None
        return _ratio(value(part, figures_of_base(cell, base)), value(part, figures(cell)))

    def round_speedup(self, cell: Measurement) -> float | None:
        """Speedup in a round by the objective; None if it is not known."""
        return _mean_of_all([self._in_round(part, cell) for part in self.objective.parts])

    def scores(self, variant: str) -> list[float]:
        """Score of a variant by each objective; none if one is not known."""
        found, cells = [], self.cells[variant]
        for part in self.objective.parts:
            by_rt = {
                rt: 1.0 if variant == "base" else self._speedup_by(part, variant, rt)
                for rt in cells
            }
            known = [
                (cells[rt].rt, speedup) for rt, speedup in by_rt.items() if speedup is not None
            ]
            if len(known) < len(by_rt):
                return []
            found.append(score(self.axes, known))
        return found

    def speedups(self, variant: str) -> dict[str, float]:
        """Known speedups of a variant by run-time workload."""
        cells = self.cells.get(variant, {})
        known = ((rt, self.speedup(variant, rt)) for rt in self.rts if rt in cells)
        return {rt: speedup for rt, speedup in known if speedup is not None}

    def complete_rounds(self, variant: str) -> list[dict[str, Measurement]]:
        """Rounds that have all workloads of the variant, by workload; these alone count.

        Of a variant that the search itself did not measure they are those of the group.
        """
        rts = self.cells.get(variant) or self._rts
        if variant not in self.rounds or not rts:
            return []
        rounds = (cells for _, cells in sorted(self.rounds[variant].items()))
        return [
            {rt: cells[rt] for rt in rts}
            for cells in rounds
            if cells.keys() >= rts.keys()
            and all(self.round_speedup(cells[rt]) is not None for rt in rts)
        ]

    def verdict(self, variant: str) -> Verdict | None:
        """Verdict on a variant from the scores of its rounds; None without rounds or if one failed.

        Under another objective than time it says BETTER or WORSE for FASTER and SLOWER.

        The search's own measurement does not count: the best of many is chosen by it, and is partly
        lucky.
        """
        if variant not in self.rounds or self.failure(variant) is not None:
            return None
        if not (rounds := self.complete_rounds(variant)):
            return None
        found = judge([self._round_score(cells) for cells in rounds])
        return found if self.objective.is_time else found.of_another_figure()

    def wins(self, variant: str) -> bool:
        """True if a variant was confirmed to be FASTER than base, or BETTER, and is undisputed."""
        return variant not in self.disputed and self._confirms(variant)

    def _confirms(self, variant: str) -> bool:
        verdict = self.verdict(variant)
        return verdict is not None and verdict.word in (FASTER, BETTER)

    def denies(self, variant: str) -> bool:
        """True if a variant was measured again, in all rounds of a first look, and does not win.

        One that faulted needs no rounds.
        """
        rounds, failure = len(self.rounds.get(variant, ())), self.failure(variant)
        if failure is not None:
            return bool(rounds) or failure == FAULT
        return rounds >= LEAST_ROUNDS and not self._confirms(variant)

    def _round_score(self, cells: Mapping[str, Measurement]) -> float:
        return score(
            self.axes, ((cell.rt, self.round_speedup(cell) or 0.0) for cell in cells.values())
        )

    def score(self, variant: str) -> float | None:
        """CUB's score over the workloads that were measured; None if it failed at one of them.

        Of a variant with rounds only these count: it may have been chosen for them by luck.
        """
        cells = self.cells.get(variant, {})
        if self.failure(variant) is not None:
            return None
        if (verdict := self.verdict(variant)) is not None:
            return verdict.ratio
        speedups = self.speedups(variant)
        if not speedups or len(speedups) < len(cells):
            return None
        return score(self.axes, ((cells[rt].rt, speedup) for rt, speedup in speedups.items()))

    def estimate(self, variant: str) -> float | None:
        """Score for a strategy to learn from; of a variant that lost, over the known speedups."""
        if self.failure(variant) != LOST:
            return self.score(variant)
        cells, speedups = self.cells[variant], self.speedups(variant)
        if not speedups:
            return None
        return score(self.axes, ((cells[rt].rt, speedup) for rt, speedup in speedups.items()))

    def failure(self, variant: str) -> str | None:
        """First status of a variant that is not ``ok``; None if all are.

        A variant that was wrong once is ``wrong``, whatever its other statuses are.
        """
        if variant in self.wrong:
            return WRONG
        statuses = (cell.status for cell in self.measurements_of(variant))
        return next((status for status in statuses if status != OK), None)

    def message(self, variant: str) -> str:
        """Message of what a variant failed with first; "" if there is none."""
        status = self.failure(variant)
        messages = (c.message for c in self.measurements_of(variant) if c.status == status)
        return next(messages, "")

    def status(self, variant: str) -> str:
        """First failure of a variant, ``ok``, or ``partial`` if a workload is missing."""
        whole = OK if len(self.cells[variant]) == len(self._rts) else PARTIAL
        return self.failure(variant) or whole

    def ranked(self) -> list[tuple[float, str]]:
        """Score and label of each variant that has all workloads of the group, best first.

        Variants that win (see `wins`) come before all others: the first of them is the winner. If
        some were measured again, they and base come before the rest, whose scores may be luck.
        """
        rts = len(self.rts)
        complete = (label for label, cells in self.cells.items() if len(cells) == rts)
        scored = ((self.score(label), label) for label in complete)
        known = [(score, label) for score, label in scored if score is not None]
        decided = {label for label in self.rounds if self.verdict(label)}
        sure = {"base", *decided} if decided else {label for _, label in known}
        place = {label: 0 if self.wins(label) else 1 if label in sure else 2 for _, label in known}
        return sorted(known, key=lambda one: (place[one[1]], -one[0], one[1]))

    def winner(self) -> tuple[float, str] | None:
        """Score and label of the best variant that wins; None if base stays."""
        return next((one for one in self.ranked()[:1] if self.wins(one[1])), None)

    def unconfirmed(self) -> str | None:
        """Label that beats base by its score and was not measured again; None if base stays."""
        score, label = next(iter(self.ranked()), (1.0, "base"))
        return label if score > 1 and self.verdict(label) is None else None

    def space(self) -> Space:
        """Parameter space that the variants come from, as this cubc declares it."""
        return Space(self.benchmark, self.ct, self.arch, rts=self.workloads)

    def parameters(self, variant: str) -> dict[str, Value]:
        """Values of a variant; of base those that it had at all workloads, if there are such."""
        cells = [*self.cells[variant].values()]
        same = len({cell.label for cell in cells}) == 1
        return cells[0].parameters if same else {}

    def by_workload(self) -> list[Group]:
        """Copies of the group, each with one of its run-time workloads."""
        return [self.only([rt]) for rt in self._rts.values()]


def geometric_mean(values: Iterable[float]) -> float:
    """Mean of ratios."""
    logs = [math.log(value) for value in values]
    return math.exp(math.fsum(logs) / len(logs))


def _ratio(of_base: float | None, mine: float | None) -> float | None:
    """Speedup by a figure; None if one is not known, or their quotient is no positive number."""
    found = of_base / mine if of_base and mine else 0.0
    return found if 0 < found < math.inf else None


def _mean_of_all(ratios: Sequence[float | None]) -> float | None:
    """Mean of ratios, None if one of them is not known."""
    known = [ratio for ratio in ratios if ratio is not None]
    return geometric_mean(known) if len(known) == len(ratios) else None


def fullest(groups: Iterable[Group], variant: str) -> Group:
    """Group that counts for a variant: one in which it was wrong, else the fullest."""
    return max(
        groups,
        key=lambda group: (
            variant in group.wrong,
            len(group.rounds.get(variant, ())),
            len(group.cells.get(variant, ())),
        ),
    )


def settle(groups: Sequence[Group]) -> None:
    """Dispute what wins in a group and not in another.

    It was measured again on another device of the model and does not win there, or faulted, or the
    same code was wrong: on any device, at any workload.
    """
    alike: dict[tuple, list[Group]] = {}
    wrong: dict[Key, set[str]] = {}
    for group in groups:
        model, key = group.model_key
        alike.setdefault((model, key._replace(axes=""), *group.rts), []).append(group)
        wrong.setdefault(_code(group), set()).update(group.wrong)
    for group in groups:
        group.disputed |= wrong[_code(group)]
    for devices in alike.values():
        if len(devices) > 1:
            again = {label for group in devices for label in group.rounds}
            denied = {label for label in again if any(group.denies(label) for group in devices)}
            for group in devices:
                group.disputed |= denied


def _code(group: Group) -> Key:
    """Key that groups share in which a label is the same machine code."""
    return group.key._replace(device_uuid="", device_state=(0, 0), driver="", axes="")
