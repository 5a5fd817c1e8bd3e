"""Public calls whose GPU variants run on the cpu, each with NumPy's result: see gpu_variants.py."""

from itertools import pairwise

import inputs
import numpy as np

import cubc
from cubc import _core


def edges(x):
    """Offsets of segments of many lengths in an array, 100 on the average."""
    return np.sort(np.random.default_rng(x.size).integers(0, x.size + 1, x.size // 100 + 2))


def edges_and_rest(x):
    """The same, but from the middle of the array on a segment of all other items."""
    offsets = edges(x)
    return np.append(offsets[: offsets.size // 2], x.size)


def rows_of(x):
    """As many items as make rows of 97, which are those of a lazy input."""
    return x[: x.size // 97 * 97] if isinstance(x, np.ndarray) else x


def ids_of(x):
    """Parameters of the core's call for the numbers of these segments."""
    offsets = edges(x)
    return {"offsets": offsets, "segments": offsets.size - 1, "out": ("int64", (x.size,), None)}


def short_and_long(x):
    """Segments for a warp and for a block each, and the k to find in them."""
    return (5, edges(x)), (300, edges(x)[[0, -1]])


def best_of_segments(x, k, offsets):
    """Keys and indices of the k largest of each segment, as segmented_topk gives them."""
    keys, indices = np.zeros((offsets.size - 1, k), "i8"), np.full((offsets.size - 1, k), -1)
    for s, (begin, end) in enumerate(pairwise(offsets)):
        order = np.argsort(~x[begin:end], kind="stable")[:k]
        keys[s, : order.size], indices[s, : order.size] = x[begin:end][order], order
    return np.stack([keys, indices])


def copied(x):
    """All items in pieces of odd lengths, copied one by one to an array of bytes."""
    out, at = np.zeros_like(x), edges(x) * 7 % (8 * x.size + 1)
    at = np.sort(np.concatenate([[0], at, [8 * x.size]]))
    pairs = [(x.view("u1")[b:e], out.view("u1")[b:e]) for b, e in pairwise(at)]
    cubc.copy_batch(*zip(*pairs, strict=True), device="cpu")
    return out


def added(x, places):
    """Items with each added once more, to that of its place."""
    out = x.copy()
    if x.size:
        np.add.at(out, places % x.size, x)
    return out


CALLS = {
    "axis_reduce": (
        "axis_reduce.sum",
        lambda x: cubc.sum(x[: x.size // 9 * 9].reshape(-1, 9), axis=0),
        lambda x: x[: x.size // 9 * 9].reshape(-1, 9).sum(axis=0),
    ),
    "axis_scan": (
        "axis_scan.inclusive.sum",
        lambda x: cubc.scan(x[: x.size // 9 * 9].reshape(-1, 9), axis=0),
        lambda x: x[: x.size // 9 * 9].reshape(-1, 9).cumsum(axis=0),
    ),
    "axis_sort": (
        "axis_sort.indices",
        lambda x: cubc.argsort(x[: x.size // 111 * 111].reshape(-1, 37, 3) % 9, axis=1),
        lambda x: (x[: x.size // 111 * 111].reshape(-1, 37, 3) % 9).argsort(1, kind="stable"),
    ),
    "copy_batch": ("copy_batch.buffers", copied, lambda x: x),
    "find": (
        "find.if",
        lambda x: cubc.find_if(np.concatenate([x[:-2], np.zeros(min(2, x.size), "i8")]), "x == 0"),
        lambda x: max(0, x.size - 2) if x.size else -1,
    ),
    # An expression, whose order is kept for integers too.
    "deterministic_reduce": (
        "deterministic_reduce.segments",
        lambda x: cubc.segmented_reduce(x, edges(x), "a + b", init=0, deterministic=True),
        lambda x: np.diff(np.concatenate([[0], x.cumsum()])[edges(x)]),
    ),
    "deterministic_scan": (
        "deterministic_scan.sum",
        lambda x: cubc.scan(x, "a + b", deterministic=True),
        lambda x: x.cumsum(),
    ),
    "histogram": (
        "histogram.even",
        lambda x: cubc.histogram(x, 100, (-(2.0**62), 2.0**62))[0],
        lambda x: np.histogram(x, 100, (-(2.0**62), 2.0**62))[0],
    ),
    "merge": (
        "merge.keys",
        lambda x: cubc.merge(np.sort(x[::3]), np.sort(np.delete(x, np.s_[::3]))),
        lambda x: np.sort(x),
    ),
    "merge_sort": ("merge_sort.keys", lambda x: cubc.merge_sort(x), lambda x: np.sort(x)),
    "reduce": ("reduce.sum", lambda x: cubc.sum(x), lambda x: x.sum()),
    "repeat": (
        "repeat.runs",
        lambda x: cubc.repeat(x, x & 3),
        lambda x: np.repeat(x, x & 3),
    ),
    "row_reduce": (
        "row_reduce.sum",
        lambda x: cubc.segmented_reduce(rows_of(x), segment_size=97),
        lambda x: rows_of(x).reshape(-1, 97).sum(axis=1),
    ),
    "runs": (
        "runs.nontrivial",
        lambda x: np.stack(cubc.nontrivial_runs(x, equal="a >> 62 == b >> 62")),
        lambda x: inputs.longer_runs(x >> 62),
    ),
    "scan": ("scan.inclusive.sum", lambda x: cubc.scan(x), lambda x: x.cumsum()),
    "searchsorted": (
        "searchsorted.lower",
        lambda x: cubc.searchsorted(np.sort(x[: x.size // 3]), x),
        lambda x: np.searchsorted(np.sort(x[: x.size // 3]), x),
    ),
    "segment_ids": (
        "segment_ids.offsets",
        lambda x: _core.call("segment_ids", ids_of(x))[0],
        lambda x: np.searchsorted(edges(x), np.arange(x.size), side="right"),
    ),
    "segmented_reduce": (
        "segmented_reduce.sum",
        lambda x: cubc.segmented_reduce(x, edges_and_rest(x)),
        lambda x: np.diff(np.concatenate([[0], x.cumsum()])[edges_and_rest(x)]),
    ),
    "segmented_sort": (
        "segmented_sort.pairs",
        lambda x: cubc.segmented_argsort(x % 50, edges(x)[::9]),
        lambda x: np.lexsort(
            (x % 50, np.searchsorted(edges(x)[::9], np.arange(x.size), side="right"))
        ),
    ),
    "segmented_topk": (
        "segmented_topk.segments",
        lambda x: np.concatenate(
            [np.ravel(cubc.segmented_topk(x, k, offsets)) for k, offsets in short_and_long(x)]
        ),
        lambda x: np.concatenate(
            [np.ravel(best_of_segments(x, k, offsets)) for k, offsets in short_and_long(x)]
        ),
    ),
    "select": ("select.if", lambda x: cubc.select(x, "x < 0"), lambda x: x[x < 0]),
    "sort": ("sort.keys", lambda x: cubc.sort(x), lambda x: np.sort(x)),
    "topk": (
        "topk.pairs",
        lambda x: cubc.topk(x, x.size // 3)[0],
        lambda x: np.sort(x)[::-1][: x.size // 3],
    ),
    "take": (
        "take.items",
        lambda x: cubc.take(x, x >> 54, mode="wrap"),
        lambda x: np.take(x, x >> 54, mode="wrap"),  # which subtracts until it fits
    ),
    "scatter": (
        "scatter.sum",
        lambda x: cubc.scatter(x, x >> 54, x, "sum", mode="wrap"),
        lambda x: added(x, x >> 54),
    ),
    "transform": (
        "transform.mul",
        lambda x: np.stack([cubc.transform("3 * x", x=x), *cubc.transform(["-x", "x + 1"], x=x)]),
        lambda x: np.stack([3 * x, -x, x + 1]),
    ),
    "transpose": (
        "transpose.matrix",
        lambda x: cubc.cumsum(x[: x.size // 7 * 7].reshape(-1, 7), axis=0),
        lambda x: x[: x.size // 7 * 7].reshape(-1, 7).cumsum(axis=0),
    ),
}

# The algorithms that read a lazy input themselves, and whose policy they run for one that is
# broadcast.
LAZY = {
    "deterministic_reduce": "deterministic_reduce.segments",
    "deterministic_scan": "deterministic_scan.sum",
    "histogram": "histogram.even",
    "reduce": "reduce.dot",
    "row_reduce": "row_reduce.sum",
    "scan": "scan.inclusive.sum",
    "segmented_reduce": "segmented_reduce.sum",
    "select": "select.if",
    "sort": "sort.keys",
    "topk": "topk.pairs",
    "transform": "transform.broadcast",
}
