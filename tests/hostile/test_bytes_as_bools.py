"""Bools whose bytes are neither 0 nor 1: each call takes any byte but 0 for True, as NumPy does.

OpenCV's masks, views of buffers and memory maps have such bytes. A call is made twice, with the
bytes as they are and with the same truth values as 0 and 1, and gives the same both times.
"""

import re

import numpy as np
import pytest
from inputs import on

import cubc

BYTES = np.array([0, 0, 0, 1, 1, 2, 128, 254, 255], np.uint8)
COUNTED = "value_t{a.n + b.n, a.f && b.f, a.k}"


def bytes_like_flags(n, seed=0):
    """Random bools of a byte each, in runs of one to three of one truth value."""
    draw = np.random.default_rng(seed)
    truth = np.repeat(draw.integers(0, 2, n), draw.integers(1, 4, n))[:n]
    return np.where(truth, draw.choice(BYTES[3:], n), 0).astype(np.uint8).view(bool)


def normalised(x):
    """The same truth values as 0 and 1."""
    if not x.dtype.fields:
        return x.view(np.uint8) != 0 if x.dtype == bool else x
    result = np.zeros(x.shape, x.dtype)
    for name in x.dtype.names:
        result[name] = normalised(np.ascontiguousarray(x[name]))
    return result


