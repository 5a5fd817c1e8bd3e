"""The default strategy: a model of the ranks that it learns from what was measured.

The model is a forest of extremely randomised trees (Geurts, Ernst and Wehenkel 2006): good with
few points, with steps and with interactions, and where its trees disagree it knows little. Four
choices make the rest:

- It learns ranks, not scores. They do not care how slow the slow ones are nor what a failure should
  count (it is last), and a single variant far ahead of the others does not hide these.
- A split sees few of the features (the square root of their number, as usual with forests), so
  that the trees disagree where only some of them look: otherwise a search stays in one basin.
- It never sees the whole space, only candidates: neighbours and children of the best variants, and
  random points. So a space may have any size.
- Every other proposal is the candidate with the greatest expected improvement, and every other a
  neighbour of the very best in the order that the model gives: a tree predicts no rank above those
  it was shown, but a neighbour of the best may be better still.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from .._checks import need
from .._space import Space
from .points import Point, PointStrategy

START = 20  # random variants before there is a model
TREES = 50  # for a mean and a spread; twice as many were not better in a replay
LEAST, GROWTH = (
    4,
    0.05,
)  # new outcomes, and their share of all, that make a new model worth its time
ELITE = 10  # the best variants: their neighbours and children are candidates
LOCAL = 5  # the very best: their neighbours are every other proposal
CHILDREN, RANDOM = 500, 1000  # candidates of either kind


class Model(PointStrategy):
    """Expected improvement and local search by turns, on a forest of trees."""

    def __init__(self, space: Space, seed: int = 0):
        super().__init__(space, seed)
        self._features = Features(space)
        self._draws = np.random.default_rng(seed % 2**128)  # NumPy takes none below 0
        self._known = 0  # outcomes that the plans rest on
        self._plans: list[Iterator[Point]] = []

    def propose(self) -> Point | None:
        """Give the next point of the plans by turns; None while there is no model."""
        if self.asked < START:
            return None
        if len(self.scores) - self._known >= max(LEAST, GROWTH * len(self.scores)):
            self._known = len(self.scores)
            self._plans = self._plan()
        while self._plans:
            plan = self._plans.pop(0)
            if (point := self.first(plan)) is not None:
                self._plans.append(plan)
                return point
        return None

    def _plan(self) -> list[Iterator[Point]]:
        """Points by expected improvement, and those around the very best by expectation."""
        elite = self.best(ELITE)
        if not elite:
            return []
        around = self._unnamed(near for point in elite[:LOCAL] for near in self.neighbours(point))
        others = self._unnamed(self._others(elite)).difference(around)
        points = [*sorted(around), *sorted(others)]
        if not points:
            return []
        known, ranks = list(self.scores), _ranks(list(self.scores.values()))
        seed = int(self._draws.integers(2**31))
        forecasts = _forest(self._features(known), ranks, self._features(points), seed)
        mean, spread = forecasts.mean(axis=0), forecasts.std(axis=0)
        orders = (_improvement(mean, spread, ranks.max()), mean[: len(around)])
        return [map(points.__getitem__, np.argsort(-by, kind="stable")) for by in orders]

    def _unnamed(self, points: Iterator[Point]) -> set[Point]:
        return set(points).difference(self._named)

    def _others(self, elite: list[Point]) -> Iterator[Point]:
        """Neighbours and children of the best, and random points."""
        for point in elite[LOCAL:]:
            yield from self.neighbours(point)
        which = self._draws.integers(len(elite), size=(CHILDREN, len(self.shape)))
        for parents in which.tolist():
            yield tuple(elite[parent][at] for at, parent in enumerate(parents))
        random = self._draws.integers(self.shape, size=(RANDOM, len(self.shape)))
        yield from map(tuple, random.tolist())


class Features:
    """Features of a point that the trees see: its values, and the products of every two.

    Products, as of threads and items a thread, are what a kernel is often limited by. Positive
    values are taken as logarithms, for powers of two are steps alike, and products become sums.
    """

    def __init__(self, space: Space):
        self._ranges = list(space.ranges.values())
        varying = [at for at, found in enumerate(self._ranges) if len(found) > 1]
        self._positive = [min(found[0], found[-1]) > 0 for found in self._ranges]
        self._single = varying or [0]
        self._pairs = list(combinations([at for at in varying if self._positive[at]], 2))

    def __call__(self, points: Sequence[Point]) -> np.ndarray:
        """Features of some points, a row each."""
        places = np.array(points).T
        columns = [
            np.log2(values) if positive else values
            for values, positive in zip(
                map(_values, self._ranges, places), self._positive, strict=True
            )
        ]
        sums = [columns[one] + columns[other] for one, other in self._pairs]
        return np.stack([*(columns[at] for at in self._single), *sums], axis=1)


def _values(found: Sequence[int], places: np.ndarray) -> np.ndarray:
    """Values of a parameter at some places; a range may be long, so it is never listed."""
    if isinstance(found, range):
        return (found.start + found.step * places).astype(np.float32)
    return np.array(found, np.float32)[places]


def _ranks(scores: list[float | None]) -> np.ndarray:
    """Ranks of scores, 1 for the highest and 0 for failures; scores that are equal share one."""
    worked = np.array([score for score in scores if score is not None])
    levels = np.unique(worked)
    found = np.zeros(len(scores))
    found[[score is not None for score in scores]] = 1 + np.searchsorted(levels, worked)
    return found / max(1, len(levels))


def _forest(known: np.ndarray, ranks: np.ndarray, asked: np.ndarray, seed: int) -> np.ndarray:
    """Forecast of each tree (rows) for each point that is asked for (columns)."""
    tree = need("sklearn.tree").ExtraTreeRegressor
    random = np.random.RandomState(seed)
    # One by one: ExtraTreesRegressor grows the same, but takes twice the time for so few points.
    trees = (tree(max_features="sqrt", random_state=random) for _ in range(TREES))
    with need("sklearn").config_context(skip_parameter_validation=True):
        grown = [one.fit(known, ranks, check_input=False) for one in trees]
        return np.stack([one.predict(asked, check_input=False) for one in grown])


def _improvement(mean: np.ndarray, spread: np.ndarray, best: float) -> np.ndarray:
    """Expected improvement over the best rank, if ranks are normally distributed."""
    ndtr = need("scipy.special").ndtr
    gap = (mean - best) / np.maximum(spread, 1e-9)
    return spread * (gap * ndtr(gap) + np.exp(-(gap**2) / 2) / np.sqrt(2 * np.pi))
