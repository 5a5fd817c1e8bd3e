"""Quantiles of items with weights against NumPy's, to the bit."""

import warnings

import numpy as np
import pytest
from inputs import on
from test_medians import ROWS, equal

import cubc

BY_WEIGHTS = {"method": "inverted_cdf"}
SHARES = [0.5, np.float32(0.4), [0, 0.25, 0.3, 1], np.array([[0.1, 0.2], [0.5, 1.0]]), 1]


def compare(device, name, x, q, weights, **how):
    """Call NumPy and cubc with whole weights, whose sums have no rounding."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        expected = getattr(np, name)(x, q, weights=weights, **BY_WEIGHTS, **how)
        given = {"weights": on(device, weights), **BY_WEIGHTS, **how}
        equal(getattr(cubc, name)(on(device, x), q, **given), expected, (name, q, how))


@pytest.mark.parametrize("n", [1, 2, 13, 3001])
@pytest.mark.parametrize("kind", ["f8", "f4", "f2", "i4", "u1", "?"])
def test_one_row(device, n, kind):
    rng = np.random.default_rng(n)
    x = rng.integers(0, 90, n).astype(kind)
    for of in ("i4", "f4", "?"):
        weights = rng.integers(0, 4, n).astype(of)
        weights[n // 2] = 1
        for q in SHARES:
            compare(device, "quantile", x, q, weights)


@pytest.mark.parametrize("axis", [0, 1, -1, (0, 1), (2, 0), (0, 1, 2), (2, 1, 0)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_rows_along_axes(device, axis, keepdims):
    rng = np.random.default_rng(5)
    axes = axis if isinstance(axis, tuple) else (axis,)
    how = {"axis": axis, "keepdims": keepdims}
    for shape in (ROWS.shape, tuple(ROWS.shape[k] for k in axes)):
        weights = rng.integers(0, 5, shape) + (rng.random(shape) < 0.5)
        weights[(0,) * len(shape)] += 1
        weights = np.maximum(weights, 1) if weights.size < 20 else weights + 0.25
        for q in (0.3, [0.2, 0.9]):
            compare(device, "quantile", ROWS, q, weights, **how)
            compare(device, "percentile", ROWS, np.multiply(q, 100), weights, **how)


@pytest.mark.parametrize("keepdims", [False, True])
def test_no_shares(device, keepdims):
    for axis, shape in ((1, (2, 4)), (1, (4,)), (None, (2, 4))):
        how = {"axis": axis, "keepdims": keepdims}
        compare(device, "percentile", np.ones((2, 4)), [], np.ones(shape), **how)
    with pytest.raises(ValueError, match="Weights included NaN, inf or were all zero"):
        cubc.percentile(on(device, np.ones(4)), [], weights=on(device, np.zeros(4)), **BY_WEIGHTS)


def test_nan_is_left_out_with_its_weight(device):
    x = ROWS.copy()
    x[1, 2, 3] = x[0, 0, :4] = x[2] = np.nan
    weights = np.random.default_rng(6).integers(1, 5, x.shape)
    for axis in (None, 0, 2):
        for name in ("quantile", "nanquantile"):
            compare(device, name, x, [0.2, 0.9], weights, axis=axis)
    weights = weights.astype("f8")
    weights[1, 2, 3] = np.nan  # the weight of an item that is left out
    compare(device, "nanquantile", x, 0.5, weights)
    compare(device, "nanpercentile", x, 50, weights, axis=1)
    with pytest.warns(RuntimeWarning, match="All-NaN"):
        how = {"weights": on(device, np.ones(x.shape)), **BY_WEIGHTS}
        cubc.nanquantile(on(device, x), 0.5, (1, 2), **how)


def test_items_without_weight_are_no_quantiles(device):
    x, weights = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 1, 1, 0])
    made = cubc.quantile(on(device, x), [0, 1], weights=on(device, weights), **BY_WEIGHTS)
    equal(made, np.array([2.0, 3.0]))


def test_outputs_and_host_memory(device):
    weights = np.arange(1, 6)
    out = on(device, np.zeros((4, 6), "f4"))
    how = {"weights": on(device, weights), **BY_WEIGHTS}
    assert cubc.quantile(on(device, ROWS), 0.3, 1, out, **how) is out
    expected = np.quantile(ROWS, 0.3, 1, weights=weights, **BY_WEIGHTS)
    equal(out, expected.astype("f4"))
    how["weights"] = weights
    made = cubc.quantile(ROWS, 0.3, 1, device=device, **how)
    assert isinstance(made, np.ndarray)
    equal(made, expected)
    equal(cubc.quantile(on(device, ROWS), 0.3, 1, **how), expected)  # of another memory
    none = cubc.quantile(on(device, np.zeros((0, 5))), 0.3, 1, **how)
    equal(none, np.zeros(0))


@pytest.mark.parametrize(
    ("weights", "how", "error", "message"),
    [
        ([1.0, -1.0, 1.0], {}, ValueError, "negative"),
        ([0.0, 0.0, 0.0], {}, ValueError, "all zero"),
        ([1.0, np.inf, 1.0], {}, ValueError, "inf"),
        ([1.0, np.nan, 1.0], {}, ValueError, "NaN"),
        ([1.0, 1.0], {}, TypeError, "axis="),
        ([1.0, 1.0], {"axis": 0}, ValueError, "shape"),
        ([1.0, 1j, 1.0], {}, TypeError, "complex"),
        ([1.0, 1.0, 1.0], {"method": "linear"}, ValueError, "inverted_cdf"),
    ],
)
def test_weights_that_are_refused(device, weights, how, error, message):
    given = {**BY_WEIGHTS, **how, "weights": on(device, np.array(weights))}
    with pytest.raises(error, match=message):
        cubc.quantile(on(device, np.arange(3.0)), 0.5, **given)
