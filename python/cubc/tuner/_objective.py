"""Objectives of a search: time, energy, or an expression over what a measurement has.

An objective is a positive number that is to be small. A variant's speedup, and with them its score,
is base's number over the variant's; so all that ranks variants by scores goes by it. With two
objectives a score is that of the geometric mean of both numbers, and those variants that no other
beats in both are the Pareto front.

Rounds of confirmation measure what the objective needs of the variant and of base. So verdicts are
by the objective too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _axes as ax
from ._constraints import Expression

if TYPE_CHECKING:
    from ._groups import Measurement

FIGURES = (
    "time",  # seconds, median of the samples
    "hot",  # seconds, mean of runs that follow each other
    "power",  # watts while these run
    "energy",  # joules of one of these
    "registers",  # a thread's
    "local_bytes",  # a thread's spills and stack
    "shared_bytes",  # a block's
    "blocks_per_sm",  # resident at once on a multiprocessor
)
METERED = ("hot", "power", "energy")  # that a search measures only if it is asked to
MOST = 2  # objectives at once


class Objective:
    """One expression or two over `FIGURES`."""

    def __init__(self, parts: Sequence[Expression]):
        self.parts = tuple(parts)

    @property
    def texts(self) -> list[str]:
        """The expressions as they were written."""
        return [part.text for part in self.parts]

    @property
    def is_time(self) -> bool:
        """True if it is time alone."""
        return self.texts == ["time"]

    @property
    def is_metered(self) -> bool:
        """True if a search has to measure what it leaves out otherwise."""
        return any(not part.names.isdisjoint(METERED) for part in self.parts)

    def is_known(self, cells: Iterable[Measurement]) -> bool:
        """True if one of some measurements has the figures of each part, or all of them failed."""
        measured = [figures(cell) for cell in cells if cell.center is not None]
        names = {name for part in self.parts for name in part.names}
        return not measured or any(names <= known.keys() for known in measured)

    def without_score(self, cells: Iterable[Measurement]) -> dict[str, list[str]]:
        """Variants whose figures make a part no positive number, by that part's text."""
        measured = [(cell.variant, figures(cell)) for cell in cells if cell.center is not None]
        found: dict[str, list[str]] = {}
        for part in self.parts:
            has = [one for one, known in measured if part.names <= known.keys()]
            none = {one for one, known in measured if value(part, known) is None}
            if left_out := [one for one in dict.fromkeys(has) if one in none]:
                found[part.text] = left_out
        return found

    def __repr__(self) -> str:
        return f"Objective({', '.join(self.texts)})"


TIME = Objective([Expression("time")])


def objective(
    given: str | Iterable[str] | Objective, metrics: Iterable[str] | None = ()
) -> Objective:
    """Check an objective of a search or an analysis.

    Parameters
    ----------
    given
        One expression or two.
    metrics
        Names of figures that a user's benchmark measures; None if they are not known yet.

    Raises
    ------
    LookupError
        If it names no figure, with the nearest.
    TypeError
        If it is no text.
    ValueError
        If it is no expression, or there are none, more than two or two that are the same.
    """
    if isinstance(given, Objective):
        return given
    several = [given] if isinstance(given, str) else given
    if not isinstance(several, Iterable):
        raise TypeError(f"an objective is a text as 'energy', or two of them, not {given!r:.80}")
    parts = [Expression(text) for text in several]
    if not 1 <= len(parts) <= MOST:
        raise ValueError(f"{len(parts)} objectives are given: a search has one or two")
    found = Objective(parts)
    if len(set(found.texts)) < len(parts):
        raise ValueError(f"{parts[0].text!r} is given twice: two objectives differ")
    for part in parts:
        if not part.names:
            raise ValueError(f"{part.text!r}: an objective names a figure, as {', '.join(FIGURES)}")
    if metrics is not None:
        check_figures(found, metrics)
    return found


def check_figures(found: Objective, metrics: Iterable[str]) -> None:
    """Raise LookupError, with the nearest name, if an objective names what is no figure."""
    known = (*FIGURES, *metrics)
    for part in found.parts:
        for name in sorted(part.names.difference(known)):
            raise ax.unknown("a measurement", "figure", name, known)


def figures(cell: Measurement) -> dict[str, float]:
    """Figures of a measurement that are known."""
    extra: Mapping[str, Any] = cell.extra
    hot, power = (extra.get("hot_us") or 0.0) * 1e-6, extra.get("power") or 0.0
    return cell.metrics | _timed(cell.center, hot, power) | _compiled(extra)


def figures_of_base(cell: Measurement, base: Measurement) -> dict[str, float]:
    """Figures of base in the round of a measurement; `base` is what the search measured of it."""
    timed = _timed(cell.base_center, cell.base.get("hot", 0.0), cell.base.get("power", 0.0))
    return cell.base | timed | _compiled(base.extra)


def _timed(center: float | None, hot: float, power: float) -> dict[str, float]:
    found = {"time": center or 0.0, "hot": hot, "power": power, "energy": hot * power}
    return {name: value for name, value in found.items() if value > 0}


def _compiled(extra: Mapping[str, Any]) -> dict[str, float]:
    return {name: extra[name] for name in FIGURES[4:] if extra.get(name) is not None}


def value(part: Expression, known: Mapping[str, float]) -> float | None:
    """Number that an expression gives; None if a figure is not known, or it is not positive."""
    if not part.names <= known.keys():
        return None
    found = part.value(known)
    return found if found is not None and 0 < found < math.inf else None


def front(points: Sequence[Sequence[float]]) -> list[bool]:
    """True for each point of the Pareto front: no other is as great in all and greater in one.

    Equal points are in the front together.
    """

    def beaten(one: Sequence[float]) -> bool:
        return any(
            all(a >= b for a, b in zip(other, one, strict=True)) and tuple(other) != tuple(one)
            for other in points
        )

    return [not beaten(one) for one in points]
