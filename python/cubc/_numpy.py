"""Functions of NumPy, and differences as of CUB, that take one or two calls of primitives."""

import functools
import re
from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from ._arithmetic import filled
from ._arrays import (
    address_of,
    as_array,
    common_type,
    computed,
    dtype_of,
    item_dtype,
    one_dimension,
    overlap,
    refuse_bound,
    refuse_items,
)
from ._axes import axis_number, items_of, transposed
from ._calls import check_pair, name_function, named, shown_as, translated, whole
from ._core import Lazy, asarray, empty, operator_types, transform
from ._lazy import lazy
from ._options import Placement, Scanning, listed
from ._reductions import in_type, into, is_other
from ._scans import scan
from ._strides import broadcast
from ._symbols import named as function_name


@listed
def cumsum(x, /, axis=None, dtype=None, out=None, **options: Unpack[Scanning]) -> Any:
    """Sum the items up to each one, flattened or along an axis, as numpy.cumsum does.

    Parameters
    ----------
    x : array_like
        Array of any number of dimensions.
    axis : int, optional
        Axis along which to sum. None takes the array flat in C order.
    dtype : dtype, optional
        Type of the sums. By default that of `out`; else 64 bits for integers and bool, unlike in
        `scan`, and that of `x` for other items.
    out : array, optional
        As for `scan`. If `dtype` is another type than its own, the sums are converted to it, and it
        has the shape of the result.
    **options
        ``inclusive``, ``init``, ``deterministic``, ``stream``, ``workspace`` and ``device`` of
        `scan`.

    Returns
    -------
    array or out
        As of `scan`: of the shape of `x` along an axis, else of one dimension unless `out` has
        more.

    Raises
    ------
    TypeError, ValueError, CompileError
        As `scan`.

    Examples
    --------
    >>> print(cubc.cumsum(np.arange(1, 5)))
    [ 1  3  6 10]
    """
    return _cumulative("cumsum", "sum", x, axis, dtype, out, options)


@listed
def cumprod(x, /, axis=None, dtype=None, out=None, **options: Unpack[Scanning]) -> Any:
    """Multiply the items up to each one, flattened or along an axis, as numpy.cumprod does.

    Parameters
    ----------
    x, axis, dtype, out, **options
        As for `cumsum`, with products in place of sums.

    Returns
    -------
    array or out
        As of `cumsum`.

    Raises
    ------
    TypeError, ValueError, CompileError
        As `scan`.

    Examples
    --------
    >>> print(cubc.cumprod(np.arange(1, 5)))
    [ 1  2  6 24]
    """
    return _cumulative("cumprod", "prod", x, axis, dtype, out, options)


@functools.lru_cache(maxsize=256)
def _widened(op, dtype) -> Any:
    return operator_types(op, dtype, widen=True)[1]


def _cumulative(function, op, x, axis, dtype, out, options) -> Any:
    try:
        x = as_array(x)
        of = dtype_of(out)
        if dtype is not None:
            x = in_type(x, dtype)
        elif out is None:
            dtype = _widened(op, x.dtype)
        if axis is not None and x.ndim == 0:  # NumPy takes such an array as one item
            axis_number(axis, 1)
            axis = None
        if dtype is not None and of is not None and is_other(dtype, of):
            return into(out, scan(x, op, axis=axis, dtype=dtype, **options), options)
        return scan(x, op, axis=axis, dtype=dtype, out=out, **options)
    except Exception as error:
        name_function(error, function)
        raise


