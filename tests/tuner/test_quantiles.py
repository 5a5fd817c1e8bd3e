"""Quantiles, ratios, densities and resampling: against SciPy, and by what they must satisfy."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import beta
from scipy.stats.mstats import hdquantiles

from cubc.tuner import _quantiles as q
from cubc.tuner._bootstrap import block_length, interval, resample
from cubc.tuner._progress_curve import best_of_random

SIZES = [2, 3, 5, 9, 10, 33, 100, 999, 1000, 10_000]
P = np.array([0, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1])

times = st.lists(st.floats(1e-9, 1e3), min_size=1, max_size=60)
probabilities = st.lists(st.floats(0, 1), min_size=1, max_size=5)


def drawn(n, seed=0):
    """Samples of several kinds: skewed, nearly alike as times in seconds are, heavy-tailed."""
    rng = np.random.default_rng(seed)
    yield rng.lognormal(size=n)
    yield (1e-5 * (1 + 0.01 * rng.gamma(2, size=n))).astype(np.float32)
    yield 1 + rng.pareto(1, size=n)


# ---- quantiles ----------------------------------------------------------------------------------
@pytest.mark.parametrize("n", SIZES)
def test_quantiles_are_those_of_scipy(n):
    for x in drawn(n):
        expected = np.asarray(hdquantiles(x, P))
        np.testing.assert_allclose(q.quantiles(x, P), expected, rtol=1e-12)


def test_only_weights_that_count_are_kept():
    first, weights = q._weights(10_000, 0.5)
    assert weights.size < 1000
    assert 4000 < first < 5000
    assert weights.sum() == pytest.approx(1, rel=1e-14)
    assert q._weights(10_000, 0.5)[1] is weights


@given(times, probabilities)
def test_quantiles_lie_between_samples_and_rise_with_p(x, p):
    found = q.quantiles(x, sorted(p))
    slack = 1e-12 * max(x)
    assert (np.diff(found) >= -slack).all()
    assert min(x) - slack <= found.min() <= found.max() <= max(x) + slack


@given(times, st.floats(1e-6, 1e6), st.floats(-10, 10), probabilities)
def test_quantiles_scale_and_shift_with_the_samples(x, factor, shift, p):
    for estimate in (q.quantiles, q.trimmed_quantiles):
        moved = estimate(np.array(x) * factor + shift, p)
        expected = estimate(x, p) * factor + shift
        np.testing.assert_allclose(moved, expected, atol=1e-12 * (max(x) * factor + abs(shift)))


def test_shapes():
    x = np.arange(24.0).reshape(2, 3, 4)
    assert q.quantiles(x, 0.5).shape == (2, 3)
    assert q.quantiles(x, [0.5]).shape == (2, 3, 1)
    assert q.quantiles(x).shape == (2, 3, 100)
    assert q.quantiles([7.0], [0, 0.3, 1]).tolist() == [7, 7, 7]
    np.testing.assert_array_equal(
        q.quantiles(x, [0.2, 0.7])[1, 2], q.quantiles(x[1, 2], [0.2, 0.7])
    )


@pytest.mark.parametrize("n", [1, 2, 3, 7, 20, 100, 1000])
@pytest.mark.parametrize("p", [0, 0.001, 0.05, 0.3, 0.5, 0.77, 0.999, 1])
def test_trimmed_quantiles_by_the_definition(n, p):
    x = np.sort(next(drawn(n)))
    if n == 1 or p in (0, 1):
        assert q.trimmed_quantiles(x, p) == q.quantiles(x, p)
        return
    law, width = beta((n + 1) * p, (n + 1) * (1 - p)), n**-0.5
    if law.args[0] <= 1:
        left = 0.0
    elif law.args[1] <= 1:
        left = 1 - width
    else:
        mode = (law.args[0] - 1) / (n - 1)
        ends = max(0, mode - width), min(mode, 1 - width)
        left = brentq(lambda at: law.pdf(at) - law.pdf(at + width), *ends, xtol=1e-15)
    grid = np.clip(np.arange(n + 1) / n, left, left + width)
    weights = np.diff(law.cdf(grid)) / (law.cdf(left + width) - law.cdf(left))
    assert q.trimmed_quantiles(x, p) == pytest.approx(weights @ x, rel=1e-9)


def test_trimmed_quantiles_ignore_outliers():
    x = np.linspace(1, 2, 50)
    worse = np.append(x[:-1], 1e9)
    assert q.trimmed_quantiles(worse, 0.5) == q.trimmed_quantiles(x, 0.5)
    assert q.quantiles(worse, 0.9) > 2 * q.quantiles(x, 0.9)


@pytest.mark.parametrize("estimate", [q.quantiles, q.trimmed_quantiles])
def test_what_cannot_be_is_refused(estimate):
    with pytest.raises(ValueError, match="at least one sample"):
        estimate([], 0.5)
    with pytest.raises(ValueError, match="not finite"):
        estimate([1, np.nan], 0.5)
    with pytest.raises(ValueError, match="between 0 and 1"):
        estimate([1, 2], [0.5, 1.5])
    with pytest.raises(ValueError, match="between 0 and 1"):
        estimate([1, 2], np.nan)


# ---- ratios -------------------------------------------------------------------------------------
@given(times, st.floats(1e-3, 1e3))
def test_ratio_to_a_multiple_is_the_factor(x, c):
    np.testing.assert_allclose(q.ratio(x, np.array(x) * c), c, rtol=1e-12)


@given(times, times)
def test_ratio_of_the_other_direction_is_the_inverse(x, y):
    np.testing.assert_allclose(q.ratio(x, y), 1 / q.ratio(y, x), rtol=1e-12)


def test_ratio_is_a_quotient_of_quantiles_even_where_distributions_cross():
    """Sums of widths of bins, which CUB's script divides, stay below 1 here."""
    rng = np.random.default_rng(0)
    base, variant = rng.normal(10, 0.1, 2000), rng.normal(10, 1, 2000)
    speedup = q.ratio(variant, base)
    expected = np.asarray(hdquantiles(base, q.PERCENTILES)) / hdquantiles(variant, q.PERCENTILES)
    np.testing.assert_allclose(speedup, expected, rtol=1e-12)
    assert speedup[0] > 1.1
    assert speedup[-1] < 0.9
    assert speedup[50] == pytest.approx(1, abs=0.01)


