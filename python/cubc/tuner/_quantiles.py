"""Quantiles of measured times, and the ratios and densities that are made of them.

The Harrell-Davis estimator takes a weighted mean of all sorted samples instead of picking one or
two of them, so that it varies less from run to run and moves smoothly with p. The price is that it
is not robust: each outlier has a weight, if a small one. `trimmed_quantiles` gives that weight up.

Everything scales with its samples, so seconds and microseconds give the same ratios.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincinv

from ._bootstrap import interval, resample

Floats = NDArray[np.float64]
Weights = tuple[int, Floats]  # the first sorted sample that counts, and the weights from there on

PERCENTILES = (np.arange(100) + 0.5) / 100  # the middle of each percent of the samples
NEGLIGIBLE = 1e-18  # weight left out at each end: less than rounding takes off a sum of doubles
NARROW = 1e-9  # bins of a density are wider than this, relative to the largest sample


class Band(NamedTuple):
    """A function of p and its pointwise confidence band, each of the shape of p."""

    value: Floats
    low: Floats
    high: Floats


class Density(NamedTuple):
    """A density that is constant between edges: `edges` has one item more than `heights`."""

    edges: Floats
    heights: Floats


def quantiles(x: ArrayLike, p: ArrayLike = PERCENTILES) -> Floats:
    """Harrell-Davis quantiles of samples.

    With n samples the weight of the i-th smallest is I(i/n) - I((i-1)/n), where I is the
    regularised incomplete beta function with a = (n+1)p and b = (n+1)(1-p).

    Parameters
    ----------
    x : array_like, shape (..., n)
        Samples along the last axis, in any order.
    p : array_like of m numbers, or one number
        Probabilities from 0 (the smallest sample) to 1 (the largest).

    Returns
    -------
    ndarray, shape (..., m), or (...) for one p
        In the units of `x`.

    Raises
    ------
    ValueError
        If there are no samples, one is not finite, or a p is outside [0, 1].

    References
    ----------
    F. E. Harrell, C. E. Davis: "A new distribution-free quantile estimator".
    """
    return _estimate(x, p, _weights)


def trimmed_quantiles(x: ArrayLike, p: ArrayLike = PERCENTILES) -> Floats:
    """Harrell-Davis quantiles of the samples near each quantile only.

    The weights outside the densest interval of width 1/sqrt(n) of their beta distribution are
    dropped: an outlier further off does not move the result at all. For parameters, result and
    errors see `quantiles`.

    References
    ----------
    A. Akinshin: "Trimmed Harrell-Davis quantile estimator based on the highest density interval of
    the given width".
    """
    return _estimate(x, p, _trimmed_weights)


def ratio(x: ArrayLike, y: ArrayLike, p: ArrayLike = PERCENTILES) -> Floats:
    """Quantile of `y` over the same quantile of `x`: R(p) = Q_y(p) / Q_x(p).

    ``ratio(variant, base)`` is the speedup over base: 1.1 where the variant needs base's time
    divided by 1.1. So R(x, c x) = c and R(x, y) = 1 / R(y, x).

    Parameters
    ----------
    x : array_like, shape (n,)
        Positive samples.
    y : array_like, shape (m,)
        Positive samples in the same units.
    p
        See `quantiles`.

    Returns
    -------
    ndarray of the shape of p
        Dimensionless.

    Raises
    ------
    ValueError
        As for `quantiles`, and if a sample is not positive.

    References
    ----------
    A. Akinshin: "Shift and ratio functions" (https://aakinshin.net/posts/shift-and-ratio-functions/)
    """
    return quantiles(_positive(y), p) / quantiles(_positive(x), p)


def ratio_band(
    x: ArrayLike,
    y: ArrayLike,
    p: ArrayLike = PERCENTILES,
    *,
    confidence: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Band:
    """`ratio` with the interval that resampled samples leave, at each p for itself.

    Samples are drawn in blocks of neighbours, from both alike where they are as many, because then
    they were measured in turns (see `_bootstrap`). The same seed gives the same band. Towards the
    ends it means little, for no draw holds a sample beyond the extremes: see `margin`.

    Parameters
    ----------
    x, y, p
        See `ratio`; the samples in measured order.
    confidence : float
        Share of the draws that the interval holds.
    draws : int
        Number of draws.
    seed : int
        Decides the draws.
    """
    xs, ys = resample(_positive(x), _positive(y), draws=draws, seed=seed)
    low, high = interval(ratio(xs, ys, p), confidence)
    return Band(ratio(x, y, p), low, high)


def margin(n: int) -> float:
    """Share of the percentiles at each end that `n` samples say too little about.

    Within it the chance that all samples lie to one side of the true quantile exceeds 0.001:
    0.5 - so everywhere - up to 9 samples, 0.067 for 100, 0.0069 for 1000.
    """
    return min(0.5, 1 - 0.001 ** (1 / n))


def known(p: ArrayLike, n: int) -> NDArray[np.bool_]:
    """True if `n` samples are enough for the quantiles `p`: these are outside `margin`."""
    return np.abs(np.asarray(p) - 0.5) <= 0.5 - margin(n)


def density(x: ArrayLike, bins: int = 100, *, resolution: float | None = None) -> Density:
    """Density that respects the quantiles: between two neighbouring ones lies 1/bins of the area.

    Bins are narrow where samples are dense, so that modes show however far they are apart, and
    nothing is to be chosen as a kernel's bandwidth is. Tied samples, as a clock with coarse ticks
    gives, are spread first (see `spread_ties`), for each tie would look like a mode.

    Parameters
    ----------
    x : array_like, shape (n,)
        Samples.
    bins : int
        Largest number of bins; those without width are joined with their neighbour.
    resolution : float
        Step of the clock in the units of `x`; by default the smallest distance of two samples.

    Returns
    -------
    Density
        Edges in the units of `x` and heights in their inverse. The area is 1.

    Raises
    ------
    ValueError
        As for `quantiles`, and if `bins` is not positive.

    References
    ----------
    A. Akinshin: "Quantile-respectful density estimation based on the Harrell-Davis quantile
    estimator".
    """
    if bins < 1:
        raise ValueError(f"a density has at least 1 bin, not {bins}")
    spread = spread_ties(x, resolution)
    edges = quantiles(spread, np.arange(bins + 1) / bins)
    least = NARROW * np.abs(edges).max() or NARROW
    kept = [0]
    for place in range(1, bins + 1):
        if edges[place] - edges[kept[-1]] > least:
            kept.append(place)
    if len(kept) == 1:  # all samples are alike: a needle
        return Density(edges[0] + least * np.array([-0.5, 0.5]), np.array([1 / least]))
    kept[-1] = bins
    return Density(edges[kept], np.diff(kept) / (bins * np.diff(edges[kept])))


def spread_ties(x: ArrayLike, resolution: float | None = None) -> Floats:
    """Sorted samples, the tied ones moved apart evenly over the step that their clock took.

    A tie at v stands for times between v - resolution/2 and v + resolution/2. Nothing is drawn: the
    same samples give the same result. For parameters and errors see `density`.
    """
    values, counts = np.unique(_samples(x), return_counts=True)
    if resolution is None:
        resolution = np.diff(values).min() if values.size > 1 else 0.0
    within = np.concatenate([(np.arange(count) + 0.5) / count - 0.5 for count in counts])
    return np.repeat(values, counts) + resolution * within


# ---- weights ------------------------------------------------------------------------------------
def _estimate(x: ArrayLike, p: ArrayLike, weights_of: Callable[[int, float], Weights]) -> Floats:
    """Combine sorted samples and their weights for each p."""
    ordered, chances = np.sort(_samples(x), axis=-1), np.asarray(p, np.float64)
    if not ((chances >= 0) & (chances <= 1)).all():
        raise ValueError(f"a probability lies between 0 and 1, not {chances}")
    found = np.empty((*ordered.shape[:-1], chances.size))
    for place, chance in enumerate(chances.flat):
        first, weights = weights_of(ordered.shape[-1], float(chance))
        found[..., place] = ordered[..., first : first + weights.size] @ weights
    return found.reshape(ordered.shape[:-1] + chances.shape)[()]


@lru_cache(maxsize=4096)
def _weights(n: int, p: float) -> Weights:
    """Weights of the sorted samples that count: about 15 standard deviations of the beta."""
    if p in (0.0, 1.0):
        return int(p) * (n - 1), np.ones(1)
    a, b = (n + 1) * p, (n + 1) * (1 - p)
    below, above = np.nan_to_num(betaincinv([a, b], [b, a], NEGLIGIBLE))  # nan: below all doubles
    first = min(int(np.floor(n * below)), n - 1)
    last = max(int(np.ceil(n * (1 - above))), first + 1)
    return first, np.diff(betainc(a, b, np.arange(first, last + 1) / n))


@lru_cache(maxsize=4096)
def _trimmed_weights(n: int, p: float) -> Weights:
    if p in (0.0, 1.0) or n == 1:
        return _weights(n, p)
    a, b, width = (n + 1) * p, (n + 1) * (1 - p), n**-0.5
    left = _densest(a, b, width)
    first, last = int(np.floor(n * left)), int(np.ceil(n * (left + width)))
    edges = np.clip(np.arange(first, min(last, n) + 1) / n, left, left + width)
    cumulated = betainc(a, b, edges)
    return first, np.diff(cumulated) / (cumulated[-1] - cumulated[0])


def _densest(a: float, b: float, width: float) -> float:
    """Left end of the interval of a width that holds most of a beta distribution."""
    if a <= 1:
        return 0.0
    if b <= 1:
        return 1 - width
    mode = (a - 1) / (a + b - 2)
    low, high = max(0.0, mode - width), min(mode, 1 - width)
    while low < (middle := (low + high) / 2) < high:  # until no number lies between
        rest = max(0.0, 1 - width / (1 - middle))  # rounding must not take it below
        rise = (a - 1) * np.log1p(width / middle) + (b - 1) * (np.log(rest) if rest else -np.inf)
        low, high = (middle, high) if rise > 0 else (low, middle)
    return low


# ---- checks -------------------------------------------------------------------------------------
def _samples(x: ArrayLike) -> Floats:
    samples = np.asarray(x, np.float64)
    if not samples.ndim or not samples.shape[-1]:
        raise ValueError("a quantile needs at least one sample")
    if not np.isfinite(samples).all():
        raise ValueError("a sample is not finite: leave out what was not measured")
    return samples


def _positive(x: ArrayLike) -> Floats:
    samples = _samples(x)
    if not (samples > 0).all():
        raise ValueError("a ratio needs positive samples; one of them is 0 or below")
    return samples
