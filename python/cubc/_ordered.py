"""Sorts, merges and searches by an order that the caller may give.

Sorts and merges use the merge path: O. Green, S. Odeh and Y. Birk, "Merge Path - A
Visually Intuitive Approach to Parallel Merging", arXiv 1406.2628, 2014; O. Green, R. McColl and D.
A. Bader, "GPU Merge Path: A GPU Merging Algorithm", ICS 2012.
"""

from typing import Any, Unpack

import numpy as np

from ._arrays import (
    as_array,
    beside,
    computed,
    dimensions,
    item_dtype,
    name_of,
    one_dimension,
    output_pair,
    refuse_bound,
    refuse_items,
)
from ._calls import named, primitive
from ._concatenate import concatenate
from ._core import asarray, call, transform
from ._options import Placement, without_workspace
from ._payload import call_with_values, indices_beside, is_moved, take_values
from ._take import take


@primitive(workspace="cubc_merge_sort_temp_bytes, aligned to 256 bytes")
def merge_sort(x, /, less=None, *, values=None, out=None, **placement: Unpack[Placement]) -> Any:
    """Sort a copy of an array by a comparison; the sort is stable.

    Parameters
    ----------
    x : array_like
        Keys, of one dimension. There may be more than 2**32.
    less : str or function, optional
        C expression of two keys ``a`` and ``b``, or a Python function of them, that is true if `a`
        comes before `b`, as ``"(a & 255) < (b & 255)"``. It is a strict weak order, as in C++ and
        CUB. By default smaller keys come first, and NaN after all numbers. `sort` is faster for
        that order.
    values : array_like, optional
        Values that are moved with their keys, one for each key along the first axis, as for
        `sort_pairs`.
    out : array, or a tuple of two arrays with values; optional
        Arrays for the result, of the shapes and types of the inputs. They may be the inputs; any
        other overlap of contiguous arrays is refused.

    Returns
    -------
    numpy.ndarray, cubc.Array or out
        Sorted keys, or (keys, values). In host memory if the inputs are, else on their device.

    Raises
    ------
    CompileError
        If the expression does not compile.
    TypeError
        For items that `asarray` does not take; for an `out` of another type than `x`.
    ValueError
        If `x` has not one dimension; for an empty expression; if there is not one value for each
        key; as for `reduce`.

    Notes
    -----
    Blocks sort tiles; then each round merges pairs of sorted runs by their merge path [1]_. If the
    expression is no strict weak order the result is undefined, but no other memory is written. The
    temporary storage is as large as `x` and the values, unless they fit one block.

    References
    ----------
    .. [1] O. Green, R. McColl and D. A. Bader, "GPU Merge Path: A GPU Merging Algorithm", ICS 2012.

    Examples
    --------
    >>> print(cubc.merge_sort(np.array([3, -1, 2, -3]), "a * a < b * b"))
    [-1  2  3 -3]
    """
    one_dimension("merge_sort", x, "for the rows of a matrix call it on each")
    keys_out, values_out = (out, None) if values is None else output_pair("merge_sort", out)
    fields = {
        "keys_in": x,
        "values_in": values,
        "less": less,
        "keys_out": ("keys_in", "keys_in", keys_out),
    }
    if values is not None:
        fields["values_out"] = ("values_in", "values_in", values_out)
    done = call_with_values("merge_sort", fields, **placement)
    return done if values is not None else done[0]