def test_ratio_of_times_that_are_not_positive():
    with pytest.raises(ValueError, match="positive"):
        q.ratio([1, 0], [1, 2])


def test_margin():
    assert q.margin(9) == 0.5
    assert q.margin(100) == pytest.approx(0.0667, abs=1e-4)
    assert q.known(q.PERCENTILES, 100).sum() == 86
    assert not q.known(q.PERCENTILES, 5).any()


def test_band_is_repeatable_and_holds_the_ratio():
    x, y = (next(drawn(80, seed)) for seed in (1, 2))
    band = q.ratio_band(x, y, draws=300)
    inner = q.known(q.PERCENTILES, 80)
    assert (band.low <= band.value)[inner].all()
    assert (band.value <= band.high)[inner].all()
    for one, two in zip(band, q.ratio_band(x, y, draws=300), strict=True):
        np.testing.assert_array_equal(one, two)
    assert (q.ratio_band(x, y, draws=300, seed=1).low != band.low).any()
    with pytest.raises(ValueError, match="confidence"):
        q.ratio_band(x, y, confidence=95)


# ---- resampling ---------------------------------------------------------------------------------
@given(st.integers(1, 300))
def test_blocks_hold_pairs_and_neighbours(n):
    x, y = resample(np.arange(n), np.arange(n) + 0.5, draws=3)
    assert x.shape == (3, n)
    np.testing.assert_array_equal(x + 0.5, y)
    length = block_length(n)
    assert length % 2 == 0
    within = np.arange(1, n)[np.arange(1, n) % length > 0]
    np.testing.assert_array_equal(x[:, within], (x[:, within - 1] + 1) % n)


def test_series_of_different_lengths_are_drawn_apart():
    x, y = resample(np.arange(10), np.arange(7), draws=50)
    assert (x.shape, y.shape) == ((50, 10), (50, 7))


def test_common_drift_cancels_in_pairs():
    drift = np.exp(np.cumsum(np.random.default_rng(0).normal(0, 0.05, 100)))
    variant, base = drift, 2 * drift
    together = q.ratio_band(variant, base, 0.5)
    apart = q.ratio_band(variant, base[:-1], 0.5)
    assert together.high - together.low < 1e-9
    assert apart.high - apart.low > 0.1


@pytest.mark.parametrize("n", [10, 40])
def test_intervals_hold_the_truth_as_often_as_they_say(n):
    """Speedup 1.1, noise of 2 %, and as much drift that both share."""
    rng, hits, rounds = np.random.default_rng(0), 0, 300
    for _ in range(rounds):
        drift = np.exp(np.cumsum(rng.normal(0, 0.01, n)))
        x, y = (c * drift * np.exp(rng.normal(0, 0.02, n)) for c in (1, 1.1))
        xs, ys = resample(x, y, draws=300, seed=rng)
        low, high = interval(np.median(ys, axis=1) / np.median(xs, axis=1))
        hits += low <= 1.1 <= high
    assert 0.88 < hits / rounds <= 1


