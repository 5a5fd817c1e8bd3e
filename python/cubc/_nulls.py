"""Refusal of missing values: masked arrays, and columns and tables of pandas, polars and Arrow.

NumPy reads a masked array without its mask. It turns the nulls of the others into NaN, and the
integers beside them into floats. All are refused, in lists too. A NaN that is a number of its
column, as in a float64 Series, is kept.
"""

from collections import deque
from typing import Any

import numpy as np

_NUMBERS = (int, float, complex, np.generic)


def refuse_missing(x: Any, what: str = "the array") -> None:
    """Raise TypeError if an array, or one in a list at any depth, has items that are missing."""
    left, seen = [x], set()
    while left:
        one = left.pop()
        if not isinstance(one, list | tuple | deque):
            _refuse(one, what)
        elif id(one) not in seen:  # a list may be in itself
            seen.add(id(one))
            # A million numbers are looked at by their few types.
            others = {of for of in set(map(type, one)) if not issubclass(of, _NUMBERS)}
            if others:
                left += [item for item in one if type(item) in others]


def _refuse(x: Any, what: str) -> None:
    if hasattr(x, "filled") and hasattr(x, "compressed"):
        raise TypeError(
            f"{what} is a masked array, whose mask cubc does not know: pass x.filled(value), or "
            "x.compressed() without what is masked"
        )
    if has_nulls(x):
        raise TypeError(
            f"{what} is a {type(x).__module__.split('.')[0]} {type(x).__name__} with nulls, which "
            "arrays of numbers have not: fill them (x.fillna(value), x.fill_null(value)) or leave "
            "them out (x.dropna(), x.drop_nulls())"
        )


def has_nulls(x: Any) -> bool:
    counted = getattr(x, "null_count", None)  # polars calls it, Arrow has it as it is
    if counted is not None:
        counted = counted() if callable(counted) else counted
        return bool(np.sum(np.asarray(counted)))
    if hasattr(x, "dtypes") and hasattr(x, "items") and not hasattr(x, "dtype"):  # a table
        return any(has_nulls(column) for _, column in x.items())  # noqa: PERF102
    dtype: Any = getattr(x, "dtype", None)
    if isinstance(dtype, np.dtype) or not hasattr(dtype, "na_value") or not hasattr(x, "isna"):
        return False
    number = getattr(dtype, "kind", "O") == "f" and isinstance(dtype.na_value, float)
    return not number and bool(np.any(np.asarray(x.isna())))
