"""Algorithms over the segments of an array.

Segment ``s`` of ``x`` is ``x[offsets[s]:offsets[s + 1]]``, or with ``segment_size=k`` the k items
from ``s * k`` on. Shares of equal work come from a merge path over items and ends: D. Merrill and
M. Garland, "Merge-based Parallel Sparse Matrix-Vector Multiplication", SC 2016.
"""

from typing import Any

import numpy as np

from ._calls import one_dimension, primitive
from ._core import call, operator_types, transform


@primitive
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
    stream=None,
    workspace=None,
    device=None,
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
    dtype, commutative, stream, workspace, device
        As for `reduce`; the size of the workspace is cubc_segmented_reduce_temp_bytes.

    Returns
    -------
    numpy.ndarray, cubc.Array or out
        One item a segment, of the type that `reduce` gives.

    Raises
    ------
    ValueError
        If neither or both of offsets and segment_size are given; if `x` is not a multiple of
        segment_size; if an expression with offsets has no init.
    TypeError
        For offsets of another type; as `reduce`.
    CompileError, DeviceMemoryError
        As `reduce`.

    Notes
    -----
    One pass; temporary storage of a few bytes a block. The same bits from run to run, as `reduce`.
    Offsets that fall are no error, but results of their segments are undefined.
    """
    x = _array(x)
    offsets, count = _segments("segmented_reduce", x, offsets, segment_size)
    acc, kind = operator_types(op, x.dtype, dtype=dtype, out=_dtype(out), widen=True)
    fields = {
        "in": x,
        "offsets": offsets,
        "acc_type": acc,
        "op": op,
        "commutative": bool(commutative),
        "init": init,
        "out": (kind, (count,), out),
    }
    return call("segmented_reduce", fields, stream=stream, workspace=workspace, device=device)[0]


@primitive
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
    stream=None,
    workspace=None,
    device=None,
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
    stream, workspace, device : optional
        As for `scan`; the size of the workspace is cubc_scan_temp_bytes.

    Returns
    -------
    numpy.ndarray, cubc.Array or out
        Of the shape of `x`; in host memory if `x` is there, else on its device.

    Raises
    ------
    TypeError, ValueError, CompileError, DeviceMemoryError
        As `scan` and `segmented_reduce`.

    Notes
    -----
    One pass with decoupled look-back, as `scan`: of pairs of a value and whether a segment begins
    (S. Sengupta et al., "Scan Primitives for GPU Computing", Graphics Hardware 2007). Each block
    marks the offsets that lie in its tile, so that an item costs the same whatever the lengths are.
    Results of floats may differ in the last digits from run to run. Offsets that fall are no error,
    but results of their segments are undefined.
    """
    x = _array(x)
    offsets, count = _segments("segmented_scan", x, offsets, segment_size)
    acc, kind = operator_types(op, x.dtype, dtype=dtype, out=_dtype(out))
    fields = {
        "in": x,
        "offsets": offsets,
        "segments": count,
        "op": op,
        "inclusive": bool(inclusive),
        "acc_type": acc,
        "init": init,
        "out": (kind, "in", out),
    }
    return call("scan", fields, stream=stream, workspace=workspace, device=device)[0]


@primitive
def segmented_sort(
    x,
    offsets=None,
    /,
    *,
    segment_size=None,
    descending=False,
    out=None,
    stream=None,
    device=None,
) -> Any:
    """Sort every segment of an array by itself, into a copy; the sort is stable.

    Parameters
    ----------
    x : array_like
        Keys, of one dimension.
    offsets, segment_size : optional
        The segments, as for `segmented_reduce`. What is before the first segment is sorted as one
        more, and so is what is behind the last.
    descending : bool
        The largest first; equal keys keep their order here too.
    out : array, optional
        Where the result goes: of the shape and type of `x`, apart from it.
    stream, device
        As for `sort`.

    Returns
    -------
    numpy.ndarray, cubc.Array or out
        In host memory if `x` is there, else on its device.

    Raises
    ------
    TypeError, ValueError, DeviceMemoryError
        As `sort` and `segmented_reduce`.

    Notes
    -----
    Two stable radix sorts: all keys along with their segments' numbers, then those numbers with the
    keys, by no more bits than there are segments. The temporary storage is three times `x` and
    more. The order is that of `sort`.
    """
    ordered, ids, bits = _sorted_ids(
        "segmented_sort", x, offsets, segment_size, descending, stream, device
    )
    return _by_segment(ids, ordered, out, bits, stream, device)


