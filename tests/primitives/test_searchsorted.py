"""searchsorted against NumPy's."""

import inputs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs import in_turn, on, same

import cubc
from cubc import _core

SIDES = ("left", "right")


def ordered(x):
    return x[np.argsort(inputs.exact(x), kind="stable")]


def check(device, a, v, sides=SIDES):
    for side in sides:
        expected = np.searchsorted(inputs.exact(a), inputs.exact(v), side)
        same(cubc.searchsorted(on(device, a), on(device, v), side), expected)


@pytest.mark.parametrize(("type", "side"), in_turn(inputs.SOME, SIDES, 2))
def test_every_type(device, type, side):
    for n, m in ((0, 5), (1, 0), (1, 3), (2, 100), (1000, 70_001), (70_001, 999)):
        check(device, ordered(inputs.random(type, n)), inputs.random(type, m, seed=1), [side])


@pytest.mark.parametrize("type", ["I8", "F32", "I64"])
def test_boundaries_of_the_policy(device, type):
    a = ordered(inputs.random(type, 50_000))
    v = inputs.random(type, 600_000, seed=1)
    for n in inputs.sizes("searchsorted.lower", type, device):
        same(cubc.searchsorted(on(device, a), on(device, v[:n])), np.searchsorted(a, v[:n]))


@pytest.mark.usefixtures("policies")
@pytest.mark.parametrize(("items", "threads", "vector"), [(8, 64, 1), (3, 128, 0), (8, 64, 3)])
def test_rows_by_threads_of_a_gpu(items, threads, vector):
    """Blocks with a row, with several, with less than a row; more values than blocks have rows."""
    label = f"ipt_{items}.tpb_{threads}.mb_1.ipv_{vector}.lev_6"
    _core.use_policy("searchsorted.lower", {"T{ct}": "I32"}, "cpu", label)
    _core.use_policy("searchsorted.upper", {"T{ct}": "I32"}, "cpu", label)
    a, row = np.arange(500, dtype=np.int32) * 2, threads << vector
    for n in (1, row - 1, row, row + 1, 2 * row + 1, items * threads * 2, 40 * row + 3):
        check("cpu", a, np.arange(n, dtype=np.int32) % 1003 - 1)


@pytest.mark.parametrize("n", [3, 4, 7, 8, 9, 4095, 4096, 4097, 8191, 8192, 8193, 100_000])
def test_lengths_of_the_array(device, n):
    """Around powers of two, where the tree gets a level more."""
    a = np.arange(n, dtype=np.int32) * 2
    check(device, a, np.arange(-1, 2 * n + 1, dtype=np.int32))


@pytest.mark.parametrize(
    ("of_array", "of_values"),
    [
        ("I8", "U8"),
        ("I64", "U16"),
        ("U32", "I32"),
        ("U64", "I8"),
        ("U64", "U8"),
        ("F16", "I8"),
        ("U16", "F16"),
        ("I32", "F32"),
        ("F32", "F64"),
        ("BF16", "F32"),
    ],
)
def test_two_types(device, of_array, of_values):
    a, v = ordered(inputs.random(of_array, 5000)), inputs.random(of_values, 3000)
    for side in SIDES:
        expected = np.searchsorted(a, v, side)
        same(cubc.searchsorted(on(device, a), on(device, v), side), expected)


def test_bool(device):
    a, v = np.arange(100) > 30, np.array([False, True])
    same(cubc.searchsorted(on(device, a), on(device, v)), [0, 31])
    same(cubc.searchsorted(on(device, a), on(device, np.arange(3)), "right"), [31, 100, 100])


def test_special_values(device):
    a = np.array([-np.inf, -1, -0.0, 0.0, 1e-45, 1, np.inf, np.nan, np.nan], np.float32)
    check(device, a, a)
    check(device, a[:-2], a)


@pytest.mark.parametrize("distinct", [1, 3])
def test_equal_items(device, distinct):
    a = np.sort(np.random.default_rng(0).integers(0, distinct, 100_001))
    check(device, a, np.arange(-1, distinct + 1))


def test_sorted_values(device):
    a = ordered(inputs.random("F32", 100_000))
    check(device, a, ordered(inputs.random("F32", 50_000, seed=3)))


def test_a_comparison(device):
    a = np.arange(10_000)[::-1].copy()
    v = np.array([-1, 0, 5, 9_999, 10_000])
    same(
        cubc.searchsorted(on(device, a), on(device, v), less="a > b"), [10_000, 9_999, 9_994, 0, 0]
    )


