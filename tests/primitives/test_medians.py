"""Medians, quantiles and percentiles against NumPy's, to the bit."""

import warnings

import inputs
import ml_dtypes
import numpy as np
import pytest
from inputs import TYPES, on, same

import cubc

BETWEEN = [
    "linear",
    "midpoint",
    "averaged_inverted_cdf",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "median_unbiased",
    "normal_unbiased",
]
METHODS = [*BETWEEN, "lower", "higher", "nearest", "inverted_cdf", "closest_observation"]
SHARES = [0, 1, 0.0, 0.5, 0.1, np.float32(0.3), [0.1, 0.2, 0.9], np.array([[0.1], [0.7]])]
SHARES += [np.array([0.3, 0.6], "f4"), [0, 1]]
ROWS = np.random.default_rng(3).normal(size=(4, 5, 6))
HOLES = ROWS.copy()
HOLES[1, 2, 3] = HOLES[0, 0, :4] = HOLES[2] = np.nan


def equal(made, expected, what=None):
    made = made if isinstance(made, np.ndarray | np.generic) else made.numpy()
    assert made.dtype == expected.dtype and made.shape == np.shape(expected), what
    np.testing.assert_array_equal(made, expected, str(what))


def both(name, x, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return getattr(np, name)(x, *arguments, **options)


@pytest.mark.parametrize("type", ["F64", "F32", "I32", "U64"])
@pytest.mark.parametrize("n", [1, 2, 7, 10, 1001])
def test_methods_of_quantiles(device, type, n):
    x = inputs.random(type, n)
    x = x % 1000 if x.dtype.kind in "iu" else x
    given = on(device, x)
    equal(cubc.median(given), np.median(x))
    for method in METHODS:
        for q in SHARES:
            equal(
                cubc.quantile(given, q, method=method),
                np.quantile(x, q, method=method),
                (method, q),
            )


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1), (2, 0), (0, 1, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_axes_of_quantiles(device, axis, keepdims):
    x, how = on(device, HOLES), {"axis": axis, "keepdims": keepdims}
    equal(cubc.median(x, **how), both("median", HOLES, **how))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        equal(cubc.nanmedian(x, **how), both("nanmedian", HOLES, **how))
        for method in ("linear", "weibull", "closest_observation"):
            for q in (0.3, [0.2, 0.9]):
                how["method"] = method
                equal(cubc.quantile(x, q, **how), both("quantile", HOLES, q, **how))
                equal(cubc.nanquantile(x, q, **how), both("nanquantile", HOLES, q, **how))
                percent = np.multiply(q, 100)
                equal(cubc.percentile(x, percent, **how), both("percentile", HOLES, percent, **how))
                expected = both("nanpercentile", HOLES, percent, **how)
                equal(cubc.nanpercentile(x, percent, **how), expected)


@pytest.mark.parametrize("type", [*TYPES, "?"])
def test_quantiles_of_every_type(device, type):
    x = inputs.random(type, 101) if type != "?" else np.arange(101) % 3 > 0
    short = x.dtype == ml_dtypes.bfloat16 or x.dtype == np.float16
    wide = x.astype("f4") if short else x
    for name, arguments in (("median", ()), ("quantile", (0.25,)), ("nanquantile", (0.25,))):
        if type == "?" and arguments:
            with pytest.raises(TypeError, match="nothing between bools"):
                cubc.quantile(on(device, x), *arguments)
            continue
        expected = getattr(np, name)(wide, *arguments)
        if x.dtype.itemsize == 1 and arguments:
            expected = getattr(np, name)(x.astype("i8"), *arguments)
        made = getattr(cubc, name)(on(device, x), *arguments)
        equal(made, expected.astype(x.dtype) if short else expected, name)
    made = cubc.quantile(on(device, x), [0.1, 0.9], method="nearest")
    equal(made, np.quantile(wide, [0.1, 0.9], method="nearest").astype(x.dtype))


def test_infinities_and_far_integers(device):
    """NumPy's differences of these are NaN or wrap."""
    assert float(cubc.quantile(on(device, np.array([np.inf, np.inf, 1.0])), 0.9)) == np.inf
    assert np.isnan(float(cubc.median(on(device, np.array([np.inf, -np.inf])))))
    x = np.array([-128, 127], "i1")
    assert float(cubc.quantile(on(device, x), 0.5)) == -0.5
    x = np.array([-(2**63), 2**63 - 1])
    assert float(cubc.quantile(on(device, x), 0.25)) == -(2.0**62)


@pytest.mark.parametrize("kind", ["f8", "f4", "i4"])
def test_outputs_of_quantiles(device, kind):
    expected = np.zeros((2, 5), kind)
    np.copyto(expected, np.quantile(ROWS, [0.2, 0.9], (0, 2)), casting="unsafe")
    out = on(device, np.zeros((2, 5), kind))
    assert cubc.quantile(on(device, ROWS), [0.2, 0.9], (0, 2), out) is out
    same(out, expected)
    one = on(device, np.zeros(1, kind))  # as other results without dimensions
    same(
        cubc.median(on(device, ROWS * 100), out=one), np.median(ROWS * 100).astype(kind).reshape(1)
    )
    strided = np.zeros(8)[::2]
    assert cubc.median(ROWS, (1, 2), strided, device=device) is strided
    same(strided, np.median(ROWS, (1, 2)))


@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_numbers_are_not_bound(name):
    """A number is of the items of then."""
    x = np.array([3.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="bound"):
        cubc.bind(getattr(cubc, name), x, device="cpu")
    out = np.zeros(())
    call = cubc.bind(cubc.median, x, out=out, device="cpu")
    x *= 10
    call()
    assert out == 20


def test_quantiles_of_no_items(device):
    nothing = on(device, np.zeros((3, 0)))
    for name in ("median", "nanmedian"):
        with pytest.warns(RuntimeWarning, match="Mean of empty slice"):
            equal(getattr(cubc, name)(nothing, 1), np.full(3, np.nan))
    equal(cubc.median(nothing, 0), np.zeros(0))
    equal(cubc.quantile(nothing, [0.5, 0.7], 0), np.zeros((2, 0)))
    with pytest.raises(IndexError, match="no items"):
        cubc.quantile(nothing, 0.5)


def test_lazy_inputs_strides_and_shares_on_a_device(device):
    x = on(device, ROWS)
    equal(cubc.median(cubc.lazy("x * 2", x=x, dtype="f8"), 1), np.median(ROWS * 2, 1))
    equal(cubc.median(x[::2, :, 1], 1), np.median(ROWS[::2, :, 1], 1))
    equal(cubc.quantile(x, on(device, np.array([0.25, 0.5]))), np.quantile(ROWS, [0.25, 0.5]))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: cubc.median(np.array([1j])), TypeError, "complex"),
        (lambda: cubc.median(ROWS, 3), np.exceptions.AxisError, "axis 3"),
        (lambda: cubc.median(ROWS, (0, 0)), ValueError, "repeated axis"),
        (lambda: cubc.quantile(ROWS, 1.5), ValueError, r"range \[0, 1\]"),
        (lambda: cubc.percentile(ROWS, [-1, 2]), ValueError, r"range \[0, 100\]"),
        (lambda: cubc.quantile(ROWS, np.nan), ValueError, "range"),
        (lambda: cubc.quantile(ROWS, "a"), TypeError, "q is a number"),
        (lambda: cubc.quantile(ROWS, np.zeros((1, 1, 1))), ValueError, "scalar or 1d"),
        (lambda: cubc.quantile(ROWS, 0.5, method="linaer"), ValueError, "one of: .*linear"),
        (lambda: cubc.quantile(ROWS, 0.5, out=np.zeros(3)), ValueError, "shape"),
        (lambda: cubc.quantile(ROWS, 0.5, out=3), TypeError, "out is 3"),
        (
            lambda: cubc.bind(cubc.nanmedian, ROWS, 1, out=np.zeros((4, 6))),
            ValueError,
            "bound call",
        ),
        (lambda: cubc.bind(cubc.median, ROWS, (0, 1), out=np.zeros(6)), ValueError, "bound call"),
    ],
)
def test_wrong_arguments_of_quantiles(call, error, words):
    with cubc.device("cpu"), pytest.raises(error, match=words):
        call()
