"""Histograms: the number of items of an array in each bin, or the sum of their weights.

Each block counts in its shared memory, in several copies so that equal items do not wait for one
counter, and adds its counts to the result at the end (Shams and Kennedy, "Efficient Histogram
Algorithms for NVIDIA CUDA Compatible Devices", ICSPCS 2007). NumPy makes the edges. A bin of one
width is found by a multiplication; where rounding leaves two bins possible, the edges decide.
"""

import functools
import itertools
from typing import Any, Unpack

import numpy as np

from ._arrays import as_array, described, in_memory_of, item_dtype, name_of, of_device
from ._bin_rules import bins_by_rule
from ._calls import primitive, whole
from ._core import Array, Lazy, asarray, call, empty, reduce, transform
from ._lazy import lazy
from ._nulls import refuse_missing
from ._options import Placement, without_workspace

# Type in which weights, or items, are summed where it is not their own.
SUM_TYPES = {
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
    density=None,
    weights=None,
    *,
    dtype=None,
    out=None,
    **placement: Unpack[Placement],
) -> tuple[Any, Any]:
    """Count the items in each bin, as numpy.histogram does.

    Parameters
    ----------
    x : array_like
        Of any number of dimensions, taken flat. More than 2**32 items are fine.
    bins : int, str or array_like
        Number of bins of one width; or a rule that makes it from the items, by the name that it has
        in numpy.histogram_bin_edges; or the edges, one more than there are bins, in rising order.
        Edges in a device's memory are not checked. A bin has its lower edge and not its upper one;
        the last bin has both. Bins whose counters fit the shared memory of a block are counted
        there: up to 32768 of one width on an H200.
    range : (low, high), optional
        Lower end of the first and upper end of the last of bins of one width. By default the
        smallest and the largest item; the call then waits for them.
    density : bool, optional
        True divides the result by its sum and by the widths of the bins: it is float64, and its
        integral is 1.
    weights : array_like, optional
        Weight of each item, of the shape of `x`, real or complex. The result has sums of weights in
        place of counts.
    dtype : dtype, optional
        Type of the result: of 32 or 64 bits, and floating if the weights are. By default int64, or
        the type of the weights; for weights of fewer bits int64, uint64 or float32.
    out : array, optional
        Array for the result, of one dimension and one item for each bin.

    Returns
    -------
    hist : numpy.ndarray, cubc.Array or out
        Result; in host memory if `x` is, else on the device of `x`.
    edges : array
        Edges of the bins: `bins` where it is an array of them, else a NumPy array.

    Raises
    ------
    TypeError
        For items that `asarray` does not take, and for a `dtype` that no result has.
    ValueError
        For a range that is reversed or not finite, which the default one is if an item is NaN; for
        edges that decrease; for weights of another shape than `x`; as for `reduce`.

    Notes
    -----
    Items outside of the bins are not counted, nor is NaN. Each other item is in the bin where
    numpy.histogram has it; an item of bfloat16, which NumPy lacks, in the bin of the same number in
    float32. Counts are the same from run to run. Sums of floating weights may differ in the last
    digits, since blocks add in any order.

    Examples
    --------
    >>> print(*cubc.histogram(np.array([0.1, 0.4, 0.6, 0.7]), bins=2, range=(0, 1)))
    [2 2] [0.  0.5 1. ]
    """
    items = _taken(x)
    refuse_missing(bins)
    if density and (out is not None or dtype is not None):
        raise ValueError("histogram() of density is a new array of float64: leave out and dtype")
    if weights is not None:
        weights = _checked_weights(items, weights)
        if isinstance(bins, str):
            raise TypeError("Automated estimation of the number of bins is not of weighted items")
    if isinstance(bins, list | tuple | np.ndarray) and np.ndim(bins) == 1 and len(bins) < 2:
        hist = _no_counts(items, dtype or _sum_type(weights, None, None), out)
        return hist, np.asarray(bins)  # no bin, as in NumPy
    edges, fields = _bins(items, bins, range, placement)
    count = edges.shape[0] - 1
    if weights is not None:
        fields["weights"] = weights
    fields |= {"in": items, "out": (_sum_type(weights, dtype, out), (count,), out), "bins0": count}
    fields["edges"] = in_memory_of(items, fields.get("edges"), placement.get("stream"))
    is_complex = weights is not None and item_dtype(weights).kind == "c"
    hist = (_complex_sums if is_complex else _run)(fields, placement)
    return _density(hist, edges, placement) if density else hist, edges


