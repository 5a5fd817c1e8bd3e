"""Selections: the items of an array that a condition holds for, close together and in order.

The result's length is known only when the work is done, so these calls wait for it, unless the
caller gives ``count=``. The method is that of `scan`: a single pass with decoupled look-back
(Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVR-2016-002).
"""

from typing import Any, Unpack

import numpy as np

from ._calls import primitive
from ._core import call
from ._options import Where


@primitive(workspace="cubc_select_temp_bytes")
def select(x, condition, /, *, out=None, count=None, **where: Unpack[Where]) -> Any:
    """Items of an array that a condition holds for, in order; NumPy's ``x[condition]``.

    Parameters
    ----------
    x : array_like
        Of any number of dimensions, taken flat in C order.
    condition : array_like or str
        A mask with an item for each of `x`: what is not 0 is selected. Or a C expression of the
        item ``x`` and its index ``i``, as ``"x > 0 && i % 2 == 0"``; of structs ``"x.mass > 1"``.
    out : array, optional
        Where to write, of the type and number of items of `x`, one dimension. It may be `x`.
    count : array, optional
        An int64 of the device's memory that gets the number of selected items. With it the call
        does not wait, and gives the whole of `out`; what lies past the count is undefined.

    Returns
    -------
    array
        One dimension; a NumPy array for host memory, else a cubc.Array or the part of `out`.

    Raises
    ------
    CompileError
        If the expression does not compile.
    ValueError
        If the lengths differ.
    TypeError
        As `scan`.
    """
    return _items(x, condition, out, count, where)


@primitive(workspace="cubc_select_temp_bytes")
def partition(x, condition, second=None, /, **where: Unpack[Where]) -> tuple[Any, ...]:
    """Items that a condition holds for, and the others; both in order.

    This is CUB's partition, not NumPy's, which is about the k-th smallest item.

    Parameters
    ----------
    x, condition
        As for `select`.
    second : str, optional
        Another condition, asked of the items that the first, an expression too, does not hold for.

    Returns
    -------
    tuple of array
        The selected items and the rest; with `second`, the items that the first condition holds
        for, those of the second, and the rest.

    Raises
    ------
    CompileError, ValueError, TypeError
        As `select`.
    """
    fields = _fields(x, condition, None, None)
    fields["rest"] = like = ("in", "in.size", None)
    if second is not None:
        if not (isinstance(condition, str) and isinstance(second, str)):
            raise TypeError("two conditions must both be expressions of x and i")
        fields["predicate"] = f"({condition}) ? 1 : ({second}) ? 2 : 0"
        fields |= {"second": like, "count": ("int64", (2,), None)}
    found, rest, others, number = call("select", fields, **where)
    counts = np.atleast_1d(np.asarray(number)).tolist()
    parts = [found, rest] if second is None else [found, others, rest]
    counts.append(rest.size - sum(counts))
    return tuple(_first(part, n, made=True) for part, n in zip(parts, counts, strict=True))


@primitive(workspace="cubc_select_temp_bytes")
def unique_consecutive(x, /, *, out=None, count=None, **where: Unpack[Where]) -> Any:
    """Items that differ from the one before them: of each run of equal items the first.

    Of a sorted array these are its unique items. NaN differs from everything, 0.0 and -0.0 are
    equal; structs are equal if all their fields are.

    Parameters
    ----------
    x, out, count
        As for `select`.

    Returns
    -------
    array
        As `select`.

    Raises
    ------
    TypeError, ValueError
        As `select`.
    """
    return _items(x, None, out, count, where)


@primitive(workspace="cubc_select_temp_bytes")
def flatnonzero(x, /, *, out=None, count=None, **where: Unpack[Where]) -> Any:
    """Indices (int64) of the items that are not 0, in the flattened array.

    Parameters
    ----------
    x, count
        As for `select`.
    out : array, optional
        As for `select`, of int64.

    Returns
    -------
    array
        As `select`.

    Raises
    ------
    TypeError, ValueError
        As `select`.
    """
    if isinstance(x, str):
        raise TypeError("indices are selected by an array, not by an expression")
    return _items(None, x, out, count, where)


def _fields(x: Any, condition: Any, out: Any, count: Any) -> dict[str, Any]:
    """The core's parameters; without x the items are the indices."""
    like = "in" if x is not None else "mask"
    return {
        "in": x,
        "predicate" if isinstance(condition, str) else "mask": condition,
        "out": ("in" if x is not None else "int64", f"{like}.size", out),
        "count": ("int64", (), count),
    }


def _items(x, condition, out, count, where: Where) -> Any:
    """The selected items; the whole of the output where the caller has a place for the count."""
    fields = _fields(x, condition, out, count)
    if x is None:
        fields["type"] = "int64"
    found, _, _, number = call("select", fields, **where)
    return found if count is not None else _first(found, int(number), made=out is None)


def _first(found: Any, number: int, *, made: bool) -> Any:
    """The first items of what the core gave; a NumPy array of ours gives its other memory back."""
    if made and isinstance(found, np.ndarray):
        found.resize(number, refcheck=False)
        return found
    return found[:number]
