"""A genetic strategy: children of the best variants so far, a little changed.

It has no generations, because a search asks for more before it tells of the last: each child has
its parents among the best that are known at that moment.
"""

from __future__ import annotations

from .points import Point, PointStrategy

POPULATION = 20  # random ones to begin with; then parents are drawn from as many of the best
TRIES = 50  # children, each of new parents, before a random point is taken instead


class Genetic(PointStrategy):
    """Uniform crossover of two of the best, and on average one parameter drawn anew."""

    def propose(self) -> Point | None:
        """Give a child that was not named yet."""
        if self.asked < POPULATION:
            return None
        parents = self.best(POPULATION)
        if not parents:
            return None
        return self.first(self._child(parents) for _ in range(TRIES))

    def _child(self, parents: list[Point]) -> Point:
        pair = zip(self._parent(parents), self._parent(parents), strict=True)
        mixed = (self.rng.choice(places) for places in pair)
        return tuple(map(self._mutated, mixed, self.shape))

    def _parent(self, parents: list[Point]) -> Point:
        """Return the better of two drawn; `parents` come best first."""
        return parents[min(self.rng.randrange(len(parents)) for _ in range(2))]

    def _mutated(self, place: int, length: int) -> int:
        return self.rng.randrange(length) if self.rng.random() * len(self.shape) < 1 else place