def _complex_sums(fields: dict[str, Any], placement: Placement) -> Any:
    """Return sums of complex weights, whose parts are summed apart."""
    dtype, shape, out = fields["out"]
    kind = np.dtype(dtype if out is None else out.dtype)
    if kind.kind != "c":
        raise TypeError(f"sums of complex weights are complex, and not {kind}")
    real = kind.type(0).real.dtype
    sums = []
    for text in ("real(w)", "imag(w)"):
        part = lazy(text, w=fields["weights"], dtype=real)
        sums.append(_run(fields | {"weights": part, "out": (real, shape, None)}, placement))
    text = "c64(a, b)" if kind == np.complex64 else "c128(a, b)"
    options = without_workspace(placement)
    return transform(text, a=sums[0], b=sums[1], dtype=kind, out=out, **options)


def _no_counts(items: Any, dtype: Any, out: Any) -> Any:
    """Return a histogram without bins, where the items are."""
    if out is not None:
        if tuple(out.shape) != (0,):
            raise ValueError(f"out has the shape {tuple(out.shape)}, expected (0,)")
        return out
    if isinstance(items, np.ndarray):
        return np.empty(0, dtype)
    return empty(0, dtype, device=asarray(items).device)


def _density(hist: Any, edges: Any, placement: Placement) -> Any:
    """Return counts as a density, on the host where they are."""
    if isinstance(hist, np.ndarray):
        return hist / np.diff(edges).astype(float) / hist.sum()
    edges = asarray(edges, device=hist.device, stream=placement.get("stream"))
    total = reduce(hist, "sum", **without_workspace(placement))
    named = {"n": hist, "a": edges[:-1], "b": edges[1:], "t": total}
    text = "n / (static_cast<f64>(b) - static_cast<f64>(a)) / t"
    kind = "complex128" if hist.dtype.kind == "c" else "float64"
    return transform(text, dtype=kind, stream=placement.get("stream"), **named)


