"""Algorithms over the segments of an array.

Segment ``s`` of ``x`` is ``x[offsets[s]:offsets[s + 1]]``, or with ``segment_size=k`` the k items
from ``s * k`` on. Shares of equal work come from a merge path over items and ends: D. Merrill and
M. Garland, "Merge-based Parallel Sparse Matrix-Vector Multiplication", SC 2016.
"""

from typing import Any, Unpack

import numpy as np

from ._calls import as_array, dtype_of, one_dimension, output_pair, primitive, whole
from ._core import call, operator_types
from ._options import Where


@primitive(workspace="cubc_segmented_reduce_temp_bytes")
def segmented_reduce(
    x,
    offsets=None,
    /,
    op="sum",
    *,
    segment_size=None,
    init=None,
    out=None,
    dtype=None,
    commutative=False,
    deterministic=False,
    **where: Unpack[Where],
) -> Any:
    """Reduce every segment of an array to one item.

    Parameters
    ----------
    x : array_like
        Of any number of dimensions, taken flat in C order.
    offsets : array_like, optional
        Of int32 or int64, one dimension, rising: segment ``s`` is ``x[offsets[s]:offsets[s + 1]]``,
        so that there is one segment less than offsets. What is outside of ``x`` is not read. Unlike
        ``numpy.add.reduceat``, the end of the last segment is given too, and a segment may be
        empty.
    op : str
        "sum", "prod", "min", "max", "any", "all", "argmin", "argmax", or a C expression of a and b.
        An index counts from its segment's beginning.
    segment_size : int, optional
        Instead of offsets: every segment has so many items, and `x` a multiple of them.
    init : scalar, optional
        Comes before the items of each segment. It is what an empty segment gives; without it that
        is the operator's identity (for min and max what no item is beyond), and -1 for an index.
        An expression together with offsets needs it.
    out : array, optional
        Where to write: one item a segment, apart from the inputs.
    dtype, commutative
        As for `reduce`.
    deterministic : bool
        As for `reduce`. A segment's result then has the bits that `reduce` gives for it alone,
        with ``deterministic=True`` too.

    Returns
    -------
    numpy.ndarray, cubc.Array or out
        One item a segment, of the type that `reduce` gives.

    Raises
    ------
    ValueError
        If neither or both of offsets and segment_size are given; if offsets in host memory fall;
        if `x` is not a multiple of segment_size; if an expression with offsets has no init.
    TypeError
        For offsets of another type; as `reduce`.
    CompileError
        As `reduce`.

    Notes
    -----
    One pass; temporary storage of a few bytes a block. The same bits from run to run, as `reduce`.
    Offsets on a device are not looked at: where they fall, results of their segments are undefined.

    Deterministic, a segment is cut into tiles from its own beginning: a lane of a warp, a warp, or
    for each tile a block reduces it, in the same order whichever it is. The temporary storage is
    then about a byte for 150 items of float32. The error of a sum is bounded as that of `reduce`.
    """
    x = as_array(x)
    offsets, count = _segments("segmented_reduce", x, offsets, segment_size)
    acc, kind = operator_types(op, x.dtype, dtype=dtype, out=dtype_of(out), widen=True)
    fields = {
        "in": x,
        "offsets": offsets,
        "acc_type": acc,
        "op": op,
        "commutative": bool(commutative),
        "deterministic": bool(deterministic),
        "init": init,
        "out": (kind, (count,), out),
    }
    return call("segmented_reduce", fields, **where)[0]


