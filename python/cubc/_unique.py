"""Distinct items, as numpy.unique finds them."""

from typing import Any

import numpy as np

from ._arrays import as_array, item_dtype, name_of
from ._axes import items_of
from ._calls import named
from ._core import Array, asarray, call, empty, transform
from ._indexing import lexsort
from ._lazy import lazy
from ._scans import scan
from ._selections import flatnonzero, unique_consecutive
from ._sorting import argsort, sort, sort_pairs
from ._take import take

# NumPy's order of complex numbers: without NaN, then with it as imaginary part, as real part.
_NANS = "2 * (real(z) != real(z)) + (imag(z) != imag(z))"


@named
def unique(
    x,
    /,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    *,
    equal_nan=True,
    sorted=True,
    stream=None,
    device=None,
) -> Any:
    """Find the distinct items of an array, sorted; as numpy.unique without an axis.

    Parameters
    ----------
    x : array_like
        Array of any number of dimensions, taken flat; structs too.
    return_index : bool
        True returns the index of the first of each too.
    return_inverse : bool
        True returns the place of each item among the distinct ones too, in the shape of `x`.
    return_counts : bool
        True returns how often each occurs too.
    equal_nan : bool
        False keeps each NaN, as one of its own.
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
    run. It waits for their number.

    Examples
    --------
    >>> print(cubc.unique(np.array([1, 1, 2, 1])))
    [1 2]
    """
    options = {"stream": stream, "device": device}
    x = as_array(x)
    inexact = item_dtype(x).kind in "fc" or name_of(x.dtype) == "bfloat16"
    single = inexact and equal_nan
    if not (return_index or return_inverse or return_counts):
        found = unique_consecutive(in_order(x, options), **options)
        return _one_nan(found, options) if single else found
    keys, order = _ordered_with_indices(x, options)
    heads = _heads(keys, single, options)
    first = flatnonzero(heads, **options)
    results = [take(keys, first, mode="clip", **options)]
    if return_index:
        results.append(take(order, first, mode="clip", **options))
    if return_inverse:
        results.append(_inverse(heads, order, x, options))
    if return_counts:
        results.append(_counts(first, items_of(tuple(keys.shape)), options))
    return tuple(results)


def in_order(x: Any, options: dict[str, Any]) -> Any:
    """Return the items sorted, taken flat; complex numbers as NumPy sorts them."""
    if item_dtype(x).kind == "c":
        return _ordered_with_indices(x, options)[0]
    return sort(x, axis=None, **options)


def _ordered_with_indices(x: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """Return the items in order, and their indices; equal ones keep theirs."""
    size = items_of(tuple(x.shape))
    if item_dtype(x).fields:
        order = argsort(x, axis=None, **options)
        return take(x.reshape(-1), order, mode="clip", **options), order
    kind = "f" if "float" in str(x.dtype) else item_dtype(x).kind
    if kind not in "fc":
        fields = {
            "keys_in": x,
            "keys_out": ("keys_in", (size,), None),
            "values_out": ("int64", (size,), None),
        }
        return call("sort", fields, **options)[:2]
    flat = transform("z", z=x, **options)
    flat = flat.reshape(-1)
    if kind == "f":  # zeros of both signs are alike here, and the first of them stays
        order = argsort(lazy("x == 0 ? 0.0f : x", x=flat, dtype=flat.dtype), axis=None, **options)
    else:
        nan = transform(_NANS, z=flat, dtype="int8", **options)
        parts = [transform(part, z=flat, **options) for part in ("imag(z)", "real(z)")]
        order = lexsort([*parts, nan], **options)
    return take(flat, order, mode="clip", **options), order


def _heads(keys: Any, single: bool, options: dict[str, Any]) -> Any:
    """Return where runs of equal items begin, as bools."""
    heads = _like(keys, items_of(tuple(keys.shape)), bool, options)
    if heads.shape[0] == 0:
        return heads
    transform("true", out=heads[:1], **options)
    text = "a != b && !(a != a && b != b)" if single else "a != b"
    transform(text, a=keys[:-1], b=keys[1:], out=heads[1:], **options)
    return heads


def _inverse(heads: Any, order: Any, x: Any, options: dict[str, Any]) -> Any:
    """Return the number of the run that each item is in: places sorted back by their indices."""
    runs = scan(heads, dtype="int64", **options)
    ranks = transform("k - 1", k=runs, out=runs, **options)
    bits = max(1, int(order.shape[0]).bit_length())
    inverse = sort_pairs(order, ranks, end_bit=bits, **options)[1]
    return inverse.reshape(tuple(x.shape))


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