@primitive(workspace=None)
def merge(a, b, /, less=None, *, values=None, out=None, **placement: Unpack[Placement]) -> Any:
    """Merge two sorted arrays into one; of equal items those of `a` come first.

    Parameters
    ----------
    a, b : array_like
        Arrays of one dimension and of the same type, sorted by `less`.
    less : str, optional
        As for `merge_sort`.
    values : tuple of two array_like, optional
        Values of `a` and of `b`, as for `merge_sort`. They have the same type, and the same shape
        but for the first axis.
    out : array, or a tuple of two arrays with values; optional
        Arrays for the result. They must not overlap the inputs.

    Returns
    -------
    numpy.ndarray, cubc.Array or out
        Sorted keys, or (keys, values). In host memory if the inputs are, else on their device.

    Raises
    ------
    CompileError, TypeError, ValueError
        As for `merge_sort`.

    Notes
    -----
    If `a` or `b` is not sorted the result is undefined, but no other memory is written. A block
    finds the items of its tile by the merge path [1]_.

    References
    ----------
    .. [1] O. Green, R. McColl and D. A. Bader, "GPU Merge Path: A GPU Merging Algorithm", ICS 2012.

    Examples
    --------
    >>> print(cubc.merge(np.array([1.0, 4.0]), np.array([2.0, 3.0])))
    [1. 2. 3. 4.]
    """
    for x in (a, b):
        one_dimension("merge", x, "for all items call it on x.ravel()")
    keys_out, values_out = (out, None) if values is None else output_pair("merge", out)
    a, b = _arrays(a, b)
    fields = {
        "a": a,
        "b": b,
        "less": less,
        "out": ("a", (a.shape[0] + b.shape[0],), keys_out),
    }
    if values is not None:
        of_a, of_b = _values(values)
        if not is_moved(of_a):
            return _merged_by_indices(fields, of_a, of_b, values_out, placement)
        rows = (of_a.shape[0] + of_b.shape[0], *of_a.shape[1:])
        fields |= {
            "a_values": of_a,
            "b_values": of_b,
            "values_out": ("a_values", rows, values_out),
        }
    done = call("merge", fields, **placement)
    return done if values is not None else done[0]


@primitive(workspace=None)
def searchsorted(
    a, /, v, side="left", sorter=None, *, less=None, out=None, **placement: Unpack[Placement]
) -> Any:
    """Find the indices at which values keep a sorted array in order, as numpy.searchsorted does.

    Parameters
    ----------
    a : array_like
        Array of one dimension, sorted by `less`. It may have more than 2**32 items.
    v : array_like
        Values, of any number of dimensions. The search is fastest if they are sorted.
    side : {"left", "right"}
        "left" finds the first index that keeps the order (lower bound), "right" the last one (upper
        bound).
    sorter : array_like, optional
        Indices that sort `a`, as of `argsort`, if it is not sorted itself.
    less : str, optional
        As for `merge_sort`.
    out : array, optional
        Array for the indices, int64, of the shape of `v`. It must not overlap `a`.

    Returns
    -------
    numpy.ndarray, cubc.Array, out, or a number for a single value
        Indices, int64; in host memory if both arrays are, else on their device.

    Raises
    ------
    CompileError
        If the expression does not compile.
    TypeError
        For items that `asarray` does not take; for an `out` that is not int64; for a `sorter` that
        is no integers.
    ValueError
        If `a` has not one dimension; for another `side`; for a `sorter` of another size than `a`;
        as for `reduce`.

    Notes
    -----
    Items and values are compared in ``numpy.result_type`` of both. Each value takes a binary
    search, whose first steps read a copy of some items in shared memory.

    Examples
    --------
    >>> print(cubc.searchsorted(np.array([1.0, 2.0, 4.0]), np.array([2.0, 3.0])))
    [1 2]
    """
    one_dimension("searchsorted", a, "for all items call it on a.ravel()")
    if side not in ("left", "right"):
        refused = ValueError if isinstance(side, str) else TypeError
        raise refused(f"side is {side!r}: expected 'left' or 'right'")
    if sorter is not None:
        a = _sorted_by(as_array(a), sorter, placement)
    v = beside(a, v, placement.get("stream"))
    fields = {
        "in": a,
        "values": v,
        "right": side == "right",
        "less": less,
        "out": ("int64", "values", out),
    }
    return call("searchsorted", fields, **placement)[0]


@named
def digitize(x, /, bins, right=False, *, stream=None, device=None) -> Any:
    """Find the bins between edges that items lie in, as numpy.digitize does.

    Parameters
    ----------
    x : array_like
        Items, of any number of dimensions.
    bins : array_like
        Edges, of one dimension, in rising or in falling order, NaN being above all numbers; NumPy
        takes it anywhere. Those on a device are waited for.
    right : bool
        True if an item on an edge lies in the bin before it, False if in the one behind it.
    stream, device
        As for `reduce`.

    Returns
    -------
    numpy.ndarray, cubc.Array, or a number for a single item
        Numbers of the edges behind the items, int64: 0 before the first, and the number of edges
        behind the last.

    Raises
    ------
    TypeError
        For complex numbers; as `searchsorted`.
    ValueError
        If the edges neither rise nor fall; as `searchsorted`.

    Examples
    --------
    >>> print(cubc.digitize(np.array([0.5, 2.0, 9.0]), [1, 2, 4]))
    [0 2 3]
    """
    options = {"stream": stream, "device": device}
    items, edges = as_array(x), computed(beside(x, bins, stream), stream)
    refuse_items("the items of digitize", items, "which have no order", ordered=True)
    one_dimension("digitize", edges, "the edges are of one axis")
    side = "left" if right else "right"
    if not _falls(edges):
        return searchsorted(edges, x, side, **options)
    found, count = searchsorted(edges[::-1], x, side, **options), edges.shape[0]
    if not isinstance(found, np.ndarray | np.generic | int):
        return transform("n - k", k=found, n=count, dtype="int64", **options)
    refuse_bound("the bins are counted from the other end")
    return count - found


