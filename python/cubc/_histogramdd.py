"""Histograms of points, by NumPy's names: the index of a box for each point, then their counts."""

from typing import Any

import numpy as np

from ._arrays import as_array, beside, computed, described, in_memory_of, item_dtype, refuse_items
from ._axes import items_of
from ._calls import named
from ._core import asarray, call, reduce, transform
from ._histograms import edge_type
from ._lazy import lazy
from ._ordered import searchsorted


@named
def histogramdd(
    sample, /, bins=10, range=None, density=None, weights=None, *, stream=None, device=None
) -> tuple[Any, list[Any]]:
    """Count points in the boxes of a grid, as numpy.histogramdd does.

    Parameters
    ----------
    sample : array_like, or a sequence of array_like
        Points, of the shape (N, D); or their D coordinates, arrays of N items.
    bins : int, or a sequence of int or array_like
        Number of bins, or edges, of each dimension; one number is for all.
    range : sequence of (low, high) or None, optional
        Ends of each dimension whose bins are a number; by default those of the points.
    density : bool, optional
        True divides by the number of points and the volumes of the boxes.
    weights : array_like, optional
        Weight of each point.
    stream, device
        As for `searchsorted`.

    Returns
    -------
    hist : array
        Counts, or sums of weights, float64; on the device of the sample.
    edges : list of numpy.ndarray
        Edges along each dimension.

    Raises
    ------
    TypeError, ValueError
        As `histogram`; for bins or a range of another number of dimensions.

    Notes
    -----
    Each dimension takes a search of its edges; the counts take one pass more. Between those the
    index of a bin is in memory for each point and dimension.

    Examples
    --------
    >>> points = np.array([[0.0, 0.0], [1.0, 0.5], [1.0, 1.0]])
    >>> print(cubc.histogramdd(points, bins=2)[0])
    [[1. 0.]
     [0. 2.]]
    """
    options = {"stream": stream, "device": device}
    columns = _columns(sample, stream)
    count = len(columns)
    bins = _bins(bins)
    wanted = list(bins) if hasattr(bins, "__len__") else [bins] * count
    ranges = [None] * count if range is None else list(range)
    if len(wanted) != count:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    if len(ranges) != count:
        raise ValueError("range argument must have one entry per dimension")
    for one in columns:
        refuse_items("the points", one, "and have to be real numbers", ordered=True)
    items = np.result_type(*(_known(item_dtype(one)) for one in columns))
    edges = [_edges(*one, items, options) for one in zip(columns, wanted, ranges, strict=True)]
    shape = tuple(len(one) - 1 for one in edges)
    flat: Any = None
    for column, own in zip(columns, edges, strict=True):
        flat = _joined(flat, column, own, options)
    hist = _counted(flat, weights, columns[0], items_of(shape), options).reshape(shape)
    if density:
        hist = _as_density(hist, edges, options)
    return hist, edges


@named
def histogram2d(
    x, y, /, bins=10, range=None, density=None, weights=None, *, stream=None, device=None
) -> tuple[Any, Any, Any]:
    """Count points of the plane in the boxes of a grid, as numpy.histogram2d does.

    Parameters
    ----------
    x, y : array_like
        Coordinates, of one dimension and the same length.
    bins, range, density, weights, stream, device
        As for `histogramdd`; edges alone are for both dimensions.

    Returns
    -------
    hist, x_edges, y_edges
        As of `histogramdd`.

    Raises
    ------
    TypeError, ValueError
        As `histogramdd`.

    Examples
    --------
    >>> x, y = np.array([0.0, 1.0, 1.0]), np.array([0.0, 0.5, 1.0])
    >>> print(cubc.histogram2d(x, y, bins=(1, 2))[0])
    [[1. 2.]]
    """
    bins = _bins(bins)
    if hasattr(bins, "__len__") and len(bins) not in (1, 2):
        bins = [bins, bins]
    elif hasattr(bins, "__len__") and len(bins) == 1:
        bins = [bins[0], bins[0]]
    x, y = computed(x, stream), computed(y, stream)
    if len(x.shape) != 1 or tuple(x.shape) != tuple(y.shape):
        raise ValueError("x and y must have the same length.")
    hist, edges = histogramdd([x, y], bins, range, density, weights, stream=stream, device=device)
    return hist, edges[0], edges[1]


