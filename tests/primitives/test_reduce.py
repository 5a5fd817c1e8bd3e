"""reduce and its named forms against NumPy."""

import inputs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from inputs import TYPES, in_turn, on, same, value

import cubc

OPERATORS = ("sum", "prod", "min", "max", "argmin", "argmax")
ORDERED = OPERATORS[2:]
# An operator for each type. The tests below take some of these pairs: they share kernels.
IN_TURN = in_turn(TYPES, OPERATORS, len(OPERATORS))
OF_FLOATS = [(type, op) for type, op in IN_TURN if type in inputs.FLOATS and op in ORDERED]
OF_FLOATS += [("F64", "argmax")]


def reference(x, op, dtype=None):
    result = getattr(np, op)(inputs.exact(x))
    if op in ("argmin", "argmax"):
        return np.int64(result)
    widened = np.issubdtype(x.dtype, np.integer) and op in ("sum", "prod")
    return result.astype(dtype or (result.dtype if widened else x.dtype))


def data(type, op, n, seed=0):
    x = inputs.random(type, n, seed)
    return np.where(x > 0, 1, -1).astype(x.dtype) if op == "prod" and type in inputs.FLOATS else x


@pytest.mark.parametrize(("type", "op"), IN_TURN)
def test_every_type_and_operator(device, type, op):
    for n in (1, 2, 1000, 70_001):
        x = data(type, op, n, seed=n)
        same(cubc.reduce(on(device, x), op), reference(x, op))


@pytest.mark.parametrize(
    ("type", "op"), [("F32", "sum"), ("I8", "sum"), ("F64", "max"), ("U16", "argmin")]
)
def test_boundaries_of_the_policy(device, type, op):
    x = data(type, op, 2_000_000)
    for n in inputs.sizes(f"reduce.{op}", type, device):
        if n:
            same(cubc.reduce(on(device, x[:n]), op), reference(x[:n], op))


@pytest.mark.parametrize("n", [1, 777, 16_385, 300_001])
def test_every_item_counts_once(device, n):
    x = np.ones(n, np.int8)
    assert value(cubc.sum(on(device, x))) == n


@pytest.mark.parametrize("op", OPERATORS)
def test_bool(device, op):
    x = inputs.random("U8", 70_001) > 3
    expected = getattr(np, op)(x)
    result = cubc.reduce(on(device, x), op)
    assert np.asarray(result).dtype == expected.dtype
    assert result.item() == expected


@pytest.mark.parametrize("op", OPERATORS)
def test_named_forms(device, op):
    x = inputs.random("I32", 1000)
    same(getattr(cubc, op)(on(device, x)), reference(x, op))


@pytest.mark.parametrize(("type", "op"), [("I16", "sum"), ("F32", "sum"), ("U8", "prod")])
def test_no_items_give_the_identity(device, type, op):
    x = on(device, np.empty(0, TYPES[type]))
    same(cubc.reduce(x, op), reference(np.empty(0, TYPES[type]), op))
    same(cubc.reduce(x, op, init=3), np.asarray(cubc.reduce(x, op)).dtype.type(3))


@pytest.mark.parametrize("op", ["min", "max", "argmin", "argmax", "a * b"])
def test_no_items_have_no_value(device, op):
    with pytest.raises(ValueError, match="no items"):
        cubc.reduce(on(device, np.empty(0, np.float32)), op)


def test_no_items_and_an_initial_value(device):
    x = on(device, np.empty(0, np.float32))
    assert value(cubc.max(x, init=4)) == 4
    assert value(cubc.reduce(x, "a * b", init=5)) == 5


# ---- special values ------------------------------------------------------------------------------
@pytest.mark.parametrize(("type", "op"), OF_FLOATS)
@pytest.mark.parametrize("places", [[0], [69_999], [12_345, 40_000]])
def test_nan_wins(device, type, op, places):
    x = inputs.random(type, 70_000)
    x[places] = np.nan
    result = cubc.reduce(on(device, x), op)
    if op.startswith("arg"):
        assert value(result) == places[0]
    else:
        assert np.isnan(float(result))


@pytest.mark.parametrize(("type", "op"), OF_FLOATS)
def test_infinities(device, type, op):
    x = inputs.random(type, 70_000)
    x[[5, 60_000]] = np.inf, -np.inf
    expected = {"min": -np.inf, "max": np.inf, "argmin": 60_000, "argmax": 5}
    assert float(cubc.reduce(on(device, x), op)) == expected[op]


@pytest.mark.parametrize("type", inputs.FLOATS)
def test_a_sum_of_both_infinities(device, type):
    x = inputs.random(type, 70_000)
    x[[5, 60_000]] = np.inf, -np.inf
    assert np.isnan(float(cubc.sum(on(device, x))))


