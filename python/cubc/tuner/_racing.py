"""Racing: a variant is not measured to the end once it cannot win any more.

A score is a weighted mean of speedups. While some speedups are missing, the score has an upper
bound: each missing one is taken to be somewhat more than the best of any variant at that workload.
A variant leaves the race when its bound is below the best score by a margin; so variants close to
the best are measured in full, since they will be measured again. Within a workload the same bound
gives the speedup that the variant needs there, and sampling stops as soon as its samples exclude
that.
"""

from __future__ import annotations

from typing import NamedTuple

from ._measurer import Run

MARGIN = 0.97  # part of the best score above which a variant stays in the race
SPARE = 1.05  # more than the best speedup seen at a workload; nothing has been as fast
UNKNOWN = 1.5  # in place of that while few variants are known
KNOWN = 20  # variants measured in full before what they reached is a bound
ERROR = 1.02  # a measured speedup may be as much higher in truth


class Race(NamedTuple):
    """Scores that a variant competes with.

    Attributes
    ----------
    weights, caps : list of float
        Weight and largest possible speedup of each run-time workload.
    score : float
        The score to reach.
    """

    weights: list[float]
    caps: list[float]
    score: float

    def needs(self, known: dict[int, float], place: int) -> float:
        """Speedup that a variant has to exceed at a workload, given those at others by place.

        Where it is 0 or less the variant cannot lose there.
        """
        at_most = {**dict(enumerate(self.caps)), **{p: ERROR * known[p] for p in known}}
        others = sum(w * at_most[p] for p, w in enumerate(self.weights) if p != place)
        return (self.score * sum(self.weights) - others) / self.weights[place]


class BestSoFar:
    """Best speedups and score so far, which the next variant has to beat."""

    def __init__(self, weights: list[float]):
        self._weights = weights
        self._best = [1.0] * len(weights)
        self._known = 0
        self._race: Race | None = None  # the last one, while it holds
        self.score = 1.0  # base's

    def add(self, speedups: list[float], score: float) -> None:
        """Take in a variant that was measured at all workloads."""
        best = list(map(max, self._best, speedups))
        self._known += 1
        if best != self._best or score > self.score or self._known == KNOWN:
            self._race = None
        self._best, self.score = best, max(self.score, score)

    def race(self) -> Race:
        """Make the race for the next variant: the last one while nothing better is found."""
        if self._race is None:
            spare = SPARE if self._known >= KNOWN else UNKNOWN
            caps = [spare * best for best in self._best]
            self._race = Race(self._weights, caps, MARGIN * self.score)
        return self._race

    def order(self, runs: list[Run]) -> list[Run]:
        """Runs by weight, the greatest first: so a race ends earliest."""
        return sorted(runs, key=lambda run: (run.round, -self._weights[run.place]))
