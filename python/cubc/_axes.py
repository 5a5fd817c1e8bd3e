"""Calls along an axis, which work on the rows of the last axis.

For another axis the array is transposed before and after. That takes two more passes, and lets
an algorithm do with one kernel. Reductions, scans and sorts of short axes have kernels that need no
transposition.
"""

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ._arrays import as_array, computed, dtype_of
from ._core import call, operator_types, reduce
from ._options import Placement, without_workspace

_BOOLS = (bool, np.bool)


def axis_number(axis: Any, ndim: int) -> int:
    """Return an axis as a number from 0 on; TypeError or AxisError if there is none."""
    try:
        if isinstance(axis, _BOOLS):  # no axis of NumPy's reductions either
            raise TypeError
        number = operator.index(axis)
    except TypeError:
        raise TypeError(f"axis is {axis!r}: expected an int, or None for all items") from None
    if not -ndim <= number < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    return number % ndim


def axis_numbers(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return axes as numbers from 0 on; AxisError, TypeError or ValueError as NumPy has them."""
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    numbers = tuple(axis_number(one, ndim) for one in axes)
    if len({*numbers}) < len(numbers):
        raise ValueError("repeated axis")
    return numbers


def reduce_in_turns(
    x, *, op="sum", axis, keepdims=False, init=None, out=None, dtype=None, workspace=None, **options
) -> Any:
    """Reduce along axes with others between them: along the last that lie together, then the rest.

    Each operand keeps its place in the order. Results are of the accumulator's type until the
    last turn. A workspace is of one call's size, so that the turns allocate their own.
    """
    x = as_array(x)
    shape = tuple(x.shape)
    numbers = sorted(axis_number(one, len(shape)) for one in axis)
    long = [number for number in numbers if shape[number] != 1]
    acc, kind = operator_types(op, x.dtype, dtype=dtype, out=dtype_of(out), widen=True)
    if 0 in (shape[number] for number in numbers):  # one axis of no items is enough for one turn
        whole = [1 if number in numbers else extent for number, extent in enumerate(shape)]
        whole[numbers[-1]] = 0
        part = computed(x, options.get("stream")).reshape(whole)
    else:
        first = long[-1]  # of the axes that lie together at the end
        for number in reversed(long[:-1]):
            if any(extent != 1 for extent in shape[number + 1 : first]):
                break
            first = number
        last = tuple(number for number in long if number >= first)
        part = reduce(x, op, axis=last, keepdims=True, dtype=acc, **options)
    return reduce(part, op, axis=axis, keepdims=keepdims, dtype=kind, out=out, init=init, **options)


def on_rows(x: Any, axis: Any, function: Callable[..., Any], out: Any, placement: Placement) -> Any:
    """Apply `function(rows, length, out)` to the rows along an axis, each of `length` items.

    The function gives one item for each item of its rows, in the same order.
    """
    x = as_array(x)
    shape = tuple(x.shape)
    axis = axis_number(axis, len(shape))
    rows = rows_along(x, axis, placement)
    if rows is x:
        return function(x, max(shape[axis], 1), out)
    return from_rows(function(rows, shape[axis], None), shape, axis, out, placement)


def rows_along(x: Any, axis: int, placement: Placement) -> Any:
    """Return an array with an axis as its last one; the array itself where no item moves."""
    shape = tuple(x.shape)
    columns = items_of(shape[axis + 1 :])
    if columns == 1 or 0 in shape:
        return x
    turned = (*shape[:axis], *shape[axis + 1 :], shape[axis])
    return transposed(x, shape[axis], columns, turned, None, placement)


def from_rows(rows: Any, shape: tuple[int, ...], axis: int, out: Any, placement: Placement) -> Any:
    """Return rows along the last axis as an array of a shape that has them along `axis`."""
    return transposed(rows, items_of(shape[axis + 1 :]), shape[axis], shape, out, placement)


def items_of(shape: Iterable[int]) -> int:
    """Return the number of items of a shape."""
    return math.prod(shape)


def transposed(
    x: Any, rows: int, columns: int, shape: tuple[int, ...], out: Any, placement: Placement
) -> Any:
    """Transpose each matrix of `rows` times `columns` items; the result has the given shape."""
    fields = {"in": x, "rows": rows, "columns": columns, "out": ("in", shape, out)}
    return call("transpose", fields, **without_workspace(placement))[0]
