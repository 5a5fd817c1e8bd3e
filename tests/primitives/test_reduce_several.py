"""Several reductions of one array in one pass, against NumPy's of each."""

import inputs
import numpy as np
import pytest
from inputs import on, same

import cubc

X = inputs.random("F32", 30 * 41).reshape(30, 41)
OPS = ["sum", "min", "argmax", lambda a, b: a if abs(a) > abs(b) else b]


def numpy_makes(x, axis):
    far = x.max(axis) if abs(x).max() == x.max() else x.min(axis)
    return x.sum(axis), x.min(axis), x.argmax(axis), far


def test_of_all_items(device):
    x = X.copy()
    x[3, 4], x[7, 8] = 9, 9  # the first of equal ones wins
    made = cubc.reduce(on(device, x), OPS)
    assert isinstance(made, tuple)
    for one, expected in zip(made, numpy_makes(x, None), strict=True):
        same(one, expected)


def test_nan_wins(device):
    x = X.copy()
    x[5, 6], x[2, 3] = np.nan, np.nan
    total, least, at, _ = cubc.reduce(on(device, x), OPS)
    assert np.isnan([inputs.value(total), inputs.value(least)]).all()
    assert inputs.value(at) == x.argmax()


@pytest.mark.parametrize("axis", [0, -1])
def test_along_an_axis(device, axis):
    """The cpu reduces an array by a call each, and a lazy input in one pass."""
    d = on(device, X)
    for x in (d, cubc.lazy("x", x=d)):
        made = cubc.reduce(x, OPS[:3], axis=axis, keepdims=True)
        for one, expected in zip(made, numpy_makes(X, axis), strict=False):
            same(one, np.expand_dims(expected, axis))


@pytest.mark.parametrize("axis", [None, 0])
def test_more_than_a_struct_holds(device, axis):
    """Their struct would have 80 bytes, so that they take two passes."""
    x = inputs.random("F64", 30 * 41).reshape(30, 41)
    names = ["sum", "prod", "min", "argmin", "max", "argmax", "any", "all"]
    made = cubc.reduce(cubc.lazy("x", x=on(device, x)), [*names, "a + b"], axis=axis)
    for one, name in zip(made, [*names, "sum"], strict=True):
        same(one, getattr(x, name)(axis))


def test_types_of_results(device):
    x = inputs.random("I8", 999)
    made = cubc.reduce(on(device, x), ["sum", "any", "max"])
    for one, expected in zip(made, (x.sum(), x.any(), x.max()), strict=True):
        same(one, expected)
    assert [float(one) for one in cubc.reduce(X[:0], ["sum", "prod"])] == [0, 1]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"op": ["sum", "min"], "init": 1}, TypeError, r"reduce\(\): several operators have no"),
        ({"op": ["sum", 3]}, TypeError, "an operator of several is 3"),
        ({"op": ["sum", "smu"]}, LookupError, "no operator 'smu'"),
    ],
)
def test_wrong_arguments(options, error, words):
    with pytest.raises(error, match=words):
        cubc.reduce(X, **options)
