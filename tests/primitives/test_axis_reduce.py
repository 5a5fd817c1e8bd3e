"""Reductions along an axis against NumPy's."""

import inputs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from inputs import TYPES, in_turn, on, same

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


@pytest.mark.parametrize(("type", "op"), in_turn(TYPES, OPERATORS, 3))
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


# ---- no items ------------------------------------------------------------------------------------
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 3), (0, 0)])
def test_extents_of_0(device, shape):
    x = np.empty(shape, np.float32)
    for axis in range(len(shape)):
        same(cubc.sum(on(device, x), axis=axis), x.sum(axis=axis))
        same(cubc.prod(on(device, x), axis=axis), x.prod(axis=axis))
        if x.shape[axis] or 0 in np.delete(shape, axis):
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
        (lambda x: cubc.sum(x, axis=2), ValueError, "axis is 2, but the array has 2 dimensions"),
        (lambda x: cubc.sum(x, axis=-3), ValueError, "axis is -3"),
        (lambda x: cubc.sum(x, axis=10**30), ValueError, "axis is 10000"),
        (lambda x: cubc.sum(x[0, 0], axis=0), ValueError, "0 dimensions"),
        (lambda x: cubc.sum(x, axis=(0, 1)), TypeError, "expected an int, or None"),
        (lambda x: cubc.sum(x, axis=0.5), TypeError, "expected an int, or None"),
        (lambda x: cubc.sum(x, axis=0, out=np.empty(4, "i8")), ValueError, "shape"),
        (lambda x: cubc.sum(x, axis=0, out=x[0]), ValueError, "apart"),
        (lambda x: cubc.sum(x, axis=1, out=x.ravel()[:3]), ValueError, "apart"),
        (
            lambda x: cubc.sum(x.reshape(15, 1), axis=1, out=x.ravel()),
            ValueError,
            "^sum: the output must be apart",
        ),
    ],
)
def test_wrong_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call(np.arange(15).reshape(3, 5))


# ---- properties ----------------------------------------------------------------------------------
@settings(max_examples=40, deadline=None)
@given(
    hnp.arrays(np.int64, hnp.array_shapes(max_dims=4, max_side=20), elements=st.integers(-9, 9)),
    st.integers(0, 3),
)
def test_any_shape(x, axis):
    same(cubc.sum(x, axis=axis % x.ndim, device="cpu"), x.sum(axis=axis % x.ndim))
