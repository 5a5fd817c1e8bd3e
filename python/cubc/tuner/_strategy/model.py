"""The default strategy: a model of the ranks that it learns from what was measured.

The model is a Gaussian process, which learns fast which parameters matter and knows little where
nothing was measured. Four choices make the rest:

- It learns ranks, not scores. They do not care how slow the slow ones are nor what a failure should
  count (it is last), and a single variant far ahead of the others does not hide these.
- Variants whose outcome is awaited count as measured, except for their rank: so those that are
  asked for together do not all lie in one place.
- It never sees the whole space, only candidates: neighbours and children of the best variants, and
  random points. So a space may have any size.
- Every other proposal is the candidate with the greatest expected improvement, and every other a
  neighbour of the very best in the order that the model gives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .._checks import need
from .._space import Space
from .distance import Distances
from .points import Point, PointStrategy
from .process import Process, chosen

START = 10  # random variants before there is a model
# New outcomes, and their share of all, that make a new model worth its time.
LEAST, GROWTH = 2, 0.03
ELITE = 10  # the best variants: their neighbours and children are candidates
LOCAL = 5  # the very best: their neighbours are every other proposal
CHILDREN, RANDOM = 300, 500  # candidates of either kind
MOST = 1000  # neighbours that are candidates
KNOWN = 300  # outcomes, at most, that the model rests on: its time grows with their square


class Model(PointStrategy):
    """Expected improvement and local search by turns, on a Gaussian process."""

    def __init__(self, space: Space, seed: int = 0):
        super().__init__(space, seed)
        distances = Distances(list(space.ranges.values()))
        self._process = Process(distances) if distances.count else None
        self._draws = np.random.default_rng(seed % 2**128)  # NumPy takes none below 0
        self._known = 0  # outcomes that the plans rest on
        self._plans: list[Iterator[Point]] = []

    def propose(self) -> Point | None:
        """Give the next point of the plans by turns; None while there is no model."""
        if self.asked < START or self._process is None:
            return None
        if len(self.scores) - self._known >= max(LEAST, GROWTH * len(self.scores)):
            self._known = len(self.scores)
            self._plans = self._plan(self._process)
        while self._plans:
            plan = self._plans.pop(0)
            if (point := self.first(plan)) is not None:
                self._plans.append(plan)
                return point
        return None

    def _plan(self, process: Process) -> list[Iterator[Point]]:
        """Points by expected improvement, and those around the very best by expectation."""
        elite = self.best(ELITE)
        if not elite:
            return []
        nearest = (near for point in elite[:LOCAL] for near in self.neighbours(point))
        around = self._candidates(nearest)
        others = self._candidates(self._others(elite), around)
        points = [*around, *others]
        if not points:
            return []
        known, levels = list(self.scores), ranks(list(self.scores.values()))
        if len(known) > KNOWN:
            which = chosen(levels, KNOWN)
            known, levels = [known[at] for at in which], levels[which]
        mean, deviation = process.forecast(known, levels, self._awaited(), points)
        orders = (_improvement(mean, deviation, levels.max()), mean[: len(around)])
        return [map(points.__getitem__, np.argsort(-by, kind="stable")) for by in orders]

    def _awaited(self) -> list[Point]:
        return sorted(self._named.difference(self.scores))[:KNOWN]

    def _candidates(self, points: Iterator[Point], but: list[Point] | None = None) -> list[Point]:
        """Points that were not named, each once; some of them where there are many."""
        found = sorted(set(points).difference(self._named, but or ()))
        return found if len(found) <= MOST else self.rng.sample(found, MOST)

    def _others(self, elite: list[Point]) -> Iterator[Point]:
        """Neighbours and children of the best, and random points."""
        for point in elite[LOCAL:]:
            yield from self.neighbours(point)
        which = self._draws.integers(len(elite), size=(CHILDREN, len(self.shape)))
        for parents in which.tolist():
            yield tuple(elite[parent][at] for at, parent in enumerate(parents))
        random = self._draws.integers(self.shape, size=(RANDOM, len(self.shape)))
        yield from map(tuple, random.tolist())


def ranks(scores: Sequence[float | None]) -> np.ndarray:
    """Ranks of scores, 1 for the highest and 0 for failures; scores that are equal share one."""
    worked = np.array([score for score in scores if score is not None])
    levels = np.unique(worked)
    found = np.zeros(len(scores))
    found[[score is not None for score in scores]] = 1 + np.searchsorted(levels, worked)
    return found / max(1, len(levels))


def _improvement(mean: np.ndarray, spread: np.ndarray, best: float) -> np.ndarray:
    """Expected improvement over the best rank, if ranks are normally distributed."""
    ndtr = need("scipy.special").ndtr
    gap = (mean - best) / np.maximum(spread, 1e-9)
    return spread * (gap * ndtr(gap) + np.exp(-(gap**2) / 2) / np.sqrt(2 * np.pi))
