"""Every primitive once, for the tests that ask the same of all: a new one joins with an entry.

An entry is called with an int32 array of values 0 to 99 and with options: the arrays of `outputs`,
stream= and device=. Without `outputs` it waits for its result's length, and no graph can have it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import cubc

N = object()  # as many items as x
LIKE, INDICES, ONE = ("int32", N), ("int64", N), ("int64", ())  # outputs


@dataclass(frozen=True)
class Primitive:
    """A call, what NumPy gives instead, and the outputs that may be passed, by option."""

    call: Callable[..., Any]
    expected: Callable[[np.ndarray], Any]
    outputs: dict[str, Any] = field(default_factory=dict)

    def make_outputs(self, x, empty):
        """Arrays for the outputs, made by empty(shape, dtype)."""
        return {
            name: empty(x.shape if shape is N else shape, dtype)
            for name, (dtype, shape) in self.outputs.items()
        }

    def check(self, result, x):
        """Compare; of an output with room for more, the first items."""
        expected = self.expected(x)
        if isinstance(result, dict):  # the outputs that were passed
            result = dict(result)
            count = result.pop("count", None)
            if count is not None:
                length = expected[0].size if isinstance(expected, tuple) else expected.size
                assert int(cubc.asarray(count).numpy()) == length
            result = result["out"] if "out" in result else tuple(result.values())
        if not isinstance(expected, tuple):
            result, expected = (result,), (expected,)
        assert len(result) == len(expected)
        for got, wanted in zip(result, expected, strict=True):
            found, wanted = cubc.asarray(got).numpy(), np.asarray(wanted)
            if wanted.ndim and found.size > wanted.size:
                found = found[: wanted.size]
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(found, wanted)


def runs(x):
    """The first of each run of equal items."""
    return x[np.flatnonzero(np.r_[True, x[1:] != x[:-1]])]


def run_lengths(x):
    """Number of items of each run."""
    return np.diff(np.flatnonzero(np.r_[True, x[1:] != x[:-1], True]))


def order(x):
    """Indices that sort x."""
    return np.argsort(x, kind="stable")


def added(x):
    """Items with each added once more, to that of its place."""
    out = x.copy()
    np.add.at(out, x % max(x.size, 1), x)
    return out


def pair(options):
    """With out= of two arrays, where there are two."""
    if "keys" in options:
        options["out"] = options.pop("keys"), options.pop("values")
    return options


def wide(options):
    """With out= of two arrays, or the types of the results."""
    return pair(options) if "keys" in options else {**options, "dtype": ("int32", "int64")}


def doubled(x, out=None, stream=None, **options):
    """The items doubled and in the other order, by statements."""
    if out is None:
        out = np.zeros_like(x) if isinstance(x, np.ndarray) else cubc.transform("x", x=x)
    cubc.for_each("y[n - 1 - i] = 2 * x[i]", len(x), x=x, y=out, n=len(x), stream=stream)
    return out


SELECTED = {"out": LIKE, "count": ONE}
PRIMITIVES = {
    "reduce": Primitive(cubc.reduce, lambda x: x.sum(dtype=np.int64), {"out": ONE}),
    "argmax": Primitive(cubc.argmax, lambda x: x.argmax(), {"out": ONE}),
    "scan": Primitive(cubc.scan, lambda x: np.cumsum(x, dtype=np.int32), {"out": LIKE}),
    "transform": Primitive(
        lambda x, **o: cubc.transform("2 * x + 1", x=x, **o), lambda x: 2 * x + 1, {"out": LIKE}
    ),
    "transform, several results": Primitive(
        lambda x, **o: cubc.transform(["2 * x + 1", "static_cast<i64>(x) << 40"], x=x, **wide(o)),
        lambda x: (2 * x + 1, x.astype("i8") << 40),
        {"keys": LIKE, "values": INDICES},
    ),
    "for_each": Primitive(doubled, lambda x: 2 * x[::-1], {"out": LIKE}),
    "adjacent_difference": Primitive(
        cubc.adjacent_difference, lambda x: np.diff(x, prepend=x[:1] * 0), {"out": LIKE}
    ),
    "select": Primitive(
        lambda x, **o: cubc.select(x, "x % 3 == 1", **o), lambda x: x[x % 3 == 1], SELECTED
    ),
    "unique_consecutive": Primitive(cubc.unique_consecutive, runs, SELECTED),
    "unique_consecutive, own equality": Primitive(
        lambda x, **o: cubc.unique_consecutive(x, equal="a / 10 == b / 10", **o),
        lambda x: x[np.flatnonzero(np.r_[True, x[1:] // 10 != x[:-1] // 10])],
        SELECTED,
    ),
    "flatnonzero": Primitive(cubc.flatnonzero, np.flatnonzero, {"out": INDICES, "count": ONE}),
    "partition": Primitive(
        lambda x, **o: cubc.partition_if(x, "x > 50", **o), lambda x: (x[x > 50], x[x <= 50])
    ),
    "partition in three": Primitive(
        lambda x, **o: cubc.partition_if(x, "x > 50", "x < 20", **o),
        lambda x: (x[x > 50], x[x < 20], x[(x >= 20) & (x <= 50)]),
    ),
    "find_if": Primitive(
        lambda x, **o: cubc.find_if(x, "x == 99", **o),
        lambda x: np.int64((x == 99).argmax() if (x == 99).any() else -1),
        {"out": ONE},
    ),
    "sort": Primitive(cubc.sort, np.sort, {"out": LIKE}),
    "argsort": Primitive(cubc.argsort, order),
    "sort_pairs": Primitive(
        lambda x, **o: cubc.sort_pairs(x, x, **pair(o)),
        lambda x: (np.sort(x), np.sort(x)),
        {"keys": LIKE, "values": LIKE},
    ),
    "merge_sort": Primitive(cubc.merge_sort, np.sort, {"out": LIKE}),
    "searchsorted": Primitive(
        lambda x, **o: cubc.searchsorted(x[:1], x, **o),
        lambda x: np.searchsorted(x[:1], x),
        {"out": INDICES},
    ),
    "take": Primitive(
        lambda x, **o: cubc.take(x, x, mode="wrap", **o),
        lambda x: np.take(x, x, mode="wrap"),
        {"out": LIKE},
    ),
    "scatter": Primitive(
        lambda x, **o: cubc.scatter(x, x, x, "sum", mode="wrap", **o), added, {"out": LIKE}
    ),
    "bincount": Primitive(
        lambda x, **o: cubc.bincount(x, minlength=100, **o),
        lambda x: np.bincount(x, minlength=100),
    ),
    "reduce_by_key": Primitive(
        lambda x, **o: cubc.reduce_by_key(x, x, dtype="int64", **pair(o)),
        lambda x: (runs(x), runs(x) * run_lengths(x)),
        {"keys": LIKE, "values": INDICES, "count": ONE},
    ),
    "run_length_encode": Primitive(
        lambda x, **o: cubc.run_length_encode(x, **pair(o)),
        lambda x: (runs(x), run_lengths(x)),
        {"keys": LIKE, "values": INDICES, "count": ONE},
    ),
    "reduce, deterministic": Primitive(
        lambda x, **o: cubc.reduce(x, "a + b", init=0, deterministic=True, **o),
        lambda x: x.sum(dtype="int32"),
        {"out": ("int32", ())},
    ),
    "scan, deterministic": Primitive(
        lambda x, **o: cubc.scan(x, "a + b", deterministic=True, **o),
        lambda x: np.cumsum(x, dtype=np.int32),
        {"out": LIKE},
    ),
    "segmented_reduce": Primitive(
        lambda x, **o: cubc.segmented_reduce(x, segment_size=1, dtype="int64", **o),
        lambda x: x.astype(np.int64),
        {"out": INDICES},
    ),
    "segmented_scan": Primitive(
        lambda x, **o: cubc.segmented_scan(x, segment_size=len(x), **o),
        lambda x: np.cumsum(x, dtype=np.int32),
        {"out": LIKE},
    ),
    "segmented_sort": Primitive(
        lambda x, **o: cubc.segmented_sort(x, segment_size=len(x), **o), np.sort, {"out": LIKE}
    ),
    "segmented_topk": Primitive(
        lambda x, **o: cubc.segmented_topk(x, 1, segment_size=len(x), **pair(o)),
        lambda x: (x.max(keepdims=True)[None], np.flatnonzero(x == x.max())[None, :1]),
        {"keys": ("int32", (1, 1)), "values": ("int64", (1, 1))},
    ),
    "topk": Primitive(
        lambda x, **o: cubc.topk(x, 1, **pair(o)),
        lambda x: (x.max(keepdims=True), np.flatnonzero(x == x.max())[:1]),
        {"keys": ("int32", (1,)), "values": ("int64", (1,))},
    ),
}

# Calls that fail before anything is queued: of a host array x and the options stream and device.
FAILING = {
    "no operator": lambda x, **o: cubc.reduce(x, "nosuch", **o),
    "no device": lambda x, **o: cubc.reduce(x, device="nosuch"),
    "no expression": lambda x, **o: cubc.transform("", x=x, **o),
    "no number": lambda x, **o: cubc.scan(["a"], **o),
    "out is too short": lambda x, **o: cubc.select(x, "x % 3 == 1", out=x[1:].copy(), **o),
    "out has another type": lambda x, **o: cubc.sort(x, out=np.empty(x.shape, "f4"), **o),
    "a mask is too short": lambda x, **o: cubc.partition_if(x, x[1:], **o),
    "out overlaps": lambda x, **o: cubc.sort(x[1:], out=x[:-1], device="cpu"),
}


def values(n=10_001, seed=0):
    """Something to call them with."""
    return np.random.default_rng(seed).integers(0, 100, n).astype(np.int32)
