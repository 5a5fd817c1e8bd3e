"""Kernels of kernels/*.cu, one per family of collectives, against NumPy.

    python collectives.py

runs all of them on the cpu, under the scheduler seed of CUBC_SIMT_SEED, in blocks of one thread and
of 32 to 1024: a missing barrier or a wrong mask shows as a wrong result or as a fault.
"""

import sys
from pathlib import Path

import numpy as np
from inputs import in_turn

import cubc

THREADS = (1, 32, 96, 1024)
FOLDER = Path(__file__).parents[1] / "kernels"


class Case:
    """One size of block on one device: makes kernels, and launches them on arrays."""

    def __init__(self, device, threads):
        self.device = device
        self.threads = threads if threads > 1 or device == "cpu" else 64
        self.warp = min(self.threads, 32)
        self.draw = np.random.default_rng(threads)

    def kernel(self, file, name, **defines):
        path = FOLDER / f"{file}.cu"
        return cubc.Kernel(path, name, defines=defines, block=self.threads, device=self.device)

    def launch(self, kernel, *arguments, grid=1):
        """Launch; the arrays that come out, in the order of the arguments."""
        there = [
            cubc.asarray(a.copy(), device=self.device) if isinstance(a, np.ndarray) else a
            for a in arguments
        ]
        kernel(*there, grid=grid)
        return [a.numpy() for a in there if isinstance(a, cubc.Array)]

    def blocked(self, n):
        """Places in the tile of the threads' items: [thread, item]."""
        return np.arange(self.threads * n).reshape(self.threads, n)

    def striped(self, n):
        return np.arange(self.threads * n).reshape(n, self.threads).T

    def warp_striped(self, n):
        warps = np.arange(self.threads * n).reshape(-1, n, self.warp)
        return warps.transpose(0, 2, 1).reshape(self.threads, n)


def compose(a, b):
    """The maps x -> p x + q one after the other; arrays of pairs (p, q)."""
    return np.stack([a[..., 0] * b[..., 0], b[..., 0] * a[..., 1] + b[..., 1]], -1)


def prefixes(maps, init=None):
    """Inclusive prefixes along the last but one axis; exclusive ones with an init."""
    out, first = np.empty_like(maps), maps[..., 0, :]
    if init is not None:
        out[..., 0, :] = init
    else:
        out[..., 0, :] = first
    for i in range(1, maps.shape[-2]):
        out[..., i, :] = compose(out[..., i - 1, :], maps[..., i if init is None else i - 1, :])
    return out


def maps(case, shape):
    return case.draw.integers(0, 2**32, (*shape, 2), np.uint32) | np.uint32(1)


INIT = np.array([3, 5], np.uint32)


