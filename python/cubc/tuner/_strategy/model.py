"""The default strategy: a model of the ranks that it learns from what was measured.

The model is a Gaussian process, which learns fast which parameters matter and knows little where
nothing was measured. Four choices make the rest:

- It learns ranks, not scores. They do not care how slow the slow ones are nor what a failure should
  count (it is last), and a single variant far ahead of the others does not hide these.
- Variants whose outcome is awaited count as measured, except for their rank: so those that are
  asked for together do not all lie in one place. Before there is a model they keep apart, too.
- It never sees the whole space, only candidates: neighbours and children of the best variants, and
  random points. So a space may have any size.
- Every proposal is the candidate with the greatest expected improvement.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, filterfalse, islice

import numpy as np

from cubc._extras import need

from .._space import Space
from .distance import Distances
from .points import Point, PointStrategy
from .process import Process, chosen

START = 10  # variants before there is a model
APART = 8  # random points, each time, of which the one that is farthest from all named is a start
LOOKED = 50  # points that may be invalid for each of these
# New outcomes, and their share of all, that make a new model worth its time.
LEAST, GROWTH = 1, 0.01
ELITE = 10  # the best variants: their neighbours and children are candidates
CHILDREN = 100  # candidates, drawn anew each time
RANDOM = 200
MOST = 400  # neighbours that are candidates
# Outcomes, at most, that the model rests on, and those that stay of more: its time grows with their
# square.
KNOWN, KEPT = 300, 200
AWAITED = 100  # points whose outcome is awaited, at most, that it takes into account: the last


class Model(PointStrategy):
    """Expected improvement on a Gaussian process."""

    def __init__(self, space: Space, seed: int = 0):
        super().__init__(space, seed)
        self._distances = Distances(list(space.ranges.values()))
        self._process = Process(self._distances) if self._distances.count else None
        self._draws = np.random.default_rng(seed % 2**128)  # NumPy takes none below 0
        self._known = 0  # outcomes that the plan rests on
        self._basis: list[Point] = []  # outcomes that the model rests on
        self._joined = 0  # outcomes that have joined the basis, some of which have left it again
        self._plan: Iterator[Point] = iter(())
        self._left: list[Point] = []  # drawn, and not the farthest

    def propose(self) -> Point | None:
        """Give the next point of the plan; None while there is no model."""
        if self.asked < START or self._process is None:
            return None
        if len(self.scores) - self._known >= max(LEAST, GROWTH * len(self.scores)):
            self._known = len(self.scores)
            self._plan = self._planned(self._process)
        return self.first(self._plan)

    def draw(self) -> Point | None:
        """Give a random point; before there is an outcome the farthest of some from all named."""
        point = super().draw()
        if point is None:
            return self.first(iter(self._left))
        if self.scores and self.asked >= START:
            return point
        others = (self._look() for _ in range(APART - 1))
        found = [point, *(other for other in others if other is not None)]
        if self._named and self._distances.count:
            see, weights = self._distances.see, np.ones(self._distances.count)
            apart = self._distances.squared(see(found), see(sorted(self._named)[:KNOWN]), weights)
            point = found[int(apart.min(axis=1).argmax())]
        self._left += [other for other in found if other != point]
        return point

    def _look(self) -> Point | None:
        """Next free point of the random order; None if `LOOKED` points are invalid."""
        return self.first(map(self._point, islice(self._rest, LOOKED)))

    def _planned(self, process: Process) -> Iterator[Point]:
        """Candidates by expected improvement."""
        elite = self.best(ELITE)
        near, drawn = self._candidates(elite) if elite else ([], [])
        points = [*near, *drawn]
        if not points:
            return iter(())
        known, levels = self._outcomes()
        awaited = list(filterfalse(self.scores.__contains__, self._named))[-AWAITED:]
        mean, deviation = process.forecast(known, levels, awaited, near, drawn)
        order = np.argsort(-_improvement(mean, deviation, levels.max()), kind="stable")
        return map(points.__getitem__, order)

    def _outcomes(self) -> tuple[list[Point], np.ndarray]:
        """Points that the model rests on, with ranks: new ones join until they are too many."""
        self._basis += islice(self.scores, self._joined, None)
        self._joined = len(self.scores)
        levels = ranks([self.scores[point] for point in self._basis], self.scores.values())
        if len(self._basis) > KNOWN:
            which = chosen(levels, KEPT)
            self._basis, levels = [self._basis[at] for at in which], levels[which]
        return self._basis, levels

    def _candidates(self, elite: list[Point]) -> tuple[list[Point], list[Point]]:
        """Neighbours of the best; their children, and random points. None of them was named.

        The latter are other ones each time, because a fixed set finds isolated optima less often.
        """
        near = {*chain.from_iterable(map(self.neighbours, elite))} - self._named.keys()
        parents = self._draws.integers(len(elite), size=(CHILDREN, len(self.shape)))
        children = np.take_along_axis(np.array(elite), parents, axis=0)
        random = self._draws.integers(self.shape, size=(RANDOM, len(self.shape)))
        drawn = {*map(tuple, np.concatenate([children, random]).tolist())}
        lasting = sorted(near)
        if len(near) > MOST:
            lasting = self.rng.sample(lasting, MOST)
        return lasting, sorted(drawn - near - self._named.keys())


def ranks(scores: Sequence[float | None], every: Iterable[float | None]) -> np.ndarray:
    """Ranks of scores among all: 1 for the highest and 0 for failures; equal ones share one."""
    levels = np.unique(np.array([score for score in every if score is not None]))
    found = np.zeros(len(scores))
    worked = [score for score in scores if score is not None]
    found[[score is not None for score in scores]] = 1 + np.searchsorted(levels, worked)
    return found / max(1, len(levels))


def _improvement(mean: np.ndarray, spread: np.ndarray, best: float) -> np.ndarray:
    """Expected improvement over the best rank, if ranks are normally distributed."""
    ndtr = need("scipy.special").ndtr
    gap = (mean - best) / np.maximum(spread, 1e-9)
    return spread * (gap * ndtr(gap) + np.exp(-(gap**2) / 2) / np.sqrt(2 * np.pi))