@primitive(workspace="cubc_scan_temp_bytes")
def segmented_scan(
    x,
    offsets=None,
    /,
    op="sum",
    *,
    segment_size=None,
    inclusive=True,
    init=None,
    out=None,
    dtype=None,
    deterministic=False,
    **where: Unpack[Where],
) -> Any:
    """Scan every segment of an array: prefixes that begin anew with each.

    Parameters
    ----------
    x : array_like
        Of any number of dimensions, taken flat in C order.
    offsets, segment_size : optional
        The segments, as for `segmented_reduce`. What is before the first segment is scanned as one
        more, and so is what is behind the last.
    op, inclusive : optional
        As for `scan`.
    init : optional
        What each segment begins with. An exclusive scan begins with the operator's identity by
        default; one with `min`, `max` or an expression needs a value.
    out : array, optional
        Where the result goes: of the shape of `x`, which it may be if its items are as large.
    dtype : optional
        Type of the result, in which `op` works too; that of `x` by default, as for `scan`.
    deterministic : bool
        As for `scan`.

    Returns
    -------
    numpy.ndarray, cubc.Array or out
        Of the shape of `x`; in host memory if `x` is there, else on its device.

    Raises
    ------
    TypeError, ValueError, CompileError
        As `scan` and `segmented_reduce`.

    Notes
    -----
    One pass with decoupled look-back, as `scan`: of pairs of a value and whether a segment begins
    (S. Sengupta et al., "Scan Primitives for GPU Computing", Graphics Hardware 2007). Each block
    marks the offsets that lie in its tile, so that an item costs the same whatever the lengths are.
    Results of floats may differ in the last digits from run to run, unless `deterministic` is set.
    Offsets on a device are not looked at: where they fall, results of their segments are undefined.
    """
    x = as_array(x)
    offsets, count = _segments("segmented_scan", x, offsets, segment_size)
    acc, kind = operator_types(op, x.dtype, dtype=dtype, out=dtype_of(out))
    fields = {
        "in": x,
        "offsets": offsets,
        "segments": count,
        "op": op,
        "inclusive": bool(inclusive),
        "deterministic": bool(deterministic),
        "acc_type": acc,
        "init": init,
        "out": (kind, "in", out),
    }
    return call("scan", fields, **where)[0]


@primitive(workspace="cubc_segmented_sort_temp_bytes, aligned to 256 bytes")
def segmented_sort(
    x,
    offsets=None,
    /,
    *,
    segment_size=None,
    descending=False,
    out=None,
    **where: Unpack[Where],
) -> Any:
    """Sort every segment of an array by itself, into a copy; the sort is stable.

    Parameters
    ----------
    x : array_like
        Keys, of one dimension; of several, taken flat in C order, if segments have one size.
    offsets, segment_size : optional
        The segments, as for `segmented_reduce`. What is before the first segment is sorted as one
        more, and so is what is behind the last.
    descending : bool
        The largest first; equal keys keep their order here too.
    out : array, optional
        Where the result goes: of the shape and type of `x`. `x` itself is fine; any other overlap
        is refused.

    Returns
    -------
    numpy.ndarray, cubc.Array or out
        In host memory if `x` is there, else on its device.

    Raises
    ------
    TypeError, ValueError
        As `sort` and `segmented_reduce`.

    Notes
    -----
    A merge sort that merges inside of segments only [1]_. Segments that fit a block are read and
    written once, many of them by one block if they are short; of longer ones each round of merges
    doubles what is sorted. Nothing waits for the lengths. Where a segment may be longer than a
    block holds, as much temporary storage as `x` takes is needed. The order is that of `sort`.
    Offsets on a device are not looked at: where they fall, what is written is undefined.

    References
    ----------
    .. [1] S. Baxter, "Modern GPU", 2013: segmented sort and locality sort.
    """
    fields = _sorting("segmented_sort", x, offsets, segment_size, descending)
    fields |= {"keys_out": ("keys_in", "keys_in", out)}
    return call("segmented_sort", fields, **where)[0]


