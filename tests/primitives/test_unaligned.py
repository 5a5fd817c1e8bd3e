"""Arrays that begin anywhere, as views of arrays do: each at a place of its own, each primitive.

The last item is the last of its allocation, so that a tool that watches memory sees what is read
beyond it.
"""

import numpy as np
import pytest

import cubc

N = 70_003
FIRST = (1, 2, 3, 5, 7)
TYPES = ("i1", "f2", "i4", "f8", "c16")  # one of each size


def at(device, first, x):
    """An array with the items of x, which begins `first` items behind an aligned place."""
    whole = np.concatenate([np.full(first, 77).astype(x.dtype), x])
    return cubc.asarray(whole, device=device)[first:]


def on_host(array):
    return array.numpy() if hasattr(array, "numpy") else np.asarray(array)


def same(result, expected):
    np.testing.assert_array_equal(on_host(result), expected)


def keys(dtype, first):
    draw = np.random.default_rng(first)
    return draw.integers(-50 if dtype[0] in "if" else 0, 50, N).astype(dtype)


@pytest.mark.parametrize("first", FIRST)
@pytest.mark.parametrize("dtype", TYPES)
def test_sums_and_scans(device, dtype, first):
    x = keys(dtype, first)
    d = at(device, first, x)
    total = x.sum(dtype={"i": "i8", "u": "u8"}.get(dtype[0]))
    assert on_host(cubc.sum(d)) == pytest.approx(total, rel=1e-2 if dtype == "f2" else 1e-6)
    segments = N // 1000
    parts = x[: segments * 1000].astype("c16").reshape(segments, 1000).sum(axis=1)
    sums = cubc.segmented_reduce(at(device, first, x[: segments * 1000]), segment_size=1000)
    np.testing.assert_allclose(on_host(sums), parts, rtol=1e-2 if dtype == "f2" else 1e-5)
    if dtype[0] in "iu":
        out = at(device, first + 2, np.zeros(N, "i8"))
        cubc.scan(d, out=out)
        same(out, x.cumsum(dtype="i8"))


@pytest.mark.parametrize("first", FIRST)
@pytest.mark.parametrize("dtype", TYPES)
def test_maps(device, dtype, first):
    x, y = keys(dtype, first), keys(dtype, first + 1)
    out = at(device, first + 3, np.zeros_like(x))
    cubc.transform("x + y", x=at(device, first, x), y=at(device, 0, y), out=out)
    same(out, x + y)


@pytest.mark.some
@pytest.mark.parametrize("first", FIRST)
@pytest.mark.parametrize("dtype", ["i1", "f8"])  # each is nine kernels
def test_what_compares(device, dtype, first):
    x = keys(dtype, first)
    d = at(device, first, x)
    assert on_host(cubc.argmin(d)) == x.argmin()
    same(cubc.select(d, "x < 3"), x[x < 3])
    same(cubc.sort(d), np.sort(x, kind="stable"))  # NumPy 2.4 missorts f2 otherwise
    moved = cubc.sort_pairs(d, at(device, first + 1, np.arange(N, dtype="u4")))
    same(moved[1], np.argsort(x, kind="stable"))
    same(cubc.unique_consecutive(d), x[np.r_[True, x[1:] != x[:-1]]])
    same(cubc.histogram(d, 64, (0, 64))[0], np.histogram(x.astype("f8"), 64, (0, 64))[0])
    top = np.sort(on_host(cubc.topk(d, 100)[0]), kind="stable")
    same(top, np.sort(x, kind="stable")[-100:])
    assert on_host(cubc.find_if(d, "x == 7")) == np.flatnonzero(x == 7)[0]
    table = np.arange(-50, 50, 3).astype(dtype) if dtype[0] != "u" else np.arange(0, 50, 3, dtype)
    same(cubc.searchsorted(at(device, first, table), d), np.searchsorted(table, x))


@pytest.mark.parametrize("dtype", ["i1", "u2", "3i1"])
def test_what_is_prefetched(device, dtype):
    """Arrays that are longer than what tiles fetch ahead, and pairs, whose values are fetched."""
    n = 7_000_003 // np.dtype(dtype).itemsize
    x = np.zeros(n, np.dtype([("a", "i1", 3)]) if dtype == "3i1" else dtype)
    x.view("u1")[:] = (np.arange(x.nbytes) // 1000 % 100).astype("u1")
    d = at(device, 1, x)
    if dtype == "3i1":
        same(cubc.select(d, "x.a[0] < 7"), x[x["a"][:, 0] < 7])
        return
    same(cubc.unique_consecutive(d), x[np.r_[True, x[1:] != x[:-1]]])
    same(cubc.scan(d, "max", dtype=dtype), np.maximum.accumulate(x))
    same(cubc.select(d, "x < 7"), x[x < 7])
    few = at(device, 1, np.arange(N % 256, -1, -1, dtype="i4"))
    values = np.arange(few.size).astype(dtype)
    same(cubc.sort_pairs(few, at(device, 1, values))[1], values[::-1])


class Shaped:
    """An array with another shape, of the same size."""

    def __init__(self, array, shape):
        self.array = array  # keeps the memory
        self.__cuda_array_interface__ = array.__cuda_array_interface__ | {"shape": shape}


@pytest.mark.parametrize("first", FIRST)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("columns", [48, 50])
def test_columns(device, dtype, first, columns):
    """Rows of a multiple of 16 bytes, all of which begin as far behind one, and others."""
    x = keys(dtype, first)[: 1000 * columns].reshape(1000, columns)
    d = at(device, first, x.ravel())
    d = np.asarray(d).reshape(x.shape) if device == "cpu" else Shaped(d, x.shape)
    expected = x.astype("c16").sum(axis=0)
    sums = on_host(cubc.sum(d, axis=0))
    np.testing.assert_allclose(sums, expected, rtol=1e-2 if dtype == "f2" else 1e-5, atol=1e-3)
    if dtype != "c16":
        same(cubc.max(d, axis=1), x.max(axis=1))
