"""Functions of NumPy that take one or two calls of primitives."""

from typing import Any

import numpy as np

from ._axes import axis_number
from ._calls import as_array, name_function
from ._core import Lazy, operator_types, transform
from ._scans import scan
from ._selections import unique_consecutive
from ._sorting import sort


def cumsum(x, /, axis=None, dtype=None, out=None, **options) -> Any:
    """Sum the items up to each one, flattened or along an axis, as numpy.cumsum does.

    Integers and bool are summed in 64 bits, unlike in `scan`, unless `dtype` or `out` says
    otherwise. ``**options`` are those of `scan`: ``inclusive``, ``init``, ``deterministic``,
    ``stream``, ``workspace`` and ``device``.
    """
    return _cumulative("cumsum", "sum", x, axis, dtype, out, options)


def cumprod(x, /, axis=None, dtype=None, out=None, **options) -> Any:
    """Multiply the items up to each one, flattened or along an axis; all else as `cumsum`."""
    return _cumulative("cumprod", "prod", x, axis, dtype, out, options)


def _cumulative(function, op, x, axis, dtype, out, options) -> Any:
    try:
        x = x if isinstance(x, Lazy) else as_array(x)
        if dtype is None and out is None:
            dtype = operator_types(op, x.dtype, widen=True)[1]
        if axis is not None and x.ndim == 0:  # NumPy takes such an array as one item
            axis_number(axis, 1)
            axis = None
        return scan(x, op, axis=axis, dtype=dtype, out=out, **options)
    except Exception as error:
        name_function(error, function)
        raise


def unique(x, /, *, stream=None, device=None) -> Any:
    """Return the distinct items of an array, sorted.

    Parameters
    ----------
    x : array_like
        Array of any number of dimensions, taken flat; in a device's memory of one dimension.
    stream, device
        As for `sort`.

    Returns
    -------
    array
        Array of one dimension. Every NaN is kept, unlike in NumPy; 0.0 and -0.0 count as one.

    Raises
    ------
    TypeError, ValueError, DeviceMemoryError
        As `sort`.

    Notes
    -----
    The call sorts by radix, then selects the first item of each run.
    """
    flat = np.ravel(x) if isinstance(x, np.ndarray | list | tuple) else x
    try:
        ordered = sort(flat, stream=stream, device=device)
        return unique_consecutive(ordered, stream=stream, device=device)
    except Exception as error:
        name_function(error, "unique")
        raise


def diff(x, /, *, out=None, stream=None, device=None) -> Any:
    """Subtract from each item the one before it, as numpy.diff does in one dimension.

    Parameters
    ----------
    x : array_like
        Array of one dimension; not of bool.
    out : array, optional
        Array for the result, of one item less than `x`. It must not overlap `x`, of which two
        differences read each item.
    stream, device
        As for `transform`.

    Returns
    -------
    array
        Array of one item less than `x` and of its type. Unsigned differences wrap.

    Raises
    ------
    ValueError
        If `x` has not one dimension, or has no item.
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
