"""Sorts of segments against loops over NumPy's sorts, and the numbers of segments."""

from itertools import pairwise

import inputs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs import TYPES, on, same

import cubc
from cubc import _core


def offsets_of(n, count, seed=0):
    return np.sort(np.random.default_rng(seed).integers(0, n + 1, count + 1))


def parts_of(n, offsets):
    """Slices of the segments, and of what is before and behind them."""
    return [slice(begin, end) for begin, end in pairwise([0, *offsets, n])]


def indices_of(x, offsets, *, descending=False):
    """The stable order of each segment."""
    keys = inputs.exact(x)
    out = []
    for part in parts_of(x.size, offsets):
        if descending:  # stable: of equal items the first stays the first
            order = (part.stop - part.start - 1) - np.argsort(keys[part][::-1], kind="stable")[::-1]
        else:
            order = np.argsort(keys[part], kind="stable")
        out.append(order + part.start)
    return np.concatenate(out)


@pytest.mark.parametrize("type", TYPES)
def test_every_type(device, type):
    x = inputs.random(type, 20_000)
    for count, kind in ((1, np.int32), (37, np.int64), (6000, np.int32)):
        offsets = offsets_of(x.size, count, seed=count).astype(kind)
        given, where = on(device, x), on(device, offsets)
        for descending in (False, True):
            indices = indices_of(x, offsets, descending=descending)
            same(cubc.segmented_sort(given, where, descending=descending), x[indices])
            if type in ("I8", "F32"):
                same(cubc.segmented_argsort(given, where, descending=descending), indices)


@pytest.mark.parametrize("size", [1, 2, 7, 100, 21_000])
def test_segments_of_one_size(device, size):
    x = inputs.random("I16", 21_000)
    rows = x.reshape(-1, size)
    same(cubc.segmented_sort(on(device, x), segment_size=size), np.sort(rows).ravel())
    indices = np.argsort(rows, kind="stable") + np.arange(0, x.size, size)[:, None]
    same(cubc.segmented_argsort(on(device, x), segment_size=size), indices.ravel())


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
    np.testing.assert_array_equal(
        result, np.concatenate([np.sort(x[:4]), np.sort(x[4:8]), np.sort(x[8:])])
    )
    assert np.signbit(result[:2]).tolist() == [True, False]  # -0.0 before 0.0


def test_wrong_offsets_lose_no_item(device):
    x = inputs.random("I32", 5000)
    for offsets in (np.arange(5000, -1, -10), np.array([-(2**62), 2**62, 3])):
        result = cubc.segmented_sort(on(device, x), on(device, offsets))
        same(np.sort(np.asarray(result)), np.sort(x))


def test_out(device):
    x = cubc.asarray(inputs.random("I32", 1000), device=device)
    offsets = cubc.asarray(np.array([0, 400, 1000]), device=device)
    out = cubc.empty(1000, "int32", device=device)
    assert cubc.segmented_sort(x, offsets, out=out) is out
    same(out, np.concatenate([np.sort(np.asarray(x)[:400]), np.sort(np.asarray(x)[400:])]))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: cubc.segmented_sort(x), ValueError, "one of the two"),
        (lambda x: cubc.segmented_sort(x, segment_size=3), ValueError, "no multiple"),
        (lambda x: cubc.segmented_sort(x.reshape(2, 5), [0, 1]), ValueError, "one dimension"),
        (lambda x: cubc.segmented_sort(x, np.array([0, 1], "u4")), TypeError, "I32 or I64"),
        (lambda x: cubc.segmented_sort(x, [0, 9], decending=1), TypeError, "descending"),
        (lambda x: cubc.segmented_sort_pairs(x, x[:3], [0, 9]), ValueError, "3 items"),
    ],
)
def test_wrong_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call(np.arange(10))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 30), max_size=200), st.integers(0, 2**32 - 1))
def test_segments_keep_their_items(lengths, seed):
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    x = np.random.default_rng(seed).integers(-9, 9, offsets[-1])
    indices = cubc.segmented_argsort(x, offsets, device="cpu")
    same(indices, indices_of(x, offsets))
