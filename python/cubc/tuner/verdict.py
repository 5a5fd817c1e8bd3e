"""Whether a variant is faster than base, slower, or the same: the verdict of repeated rounds.

Samples of one run do not tell how another run would turn out: where a kernel and its memory happen
to lie changes the time of short kernels by more than all noise within a run (`reduce.sum` of 2^16
floats on an H200: 1.5 % between openings of the same variant, 0.5 % within). So the unit of a
verdict is the round: variant and base opened afresh and sampled by turns. Each round gives one
ratio, and the rounds' ratios give the interval (Kalibera and Jones, "Rigorous benchmarking in
reasonable time", 2013: repeat on the level on which the variation is).

A verdict is FASTER or SLOWER if the interval lies beyond a threshold that matters in practice, and
SAME otherwise. It is decided as soon as the interval lies beyond one threshold or between both;
the rounds come in a few batches, so that looking again and again does not find what is not there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .checks import need

FASTER, SLOWER, SAME = "FASTER", "SLOWER", "SAME"
THRESHOLD = 0.005  # differences up to this are of no account
CONFIDENCE = 0.995
LEAST, STEP, MOST = 8, 4, 32  # rounds before the first look, between two looks, and in all
TRIM = 0.1  # share of the pairs' ratios that is left out at either end


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the rounds say.

    Attributes
    ----------
    word : str
        ``"FASTER"``, ``"SLOWER"`` or ``"SAME"``.
    ratio, low, high : float
        Speed of the variant over that of base: the rounds' geometric mean, and the ends of its
        confidence interval; infinitely wide for a single round.
    rounds : int
        How many there were.
    decided : bool
        Whether further rounds are not expected to change the word.
    """

    word: str
    ratio: float
    low: float
    high: float
    rounds: int
    decided: bool

    def __str__(self) -> str:
        return f"{self.word} {self.ratio:.3f} [{self.low:.3f}, {self.high:.3f}]"


def round_ratio(variant: ArrayLike, base: ArrayLike) -> float:
    """Speed of a variant over that of base, from samples that were taken by turns.

    Parameters
    ----------
    variant, base
        As many samples of each, in measured order. What disturbs both samples of a pair cancels in
        their ratio; of the ratios' logarithms the trimmed mean is taken, which neither an outlier
        nor a time that jumps between two values makes jump, as a median would.
    """
    pairs = np.sort(np.log(np.asarray(base, float) / np.asarray(variant, float)))
    cut = int(TRIM * pairs.size)
    return float(np.exp(pairs[cut : pairs.size - cut].mean()))


def judge(
    ratios: Sequence[float], threshold: float = THRESHOLD, confidence: float = CONFIDENCE
) -> Verdict:
    """Verdict of the ratios of some rounds.

    Parameters
    ----------
    ratios
        Speed over that of base in each round (scores, or `round_ratio` at one workload).
    threshold
        What matters: FASTER is above ``1 + threshold``, SLOWER below ``1 / (1 + threshold)``.
    confidence
        Of the two-sided interval (Student's t over the logarithms).
    """
    logs = np.log(np.asarray(ratios, float))
    error = float(logs.std(ddof=1)) / math.sqrt(logs.size) if logs.size > 1 else math.inf
    return _verdict(float(logs.mean()), error, logs.size - 1, logs.size, threshold, confidence)


def judge_unpaired(
    faster: Sequence[float],
    slower: Sequence[float],
    threshold: float = THRESHOLD,
    confidence: float = CONFIDENCE,
) -> Verdict:
    """Verdict on times that were not taken by turns: FASTER if the first take less time.

    Parameters
    ----------
    faster, slower
        A time of each round of what may be faster, and of what it is held against.
    threshold, confidence
        As in `judge`; the interval is Welch's, over the logarithms.
    """
    x, y = np.log(np.asarray(faster, float)), np.log(np.asarray(slower, float))
    rounds, mean = x.size + y.size, float(y.mean() - x.mean())
    if min(x.size, y.size) < 2:
        return _verdict(mean, math.inf, 1, rounds, threshold, confidence)
    one, other = (float(logs.var(ddof=1)) / logs.size for logs in (x, y))
    spread = one**2 / (x.size - 1) + other**2 / (y.size - 1)
    degrees = (one + other) ** 2 / spread if spread else rounds - 2.0
    return _verdict(mean, math.sqrt(one + other), degrees, rounds, threshold, confidence)


def _verdict(
    mean: float, error: float, degrees: float, rounds: int, threshold: float, confidence: float
) -> Verdict:
    """Verdict on the logarithm of a ratio with its standard error, infinite if it is not known."""
    limit, width = math.log1p(threshold), math.inf
    if error < math.inf:
        width = error * float(need("scipy.special").stdtrit(degrees, (1 + confidence) / 2))
    low, high = mean - width, mean + width
    word = FASTER if low > limit else SLOWER if high < -limit else SAME
    decided = word != SAME or (-limit < low and high < limit)
    ends = (math.exp(mean), math.exp(low), math.exp(high) if high < math.inf else math.inf)
    return Verdict(word, *ends, rounds, decided)
