"""Reductions and scans that leave NaN out, by NumPy's names.

A NaN is replaced, as it is read, by a number that does not change the result. Arrays of types
without NaN are reduced as they are.
"""

import warnings
from typing import Any, Unpack

import numpy as np

from ._arrays import as_array, dtype_of, has_nan, item_dtype
from ._axes import axis_number, items_of
from ._calls import named
from ._core import Array, reduce
from ._lazy import lazy
from ._numpy import cumprod, cumsum
from ._options import Reducing, Scanning, listed
from ._reductions import (
    argmax,
    argmin,
    check_items,
    into,
    is_other,
    left_out,
    name_initial,
    prod,
    refuse_options,
)
from ._reductions import max as max_of
from ._reductions import min as min_of
from ._reductions import sum as sum_of
from ._statistics import mean, spread

_NOTHING = {"min": "a <= b || b != b ? a : b", "max": "a >= b || b != b ? a : b"}


def _with(x: Any, number: float) -> Any:
    """Return an array with a number in place of each NaN; it is lazy."""
    x = as_array(x)
    return lazy("x != x ? n : x", x=x, n=number, dtype=x.dtype) if has_nan(x) else x


def _there(x: Any) -> Any:
    """Return what where= takes: True of arrays that have no NaN, else a lazy mask."""
    x = np.asarray(x) if isinstance(x, np.generic) else x  # to lazy inputs a number has no shape
    return lazy("x == x", x=x, dtype=bool) if has_nan(x) else True


def _both(x: Any, where: Any) -> Any:
    there = _there(x)
    if where is True or where is None:
        return there
    return where if there is True else left_out(there, where, False)


@named
@listed
def nansum(
    x,
    /,
    axis=None,
    dtype=None,
    out=None,
    keepdims=False,
    initial=None,
    where=True,
    **options: Unpack[Reducing],
) -> Any:
    """Sum of the items that are not NaN.

    Parameters
    ----------
    x, axis, dtype, out, keepdims, initial, where, **options
        As for `sum`.

    Returns
    -------
    numpy scalar, array or out
        As of `sum`.

    Raises
    ------
    TypeError, ValueError, CompileError
        As `sum`.

    Examples
    --------
    >>> print(cubc.nansum(np.array([1.0, np.nan, 3.0])))
    4.0
    """
    return sum_of(_with(x, 0), axis, dtype, out, keepdims, initial, where, **options)


@named
@listed
def nanprod(
    x,
    /,
    axis=None,
    dtype=None,
    out=None,
    keepdims=False,
    initial=None,
    where=True,
    **options: Unpack[Reducing],
) -> Any:
    """Product of the items that are not NaN.

    Parameters
    ----------
    x, axis, dtype, out, keepdims, initial, where, **options
        As for `prod`.

    Returns
    -------
    numpy scalar, array or out
        As of `prod`.

    Raises
    ------
    TypeError, ValueError, CompileError
        As `prod`.

    Examples
    --------
    >>> print(cubc.nanprod(np.array([1.0, np.nan, 3.0])))
    3.0
    """
    return prod(_with(x, 1), axis, dtype, out, keepdims, initial, where, **options)


@named
@listed
def nancumsum(x, /, axis=None, dtype=None, out=None, **options: Unpack[Scanning]) -> Any:
    """Sums up to each item, of those that are not NaN.

    Parameters
    ----------
    x, axis, dtype, out, **options
        As for `cumsum`.

    Returns
    -------
    array or out
        As of `cumsum`.

    Raises
    ------
    TypeError, ValueError, CompileError
        As `cumsum`.

    Examples
    --------
    >>> print(cubc.nancumsum(np.array([1.0, np.nan, 3.0])))
    [1. 1. 4.]
    """
    return cumsum(_with(x, 0), axis, dtype, out, **options)


@named
@listed
def nancumprod(x, /, axis=None, dtype=None, out=None, **options: Unpack[Scanning]) -> Any:
    """Products up to each item, of those that are not NaN.

    Parameters
    ----------
    x, axis, dtype, out, **options
        As for `cumprod`.

    Returns
    -------
    array or out
        As of `cumprod`.

    Raises
    ------
    TypeError, ValueError, CompileError
        As `cumprod`.

    Examples
    --------
    >>> print(cubc.nancumprod(np.array([1.0, np.nan, 3.0])))
    [1. 1. 3.]
    """
    return cumprod(_with(x, 1), axis, dtype, out, **options)


