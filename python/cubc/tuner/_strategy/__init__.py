"""Strategies: in which order a search tries the variants of a space.

A strategy is asked for the next variant and told how each turned out. It never names a variant
twice, and the same space, seed and order of asks and tells give the same variants, so that an
interrupted search resumes. Asks run ahead of tells, because compilers do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from cubc._extras import require

from .._axes import unknown
from .._space import Space
from .annealing import Annealing
from .genetic import Genetic
from .model import Model
from .order import Exhaustive, Random
from .sampler import Sampled, is_sampler
from .warm import warmed

__all__ = ["DEFAULT", "STRATEGIES", "Factory", "Strategy", "make", "warmed"]


class Strategy(Protocol):
    """Interface that a search needs of a strategy."""

    def ask(self) -> str | None:
        """Label of the next variant to measure; None when there is none left."""

    def tell(self, variant: str, score: float | None) -> None:
        """Take note of a variant's score, higher is better; None for one that failed.

        It may be a variant that this strategy did not name; it is not named from then on.
        """


Factory = Callable[[Space, int], Strategy]

STRATEGIES: dict[str, Factory] = {
    "model": Model,
    "annealing": Annealing,
    "genetic": Genetic,
    "random": Random,
    "exhaustive": Exhaustive,
}
DEFAULT = "model"


def make(strategy: Any) -> Factory:
    """Look up a strategy.

    Parameters
    ----------
    strategy
        A name, a sampler of Optuna, or a callable of (space, seed).

    Raises
    ------
    LookupError
        For an unknown name.
    TypeError
        If it is none of these.
    ModuleNotFoundError
        If a package that the strategy needs is not installed.
    """
    if is_sampler(strategy):
        return partial(Sampled, strategy)
    if callable(strategy):
        return strategy if strategy in STRATEGIES.values() else partial(_made, strategy)
    if not isinstance(strategy, str):
        names = ", ".join(map(repr, STRATEGIES))
        what = f"must be one of {names}, a sampler of Optuna, or a callable of (space, seed)"
        raise TypeError(f"strategy is {strategy!r:.80}, {what}")
    if strategy not in STRATEGIES:
        raise unknown("the tuner", "strategy", strategy, STRATEGIES)
    if strategy == DEFAULT:
        require("scipy")  # before anything is measured
    return STRATEGIES[strategy]


def _made(factory: Factory, space: Space, seed: int) -> Strategy:
    """Strategy that a user's callable makes; TypeError if it is none."""
    strategy: Any = factory(space, seed)
    has = [callable(getattr(strategy, name, None)) for name in ("ask", "tell")]
    if isinstance(strategy, type) or not all(has):
        raise TypeError(
            f"strategy= made {strategy!r:.80}, must make an object with ask() and "
            "tell(variant, score)"
        )
    return strategy