@pytest.mark.parametrize("type", ["F16", "F32"])
@pytest.mark.parametrize("worst", [-np.inf, np.inf])
def test_nothing_but_infinities(device, type, worst):
    x = np.full(5000, worst, TYPES[type])
    for op in ("min", "max"):
        assert float(cubc.reduce(on(device, x), op)) == worst
    assert value(cubc.argmin(on(device, x))) == 0


def test_signed_zeros_are_equal(device):
    x = np.array([0.0, -0.0, 0.0, -0.0])
    assert (value(cubc.argmin(on(device, x))), value(cubc.argmax(on(device, x)))) == (0, 0)
    assert value(cubc.max(on(device, x))) == 0


def test_the_first_of_equals(device):
    x = np.zeros(100_000, np.int32)
    assert (value(cubc.argmin(on(device, x))), value(cubc.argmax(on(device, x)))) == (0, 0)
    x[[777, 90_000]] = 1
    assert (value(cubc.argmin(on(device, x))), value(cubc.argmax(on(device, x)))) == (0, 777)


@pytest.mark.parametrize("type", ["I64", "U64"])
def test_integers_wrap_around(device, type):
    x = np.array([np.iinfo(TYPES[type]).max, 1], TYPES[type])
    assert value(cubc.sum(on(device, x))) == np.iinfo(TYPES[type]).min


@pytest.mark.parametrize("type", ["F16", "BF16"])
def test_half_precision_accumulates_in_single(device, type):
    """In their own precision the sum would stop growing at 2048 and 256."""
    x = np.ones(30_000, TYPES[type])
    assert float(cubc.sum(on(device, x))) == float(TYPES[type](30_000))
    assert float(cubc.sum(on(device, x), dtype="float32")) == 30_000


# ---- truth ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(("type", "op"), in_turn([*inputs.SOME, "BOOL"], ["any", "all"], 2))
def test_any_and_all(device, type, op):
    dtype = np.dtype(bool) if type == "BOOL" else np.dtype(TYPES[type])
    for n in (1, 33, 70_001):
        for where in (None, 0, n - 1):
            none, every = np.zeros(n, dtype), np.ones(n, dtype)
            if where is not None:
                none[where], every[where] = 1, 0
            expected = {"any": where is not None, "all": where is None}
            for x, which in ((none, "any"), (every, "all")):
                found = bool(value(getattr(cubc, op)(on(device, x))))
                assert found == getattr(np, op)(x)
                assert which != op or found == expected[op]


def test_what_is_true(device):
    x = np.array([0.0, -0.0, np.nan, 0.25], np.float32)
    assert not value(cubc.any(on(device, x[:2])))
    assert value(cubc.all(on(device, x[2:])))
    assert cubc.any(x, device="cpu").dtype == bool
    empty = on(device, np.empty(0, np.int8))
    assert (bool(value(cubc.any(empty))), bool(value(cubc.all(empty)))) == (False, True)
    assert value(cubc.reduce(on(device, x), "any", dtype="int32")) == 1


# ---- operators of the user -----------------------------------------------------------------------
@pytest.mark.parametrize("n", [1, 2, 33, 1000, 16_385, 70_001])
def test_order_is_kept(device, n):
    x = inputs.affine(n)
    assert value(cubc.reduce(on(device, x), inputs.AFFINE)) == inputs.compose(x)[-1]
    init = inputs.affine(1, seed=9)
    expected = inputs.compose(np.concatenate([init, x]))[-1]
    assert value(cubc.reduce(on(device, x), inputs.AFFINE, init=init[0])) == expected


def test_first_and_last(device):
    x = inputs.random("F64", 70_001) + np.arange(70_001)
    assert value(cubc.reduce(on(device, x), "a")) == x[0]
    assert value(cubc.reduce(on(device, x), "b")) == x[-1]


@pytest.mark.parametrize("type", ["F16", "I32", "U8", "F64"])
def test_an_expression(device, type):
    x = inputs.random(type, 70_001)
    x[777] = 7 if type in inputs.FLOATS else 0
    squares = cubc.reduce(on(device, x), "a > b ? a : b")
    same(squares, x.max())


@pytest.mark.parametrize("commutative", [False, True])
def test_a_commutative_expression(device, commutative):
    x = inputs.random("I64", 300_001)
    assert value(cubc.reduce(on(device, x), "a + b", commutative=commutative)) == x.sum()
    y = np.abs(inputs.random("F32", 300_001))
    assert value(cubc.reduce(on(device, y), "a + b", commutative=commutative)) == y.sum()


def test_an_expression_may_span_lines(device):
    assert value(cubc.reduce(on(device, np.arange(5)), "a +\n b")) == 10


# ---- arguments -----------------------------------------------------------------------------------
@pytest.mark.parametrize(("op", "init"), [("sum", -7), ("prod", 2), ("min", -3), ("max", 300)])
def test_init(device, op, init):
    x = inputs.random("I32", 1000) % 100
    expected = getattr(np, op)(x, initial=init)
    assert value(cubc.reduce(on(device, x), op, init=init)) == expected


