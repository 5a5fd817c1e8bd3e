"""cubc.scan_by_key against NumPy."""

import inputs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs import TYPES, heads, in_turn, on, same

import cubc


def keys_of(type, n, longest=8):
    draw, runs = np.random.default_rng(n), 4 * n // longest + 64  # twice as many as needed
    keys, lengths = draw.integers(0, 5, runs), draw.integers(1, longest + 1, runs)
    return np.repeat(keys, lengths)[:n].astype(TYPES[type])


def reference(keys, values, prefixes):
    """Prefixes of the values of each run, by `prefixes`."""
    parts = np.split(inputs.exact(values), heads(keys)[1:])
    return np.concatenate([prefixes(part) for part in parts]).astype(values.dtype)


def sums_of(keys, values, inclusive=True):
    """Prefix sums of the values of each run, which are exact or wrap around."""
    wide = inputs.exact(values)
    before, begin = np.cumsum(wide, dtype=wide.dtype) - wide, heads(keys)
    first = np.repeat(before[begin], np.diff(np.append(begin, keys.size)))
    return (before - first + (wide if inclusive else 0)).astype(values.dtype)


@pytest.mark.parametrize(("type", "inclusive"), in_turn(inputs.SOME, [True, False], 2))
def test_every_type(device, type, inclusive):
    for n in (1, 2, 1000, 20_001):
        keys, values = keys_of(type, n), inputs.random(type, n)
        k, v = on(device, keys), on(device, values)
        same(cubc.scan_by_key(k, v, inclusive=inclusive), sums_of(keys, values, inclusive))
    assert cubc.scan_by_key(k[:0], v[:0]).shape == (0,)


@pytest.mark.parametrize(("key", "value"), [("I8", "F64"), ("F64", "I8")])
@pytest.mark.parametrize("longest", [1, 5000])
def test_mixed_types(device, key, value, longest):
    keys, values = keys_of(key, 30_001, longest), inputs.random(value, 30_001)
    result = cubc.scan_by_key(on(device, keys), on(device, values))
    same(result, sums_of(keys, values))


@pytest.mark.parametrize("type", ["F32", "I8", "U64"])
def test_boundaries_of_the_policy(device, type):
    keys, values = keys_of(type, 300_000), inputs.random(type, 300_000)
    for n in inputs.sizes("scan.by_key", type, device)[1:]:
        result = cubc.scan_by_key(on(device, keys[:n]), on(device, values[:n]))
        same(result, sums_of(keys[:n], values[:n]))


@pytest.mark.parametrize("longest", [30, 400, 100_000])
@pytest.mark.parametrize("inclusive", [True, False])
def test_runs_across_tiles(device, longest, inclusive):
    """A tile finds the beginning of the run across its own among the items before it, or waits."""
    n = 700_001
    keys, values = keys_of("I32", n, longest), inputs.random("I64", n)
    result = cubc.scan_by_key(on(device, keys), on(device, values), inclusive=inclusive)
    same(result, sums_of(keys, values, inclusive))


def test_initial_values(device):
    keys, values = keys_of("I32", 20_001), inputs.random("I64", 20_001)
    k, v = on(device, keys), on(device, values)
    same(cubc.scan_by_key(k, v, init=7), reference(keys, values, lambda x: 7 + np.cumsum(x)))
    result = cubc.scan_by_key(k, v, "max", inclusive=False, init=3)
    most = reference(
        keys, values, lambda x: np.maximum.accumulate(np.concatenate([[3], x[:-1]])).astype("i8")
    )
    same(result, most)
    with pytest.raises(ValueError, match="needs an initial value"):
        cubc.scan_by_key(k, v, "max", inclusive=False)


def test_order_of_operands(device):
    keys, maps = keys_of("I32", 20_001, longest=3000), inputs.affine(20_001)
    result = cubc.scan_by_key(on(device, keys), on(device, maps), inputs.AFFINE)
    same(result, reference(keys, maps, inputs.compose))


def test_special_keys(device):
    keys = np.array([np.nan, np.nan, -0.0, 0.0, np.inf, np.inf], np.float32)
    result = cubc.scan_by_key(on(device, keys), on(device, np.ones(6, np.int8)))
    same(result, np.array([1, 1, 1, 2, 1, 2], np.int8))


def test_out_and_in_place(device):
    keys, values = keys_of("I32", 300_001), inputs.random("I32", 300_001)
    expected = reference(keys, values, np.cumsum)
    k, v = cubc.asarray(keys, device=device), cubc.asarray(values.copy(), device=device)
    out = cubc.empty(keys.size, "float64", device=device)
    assert cubc.scan_by_key(k, v, out=out) is out
    same(out, reference(keys, values.astype("f8"), np.cumsum))
    same(cubc.scan_by_key(k, v, out=v), expected)
    with pytest.raises(ValueError, match="overlap"):
        cubc.scan_by_key(k, v, out=k)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: cubc.scan_by_key(x, x[:3]), ValueError, "keys of scan_by_key has 10 items"),
        (lambda x: cubc.scan_by_key(x, x, "argmin"), ValueError, "does not take argmin"),
        (lambda x: cubc.scan_by_key(x.reshape(2, 5), x), ValueError, "of one dimension"),
        (lambda x: cubc.scan_by_key(x, x, inklusive=1), TypeError, "did you mean 'inclusive'"),
        (lambda x: cubc.scan_by_key(x, x, init="x"), TypeError, "init is 'x': expected a number"),
    ],
)
def test_wrong_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call(np.arange(10))


@settings(max_examples=40)
@given(st.lists(st.integers(1, 2000), max_size=20), st.integers(0, 2**32 - 1))
def test_a_run_ends_with_its_sum(lengths, seed):
    keys = np.repeat(np.arange(len(lengths)), lengths)
    values = np.random.default_rng(seed).integers(-(2**62), 2**62, keys.size)
    ends = np.cumsum(np.array(lengths, int)) - 1
    scanned = cubc.scan_by_key(keys, values, device="cpu")
    same(scanned[ends], cubc.reduce_by_key(keys, values, device="cpu")[1])
