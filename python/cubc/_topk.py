"""The largest items, or the smallest, and their indices."""

from typing import Any, Unpack

import numpy as np

from ._arrays import as_array, dimensions, of_device, output_pair
from ._axes import axis_number, from_rows, items_of, rows_along, transposed
from ._calls import primitive
from ._core import asarray, call, topk_in_order
from ._options import Placement, without_workspace
from ._payload import call_with_values
from ._segmented_sorts import number_of_keys, sort_in_segments
from ._sorting import sort_pairs

IN_ORDER = 2048  # keys that each device finds in order, and the most that are found in segments


@primitive(workspace="cubc_topk_temp_bytes")
def topk(
    x,
    k,
    /,
    *,
    axis=-1,
    largest=True,
    sorted=True,
    values=None,
    out=None,
    **placement: Unpack[Placement],
) -> tuple[Any, Any]:
    """Find the k largest keys, or the k smallest, and their indices or their values.

    Parameters
    ----------
    x : array_like
        Keys. There may be more than 2**32.
    k : int
        Number of keys to find; at most the number of keys of `x`, or of those along the axis.
    axis : int or None
        Axis along which to look for keys; by default the last one. None takes all items as one
        dimension.
    largest : bool
        True finds the largest keys, False the smallest.
    sorted : bool
        True sorts the result: the largest key first, or the smallest if `largest` is False. False
        saves that sort of more keys of one dimension than are found in order (see Notes), and most
        of it of up to 2048 keys along an axis. The order is then unspecified, but the same in each
        call.
    values : array_like, optional
        Values that are returned in place of indices, one for each key along the first axis: an item
        or a row of items, as for `sort_pairs`. Keys have one dimension then.
    out : tuple of two arrays, optional
        Arrays for keys and indices (int64) or values. Their shape is that of `x` with `k` items
        along the axis.

    Returns
    -------
    keys, indices : numpy.ndarray, cubc.Array or those of out
        Keys and indices along the axis, or keys and values. Keys compare as for `sort`: NaN is
        above all numbers and -0.0 below 0.0. Equal keys are taken by their indices, the lowest
        first. Rows in order are one of the results of NumPy's partition and argpartition.

    Raises
    ------
    TypeError, ValueError
        As for `sort`; if `k` is negative or above the number of keys.

    Notes
    -----
    Up to 2048 keys of one dimension, or 7936 on a GPU whose blocks have 200 KB of shared memory (an
    H100), take one read of `x`: a sample tells which keys to keep, and a cluster of blocks selects
    from those, in order. From up to 131072 items the cluster selects at once.

    More keys, and those of data that defeat the sample, are found by radix selection (Zhang,
    Naruse, Li and Wang, "Parallel Top-K Algorithms on GPU: A Comprehensive Study and New
    Methods", SC23).
    Keys are then mostly read twice: once to count their highest digits and once to select by them.
    If too many keys share the highest digits, they are read once more for each further digit. The
    temporary storage is at most a quarter of a sort's, and a constant.

    Up to 2048 keys along an axis are found as by `segmented_topk`, and more by a sort of all. An
    axis that is not the last takes a transposition.

    Examples
    --------
    >>> print(*cubc.topk(np.array([3.0, 1.0, 2.0]), 2))
    [3. 2.] [0 2]
    """
    keys_out, values_out = output_pair("topk", out, "(keys, indices)")
    k = number_of_keys("topk", k)
    if axis is not None and dimensions(x) != 1:
        if values is not None:
            raise TypeError(
                "topk() takes values= with keys of one dimension; along an axis the indices select "
                "them (numpy.take_along_axis)"
            )
        return _along(x, k, axis, largest, sorted, (keys_out, values_out), placement)
    if axis is not None:
        axis_number(axis, 1)
    rows = (k, *getattr(values, "shape", np.shape(values))[1:]) if values is not None else (k,)
    fields = {
        "keys_in": x,
        "values_in": values,
        "largest": bool(largest),
        "keys_out": ("keys_in", (k,), keys_out),
        "values_out": ("values_in" if values is not None else "int64", rows, values_out),
    }
    found = call_with_values("topk", fields, **placement)
    if not sorted or _in_order(x, k, placement.get("device")):
        return found
    return sort_pairs(*found, descending=largest, out=found, **without_workspace(placement))


def _in_order(x: Any, k: int, device: Any) -> bool:
    """Tell if cubc_topk has found the keys of `x` in order."""
    if k <= IN_ORDER:
        return True
    of = of_device(x)
    return k <= topk_in_order(device if of is None else asarray(of).device)


def _along(
    x: Any,
    k: int,
    axis: Any,
    largest: bool,
    sorted: bool,
    out: tuple[Any, Any],
    placement: Placement,
) -> Any:
    """Find the k keys of each row along an axis."""
    x = as_array(x)
    shape = tuple(x.shape)
    axis = axis_number(axis, len(shape))
    length, wanted = shape[axis], (*shape[:axis], k, *shape[axis + 1 :])
    if k > length:
        raise ValueError(f"topk(): there are no {k} of {length} keys along axis {axis}")
    rows, count = rows_along(x, axis, placement), items_of((*shape[:axis], *shape[axis + 1 :]))
    last = rows is x
    to, arrays = (wanted, out) if last else ((count, k), (None, None))
    found: Any
    if k <= IN_ORDER or count == 0:
        fields = {
            "in": rows,
            "segments": count,
            "k": k if count else 0,
            "largest": bool(largest),
            "unordered": not sorted,
            "keys_out": ("in", to, arrays[0]),
            "indices_out": ("int64", to, arrays[1]),
        }
        found = call("segmented_topk", fields, **placement)
    else:
        ordered = sort_in_segments(rows, length, largest, **placement)
        found = [
            _first_of_rows(part, (count, length), k, to, array, placement)
            for part, array in zip(ordered, arrays, strict=True)
        ]
    if last:
        return tuple(found)
    return tuple(
        from_rows(part, wanted, axis, array, placement)
        for part, array in zip(found, out, strict=True)
    )


def _first_of_rows(
    rows: Any, size: tuple[int, int], k: int, shape: Any, out: Any, placement: Placement
):
    """Return the first k items of each row; `size` is the number of rows and of items of each."""
    count, length = size
    columns = transposed(rows, count, length, (length, count), None, placement)
    return transposed(columns[:k], k, count, shape, out, placement)
