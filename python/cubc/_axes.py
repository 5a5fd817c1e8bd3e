"""Calls along an axis, which work on the rows of the last axis.

For another axis the array is transposed before and after. That takes two more passes, and lets
every algorithm do with one kernel.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ._calls import as_array
from ._core import call
from ._options import Where, without_workspace

_BOOLS = (bool, np.bool)


def axis_number(axis: Any, ndim: int) -> int:
    """Return an axis as a number from 0 on; TypeError or ValueError if there is none."""
    try:
        if isinstance(axis, _BOOLS):  # no axis of NumPy's reductions either
            raise TypeError
        number = operator.index(axis)
    except TypeError:
        raise TypeError(f"axis is {axis!r}: expected an int, or None for all items") from None
    if not -ndim <= number < ndim:
        dimensions = "1 dimension" if ndim == 1 else f"{ndim} dimensions"
        raise ValueError(f"axis is {axis!r}, but the array has {dimensions}")
    return number % ndim


def on_rows(x: Any, axis: Any, function: Callable[..., Any], out: Any, where: Where) -> Any:
    """Apply `function(rows, length, out)` to the rows along an axis, each of `length` items.

    The function gives one item for each item of its rows, in the same order.
    """
    x = as_array(x)
    shape = tuple(x.shape)
    axis = axis_number(axis, len(shape))
    length, columns = shape[axis], int(np.prod(shape[axis + 1 :], dtype=np.int64))
    if columns == 1 or 0 in shape:
        return function(x, max(length, 1), out)
    turned = (*shape[:axis], *shape[axis + 1 :], length)
    fields = {"in": x, "rows": length, "columns": columns, "out": ("in", turned, None)}
    rows = function(call("transpose", fields, **without_workspace(where))[0], length, None)
    fields = {"in": rows, "rows": columns, "columns": length, "out": ("in", shape, out)}
    return call("transpose", fields, **without_workspace(where))[0]
