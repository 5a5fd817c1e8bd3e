"""Radix sorts.

A. Adinets and D. Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs",
arXiv 2206.01784, 2022.
"""

from typing import Any, Unpack

import numpy as np

from ._axes import axis_number, on_rows
from ._calls import dimensions, one_dimension, output_pair, primitive
from ._core import call
from ._options import Where
from ._segments import argsort_in_segments, segmented_sort


@primitive(workspace="cubc_sort_temp_bytes, aligned to 256 bytes")
def sort(
    x,
    /,
    *,
    axis=-1,
    descending=False,
    begin_bit=0,
    end_bit=None,
    out=None,
    **where: Unpack[Where],
) -> Any:
    """Sort an array into a copy; the sort is stable.

    Parameters
    ----------
    x : array_like
        Keys. More than 2**32 of them are fine.
    axis : int or None
        Along which axis, the last one by default; None sorts all items, as one dimension.
    descending : bool
        The largest first; equal keys keep their order here too.
    begin_bit, end_bit : int
        Integers sort by these bits alone, the last one not included, and what is above them costs
        nothing; all bits by default. Of arrays of several dimensions only with ``axis=None``.
    out : array, optional
        Where the result goes: of the shape and type of `x`. `x` itself is fine; any other overlap
        is refused.

    Returns
    -------
    numpy.ndarray, cubc.Array or out
        In host memory if `x` is there, else on its device.

    Raises
    ------
    TypeError
        For types that `asarray` does not take, an `out` of another type, bits of floating keys.
    ValueError
        For an axis or bits that there are not; as for `reduce`.

    Notes
    -----
    As much temporary storage as `x` takes is needed.

    -0.0 comes before 0.0, and NaN after all numbers as in NumPy (so a descending sort begins with
    it); several NaNs are ordered by their bits. All bytes of a bool but 0 are the same key, and
    are written as 1; NumPy orders bools by their bytes. On a GPU one pass a digit of 8 bits with
    decoupled look-back [1]_; on the cpu one split by the highest digit, or floats by their value,
    and bins sorted in cache [2]_. Rows along the last axis are sorted as `segmented_sort` does;
    along another axis the array is transposed before and after, which takes twice as much memory
    as the array.

    References
    ----------
    .. [1] A. Adinets and D. Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for
       GPUs", arXiv 2206.01784, 2022.
    .. [2] P. McIlroy, K. Bostic and M. McIlroy, "Engineering Radix Sort", Computing Systems 6,
       1993.
    """
    if _has_rows("sort", x, axis, begin_bit, end_bit):

        def sort_rows(rows, length, to):
            how = {"segment_size": length, "descending": descending, "out": to}
            return segmented_sort(rows, **how, **where)

        return on_rows(x, axis, sort_rows, out, where)
    fields = {"keys_in": x, "keys_out": ("keys_in", _flat_shape(x), out)}
    fields |= _order(descending, begin_bit, end_bit)
    return call("sort", fields, **where)[0]


@primitive(workspace="cubc_sort_temp_bytes, aligned to 256 bytes")
def argsort(
    x,
    /,
    *,
    axis=-1,
    descending=False,
    begin_bit=0,
    end_bit=None,
    out=None,
    **where: Unpack[Where],
) -> Any:
    """Indices that sort an array: ``x[argsort(x)]`` is ``sort(x)``.

    Parameters
    ----------
    x, axis, descending, begin_bit, end_bit
        As for `sort`.
    out : array, optional
        Where the indices go: of the shape of `x`, int64.

    Returns
    -------
    numpy.ndarray, cubc.Array or out
        int64; equal items in the order of their indices, as in numpy.argsort(x, kind="stable").

    Raises
    ------
    TypeError, ValueError
        As for `sort`.
    """
    if _has_rows("argsort", x, axis, begin_bit, end_bit):

        def argsort_rows(rows, length, to):
            return argsort_in_segments(rows, length, descending, to, **where)

        return on_rows(x, axis, argsort_rows, out, where)
    shape = _flat_shape(x)
    fields = {
        "keys_in": x,
        "keys_out": ("keys_in", shape, None),
        "values_out": ("int64", shape, out),
    }
    fields |= _order(descending, begin_bit, end_bit)
    return call("sort", fields, **where)[1]


@primitive(workspace="cubc_sort_temp_bytes, aligned to 256 bytes")
def sort_pairs(
    keys,
    values,
    /,
    *,
    descending=False,
    begin_bit=0,
    end_bit=None,
    out=None,
    **where: Unpack[Where],
) -> tuple[Any, Any]:
    """Sort keys, and values along with them; the sort is stable.

    Parameters
    ----------
    keys : array_like
        Of one dimension.
    values : array_like
        One a key along the first axis: an item, or a row of items, of 1, 2, 4, 8 or 16 bytes.
    descending, begin_bit, end_bit
        As for `sort`.
    out : tuple of two arrays, optional
        Where keys and values go, of their shapes and types. `keys` and `values` themselves are
        fine.

    Returns
    -------
    keys, values : numpy.ndarray, cubc.Array or those of out
        In host memory if both are there, else on their device.

    Raises
    ------
    TypeError, ValueError
        As for `sort`; for values of another size or number.
    """
    one_dimension("sort_pairs", keys, SEVERAL)
    keys_out, values_out = output_pair("sort_pairs", out)
    fields = {
        "keys_in": keys,
        "values_in": values,
        "keys_out": ("keys_in", "keys_in", keys_out),
        "values_out": ("values_in", "values_in", values_out),
    }
    fields |= _order(descending, begin_bit, end_bit)
    return call("sort", fields, **where)


SEVERAL = "for the rows of a matrix call it on each, for all items on x.ravel()"


def _has_rows(function: str, x: Any, axis: Any, begin_bit: int, end_bit: int | None) -> bool:
    """Whether the axis is one of several."""
    if axis is None:
        return False
    ndim = dimensions(x)
    axis_number(axis, ndim)
    if ndim > 1 and (begin_bit or end_bit is not None):
        raise ValueError(
            f"{function}() by some bits takes one dimension or axis=None: shift and mask the items "
            "of a matrix by cubc.transform before"
        )
    return ndim > 1


def _flat_shape(x: Any) -> Any:
    """Of all items in one dimension; "keys_in": that of the keys, which have one."""
    if dimensions(x) == 1:
        return "keys_in"
    return (int(np.prod(x.shape if hasattr(x, "shape") else np.shape(x), dtype=np.int64)),)


def _order(descending: bool, begin_bit: int, end_bit: int | None) -> dict[str, int]:
    """The core's parameters, where an end of 0 means the highest bit: no bits are 1 to 1."""
    if end_bit == 0:
        if begin_bit > 0:
            raise ValueError(f"there are no bits {begin_bit} to 0: begin_bit is above end_bit")
        begin_bit = end_bit = 1
    return {
        "descending": bool(descending),
        "begin_bit": begin_bit,
        "end_bit": end_bit or 0,
    }
