"""Arrays as sets, by NumPy's names: sorts and searches, without a loop over items."""

from typing import Any

import numpy as np

from ._arrays import beside, common_type, computed, item_dtype
from ._axes import items_of
from ._calls import named
from ._concatenate import concatenate
from ._core import asarray, transform
from ._lazy import lazy
from ._ordered import searchsorted
from ._selections import select
from ._sorting import sort
from ._unique import unique

# Items that differ from both of their neighbours.
_ALONE = "(i == 0 || z[i] != z[i - 1]) && (i + 1 == n || z[i] != z[i + 1])"


@named
def isin(
    x, items, /, assume_unique=False, invert=False, *, kind=None, stream=None, device=None
) -> Any:
    """Tell of each item of an array if it is among others, as numpy.isin.

    Parameters
    ----------
    x, items : array_like
        Arrays of any shape; `items` are sorted, and each item of `x` is searched there. Complex
        numbers of both are sorted.
    invert : bool
        True tells if it is not among them.
    assume_unique, kind
        As for numpy.isin. They change nothing.
    stream, device
        As for `sort`.

    Returns
    -------
    array of bool
        Of the shape of `x`. A NaN is among no items.

    Raises
    ------
    TypeError, ValueError
        As `searchsorted`.

    Examples
    --------
    >>> print(cubc.isin(np.array([1, 5, 2]), [2, 1]))
    [ True False  True]
    """
    if kind not in (None, "sort", "table"):
        raise ValueError(f"kind is {kind!r}: expected None, 'sort' or 'table'")
    x = computed(x, stream)
    items = computed(beside(x, items, stream), stream)
    shape, options = tuple(x.shape), {"stream": stream, "device": device}
    if not items_of(tuple(items.shape)) or not items_of(shape):
        if isinstance(x, np.ndarray):
            return np.full(shape, bool(invert))
        made = lazy("true" if invert else "false", size=items_of(shape), dtype=bool)
        return asarray(made, device=asarray(x).device, stream=stream).reshape(shape)
    x, items = x.reshape(-1), items.reshape(-1)
    both = common_type(item_dtype(x), item_dtype(items))
    if both.kind == "f" and {item_dtype(x).kind, item_dtype(items).kind} == {"i", "u"}:
        both = np.dtype("u8")  # which floats would round
        negative = lazy("x < 0", x=x, dtype=bool)
        items = select(items, lazy("y >= 0", y=items, dtype=bool), **options)
    else:
        negative = lazy("false", size=x.shape[0], dtype=bool)
    x, items = _of_type(x, both, options), _of_type(items, both, options)
    if both.kind == "c":
        x, items = _numbered(x, items, options)
    known = sort(items, **options)
    places = searchsorted(known, x, **options)
    text = "k < n && known[k] == x && !(m)"
    given = {"known": known, "k": places, "x": x, "m": negative, "n": known.shape[0]}
    text = f"!({text})" if invert else text
    return transform(text, dtype=bool, **given, **options).reshape(shape)


def _numbered(x: Any, items: Any, options: Any) -> tuple[Any, Any]:
    """Return the numbers that items of two arrays have among the distinct ones of both."""
    both = concatenate([x, items], stream=options["stream"])
    numbers = unique(both, return_inverse=True, equal_nan=False, **options)[1]
    return numbers[: x.shape[0]], numbers[x.shape[0] :]


def _of_type(x: Any, dtype: Any, options: Any) -> Any:
    return x if item_dtype(x) == dtype else transform("x", x=x, dtype=dtype, **options)


def _flat(x: Any, stream: Any) -> Any:
    return computed(x, stream).reshape(-1)


