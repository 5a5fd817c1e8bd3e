"""merge against a stable sort of both arrays."""

import inputs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs import on, same

import cubc
from cubc import _core


def sorted_random(type, n, seed):
    x = inputs.random(type, n, seed=seed)
    return x[np.argsort(inputs.exact(x), kind="stable")]


def check(device, a, b, less=None, key=lambda x: x):
    """Merge keys, and keys with where they were."""
    both = np.concatenate([a, b])
    order = np.argsort(key(inputs.exact(both)), kind="stable")
    given = on(device, a), on(device, b)
    places = np.arange(both.size)
    values = on(device, places[: a.size]), on(device, places[a.size :])
    same(cubc.merge(*given, less), both[order])
    keys, moved = cubc.merge(*given, less, values=values)
    same(keys, both[order])
    same(moved, order)


@pytest.mark.parametrize("type", inputs.SOME)
def test_every_type(device, type):
    for n, m in ((0, 0), (0, 1), (1, 1), (5, 1000), (30_000, 40_001)):
        check(device, sorted_random(type, n, 1), sorted_random(type, m, 2))


@pytest.mark.parametrize("type", ["I8", "F32", "I64"])
def test_boundaries_of_the_policy(device, type):
    for n in inputs.sizes("merge.keys", type, device):
        a, b = sorted_random(type, n // 3, 1), sorted_random(type, n - n // 3, 2)
        same(cubc.merge(on(device, a), on(device, b)), np.sort(np.concatenate([a, b])))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (np.zeros(50_000), np.zeros(70_001)),
        (np.arange(50_000), np.arange(50_000, 90_000)),
        (np.arange(50_000, 90_000), np.arange(50_000)),
        (np.arange(0, 100_000, 2), np.arange(1, 100_000, 2)),
        (np.arange(100_000), np.array([77_777])),
        (np.array([-5, 200_000]), np.arange(100_000)),
    ],
)
def test_patterns(device, a, b):
    check(device, a.astype(np.int32), b.astype(np.int32))


def test_a_comparison(device):
    draw = np.random.default_rng(0)
    a, b = (np.sort(draw.integers(-1000, 1000, n))[::-1].copy() for n in (50_001, 30_000))
    check(device, a, b, "a > b", lambda x: -x)


def test_special_values(device):
    a = np.array([-np.inf, -1, -0.0, 0.0, 1e-45, np.inf, np.nan, np.nan], np.float32)
    b = np.array([-1, 0.0, -0.0, 2, np.nan], np.float32)
    check(device, a, b)


TILE, MANY = 4 * 64, 4096  # items; tiles from which a launch before the merge finds their crossings


@pytest.mark.parametrize("n", [0, MANY * TILE // 2 - 1, (MANY - 2) * TILE])
def test_many_tiles(device, n, policies):
    arch = cubc.device_info(device)["arch"]
    for benchmark in ("merge.keys", "merge.pairs"):
        _core.use_policy(benchmark, {"T{ct}": "I16"}, arch, "ipt_4.tpb_64.mb_1")
    check(device, sorted_random("I16", n, 1), sorted_random("I16", MANY * TILE - n - n % 2, 2))


def test_not_sorted(device):
    """The result is undefined, and nothing beyond it is touched."""
    x = inputs.random("I32", 50_001)
    given = cubc.asarray(x, device=device)
    room = cubc.asarray(np.full(2 * x.size + 2, 7, np.int32), device=device)
    cubc.merge(given, given, out=room[1:-1])
    room = np.asarray(room)
    assert room[0] == room[-1] == 7
    assert np.isin(room[1:-1], x).all()


@pytest.mark.parametrize("row", [1, 2, 4, 8, 16])
def test_values_of_every_size(device, row):
    draw = np.random.default_rng(row)
    a, b = (np.sort(draw.integers(0, 100, n)).astype(np.int16) for n in (9000, 12_001))
    va, vb = (draw.integers(0, 256, (x.size, row)).astype(np.uint8) for x in (a, b))
    keys, moved = cubc.merge(on(device, a), on(device, b), values=(on(device, va), on(device, vb)))
    both = np.concatenate([a, b])
    same(keys, np.sort(both))
    same(moved, np.concatenate([va, vb])[np.argsort(both, kind="stable")])


def test_out(device):
    a, b = (cubc.asarray(np.arange(n), device=device) for n in (10, 5))
    keys, values = cubc.empty(15, "int64", device=device), cubc.empty(15, "int64", device=device)
    assert cubc.merge(a, b, out=keys) is keys
    got = cubc.merge(a, b, values=(a, b), out=(keys, values))
    assert got[0] is keys
    assert got[1] is values
    same(values, np.sort(np.concatenate([np.arange(10), np.arange(5)])))


def test_lists():
    same(cubc.merge([1, 3], [2]), np.array([1, 2, 3]))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: cubc.merge(x, x, ""), ValueError, "the comparison is empty"),
        (lambda x: cubc.merge(x, x.astype("i4")), TypeError, "int32"),
        (lambda x: cubc.merge(x, x.reshape(2, 5)), ValueError, "one dimension"),
        (lambda x: cubc.merge(x, x, values=x), TypeError, "a tuple of two arrays"),
        (lambda x: cubc.merge(x, x, values=(x, x[:3])), ValueError, "3 items"),
        (lambda x: cubc.merge(x, x, values=(x, x.astype("f4"))), TypeError, "must be alike"),
        (lambda x: cubc.merge(x, x, values=(x, x), out=x), TypeError, "a tuple of two"),
        (lambda x: cubc.merge(x, x, out=np.empty(19, "i8")), ValueError, "shape"),
        (lambda x: cubc.merge(x[:5], x[:5], out=x), ValueError, "overlap"),
        (lambda x: cubc.merge(x, x[:0], out=x), ValueError, "overlap: a merge needs them"),
    ],
)
def test_wrong_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call(np.arange(10))


# ---- properties ----------------------------------------------------------------------------------
@settings(max_examples=40)
@given(st.lists(st.integers(-9, 9), max_size=3000), st.integers(0, 3000), st.integers(1, 20))
def test_a_stable_merge(items, cut, repeats):
    x = np.tile(np.array(items, np.int32), repeats)
    check("cpu", np.sort(x[:cut]), np.sort(x[cut:]))


def test_an_array_without_items_overlaps_none(device):
    x, y = on(device, np.zeros(10)), on(device, np.arange(10.0))
    same(cubc.merge(x[4:4], y, out=x), np.arange(10.0))
