"""Order, choice and sets of the array API: calls of cubc by its names."""

from typing import Any, NamedTuple

from .. import _indexing, _ordered, _reductions, _sorting, _take
from .. import _unique as _distinct
from .._calls import named
from .._core import Array
from .._core import asarray as on_device
from ._types import computed, readable


# ---- order ---------------------------------------------------------------------------------------
@named
def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Return a sorted copy; the sort is stable in any case.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    numpy.exceptions.AxisError
        If `x` has no such axis.

    Examples
    --------
    >>> x = xp.asarray([3, 1, 2])
    >>> xp.sort(x).tolist(), xp.sort(x, descending=True).tolist()
    ([1, 2, 3], [3, 2, 1])
    """
    return _sorting.sort(computed(x), axis, descending=descending)


@named
def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Return the indices that sort an array; the sort is stable in any case.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    numpy.exceptions.AxisError
        If `x` has no such axis.

    Examples
    --------
    >>> x = xp.asarray([3, 1, 2])
    >>> xp.argsort(x).tolist()
    [1, 2, 0]
    """
    return _sorting.argsort(computed(x), axis, descending=descending)


@named
def argmax(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Return the index of the first largest item, flat or along an axis.

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
    >>> x = xp.asarray([3, 1, 2])
    >>> xp.argmax(x).tolist()
    0
    """
    return on_device(_reductions.argmax(readable(x), axis, keepdims=keepdims))


@named
def argmin(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Return the index of the first smallest item, flat or along an axis.

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
    >>> x = xp.asarray([3, 1, 2])
    >>> xp.argmin(x).tolist()
    1
    """
    return on_device(_reductions.argmin(readable(x), axis, keepdims=keepdims))


@named
def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Array:
    """Return the places of items of `x2` in `x1`, which is sorted.

    Raises
    ------
    TypeError
        If `x1` or `x2` is no array of cubc.
    ValueError
        If `x1` has not one axis, or `side` is another word.

    Examples
    --------
    >>> xp.searchsorted(xp.asarray([1, 3, 5]), xp.asarray([0, 3, 9])).tolist()
    [0, 1, 3]
    """
    return on_device(_ordered.searchsorted(computed(x1), computed(x2), side=side, sorter=sorter))


# ---- choice --------------------------------------------------------------------------------------
@named
def nonzero(x: Any, /) -> tuple[Array, ...]:
    """Return the indices of the items that are not 0, an array for each axis.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    ValueError
        If `x` has no axis.

    Examples
    --------
    >>> (places,) = xp.nonzero(xp.asarray([0, 3, 0, 4]))
    >>> places.tolist()
    [1, 3]
    """
    return _indexing.nonzero(computed(x))


@named
def where(condition: Any, x1: Any, x2: Any, /) -> Array:
    """Return items of `x1` where a condition is true, else of `x2`.

    Raises
    ------
    TypeError
        If `condition` is no array of cubc.
    ValueError
        If the shapes do not go together.

    Examples
    --------
    >>> xp.where(xp.asarray([True, False]), xp.asarray([1, 2]), 0).tolist()
    [1, 0]
    """
    return on_device(_indexing.where(readable(condition), x1, x2))


@named
def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Array:
    """Return the items at indices along an axis, which a vector needs not name.

    Raises
    ------
    TypeError
        If `x` or `indices` is no array of cubc, or an index no integer.
    IndexError
        If an index is beyond the items.
    ValueError
        If `x` has several axes, and none is named.

    Examples
    --------
    >>> x = xp.asarray([3, 1, 2])
    >>> xp.take(x, xp.asarray([2, 0])).tolist()
    [2, 3]
    """
    x = computed(x)
    if axis is None and x.ndim > 1:
        raise ValueError(f"axis is needed for {x.ndim} dimensions: name the one to go along")
    return _take.take(x, computed(indices), axis or 0)


@named
def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Array:
    """Return the items at indices of their own place along an axis.

    Raises
    ------
    TypeError
        If `x` or `indices` is no array of cubc, or an index no integer.
    IndexError
        If an index is beyond the items, or the shapes do not go together.

    Examples
    --------
    >>> x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> xp.take_along_axis(x, xp.asarray([[1], [0]])).tolist()
    [[2.0], [3.0]]
    """
    return _take.take_along_axis(computed(x), computed(indices), axis)


# ---- sets ----------------------------------------------------------------------------------------
class UniqueAll(NamedTuple):
    """Distinct items, the index of the first of each, where each item is among them, how often."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """Distinct items, and how often each occurs."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """Distinct items, and where each item is among them."""

    values: Array
    inverse_indices: Array


@named
def unique_all(x: Any, /) -> UniqueAll:
    """Return the distinct items in order, and all that is known of them; NaNs are distinct.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.

    Examples
    --------
    >>> [one.tolist() for one in xp.unique_all(xp.asarray([3, 1, 3]))]
    [[1, 3], [1, 0], [1, 0, 1], [1, 2]]
    """
    return UniqueAll(*_distinct.unique(computed(x), True, True, True, equal_nan=False))


@named
def unique_counts(x: Any, /) -> UniqueCounts:
    """Return the distinct items in order, and how often each occurs; NaNs are distinct.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.

    Examples
    --------
    >>> [one.tolist() for one in xp.unique_counts(xp.asarray([3, 1, 3]))]
    [[1, 3], [1, 2]]
    """
    return UniqueCounts(*_distinct.unique(computed(x), return_counts=True, equal_nan=False))


@named
def unique_inverse(x: Any, /) -> UniqueInverse:
    """Return the distinct items in order, and where each item is among them; NaNs are distinct.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.

    Examples
    --------
    >>> [one.tolist() for one in xp.unique_inverse(xp.asarray([3, 1, 3]))]
    [[1, 3], [1, 0, 1]]
    """
    return UniqueInverse(*_distinct.unique(computed(x), return_inverse=True, equal_nan=False))


@named
def unique_values(x: Any, /) -> Array:
    """Return the distinct items in order; NaNs are distinct.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.

    Examples
    --------
    >>> xp.unique_values(xp.asarray([3, 1, 3])).tolist()
    [1, 3]
    """
    return _distinct.unique(computed(x), equal_nan=False)
