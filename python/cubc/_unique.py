"""Distinct items, as numpy.unique finds them."""

from typing import Any

import numpy as np

from ._arrays import as_array, has_nan, item_dtype
from ._axes import axis_number, items_of, transposed
from ._calls import named
from ._core import Array, Lazy, asarray, call, empty, transform
from ._lazy import lazy
from ._reductions import any as any_of
from ._scans import scan
from ._selections import flatnonzero, unique_consecutive
from ._sorting import argsort, lexsort, sort, sort_pairs
from ._take import take


@named
def unique(
    x,
    /,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    *,
    equal_nan=True,
    sorted=True,
    stream=None,
    device=None,
) -> Any:
    """Find the distinct items of an array, or what is distinct along an axis; as numpy.unique.

    Parameters
    ----------
    x : array_like
        Array of any number of dimensions; structs too if there is no axis.
    return_index : bool
        True returns the index of the first of each too.
    return_inverse : bool
        True returns the place of each item among the distinct ones too, in the shape of `x`, or of
        each along the axis.
    return_counts : bool
        True returns how often each occurs too.
    axis : int or None
        Axis along which parts of the array are compared, and sorted by their items in order. By
        default `x` is taken flat.
    equal_nan : bool
        False keeps each NaN, as one of its own; so do parts of two dimensions or more.
    sorted : bool
        False allows any order, as in NumPy; the items are sorted all the same.
    stream, device
        As for `sort`.

    Returns
    -------
    array, or a tuple of arrays
        Distinct items, then what was asked for, int64, in NumPy's order. 0.0 and -0.0 are one item,
        which is either.

    Raises
    ------
    TypeError, ValueError, DeviceMemoryError
        As `sort`.

    Notes
    -----
    The call sorts by radix, complex numbers by their parts, then selects the first item of each
    run. It waits for their number. Along an axis it sorts once for each item of a part.

    Examples
    --------
    >>> print(cubc.unique(np.array([1, 1, 2, 1])))
    [1 2]
    """
    options = {"stream": stream, "device": device}
    x = as_array(x)
    if isinstance(x, Lazy) and (axis is not None or item_dtype(x).fields):
        x = x.array(**options)
    shape = tuple(x.shape)
    number = axis_number(axis, len(shape)) if axis is not None else 0
    if len(shape) == 1:
        axis = None
    if axis is not None:
        shape = (shape[number],)
        keys, order = _ordered_parts(x, number, options)
        heads = _heads_of_parts(keys, options)
    else:
        single = equal_nan and has_nan(x)
        if not (return_index or return_inverse or return_counts):
            found = unique_consecutive(sort(x, axis=None, **options), **options)
            return _one_nan(found, options) if single else found
        keys, order = _ordered_with_indices(x, options)
        heads = _heads(keys, single, options)
    first = flatnonzero(heads, **options)
    found = take(keys, first, 0, mode="clip", **options)
    results = [found if axis is None else _moved_back(found, x.shape, number)]
    if return_index:
        results.append(take(order, first, mode="clip", **options))
    if return_inverse:
        results.append(_inverse(heads, order, shape, options))
    if return_counts:
        results.append(_counts(first, keys.shape[0], options))
    return tuple(results) if len(results) > 1 else results[0]