@primitive(workspace=None)
def bincount(
    x,
    /,
    weights=None,
    minlength=0,
    *,
    dtype=None,
    out=None,
    **placement: Unpack[Placement],
) -> Any:
    """Count how often each of the numbers 0, 1, 2, ... occurs, as numpy.bincount does.

    Parameters
    ----------
    x : array_like
        Integers of 0 or more, of one dimension.
    weights : array_like, optional
        Weight of each item, of the shape of `x`. The result has sums of weights in place of counts.
    minlength : int
        Least number of counts in the result. It has more if an item is `minlength` or above.
    dtype, out : optional
        As for `histogram`. The default with weights is float64, as in NumPy.

    Returns
    -------
    numpy.ndarray, cubc.Array or out
        Item k is the number of items that are k. In host memory if `x` is, else on its device.

    Raises
    ------
    TypeError
        If items of `x` are no integers; as for `histogram`.
    ValueError
        If `x` has not one dimension, or has a negative item; as for `histogram`.

    Notes
    -----
    The call waits for the largest item, which says how long the result is.

    Examples
    --------
    >>> print(cubc.bincount(np.array([0, 2, 2, 5])))
    [1 0 2 0 0 1]
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
        # A negative number is the largest when it is read as an unsigned one.
        largest = "static_cast<u64>(a) > static_cast<u64>(b) ? a : b"
        top = int(reduce(items, largest, commutative=True, **without_workspace(placement)))
        if top < 0:
            raise ValueError("bincount() counts numbers from 0 on, and an item is negative")
        if top >= 2**63 - 1:
            raise ValueError(f"bincount(): an item is {top}, and a count for each does not fit")
        count = max(count, top + 1)
    else:
        weights = None  # of no items: NumPy does not look at them
    if weights is not None:
        weights = _checked_weights(items, weights)
        if dtype is None and out is None:
            dtype = "float64"
    if count == 0:
        return _no_counts(items, dtype or "int64", out)
    fields = {
        "in": items,
        "weights": weights,
        "out": (_sum_type(weights, dtype, out), (count,), out),
        "is_index": 1,
        "bins0": count,
    }
    return _run(fields, placement)


@primitive(workspace=None)
def histogram_channels(
    x,
    /,
    bins,
    range=None,
    *,
    dtype=None,
    out=None,
    **placement: Unpack[Placement],
) -> tuple[list[Any], list[Any]]:
    """Make a histogram of each channel of pixels, in one pass.

    This is CUB's MultiHistogramEven and MultiHistogramRange.

    Parameters
    ----------
    x : array_like
        Pixels. The last dimension is that of their channels, at most 4.
    bins : sequence of int, or of array_like
        Number of bins, or edges, of each channel that is counted, from the first on; as for
        `histogram`. All are numbers, or all are edges.
    range : sequence of (low, high), optional
        Range of each of these channels; required with numbers of bins.
    dtype : optional
        As for `histogram`.
    out : array, optional
        Array of one dimension for the counts of all channels, one channel after the other.

    Returns
    -------
    hists, edges : lists of array
        Counts and edges of each channel, as of `histogram`.

    Raises
    ------
    TypeError, ValueError
        As for `histogram`; if there are more channels in `bins` or `range` than in `x`.

    Examples
    --------
    >>> pixels = np.array([[0, 5], [1, 6], [3, 7]])
    >>> print(*cubc.histogram_channels(pixels, [2, 2], [(0, 4), (4, 8)]))
    [array([2, 1]), array([1, 2])] [array([0., 2., 4.]), array([4., 6., 8.])]
    """
    if not hasattr(bins, "__len__"):
        raise TypeError(
            f"histogram_channels(): bins are {bins!r}: expected a list, of a number or edges for "
            "each channel"
        )
    items, wanted = _taken(x), list(map(described, bins))
    refuse_missing(wanted)
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
    found = [_bins(items, b, r, placement) for b, r in zip(wanted, ranges, strict=True)]
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
        joined = np.concatenate([level["edges"] for _, level in found])
        fields["edges"] = in_memory_of(items, joined, placement.get("stream"))
    total = sum(e.shape[0] - 1 for e in edges)
    fields["out"] = (_sum_type(None, dtype, out), (total,), out)
    hist = _run(fields, placement)
    ends = np.cumsum([0, *(e.shape[0] - 1 for e in edges)]).tolist()
    return [hist[a:b] for a, b in itertools.pairwise(ends)], edges


def _taken(x: Any) -> Any:
    """Return an array of any library as one of cubc's or NumPy's, whose dtype NumPy knows."""
    x = as_array(x)
    if isinstance(x, Array | Lazy):
        return x
    return asarray(x) if hasattr(x, "__cuda_array_interface__") else np.asarray(x)


def _checked_weights(items: Any, weights: Any) -> Any:
    """Return the weights, one for each item; ValueError for another shape."""
    taken = _taken(weights)
    shapes = tuple(taken.shape), tuple(items.shape)
    if shapes[0] != shapes[1]:
        raise ValueError(
            f"weights should have the same shape as the items, {shapes[1]}, and not {shapes[0]}"
        )
    return taken


def _sum_type(weights: Any, dtype: Any, out: Any) -> Any:
    if dtype is not None or out is not None:
        return dtype
    return "int64" if weights is None else SUM_TYPES.get(weights.dtype.name, weights.dtype)


def _run(fields: dict[str, Any], placement: Placement) -> Any:
    given = {name: value for name, value in fields.items() if value is not None}
    return call("histogram", given, **placement)[0]


def _bins(items: Any, bins: Any, range: Any, placement: Placement) -> tuple[Any, Any]:
    """Return the edges for the caller, and the core's parameters of one channel's bins."""
    if isinstance(bins, str):
        items = items.array(**without_workspace(placement)) if isinstance(items, Lazy) else items
        return _even_edges(items, bins, range, placement)
    if hasattr(bins, "__dlpack__") and not hasattr(bins, "ndim"):
        bins = as_array(bins)
    if np.ndim(bins) if not hasattr(bins, "ndim") else bins.ndim:
        return _given_edges(items, bins, placement.get("stream"))
    return _even_edges(items, bins, range, placement)


def _given_edges(items: Any, bins: Any, stream: Any) -> tuple[Any, Any]:
    if isinstance(bins, list | tuple):  # is read once, also where the call is bound
        bins = np.asarray(bins)
    edges = _taken(bins.array() if isinstance(bins, Lazy) else bins)
    if edges.ndim != 1 or edges.shape[0] < 2:
        raise ValueError(f"bins have the shape {tuple(edges.shape)}: expected two edges or more")
    if isinstance(edges, Array):
        wanted = edge_type(items, edges)  # in which an unsigned item is not beside a signed edge
        if edges.dtype != wanted:
            edges = asarray(edges, dtype=wanted, stream=stream)
        return bins, {"edges": edges}
    if not np.all(edges[:-1] <= edges[1:]):  # nor has NaN a place
        raise ValueError("bins must increase monotonically, when they are edges")
    return edges, {"edges": edges.astype(edge_type(items, edges))}


def edge_type(items: Any, edges: Any) -> Any:
    """Return the type in which edges are compared with items."""
    common = np.result_type(_known(items.dtype), _known(edges.dtype))
    inexact = np.float64 if common.itemsize > 4 else np.float32
    wide = {"i": np.int64, "u": np.uint64, "b": np.uint64, "f": inexact}.get(common.kind)
    if wide is None:
        raise TypeError(f"bins are edges of {edges.dtype}, which items of {items.dtype} have not")
    return wide


def _even_edges(items: Any, bins: Any, range: Any, placement: Placement) -> tuple[Any, Any]:
    dtype = _known(items.dtype)
    if range is not None:
        low, high = _limits(range)
    elif items.size == 0:
        low, high = 0, 1
    else:
        low, high = map(dtype.type, _extremes(items, placement))
    if isinstance(bins, str):
        known = items.astype(dtype) if isinstance(items, np.ndarray) else items
        options = without_workspace(placement)
        bins = bins_by_rule(known, bins, (low, high), range is not None, options)
    if range is None and not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError(f"autodetected range of [{low}, {high}] is not finite")
    edges = np.histogram_bin_edges(np.empty(0, dtype), bins, (low, high))
    if low == high:
        low, high = low - 0.5, high + 0.5
    step_type = np.result_type(low, high, 0.0)
    if np.float16 in (edges.dtype, step_type):  # no such arithmetic in the core
        return edges, {"edges": edges.astype(np.float32)}
    return edges, {
        "lower0": float(low),
        "upper0": float(high),
        "edge_type": name_of(edges.dtype),
        "step_type": name_of(step_type),
    }


def _extremes(items: Any, placement: Placement) -> Any:
    """Return the smallest and the largest item; those of a device are read at once."""
    options, of = without_workspace(placement), of_device(items)
    if of is None:
        return [np.asarray(end)[()] for end in reduce(items, ["min", "max"], **options)]
    ends = empty(2, items.dtype, device=asarray(of).device, stream=options["stream"])
    reduce(items, ["min", "max"], out=(ends[:1], ends[1:]), **options)
    return ends.numpy()


def _limits(range: Any) -> tuple[Any, Any]:
    try:
        low, high = range
    except (TypeError, ValueError):
        raise ValueError(f"range is {range!r}: expected (lower, upper), two numbers") from None
    return low, high


@functools.lru_cache(maxsize=256)
def _known(dtype: Any) -> Any:
    """Return a dtype that numpy.histogram takes and that holds all numbers of this one."""
    name = {"bool": "uint8", "bfloat16": "float32"}.get(dtype.name, dtype.name)
    if name == dtype.name and dtype.kind not in "iufc":
        raise TypeError(f"a histogram is of real numbers, not of items of the dtype {dtype}")
    return np.dtype(name)
