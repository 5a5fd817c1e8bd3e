"""Sums, other statistics and differences of the array API: calls of cubc by its names."""

from typing import Any

from .. import _numpy, _reductions
from .. import _statistics as _of_numpy
from .._axes import axis_number
from .._calls import named
from .._core import Array
from .._core import asarray as on_device
from ._creation import full
from ._shapes import concat
from ._types import computed, readable

Axis = int | tuple[int, ...] | None


@named
def sum(x: Any, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """Return the sum of the items, or those along axes.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    numpy.exceptions.AxisError
        If `x` has no such axis.

    Examples
    --------
    >>> x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> xp.sum(x).tolist(), xp.sum(x, axis=0).tolist()
    (10.0, [4.0, 6.0])
    """
    return on_device(_reductions.sum(readable(x), axis, dtype, keepdims=keepdims))


@named
def prod(x: Any, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """Return the product of the items, or those along axes.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    numpy.exceptions.AxisError
        If `x` has no such axis.

    Examples
    --------
    >>> x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> xp.prod(x).tolist(), xp.prod(x, axis=0).tolist()
    (24.0, [3.0, 8.0])
    """
    return on_device(_reductions.prod(readable(x), axis, dtype, keepdims=keepdims))


@named
def max(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Return the largest item, or those along axes.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    ValueError
        If there are no items.
    numpy.exceptions.AxisError
        If `x` has no such axis.

    Examples
    --------
    >>> x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> xp.max(x).tolist(), xp.max(x, axis=0).tolist()
    (4.0, [3.0, 4.0])
    """
    return on_device(_reductions.max(readable(x), axis, keepdims=keepdims))


@named
def min(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Return the smallest item, or those along axes.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    ValueError
        If there are no items.
    numpy.exceptions.AxisError
        If `x` has no such axis.

    Examples
    --------
    >>> x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> xp.min(x).tolist(), xp.min(x, axis=1).tolist()
    (1.0, [1.0, 3.0])
    """
    return on_device(_reductions.min(readable(x), axis, keepdims=keepdims))


@named
def all(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Tell if no item is 0, or that along axes.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    numpy.exceptions.AxisError
        If `x` has no such axis.

    Examples
    --------
    >>> xp.all(xp.asarray([True, False])).tolist()
    False
    """
    return on_device(_reductions.all(readable(x), axis, keepdims=keepdims))


@named
def any(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Tell if an item is not 0, or that along axes.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    numpy.exceptions.AxisError
        If `x` has no such axis.

    Examples
    --------
    >>> xp.any(xp.asarray([True, False])).tolist()
    True
    """
    return on_device(_reductions.any(readable(x), axis, keepdims=keepdims))


@named
def mean(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Return the mean of the items, or those along axes.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    numpy.exceptions.AxisError
        If `x` has no such axis.

    Examples
    --------
    >>> x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> xp.mean(x).tolist(), xp.mean(x, axis=0).tolist()
    (2.5, [2.0, 3.0])
    """
    return on_device(_of_numpy.mean(computed(x), axis, keepdims=keepdims))


@named
def var(x: Any, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Return the variance; the divisor is the number of items less `correction`.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    numpy.exceptions.AxisError
        If `x` has no such axis.

    Examples
    --------
    >>> x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> xp.var(x).tolist(), xp.var(x, axis=0, correction=1).tolist()
    (1.25, [2.0, 2.0])
    """
    made = _of_numpy.var(computed(x), axis, ddof=correction, keepdims=keepdims)
    return on_device(made)


@named
def std(x: Any, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Return the square root of the variance.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    numpy.exceptions.AxisError
        If `x` has no such axis.

    Examples
    --------
    >>> x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> xp.std(x, axis=1).tolist()
    [0.5, 0.5]
    """
    made = _of_numpy.std(computed(x), axis, ddof=correction, keepdims=keepdims)
    return on_device(made)


@named
def count_nonzero(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Return the number of items that are not 0, or those along axes.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    numpy.exceptions.AxisError
        If `x` has no such axis.

    Examples
    --------
    >>> xp.count_nonzero(xp.asarray([0, 3, 0, 4])).tolist()
    2
    """
    return on_device(_of_numpy.count_nonzero(computed(x), axis, keepdims=keepdims))


def _cumulative(
    function: Any, first: int, x: Any, axis: int | None, dtype: Any, initial: bool
) -> Array:
    x = computed(x)
    x = x if x.ndim else x.reshape(1)
    if axis is None:
        if x.ndim > 1:
            raise ValueError(f"axis is needed for {x.ndim} dimensions: name the one to go along")
        axis = 0
    made = on_device(function(x, axis, dtype))
    if not initial:
        return made
    number = axis_number(axis, x.ndim)
    shape = (*x.shape[:number], 1, *x.shape[number + 1 :])
    return concat([full(shape, first, dtype=made.dtype, device=x.device), made], axis=number)


@named
def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """Return the sums of the items up to each one along an axis, after a 0 if that is asked for.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    ValueError
        If `x` has several axes, and none is named.
    numpy.exceptions.AxisError
        If `x` has no such axis.

    Examples
    --------
    >>> x = xp.asarray([3, 1, 2])
    >>> xp.cumulative_sum(x).tolist(), xp.cumulative_sum(x, include_initial=True).tolist()
    ([3, 4, 6], [0, 3, 4, 6])
    """
    return _cumulative(_numpy.cumsum, 0, x, axis, dtype, include_initial)


@named
def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """Return the products of the items up to each one along an axis, after a 1 if asked for.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    ValueError
        If `x` has several axes, and none is named.
    numpy.exceptions.AxisError
        If `x` has no such axis.

    Examples
    --------
    >>> x = xp.asarray([3, 1, 2])
    >>> xp.cumulative_prod(x).tolist(), xp.cumulative_prod(x, include_initial=True).tolist()
    ([3, 3, 6], [1, 3, 3, 6])
    """
    return _cumulative(_numpy.cumprod, 1, x, axis, dtype, include_initial)


@named
def diff(
    x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None
) -> Array:
    """Return the differences of neighbours along an axis.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    ValueError
        If `n` is negative, or `prepend` or `append` does not fit.
    numpy.exceptions.AxisError
        If `x` has no such axis.

    Examples
    --------
    >>> xp.diff(xp.asarray([1, 4, 9, 16])).tolist()
    [3, 5, 7]
    """
    return on_device(_numpy.diff(computed(x), n, axis, prepend, append))
