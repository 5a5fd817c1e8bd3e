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


@pytest.mark.parametrize("axis", [None, 1])
def test_an_expression_keeps_the_order(device, axis):
    x = inputs.affine(1 << 17).reshape(8, -1)
    rows = [x.reshape(-1)] if axis is None else x
    made = cubc.reduce(cubc.lazy("x", x=on(device, x)), [inputs.AFFINE, "max"], axis=axis)
    whole = np.array([inputs.compose(row)[-1] for row in rows])
    same(made[0], whole[0] if axis is None else whole)
    same(made[1], x.max(axis))


def test_types_of_results(device):
    x = inputs.random("I8", 999)
    made = cubc.reduce(on(device, x), ["sum", "any", "max"])
    for one, expected in zip(made, (x.sum(), x.any(), x.max()), strict=True):
        same(one, expected)
    assert [float(one) for one in cubc.reduce(X[:0], ["sum", "prod"])] == [0, 1]


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_outputs_initial_values_and_types(device, axis):
    """Each is given by a list, or a type for all but indices; arrays are reduced as lazy ones."""
    d, init = on(device, X), [2.5, -9, None, 100]
    total, least, at, far = numpy_makes(X, axis)
    expected = 2.5 + total, np.minimum(least, -9), at, np.full_like(far, 100)
    for x in (d, cubc.lazy("x", x=d), X):
        made = cubc.reduce(x, OPS, axis=axis, init=init)
        for one, wanted in zip(made, expected, strict=True):
            same(one, wanted)
        made = cubc.reduce(x, OPS, axis=axis, init=init, dtype="f8")
        kinds = ["float64", "float64", "int64", "float64"]
        assert [str(one.dtype) for one in made] == kinds
        kinds = ["float64", "float16", "int64", "int32"]
        outs = [np.zeros(at.shape, kind) for kind in kinds]
        outs = outs if x is X else [on(device, one) for one in outs]
        made = cubc.reduce(x, OPS, axis=axis, out=outs, init=init)
        assert all(one is out for one, out in zip(made, outs, strict=True))
        for one, wanted, kind in zip(made, expected, kinds, strict=True):
            np.testing.assert_allclose(inputs.value(one), wanted.astype(kind), rtol=1e-3)
        made = cubc.reduce(x, OPS[:2], axis=axis, out=(None, outs[1]), dtype=["f8", None])
        assert made[0].dtype == "f8" and made[1] is outs[1]


def test_an_initial_value_of_the_device(device):
    x = cubc.lazy("x", x=on(device, X))
    first = on(device, np.array([2.0], "f4"))
    total, most = cubc.reduce(x, ["sum", "max"], init=[first, None])
    same(total, X.sum() + np.float32(2))
    same(most, X.max())


def test_bound_to_outputs(device):
    x = X.copy()
    d = on(device, x)
    for of in (d, cubc.lazy("x", x=d)):
        outs = [on(device, np.zeros((), "f4")), on(device, np.zeros((), "i8"))]
        again = cubc.bind(cubc.reduce, of, ["sum", "argmax"], out=outs)
        cubc.transform("x * 2", x=d, out=d)
        x *= 2
        again()
        same(outs[0], x.sum())
        same(outs[1], x.argmax())


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"op": ["sum", "min"], "init": 1}, TypeError, r"reduce\(\): init must be a list of 2"),
        ({"op": ["sum", "min"], "out": np.zeros(2)}, TypeError, "out must be a list of 2, one for"),
        ({"op": ["sum", "min"], "dtype": ["f4"]}, TypeError, "dtype must be a list of 2, one for"),
        ({"op": ["sum", "argmin"], "init": [1, 1]}, ValueError, "argmin takes no initial value"),
        ({"op": ["argmax", "sum"], "dtype": ["f4"] * 2}, TypeError, "argmax gives an index"),
        ({"op": ["sum", 3]}, TypeError, "an operator of several is 3"),
        ({"op": ["sum", "smu"]}, LookupError, "no operator 'smu'"),
    ],
)
def test_wrong_arguments(options, error, words):
    with pytest.raises(error, match=words):
        cubc.reduce(X, **options)


def test_outputs_overlap_nothing(device):
    x, out = on(device, np.array([[3, 1], [2, 5]])), on(device, np.zeros((), "i8"))
    for outs in ([x, None], [out, out]):
        with pytest.raises(ValueError, match="overlaps the array or another output"):
            cubc.reduce(x, ["sum", "max"], out=outs)
    items = np.array([3, 1, 2, 5])
    for of in (items, cubc.lazy("items", items=items)):
        with pytest.raises(ValueError, match="overlaps the array or another output"):
            cubc.reduce(of, ["sum", "max"], out=[items[:1], None], device="cpu")
    both = np.zeros((2, 2), "i8")  # columns lie between one another, apart
    cubc.reduce(items.reshape(2, 2), ["sum", "max"], axis=0, out=[*both.T], device="cpu")
    same(both, np.array([[5, 3], [6, 5]]))