class Data:
    """Arrays of one length, on a device or as NumPy has them."""

    def __init__(self, n, clean, device):
        tidy = normalised if clean else lambda x: x
        draw = np.random.default_rng(5)

        def put(x):
            return on(device, np.ascontiguousarray(x))

        def flags(seed):
            return tidy(bytes_like_flags(n, seed))

        self.n, self.device = n, device
        self.b, self.c = put(flags(0)), put(flags(1))
        self.all = put(tidy(np.resize(BYTES[3:], n).view(bool)))
        self.x = put(draw.integers(0, 7, n).astype(np.int32))
        self.ordered = put(tidy(np.sort(bytes_like_flags(n, 3))))
        self.table = put(flags(4)[: n // 4 * 4].reshape(-1, 4))
        self.wide = put(flags(4)[: n // 4 * 4].reshape(4, -1))
        self.row = put(flags(6)[:4])
        self.offsets = put(np.unique(np.r_[0, draw.integers(0, n + 1, n // 20), n]))
        self.one = flags(7)[flags(7)][0]
        items = np.zeros(n, [("n", "i4"), ("f", "?"), ("k", "?", (2,))])
        items["n"], items["f"] = draw.integers(0, 9, n), bytes_like_flags(n, 8)
        items["k"] = bytes_like_flags(2 * n, 9).reshape(n, 2)
        self.items = put(tidy(items))

    def array(self, dtype="bool"):
        """An output."""
        return on(self.device, np.zeros(self.n, dtype))


CASES = {
    "reduce": lambda d: [
        cubc.reduce(d.b, op) for op in ("sum", "prod", "min", "max", "any", "all", "argmin")
    ],
    "reduce of an expression": lambda d: [
        cubc.reduce(d.b, "a != b"),
        cubc.reduce(d.b, "a + b", init=d.one, dtype="int32", commutative=True),
        cubc.reduce(d.b, "a && b", init=d.one),
    ],
    "of what is true": lambda d: [cubc.all(d.all), cubc.min(d.all), cubc.prod(d.all)],
    "deterministic": lambda d: [
        cubc.reduce(d.b, "a != b", deterministic=True),
        cubc.scan(d.b, "a != b", deterministic=True),
        cubc.reduce(d.b, dtype="float32", deterministic=True),
    ],
    "numpy's names": lambda d: [
        *(f(d.b) for f in (cubc.sum, cubc.any, cubc.argmax, cubc.cumsum, cubc.cumprod)),
    ],
    "axes": lambda d: [
        cubc.sum(d.table, axis=0),
        cubc.all(d.table, axis=1),
        cubc.max(d.wide, axis=0),
        cubc.argmax(d.wide, axis=1),
        cubc.cumsum(d.table, axis=0),
        cubc.sort(d.table, axis=1),
    ],
    "segmented_reduce": lambda d: [
        cubc.segmented_reduce(d.b, d.offsets),
        cubc.segmented_reduce(d.b, d.offsets, "all"),
        cubc.segmented_reduce(d.b, segment_size=7, op="max"),
        cubc.segmented_reduce(d.b, d.offsets, "a != b", init=d.one, deterministic=True),
    ],
    "scan": lambda d: [
        cubc.scan(d.b),
        cubc.scan(d.b, "max"),
        cubc.scan(d.b, "a != b", inclusive=False, init=d.one),
        cubc.scan(d.b, "any", out=d.array()),
        cubc.scan(d.b, dtype="float64"),
    ],
    "segmented_scan": lambda d: [
        cubc.segmented_scan(d.b, d.offsets),
        cubc.segmented_scan(d.b, d.offsets, "a != b"),
    ],
    "scan_by_key": lambda d: [
        cubc.scan_by_key(d.b, d.x),
        cubc.scan_by_key(d.x, d.b, "max"),
        cubc.scan_by_key(d.b, d.x, deterministic=True),
    ],
    "reduce_by_key": lambda d: [
        cubc.reduce_by_key(d.b, d.x),
        cubc.reduce_by_key(d.x, d.b, "all"),
        cubc.reduce_by_key(d.b, d.c, deterministic=True),
    ],
    "runs": lambda d: [
        cubc.run_length_encode(d.b),
        cubc.nontrivial_runs(d.b),
        cubc.unique_by_key(d.b, d.x),
        cubc.unique_by_key(d.x, d.b),
        cubc.unique_consecutive(d.b),
        cubc.unique(d.b),
        cubc.repeat(d.b, d.x),
    ],
    "select": lambda d: [
        cubc.select(d.x, d.b),
        cubc.select(d.b, d.c),
        cubc.select(d.b, "x"),
        cubc.select(d.x, cubc.lazy("m", m=d.b)),
        cubc.flatnonzero(d.b),
    ],
    "partition": lambda d: [
        cubc.partition_if(d.x, d.b),
        cubc.partition_if(d.b, "x"),
        cubc.partition_if(d.b, "x == 1", "!x"),
    ],
    "find_if": lambda d: [cubc.find_if(d.b, "x == 1"), cubc.find_if(d.b, "x > 1")],
    "histogram": lambda d: [
        cubc.histogram(d.b, 2, (0, 1)),
        cubc.histogram(d.b, 5, (-1, 300)),
        cubc.histogram(d.b, [0, 0.5, 1]),
        cubc.histogram(d.x, 7, (0, 7), weights=d.b),
        cubc.histogram(cubc.lazy("v", v=d.b), 2, (0, 1)),
        cubc.histogram_channels(d.table, [2] * 4, [(0, 1)] * 4),
    ],
    "bincount": lambda d: [cubc.bincount(d.x, d.b), cubc.bincount(cubc.lazy("v", v=d.b))],
    "sort": lambda d: [
        cubc.sort(d.b),
        cubc.sort(d.b, descending=True),
        cubc.argsort(d.b),
        cubc.argsort(d.b, descending=True),
        cubc.sort_pairs(d.b, d.x),
        cubc.sort(cubc.lazy("v", v=d.b)),
    ],
    "segmented_sort": lambda d: [
        cubc.segmented_sort(d.b, d.offsets),
        cubc.segmented_argsort(d.b, d.offsets, descending=True),
        cubc.segmented_sort_pairs(d.b, d.x, segment_size=7),
    ],
    "merge": lambda d: [
        cubc.sort_pairs(d.x, d.b),
        cubc.merge_sort(d.b),
        cubc.merge_sort(d.b, "a > b", values=d.x),
        cubc.merge(d.ordered, d.ordered, values=(d.x, d.x)),
    ],
    "searchsorted": lambda d: [
        cubc.searchsorted(d.ordered, d.b),
        cubc.searchsorted(d.ordered, d.b, "right"),
        cubc.searchsorted(d.ordered, d.x),
    ],
    "topk": lambda d: [cubc.topk(d.b, d.n // 3), cubc.topk(d.b, 5, largest=False)],
    "segmented_topk": lambda d: [cubc.segmented_topk(d.b, 3, segment_size=d.n)],
    "transform": lambda d: [
        cubc.transform("x", x=d.b, dtype="int32"),
        cubc.transform("x", x=d.b, dtype="bool"),
        cubc.transform("!x", x=d.b),
        cubc.transform("x == y", x=d.b, y=d.c),
        cubc.transform("x + y + s", x=d.b, y=d.c, s=d.one, dtype="uint8"),
        cubc.transform("x ? v : 0.5", x=d.b, v=d.x, dtype="float64"),
        cubc.transform("x * v", x=d.b, v=1 + 2j),
        cubc.transform("x ^ y", x=d.table, y=d.row),
        cubc.transform("~x", x=d.b, dtype="int8"),
    ],
    "lazy": lambda d: [
        cubc.sum(cubc.lazy("x * v", x=d.b, v=d.x)),
        cubc.sum(cubc.lazy("x & y", x=d.table, y=d.row)),
        cubc.scan(cubc.lazy("x || y", x=d.b, y=d.c, dtype="bool")),
        cubc.select(d.x, cubc.lazy("!m", m=cubc.lazy("m", m=d.b))),
        cubc.argmax(cubc.lazy("x", x=d.b)),
    ],
    "structs": lambda d: [
        cubc.reduce(d.items, COUNTED),
        cubc.scan(d.items, "value_t{a.n + b.n, a.f != b.f, b.k}"),
        cubc.select(d.items, "x.f"),
        cubc.transform("p.f + p.k[0] + p.k[1]", p=d.items, dtype="int32"),
        cubc.transform("out_t{p.n, !p.f, p.k}", p=d.items, dtype=d.items.dtype),
        cubc.transform("p.f * v", p=d.items, v=1 + 2j, dtype="complex128"),
        cubc.merge_sort(d.items, "a.f < b.f"),
        cubc.unique_consecutive(d.items),
        cubc.sum(cubc.lazy("p.f ? p.k[1] : p.f", p=d.items, dtype="bool")),
    ],
    "unaligned": lambda d: [cubc.sum(d.b[1:]), cubc.select(d.x[1:], d.b[1:]), cubc.scan(d.b[3:])],
    "copies": lambda d: [copies(d)],
    "in place": lambda d: [cubc.scan(d.b, "max", out=d.b), cubc.sort(d.c, out=d.c)],
}

# A copy keeps its bytes. All other bools are written as 0 and 1.
COMPUTED = {"reduce", "axes", "segmented_reduce", "scan", "sort", "segmented_sort", "topk"}
COMPUTED |= {"segmented_topk"}
COMPUTED |= {"transform", "reduce of an expression", "in place"}


def copies(d):
    to = d.array()
    cubc.copy_batch([d.b[:3], d.b[3:]], [to[:3], to[3:]], device=d.device)
    return to


def flat(results):
    """All arrays of nested results."""
    if isinstance(results, (list, tuple)):
        return [array for result in results for array in flat(result)]
    return [np.array(results.numpy() if isinstance(results, cubc.Array) else results)]


FOREIGN = np.array([255, 0, 2, 1, 7, 0, 0, 128], "u1").view(bool)
STATEMENTS = {
    "y[i] = (x[i] == true) + 10 * !x[i] + 100 * (x[i] == x[0])": (101, 10),
    "y[i] = x[i] + x[i]; y[i] += s": (3, 1),
    "bool q = x[i]; y[i] = q ? 5 : 6": (5, 6),
    "b[i] = x[i]; y[i] = 7": (7, 7),
    "b[i] = x[i]; b[i] |= s; b[i] &= x[i]; y[i] = b[i]": (1, 0),
    "b[i] = s; b[i] ^= x[i]; b[i] = !b[i]; y[i] = b[i]": (1, 0),
    "auto v = x[i]; b[i] = v; y[i] = v": (1, 0),
    "p[i].b = x[i]; p[i] = {p[i].b, 3}; b[i] = p[i].b; y[i] = p[i].n": (3, 3),
}


@pytest.mark.some
@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("body", STATEMENTS)
def test_statements(device, body, check):
    """Statements write 0 or 1 to bools."""
    structs = np.zeros(8, np.dtype([("b", "?"), ("n", "i4")], align=True))
    hosts = {"x": FOREIGN, "b": FOREIGN.copy(), "y": np.zeros(8, "i4"), "p": structs}
    arrays = {name: cubc.asarray(one, device=device) for name, one in hosts.items()}
    used = {name: one for name, one in arrays.items() if name in re.findall(r"\w+", body)}
    used |= {"s": True} if "s" in re.findall(r"\w+", body) else {}
    cubc.for_each(body, 8, check=check, **used)
    true, false = STATEMENTS[body]
    assert arrays["y"].numpy().tolist() == np.where(normalised(FOREIGN), true, false).tolist()
    if "b" in used:
        written = arrays["b"].numpy().view("u1")
        assert written.tolist() == normalised(FOREIGN).view("u1").tolist()


@pytest.mark.some(28)
@pytest.mark.parametrize("n", [100_100, 70])
@pytest.mark.parametrize("name", CASES)
def test_any_byte_but_0_is_true(device, name, n):
    results = flat(CASES[name](Data(n, False, device)))
    expected = flat(CASES[name](Data(n, True, device)))
    assert len(results) == len(expected)
    for k, (result, wanted) in enumerate(zip(results, expected, strict=True)):
        assert result.dtype == wanted.dtype and result.shape == wanted.shape, f"number {k}"
        np.testing.assert_array_equal(normalised(result), normalised(wanted), f"number {k}")
        if name in COMPUTED and result.dtype == bool:
            assert result.view(np.uint8).max(initial=0) <= 1, f"number {k}"
