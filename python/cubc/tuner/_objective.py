"""What a search looks for: time, energy, or an expression over what a measurement has.

An objective is a positive number that is to be small. A variant's speedup, and with them its score,
is base's number over the variant's; so all that ranks variants by scores goes by it. With two
objectives a score is that of the geometric mean of both numbers, and those variants that no other
beats in both are the Pareto front.

Rounds of confirmation are of times. So under another objective nothing is confirmed, and no policy
follows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _axes as ax
from ._constraints import Expression

if TYPE_CHECKING:
    from ._records import Measurement

FIGURES = (
    "time",  # seconds, median of the samples
    "hot",  # seconds, mean of runs that follow each other
    "power",  # watts while these run
    "energy",  # joules of one of these
    "registers",  # a thread's
    "local_bytes",  # a thread's spills and stack
    "shared_bytes",  # a block's
    "blocks_per_unit",  # resident at once on a multiprocessor
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

    def __repr__(self) -> str:
        return f"Objective({', '.join(self.texts)})"


TIME = Objective([Expression("time")])


def objective(given: str | Iterable[str] | Objective) -> Objective:
    """Check an objective of a search or an analysis.

    Raises
    ------
    LookupError
        If it names no figure, with the nearest.
    TypeError
        If it is no text.
    ValueError
        If it is no expression, or there are none or more than two.
    """
    if isinstance(given, Objective):
        return given
    several = [given] if isinstance(given, str) else given
    if not isinstance(several, Iterable):
        raise TypeError(f"an objective is a text as 'energy', or two of them, not {given!r:.80}")
    parts = [Expression(text) for text in several]
    if not 1 <= len(parts) <= MOST:
        raise ValueError(f"{len(parts)} objectives are given: a search has one or two")
    for part in parts:
        for name in sorted(part.names.difference(FIGURES)):
            raise ax.unknown("a measurement", "figure", name, FIGURES)
        if not part.names:
            raise ValueError(f"{part.text!r}: an objective names a figure, as {', '.join(FIGURES)}")
    return Objective(parts)


def figures(cell: Measurement) -> dict[str, float]:
    """Figures of a measurement that are known."""
    extra: Mapping[str, Any] = cell.extra
    hot, power = (extra.get("hot_us") or 0.0) * 1e-6, extra.get("power") or 0.0
    found = {"time": cell.center or 0.0, "hot": hot, "power": power, "energy": hot * power}
    known = {name: value for name, value in found.items() if value > 0}
    return known | {name: extra[name] for name in FIGURES[4:] if extra.get(name) is not None}


def value(part: Expression, cell: Measurement) -> float | None:
    """Number of a measurement; None if a figure is not known, or it is not positive."""
    known = figures(cell)
    if not part.names <= known.keys():
        return None
    found = part.value(known)
    return found if found is not None and 0 < found < math.inf else None


def front(points: Sequence[Sequence[float]]) -> list[bool]:
    """Tell for each of some points whether no other is at least as great in all and greater in one.

    Equal points are in the front together.
    """

    def beaten(one: Sequence[float]) -> bool:
        return any(
            all(a >= b for a, b in zip(other, one, strict=True)) and tuple(other) != tuple(one)
            for other in points
        )

    return [not beaten(one) for one in points]
