"""Selections of the items of an array that fulfil a condition, in order.

The result's length is known when the work is done. The calls wait for it, unless the caller gives
``count=``. The method is that of `scan`: a single pass with decoupled look-back
(Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVR-2016-002).
"""

from typing import Any, Unpack

import numpy as np

from ._arrays import as_array, beside
from ._axes import axis_number
from ._calls import primitive, shown_as
from ._core import call
from ._options import Placement, without_workspace
from ._take import take


@primitive(workspace="cubc_select_temp_bytes")
def select(
    x, condition, /, *, axis=None, out=None, count=None, **placement: Unpack[Placement]
) -> Any:
    """Select the items of an array that fulfil a condition, in order, as NumPy's ``x[condition]``.

    Parameters
    ----------
    x : array_like
        Array of any number of dimensions, taken flat in C order without an axis.
    condition : array_like, str or function
        Mask with an item for each item of `x`, which is selected if that is not 0. Or a C
        expression of the item ``x`` and its int64 index ``i``, as ``"x > 0 && i % 2 == 0"``, or of
        a struct ``"x.mass > 1"``. Or a Python function of the item, or of item and index.
    axis : int, optional
        Axis along which to select, as numpy.compress does: the condition is a mask of one dimension
        with an item for each place of the axis.
    out : array, optional
        Array for the result, of the type and number of items of `x`, of one dimension. It may be
        `x`. Along an axis it has the shape of the result, and is apart from `x`.
    count : array, optional
        One int64 in the device's memory, to which the number of selected items is written. The call
        then does not wait, and returns the whole of `out`. Items past the count are undefined.

    Returns
    -------
    array
        Array of one dimension, or with an axis of as many as `x`; a NumPy array if `x` is in host
        memory, else a cubc.Array or the part of `out`.

    Raises
    ------
    CompileError
        If the expression does not compile.
    ValueError
        If mask and `x`, or mask and axis, have different numbers of items; for an axis that is not
        there.
    TypeError
        As `scan`; for `count`, or a condition that is no mask, along an axis.

    Examples
    --------
    >>> print(cubc.select(np.arange(10.0), "x > 6"))
    [7. 8. 9.]
    >>> print(cubc.select(np.eye(3, dtype=int), np.array([True, False, True]), axis=0))
    [[1 0 0]
     [0 0 1]]
    """
    if axis is not None:
        return _along(x, condition, axis, out, count, placement)
    return _items(x, condition, out, count, placement)


@primitive(workspace="cubc_select_temp_bytes")
def partition_if(x, condition, second=None, /, **placement: Unpack[Placement]) -> tuple[Any, ...]:
    """Select the items that fulfil a condition, and the others; both in order.

    This is CUB's partition. `partition`, about the k-th smallest item, is NumPy's.

    Parameters
    ----------
    x, condition
        As for `select`.
    second : str, optional
        Another condition, for the items that do not fulfil the first. Both are expressions then.

    Returns
    -------
    tuple of array
        Selected items and the rest. With `second`: items that fulfil the first condition, those of
        the rest that fulfil the second, and all others.

    Raises
    ------
    CompileError, ValueError, TypeError
        As `select`.

    Examples
    --------
    >>> print(cubc.partition_if(np.arange(6.0), "x > 2"))
    (array([3., 4., 5.]), array([0., 1., 2.]))
    """
    fields = _fields(x, condition, None, None)
    fields["rest"] = like = ("in", "in.size", None)
    if second is not None:
        if not (isinstance(condition, str) and isinstance(second, str)):
            raise TypeError("two conditions must both be expressions of x and i")
        fields["predicate"] = f"({condition}) ? 1 : ({second}) ? 2 : 0"
        fields |= {"second": like, "count": ("int64", (2,), None)}
    with shown_as(*(() if second is None else (condition, second))):
        found, rest, others, number = call("select", fields, **placement)
    counts = np.atleast_1d(np.asarray(number)).tolist()
    parts = [found, rest] if second is None else [found, others, rest]
    counts.append(rest.size - sum(counts))
    return tuple(_first(part, n, made=True) for part, n in zip(parts, counts, strict=True))


