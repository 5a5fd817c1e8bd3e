"""Statistics, sorting, searching, sets and choice of the array API: calls of cubc by its names."""

from typing import Any, NamedTuple

from .. import _indexing, _numpy, _ordered, _reductions, _sorting, _statistics
from .. import _unique as _distinct
from .._axes import axis_number
from .._core import Array, Lazy
from .._core import asarray as on_device
from ._creation import full
from ._shapes import concat
from ._types import computed

Axis = int | tuple[int, ...] | None


def _read(x: Any) -> Any:
    """Return what a reduction reads: a lazy input stays one."""
    return x if isinstance(x, Lazy) else computed(x)


# ---- statistics ----------------------------------------------------------------------------------
def sum(x: Any, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """Return the sum of the items, or those along axes."""
    return on_device(_reductions.sum(_read(x), axis, dtype, keepdims=keepdims))


def prod(x: Any, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """Return the product of the items, or those along axes."""
    return on_device(_reductions.prod(_read(x), axis, dtype, keepdims=keepdims))


def max(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Return the largest item, or those along axes."""
    return on_device(_reductions.max(_read(x), axis, keepdims=keepdims))


def min(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Return the smallest item, or those along axes."""
    return on_device(_reductions.min(_read(x), axis, keepdims=keepdims))


def all(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Tell if no item is 0, or that along axes."""
    return on_device(_reductions.all(_read(x), axis, keepdims=keepdims))


def any(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Tell if an item is not 0, or that along axes."""
    return on_device(_reductions.any(_read(x), axis, keepdims=keepdims))


def mean(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Return the mean of the items, or those along axes."""
    return on_device(_statistics.mean(computed(x), axis, keepdims=keepdims))


def var(x: Any, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Return the variance; the divisor is the number of items less `correction`."""
    made = _statistics.var(computed(x), axis, ddof=correction, keepdims=keepdims)
    return on_device(made)


def std(x: Any, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Return the square root of the variance."""
    made = _statistics.std(computed(x), axis, ddof=correction, keepdims=keepdims)
    return on_device(made)


def count_nonzero(x: Any, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Return the number of items that are not 0, or those along axes."""
    return on_device(_statistics.count_nonzero(computed(x), axis, keepdims=keepdims))


def _cumulative(
    function: Any, first: int, x: Any, axis: int | None, dtype: Any, initial: bool
) -> Array:
    x = computed(x)
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"axis is needed for {x.ndim} dimensions: name the one to go along")
        axis = 0
    made = on_device(function(x, axis, dtype))
    if not initial:
        return made
    number = axis_number(axis, x.ndim)
    shape = (*x.shape[:number], 1, *x.shape[number + 1 :])
    return concat([full(shape, first, dtype=made.dtype, device=x.device), made], axis=number)


def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """Return the sums of the items up to each one along an axis, after a 0 if that is asked for."""
    return _cumulative(_numpy.cumsum, 0, x, axis, dtype, include_initial)


def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """Return the products of the items up to each one along an axis, after a 1 if asked for."""
    return _cumulative(_numpy.cumprod, 1, x, axis, dtype, include_initial)


def diff(
    x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None
) -> Array:
    """Return the differences of neighbours along an axis."""
    return on_device(_numpy.diff(computed(x), n, axis, prepend, append))


# ---- order ---------------------------------------------------------------------------------------
def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Return a sorted copy; the sort is stable in any case."""
    return _sorting.sort(computed(x), axis, descending=descending)


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Return the indices that sort an array; the sort is stable in any case."""
    return _sorting.argsort(computed(x), axis, descending=descending)


def argmax(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Return the index of the first largest item, flat or along an axis."""
    return on_device(_reductions.argmax(_read(x), axis, keepdims=keepdims))


def argmin(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Return the index of the first smallest item, flat or along an axis."""
    return on_device(_reductions.argmin(_read(x), axis, keepdims=keepdims))


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Array:
    """Return the places of items of `x2` in `x1`, which is sorted."""
    return on_device(_ordered.searchsorted(computed(x1), computed(x2), side=side, sorter=sorter))


# ---- choice --------------------------------------------------------------------------------------
def nonzero(x: Any, /) -> tuple[Array, ...]:
    """Return the indices of the items that are not 0, an array for each axis."""
    return _indexing.nonzero(computed(x))


def where(condition: Any, x1: Any, x2: Any, /) -> Array:
    """Return items of `x1` where a condition is true, else of `x2`."""
    return on_device(_indexing.where(_read(condition), x1, x2))


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Array:
    """Return the items at indices along an axis, which a vector needs not name."""
    x = computed(x)
    if axis is None and x.ndim != 1:
        raise ValueError(f"axis is needed for {x.ndim} dimensions: name the one to go along")
    return _indexing.take(x, computed(indices), axis or 0)


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Array:
    """Return the items at indices of their own place along an axis."""
    return _indexing.take_along_axis(computed(x), computed(indices), axis)


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


def unique_all(x: Any, /) -> UniqueAll:
    """Return the distinct items in order, and all that is known of them; NaNs are distinct."""
    return UniqueAll(*_distinct.unique(computed(x), True, True, True, equal_nan=False))


def unique_counts(x: Any, /) -> UniqueCounts:
    """Return the distinct items in order, and how often each occurs; NaNs are distinct."""
    return UniqueCounts(*_distinct.unique(computed(x), return_counts=True, equal_nan=False))


def unique_inverse(x: Any, /) -> UniqueInverse:
    """Return the distinct items in order, and where each item is among them; NaNs are distinct."""
    return UniqueInverse(*_distinct.unique(computed(x), return_inverse=True, equal_nan=False))


def unique_values(x: Any, /) -> Array:
    """Return the distinct items in order; NaNs are distinct."""
    return _distinct.unique(computed(x), equal_nan=False)
