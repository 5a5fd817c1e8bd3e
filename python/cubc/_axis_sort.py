"""Sorts along an axis: a short one where it is, a longer one as rows of a transposed array.

`benchmarks/notes/segmented_sort.md` says why these are the borders.
"""

from typing import Any

from ._axes import axis_number, items_of, on_rows
from ._calls import as_array, item_dtype
from ._core import call
from ._long_segments import device_of
from ._segments import argsort_in_segments, segmented_sort

# Most items of an axis that is sorted where it is, on a GPU by the bytes of a key: a block has 32
# bytes of a row then, a sector of memory.
_LONGEST = {1: 256, 2: 512, 4: 1024, 8: 1024}
_LONGEST_ON_CPU = 2048  # that the core takes
# The same of the last axis: up to 32 items a thread of a GPU sorts alone, and vectors of the cpu up
# to 128. Teams sort longer rows of 4-byte keys; of the lengths between, `segmented_sort` is faster.
_LONGEST_ROW = 32
_ROWS_OF_TEAMS = {4: range(65, 513)}
_LONGEST_ROW_ON_CPU = 128


def sort_along(x: Any, axis: int, descending: Any, out: Any, where: Any) -> Any:
    """Return the items sorted along an axis."""

    def sort_rows(rows, length, to):
        how = {"segment_size": length, "descending": descending, "out": to}
        return segmented_sort(rows, **how, **where)

    fields = _fields_if_short(x, axis, where)
    if fields is None:
        return on_rows(x, axis, sort_rows, out, where)
    fields |= {"descending": descending, "out": ("in", "in", out)}
    return call("axis_sort", fields, **where)[0]


def argsort_along(x: Any, axis: int, descending: Any, out: Any, where: Any) -> Any:
    """Return the indices along an axis that sort the items, int64."""

    def argsort_rows(rows, length, to):
        return argsort_in_segments(rows, length, descending, to, **where)

    fields = _fields_if_short(x, axis, where)
    if fields is None:
        return on_rows(x, axis, argsort_rows, out, where)
    fields |= {"descending": descending, "indices": True, "out": ("int64", "in", out)}
    return call("axis_sort", fields, **where)[0]


def _fields_if_short(x: Any, axis: int, where: Any) -> dict[str, Any] | None:
    """Return the array and its shape as `axis_sort` takes them; None if the axis is too long."""
    x = as_array(x)
    shape = tuple(x.shape)
    number = axis_number(axis, len(shape))
    length, columns = shape[number], items_of(shape[number + 1 :])
    if not _is_short(length, columns, item_dtype(x).itemsize, device_of(x, where) == "cpu"):
        return None
    return {"in": x, "length": max(length, 1), "columns": max(columns, 1)}


def _is_short(length: int, columns: int, key_bytes: int, is_cpu: bool) -> bool:
    """Tell if an axis is sorted where it is."""
    if columns > 1:
        return length <= (_LONGEST_ON_CPU if is_cpu else _LONGEST.get(key_bytes, 0))
    if is_cpu:
        return length <= _LONGEST_ROW_ON_CPU
    return length <= _LONGEST_ROW or length in _ROWS_OF_TEAMS.get(key_bytes, ())
