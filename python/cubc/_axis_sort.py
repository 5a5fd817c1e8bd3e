"""Sorts along an axis: a short one where it is, a longer one as rows of a transposed array.

`benchmarks/notes/segmented_sort.md` has the times of both ways.
"""

from typing import Any

from ._arrays import as_array, is_on_cpu
from ._axes import axis_number, items_of, on_rows
from ._core import call
from ._segmented_sorts import argsort_in_segments, segmented_sort

# Most items of an axis that is sorted where it is: CUBC_AXIS_SORT_LONGEST, more are refused there.
# The cpu sorts longer rows faster by `segmented_sort`.
_LONGEST, _LONGEST_ROW_ON_CPU = 2048, 128


def sort_along(x: Any, axis: int, descending: Any, out: Any, placement: Any) -> Any:
    """Return the items sorted along an axis."""

    def sort_rows(rows, length, to):
        how = {"segment_size": length, "descending": descending, "out": to}
        return segmented_sort(rows, **how, **placement)

    fields = _fields_if_short(x, axis, placement)
    if fields is None:
        return on_rows(x, axis, sort_rows, out, placement)
    fields |= {"descending": descending, "out": ("in", "in", out)}
    return call("axis_sort", fields, **placement)[0]


def argsort_along(x: Any, axis: int, descending: Any, out: Any, placement: Any) -> Any:
    """Return the indices along an axis that sort the items, int64."""

    def argsort_rows(rows, length, to):
        return argsort_in_segments(rows, length, descending, to, **placement)

    fields = _fields_if_short(x, axis, placement)
    if fields is None:
        return on_rows(x, axis, argsort_rows, out, placement)
    fields |= {"descending": descending, "indices": True, "out": ("int64", "in", out)}
    return call("axis_sort", fields, **placement)[0]


def _fields_if_short(x: Any, axis: int, placement: Any) -> dict[str, Any] | None:
    """Return the array and its shape as `axis_sort` takes them; None if the axis is too long."""
    x = as_array(x)
    shape = tuple(x.shape)
    number = axis_number(axis, len(shape))
    length, columns = shape[number], items_of(shape[number + 1 :])
    if not _is_short(length, columns, is_on_cpu(x, placement.get("device"))):
        return None
    return {"in": x, "length": max(length, 1), "columns": max(columns, 1)}


def _is_short(length: int, columns: int, is_cpu: bool) -> bool:
    """Tell if an axis is sorted where it is."""
    return length <= (_LONGEST_ROW_ON_CPU if is_cpu and columns <= 1 else _LONGEST)
