"""Sorts by some bits of floats, which are those of codes that have the floats' order."""

import numpy as np
import pytest
from inputs import TYPES, on

import cubc


def bits(x):
    return x.view(f"u{x.itemsize}")


def same_bits(result, expected):
    result = np.asarray(result)
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(bits(result), bits(expected))


def keys(type, n):
    size = np.dtype(TYPES[type]).itemsize
    return np.random.default_rng(n).integers(0, 256, n * size, np.uint8).view(TYPES[type])


def codes(x):
    """The unsigned numbers in the order of floats whose bits are sorted by, as CUB makes them."""
    sign = 1 << 8 * x.itemsize - 1
    return np.where(bits(x) & sign, ~bits(x), bits(x) | sign)


@pytest.mark.parametrize("type", ["F16", "BF16", "F32", "F64"])
@pytest.mark.parametrize("n", [3000, 150_000])
def test_bits_of_floats(device, type, n):
    """Keys have all bit patterns, or are numbers that the cpu would split by their values."""
    for x in (keys(type, n), np.random.default_rng(n).random(n).astype(TYPES[type])):
        x[:2] = [0.0, -0.0]
        d, v, most = on(device, x), np.arange(n)[::-1].copy(), 8 * x.itemsize
        cuts = [(0, most // 2), (most // 2, most)]
        if n < 10_000:
            cuts += [(most - 1, None), (4, 15), (5, 5), (0, 0)]
        for turn, (begin, end) in enumerate(cuts):
            cut = codes(x) >> begin & (1 << (most if end is None else end) - begin) - 1
            for falls in (False, True):
                options = {"begin_bit": begin, "end_bit": end, "descending": falls}
                by = np.argsort(~cut if falls else cut, kind="stable")
                same_bits(cubc.sort(d, **options), x[by])
                if turn % 2 == falls:
                    same_bits(cubc.argsort(d, **options), by)
                    continue
                sorted_keys, values = cubc.sort_pairs(d, on(device, v), **options)
                same_bits(sorted_keys, x[by])
                same_bits(values, v[by])
                copy = on(device, x.copy())
                assert cubc.sort(copy, out=copy, **options) is copy
                same_bits(copy, x[by])
        same_bits(cubc.sort(d, begin_bit=0, end_bit=most), np.asarray(cubc.sort(d)))


def test_bits_of_lazy_floats_and_of_rows_beside_them(device):
    x, rows = keys("F32", 2000), np.arange(4000).reshape(2000, 2)
    d, by = on(device, x), np.argsort(codes(x) >> 16, kind="stable")
    sorted_keys, moved = cubc.sort_pairs(d, on(device, rows), begin_bit=16)
    same_bits(sorted_keys, x[by])
    same_bits(moved, rows[by])
    y = np.random.default_rng(0).random(2000) - 0.5
    by = np.argsort(codes(-y) >> 40, kind="stable")
    same_bits(cubc.sort(cubc.lazy("-y", y=on(device, y)), begin_bit=40), -y[by])
