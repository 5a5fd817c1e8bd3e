"""Histograms: how many items of an array, or what weight of them, fall in each bin.

Blocks count in shared memory of their own, in several copies so that equal items do not queue for a
counter, and add up in the end (Shams and Kennedy, "Efficient Histogram Algorithms for NVIDIA CUDA
Compatible Devices", ICSPCS 2007). Edges are NumPy's: they are made by NumPy, and where a bin that
was found by a multiplication could be the one beside it, the edges decide.
"""

import itertools
from typing import Any, Unpack

import numpy as np

from ._calls import described, primitive, whole
from ._core import Array, Lazy, asarray, call, reduce
from ._options import Where, without_workspace

# What weights, or items, of a type are summed in where it is not their own.
SUMS = {
    "bool": "int64",
    "int8": "int64",
    "int16": "int64",
    "uint8": "uint64",
    "uint16": "uint64",
    "float16": "float32",
    "bfloat16": "float32",
}


@primitive(workspace=None)
def histogram(
    x,
    /,
    bins=10,
    range=None,
    *,
    weights=None,
    dtype=None,
    out=None,
    **where: Unpack[Where],
) -> tuple[Any, Any]:
    """Count the items in each of several bins, as numpy.histogram does.

    Parameters
    ----------
    x : array_like
        Of any number of dimensions, taken flat. More than 2**32 items are fine.
    bins : int or array_like
        A number of bins of one width; or edges, one more than bins, none below the one before it.
        Edges in a device's memory are not checked. All bins are half open but the last, which holds
        its upper edge. Up to about 16000 are counted in shared memory.
    range : (low, high), optional
        Of even bins. By default the smallest and the largest item, for which the call waits.
    weights : array_like, optional
        Of the shape of `x`: their sums are wanted, not counts.
    dtype : dtype, optional
        Of the result: 32 or 64 bits, and floating where the weights are. By default int64, or the
        type of the weights; of shorter weights int64, uint64 or float32.
    out : array, optional
        Where the result goes: one dimension, an item a bin.

    Returns
    -------
    hist : numpy.ndarray, cubc.Array or out
        In host memory if `x` is there, else on its device.
    edges : array
        A NumPy array for a number of bins, else the edges that were given.

    Raises
    ------
    TypeError
        For types that `asarray` does not take, and those of a result that it cannot have.
    ValueError
        For a range that is reversed or not finite, as it is found to be where an item is NaN; for
        edges that decrease; for weights of another shape; as for `reduce`.

    Notes
    -----
    Items outside of the bins are not counted, nor is NaN. The others fall in the bins where
    numpy.histogram puts them; bfloat16, which it does not know, in those of the same numbers in
    float32. Counts are the same from run to run. Sums of floating weights may differ in the last
    digits, since blocks add in any order.
    """
    items = _taken(x)
    edges, fields = _bins(items, bins, range, where)
    count = edges.shape[0] - 1
    if weights is not None:
        weights = _like(items, weights)
        fields["weights"] = weights
    fields |= {"in": items, "out": (_sum_type(weights, dtype, out), (count,), out), "bins0": count}
    fields["edges"] = _beside(items, fields.get("edges"))
    return _run(fields, where), edges


@primitive(workspace=None)
def bincount(
    x,
    /,
    weights=None,
    minlength=0,
    *,
    dtype=None,
    out=None,
    **where: Unpack[Where],
) -> Any:
    """Count how often each number of 0, 1, 2, ... occurs, as numpy.bincount does.

    Parameters
    ----------
    x : array_like
        Integers, none of them negative; one dimension.
    weights : array_like, optional
        Of the shape of `x`: their sums are wanted, not counts.
    minlength : int
        Counts in the result, at least; it has more where an item needs them.
    dtype, out : optional
        As for `histogram`; with weights float64 by default, as NumPy has it.

    Returns
    -------
    numpy.ndarray, cubc.Array or out
        Item k says how many items are k. In host memory if `x` is there, else on its device.

    Raises
    ------
    TypeError
        If `x` is not of integers; as for `histogram`.
    ValueError
        If `x` has not one dimension, or a negative item; as for `histogram`.

    Notes
    -----
    The largest item has to be known first, so the call waits.
    """
    items = _taken(x)
    if items.size == 0 and isinstance(x, list | tuple):  # of no type yet
        items = items.astype(np.int64)
    if len(items.shape) != 1:
        raise ValueError(f"bincount() takes one dimension, not the shape {tuple(items.shape)}")
    if items.dtype.kind not in "iub":
        raise TypeError(f"bincount() takes integers, not {items.dtype}")
    count = whole("bincount", "minlength", minlength)
    if count < 0:
        raise ValueError(f"minlength is {count}: it must not be negative")
    if items.size:
        # As an unsigned number a negative one is the largest.
        largest = "static_cast<u64>(a) > static_cast<u64>(b) ? a : b"
        top = int(_number(reduce(items, largest, commutative=True, **without_workspace(where))))
        if top < 0:
            raise ValueError("bincount() counts numbers from 0 on, and an item is negative")
        count = max(count, top + 1)
    if weights is not None:
        weights = _like(items, weights)
        if dtype is None and out is None:
            dtype = "float64"
    if count == 0:
        return np.empty(0, dtype or "int64") if out is None else out
    fields = {
        "in": items,
        "weights": weights,
        "out": (_sum_type(weights, dtype, out), (count,), out),
        "is_index": 1,
        "bins0": count,
    }
    return _run(fields, where)


