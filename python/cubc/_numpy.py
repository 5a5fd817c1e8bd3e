"""Functions of NumPy's that are one or two calls of the primitives."""

from typing import Any

import numpy as np

from ._calls import as_array, name_function
from ._core import transform
from ._scans import scan
from ._selections import unique_consecutive
from ._sorting import sort


def cumsum(x, /, **options) -> Any:
    """Sums of the items up to each, flattened or along ``axis=``. Options as for `scan`.

    Integers are summed in their own type, as CUB does: ``dtype=`` takes a wider one.
    """
    try:
        return scan(x, "sum", **options)
    except Exception as error:
        name_function(error, "cumsum")
        raise


def cumprod(x, /, **options) -> Any:
    """Products of the items up to each, flattened or along ``axis=``. Options as for `scan`."""
    try:
        return scan(x, "prod", **options)
    except Exception as error:
        name_function(error, "cumprod")
        raise


def unique(x, /, *, stream=None, device=None) -> Any:
    """The distinct items of an array, sorted.

    Parameters
    ----------
    x : array_like
        A NumPy array of any number of dimensions, taken flat; a device's of one.
    stream, device
        As for `sort`.

    Returns
    -------
    array
        One dimension. Of several NaN each is kept, unlike NumPy's; 0.0 and -0.0 are one.

    Raises
    ------
    TypeError, ValueError, DeviceMemoryError
        As `sort`.

    Notes
    -----
    A radix sort, then the first of each run.
    """
    flat = np.ravel(x) if isinstance(x, np.ndarray | list | tuple) else x
    try:
        ordered = sort(flat, stream=stream, device=device)
        return unique_consecutive(ordered, stream=stream, device=device)
    except Exception as error:
        name_function(error, "unique")
        raise


def diff(x, /, *, out=None, stream=None, device=None) -> Any:
    """Each item less the one before it, NumPy's ``diff`` of one dimension.

    Parameters
    ----------
    x : array_like
        One dimension; not bool.
    out : array, optional
        Of one item less than `x`, apart from it: two differences need the same item.
    stream, device
        As for `transform`.

    Returns
    -------
    array
        Of one item less; of the type of `x`: unsigned items wrap.

    Raises
    ------
    ValueError
        If `x` has not one dimension, or no item.
    TypeError, DeviceMemoryError
        As `transform`.
    """
    x = as_array(x)
    if getattr(x, "ndim", 1) != 1 or x.shape[0] == 0:
        raise ValueError(f"diff() takes one dimension with an item or more, not {tuple(x.shape)}")
    if str(x.dtype) in ("bool", "torch.bool"):
        raise TypeError("diff() of bool has no meaning: compare with cubc.transform('a != b', ...)")
    options = {"out": out, "stream": stream, "device": device}
    try:
        return transform("b - a", a=x[:-1], b=x[1:], **options)
    except Exception as error:
        name_function(error, "diff")
        raise
