"""Sorts of segments against loops over NumPy's sorts, and the numbers of segments."""

import inputs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs import SOME, in_turn, on, same

import cubc
from cubc import _core


def offsets_of(n, count, seed=0):
    return np.sort(np.random.default_rng(seed).integers(0, n + 1, count + 1))


def indices_of(x, offsets, *, descending=False):
    """The stable order of each segment, and of what is before and behind them."""
    keys = inputs.exact(x)
    if descending:  # stable: of equal items the first stays the first
        keys = -np.unique(keys, return_inverse=True)[1]
    return np.lexsort((keys, np.searchsorted(offsets, np.arange(x.size), side="right")))


WAYS = [(False, "i4"), (False, "i8"), (True, "i8"), (True, "i4")]  # descending, offsets


@pytest.mark.parametrize(("type", "way"), in_turn(SOME, WAYS, 4))
def test_every_type(device, type, way):
    descending, kind = way
    x = inputs.random(type, 20_000)
    for count in (1, 37, 6000):
        offsets = offsets_of(x.size, count, seed=count).astype(kind)
        given, where = on(device, x), on(device, offsets)
        indices = indices_of(x, offsets, descending=descending)
        same(cubc.segmented_sort(given, where, descending=descending), x[indices])
        if type in ("I8", "F32"):
            same(cubc.segmented_argsort(given, where, descending=descending), indices)


@pytest.mark.parametrize("label", ["base", "ipt_5.tpb_192.mb_2", "ipt_4.tpb_64.mb_1"])
@pytest.mark.parametrize("size", [1, 2, 7, 100, 1000, 4200, 21_000])
def test_segments_of_one_size(device, policies, size, label):
    """With variants of the GPU too, whose tiles hold several segments or a part of one."""
    x = inputs.random("I16", 21_000)
    for name in ("keys", "pairs"):
        if label != "base":
            arch = cubc.device_info(device)["arch"]
            _core.use_policy(f"segmented_sort.{name}", {"T{ct}": "I16"}, arch, label)
    rows = x.reshape(-1, size)
    same(cubc.segmented_sort(on(device, x), segment_size=size), np.sort(rows).ravel())
    indices = np.argsort(rows, kind="stable") + np.arange(0, x.size, size)[:, None]
    same(cubc.segmented_argsort(on(device, x), segment_size=size), indices.ravel())