@pytest.mark.parametrize("dtype", [np.float64, "float64", "F64", np.dtype("f8")])
def test_dtype(device, dtype):
    x = np.full(100_003, 0.1, np.float32)
    result = cubc.sum(on(device, x), dtype=dtype)
    assert np.asarray(result).dtype == np.float64
    np.testing.assert_allclose(float(result), x.sum(dtype=np.float64), rtol=1e-12)


def test_a_narrow_result_is_converted_at_the_end(device):
    x = np.full(1000, 100, np.int8)
    assert value(cubc.sum(on(device, x), dtype="int32")) == 100_000
    assert value(cubc.sum(on(device, x), dtype="float32")) == 100_000


def test_out(device):
    x = inputs.random("F32", 5000)
    out = on(device, np.zeros((), np.float64))
    assert cubc.sum(on(device, x), out=out) is out
    assert float(out) == x.sum(dtype=np.float64)
    one = on(device, np.zeros(1, np.float32))
    assert cubc.max(on(device, x), out=one) is one
    assert float(np.asarray(one)[0]) == x.max()


def test_workspace(device):
    x = inputs.random("I64", 300_001)
    workspace = on(device, np.full(4096, 0xFF, np.uint64))
    for _ in range(3):
        assert value(cubc.sum(on(device, x), workspace=workspace)) == x.sum()


def test_numpy_in_gives_a_numpy_scalar(device):
    result = cubc.reduce(np.arange(10.0), device=device)
    assert type(result) is np.float64
    assert result == 45
    assert type(cubc.reduce(on(device, np.arange(10.0)), out=None)) is (
        np.float64 if device == "cpu" else cubc.Array
    )


# ---- operands ------------------------------------------------------------------------------------
@pytest.mark.parametrize(("type", "op"), in_turn(["I8", "F16", "F32", "F64"], ["sum", "argmin"], 2))
def test_misaligned(device, type, op):
    x = inputs.random(type, 70_003)
    whole = on(device, x)
    for first in (1, 3, 5):
        part = whole[first:] if device == "cpu" else cubc.asarray(x[first:], device=device)
        same(cubc.reduce(part, op), reference(x[first:], op))


def test_shapes(device):
    x = inputs.random("I32", 24_000)
    for shape in ((24_000,), (4, 6000), (2, 3, 4, 1000), (1, 24_000, 1)):
        assert value(cubc.sum(on(device, x.reshape(shape)))) == x.sum()
    assert value(cubc.sum(on(device, np.array(7)))) == 7
    assert value(cubc.argmax(on(device, x.reshape(4, 6000)))) == x.argmax()


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.T,
        lambda x: x[::2],
        lambda x: x[:, 1:],
        lambda x: x[::-1, ::-1],
        lambda x: np.broadcast_to(x[0], x.shape),
    ],
)
def test_non_contiguous_numpy(device, view):
    """In the order of NumPy's iteration, which an operator that does not commute shows."""
    x = view(inputs.affine(3000).reshape(50, 60))
    assert not x.flags.c_contiguous
    assert value(cubc.reduce(x, inputs.AFFINE, device=device)) == inputs.compose(x.ravel())[-1]


def test_lists_and_numbers(device):
    assert value(cubc.sum([1, 2, 3], device=device)) == 6
    assert value(cubc.max([[0.5, 2.5], [1, 1]], device=device)) == 2.5
    assert value(cubc.sum(4.5, device=device)) == 4.5
    assert value(cubc.sum(range(10), device=device)) == 45
    assert value(cubc.sum(memoryview(b"\1\2\3"), device=device)) == 6


def test_repeatable(device):
    x = np.random.default_rng(0).normal(size=1_000_003).astype(np.float32)
    d = on(device, x)
    assert len({float(cubc.sum(d)) for _ in range(20)}) == 1
    np.testing.assert_allclose(float(cubc.sum(d)), x.sum(dtype=np.float64), atol=0.05)


@settings(max_examples=40)
@given(
    case=st.sampled_from(
        [(t, op) for t, op in IN_TURN if t not in ("F16", "BF16") and op in ORDERED]
    ),
    draw=st.data(),
)
def test_random_arrays(device, case, draw):
    type, op = case
    x = draw.draw(hnp.arrays(TYPES[type], hnp.array_shapes(min_dims=0, max_dims=3, max_side=40)))
    np.testing.assert_array_equal(np.asarray(cubc.reduce(x, op, device=device)), getattr(np, op)(x))


@settings(max_examples=40)
@given(x=hnp.arrays(np.int64, st.integers(0, 3000)), init=st.integers(-(2**63), 2**63 - 1))
def test_random_sums(device, x, init):
    with np.errstate(over="ignore"):
        expected = x.sum() + np.int64(init)
    assert value(cubc.sum(x, init=np.int64(init), device=device)) == expected
