"""Two stores side by side: what a change of the kernels, the compiler or the driver did.

Only times of one physical device are compared. Within a store base is sampled beside every variant;
each time is one round, and rounds with a fresh opening are preferred. The rounds of the two stores
were not taken by turns, so a drift of the machine between the two searches looks like a change. A
verdict therefore allows for a drift of each search (`_verdict.judge_apart`), 2 % by default. With
it a difference of less than about 9 % is UNDECIDED. Measuring both sides by turns decides it
(`_live`).
"""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from cubc._calls import named
from cubc._extras import need
from cubc._html import table

from . import _axes as ax
from ._checks import share
from ._groups import Group, geometric_mean
from ._restriction import restrict
from ._status import OK
from ._stores import StorePaths, expand, read
from ._verdict import DRIFT, LEAST_ROUNDS, SLOWER, WORDS, Verdict, confidence_of_all, judge_apart
from ._warning import warn
from ._winners import without_base

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Compared:
    """One workload in both stores.

    Times, in seconds, are medians over the rounds; from `verify` those of the last round.
    """

    benchmark: str
    ct: str
    rt: str
    device: str
    a: float
    b: float
    verdict: Verdict  # on b; FASTER: b takes less time than a


NOISY = "UNDECIDED: the rounds were too few or too noisy to tell"
APART = (
    "UNDECIDED: no more than two searches may differ anyhow, with a drift of {:.1%} allowed to "
    "each; cubc compare --live measures by turns"
)


class Comparison:
    """Verdicts on what two sides have in common.

    Attributes
    ----------
    workloads : list of Compared
    note : str
        Line below the table: how a verdict that is UNDECIDED may be decided.

    Examples
    --------
    >>> found = tuner.compare(tuner.example_db(), tuner.example_db(), "reduce.sum")
    >>> found.ratio, found.slower
    (1.0, [])
    """

    def __init__(self, workloads: list[Compared], note: str = NOISY):
        self.workloads, self.note = workloads, note

    @property
    def slower(self) -> list[Compared]:
        """Workloads at which the second side is SLOWER."""
        return [one for one in self.workloads if one.verdict.word == SLOWER]

    @property
    def ratio(self) -> float:
        """Geometric mean of the speed of the second side over that of the first."""
        return geometric_mean(one.verdict.ratio for one in self.workloads)

    @named
    def to_frame(self) -> pd.DataFrame:
        """Table with a row a workload.

        Returns
        -------
        pandas.DataFrame
            Columns benchmark, ct, rt, device, a_us, b_us (medians, microseconds), ratio, low, high
            (speed of b over that of a with the ends of its interval), rounds (of both), verdict.

        Raises
        ------
        ModuleNotFoundError
            Without pandas: ``pip install "cubc[tune]"``.

        Examples
        --------
        >>> found = tuner.compare(tuner.example_db(), tuner.example_db(), "reduce.sum")
        >>> list(found.to_frame().verdict)
        ['UNDECIDED', 'UNDECIDED', 'UNDECIDED', 'UNDECIDED']
        """
        names = ["benchmark", "ct", "rt", "device", "a_us", "b_us"]
        names += ["ratio", "low", "high", "rounds", "verdict"]
        rows = [
            [one.benchmark, one.ct, one.rt, one.device, 1e6 * one.a, 1e6 * one.b]
            + [getattr(one.verdict, name) for name in ("ratio", "low", "high", "rounds", "word")]
            for one in self.workloads
        ]
        return need("pandas").DataFrame(rows, columns=names)

    @named
    def markdown(self) -> str:
        """Table in Markdown, with the counts and the geometric mean below it.

        Examples
        --------
        >>> found = tuner.compare(tuner.example_db(), tuner.example_db(), "reduce.sum")
        >>> print(found.markdown().splitlines()[0])
        | benchmark | workload | a, us | b, us | b is | interval | |
        """
        lines = ["| benchmark | workload | a, us | b, us | b is | interval | |"]
        lines.append("|---|---|--:|--:|--:|---|---|")
        for one in self.workloads:
            v = one.verdict
            lines.append(
                f"| {one.benchmark} | {one.ct} {one.rt} | {one.a * 1e6:.2f} | {one.b * 1e6:.2f} "
                f"| x{v.ratio:.3f} | {v.low:.3f} to {v.high:.3f} "
                f"| {v.word} |"
            )
        return "\n".join([*lines, "", *self._ending()])

    def _ending(self) -> list[str]:
        words = [one.verdict.word for one in self.workloads]
        counts = ", ".join(f"{words.count(w)} {w}" for w in WORDS)
        undecided = any(not one.verdict.decided for one in self.workloads)
        return [f"{counts}; geometric mean x{self.ratio:.3f}", *([self.note] * undecided)]

    __str__ = markdown

    def _repr_html_(self) -> str:
        heads = ["benchmark", "workload", "a, us", "b, us", "b is", "low", "high", "verdict"]
        rows = []
        for one in self.workloads:
            v = one.verdict
            about = (one.benchmark, f"{one.ct} {one.rt}", one.a * 1e6, one.b * 1e6)
            rows.append((*about, v.ratio, v.low, v.high, v.word))
        below = "<br>".join(escape(line) for line in self._ending())
        return f"{table(heads, rows)}<p>{below}</p>"

    def __repr__(self) -> str:
        return f"<Comparison: {len(self.workloads)} workloads, {len(self.slower)} slower>"