@named
def diff(
    x, /, n=1, axis=-1, prepend=None, append=None, *, op=None, out=None, stream=None, device=None
) -> Any:
    """Subtract from each item the one before it along an axis, as numpy.diff does.

    Parameters
    ----------
    x : array_like
        Array of one dimension or more. Two bools give True if they differ.
    n : int
        How often to subtract; 0 returns `x`.
    axis : int
        Axis along which to subtract.
    prepend, append : array_like or number, optional
        What `x` is lengthened by along the axis before: an array that differs from it there alone,
        or one number.
    op : str or function, optional
        What to compute in place of ``"b - a"``: a C expression of an item ``a`` and the next one
        ``b`` along the axis, such as ``"b / a"``, or a Python function of both. The result has the
        type that `transform` gives it.
    out : array, optional
        Array for the result. It must not overlap `x`, of which two differences read each item.
    stream, device
        As for `transform`.

    Returns
    -------
    array
        Array of the type of `x`, with `n` items less along the axis. Unsigned differences wrap.

    Raises
    ------
    ValueError
        For a negative `n`; for an axis that is not there; without dimensions.
    TypeError, DeviceMemoryError
        As `transform`.

    Notes
    -----
    In a device's memory an axis but the first takes two transpositions.

    Examples
    --------
    >>> print(cubc.diff(np.array([1.0, 4.0, 9.0])))
    [3. 5.]
    """
    if n == 0 and out is None:
        return x
    x = computed(x, stream)
    n = whole("diff", "n", n)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    if n == 0:
        return transform("x", x=x, out=out, stream=stream, device=device)
    if not tuple(x.shape):
        raise ValueError("diff requires input that is at least one dimensional")
    axis = axis_number(axis, len(x.shape))
    options = {"stream": stream, "device": device}
    if isinstance(x, np.ndarray):
        return _host_diff(x, n, axis, prepend, append, op, out, options)
    x = asarray(x)
    shape = tuple(x.shape)
    ends = [_lengthened(x, end, axis, stream) for end in (prepend, append)]
    if axis:
        x, *ends = (_axis_first(y, axis, options) for y in (x, *ends))
    x = _joined(x, ends[0], ends[1], options)
    for k in range(n):
        to = out if k == n - 1 and not axis else None
        text = _difference(op, x)
        x = transform(text, a=x[:-1], b=x[1:], out=to, **options)
    return x if not axis else _axis_back(x, axis, shape, out, options)


def _host_diff(x, n, axis, prepend, append, op, out, options) -> Any:
    parts = []
    for end in (prepend, x, append):
        if end is None:
            continue
        end = np.asanyarray(as_array(end))
        shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
        parts.append(np.broadcast_to(end, shape) if end.ndim == 0 else end)
    if len(parts) > 1:
        refuse_bound("prepend and append are joined to the array")
        x = np.concatenate(parts, axis)
    for k in range(n):
        text = _difference(op, x)
        before, behind = [slice(None)] * x.ndim, [slice(None)] * x.ndim
        before[axis], behind[axis] = slice(None, -1), slice(1, None)
        to = out if k == n - 1 else None
        x = transform(text, a=x[tuple(before)], b=x[tuple(behind)], out=to, **options)
    return x


def _difference(op: Any, x: Any, default: str = "b - a") -> str:
    """Return the text of an operator of two neighbours."""
    if op is None:
        refuse_items("the items", x, "which have no difference: give op=, an expression of members")
        return "a != b" if x.dtype == bool else default
    text = translated("less", op, x)
    if not isinstance(text, str) or not text.strip():
        raise TypeError(f"op is {op!r:.60}: expected an expression of a and b, or a function")
    return check_pair(text, "" if isinstance(op, str) else function_name(op))


@named
def adjacent_difference(
    x, op=None, /, *, right=False, out=None, dtype=None, stream=None, device=None
) -> Any:
    """Combine each item with the one before it; the first stays as it is. CUB's SubtractLeft.

    Parameters
    ----------
    x : array_like
        Array of one dimension.
    op : str or function, optional
        C expression of an item ``a`` and the next one ``b``, such as ``"abs(b - a)"``, or a Python
        function of both. By default ``"b - a"``, with `right` ``"a - b"``; of bools whether they
        differ.
    right : bool
        True combines each item with the one behind it, and the last stays as it is: SubtractRight.
    out : array, optional
        Array for the result, of the shape of `x`. It may be `x`, which is then copied before.
    dtype, stream, device
        As for `transform`; of structs the type is that of `x` by default.

    Returns
    -------
    array
        Array of as many items as `x`, of the type that `transform` gives it.

    Raises
    ------
    TypeError, ValueError, CompileError
        As `transform`; ValueError if `x` has not one dimension.

    Notes
    -----
    `diff` leaves out the item that has no neighbour, and has axes.

    Examples
    --------
    >>> print(cubc.adjacent_difference(np.array([1, 4, 9])))
    [1 3 5]
    >>> print(cubc.adjacent_difference(np.array([1, 4, 9]), "a * b", right=True))
    [ 4 36  9]
    """
    x = x if isinstance(x, Lazy) else as_array(x)
    one_dimension("adjacent_difference", x, "give all items as x.ravel()")
    options = {"stream": stream, "device": device}
    if isinstance(x, Lazy) or (overlap(x, out) and address_of(x) == address_of(out)):
        x = transform("x", x=x, dtype=x.dtype, **options)
    if dtype is None and out is None and getattr(x.dtype, "fields", None):
        dtype = x.dtype
    if not x.shape[0]:
        return transform("x", x=x, out=out, dtype=dtype, **options)
    text = _difference(op, x, "a - b" if right else "b - a")
    if op is not None:
        of = item_dtype(out) if dtype is None and hasattr(out, "dtype") else dtype
        lazy(text, a=x, b=x, dtype=of)  # refuses the literals that it has
    whole_text, (one, table, n) = _beside_each(text, bool(right))
    operands = {one: x, table: x} | ({n: x.shape[0]} if right else {})
    with shown_as(text):
        return transform(whole_text, **operands, out=out, dtype=dtype, **options)