def _falls(edges: Any) -> bool:
    """Tell if edges fall, as several NaN do; ValueError if they neither rise nor fall."""
    of = edges if isinstance(edges, np.ndarray) else asarray(edges).numpy()
    of = of if of.dtype.kind in "iu" else of.astype(np.float64)
    if _rises(of) and not (of.size > 1 and np.isnan(of).all()):
        return False
    if _rises(of[::-1]):
        return True
    raise ValueError("bins must be monotonically increasing or decreasing")


def _rises(edges: np.ndarray) -> bool:
    """Tell if numbers rise, with NaN behind them."""
    return bool(((edges[1:] >= edges[:-1]) | np.isnan(edges[1:])).all())


def _sorted_by(a: Any, sorter: Any, placement: Placement) -> Any:
    sorter = as_array(beside(a, sorter, placement.get("stream")))
    if item_dtype(sorter).kind not in "iu":
        raise TypeError("sorter must only contain integers")
    if tuple(sorter.shape) != tuple(a.shape):
        raise ValueError("sorter.size must equal the size of the array")
    outside = isinstance(sorter, np.ndarray) and ((sorter < 0) | (sorter >= sorter.size)).any()
    if outside:
        raise ValueError("Sorter index out of range.")
    return take(a, sorter, mode="clip", **without_workspace(placement))


def _merged_by_indices(fields: Any, of_a: Any, of_b: Any, out: Any, placement: Placement) -> Any:
    """Merge indices of values, which are taken by them: those of `b` come behind those of `a`."""
    a, b = fields["a"], fields["b"]
    sizes = [x.shape[0] for x in (a, b)]
    if [x.shape[0] for x in (of_a, of_b)] != sizes:
        raise ValueError(
            f"there are {of_a.shape[0]} and {of_b.shape[0]} values for {sizes[0]} and {sizes[1]} "
            "keys: one is needed for each key"
        )
    indices = (
        indices_beside(a, 0, sizes[0], placement),
        indices_beside(b, sizes[0], sizes[1], placement),
    )
    keys, order = merge(a, b, fields["less"], values=indices, **placement)
    if fields["out"][2] is not None:
        transform(
            "x", x=keys, out=fields["out"][2], dtype=keys.dtype, **without_workspace(placement)
        )
        keys = fields["out"][2]
    join = np.concatenate if isinstance(of_a, np.ndarray) else concatenate
    return keys, take_values(join([of_a, of_b]), order, out, placement)


def _arrays(*xs: Any) -> tuple[Any, ...]:
    """Return lists as arrays, and arrays unchanged: callers ask for shapes."""
    return tuple(x if hasattr(x, "shape") else as_array(x) for x in xs)


def _values(values: Any) -> tuple[Any, Any]:
    """Return the values of `a` and of `b`, checked."""
    if not (isinstance(values, tuple) and len(values) == 2):
        raise TypeError("merge(): values must be a tuple of two arrays, those of a and of b")
    of_a, of_b = _arrays(*values)
    if 0 in (dimensions(of_a), dimensions(of_b)):
        raise ValueError("merge(): values must have one a key along the first axis")
    if name_of(of_a.dtype) != name_of(of_b.dtype) or tuple(of_a.shape[1:]) != tuple(of_b.shape[1:]):
        raise TypeError(
            f"merge(): the values of a are {of_a.dtype} {tuple(of_a.shape)}, those of b "
            f"{of_b.dtype} {tuple(of_b.shape)}: they must be alike but for the first axis"
        )
    return of_a, of_b