def compare(
    a: StorePaths,
    b: StorePaths,
    R: str | None = None,
    axes: Mapping[str, Any] | None = None,
    *,
    variant: str = "base",
    drift: float = DRIFT,
) -> Comparison:
    """Compare what two stores say of the same workloads on the same device.

    Of each workload what was measured last counts, whatever else was measured with it.
    The stores were measured one after the other, so a verdict allows for what the machine may have
    drifted in between; `compare_live` measures by turns and needs no such allowance.

    Parameters
    ----------
    a, b
        Stores, or glob patterns: before and after.
    R, axes
        Restrict benchmarks and axis values, as in `analyze`.
    variant
        Variant that is compared: base, or a label that both have.
    drift
        Relative standard deviation of the times of one search about those of another of the same
        code, from 0 to 1: clocks, temperature, other users, where memory lies.

    Returns
    -------
    Comparison
        A verdict on each workload that both stores have, with `a` as the first side and `b` as the
        second; ``slower`` are those that take longer in `b`.

    Raises
    ------
    FileNotFoundError, StoreError
        If a path names no store, or a file is none.
    LookupError
        For an unknown benchmark or axis, or a variant that neither store has.
    TypeError, ValueError
        If `drift` is no share; if the stores have no workload of one device in common.

    Warns
    -----
    RuntimeWarning
        Names the workloads of the first store that are left out because the second has no time of
        them on the same device: not measured there, failed, or measured on another.

    Examples
    --------
    >>> found = tuner.compare(tuner.example_db(), tuner.example_db(), "reduce.sum")
    >>> len(found.workloads)
    4
    """
    drift = share("drift", drift)
    before, after = (restrict(read(expand(paths)), R, axes) for paths in (a, b))
    _check_label(variant, [*before, *after])
    theirs = _latest(after, variant)
    shared: list[tuple[Group, str, list[float], list[float]]] = []
    missing: dict[str, list[str]] = {}
    for (*about, rt), (group, times) in _latest(before, variant).items():
        _, others = theirs.get((*about, rt), (group, []))
        if times and others:
            shared.append((group, rt, times, others))
        elif times:
            where = f"{group.benchmark} {group.workload} {{}} on {group.device}"
            missing.setdefault(where, []).append(rt)
    if missing:
        names = "; ".join(where.format(", ".join(rts)) for where, rts in missing.items())
        warn(f"{names}: left out, since {b} has no time of {variant} on the same device")
    if not shared:
        why = without_base([*before, *after]) if variant == "base" else ""
        raise ValueError(
            why
            or f"{a} and {b} have no workload of the same device in common: compare "
            "searches of one benchmark, with the same axes, on one device"
        )
    confidence = confidence_of_all(len(shared))
    found = [_compared(*one, confidence, drift) for one in shared]
    return Comparison(found, APART.format(drift))


def _check_label(variant: str, groups: list[Group]) -> None:
    known = {cell.variant for group in groups for cell in group.measurements()} | {"base"}
    if variant not in known:
        near = ", ".join(difflib.get_close_matches(variant, known, n=3)) or "base"
        raise LookupError(f"neither store has the variant {variant!r:.80}; nearest: {near}")


def _latest(groups: list[Group], variant: str) -> dict[tuple[str, ...], tuple[Group, list[float]]]:
    """Times of a variant by benchmark, workload and device, those of the group measured last.

    A workload that failed there has none.
    """
    found: dict[tuple[str, ...], tuple[Group, list[float]]] = {}
    for group in sorted(groups, key=lambda group: max(_created(group), default="")):
        about = (group.benchmark, group.workload, group.device_uuid)
        for rt, times in _times(group, variant).items():
            found[(*about, rt)] = group, times
    return found


def _created(group: Group) -> Iterator[str]:
    return (cell.extra["created"] for cell in group.measurements())


def _compared(
    group: Group, rt: str, a: list[float], b: list[float], confidence: float, drift: float
) -> Compared:
    medians = float(np.median(a)), float(np.median(b))
    verdict = judge_apart(faster=b, slower=a, confidence=confidence, drift=drift)
    return Compared(group.benchmark, group.workload, rt, group.device, *medians, verdict)


def _times(group: Group, variant: str) -> dict[str, list[float]]:
    """Median times of the rounds at each workload where a variant was measured; none if it failed.

    Those with fresh openings are taken if they suffice.
    """
    rounds, others = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
    known = set()
    for cell in group.measurements():
        rt = ax.workload_text(cell.rt)
        if variant == "base":
            time = cell.base_center or (cell.center if cell.variant == "base" else None)
        else:
            time = cell.center if cell.variant == variant else None
        if variant in ("base", cell.variant):
            known.add(rt)
        if time and cell.status == OK:
            (rounds if cell.round else others)[rt].append(time)
    return {
        rt: rounds[rt] if len(rounds[rt]) >= LEAST_ROUNDS else others[rt] + rounds[rt]
        for rt in group.rts
        if rt in known
    }
