"""select, partition, unique_consecutive and flatnonzero against NumPy."""

import inputs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs import TYPES, in_turn, on, same

import cubc


def runs(type, n, seed=0):
    """Items of few values, so that neighbours are often equal."""
    return np.random.default_rng(seed).integers(0, 3, n).astype(TYPES[type])


def unique(x):
    """The first of each run of equal items."""
    return x[np.concatenate([np.ones(min(1, x.size), bool), x[1:] != x[:-1]])]


def mask_of(n, seed=1):
    return np.random.default_rng(seed).random(n) < 0.5


CALLS = {  # and what they give, of items and a mask
    "mask": (cubc.select, lambda x, mask: x[mask]),
    "if": (lambda x, _: cubc.select(x, "x > 1"), lambda x, _: x[x.astype(np.float64) > 1]),
    "unique": (lambda x, _: cubc.unique_consecutive(x), lambda x, _: unique(x)),
    "nonzero": (lambda x, _: cubc.flatnonzero(x), lambda x, _: np.flatnonzero(x)),
    "partition": (cubc.partition_if, lambda x, mask: (x[mask], x[~mask])),
}


@pytest.mark.parametrize(("type", "name"), in_turn(TYPES, CALLS, 5))
def test_every_type(device, type, name):
    call, reference = CALLS[name]
    for n in (1, 2, 1000, 70_001):
        x, mask = runs(type, n, seed=n), mask_of(n)
        result, expected = call(on(device, x), on(device, mask)), reference(x, mask)
        if name != "partition":
            result, expected = (result,), (expected,)
        for part, wanted in zip(result, expected, strict=True):
            same(part, wanted)


@pytest.mark.parametrize("type", ["I8", "BF16", "F32", "U64"])
def test_three_ways(device, type):
    """Sizes of one tile, of some, and about the boundaries of the policy."""
    x = runs(type, 300_001)
    for n in (0, 1, 2, 1000, 300_001, *inputs.sizes("select.three_way", type, device)[-9:]):
        given = x[:n]
        parts = cubc.partition_if(on(device, given), "x == 1", "x < 2")
        for part, which in zip(parts, (1, 0, 2), strict=True):
            same(part, given[given == TYPES[type](which)])


def test_the_first_of_two_conditions_wins(device):
    x = on(device, np.arange(100_000, dtype=np.int32))
    small, even, rest = cubc.partition_if(x, "x < 10", "x % 2 == 0")
    same(small, np.arange(10, dtype=np.int32))
    same(even, np.arange(10, 100_000, 2, dtype=np.int32))
    same(rest, np.arange(11, 100_000, 2, dtype=np.int32))
    for all_of, one in zip(("first", "second", "rest"), ((1, 0), (0, 1), (0, 0)), strict=True):
        parts = cubc.partition_if(x, *map(str, one))
        assert [part.size for part in parts] == [
            100_000 * (all_of == name) for name in ("first", "second", "rest")
        ]


@pytest.mark.parametrize("type", inputs.SOME)
def test_masks_of_every_type(device, type):
    x, mask = np.arange(10_001), runs(type, 10_001)
    same(cubc.select(on(device, x), on(device, mask)), x[mask != 0])


@pytest.mark.some
@pytest.mark.parametrize("name", ["if", "flagged", "unique"])
@pytest.mark.parametrize("type", ["F32", "I8", "U64"])
def test_boundaries_of_the_policy(device, type, name):
    x, mask = runs(type, 2_000_000), mask_of(2_000_000)
    for n in inputs.sizes(f"select.{name}", type, device):
        given, some = on(device, x[:n]), on(device, mask[:n])
        if name == "if":
            same(cubc.select(given, "x > 0"), x[:n][x[:n] > 0])
        elif name == "flagged":
            selected, rest = cubc.partition_if(given, some)
            same(selected, x[:n][mask[:n]])
            same(rest, x[:n][~mask[:n]])
        else:
            same(cubc.unique_consecutive(given), unique(x[:n]))


@pytest.mark.parametrize("share", [0.0, 1.0, 0.01, 0.99])
def test_few_and_all(device, share):
    x, mask = np.arange(300_001, dtype=np.int32), np.random.default_rng(2).random(300_001) < share
    same(cubc.select(on(device, x), on(device, mask)), x[mask])
    same(cubc.partition_if(on(device, x), on(device, mask))[1], x[~mask])


def test_no_items(device):
    empty = on(device, np.empty(0, np.float32))
    for result in (
        cubc.select(empty, "x > 0"),
        cubc.select(empty, on(device, np.empty(0, bool))),
        cubc.unique_consecutive(empty),
        *cubc.partition_if(empty, "i > 0"),
    ):
        assert result.shape == (0,)
        assert result.dtype == np.float32
    assert cubc.flatnonzero(empty).shape == (0,)


def test_special_values(device):
    x = np.array([np.nan, np.nan, -0.0, 0.0, np.inf, np.inf, -np.inf, 1e-45], np.float32)
    np.testing.assert_array_equal(
        cubc.asarray(cubc.unique_consecutive(on(device, x))).numpy(), x[[0, 1, 2, 4, 6, 7]]
    )
    same(cubc.select(on(device, x), "x > 0"), x[x > 0])
    same(cubc.flatnonzero(on(device, x)), np.flatnonzero(x))


def test_the_index_in_a_predicate(device):
    x = inputs.random("I32", 70_001)
    same(
        cubc.select(on(device, x), "i % 3 == 1 && x > 0"), x[(np.arange(x.size) % 3 == 1) & (x > 0)]
    )