@pytest.mark.parametrize(("type", "length"), in_turn(["F32", "I8", "U64"], [8, 300, 70_000], 2))
def test_boundaries_of_the_policy(device, type, length):
    x = inputs.random(type, 300_000)
    for n in inputs.sizes("segmented_sort.keys", type, device, SegmentSize=length):
        if n > x.size:
            continue
        offsets = np.minimum(np.arange(n // length + 2) * length + n % 7, n)
        result = cubc.segmented_sort(on(device, x[:n]), on(device, offsets))
        same(result, x[:n][indices_of(x[:n], offsets)])


@pytest.mark.usefixtures("as_users_have")
def test_many_small_segments(device):
    lengths = np.random.default_rng(1).integers(1, 17, 300_000)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    x = inputs.random("I32", offsets[-1])
    both = (np.repeat(np.arange(lengths.size), lengths) << 32) + x  # the segment, then the key
    result = np.asarray(cubc.segmented_sort(on(device, x), on(device, offsets)))
    assert result.dtype == x.dtype
    same((np.repeat(np.arange(lengths.size), lengths) << 32) + result, np.sort(both))


@pytest.mark.parametrize("kind", ["random", "equal", "few", "sorted", "falling"])
def test_long_segments_among_short_ones(device, kind):
    """Long ones of every number of windows, which begin and end anywhere in them."""
    lengths = np.array([3, 1, 0, 80_000, 2, 0, 7, 9000, 9001, 17_000, 40_000, 5, 123_456, 8192])
    offsets = np.concatenate([[11], 11 + np.cumsum(lengths)])
    x = {
        "random": inputs.random("I32", offsets[-1] + 13),
        "equal": np.zeros(offsets[-1] + 13, np.int32),
        "few": inputs.random("I32", offsets[-1] + 13) % 3,
        "sorted": np.arange(offsets[-1] + 13, dtype=np.int32),
        "falling": -np.arange(offsets[-1] + 13, dtype=np.int32),
    }[kind]
    indices = indices_of(x, offsets)
    given, where = on(device, x), on(device, offsets)
    same(cubc.segmented_sort(given, where), x[indices])
    same(cubc.segmented_argsort(given, where), indices)
    keys, values = cubc.segmented_sort_pairs(given, on(device, np.arange(x.size)), where)
    same(keys, x[indices])
    same(values, indices)


def test_pairs(device):
    keys = inputs.random("I8", 30_000)
    offsets = offsets_of(keys.size, 999)
    indices = indices_of(keys, offsets)
    for values in (np.arange(keys.size), np.arange(2 * keys.size).reshape(-1, 2)):
        result = cubc.segmented_sort_pairs(
            on(device, keys), on(device, values), on(device, offsets)
        )
        same(result[0], keys[indices])
        same(result[1], values[indices])


@pytest.mark.parametrize("n", [0, 1, 2, 4095, 4097, 100_003])
def test_numbers_of_segments(device, n):
    for count in (0, 1, 50, 20_000):
        offsets = offsets_of(n, count, seed=n)
        for kind in ("int32", "int64"):
            fields = {"offsets": on(device, offsets), "segments": count, "out": (kind, (n,), None)}
            (ids,) = _core.call("segment_ids", fields, device="cpu" if device == "cpu" else None)
            same(ids, np.searchsorted(offsets, np.arange(n), side="right").astype(kind))


def test_special_values(device):
    x = np.array([np.nan, 1, -0.0, 0.0, np.inf, -np.inf, np.nan, 1e-45, 5, 2], np.float32)
    offsets = np.array([0, 4, 4, 8, 10])
    result = np.asarray(cubc.segmented_sort(on(device, x), on(device, offsets)))
    assert result.dtype == x.dtype
    np.testing.assert_array_equal(
        result, np.concatenate([np.sort(x[:4]), np.sort(x[4:8]), np.sort(x[8:])])
    )
    assert np.signbit(result[:2]).tolist() == [True, False]  # -0.0 before 0.0


@pytest.mark.parametrize("kind", ["falling", "outside", "noise"])
def test_wrong_offsets_do_no_harm(device, kind):
    """Results of wrong segments are undefined; there is no fault, and right ones stay right."""
    x = inputs.random("I32", 50_000)
    offsets = {
        "falling": np.arange(50_000, -1, -10),
        "outside": np.array([-(2**62), -5, 10, 20_000, 2**40, 2**62]),
        "noise": np.random.default_rng(3).integers(-(2**63), 2**63 - 1, 3000),
    }[kind]
    result = np.asarray(
        cubc.segmented_sort(*(cubc.asarray(a, device=device) for a in (x, offsets)))
    )
    assert result.shape == x.shape
    if kind == "outside":
        same(result, x[indices_of(x, np.array([0, 0, 10, 20_000, 50_000, 50_000]))])


def test_out(device):
    x = cubc.asarray(inputs.random("I32", 1000), device=device)
    offsets = cubc.asarray(np.array([0, 400, 1000]), device=device)
    out = cubc.empty(1000, "int32", device=device)
    assert cubc.segmented_sort(x, offsets, out=out) is out
    same(out, np.concatenate([np.sort(np.asarray(x)[:400]), np.sort(np.asarray(x)[400:])]))


@pytest.mark.parametrize("n", [1000, 100_003])
def test_in_place(device, n):
    keys, offsets = inputs.random("I8", n), offsets_of(n, 5)
    indices = indices_of(keys, offsets)
    k, v = cubc.asarray(keys.copy(), device=device), cubc.asarray(np.arange(n), device=device)
    o = cubc.asarray(offsets, device=device)
    assert cubc.segmented_sort_pairs(k, v, o, out=(k, v)) == (k, v)
    same(k, keys[indices])
    same(v, indices)
    assert cubc.segmented_sort(v, o, out=v) is v
    same(v, np.arange(n))
    with pytest.raises(ValueError, match="overlap"):
        cubc.segmented_sort(v[1:], o, out=v[:-1])
    index = cubc.asarray(np.sort(np.arange(n)), device=device)
    with pytest.raises(ValueError, match="overlap"):
        cubc.segmented_argsort(k, index, out=index)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: cubc.segmented_sort(x), ValueError, "one of the two"),
        (lambda x: cubc.segmented_sort(x, segment_size=3), ValueError, "no multiple"),
        (lambda x: cubc.segmented_sort(x.reshape(2, 5), [0, 1]), ValueError, "one dimension"),
        (lambda x: cubc.segmented_sort(x, [0.0, 1.0]), TypeError, "offsets are integers"),
        (lambda x: cubc.segmented_sort(x, [0, 9], decending=1), TypeError, "descending"),
        (lambda x: cubc.segmented_sort_pairs(x, x, [0, 9], out=x), TypeError, "tuple of two"),
        (lambda x: cubc.segmented_sort(x, [0, 9], out=x[:3]), ValueError, "shape"),
        (lambda x: cubc.segmented_sort_pairs(x, x[:3], [0, 9]), ValueError, "3 items"),
    ],
)
def test_wrong_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call(np.arange(10))


@settings(max_examples=30)
@given(st.lists(st.integers(0, 30), max_size=200), st.integers(0, 2**32 - 1))
def test_segments_keep_their_items(lengths, seed):
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    x = np.random.default_rng(seed).integers(-9, 9, offsets[-1])
    indices = cubc.segmented_argsort(x, offsets, device="cpu")
    same(indices, indices_of(x, offsets))