def _ordered_with_indices(x: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """Return the items in order, and their indices; equal ones keep theirs."""
    size = items_of(tuple(x.shape))
    if item_dtype(x).fields:
        order = argsort(x, axis=None, **options)
        return take(x.reshape(-1), order, mode="clip", **options), order
    if not has_nan(x):
        fields = {
            "keys_in": x,
            "keys_out": ("keys_in", (size,), None),
            "values_out": ("int64", (size,), None),
        }
        return call("sort", fields, **options)[:2]
    flat = transform("z", z=x, **options)
    flat = flat.reshape(-1)
    items = flat
    if item_dtype(x).kind != "c":  # zeros of both signs are alike here, and the first of them stays
        items = lazy("x == 0 ? 0.0f : x", x=flat, dtype=flat.dtype)
    order = argsort(items, axis=None, **options)
    return take(flat, order, mode="clip", **options), order


def _ordered_parts(x: Any, axis: int, options: dict[str, Any]) -> tuple[Any, Any]:
    """Return the parts of an array along an axis in order, one a row, and their indices."""
    if item_dtype(x).fields:
        raise TypeError("unique() finds structs in an array that is taken flat, without axis=")
    count = x.shape[axis]
    others = [k for k in range(len(x.shape)) if k != axis]
    length = items_of(x.shape[k] for k in others)
    rows = x.transpose(axis, *others).reshape(count, length)
    if length:
        placement: Any = options
        columns = transposed(rows, count, length, (length, count), None, placement)
    else:  # parts without items are alike
        columns = [transform("0", out=_like(rows, count, "int8", options), **options)]
    order = lexsort([columns[k] for k in reversed(range(len(columns)))], **options)
    return take(rows, order, 0, mode="clip", **options), order


def _heads_of_parts(rows: Any, options: dict[str, Any]) -> Any:
    """Return where runs of equal rows begin, as bools."""
    heads = _like(rows, rows.shape[0], bool, options)
    if heads.shape[0]:
        transform("true", out=heads[:1], **options)
        differ = lazy("a != b", a=rows[:-1], b=rows[1:], dtype=bool)
        any_of(differ, 1, heads[1:], **options)
    return heads


def _moved_back(rows: Any, shape: Any, axis: int) -> Any:
    """Return rows, each a part of an array along an axis, as an array with that axis."""
    parts = rows.reshape(rows.shape[0], *shape[:axis], *shape[axis + 1 :])
    return parts.transpose(*range(1, axis + 1), 0, *range(axis + 1, len(shape)))


def _heads(keys: Any, single: bool, options: dict[str, Any]) -> Any:
    """Return where runs of equal items begin, as bools."""
    heads = _like(keys, items_of(tuple(keys.shape)), bool, options)
    if heads.shape[0] == 0:
        return heads
    transform("true", out=heads[:1], **options)
    text = "a != b && !(a != a && b != b)" if single else "a != b"
    transform(text, a=keys[:-1], b=keys[1:], out=heads[1:], **options)
    return heads


def _inverse(heads: Any, order: Any, shape: tuple[int, ...], options: dict[str, Any]) -> Any:
    """Return the number of the run that each item is in: places sorted back by their indices."""
    runs = scan(heads, dtype="int64", **options)
    ranks = transform("k - 1", k=runs, out=runs, **options)
    bits = max(1, int(order.shape[0]).bit_length())
    inverse = sort_pairs(order, ranks, end_bit=bits, **options)[1]
    return inverse.reshape(shape)


def _counts(first: Any, total: int, options: dict[str, Any]) -> Any:
    """Return the lengths of runs by where they begin."""
    ends = _like(first, first.shape[0], np.int64, options)
    if ends.shape[0] == 0:
        return ends
    last = ends.shape[0] - 1
    transform("b - a", a=first[:-1], b=first[1:], out=ends[:last], **options)
    transform("n - a", a=first[last:], n=total, out=ends[last:], **options)
    return ends


def _like(x: Any, size: int, dtype: Any, options: dict[str, Any]) -> Any:
    if isinstance(x, np.ndarray):
        return np.empty(size, dtype)
    return empty(size, dtype, device=asarray(x).device, stream=options["stream"])


def _one_nan(found: Any, options: dict[str, Any]) -> Any:
    """Leave one NaN of those at the end."""
    if found.shape[0] < 2:
        return found
    tail = found[-2:]
    tail = tail.numpy() if isinstance(tail, Array) else tail
    if not np.isnan(tail).all():
        return found
    nans = flatnonzero(lazy("x != x", x=found, dtype=bool), **options).shape[0]
    return found[: found.shape[0] - nans + 1]