def test_dimensions_are_taken_flat(device):
    x = inputs.random("I16", 600).reshape(20, 30)
    same(cubc.select(on(device, x), on(device, x > 0)), x[x > 0])
    same(cubc.flatnonzero(on(device, x)), np.flatnonzero(x))


def test_unaligned_arrays(device):
    x = cubc.asarray(np.arange(10_002, dtype=np.int32), device=device)[1:]
    same(cubc.select(x, "x % 2 == 0"), np.arange(2, 10_002, 2, dtype=np.int32))
    same(cubc.unique_consecutive(x), np.arange(1, 10_002, dtype=np.int32))


# ---- outputs -------------------------------------------------------------------------------------
def test_out_and_count(device):
    """With count= nothing waits, and the whole of out comes back."""
    x = np.arange(70_001, dtype=np.int32)
    out = cubc.empty(x.size, "int32", device=device)
    count = cubc.asarray(np.zeros((), np.int64), device=device)
    given = cubc.asarray(x, device=device)
    assert cubc.select(given, "x % 7 == 0", out=out, count=count) is out
    expected = x[x % 7 == 0]
    assert int(count) == expected.size
    same(out[: int(count)], expected)
    same(cubc.select(given, "x % 7 == 1", out=out), x[x % 7 == 1])


@pytest.mark.parametrize("type", ["I8", "I32", "F64"])
def test_in_place(device, type):
    """A tile is read before anybody writes to where it lies."""
    x, mask = runs(type, 500_001), mask_of(500_001)
    for call, expected in (
        (lambda a: cubc.select(a, cubc.asarray(mask, device=device), out=a), x[mask]),
        (lambda a: cubc.unique_consecutive(a, out=a), unique(x)),
    ):
        for _ in range(3):
            same(call(cubc.asarray(x.copy(), device=device)), expected)


def test_a_made_array_keeps_no_more_than_its_items():
    found = cubc.select(np.arange(1_000_000), "x == 5", device="cpu")
    assert found.base is None
    assert found.nbytes == 8


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: cubc.select(x, None), TypeError, "needs condition, which is None"),
        (lambda x: cubc.partition_if(x, None), TypeError, "needs condition, which is None"),
        (lambda x: cubc.partition_if(x, x > 3, "x"), TypeError, "must both be expressions"),
        (lambda x: cubc.partition_if(x, "x", x > 3), TypeError, "must both be expressions"),
        (lambda x: cubc.partition_if(x, "x", "y"), cubc.CompileError, "does not compile"),
        (lambda x: cubc.select(x, x[:3]), ValueError, "mask of select has 3 items and x 10"),
        (lambda x: cubc.select(x, ""), ValueError, "the predicate is empty"),
        (lambda x: cubc.select(x, "y > 0"), cubc.CompileError, "'y > 0' does not compile"),
        (lambda x: cubc.select(x, "x", out=np.empty(9, x.dtype)), ValueError, "shape"),
        (lambda x: cubc.select(x, "x", out=np.empty(10, "f4")), TypeError, "float32"),
        (lambda x: cubc.select(x, "x", count=np.zeros((), "i4")), TypeError, "int32"),
        (lambda x: cubc.select(x, "x", out=x[:]), None, ""),
        (lambda x: cubc.flatnonzero("x"), TypeError, "selected by an array"),
    ],
)
def test_wrong_arguments(call, error, words):
    x = np.arange(10)
    if error is None:
        same(call(x), np.arange(1, 10))
        return
    with pytest.raises(error, match=words):
        call(x)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_along_an_axis(device, axis):
    x = inputs.random("F32", 30 * 41 * 3).reshape(30, 41, 3)
    mask = mask_of(x.shape[axis])
    expected = np.compress(mask, x, axis)
    same(cubc.select(on(device, x), on(device, mask), axis=axis), expected)
    out = on(device, expected * 0)
    same(cubc.select(on(device, x), mask.tolist(), axis=axis, out=out), expected)


@pytest.mark.parametrize(
    ("condition", "options", "error", "words"),
    [
        ("x > 3", {}, TypeError, r"an expression: it takes a mask"),
        (lambda x: x > 3, {}, TypeError, r"an expression: it takes a mask"),
        ([True, False], {"count": np.zeros((), "i8")}, TypeError, "count="),
        ([True] * 3, {}, ValueError, r"shape \(3,\), and the axis 2 items"),
        ([True] * 3, {"axis": 2}, np.exceptions.AxisError, r"select\(\): axis 2"),
    ],
)
def test_wrong_arguments_along_an_axis(condition, options, error, words):
    with pytest.raises(error, match=words):
        cubc.select(np.arange(10).reshape(2, 5), condition, **{"axis": 0} | options)


def test_overlap():
    x = np.arange(100)
    with pytest.raises(ValueError, match="overlap"):
        cubc.select(x[:50], "x", out=x[10:60], device="cpu")


# ---- properties ----------------------------------------------------------------------------------
@settings(max_examples=40)
@given(st.lists(st.booleans(), max_size=5000), st.integers(0, 2**32 - 1))
def test_partition_is_a_stable_permutation(bits, seed):
    mask = np.array(bits, bool)
    x = np.random.default_rng(seed).permutation(mask.size)
    selected, rest = cubc.partition_if(x, mask, device="cpu")
    same(np.concatenate([selected, rest]), np.concatenate([x[mask], x[~mask]]))