def test_no_order_at_all(device):
    a = on(device, inputs.random("I32", 10_001))
    for less in ("true", "(a ^ b) & 1"):
        found = np.asarray(cubc.searchsorted(a, a, less=less))
        assert ((found >= 0) & (found <= 10_001)).all()


def test_shapes_and_a_single_value(device):
    a = on(device, np.arange(100))
    v = np.arange(24).reshape(2, 3, 4) * 5
    same(cubc.searchsorted(a, on(device, v)), v.clip(max=100))
    assert int(cubc.searchsorted(a, 17)) == 17
    assert int(cubc.searchsorted(a, 17, "right")) == 18


def test_out(device):
    a, v = cubc.asarray(np.arange(100), device=device), cubc.asarray(np.arange(50), device=device)
    out = cubc.empty(50, "int64", device=device)
    assert cubc.searchsorted(a, v, out=out) is out
    same(out, np.arange(50))
    cubc.searchsorted(a, v, "right", out=v)  # int64 values make room for their indices
    same(v, np.arange(1, 51))


def test_unaligned_arrays(device):
    a = cubc.asarray(np.arange(10_001), device=device)[1:]
    v = cubc.asarray(np.arange(5001), device=device)[1:]
    same(cubc.searchsorted(a, v), np.arange(5000))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda a: cubc.searchsorted(a, a, "middle"), ValueError, "'left' or 'right'"),
        (lambda a: cubc.searchsorted(a, a, less=""), ValueError, "the comparison is empty"),
        (lambda a: cubc.searchsorted(a.reshape(2, 5), a), ValueError, "one dimension"),
        (lambda a: cubc.searchsorted(a, a, out=np.empty(9, "i8")), ValueError, "shape"),
        (lambda a: cubc.searchsorted(a, a, out=np.empty(10, "i4")), TypeError, "int32"),
        (lambda a: cubc.searchsorted(a, a.copy(), out=a), ValueError, "overlap"),
        (lambda a: cubc.searchsorted(a, a, sortir=a), TypeError, "no argument 'sortir'"),
    ],
)
def test_wrong_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call(np.arange(10))


# ---- properties ----------------------------------------------------------------------------------
@settings(max_examples=40)
@given(st.lists(st.integers(-99, 99), max_size=5000), st.lists(st.integers(-100, 100)))
def test_where_numpy_has_them(items, values):
    check("cpu", np.sort(np.array(items, np.int16)), np.array(values, np.int16))


def test_sorter(device):
    x = inputs.random("I32", 1000)
    order, values = np.argsort(x), x[:50] + 1
    made = cubc.searchsorted(on(device, x), on(device, values), "left", on(device, order))
    same(made, np.searchsorted(x, values, "left", order))
    for sorter, error, words in (
        (order[:3], ValueError, "sorter.size must equal"),
        (order * 0.5, TypeError, "sorter must only contain integers"),
        (order + 1, ValueError, "Sorter index out of range"),
    ):
        with pytest.raises(error, match=words):
            cubc.searchsorted(x, values, sorter=sorter)


NAN = np.nan


@pytest.mark.parametrize(
    "bins",
    [
        [-1.5, 0.0, 0.25, 2.0],
        [2.0, 0.5, 0.5, -1.0],
        [],
        [1],
        [0, 1, NAN, NAN],
        [NAN, 1, 0],
        [NAN] * 3,
    ],
)
@pytest.mark.parametrize("right", [False, True])
def test_digitize(device, bins, right):
    x = np.array([[np.nan, -2.0, 0.0, 0.25], [0.5, 1.0, 2.0, np.inf]])
    for items in (x, np.arange(-3, 5), x[0, 1]):
        expected = np.digitize(items, bins, right)
        for edges in (bins, on(device, np.array(bins, float))):
            found = cubc.digitize(on(device, np.asarray(items)), edges, right)
            same(found, np.asarray(expected))


def test_edges_that_neither_rise_nor_fall(device):
    for edges in ([1, 3, 2], [1, NAN, 3], [3, 1, NAN]):
        with pytest.raises(ValueError, match="monotonically"):
            cubc.digitize(on(device, np.ones(3)), edges)
    with pytest.raises(TypeError, match="complex"):
        cubc.digitize(on(device, np.ones(3, complex)), [1, 3])