@primitive(workspace="cubc_segmented_sort_temp_bytes, aligned to 256 bytes")
def segmented_argsort(
    x,
    offsets=None,
    /,
    *,
    segment_size=None,
    descending=False,
    out=None,
    **where: Unpack[Where],
) -> Any:
    """Indices that sort every segment: ``x[segmented_argsort(x, o)]`` is ``segmented_sort(x, o)``.

    Parameters
    ----------
    x, offsets, segment_size, descending
        As for `segmented_sort`.
    out : array, optional
        Where the indices go: of the shape of `x`, int64.

    Returns
    -------
    numpy.ndarray, cubc.Array or out
        int64: indices into `x`, not into its segments.

    Raises
    ------
    TypeError, ValueError
        As `segmented_sort`.
    """
    fields = _sorting("segmented_argsort", x, offsets, segment_size, descending)
    fields |= {
        "keys_out": ("keys_in", "keys_in", None),
        "indices_out": ("int64", "keys_in", out),
        "value_bytes": 8,
    }
    return call("segmented_sort", fields, **where)[2]


@primitive(workspace="cubc_segmented_sort_temp_bytes, aligned to 256 bytes")
def segmented_sort_pairs(
    keys,
    values,
    offsets=None,
    /,
    *,
    segment_size=None,
    descending=False,
    out=None,
    **where: Unpack[Where],
) -> tuple[Any, Any]:
    """Sort every segment of keys by itself, and values along with them; the sort is stable.

    Parameters
    ----------
    keys, offsets, segment_size, descending
        As for `segmented_sort`.
    values, out
        As for `sort_pairs`.

    Returns
    -------
    keys, values : numpy.ndarray or cubc.Array
        In host memory if both are there, else on their device.

    Raises
    ------
    TypeError, ValueError
        As `segmented_sort` and `sort_pairs`.
    """
    keys_out, values_out = output_pair("segmented_sort_pairs", out)
    fields = _sorting("segmented_sort_pairs", keys, offsets, segment_size, descending)
    fields |= {
        "values_in": values,
        "keys_out": ("keys_in", "keys_in", keys_out),
        "values_out": ("values_in", "values_in", values_out),
    }
    sorted_keys, sorted_values, _ = call("segmented_sort", fields, **where)
    return sorted_keys, sorted_values


def argsort_in_segments(x, size, descending, out, **where) -> Any:
    """Of segments of one size the indices in each that sort it, in the shape of `x`."""
    fields = _sorting("argsort", x, None, size, descending)
    fields |= {
        "keys_out": ("keys_in", "keys_in", None),
        "indices_out": ("int64", "keys_in", out),
        "value_bytes": 8,
        "relative": True,
    }
    return call("segmented_sort", fields, **where)[2]


def _sorting(function, x, offsets, size, descending) -> dict[str, Any]:
    """What the sorts of segments have in common."""
    x = as_array(x)
    if size is None:
        one_dimension(function, x, "its segments may have any length")
    offsets, count = _segments(function, x, offsets, size)
    return {
        "keys_in": x,
        "offsets": offsets,
        "segments": count,
        "descending": bool(descending),
    }


def _items(x: Any) -> int:
    """How many items an array of any library has."""
    return int(np.prod(tuple(x.shape), dtype=np.int64))


def _segments(function: str, x: Any, offsets: Any, size: int | None) -> tuple[Any, int]:
    """The offsets and how many segments there are."""
    if (offsets is None) == (size is None):
        raise ValueError(f"{function}() takes offsets or segment_size=, one of the two")
    if size is not None:
        size = whole(function, "segment_size", size)
        if size < 1 or _items(x) % size:
            raise ValueError(
                f"{function}(): {_items(x)} items are no multiple of segment_size={size}; "
                "it is 1 or more, and segments of different lengths have offsets"
            )
        return None, _items(x) // size
    offsets = as_array(offsets)
    if offsets.ndim != 1 or offsets.shape[0] == 0:
        raise ValueError(
            f"{function}(): offsets have one dimension and one more than there are segments, "
            f"not the shape {tuple(offsets.shape)}"
        )
    if isinstance(offsets, np.ndarray) and offsets.dtype.kind in "iu":
        falls = offsets[1:] < offsets[:-1]
        if falls.any():
            k = int(falls.argmax())
            raise ValueError(
                f"{function}(): offsets must not fall: {offsets[k]} is before {offsets[k + 1]}, at "
                f"{k + 1}"
            )
    return offsets, offsets.shape[0] - 1
