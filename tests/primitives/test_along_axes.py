"""Sorts and scans along an axis against NumPy's."""

import inputs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from inputs import in_turn, on, same
from numpy.exceptions import AxisError

import cubc
from cubc import _core

SHAPES = [(7, 3), (1000, 2), (2, 9001), (40, 50, 3), (3, 1, 4), (32, 64, 32), (2, 3, 5, 7)]


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(device, shape):
    x = inputs.random("I32", int(np.prod(shape)), seed=1).reshape(shape)
    given = on(device, x)
    for axis in (*range(-x.ndim, x.ndim), None):
        same(cubc.sort(given, axis=axis), np.sort(x, axis=axis))
        same(cubc.argsort(given, axis=axis), np.argsort(x, axis=axis, kind="stable"))
        same(cubc.cumsum(given, axis=axis), np.cumsum(x, axis=axis))
        same(cubc.cumprod(given, axis=axis), np.cumprod(x, axis=axis))
    same(cubc.sort(given), np.sort(x))
    same(cubc.argsort(given), np.argsort(x, kind="stable"))
    same(cubc.scan(given), np.cumsum(x, dtype=x.dtype))


@pytest.mark.parametrize(("type", "what"), in_turn(inputs.SOME, ["sort", "cumsum"], 2))
def test_every_type(device, type, what):
    x = inputs.random(type, 6000).clip(-1, 1).reshape(20, 30, 10)
    keys = inputs.exact(x)
    for axis in (1, 2):
        made = getattr(cubc, what)(on(device, x), axis=axis)
        expected = getattr(np, what)(keys, axis=axis)
        same(made, expected if x.dtype.kind in "iu" else expected.astype(x.dtype))


def test_descending_and_equal_keys(device):
    x = inputs.random("I8", 5000).reshape(50, 100) % 3
    given = on(device, x)
    for axis in (0, 1):
        same(cubc.sort(given, axis=axis, descending=True), -np.sort(-x, axis=axis))
        order = np.argsort(-x, axis=axis, kind="stable")
        same(cubc.argsort(given, axis=axis, descending=True), order)


def test_scans(device):
    x = inputs.random("I64", 6000).reshape(20, 30, 10)
    given = on(device, x)
    for axis in range(3):
        result = cubc.scan(given, "max", axis=axis)
        same(result, np.maximum.accumulate(x, axis=axis))
        result = cubc.scan(given, axis=axis, inclusive=False, init=5)
        same(result, 5 + x.cumsum(axis=axis) - x)
        result = cubc.cumsum(on(device, x % 100), axis=axis, dtype="float64")
        same(result, np.cumsum(x % 100, axis=axis, dtype="float64"))


def test_special_values(device):
    x = np.array([[np.nan, 1], [-0.0, np.inf], [0.0, -np.inf], [1e-45, np.nan]], np.float32)
    result = np.asarray(cubc.sort(on(device, x), axis=0))
    np.testing.assert_array_equal(result, np.sort(x, axis=0))
    assert np.signbit(result[:2, 0]).tolist() == [True, False]  # -0.0 before 0.0


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_out(device, axis):
    x = inputs.random("I32", 600).reshape(20, 30)
    given = cubc.asarray(x.copy(), device=device)
    out = cubc.empty(x.shape, "int32", device=device)
    assert cubc.sort(given, axis=axis, out=out) is out
    same(out, np.sort(x, axis=axis))
    sums = cubc.empty(x.shape, "float64", device=device)
    assert cubc.cumsum(given, axis=axis, out=sums) is sums
    same(sums, x.astype("f8").cumsum(axis=axis))
    index = cubc.empty(x.shape, "int64", device=device)
    assert cubc.argsort(given, axis=axis, out=index) is index
    same(index, np.argsort(x, axis=axis, kind="stable"))
    assert cubc.sort(given, axis=axis, out=given) is given
    same(given, np.sort(x, axis=axis))


def test_no_items_and_other_inputs(device):
    for shape in ((0, 3), (3, 0), (2, 0, 4)):
        x = on(device, np.empty(shape, np.float32))
        for axis in range(len(shape)):
            assert np.asarray(cubc.sort(x, axis=axis)).shape == shape
            assert np.asarray(cubc.argsort(x, axis=axis)).shape == shape
            assert np.asarray(cubc.cumsum(x, axis=axis)).shape == shape
    same(cubc.sort([[3, 1], [2, 0]], axis=0, device="cpu"), np.array([[2, 0], [3, 1]]))
    table = inputs.random("I32", 60).reshape(6, 10)
    lazy = cubc.lazy("x ^ y", x=on(device, table), y=on(device, table[:1].copy()))
    same(cubc.sort(lazy, axis=0), np.sort(table ^ table[:1], axis=0))
    by_sign = cubc.sort(on(device, table), axis=None, begin_bit=31)
    same(by_sign, table.ravel()[np.argsort(table.ravel() >= 0, kind="stable")])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: cubc.sort(x, axis=2), AxisError, "axis 2 is out of bounds for array"),
        (lambda x: cubc.argsort(x, axis=-3), AxisError, "axis -3 is out of bounds"),
        (lambda x: cubc.cumsum(x, axis=2), AxisError, "axis 2 is"),
        (lambda x: cubc.sort(x[0], axis=1), AxisError, "axis 1 is out of bounds"),
        (lambda x: cubc.sort(x[0, 0]), AxisError, "axis -1 is out of bounds"),
        (lambda x: cubc.sort(x, kind="radix"), ValueError, "kind is 'radix'"),
        (lambda x: cubc.argsort(x, kind="stable", stable=True), ValueError, "one of the two"),
        (lambda x: cubc.sort(x, axis="0"), TypeError, "expected an int, or None"),
        (lambda x: cubc.sort(x, axis=(0, 1)), TypeError, "expected an int, or None"),
        (lambda x: cubc.sort(x, begin_bit=1), ValueError, "axis=None"),
        (lambda x: cubc.sort(x, axis=0, out=np.empty(12, int)), ValueError, "shape"),
        (lambda x: cubc.sort(x, exis=0), TypeError, "did you mean 'axis'"),
        (lambda x: cubc.scan(x, axis=0, inklusive=1), TypeError, "did you mean 'inclusive'"),
        (lambda x: _core.call("transpose", {"in": x, "rows": 5, "columns": 2,
            "out": ("in", (12,), None)}), ValueError, "no multiple"),
        (lambda x: _core.call("transpose", {"in": x, "rows": 3, "columns": 4,
            "out": ("in", x.shape, x)}), ValueError, "apart"),
        (lambda x: _core.call("segmented_sort", {"keys_in": x.ravel(), "offsets": x.ravel(),
            "segments": 11, "keys_out": ("keys_in", "keys_in", None), "relative": True,
            "indices_out": ("int64", "keys_in", None), "value_bytes": 8}), ValueError, "one size"),
    ],
)  # fmt: skip
def test_wrong_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call(np.arange(12).reshape(3, 4))


@settings(max_examples=30)
@given(hnp.arrays(np.int16, hnp.array_shapes(min_dims=1, max_dims=4, max_side=9)), st.data())
def test_as_numpy(x, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    same(cubc.sort(x, axis=axis, device="cpu"), np.sort(x, axis=axis))
    same(cubc.argsort(x, axis=axis, device="cpu"), np.argsort(x, axis=axis, kind="stable"))
    same(cubc.cumsum(x, axis=axis, device="cpu"), np.cumsum(x, axis=axis))