# ---- densities ----------------------------------------------------------------------------------
@given(st.lists(st.floats(1e-9, 1e3), min_size=2, max_size=60), st.integers(1, 120))
def test_area_of_a_density_is_one(x, bins):
    found = q.density(x, bins)
    assert found.edges.size == found.heights.size + 1 <= bins + 1
    assert (np.diff(found.edges) > 0).all()
    assert np.diff(found.edges) @ found.heights == pytest.approx(1, rel=1e-6)


def test_bins_without_width_are_joined_with_their_neighbour():
    x = np.concatenate([1 + 1e-13 * np.arange(30), np.linspace(2, 3, 30)])
    found = q.density(x, 50)
    assert found.heights.size < 50
    assert np.diff(found.edges) @ found.heights == pytest.approx(1)


def test_density_has_the_same_area_between_neighbouring_quantiles():
    x = next(drawn(200))
    found = q.density(x, 20)
    np.testing.assert_allclose(found.edges, q.quantiles(x, np.arange(21) / 20), rtol=1e-12)
    np.testing.assert_allclose(np.diff(found.edges) * found.heights, 1 / 20, rtol=1e-9)


def test_ties_of_a_coarse_clock_are_no_modes():
    rng = np.random.default_rng(0)
    exact = rng.normal(20, 1, 500)
    tick = 0.5
    ticks = np.round(exact / tick) * tick
    coarse = q.density(ticks, 50)
    fine = q.density(exact, 50)
    assert q.quantiles(coarse.edges, 0.5) == pytest.approx(q.quantiles(fine.edges, 0.5), rel=0.02)
    edges = q.quantiles(ticks, np.arange(51) / 50)
    raw = 0.02 / np.diff(edges)
    assert raw.max() > 2 * coarse.heights.max()
    assert coarse.heights.max() < 1.5 * fine.heights.max()


def test_ties_are_spread_over_the_step_and_nothing_else_moves():
    x = np.array([3.0, 1.0, 2.0, 2.0, 5.0])
    assert q.spread_ties(x).tolist() == [1, 1.75, 2.25, 3, 5]
    assert q.spread_ties(x, 0.4).tolist() == [1, 1.9, 2.1, 3, 5]


@pytest.mark.parametrize("x", [[1e-5], [1e-5] * 7])
def test_density_of_samples_that_are_all_alike(x):
    found = q.density(x)
    assert np.diff(found.edges) @ found.heights == pytest.approx(1)
    np.testing.assert_allclose(found.edges, 1e-5, rtol=1e-6)


def test_a_density_has_bins():
    with pytest.raises(ValueError, match="at least 1 bin"):
        q.density([1, 2], 0)


# ---- best of random -----------------------------------------------------------------------------
def test_best_of_random_of_many_takes_no_time():
    """Only scores that the best may still be are looked at."""
    scores = np.arange(100_000.0)
    begin = time.process_time()
    found = best_of_random(scores, np.ones(100_000), 100_000)
    assert time.process_time() - begin < 30
    assert found.mean[0] == pytest.approx(scores.mean())
    assert found.mean[-1] == pytest.approx(99_999 - 1 / (np.e - 1), abs=1e-3)


def test_best_of_random_by_enumeration():
    scores, weights = np.array([1.0, 1.3, 0.7, 2.0]), np.array([2, 1, 4, 1])
    found = best_of_random(scores, weights, 4)
    for k in range(1, 5):
        best = [max(one) for one in itertools.product(np.repeat(scores, weights), repeat=k)]
        assert found.mean[k - 1] == pytest.approx(np.mean(best))
        ranked = np.sort(best)
        assert found.low[k - 1] == ranked[int(np.ceil(0.05 * len(ranked) - 1e-9)) - 1]
        assert found.high[k - 1] == ranked[int(np.ceil(0.95 * len(ranked) - 1e-9)) - 1]


@given(st.lists(st.tuples(st.floats(0.01, 100), st.integers(1, 9)), min_size=1, max_size=300))
def test_best_of_random_rises_from_the_mean_to_the_best(drawn):
    scores, weights = np.transpose(drawn)
    found = best_of_random(scores, weights, 40)
    assert found.mean[0] == pytest.approx(np.average(scores, weights=weights))
    assert found.mean[-1] <= max(scores) * (1 + 1e-9)
    assert (np.diff(found.mean) >= -1e-9 * max(scores)).all()
    assert (found.low <= found.high).all()
