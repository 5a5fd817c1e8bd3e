"""Quantiles of Student's t and of the normal distribution, for verdicts; policies need no SciPy.

The tail of t is an incomplete beta function, by its continued fraction (Press et al., "Numerical
Recipes", 6.4); its quantile is found by bisection, since a verdict asks for a few and keeps them.
"""

from __future__ import annotations

import math
from functools import lru_cache

TERMS = 1000  # of the continued fraction; some tens are the rule
STEPS = 200  # of the bisection, at most
PRECISE = 1e-15
NORMAL = 1e7  # degrees above which the difference to the normal distribution is below 1e-7


@lru_cache(maxsize=4096)
def quantile(degrees: float, tail: float) -> float:
    """Value that Student's t exceeds with a probability of `tail`, from 0 to 1/2.

    `degrees` may be infinite: it is the normal distribution then.
    """
    low, high = 0.0, 1.0
    while _tail(degrees, high) > tail:
        low, high = high, 2 * high
    for _ in range(STEPS):
        middle = (low + high) / 2
        if high - low <= PRECISE * high:
            break
        low, high = (middle, high) if _tail(degrees, middle) > tail else (low, middle)
    return (low + high) / 2


def _tail(degrees: float, t: float) -> float:
    """Probability that Student's t is above `t`."""
    if degrees > NORMAL:
        return math.erfc(t / math.sqrt(2)) / 2
    return _beta(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2


def _beta(a: float, b: float, x: float) -> float:
    """Regularised incomplete beta function."""
    if x >= 1:
        return 1.0
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(scale + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Continued fraction of the incomplete beta function, by Lentz's method."""
    tiny = 1e-300
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1) or tiny)
    value = d
    for m in range(1, TERMS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + term * d or tiny)
            c = 1 + term / c or tiny
            value *= c * d
        if abs(c * d - 1) < PRECISE:
            break
    return value
