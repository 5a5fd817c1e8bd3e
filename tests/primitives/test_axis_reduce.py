"""Reductions along an axis against NumPy's."""

import inputs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from inputs import SOME, in_turn, on, same
from numpy.exceptions import AxisError

import cubc

OPERATORS = ("sum", "prod", "min", "max", "argmin", "argmax")
SHAPES = [
    (5,),
    (1, 1),
    (7, 3),
    (1000, 2),
    (2, 1000),
    (2, 70_000),
    (100_000, 3),
    (300, 301),
    (512, 256),
    (40, 50, 3),
    (3000, 4, 2),
    (64, 64, 64),
    (4, 5, 6, 7),
    (3, 1, 4),
]


def data(type, op, shape, seed=0):
    x = inputs.random(type, int(np.prod(shape)), seed).reshape(shape)
    return np.where(x > 0, 1, -1).astype(x.dtype) if op == "prod" and type in inputs.FLOATS else x


def reference(x, op, axis, **options):
    result = getattr(np, op)(inputs.exact(x), axis=axis, **options)
    widened = np.issubdtype(x.dtype, np.integer) and op in ("sum", "prod")
    return result if op.startswith("arg") or widened else np.asarray(result).astype(x.dtype)


@pytest.mark.parametrize(("type", "op"), in_turn(SOME, OPERATORS, 6))
def test_every_type_and_operator(device, type, op):
    x = data(type, op, (60, 35, 16))
    for axis in range(3):
        same(cubc.reduce(on(device, x), op, axis=axis), reference(x, op, axis))


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(device, shape):
    x = data("I32", "sum", shape)
    given = on(device, x)
    for axis in range(-x.ndim, x.ndim):
        for op in ("sum", "argmax"):
            same(cubc.reduce(given, op, axis=axis), reference(x, op, axis))


@pytest.mark.parametrize("type", ["I8", "F32", "F64"])
@pytest.mark.parametrize("columns", [2, 3, 8, 31, 127, 1024, 1025])
def test_rows_that_begin_anywhere(device, type, columns):
    """Vectors are read where each row begins on 16 bytes, items elsewhere."""
    for rows in (1, 2, 77, 3000):
        x = data(type, "sum", (rows, columns))
        same(cubc.sum(on(device, x), axis=0), reference(x, "sum", 0))


def test_unaligned_arrays(device):
    x = np.arange(201 * 121, dtype=np.int32).reshape(201, 121)
    x = cubc.asarray(x, device=device)[1:]
    for axis in (0, 1):
        same(cubc.sum(x, axis=axis), np.asarray(x).sum(axis=axis, dtype=np.int64))


def test_keepdims(device):
    x = data("F32", "sum", (4, 5, 6))
    given = on(device, x)
    for axis in (None, 0, 1, -1):
        expected = reference(x, "max", axis, keepdims=True)
        same(cubc.max(given, axis=axis, keepdims=True), expected)
        assert np.asarray(cubc.max(given, axis=axis, keepdims=True)).shape == expected.shape
    same(cubc.max(given, axis=1, keepdims=False), x.max(axis=1))


@pytest.mark.parametrize("op", ["any", "all"])
def test_any_and_all(device, op):
    x = inputs.random("U8", 12_000).reshape(40, 30, 10) % 7
    for axis in range(3):
        same(cubc.reduce(on(device, x), op, axis=axis), getattr(np, op)(x, axis=axis))


def test_operands_keep_their_order(device):
    maps = inputs.affine(60_000).reshape(1500, 8, 5)
    for axis in range(3):
        result = np.asarray(cubc.reduce(on(device, maps), inputs.AFFINE, axis=axis))
        lines = np.moveaxis(maps, axis, -1).reshape(-1, maps.shape[axis])[::37]
        expected = [inputs.compose(line)[-1] for line in lines]
        assert result.ravel()[::37].tolist() == expected


@pytest.mark.parametrize("axis", [0, 1])
def test_nan_wins_in_its_own_line(device, axis):
    x = data("F32", "max", (300, 40))
    x[17, 3] = np.nan
    for op in ("min", "max", "argmin", "argmax"):
        np.testing.assert_array_equal(
            np.asarray(cubc.reduce(on(device, x), op, axis=axis)), getattr(np, op)(x, axis=axis)
        )


