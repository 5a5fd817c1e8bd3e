"""Refusal of missing values: masked arrays, and columns and tables of pandas, polars and Arrow.

NumPy turns their nulls into NaN, and the integers beside them into floats. They are refused as
masked arrays are. A NaN that is a number of its column, as in a float64 Series, is kept.
"""

from typing import Any

import numpy as np


def refuse_nulls(x: Any, what: str = "the array") -> None:
    """Raise TypeError if a column or table of another library has nulls."""
    if has_nulls(x):
        raise TypeError(
            f"{what} is a {type(x).__module__.split('.')[0]} {type(x).__name__} with nulls, which "
            "arrays of numbers have not: fill them (x.fillna(value), x.fill_null(value)) or leave "
            "them out (x.dropna(), x.drop_nulls())"
        )


def refuse_masked(x: Any) -> None:
    """Raise TypeError for NumPy's masked arrays, which NumPy itself reads without their masks."""
    if hasattr(x, "filled") and hasattr(x, "compressed"):
        raise TypeError(
            "the array is a masked array, whose mask cubc does not know: pass x.filled(value), or "
            "x.compressed() without what is masked"
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
