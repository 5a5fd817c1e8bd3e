"""Verdict of repeated rounds: a variant is faster than base, slower, or the same.

Samples of one run do not tell how another run would turn out: where a kernel and its memory happen
to lie changes the time of short kernels by more than all noise within a run (`reduce.sum` of 2^16
floats on an H200: 1.5 % between openings of the same variant, 0.5 % within). So the unit of a
verdict is the round: variant and base opened afresh and sampled by turns. Each round gives one
ratio, and the rounds' ratios give the interval (Kalibera and Jones, "Rigorous benchmarking in
reasonable time", 2013: repeat on the level on which the variation is).

The interval is Student's, over the logarithms of the ratios. The word says where it lies:

- FASTER or SLOWER: wholly beyond a threshold that matters in practice, 0.5 %;
- SAME: wholly between the two thresholds. This is the equivalence test of Schuirmann ("A comparison
  of the two one-sided tests procedure and the power approach", 1987): SAME has to be shown, and
  does not follow from finding no difference;
- UNDECIDED: across a threshold. The rounds were too few or too noisy to tell.

The rounds come in batches, and no more are taken once there is a word. So there are four looks at
most, each at an interval of 99.8 %, which keeps false verdicts below 0.8 % in all: also at a
difference of just the threshold, where SAME and FASTER are both as near as they can be.

The ratios of different rounds are assumed to be independent, and near enough to normal for the mean
of eight. A drift of the machine, and noise that lasts for many samples, affect both sides of a pair
and cancel; so rounds are independent although times are not (``benchmarks/verdict_errors.py`` has
the error rates under a drift of 2 % and a correlation of neighbouring samples of 0.9). For times
that were not taken by turns see `judge_apart`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._student import quantile

FASTER, SLOWER, SAME, UNDECIDED = "FASTER", "SLOWER", "SAME", "UNDECIDED"
BETTER, WORSE = "BETTER", "WORSE"  # in place of FASTER and SLOWER, by another figure than time
WORDS = (FASTER, SAME, SLOWER, UNDECIDED)
THRESHOLD = 0.005  # differences up to this are of no account
CONFIDENCE = 0.998
DRIFT = 0.02  # relative standard deviation of the level of one search
LEAST_ROUNDS, MORE_ROUNDS, MOST_ROUNDS = (
    8,
    8,
    32,
)  # rounds before the first look, between two looks, and in all
TRIM = 0.1  # share of the pairs' ratios that is left out at either end


@dataclass(frozen=True, slots=True)
class Verdict:
    """The word of some rounds, with the interval that it rests on.

    Attributes
    ----------
    word : str
        ``"FASTER"``, ``"SLOWER"``, ``"SAME"`` or ``"UNDECIDED"``; by another figure than time
        ``"BETTER"`` and ``"WORSE"`` instead of the first two.
    ratio, low, high : float
        Speed of the variant over that of base: the rounds' geometric mean, and the ends of its
        confidence interval; infinitely wide for a single round.
    rounds : int
        Number of rounds.
    """

    word: str
    ratio: float
    low: float
    high: float
    rounds: int

    @property
    def decided(self) -> bool:
        """True if the rounds suffice for a word."""
        return self.word != UNDECIDED

    def of_another_figure(self) -> Verdict:
        """Copy with the words for a figure that is not time."""
        words = {FASTER: BETTER, SLOWER: WORSE}
        return replace(self, word=words.get(self.word, self.word))

    def __str__(self) -> str:
        return f"{self.word} {self.ratio:.3f} [{self.low:.3f}, {self.high:.3f}]"


def round_ratio(variant: ArrayLike, base: ArrayLike) -> float:
    """Speed of a variant over that of base, from samples that were taken by turns.

    Parameters
    ----------
    variant, base
        As many samples of each, in measured order. A disturbance of both samples of a pair cancels
        in their ratio. The result is the trimmed geometric mean of the ratios: an outlier does not
        move it, nor does it jump, as a median would, where times jump between two values.
    """
    return _trimmed(np.asarray(base, float) / np.asarray(variant, float))


def round_time(samples: ArrayLike) -> float:
    """Time of a round, in the unit of its samples: their trimmed geometric mean."""
    return _trimmed(np.asarray(samples, float))


def _trimmed(values: NDArray) -> float:
    logs = np.sort(np.log(values))
    cut = int(TRIM * logs.size)
    return float(np.exp(logs[cut : logs.size - cut].mean()))


def confidence_of_all(verdicts: int) -> float:
    """Confidence of each interval of a table, so that `CONFIDENCE` is that of all together.

    It is Bonferroni's: whoever acts on any line of a table of `verdicts` looks at all of them.
    """
    return 1 - (1 - CONFIDENCE) / max(1, verdicts)


def judge(
    ratios: Sequence[float], threshold: float = THRESHOLD, confidence: float = CONFIDENCE
) -> Verdict:
    """Verdict of the ratios of some rounds.

    Parameters
    ----------
    ratios
        Speed over that of base in each round (scores, or `round_ratio` at one workload).
    threshold
        Ratio that matters: FASTER is above ``1 + threshold``, SLOWER below ``1 / (1 + threshold)``.
    confidence
        Confidence of the two-sided interval (Student's t over the logarithms).
    """
    logs = np.log(np.asarray(ratios, float))
    error = float(logs.std(ddof=1)) / math.sqrt(logs.size) if logs.size > 1 else math.inf
    return _verdict(float(logs.mean()), error, logs.size - 1, logs.size, threshold, confidence)


def judge_apart(
    faster: Sequence[float],
    slower: Sequence[float],
    threshold: float = THRESHOLD,
    confidence: float = CONFIDENCE,
    drift: float = DRIFT,
) -> Verdict:
    """Verdict on two series of times, one after the other: FASTER if the first take less time.

    Between the two the machine may have drifted, and nothing in the times tells a drift from a
    difference. So it has to be allowed for: the variance of a side is `drift` squared and, since
    neighbours in time depend on each other in an unknown way, that of a single time. It does not
    fall with the number of times.

    Parameters
    ----------
    faster, slower
        A time of each round, of the side that may be faster and of the other one.
    threshold, confidence
        As in `judge`. The degrees of freedom are Welch's, with those of `drift` infinite.
    drift
        Standard deviation of a side's level, relative.
    """
    x, y = np.log(np.asarray(faster, float)), np.log(np.asarray(slower, float))
    rounds, mean = x.size + y.size, float(y.mean() - x.mean())
    if min(x.size, y.size) < 2:
        return _verdict(mean, math.inf, 1, rounds, threshold, confidence)
    one, other = (float(logs.var(ddof=1)) for logs in (x, y))
    variance = one + other + 2 * drift**2
    spread = one**2 / (x.size - 1) + other**2 / (y.size - 1)
    degrees = variance**2 / spread if spread else math.inf
    return _verdict(mean, math.sqrt(variance), degrees, rounds, threshold, confidence)


def _verdict(
    mean: float, error: float, degrees: float, rounds: int, threshold: float, confidence: float
) -> Verdict:
    """Verdict on the logarithm of a ratio with its standard error, infinite if it is not known."""
    limit, width = math.log1p(threshold), math.inf
    if error < math.inf:
        width = error * quantile(degrees, (1 - confidence) / 2)
    low, high = mean - width, mean + width
    if low > limit:
        word = FASTER
    elif high < -limit:
        word = SLOWER
    else:
        word = SAME if -limit < low and high < limit else UNDECIDED
    ends = (math.exp(mean), math.exp(low), math.exp(high) if high < math.inf else math.inf)
    return Verdict(word, *ends, rounds)