def _bins(bins: Any) -> Any:
    """Return numbers of bins and edges as those of any library: edges are read on the host."""
    return [_bins(one) for one in bins] if isinstance(bins, list | tuple) else described(bins)


def _columns(sample: Any, stream: Any) -> list[Any]:
    """Return the coordinates of points along each dimension."""
    if isinstance(sample, list | tuple):
        if all(np.isscalar(one) for one in sample):  # points of one dimension
            return [np.asarray(sample)]
        arrays = [computed(one, stream) for one in sample]
        return [as_array(beside(arrays[0], one, stream)) for one in arrays]
    sample = computed(sample, stream)
    if len(sample.shape) == 1:
        return [sample]
    if len(sample.shape) != 2:
        raise ValueError(f"points have the shape (N, D), not {tuple(sample.shape)}")
    if isinstance(sample, np.ndarray):
        return list(np.ascontiguousarray(sample.T))
    return list(asarray(sample).T)


def _known(dtype: Any) -> Any:
    """Return a type that NumPy has edges of."""
    return np.dtype("float32" if str(dtype) == "bfloat16" else dtype)


def _edges(x: Any, bins: Any, range: Any, items: Any, options: Any) -> Any:
    """Return the edges along a dimension; `items` is the type that all coordinates have."""
    if np.ndim(bins):
        edges = np.asarray(bins)
        if not np.all(edges[:-1] <= edges[1:]):  # nor has NaN a place
            raise ValueError("bins must increase monotonically, when they are edges")
        return edges
    if not isinstance(bins, int | np.integer) or bins < 1:
        raise ValueError(f"bins are {bins!r}: expected a positive int, or edges")
    if range is None and x.size:
        low, high = (np.asarray(one)[()] for one in reduce(x, ["min", "max"], **options))
        range = (items.type(low), items.type(high))
    ends: tuple[Any, Any] = (0, 1) if range is None else tuple(range)
    low, high = ends
    if not (np.isfinite(low) and np.isfinite(high)) or low > high:
        raise ValueError(
            f"the range is [{low}, {high}]: expected two finite numbers, the lower one first"
        )
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, int(bins) + 1)


def _joined(flat: Any, x: Any, edges: Any, options: Any) -> Any:
    """Return the index of each point's box with one more dimension; -1 outside of all boxes."""
    here = edges.astype(edge_type(x, edges))
    values = transform(lazy("x", x=x, dtype=here.dtype), **options)
    known = in_memory_of(x, here, options["stream"])
    places = searchsorted(known, values, "right", **options)
    names = {"k": places, "x": values, "last": here[-1], "n": len(here) - 1}
    inside = "x == last ? n - 1 : k > 0 && k <= n ? k - 1 : -1"
    if flat is None:
        return transform(inside, dtype="int64", **names, **options)
    text = f"f < 0 || ({inside}) < 0 ? -1 : f * n + ({inside})"
    return transform(text, f=flat, dtype="int64", **names, **options)


def _counted(flat: Any, weights: Any, x: Any, count: int, options: Any) -> Any:
    fields = {
        "in": lazy("f < 0 ? n : f", f=flat, n=count, dtype="int64"),
        "is_index": 1,
        "bins0": count + 1,
        "out": ("int64", (count + 1,), None),
    }
    if weights is not None:
        given = as_array(beside(x, weights, options["stream"]))
        if item_dtype(given).kind == "c":
            raise TypeError(f"weights of more than one axis are real, and not {given.dtype}")
        fields["weights"] = lazy("w", w=given, dtype="float64")
        fields["out"] = ("float64", (count + 1,), None)
    hist = call("histogram", fields, **options)[0][:count]
    return hist.astype("float64") if hist.dtype != np.float64 else hist


def _as_density(hist: Any, edges: list[Any], options: Any) -> Any:
    """Divide by the widths of the boxes, then by the sum: in NumPy's order."""
    made = hist
    for d, own in enumerate(edges):
        widths = np.diff(np.asarray(own)).astype(np.float64)
        shape = (1,) * d + (len(widths),) + (1,) * (len(edges) - d - 1)
        width = in_memory_of(hist, widths.reshape(shape), options["stream"])
        made = transform("h / w", h=made, w=width, **options)
    total = hist.sum() if isinstance(hist, np.ndarray) else reduce(hist, "sum", **options)
    return transform("h / t", h=made, t=total, **options)
