"""Runs of items that are equal by an equality of the caller's own, against NumPy."""

import inputs
import numpy as np
import pytest
from inputs import SOME, TYPES, heads, on, same

import cubc

N = 30_001
POINT = np.dtype([("id", "i4"), ("w", "f4")])
TENS = "a / 10 == b / 10"


def check(result, *expected):
    result = result if isinstance(result, tuple) else (result,)
    for one, right in zip(result, expected, strict=True):
        same(one, right)


def check_all(device, keys, begin, equal, calls=slice(None)):
    """Each call by the places at which its runs begin, or those of a slice."""
    values = np.arange(keys.size, dtype="i8") % 7
    k, v = on(device, keys), on(device, values)
    lengths = np.diff(np.append(begin, keys.size))
    sums = np.add.reduceat(values, begin) if keys.size else values
    run = np.repeat(np.arange(begin.size), lengths)
    before = np.concatenate([[0], np.cumsum(sums)])[run] if keys.size else values
    longer = lengths > 1
    same_order = {"equal": equal, "deterministic": True}
    expected = [
        (lambda: cubc.unique_consecutive(k, equal=equal), keys[begin]),
        (lambda: cubc.unique_by_key(k, v, equal=equal), keys[begin], values[begin]),
        (lambda: cubc.run_length_encode(k, equal=equal), keys[begin], lengths),
        (lambda: cubc.nontrivial_runs(k, equal=equal), begin[longer], lengths[longer]),
        (lambda: cubc.reduce_by_key(k, v, equal=equal), keys[begin], sums),
        (lambda: cubc.scan_by_key(k, v, equal=equal), np.cumsum(values) - before),
        (lambda: cubc.reduce_by_key(k, v, **same_order), keys[begin], sums),
        (lambda: cubc.scan_by_key(k, v, **same_order), np.cumsum(values) - before),
    ]
    for call, *right in expected[calls]:
        check(call(), *right)


@pytest.mark.parametrize(("number", "type"), list(enumerate(SOME)))
def test_every_type(device, number, type):
    """Two of the calls for each type: each call meets three sizes of keys."""
    calls = slice((number + number // 4) % 4, None, 4)
    for n in (0, 1, 2, 33, N):
        keys = np.repeat(np.random.default_rng(n).integers(0, 100, n), 3)[:n].astype(TYPES[type])
        tens = inputs.exact(keys).astype("i8") // 10
        text = "static_cast<i64>(a) / 10 == static_cast<i64>(b) / 10"
        check_all(device, keys, heads(tens), text, calls)


@pytest.mark.parametrize("n", [1, 1000, N])
def test_of_the_item_before(device, n):
    """Each pair is asked about by itself: a chain of near items is one run."""
    keys = np.cumsum(np.random.default_rng(0).integers(0, 3, n)).astype("f8")
    begin = np.flatnonzero(np.concatenate([[True], np.diff(keys) > 1]))
    check_all(device, keys, begin, "b - a <= 1")
    check_all(device, keys, begin, lambda a, b: b - a <= 1, slice(0, None, 4))


def test_all_and_none_are_equal(device):
    check_all(device, np.arange(N, dtype="i4") % 10, np.zeros(1, "i8"), TENS)
    check_all(device, np.arange(0, 10 * N, 10, dtype="i4"), np.arange(N), TENS)
    keys = inputs.random("I32", N)
    check_all(device, keys, np.zeros(1, "i8"), "true", slice(0, None, 4))
    check_all(device, keys, np.arange(N), "false", slice(0, None, 4))


def test_nan_is_one_run_if_asked(device):
    keys = np.array([np.nan, np.nan, 1, 1, np.nan])
    made = cubc.unique_consecutive(on(device, keys), equal="a == b || (a != a && b != b)")
    same(made, np.array([np.nan, 1, np.nan]))


def test_structs(device):
    keys = np.zeros(N, POINT)
    keys["id"] = np.arange(N) // 5
    keys["w"] = inputs.random("F32", N)
    begin, values = np.arange(0, N, 5), np.ones(N, "i4")
    k, v = on(device, keys), on(device, values)
    for equal in ("a.id == b.id", lambda a, b: a.id == b.id):
        assert np.array_equal(np.asarray(cubc.unique_consecutive(k, equal=equal)), keys[begin])
        first, totals = cubc.reduce_by_key(k, v, equal=equal)
        assert np.array_equal(np.asarray(first), keys[begin])
        same(totals, np.diff(np.append(begin, N)))
        same(cubc.scan_by_key(k, v, equal=equal), (np.arange(N) % 5 + 1).astype("i4"))


def test_complex(device):
    keys = np.repeat(np.arange(9), 3) * np.tile([1, 1j, -1], 9)
    made = cubc.run_length_encode(on(device, keys), equal="abs(a) == abs(b)")
    check(made, keys[::3], np.full(9, 3))


def test_in_place_and_without_waiting(device):
    keys = inputs.random("I32", N) & 63
    k, begin = on(device, keys.copy()), heads(keys // 10)
    count = cubc.empty((), "int64", device=device) if device != "cpu" else np.zeros((), "i8")
    assert cubc.unique_consecutive(k, out=k, count=count, equal=TENS) is k
    assert int(np.asarray(count)) == begin.size
    same(np.asarray(k)[: begin.size], keys[begin])


def test_lazy_keys(device):
    keys = inputs.random("I32", N) & 63
    z = cubc.lazy("x & 63", x=on(device, inputs.random("I32", N)))
    begin = heads(keys // 10)
    same(cubc.unique_consecutive(z, equal=TENS), keys[begin])
    same(cubc.run_length_encode(z, equal=TENS)[0], keys[begin])


def test_strided():
    wide = np.arange(60).reshape(20, 3)
    same(cubc.unique_consecutive(wide[:, 1], equal=TENS), np.array([1, 10, 22, 31, 40, 52]))


SCAN = {"op": "sum", "equal": "a", "acc_type": "i8", "out": ("i8", "in", None)}
SELECT = {"predicate": "x", "equal": "a", "out": ("in", "in", None), "count": ("i8", (), None)}


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: cubc.unique_consecutive(x, equal=" "), ValueError, "the equality is empty"),
        (lambda x: cubc.unique_consecutive(x, equal="a =="), cubc.CompileError, "expression"),
        (lambda x: cubc.unique_consecutive(x, equal=3), TypeError, "equal"),
        (lambda x: cubc.run_length_encode(x, equal=lambda a: a), TypeError, "1 parameters"),
        (lambda x: cubc.scan_by_key(x, x, equal=""), ValueError, "the equality is empty"),
        (lambda x: cubc.reduce_by_key(x, x, equal="c"), cubc.CompileError, "'c'"),
        (lambda x: cubc._core.call("scan", {"in": x, **SCAN}), ValueError, "give keys"),
        (lambda x: cubc._core.call("select", {"in": x, **SELECT}), ValueError, "one of"),
    ],
)
def test_wrong_arguments(call, error, words):
    with cubc.device("cpu"), pytest.raises(error, match=words):
        call(np.arange(9))