@named
@listed
def nanmin(
    x, /, axis=None, out=None, keepdims=False, initial=None, where=True, **options: Unpack[Reducing]
) -> Any:
    """Smallest item that is not NaN.

    Parameters
    ----------
    x, axis, out, keepdims, initial, where, **options
        As for `min`.

    Returns
    -------
    numpy scalar, array or out
        As of `min`. Where all items are NaN it is a NaN, with a RuntimeWarning if the result is in
        host memory.

    Raises
    ------
    TypeError, ValueError, CompileError
        As `min`.

    Examples
    --------
    >>> print(cubc.nanmin(np.array([1.0, np.nan, 3.0])))
    1.0
    """
    return _extreme("min", min_of, x, axis, out, keepdims, initial, where, options)


@named
@listed
def nanmax(
    x, /, axis=None, out=None, keepdims=False, initial=None, where=True, **options: Unpack[Reducing]
) -> Any:
    """Largest item that is not NaN.

    Parameters
    ----------
    x, axis, out, keepdims, initial, where, **options
        As for `max`.

    Returns
    -------
    numpy scalar, array or out
        As of `max`. Where all items are NaN it is a NaN, with a RuntimeWarning if the result is in
        host memory.

    Raises
    ------
    TypeError, ValueError, CompileError
        As `max`.

    Examples
    --------
    >>> print(cubc.nanmax(np.array([1.0, np.nan, 3.0])))
    3.0
    """
    return _extreme("max", max_of, x, axis, out, keepdims, initial, where, options)


def _extreme(op, function, x, axis, out, keepdims, initial, where, options) -> Any:
    refuse_options(op, options)
    x = as_array(x)
    if not has_nan(x) or item_dtype(x).kind == "c":  # those are refused there
        return function(x, axis, out, keepdims, initial, where, **options)
    if initial is None and not items_of(tuple(x.shape)):
        check_items(f"nan{op}", x, axis)
    if where is not True and where is not None:
        if initial is None:
            raise ValueError(f"nan{op}() with where= needs initial=, since it has no identity")
        x = left_out(x, where, initial, options.get("stream"))
    if initial is not None:
        options["init"] = initial
    options.setdefault("commutative", True)
    other = out is not None and dtype_of(out) is not None and is_other(item_dtype(x), out.dtype)
    to = None if other else out
    try:
        found = reduce(x, _NOTHING[op], axis=axis, out=to, keepdims=keepdims, **options)
    except ValueError as error:
        name_initial(error)
        error.args = (str(error).replace("a user's operator of no items", "no items"),)
        raise
    if not isinstance(found, Array) and bool(np.any(found != found)):
        warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=4)
    return into(out, found, options) if other else found


def _axis_of(x: Any, axis: Any) -> Any:
    """Return an axis; of an array without dimensions None, since NumPy takes it as one item."""
    if tuple(x.shape) or axis is None or isinstance(axis, tuple):
        return axis
    axis_number(axis, 1)
    return None


@named
@listed
def nanargmin(x, /, axis=None, out=None, *, keepdims=False, **options: Unpack[Reducing]) -> Any:
    """Index of the smallest item that is not NaN.

    Parameters
    ----------
    x, axis, out, keepdims, **options
        As for `argmin`.

    Returns
    -------
    numpy.int64, array or out
        As of `argmin`. For an array of a device it is 0 where all items are NaN.

    Raises
    ------
    ValueError
        If all items, or all along the axis, are NaN, in an array of host memory.
    TypeError, ValueError, CompileError
        As `argmin`.

    Examples
    --------
    >>> print(cubc.nanargmin(np.array([1.0, np.nan, 3.0])))
    0
    """
    return _place(argmin, np.inf, x, axis, out, keepdims, options)