@primitive
def segmented_argsort(
    x,
    offsets=None,
    /,
    *,
    segment_size=None,
    descending=False,
    out=None,
    stream=None,
    device=None,
) -> Any:
    """Indices that sort every segment: ``x[segmented_argsort(x, o)]`` is ``segmented_sort(x, o)``.

    Parameters
    ----------
    x, offsets, segment_size, descending, stream, device
        As for `segmented_sort`.
    out : array, optional
        Where the indices go: of the shape of `x`, int64.

    Returns
    -------
    numpy.ndarray, cubc.Array or out
        int64: indices into `x`, not into its segments.

    Raises
    ------
    TypeError, ValueError, DeviceMemoryError
        As `segmented_sort`.
    """
    _, ids, bits = _sorted_ids(
        "segmented_argsort", x, offsets, segment_size, descending, stream, device
    )
    fields = {
        "keys_in": x,
        "keys_out": ("keys_in", "keys_in", None),
        "values_out": ("int64", "keys_in", None),
        "descending": bool(descending),
    }
    indices = call("sort", fields, stream=stream, device=device)[1]
    return _by_segment(ids, indices, out, bits, stream, device)


@primitive
def segmented_sort_pairs(
    keys,
    values,
    offsets=None,
    /,
    *,
    segment_size=None,
    descending=False,
    stream=None,
    device=None,
) -> tuple[Any, Any]:
    """Sort every segment of keys by itself, and values along with them; the sort is stable.

    Parameters
    ----------
    keys, offsets, segment_size, descending, stream, device
        As for `segmented_sort`.
    values : array_like
        As for `sort_pairs`.

    Returns
    -------
    keys, values : numpy.ndarray or cubc.Array
        In host memory if both are there, else on their device.

    Raises
    ------
    TypeError, ValueError, DeviceMemoryError
        As `segmented_sort` and `sort_pairs`.
    """
    ordered, ids, bits = _sorted_ids(
        "segmented_sort_pairs", keys, offsets, segment_size, descending, stream, device
    )
    along = _pairs(keys, values, None, stream, device, descending=bool(descending))[1]
    return (
        _by_segment(ids, ordered, None, bits, stream, device),
        _by_segment(ids, along, None, bits, stream, device),
    )


def _sorted_ids(function, x, offsets, size, descending, stream, device) -> tuple[Any, Any, int]:
    """All keys in order, the number of each one's segment, and how many bits these numbers have."""
    x = _array(x)
    one_dimension(function, x, "its segments may have any length")
    offsets, count = _segments(function, x, offsets, size)
    order = {"descending": bool(descending)}
    if offsets is None:
        fields = {
            "keys_in": x,
            "keys_out": ("keys_in", "keys_in", None),
            "values_out": ("int64", "keys_in", None),
        }
        ordered, indices = call("sort", fields | order, stream=stream, device=device)
        ids = transform("at / length", at=indices, length=size, stream=stream, device=device)
    else:
        kind = "int32" if count < 2**31 - 1 else "int64"
        fields = {"offsets": offsets, "segments": count, "out": (kind, (_items(x),), None)}
        (ids,) = call("segment_ids", fields, stream=stream, device=device)
        ordered, ids = _pairs(x, ids, None, stream, device, **order)
    return ordered, ids, (count + 1).bit_length()


def _pairs(keys, values, out, stream, device, **order) -> tuple[Any, ...]:
    fields = {
        "keys_in": keys,
        "values_in": values,
        "keys_out": ("keys_in", "keys_in", None),
        "values_out": ("values_in", "values_in", out),
    }
    return call("sort", fields | order, stream=stream, device=device)


def _by_segment(ids: Any, items: Any, out: Any, bits: int, stream: Any, device: Any) -> Any:
    """Items to their segments; the order in each stays as it is."""
    return _pairs(ids, items, out, stream, device, end_bit=bits)[1]


def _array(x: Any) -> Any:
    """An array of any library as it is; else what NumPy makes of it."""
    return x if hasattr(x, "dtype") else np.asarray(x)


def _dtype(out: Any) -> Any:
    return None if out is None else out.dtype


def _items(x: Any) -> int:
    """How many items an array of any library has."""
    return int(np.prod(tuple(x.shape), dtype=np.int64))


def _segments(function: str, x: Any, offsets: Any, size: int | None) -> tuple[Any, int]:
    """The offsets and how many segments there are."""
    if (offsets is None) == (size is None):
        raise ValueError(f"{function}() takes offsets or segment_size=, one of the two")
    if size is not None:
        if size < 1 or _items(x) % size:
            raise ValueError(
                f"{function}(): {_items(x)} items are no multiple of segment_size={size}; "
                "it is 1 or more, and segments of different lengths have offsets"
            )
        return None, _items(x) // size
    offsets = _array(offsets)
    if offsets.ndim != 1 or offsets.shape[0] == 0:
        raise ValueError(
            f"{function}(): offsets have one dimension and one more than there are segments, "
            f"not the shape {tuple(offsets.shape)}"
        )
    return offsets, offsets.shape[0] - 1
