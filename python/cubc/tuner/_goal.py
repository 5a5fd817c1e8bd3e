"""Goals that end a search early: a target that is met, or no better variant for long."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ._checks import count, positive

UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_TIME = re.compile(r"\s*([0-9.]+(?:e[+-]?\d+)?)\s*(s|ms|us|µs|ns)\s*", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Goal:
    """Conditions that end the search of a compile-time workload early.

    Attributes
    ----------
    score : float
        A score that is enough.
    seconds : float
        A time that is enough at each run-time workload; 0 for none.
    patience : float
        Number of variants, one after another, none of which is better than the best before.
    """

    score: float = math.inf
    seconds: float = 0.0
    patience: float = math.inf

    def is_met(self, score: float, seconds: Sequence[float]) -> bool:
        """True if a variant's score, or its times at all run-time workloads, are enough."""
        return score >= self.score or (bool(seconds) and max(seconds) <= self.seconds)


def goal(target: Any, patience: Any) -> Goal:
    """Check the arguments of a search; TypeError or ValueError if they say nothing."""
    score, seconds = math.inf, 0.0
    if isinstance(target, str):
        seconds = _seconds(target)
    elif target is not None:
        score = _score(target)
    return Goal(score, seconds, math.inf if patience is None else count("patience", patience))


def _score(target: Any) -> float:
    like = "a score above 1, or a time in a text as '350us'"
    if isinstance(target, bool) or not isinstance(target, numbers.Real):
        raise TypeError(f"target is {target!r:.80}, must be {like}")
    if not 1 < float(target) < math.inf:
        raise ValueError(f"target is {target}, must be {like}")
    return float(target)


def _seconds(target: str) -> float:
    found = _TIME.fullmatch(target)
    try:
        if found is None:
            raise ValueError
        return positive("target", float(found[1]) * UNITS[found[2].lower()])
    except ValueError:
        like = "a number and one of s, ms, us, ns, as '350us'"
        raise ValueError(f"target is {target!r:.80}; a time is {like}") from None


def parse(text: str) -> float | str:
    """Take a target from a command line: a score or a time."""
    try:
        return float(text)
    except ValueError:
        return text
