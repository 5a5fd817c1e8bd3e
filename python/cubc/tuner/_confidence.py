"""Confidence in a score, given the samples that it was computed from.

A score is a weighted mean of ratios of medians. Its interval comes from computing it again from
resampled samples (see `_bootstrap`), at each run-time workload for itself, because these were
measured one after another. It says what another measurement of *this* variant would give. It does
not say that the best of many variants will stay that good: of many noisy scores the highest is too
high on average. Measure the winner afresh, and look at the interval of that.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ._bootstrap import interval, resample
from ._groups import Group
from ._samples import Samples, pair
from ._score import weight

DRAWS = 1000


def score_interval(
    group: Group,
    variant: str,
    samples: Mapping[tuple[str, int], Samples],
    confidence: float = 0.95,
    draws: int = DRAWS,
) -> tuple[float, float]:
    """Ends of a score's confidence interval.

    Parameters
    ----------
    group, variant
        A variant with a score.
    samples
        Those of the variant and of base, as of `_samples.read_samples`.
    confidence : float
        Share of the draws that the interval holds.
    draws : int
        Number of draws. They are the same each time.

    Returns
    -------
    two floats
        Both are 1 for base, and nan where samples are missing.
    """
    if variant == "base":
        return 1.0, 1.0
    rng = np.random.default_rng(0)
    total, scores = 0.0, np.zeros(draws)
    for rt, cell in group.cells[variant].items():
        mine, base = pair(group, variant, rt, samples)
        if not (mine.size and base.size):
            return float("nan"), float("nan")
        drawn, drawn_base = resample(mine, base, draws=draws, seed=rng)
        share = weight(group.axes, cell.rt)
        total += share
        scores += share * np.median(drawn_base, axis=1) / np.median(drawn, axis=1)
    low, high = interval(scores / total, confidence)
    return float(low), float(high)
