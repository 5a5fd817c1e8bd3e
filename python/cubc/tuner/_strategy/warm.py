"""Warm starts: the best variants of other devices and sizes are tried early.

They are worth a try, and on some devices they are far from the best. A strategy that searches
around the variants that it knows would stay near them. So it learns of a recommended variant only
when it comes to name it itself: a warm search finds all that a cold one finds, later by the few
recommended variants at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from .._space import Space
from .points import place

if TYPE_CHECKING:
    from . import Strategy

TOP = 5  # variants that each of the other devices recommends, at most

Scores = Mapping[str, float]


class Warm:
    """A strategy whose asks alternate with recommendations while there are some."""

    def __init__(self, strategy: Strategy, space: Space, recommended: Iterable[str]):
        self._strategy = strategy
        here = (label for label in recommended if place(space, label) is not None)
        self._recommended = filter(space.valid, here)
        self._named: set[str] = set()  # variants that the strategy named
        self._advised: set[str] = set()
        self._known: dict[str, float | None] = {}  # outcomes that the strategy did not hear of
        self._turn = False

    def ask(self) -> str | None:
        """Label of the next variant, from the recommendations and the strategy by turns."""
        self._turn = not self._turn
        sources = [self._advice, self._next]
        return next(
            filter(None, (source() for source in sources[:: 1 if self._turn else -1])), None
        )

    def _advice(self) -> str | None:
        label = next((one for one in self._recommended if one not in self._named), None)
        if label is not None:
            self._advised.add(label)
        return label

    def _next(self) -> str | None:
        """Next variant of the strategy; it is told the outcome of those that were recommended."""
        while (label := self._strategy.ask()) in self._advised:
            self._named.add(label)
            if label in self._known:
                self._strategy.tell(label, self._known.pop(label))
        if label is not None:
            self._named.add(label)
        return label

    def tell(self, variant: str, score: float | None) -> None:
        """Let the strategy learn what it named; keep the rest until it does."""
        if variant in self._advised and variant not in self._named:
            self._known[variant] = score
        else:
            self._named.add(variant)
            self._strategy.tell(variant, score)


def warmed(
    factory: Callable[[Space, int], Strategy], elsewhere: Sequence[Scores]
) -> Callable[[Space, int], Strategy]:
    """Make a factory of strategies that try the best variants of other devices early.

    Parameters
    ----------
    factory
        Makes the strategy, of (space, seed).
    elsewhere
        For each other device the scores of its variants, higher is better. Those of the same kind
        of GPU come first.
    """
    labels = list(recommendations(elsewhere))
    return lambda space, seed: Warm(factory(space, seed), space, labels)


def recommendations(elsewhere: Sequence[Scores]) -> Iterator[str]:
    """Yield the best variant of each device, then the second of each, and so on; each once."""
    ranked = [
        sorted(scores, key=lambda label: (-scores[label], label))[:TOP] for scores in elsewhere
    ]
    labels = chain.from_iterable(zip_longest(*ranked))
    return iter(dict.fromkeys(label for label in labels if label is not None))