@primitive(workspace=None)
def histogram_channels(
    x,
    /,
    bins,
    range=None,
    *,
    dtype=None,
    out=None,
    **where: Unpack[Where],
) -> tuple[list[Any], list[Any]]:
    """Histograms of the channels of pixels, in one pass: CUB's MultiHistogramEven and -Range.

    Parameters
    ----------
    x : array_like
        Pixels: the last dimension is that of their channels, at most 4.
    bins : sequence of int, or of array_like
        For each of the first channels, as many as are wanted, a number of bins or edges, as for
        `histogram`; all numbers, or all edges.
    range : sequence of (low, high), optional
        For each of these channels its range, needed with numbers of bins.
    dtype : optional
        As for `histogram`.
    out : array, optional
        Where the counts go, one channel's behind the other's: one dimension.

    Returns
    -------
    hists, edges : lists of array
        As `histogram` gives, one of each a channel.

    Raises
    ------
    TypeError, ValueError
        As for `histogram`; if there are more channels in `bins` or `range` than in `x`.
    """
    if not hasattr(bins, "__len__"):
        raise TypeError(
            f"histogram_channels(): bins are {bins!r}: expected a list, of a number or edges for "
            "each channel"
        )
    items, wanted = _taken(x), list(bins)
    channels = items.shape[-1] if len(items.shape) else 0
    if not 1 <= channels <= 4 or not 1 <= len(wanted) <= channels:
        raise ValueError(
            f"histogram_channels() takes 1 to 4 channels in the last dimension, and bins for 1 or "
            f"more of them, not the shape {tuple(items.shape)} and bins for {len(wanted)}"
        )
    ranges = [None] * len(wanted) if range is None else list(range)
    if len(ranges) != len(wanted):
        raise ValueError(f"there are bins for {len(wanted)} channels, and {len(ranges)} ranges")
    if any(np.ndim(b) == 0 and r is None for b, r in zip(wanted, ranges, strict=True)):
        raise ValueError("histogram_channels() needs the range of each channel")
    fields: dict[str, Any] = {"channels": channels, "active": len(wanted), "in": items}
    found = [_bins(items, b, r, where) for b, r in zip(wanted, ranges, strict=True)]
    edges = [e for e, _ in found]
    if len({"edges" in level for _, level in found}) > 1:
        raise ValueError("bins are numbers for some channels and edges for others: all must be one")
    for k, (own, level) in enumerate(found):
        fields[f"bins{k}"] = own.shape[0] - 1
        for name in ("lower", "upper"):
            if f"{name}0" in level:
                fields[f"{name}{k}"] = level[f"{name}0"]
        for name in ("edge_type", "step_type"):
            if fields.setdefault(name, level.get(name)) != level.get(name):
                raise ValueError("the ranges are of different floating types: give all as one")
    if "edges" in found[0][1]:
        fields["edges"] = _beside(items, np.concatenate([level["edges"] for _, level in found]))
    total = sum(e.shape[0] - 1 for e in edges)
    fields["out"] = (_sum_type(None, dtype, out), (total,), out)
    hist = _run(fields, where)
    ends = np.cumsum([0, *(e.shape[0] - 1 for e in edges)]).tolist()
    return [hist[a:b] for a, b in itertools.pairwise(ends)], edges


def _taken(x: Any) -> Any:
    """An array with NumPy's dtype and shape: NumPy's own, or a device's or a lazy one as it is."""
    if isinstance(x, Array | Lazy):
        return x
    return asarray(x) if hasattr(x, "__cuda_array_interface__") else np.asarray(described(x))