@named
@listed
def nanargmax(x, /, axis=None, out=None, *, keepdims=False, **options: Unpack[Reducing]) -> Any:
    """Index of the largest item that is not NaN.

    Parameters
    ----------
    x, axis, out, keepdims, **options
        As for `argmax`.

    Returns
    -------
    numpy.int64, array or out
        As of `argmax`. For an array of a device it is 0 where all items are NaN.

    Raises
    ------
    ValueError
        If all items, or all along the axis, are NaN, in an array of host memory.
    TypeError, ValueError, CompileError
        As `argmax`.

    Examples
    --------
    >>> print(cubc.nanargmax(np.array([1.0, np.nan, 3.0])))
    2
    """
    return _place(argmax, -np.inf, x, axis, out, keepdims, options)


def _place(function, number, x, axis, out, keepdims, options) -> Any:
    x = as_array(x)
    shape = tuple(x.shape)
    axis = _axis_of(x, axis)
    if not (items_of(shape) if axis is None else shape[axis_number(axis, len(shape))]):
        raise ValueError(f"attempt to get {function.__name__} of an empty sequence")
    found = function(_with(x, number), axis, out, keepdims=keepdims, **options)
    # An index that is not 0 is of a smaller item than the number.
    if isinstance(x, np.ndarray) and has_nan(x) and np.any(found == 0):
        there = sum_of(_there(x), axis, "int64", device=options.get("device"))
        if np.any(there == 0):
            raise ValueError("All-NaN slice encountered")
    return found


@named
def nanmean(
    x, /, axis=None, dtype=None, out=None, keepdims=False, *, where=True, stream=None, device=None
) -> Any:
    """Mean of the items that are not NaN.

    Parameters
    ----------
    x, axis, dtype, out, keepdims, where, stream, device
        As for `mean`. For floats `dtype` and `out` are of floats.

    Returns
    -------
    numpy scalar, array or out
        As of `mean`.

    Raises
    ------
    TypeError, ValueError, CompileError
        As `mean`.

    Examples
    --------
    >>> print(cubc.nanmean(np.array([1.0, np.nan, 3.0])))
    2.0
    """
    x = as_array(x)
    _refuse_integers(x, dtype, out)
    how = {"keepdims": keepdims, "where": _both(x, where), "stream": stream, "device": device}
    return mean(x, _axis_of_floats(x, axis), dtype, out, **how)


def _axis_of_floats(x: Any, axis: Any) -> Any:
    """Return an axis of means; those of types without NaN are NumPy's of all items."""
    return _axis_of(x, axis) if has_nan(x) else axis


def _refuse_integers(x: Any, dtype: Any, out: Any) -> None:
    """Raise TypeError for a type of integers where the items are not."""
    for name, of in (("dtype", dtype), ("out", dtype_of(out))):
        kind = "f" if of is None or "float" in str(of) else np.dtype(of).kind
        if kind not in "fc" and has_nan(x):
            raise TypeError(
                f"{name} is {np.dtype(of)} and the items are not: give a type of floats"
            )


def _not_nan(x: Any, where: Any) -> tuple[Any, float]:
    return _both(x, where), np.nan if has_nan(x) else 0.0


@spread(False, _not_nan, _axis_of_floats, _refuse_integers)
def nanvar() -> Any:
    """Variance of the items that are not NaN.

    Parameters
    ----------
    x, axis, dtype, out, ddof, keepdims, where, mean, correction, stream, device
        As for `var`.

    Returns
    -------
    numpy scalar, array or out
        As of `var`.

    Raises
    ------
    TypeError, ValueError, CompileError
        As `var`.

    Examples
    --------
    >>> print(cubc.nanvar(np.array([1.0, np.nan, 3.0])))
    1.0
    """


@spread(True, _not_nan, _axis_of_floats, _refuse_integers)
def nanstd() -> Any:
    """Standard deviation of the items that are not NaN.

    Parameters
    ----------
    x, axis, dtype, out, ddof, keepdims, where, mean, correction, stream, device
        As for `std`.

    Returns
    -------
    numpy scalar, array or out
        As of `std`.

    Raises
    ------
    TypeError, ValueError, CompileError
        As `std`.

    Examples
    --------
    >>> print(cubc.nanstd(np.array([1.0, np.nan, 3.0])))
    1.0
    """