# ---- several axes, where= ------------------------------------------------------------------------
AXES = [(), (0,), (0, 1), (-1, 1), (0, 2), (3, 0), (0, 1, 2, 3), (1, 3), (2, -4, 1)]


@pytest.mark.parametrize("shape", [(4, 5, 6, 7), (3, 1, 40, 1), (9, 0, 2, 3)])
def test_several_axes(device, shape):
    x = data("I32", "sum", shape)
    given = on(device, x)
    for axis in AXES:
        for keepdims in (False, True):
            made = cubc.sum(given, axis, keepdims=keepdims)
            expected = np.asarray(x.sum(axis, keepdims=keepdims))
            same(made, expected)
            assert np.asarray(made).shape == expected.shape
        out = on(device, np.empty(expected.shape, np.int64))
        assert cubc.sum(given, axis=axis, keepdims=True, out=out, initial=7) is out
        same(out, x.sum(axis, keepdims=True, initial=7))


@pytest.mark.parametrize("shape", [(4, 7, 0), (0, 7, 4), (0, 7, 0), (4, 0, 7)])
@pytest.mark.parametrize("name", ["max", "nanmin", "sum"])
def test_an_initial_value_of_several_axes_without_items(device, name, shape):
    x, how = np.zeros(shape), {"axis": (0, 2), "initial": 1.5}
    for empty in (on(device, x), cubc.lazy("x + 1", x=on(device, x))):
        same(getattr(cubc, name)(empty, **how), getattr(np, name)(x, **how))
    with pytest.raises(ValueError, match="no items has no value"):
        cubc.max(on(device, np.zeros((4, 7, 0))), (0, 2))


def test_several_axes_in_turns(device):
    """Each kind of result has its own accumulator, which the turns pass on."""
    x = data("F16", "sum", (30, 40, 50))
    given = on(device, x)
    same(cubc.sum(given, (0, 2)), inputs.exact(x).sum((0, 2)).astype(np.float16))
    same(cubc.sum(given, (0, 2), "int64"), inputs.exact(x).sum((0, 2)).astype(np.int64))
    same(cubc.max(given, (0, 2)), x.max((0, 2)))
    same(cubc.any(given, (0, 2)), x.any((0, 2)))


def test_operands_keep_their_order_along_several_axes(device):
    maps = inputs.affine(1500).reshape(25, 4, 15)
    made = np.asarray(cubc.reduce(on(device, maps), inputs.AFFINE, axis=(0, 2)))
    lines = maps.transpose(1, 0, 2).reshape(4, -1)
    assert made.tolist() == [inputs.compose(line)[-1] for line in lines]


def test_positional_arguments_and_no_dimensions(device):
    x = data("I32", "sum", (4, 5))
    out = on(device, np.empty(5, np.int64))
    assert cubc.sum(on(device, x), 0, "int64", out) is out
    same(out, x.sum(0))
    same(cubc.max(on(device, x), 1, None, True), x.max(1, None, True))
    for axis in (0, -1, (), None):
        same(cubc.sum(on(device, x[0, 0]), axis), x[0, 0].sum(axis))
        same(cubc.argmax(on(device, x[0, 0]), 0), x[0, 0].argmax(0))


def test_outputs_with_strides():
    """An array of NumPy in another order is written by way of a copy, whatever it shares."""
    x = data("I32", "sum", (4, 5))
    for out in (np.zeros(10, np.int64)[::2], np.zeros(5, np.int64)[::-1]):
        assert cubc.sum(x, 0, out=out, device="cpu") is out
        same(out, x.sum(0))
    turned = np.zeros((5, 4), np.int32).T
    assert cubc.sort(x, out=turned, device="cpu") is turned
    same(turned, np.sort(x))
    y = np.arange(11)
    cubc.transform("x + 2", x=y[1:], out=y[:0:-1], device="cpu")
    same(y, np.array([0, *range(12, 2, -1)]))