@named
def intersect1d(
    x, y, /, assume_unique=False, return_indices=False, *, stream=None, device=None
) -> Any:
    """Find the distinct items that two arrays share, sorted; as numpy.intersect1d.

    Parameters
    ----------
    x, y : array_like
        Arrays of one device, taken flat.
    assume_unique : bool
        True spares looking for equal items within each.
    return_indices : bool
        True adds the indices of the first of these items in `x` and in `y`, taken flat.
    stream, device
        As for `sort`.

    Returns
    -------
    array, or a tuple of it and the indices
        Of the type that both have together; indices are int64.

    Raises
    ------
    TypeError, ValueError
        As `unique`.

    Examples
    --------
    >>> print(cubc.intersect1d(np.array([3, 1, 2, 3]), np.array([5, 3, 2])))
    [2 3]
    """
    options = {"stream": stream, "device": device}
    x = _flat(x, stream)
    y = _flat(beside(x, y, stream), stream)
    both = common_type(item_dtype(x), item_dtype(y))
    if return_indices:
        (known, first), (other, second) = (unique(z, True, **options) for z in (x, y))
        shared = isin(known, other, **options)
        first = select(first, shared, **options)
        second = select(second, isin(other, known, **options), **options)
        return _of_type(select(known, shared, **options), both, options), first, second
    x = sort(x, None, **options) if assume_unique else unique(x, **options)
    return _of_type(select(x, isin(x, y, **options), **options), both, options)


@named
def union1d(x, y, /, *, stream=None, device=None) -> Any:
    """Find the distinct items of two arrays, sorted; as numpy.union1d.

    Parameters
    ----------
    x, y, stream, device
        As for `intersect1d`.

    Returns
    -------
    array
        As of `intersect1d`.

    Raises
    ------
    TypeError, ValueError
        As `unique`.

    Examples
    --------
    >>> print(cubc.union1d(np.array([3, 1]), np.array([5, 3])))
    [1 3 5]
    """
    x = _flat(x, stream)
    if isinstance(y, bool | int | float | complex):  # goes by the items' type, as in NumPy
        y = np.asarray(y, np.result_type(item_dtype(x), y))[()]
    y = _flat(beside(x, y, stream), stream)
    return unique(concatenate([x, y], stream=stream), stream=stream, device=device)


@named
def setdiff1d(x, y, /, assume_unique=False, *, stream=None, device=None) -> Any:
    """Find the distinct items of an array that another has not, sorted; as numpy.setdiff1d.

    Parameters
    ----------
    x, y, assume_unique, stream, device
        As for `intersect1d`. With `assume_unique` the items keep their order.

    Returns
    -------
    array
        Of the type of `x`.

    Raises
    ------
    TypeError, ValueError
        As `unique`.

    Examples
    --------
    >>> print(cubc.setdiff1d(np.array([3, 1, 2]), np.array([2])))
    [1 3]
    """
    options = {"stream": stream, "device": device}
    x = _flat(x, stream)
    y = _flat(beside(x, y, stream), stream)
    x = x if assume_unique else unique(x, **options)
    return select(x, isin(x, y, invert=True, **options), **options)


@named
def setxor1d(x, y, /, assume_unique=False, *, stream=None, device=None) -> Any:
    """Find the distinct items that one of two arrays has, sorted; as numpy.setxor1d.

    Parameters
    ----------
    x, y, assume_unique, stream, device
        As for `intersect1d`.

    Returns
    -------
    array
        As of `intersect1d`.

    Raises
    ------
    TypeError, ValueError
        As `unique`.

    Examples
    --------
    >>> print(cubc.setxor1d(np.array([3, 1, 2]), np.array([2, 4])))
    [1 3 4]
    """
    options = {"stream": stream, "device": device}
    x = _flat(x, stream)
    y = _flat(beside(x, y, stream), stream)
    if not assume_unique:
        x, y = unique(x, **options), unique(y, **options)
    both = sort(concatenate([x, y], stream=stream), None, **options)
    count = both.shape[0]
    if not count:
        return both
    return select(both, lazy(_ALONE, z=both, n=count, size=count, dtype=bool), **options)
