"""reduce_by_key, unique_by_key, run_length_encode and nontrivial_runs against NumPy."""

import inputs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs import SOME, TYPES, heads, in_turn, on, same

import cubc


def keys_of(type, n, seed=0, longest=8):
    """Runs of 1 to `longest` items; neighbouring runs may have the same key."""
    draw = np.random.default_rng(seed)
    return np.repeat(draw.integers(0, 5, n), draw.integers(1, longest + 1, n))[:n].astype(
        TYPES[type]
    )


def values_of(type, n, seed=1):
    return np.random.default_rng(seed).integers(0, 3, n).astype(TYPES[type])


def lengths_of(keys):
    return np.diff(np.append(heads(keys), keys.size))


def sums_of(keys, values):
    """NumPy's sums of each run, in the type that NumPy's sum has."""
    sums = np.add.reduceat(inputs.exact(values), heads(keys)) if keys.size else np.empty(0)
    wide = {"i": "i8", "u": "u8"}.get(values.dtype.kind)
    return sums.astype(wide or values.dtype)


def all_same(results, expected):
    for result, right in zip(results, expected, strict=True):
        same(result, right)


NAMES = ["reduce", "unique", "encode", "nontrivial"]


def check(name, device, keys, values):
    k, v, begin = on(device, keys), on(device, values), heads(keys)
    if name == "reduce":
        all_same(cubc.reduce_by_key(k, v), (keys[begin], sums_of(keys, values)))
    elif name == "unique":
        all_same(cubc.unique_by_key(k, v), (keys[begin], values[begin]))
    elif name == "encode":
        all_same(cubc.run_length_encode(k), (keys[begin], lengths_of(keys)))
    else:
        all_same(cubc.nontrivial_runs(k), inputs.longer_runs(keys))


def check_all(device, keys, values):
    """All four calls on the same arrays."""
    for name in NAMES:
        check(name, device, keys, values)


@pytest.mark.parametrize(("type", "name"), in_turn(SOME, NAMES, 4))
def test_every_type(device, type, name):
    for n in (0, 1, 2, 1000, 30_001):
        check(name, device, keys_of(type, n, seed=n), values_of(type, n))


@pytest.mark.parametrize(("key", "value"), [("I8", "F64"), ("F64", "I8"), ("I64", "F16")])
def test_mixed_types(device, key, value):
    check_all(device, keys_of(key, 30_001), values_of(value, 30_001))


@pytest.mark.parametrize(("type", "name"), in_turn(["F32", "U64", "I8"], NAMES, 4))
def test_boundaries_of_the_policy(device, type, name):
    keys, values = keys_of(type, 600_000), values_of(type, 600_000)
    for n in inputs.sizes(f"runs.{name}", type, device):
        check(name, device, keys[:n], values[:n])