@pytest.mark.parametrize("type", ["I8", "F16"])
def test_where(device, type):
    x, mask = data(type, "sum", (40, 30)), inputs.random("I8", 1200).reshape(40, 30) > 0
    given, where = on(device, x), on(device, mask)
    for axis in (None, 0, (0, 1)):
        made = np.asarray(cubc.sum(given, axis, where=where))
        same(made, np.asarray(inputs.exact(x).sum(axis, where=mask)).astype(made.dtype))
        same(cubc.max(given, axis, initial=0, where=where), x.max(axis, initial=0, where=mask))
    same(cubc.any(given, 1, where=on(device, mask[:, :1])), x.any(1, where=mask[:, :1]))
    for array in (given, cubc.asarray(x, device=device), cubc.lazy("x", x=given)):
        same(cubc.all(array, 1, where=False), x.all(1, where=False))


# ---- no items ------------------------------------------------------------------------------------
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 3), (0, 0)])
def test_extents_of_0(device, shape):
    x = np.empty(shape, np.float32)
    for axis in range(len(shape)):
        same(cubc.sum(on(device, x), axis=axis), x.sum(axis=axis))
        same(cubc.prod(on(device, x), axis=axis), x.prod(axis=axis))
        if x.shape[axis]:
            same(cubc.max(on(device, x), axis=axis), np.empty(np.delete(shape, axis), np.float32))
        else:
            with pytest.raises(ValueError, match="no items"):
                cubc.max(on(device, x), axis=axis)
            filled = cubc.max(on(device, x), axis=axis, init=3)
            same(filled, np.full(np.delete(shape, axis), 3, np.float32))


# ---- arguments -----------------------------------------------------------------------------------
def test_init_dtype_and_out(device):
    x = data("I32", "sum", (30, 20))
    given = cubc.asarray(x, device=device)
    for axis in (0, 1):
        expected = x.sum(axis=axis, dtype=np.int64)
        same(cubc.sum(given, axis=axis, init=5), expected + 5)
        same(cubc.sum(given, axis=axis, dtype="float64"), expected.astype(np.float64))
        out = cubc.empty(expected.shape, "int64", device=device)
        assert cubc.sum(given, axis=axis, out=out) is out
        same(out, expected)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda x: cubc.sum(x, axis=2),
            AxisError,
            r"^sum\(\): axis 2 is out of bounds",
        ),
        (lambda x: cubc.sum(x, axis=-3), AxisError, "axis -3 is out of bounds"),
        (lambda x: cubc.sum(x, axis=10**30), AxisError, "axis 10000"),
        (lambda x: cubc.sum(x[0, 0], axis=1), AxisError, "axis 1 .* of dimension 0"),
        (lambda x: cubc.sum(x[0, 0], axis=(0,)), AxisError, "axis 0 .* of dimension 0"),
        (lambda x: cubc.sum(x, axis=(0, 2)), AxisError, "axis 2"),
        (lambda x: cubc.sum(x, axis=(0, -2)), ValueError, "duplicate value in 'axis'"),
        (lambda x: cubc.argmax(x, axis=(0, 1)), TypeError, r"argmax\(\) takes one axis"),
        (lambda x: cubc.sum(x, axis=0.5), TypeError, "expected an int, a tuple of them, or None"),
        (lambda x: cubc.sum(x, axis=True), TypeError, "expected an int"),
        (lambda x: cubc.min(x, where=x > 3), ValueError, r"min\(\) with where= needs initial="),
        (lambda x: cubc.sum(x, where=x), TypeError, r"sum\(\): where has the dtype int64"),
        (lambda x: cubc.sum(x[0], where=x > 3), ValueError, r"does not broadcast to \(5,\)"),
        (lambda x: cubc.sum(x, axis=0, out=np.empty(4, "i8")), ValueError, "shape"),
        (lambda x: cubc.sum(x, axis=0, out=x[0]), ValueError, "apart"),
        (lambda x: cubc.sum(x, axis=1, out=x.ravel()[:3]), ValueError, "apart"),
        (
            lambda x: cubc.sum(x.reshape(15, 1), axis=1, out=x.ravel()),
            ValueError,
            r"^sum\(\): the output must be apart",
        ),
    ],
)
def test_wrong_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call(np.arange(15).reshape(3, 5))


# ---- properties ----------------------------------------------------------------------------------
@settings(max_examples=40)
@given(
    hnp.arrays(np.int64, hnp.array_shapes(max_dims=4, max_side=20), elements=st.integers(-9, 9)),
    st.integers(0, 3),
)
def test_any_shape(x, axis):
    same(cubc.sum(x, axis=axis % x.ndim, device="cpu"), x.sum(axis=axis % x.ndim))