def warps(case):
    x = maps(case, (2 * case.threads // case.warp, case.warp))
    empty, words = np.zeros_like(x), np.zeros(x.shape[:2], np.uint32)
    last = np.zeros_like(x[:, 0])
    kernel = case.kernel("warp", "warps")
    _, reduced, scanned, before, shuffled, same = case.launch(
        kernel, x, last, empty, empty, words, words, grid=2
    )
    np.testing.assert_array_equal(reduced, prefixes(x)[:, -1])
    np.testing.assert_array_equal(scanned, prefixes(x))
    np.testing.assert_array_equal(before, prefixes(x, INIT))
    lanes = np.arange(case.warp)
    np.testing.assert_array_equal(shuffled, x[:, (lanes * 3 + 1) % case.warp, 1])
    low = x[..., 1] & 3
    alike = (low[:, :, None] == low[:, None, :]) << lanes.astype(np.uint64)
    np.testing.assert_array_equal(same, alike.sum(-1))


def scans(case, n=3):
    x = maps(case, (2, case.threads * n))
    empty, one, ends = np.zeros_like(x), np.zeros_like(x[:, ::n]), np.zeros((2, 3, 2), np.uint32)
    kernel = case.kernel("scan", "scans", N=n)
    _, inclusive, exclusive, one, before_one, ends = case.launch(
        kernel, x, empty, empty, one, one, ends, grid=2
    )
    np.testing.assert_array_equal(inclusive, prefixes(x))
    np.testing.assert_array_equal(exclusive, prefixes(x, INIT))
    np.testing.assert_array_equal(one, prefixes(x[:, ::n]))
    np.testing.assert_array_equal(before_one, prefixes(x[:, ::n], INIT))
    last = prefixes(x)[:, -1]
    np.testing.assert_array_equal(ends, np.stack([last, last, compose(INIT, last)], 1))


def sums(case):
    x = case.draw.integers(0, 2**32, (2, case.threads), np.uint32)
    kernel = case.kernel("scan", "sums", N=1)
    _, before = case.launch(kernel, x, np.zeros_like(x), grid=2)
    np.testing.assert_array_equal(before, x.cumsum(1, dtype=np.uint32) - x)


def loads(case):
    ways = [(0, 4, "i2", "short"), (1, 3, "f8", "double"), (2, 4, "f4", "float")]
    for how, n, dtype, name in ways:
        tile = case.threads * n
        kernel = case.kernel("load", "tiles", HOW=how, N=n, T=name)
        for size in {1, tile - 1, tile, tile + 1, 2 * tile + tile // 2} - {0}:
            x = case.draw.integers(0, 1000, size).astype(dtype)
            tiles = -(-size // tile)
            padded = np.zeros(tiles * tile, dtype)
            _, held, y = case.launch(kernel, x, padded, np.zeros_like(x), size, grid=tiles)
            order = case.striped(n) if how == 1 else case.blocked(n)
            own = np.tile((np.arange(tile) % 100).astype(dtype), tiles)
            expected = np.append(x, padded[size:]).reshape(tiles, -1)[:, order.ravel()].ravel()
            inside = (order.ravel() + tile * np.arange(tiles)[:, None]).ravel() < size
            np.testing.assert_array_equal(held, np.where(inside, expected, own))
            np.testing.assert_array_equal(y, x)


def exchanges(case):
    for n, dtype, name in [(4, "i4", "int"), (3, "f8", "double"), (1, "u1", "unsigned char")]:
        tile = case.threads * n
        x = case.draw.integers(0, 200, tile).astype(dtype)
        place = case.draw.permutation(tile).astype(np.uint32)
        kernel = case.kernel("exchange", "orders", N=n, T=name)
        _, _, out = case.launch(kernel, x, place, np.zeros(6 * tile, dtype))
        moved = np.empty_like(x)
        moved[place] = x
        blocked, striped, warp_striped = case.blocked(n), case.striped(n), case.warp_striped(n)
        from_striped = np.empty_like(x)
        from_striped[striped.ravel()] = x
        expected = [from_striped[blocked], x[striped], x[warp_striped]]
        expected += [moved[order] for order in (blocked, striped, warp_striped)]
        expected = [items + way for way, items in enumerate(expected)]
        np.testing.assert_array_equal(out.reshape(6, case.threads, n), expected)


def ranks(case, n=3):
    x = case.draw.integers(0, 2**32, case.threads * n, np.uint32)
    _, place = case.launch(case.kernel("radix", "ranks", N=n, T="int"), x, np.zeros_like(x))
    order = np.argsort(x >> 3 & 31, kind="stable")
    np.testing.assert_array_equal(np.argsort(place), order)


def sorts(case, n=3):
    for dtype, name in [("i8", "long long"), ("f4", "float"), ("u1", "unsigned char")]:
        tile = case.threads * n
        x = case.draw.integers(-3 if dtype != "u1" else 0, 9, tile).astype(dtype)
        if dtype == "f4":
            special = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.5], dtype)
            x[: special.size] = special[: x.size]
        kernel = case.kernel("radix", "sorted", N=n, T=name)
        empty = np.zeros_like(x)
        _, down, some, up, values = case.launch(
            kernel, x, empty, empty, empty, np.zeros(tile, np.uint32)
        )
        order = np.argsort(x, kind="stable")
        np.testing.assert_array_equal(up, x[order])
        np.testing.assert_array_equal(values, order)
        np.testing.assert_array_equal(down, x[order][::-1])
        if dtype == "u1":  # a key's own bits
            np.testing.assert_array_equal(some, x[np.argsort(x >> 1 & 7, kind="stable")])


def histograms(case, n=5, bins=77):
    x = case.draw.integers(0, bins + 3, (2, 2, case.threads * n)).astype(np.uint32)
    empty = np.zeros((2, bins), np.uint32)
    kernel = case.kernel("histogram", "bins", N=n, BINS=bins)
    _, first, both = case.launch(kernel, x, empty, empty, grid=2)
    for b in range(2):
        np.testing.assert_array_equal(first[b], np.bincount(x[b, 0], minlength=bins)[:bins])
        np.testing.assert_array_equal(both[b], np.bincount(x[b].ravel(), minlength=bins)[:bins])


def neighbours(case, n=3):
    x = case.draw.integers(0, 3, case.threads * n).astype(np.int32)
    kernel = case.kernel("adjacent", "neighbours", N=n)
    one, flags, own = np.zeros(case.threads, np.int32), np.zeros(x.size, bool), x[::n]
    for by in {1, -1, min(case.threads, 40), -min(case.threads, 40)}:
        _, shifted, rotated, left, right, heads, tails = case.launch(
            kernel, x, by, one, one, np.zeros_like(x), np.zeros_like(x), flags, flags
        )
        at = np.arange(case.threads) + by
        inside = (at >= 0) & (at < case.threads)
        np.testing.assert_array_equal(shifted, np.where(inside, own[at % case.threads], -1))
        np.testing.assert_array_equal(rotated, np.roll(own, -by))
        np.testing.assert_array_equal(left, np.diff(x, prepend=np.int32(1000)))
        np.testing.assert_array_equal(right, -np.diff(x, append=np.int32(2000)))
        change = np.diff(x) != 0
        np.testing.assert_array_equal(heads, np.append(True, change))
        np.testing.assert_array_equal(tails, np.append(change, True))


def runs(case, n=2, m=3):
    values = case.draw.integers(0, 1000, case.threads * n).astype(np.int16)
    kernel = case.kernel("run_length", "decode", N=n, M=m, T="short")
    for most in (1, 2, 9):
        lengths = case.draw.integers(0, most, values.size).astype(np.uint32)
        total, room = lengths.sum(), lengths.sum() + 1
        *_, items, within, count = case.launch(
            kernel, values, lengths, np.zeros(room, "i2"), np.zeros(room, "u4"), np.zeros(1, "u4")
        )
        expected = np.repeat(values, lengths)
        np.testing.assert_array_equal(items[:total], expected)
        begins = np.repeat(lengths.cumsum() - lengths, lengths)
        np.testing.assert_array_equal(within[:total], np.arange(total) - begins)
        assert count[0] == total and items[total] == 0


def merge_sorts(case):
    for n in (1, 4):
        x = case.draw.integers(0, 50, case.threads * n).astype(np.int32)
        kernel = case.kernel("merge_sort", "sorted", N=n)
        _, up, own = case.launch(kernel, x, np.zeros_like(x), np.zeros_like(x))
        np.testing.assert_array_equal(up, np.sort(x))
        np.testing.assert_array_equal(own, x[np.argsort(-(x % 10), kind="stable")])


FAMILIES = {
    "warp": warps,
    "reduce_scan": scans,
    "sum": sums,
    "load_store": loads,
    "exchange": exchanges,
    "radix_rank": ranks,
    "radix_sort": sorts,
    "histogram": histograms,
    "adjacent": neighbours,
    "run_length": runs,
    "merge_sort": merge_sorts,
}

TURNS = in_turn(FAMILIES, THREADS, 2)  # every second size for each family

if __name__ == "__main__":
    for family in sys.argv[1:] or FAMILIES:
        for threads in (threads for other, threads in TURNS if other == family):
            FAMILIES[family](Case("cpu", threads))
        print(family)