@pytest.mark.parametrize("length", [1, 2, 3000, 300_000])
def test_runs_of_one_length(device, length):
    """None is longer than an item, all are, each spans tiles, there is only one."""
    keys = (np.arange(300_001) // length).astype(np.int32)
    check_all(device, keys, values_of("F32", keys.size))


def test_special_values(device):
    keys = np.array([np.nan, np.nan, -0.0, 0.0, np.inf, np.inf, -np.inf, 1e-45], np.float32)
    values = np.array([1, np.nan, 3, -np.inf, 5, 6, np.inf, 1e-45], np.float32)
    begin, k = [0, 1, 2, 4, 6, 7], on(device, keys)
    found, lengths = cubc.run_length_encode(k)
    np.testing.assert_array_equal(cubc.asarray(found).numpy(), keys[begin])
    same(lengths, np.array([1, 1, 2, 2, 1, 1]))
    all_same(cubc.nontrivial_runs(k), (np.array([2, 4]), np.array([2, 2])))
    sums = cubc.reduce_by_key(k, on(device, values))[1]
    same(sums, np.array([1, np.nan, -np.inf, 11, np.inf, 1e-45], np.float32))


# ---- operators -----------------------------------------------------------------------------------
@pytest.mark.parametrize("op", ["min", "max", "prod"])
def test_operators(device, op):
    keys, values = keys_of("I16", 30_001), values_of("I32", 30_001)
    ufunc = {"min": np.minimum, "max": np.maximum, "prod": np.multiply}[op]
    expected = ufunc.reduceat(values, heads(keys), dtype="i8" if op == "prod" else None)
    same(cubc.reduce_by_key(on(device, keys), on(device, values), op)[1], expected)


def test_any_and_all(device):
    keys, values = keys_of("I32", 30_001), values_of("F32", 30_001)
    for op, ufunc in (("any", np.logical_or), ("all", np.logical_and)):
        expected = ufunc.reduceat(values != 0, heads(keys))
        same(cubc.reduce_by_key(on(device, keys), on(device, values), op)[1], expected)


def test_order_of_operands(device):
    """Affine maps do not commute; an operator of one's own has no identity."""
    keys, maps = keys_of("I32", 20_001, longest=3000), inputs.affine(20_001)
    begin = heads(keys)
    ends = np.append(begin[1:], keys.size)
    expected = [inputs.compose(maps[b:e])[-1] for b, e in zip(begin, ends, strict=True)]
    found = cubc.reduce_by_key(on(device, keys), on(device, maps), inputs.AFFINE)[1]
    same(found, np.array(expected, np.uint64))


def test_type_of_the_results(device):
    keys, values = keys_of("U8", 10_000), values_of("I8", 10_000)
    wide = sums_of(keys, values)
    k, v = on(device, keys), on(device, values)
    for dtype in (np.int8, np.float32, np.float64):
        same(cubc.reduce_by_key(k, v, dtype=dtype)[1], wide.astype(dtype))


# ---- outputs -------------------------------------------------------------------------------------
def test_out_and_count(device):
    """With count= nothing waits, and the whole of out comes back."""
    keys, values = keys_of("I32", 70_001), values_of("I64", 70_001)
    k, v = cubc.asarray(keys, device=device), cubc.asarray(values, device=device)
    count = cubc.asarray(np.zeros((), np.int64), device=device)
    out = cubc.empty(keys.size, "int32", device=device), cubc.empty(keys.size, device=device)
    expected = keys[heads(keys)], sums_of(keys, values).astype(np.float64)
    given = cubc.reduce_by_key(k, v, out=out, count=count)
    assert given[0] is out[0]
    assert given[1] is out[1]
    assert int(count) == expected[0].size
    all_same([part[: int(count)] for part in out], expected)
    all_same(cubc.reduce_by_key(k, v, out=out), expected)


def test_lengths_of_four_bytes(device):
    keys = keys_of("F64", 70_001)
    out = [cubc.empty(n, "int32", device=device) for n in (keys.size, keys.size // 2)]
    k, values = cubc.asarray(keys, device=device), cubc.empty(keys.size, device=device)
    same(cubc.run_length_encode(k, out=(values, out[0]))[1], lengths_of(keys).astype(np.int32))
    offsets = cubc.empty(keys.size // 2, "int64", device=device)
    same(
        cubc.nontrivial_runs(k, out=(offsets, out[1]))[1],
        inputs.longer_runs(keys)[1].astype(np.int32),
    )


@pytest.mark.parametrize("longest", [1, 8])
def test_in_place(device, longest):
    """A tile is read before anybody writes to where it lies."""
    keys, values = keys_of("I32", 300_001, longest=longest), values_of("I64", 300_001)
    for call, expected in (
        (cubc.reduce_by_key, sums_of(keys, values)),
        (cubc.unique_by_key, values[heads(keys)]),
    ):
        for _ in range(3):
            k, v = (cubc.asarray(x.copy(), device=device) for x in (keys, values))
            all_same(call(k, v, out=(k, v)), (keys[heads(keys)], expected))


def test_unaligned_arrays(device):
    keys, values = keys_of("I16", 30_002), values_of("F32", 30_002)
    k, v = (cubc.asarray(x, device=device)[1:] for x in (keys, values))
    all_same(cubc.unique_by_key(k, v), cubc.unique_by_key(keys[1:], values[1:], device="cpu"))
    check_all(device, keys[1:], values[1:])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: cubc.reduce_by_key(x, x[:3]), ValueError, "values of reduce_by_key has 3 items"),
        (lambda x: cubc.reduce_by_key(x, x, "argmax"), ValueError, "does not take argmax"),
        (lambda x: cubc.reduce_by_key(x, x, "smu"), LookupError, "did you mean 'sum'"),
        (lambda x: cubc.reduce_by_key(x, x, "a +"), cubc.CompileError, "does not compile"),
        (lambda x: cubc.reduce_by_key(x, x, out=x), TypeError, "out must be a tuple of two"),
        (lambda x: cubc.reduce_by_key(x.reshape(2, 5), x), ValueError, "of one dimension"),
        (lambda x: cubc.reduce_by_key(x, x.reshape(2, 5)), ValueError, "of one dimension"),
        (lambda x: cubc.reduce_by_key(x, x, out=(x[:9], x)), ValueError, "shape"),
        (lambda x: cubc.reduce_by_key(x, x, kount=x), TypeError, "did you mean 'count'"),
        (lambda x: cubc.unique_by_key(x, x, out=(x, x)), ValueError, "overlap"),
        (lambda x: cubc.run_length_encode(x, out=(x, x / 2)), TypeError, "I64 or I32, not F64"),
        (lambda x: cubc.run_length_encode(x, count=np.zeros((), "i4")), TypeError, "int32"),
        (lambda x: cubc.nontrivial_runs(x, out=(x, x)), ValueError, "shape"),
    ],
)
def test_wrong_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call(np.arange(10))


# ---- properties ----------------------------------------------------------------------------------
@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(1, 2000)), max_size=20))
def test_lengths_put_the_runs_together_again(runs):
    x = np.repeat([v for v, _ in runs], [n for _, n in runs]).astype(np.int64)
    values, lengths = cubc.run_length_encode(x, device="cpu")
    same(np.repeat(values, lengths), x)
    assert (values[1:] != values[:-1]).all()
    offsets, longer = cubc.nontrivial_runs(x, device="cpu")
    same(longer, lengths[lengths > 1])
    same(x[offsets], values[lengths > 1])
