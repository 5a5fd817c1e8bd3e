"""Algorithms over the segments of an array.

Segment ``s`` of ``x`` is ``x[offsets[s]:offsets[s + 1]]``, or with ``segment_size=k`` the k items
from ``s * k`` on. Shares of equal work come from a merge path over items and ends: D. Merrill and
M. Garland, "Merge-based Parallel Sparse Matrix-Vector Multiplication", SC 2016.
"""

from typing import Any

import numpy as np

from ._calls import primitive
from ._core import call, operator_types


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
