"""Strategies: in which order a search visits the variants of a space.

A strategy is asked for the next variant and told how each turned out. It never names a variant
twice, and the same space and seed give the same order, so that an interrupted search resumes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from .axes import unknown
from .space import Space


class Strategy(Protocol):
    """What a search needs of a strategy."""

    def ask(self) -> str | None:
        """Label of the next variant to measure; None when there is none left."""

    def tell(self, variant: str, score: float | None) -> None:
        """Take note of a variant's score; None for one that failed."""


class Exhaustive:
    """All valid variants in the order of the space."""

    def __init__(self, space: Space, seed: int = 0):
        self._space = space
        self._order = iter(self._indices(space.size, seed))

    @staticmethod
    def _indices(size: int, seed: int) -> Iterable[int]:
        return range(size)

    def ask(self) -> str | None:
        """Label of the next valid variant, None at the end."""
        labels = map(self._space.label, self._order)
        return next(filter(self._space.valid, labels), None)

    def tell(self, variant: str, score: float | None) -> None:
        """Nothing to learn: the order is fixed."""


class Random(Exhaustive):
    """All valid variants in a random order that the seed decides."""

    @staticmethod
    def _indices(size: int, seed: int) -> Iterable[int]:
        return permutation(size, random.Random(seed))


def permutation(n: int, rng: random.Random) -> Iterator[int]:
    """Yield the numbers below `n` in random order, each once.

    This is Fisher and Yates's shuffle on an array that is thought rather than stored: only the
    places that were swapped are kept, so the first k of n numbers take memory for k.
    """
    moved: dict[int, int] = {}
    for i in range(n):
        j = rng.randrange(i, n)
        yield moved.get(j, j)
        moved[j] = moved.pop(i, i)


STRATEGIES: dict[str, Callable[[Space, int], Strategy]] = {
    "exhaustive": Exhaustive,
    "random": Random,
}


def make(strategy: str | Callable[[Space, int], Strategy]) -> Callable[[Space, int], Strategy]:
    """Look up a strategy by name; a callable of (space, seed) is taken as it is.

    Raises
    ------
    LookupError
        For an unknown name.
    TypeError
        If it is neither a name nor a callable.
    """
    if callable(strategy):
        return strategy
    if not isinstance(strategy, str):
        known = " or ".join(map(repr, STRATEGIES))
        what = f"must be {known}, or a callable of (space, seed) that makes one"
        raise TypeError(f"strategy is {strategy!r:.80}, {what}")
    if strategy not in STRATEGIES:
        raise unknown("the tuner", "strategy", strategy, STRATEGIES)
    return STRATEGIES[strategy]
