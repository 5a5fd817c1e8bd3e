"""Simulated annealing: a walk to neighbouring variants, at first also to slower ones.

The walk does not wait: while outcomes are awaited it tries more neighbours of where it stands, and
whichever outcome is accepted moves it. A search has no fixed end, so a walk that has cooled down
gives way to another, from a random variant.
"""

from __future__ import annotations

import math

from .._space import Space
from .points import Point, PointStrategy

HOT, COLD = 0.3, 0.003  # relative slowdowns that are accepted with probability 1/e
COOLING = 0.97  # for each outcome: a walk has 150


class Annealing(PointStrategy):
    """Metropolis's walk over the points that differ in one parameter."""

    def __init__(self, space: Space, seed: int = 0):
        super().__init__(space, seed)
        self._heat = HOT
        self._at: Point | None = None
        self._score = 0.0

    def propose(self) -> Point | None:
        """Give a random free neighbour; None where a walk is to begin."""
        if self._at is None:
            return None
        around = self.neighbours(self._at)
        self.rng.shuffle(around)
        found = self.first(around)
        if found is None:  # nothing is left here
            self._restart()
        return found

    def learn(self, point: Point, score: float | None) -> None:
        """Move there or stay, and cool down."""
        if score is not None and (self._at is None or self._accepts(score)):
            self._at, self._score = point, score
        self._heat *= COOLING
        if self._heat < COLD:
            self._restart()

    def _accepts(self, score: float) -> bool:
        slowdown = math.log(self._score / score)
        return slowdown <= 0 or self.rng.random() < math.exp(-slowdown / self._heat)

    def _restart(self) -> None:
        self._at, self._heat = None, HOT
