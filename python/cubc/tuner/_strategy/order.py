"""Strategies that learn nothing: every variant in the order of the space, or at random."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice

from .._space import Space
from .points import MISSES


class Exhaustive:
    """All valid variants in the order of the space."""

    misses: int | None = None  # invalid labels in a row before it gives up

    def __init__(self, space: Space, seed: int = 0):
        self._space = space
        self._order = self._numbers(space, seed)
        self._told: set[str] = set()

    @staticmethod
    def _numbers(space: Space, seed: int) -> Iterator[int]:
        return space.numbers()

    def ask(self) -> str | None:
        """Label of the next valid variant, None at the end."""
        labels = (label for label in map(self._space.label, self._order) if label not in self._told)
        return next(filter(self._space.valid, islice(labels, self.misses)), None)

    def tell(self, variant: str, score: float | None) -> None:
        """Note that the variant need not be named any more."""
        self._told.add(variant)


class Random(Exhaustive):
    """All valid variants in a random order that the seed decides."""

    misses = MISSES

    @staticmethod
    def _numbers(space: Space, seed: int) -> Iterator[int]:
        return space.numbers(random.Random(seed))
