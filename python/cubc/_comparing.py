"""Questions to one or two arrays whose answer is a number: equality, order, how many, where."""

from typing import Any

import numpy as np

from ._arithmetic import compute
from ._arrays import as_array, beside, computed, described, name_of, refuse_items
from ._calls import check_pair, named, shown_as, translated
from ._core import Lazy
from ._find import find_if
from ._lazy import lazy
from ._statistics import count_nonzero

_ASCENDS = "a < b || (b != b && a == a)"  # NaN is last


def _pair(x: Any, y: Any, stream: Any) -> tuple[Any, Any]:
    x = x if isinstance(x, Lazy) else as_array(x)
    y = y if isinstance(y, Lazy) else as_array(beside(x, y, stream))
    return x, y


@named
def count_if(x, condition, /, *, stream=None, device=None) -> Any:
    """Count the items that fulfil a condition.

    Parameters
    ----------
    x : array_like
        Array of any number of dimensions, taken flat.
    condition : str or function
        As for `select`.
    stream, device
        As for `sum`.

    Returns
    -------
    int64
        As of `sum`.

    Raises
    ------
    CompileError, TypeError
        As `select`.

    Examples
    --------
    >>> print(cubc.count_if(np.arange(10.0), "x > 6"))
    3
    """
    x = x if isinstance(x, Lazy) else as_array(x)
    mask = translated("condition", described(condition), x)
    if isinstance(mask, str):
        mask = lazy(mask, x=x, dtype=bool)
    elif np.shape(mask) != tuple(x.shape):
        raise ValueError(f"a condition is an expression, a function, or a mask of {tuple(x.shape)}")
    return count_nonzero(mask, stream=stream, device=device)


@named
def mismatch(x, y, /, *, equal=None, stream=None, device=None) -> int:
    """Find the flat index of the first item in which two arrays differ; -1 if there is none.

    Parameters
    ----------
    x, y : array_like
        Arrays of one shape. A NaN differs from all numbers.
    equal : str or function, optional
        When an item ``a`` of `x` and one ``b`` of `y` are equal: a C expression, such as
        ``"fabs(a - b) < 0.1"``, or a Python function of both.
    stream, device
        As for `find_if`. The call waits for the result.

    Returns
    -------
    int
        Index; few items behind it are read.

    Raises
    ------
    ValueError
        For arrays of different shapes.

    Examples
    --------
    >>> cubc.mismatch(np.array([1, 2, 3, 4]), np.array([1, 2, 0, 0]))
    2
    >>> cubc.mismatch(np.array([1, 2, 3, 4]), np.array([1, 2, 0, 0]), equal="a - b < 4")
    3
    """
    x, y = _pair(x, y, stream)
    if tuple(x.shape) != tuple(y.shape):
        raise ValueError(f"the arrays have the shapes {tuple(x.shape)} and {tuple(y.shape)}")
    return _first_difference(x, y, equal, False, stream, device)


def _first_difference(x: Any, y: Any, equal: Any, nan: bool, stream: Any, device: Any) -> int:
    differs = _differs(x, y, equal, nan)
    with shown_as(equal if isinstance(equal, str) else differs.expression):
        return int(find_if(differs, "x", stream=stream, device=device))


def _differs(x: Any, y: Any, equal: Any, nan: bool) -> Lazy:
    """Return where two arrays differ, as a lazy input; `nan` makes a NaN equal to a NaN."""
    if equal is None:
        differs = lazy("x != y", x=x, y=y, dtype=bool)
        if name_of(x.dtype) != name_of(y.dtype):  # as NumPy compares them
            differs = compute(np.not_equal, x, y)
        if nan:
            differs = lazy("d && !(x != x && y != y)", d=differs, x=x, y=y, dtype=bool)
        return differs
    if callable(equal):
        return lazy("!m", m=lazy(lambda x, y: equal(x, y), x=x, y=y, dtype=bool), dtype=bool)
    if not isinstance(equal, str) or not equal.strip():
        raise TypeError(f"equal is {equal!r:.60}: expected an expression of a and b, or a function")
    return lazy("!m", m=lazy(check_pair(equal), a=x, b=y, dtype=bool), dtype=bool)


@named
def array_equal(x, y, /, equal_nan=False, *, equal=None, stream=None, device=None) -> bool:
    """Tell if two arrays have the same shape and items, as numpy.array_equal.

    Parameters
    ----------
    x, y, equal, stream, device
        As for `mismatch`, but for the shapes.
    equal_nan : bool
        True makes a NaN equal to a NaN; of numbers, without `equal`.

    Returns
    -------
    bool
        False for different shapes.

    Raises
    ------
    TypeError, DeviceMemoryError
        As `find_if`.

    Examples
    --------
    >>> cubc.array_equal(np.arange(3), np.array([0.0, 1.0, 2.0]))
    True
    """
    x, y = _pair(x, y, stream)
    if tuple(x.shape) != tuple(y.shape):
        return False
    return _first_difference(x, y, equal, bool(equal_nan), stream, device) < 0


@named
def is_sorted(x, less=None, /, *, stream=None, device=None) -> bool:
    """Tell if an array is sorted.

    Parameters
    ----------
    x : array_like
        Array of one dimension.
    less : str or function, optional
        Order, as for `merge_sort`. By default smaller items come first, and NaN last.
    stream, device
        As for `find_if`. The call waits for the result, and reads little behind the first two items
        that are not in order.

    Returns
    -------
    bool
        True for less than two items.

    Raises
    ------
    ValueError
        If `x` has not one dimension.
    CompileError, TypeError
        As `merge_sort`.

    Examples
    --------
    >>> cubc.is_sorted(np.array([1, 2, 2, 5])), cubc.is_sorted(np.array([3, 2]), "a > b")
    (True, True)
    """
    x = computed(x, stream)
    if len(x.shape) != 1:
        raise ValueError(f"is_sorted() takes one dimension, not the shape {tuple(x.shape)}")
    if x.shape[0] < 2:
        return True
    order = translated("less", less, x)
    if order is None:
        refuse_items("the items", x, "which have no order: give less=", ordered=True)
    text = _ASCENDS if order is None else order
    falls = lazy(check_pair(text), a=x[1:], b=x[:-1], dtype=bool)
    with shown_as(text):
        return int(find_if(falls, "x", stream=stream, device=device)) < 0