@primitive(workspace="cubc_select_temp_bytes")
def unique_consecutive(
    x, /, *, out=None, count=None, equal=None, **placement: Unpack[Placement]
) -> Any:
    """Select the first item of each run of equal items.

    In a sorted array these are the unique items. NaN differs from all items; 0.0 and -0.0 are
    equal; structs are equal if all their fields are.

    Parameters
    ----------
    x, out, count
        As for `select`.
    equal : str or function, optional
        When an item belongs to the run of the item before it: a C expression of ``a``, the
        item before, and ``b``, such as ``"a / 10 == b / 10"`` or of structs ``"a.id == b.id"``;
        or a Python function of both. By default they are equal.

    Returns
    -------
    array
        As `select`.

    Raises
    ------
    TypeError, ValueError
        As `select`.

    Examples
    --------
    >>> print(cubc.unique_consecutive(np.array([1, 1, 2, 1])))
    [1 2 1]
    >>> print(cubc.unique_consecutive(np.array([11, 15, 23, 12]), equal="a / 10 == b / 10"))
    [11 23 12]
    """
    return _items(x, None, out, count, placement, equal)


@primitive(workspace="cubc_select_temp_bytes")
def flatnonzero(x, /, *, out=None, count=None, **placement: Unpack[Placement]) -> Any:
    """Find the indices, int64, of the items of the flattened array that are not 0.

    Parameters
    ----------
    x, count
        As for `select`.
    out : array, optional
        As for `select`, but int64.

    Returns
    -------
    array
        As `select`.

    Raises
    ------
    TypeError, ValueError
        As `select`.

    Examples
    --------
    >>> print(cubc.flatnonzero(np.array([0.0, 3.0, 0.0, 4.0])))
    [1 3]
    """
    if isinstance(x, str):
        raise TypeError("indices are selected by an array, not by an expression")
    return _items(None, x, out, count, placement)


def _along(x: Any, mask: Any, axis: Any, out: Any, count: Any, placement: Placement) -> Any:
    """Return the items of an array at the places of an axis that a mask has."""
    if count is not None or isinstance(mask, str):
        given = "count=" if count is not None else "an expression"
        raise TypeError(
            f"select(axis=) does not go with {given}: it takes a mask with an item for each place "
            "of the axis, such as cubc.any(x > 0, axis=1)"
        )
    x, options = as_array(x), without_workspace(placement)
    mask = as_array(beside(x, mask, placement.get("stream")))
    length = x.shape[axis_number(axis, len(x.shape))]
    if tuple(mask.shape) != (length,):
        raise ValueError(f"the mask has the shape {tuple(mask.shape)}, and the axis {length} items")
    return take(x, flatnonzero(mask, **options), axis, out=out, mode="clip", **options)


def _fields(x: Any, condition: Any, out: Any, count: Any) -> dict[str, Any]:
    """Return the core's parameters; without x the items are the indices."""
    like = "in" if x is not None else "mask"
    return {
        "in": x,
        "predicate" if isinstance(condition, str) else "mask": condition,
        "out": ("in" if x is not None else "int64", f"{like}.size", out),
        "count": ("int64", (), count),
    }


def _items(x, condition, out, count, placement: Placement, equal=None) -> Any:
    """Return the selected items, or the whole of the output if the caller gives `count`."""
    fields = _fields(x, condition, out, count)
    fields["equal"] = equal
    if x is None:
        fields["type"] = "int64"
    found, _, _, number = call("select", fields, **placement)
    return found if count is not None else _first(found, int(number), made=out is None)


def _first(found: Any, number: int, *, made: bool) -> Any:
    """Return the first items of an output; a NumPy array made here is shortened in place."""
    if made and isinstance(found, np.ndarray):
        found.resize(number, refcheck=False)
        return found
    return found[:number]