def _like(items: Any, weights: Any) -> Any:
    """The weights, one for each item."""
    taken = _taken(weights)
    shapes = tuple(taken.shape), tuple(items.shape)
    if shapes[0] != shapes[1]:
        raise ValueError(
            f"weights have the shape {shapes[0]} and the items {shapes[1]}: one is needed for each"
        )
    return taken


def _number(x: Any) -> Any:
    """A result of no dimensions as a NumPy scalar."""
    return np.asarray(x)[()]


def _beside(items: Any, x: Any) -> Any:
    """A NumPy array where the items are, or what these are made of."""
    of = [*items.operands.values(), items] if isinstance(items, Lazy) else [items]
    arrays = [y for y in of if isinstance(y, Array) or hasattr(y, "__cuda_array_interface__")]
    if isinstance(x, np.ndarray) and arrays:
        return asarray(x, device=asarray(arrays[0]).device)
    return x


def _sum_type(weights: Any, dtype: Any, out: Any) -> Any:
    if dtype is not None or out is not None:
        return dtype
    return "int64" if weights is None else SUMS.get(weights.dtype.name, weights.dtype)


def _run(fields: dict[str, Any], where: Where) -> Any:
    given = {name: value for name, value in fields.items() if value is not None}
    return call("histogram", given, **where)[0]


def _bins(items: Any, bins: Any, range: Any, where: Where) -> tuple[Any, Any]:
    """The edges as the caller gets them, and the core's parameters of one channel's bins."""
    if isinstance(bins, str):
        raise TypeError("bins are a number or edges: numpy.histogram_bin_edges makes edges by name")
    if np.ndim(bins) if not hasattr(bins, "ndim") else bins.ndim:
        return _given_edges(items, bins, where.get("stream"))
    return _even_edges(items, bins, range, where)


def _given_edges(items: Any, bins: Any, stream: Any) -> tuple[Any, Any]:
    edges = _taken(bins.array() if isinstance(bins, Lazy) else bins)
    if edges.ndim != 1 or edges.shape[0] < 2:
        raise ValueError(f"bins have the shape {tuple(edges.shape)}: expected two edges or more")
    if isinstance(edges, Array):
        if edges.dtype.name not in ("int64", "uint64", "float32", "float64"):
            edges = asarray(edges, dtype=_edge_type(items, edges), stream=stream)
        return bins, {"edges": edges}
    if np.any(edges[:-1] > edges[1:]):
        raise ValueError("bins must increase monotonically, when they are edges")
    return edges, {"edges": edges.astype(_edge_type(items, edges))}


def _edge_type(items: Any, edges: Any) -> Any:
    """Type in which edges are compared with the items."""
    common = np.result_type(_known(items.dtype), _known(edges.dtype))
    inexact = np.float64 if common.itemsize > 4 else np.float32
    wide = {"i": np.int64, "u": np.uint64, "b": np.uint64, "f": inexact}.get(common.kind)
    if wide is None:
        raise TypeError(f"bins are edges of {edges.dtype}, which items of {items.dtype} have not")
    return wide


def _even_edges(items: Any, bins: Any, range: Any, where: Where) -> tuple[Any, Any]:
    dtype = _known(items.dtype)
    if range is not None:
        low, high = _limits(range)
    elif items.size == 0:
        low, high = 0, 1
    else:
        low, high = (
            dtype.type(_number(reduce(items, op, **without_workspace(where))))
            for op in ("min", "max")
        )
    edges = np.histogram_bin_edges(np.empty(0, dtype), bins, (low, high))
    if low == high:
        low, high = low - 0.5, high + 0.5
    step_type = np.result_type(low, high, 0.0)
    if np.float16 in (edges.dtype, step_type):  # no such arithmetic in the core
        return edges, {"edges": edges.astype(np.float32)}
    return edges, {
        "lower0": float(low),
        "upper0": float(high),
        "edge_type": edges.dtype.name,
        "step_type": step_type.name,
    }


def _limits(range: Any) -> tuple[Any, Any]:
    try:
        low, high = range
    except (TypeError, ValueError):
        raise ValueError(f"range is {range!r}: expected (lower, upper), two numbers") from None
    return low, high


def _known(dtype: Any) -> Any:
    """A dtype that numpy.histogram takes, of the same numbers or more."""
    name = {"bool": "uint8", "bfloat16": "float32"}.get(dtype.name, dtype.name)
    if name == dtype.name and dtype.kind not in "iufc":
        raise TypeError(f"a histogram is of real numbers, not of items of the dtype {dtype}")
    return np.dtype(name)
