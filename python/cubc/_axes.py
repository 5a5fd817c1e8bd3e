"""What works along an axis: on the rows of the last one, which lie one behind the other.

Along another axis the array is transposed before and after: two passes more, and every algorithm
has one kernel.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ._calls import as_array
from ._core import call
from ._options import Where, without_workspace


def axis_number(axis: Any, ndim: int) -> int:
    """The axis counted from the first one."""
    try:
        if isinstance(axis, bool | np.bool):  # no axis of NumPy's reductions either
            raise TypeError
        number = operator.index(axis)
    except TypeError:
        raise TypeError(f"axis is {axis!r}: expected an int, or None for all items") from None
    if not -ndim <= number < ndim:
        dimensions = "1 dimension" if ndim == 1 else f"{ndim} dimensions"
        raise ValueError(f"axis is {axis!r}, but the array has {dimensions}")
    return number % ndim


def on_rows(x: Any, axis: Any, function: Callable[..., Any], out: Any, where: Where) -> Any:
    """What `function(rows, length, out)` makes of the rows along an axis, each of so many items.

    The function gives an item for each, in its place.
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