@functools.lru_cache(maxsize=256)
def _beside_each(text: str, right: bool) -> tuple[str, Sequence[str]]:
    """Return the text of an operator of each item and a neighbour, and the names of its operands.

    They are the item, the array as a table, and the number of items, which `right` alone needs.
    """
    used = set(re.findall(r"\w+", text))
    one, table, n = (next(f"{c}{k}" for k in range(99) if f"{c}{k}" not in used) for c in "xtn")
    if right:
        places, inside = {"a": one, "b": f"{table}[i + 1]"}, f"i + 1 < {n}"
    else:
        places, inside = {"a": f"{table}[i - 1]", "b": one}, "i > 0"
    return f"{inside} ? ({filled(text, places)}) : {one}", (one, table, n)


def _lengthened(x: Any, end: Any, axis: int, stream: Any) -> Any:
    """Return what comes before or behind an array on a device as an array there; None for none."""
    if end is None:
        return end
    given, end = end, as_array(end)
    is_host = isinstance(end, np.ndarray)
    if is_host and end.ndim and hasattr(given, "shape"):
        raise ValueError(f"the array is on {x.device} and one in host memory: move it by asarray")
    end = end if is_host else asarray(end, stream=stream)
    if end.ndim == 0:
        shape = tuple(x.shape)
        end = broadcast(end, (*shape[:axis], 1, *shape[axis + 1 :]), stream)
    return asarray(np.ascontiguousarray(end), device=x.device, stream=stream) if is_host else end


def _axis_first(x: Any, axis: int, options: dict[str, Any]) -> Any:
    if x is None:
        return None
    shape = tuple(x.shape)
    others, rest = items_of(shape[:axis]), items_of(shape[axis:])
    turned = (shape[axis], others * items_of(shape[axis + 1 :]))
    if not others * rest:
        return x.reshape(turned)
    placement: Placement = {"stream": options["stream"]}
    return transposed(x, others, rest, turned, None, placement)


def _axis_back(x: Any, axis: int, shape: Any, out: Any, options: dict[str, Any]) -> Any:
    """Return differences with their axis at its place; an output of another type is a pass more."""
    others, back = items_of(shape[:axis]), (*shape[:axis], x.shape[0], *shape[axis + 1 :])
    rest = items_of(back[axis:])
    more = hasattr(out, "dtype") and item_dtype(out) != item_dtype(x)
    if others * rest:
        placement: Placement = {"stream": options["stream"], "device": options["device"]}
        x = transposed(x, rest, others, back, None if more else out, placement)
    else:
        x, more = x.reshape(back), out is not None
    return transform("x", x=x, out=out, **options) if more else x


def _joined(x: Any, before: Any, behind: Any, options: dict[str, Any]) -> Any:
    """Return arrays of a device one after the other, in the type that they have together."""
    parts = [y for y in (before, x, behind) if y is not None]
    if len(parts) == 1:
        return x
    rest = tuple(x.shape[1:])
    if any(tuple(y.shape[1:]) != rest for y in parts):
        raise ValueError("prepend and append differ from the array along the axis alone")
    length, at = sum(y.shape[0] for y in parts), 0
    dtype = common_type(*(y.dtype for y in parts))
    whole_of = empty((length, *rest), dtype, device=x.device, stream=options["stream"])
    for y in parts:
        if y.shape[0]:
            transform("y", y=y, out=whole_of[at : at + y.shape[0]], **options)
        at += y.shape[0]
    return whole_of
