"""Medians, quantiles and percentiles by NumPy's names.

Items are sorted along the axes. A quantile lies between two neighbours, or at one item, as the
method says from the number of items: R. J. Hyndman and Y. Fan, "Sample Quantiles in Statistical
Packages", The American Statistician 50, 1996.
"""

import warnings
from typing import Any

import numpy as np

from ._arrays import has_nan, item_dtype, refuse_bound
from ._calls import named
from ._core import Array, asarray
from ._lazy import lazy
from ._reductions import sum as sum_of
from ._sorted_rows import Rows, evaluated, in_order, item_at, or_nan, rows_of, shape_of
from ._statistics import mean
from ._weighted_quantiles import weighted

# The place of quantile q of n items, counted from 0: n q + alpha + q (1 - alpha - beta) - 1.
_CONTINUOUS = {
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (0.5, 0.5),
    "weibull": (0, 0),
    "median_unbiased": (1 / 3.0, 1 / 3.0),
    "normal_unbiased": (3 / 8.0, 3 / 8.0),
}
_BETWEEN = (*_CONTINUOUS, "linear", "averaged_inverted_cdf", "midpoint")
_AT_ITEMS = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")

# Items at places of rows, as `evaluated` has them. `p`, `k` and `e` are the places of the items
# before and behind a result and of the nearer one, `g` is its distance from that, as a share of the
# difference.
_BEFORE, _BEHIND, _NEAREST = (item_at(place) for place in "pke")


# ---- places -------------------------------------------------------------------------------------
def _check_q(function: str, q: Any, most: int) -> tuple[np.ndarray, bool]:
    """Return q as an array of numbers from 0 to 1; True if the items alone decide on the type."""
    is_weak = type(q) in (int, float)
    if not isinstance(q, np.ndarray) and hasattr(q, "shape") and not isinstance(q, np.generic):
        q = asarray(q).numpy()
    q = np.asanyarray(q)
    if q.dtype.kind not in "biuf":
        raise TypeError(f"{function}(): q is a number or an array of some, not {q.dtype}")
    if most != 1:
        q = np.true_divide(q, most)
    q = np.asarray(q)
    if q.size and not (q.min() >= 0 and q.max() <= 1):
        what = "Quantiles" if most == 1 else "Percentiles"
        raise ValueError(f"{what} must be in the range [0, {most}]")
    if q.ndim > 2:
        raise ValueError("q must be a scalar or 1d")
    return q, is_weak


def _item_places(method: str, n: Any, q: Any) -> Any:
    """Return the places of the items that are the quantiles."""
    if method in ("lower", "higher", "nearest"):
        place = (n - 1) * q
        return {"lower": np.floor(place), "higher": np.ceil(place)}.get(method, np.around(place))
    place = n * q - 1 if method == "inverted_cdf" else n * q - 1 - 0.5
    before = np.floor(place)
    stays = place == before
    if method == "closest_observation":
        stays &= before % 2 == 1
    return np.maximum(np.where(stays, before, before + 1), 0)


def _places(method: str, n: Any, q: Any) -> tuple[Any, Any, Any]:
    """Return the places of the items before and behind quantiles, and how far these lie behind.

    The places are 0 to n - 1, and the distances None where the items are the quantiles.
    """
    if method in _AT_ITEMS:
        place = _item_places(method, n, q)
        return np.clip(place, 0, np.maximum(n - 1, 0)), None, None
    if method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        place = n * q + (alpha + q * (1 - alpha - beta)) - 1
    elif method == "averaged_inverted_cdf":
        place = n * q - 1
    else:
        place = (n - 1) * q
    if method == "midpoint":
        place = 0.5 * (np.floor(place) + np.ceil(place))
    place = np.asarray(place)
    if method == "linear" and place.dtype.kind in "iu":
        return place, None, None
    before = np.floor(place)
    distance = place - before
    if method == "averaged_inverted_cdf":
        distance = np.where(distance == 0, 0.5, 1.0).astype(place.dtype)
    last = np.maximum(n - 1, 0)
    return np.clip(before, 0, last), np.clip(before + 1, 0, last), distance


# ---- results ------------------------------------------------------------------------------------
def _type_between(items: np.dtype[Any], distance: Any, is_weak: bool) -> np.dtype[Any]:
    """Return the type of a number between two items, as NumPy's promotion has it."""
    if is_weak:
        return items if items.kind not in "iub" else np.dtype("f8")
    return np.result_type(items, distance.dtype)


def _between(of: np.dtype[Any], wide: str) -> str:
    """Return the text of the number at a distance from the nearest item.

    Between equal items it is either, so that infinite ones do not make a NaN. The difference of
    integers fits their type without a sign, as they are in order.
    """
    step = f"{_BEHIND} - {_BEFORE}"
    if of.kind in "iu":
        step = f"static_cast<u64>({_BEHIND}) - static_cast<u64>({_BEFORE})"
    elif of.itemsize == 2:
        step = f"convert<f32>({_BEHIND}) - convert<f32>({_BEFORE})"
    way = f"convert<{wide}>(rounded_product(convert<{wide}>({step}), g[i / w]))"
    item = f"convert<{wide}>({_NEAREST})"
    return f"({_BEFORE} == {_BEHIND} ? {item} : {item} + {way})"


def _middle(wide: str) -> str:
    a, b = f"convert<{wide}>({_BEFORE})", f"convert<{wide}>({_BEHIND})"
    return f"(p[i / w] == k[i / w] ? {a} : ({a} + {b}) / 2)"


def _numbers(s: Rows) -> Any:
    """Return how many items of each row are no NaN; those of a device are waited for."""
    refuse_bound("the items that are no NaN are counted")
    there = lazy("x == x", x=s.matrix, dtype=bool)
    counts = sum_of(there, 1, "int64", **s.options)
    counts = counts.numpy() if isinstance(counts, Array) else counts
    if not counts.all():
        warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=5)
    return counts


def _quantile(
    name: str, x: Any, q: Any, most: int, axis: Any, out: Any, method: Any, keepdims: Any,
    leaves_nan_out: bool, weights: Any, stream: Any, device: Any,
) -> Any:  # fmt: skip
    q, is_weak = _check_q(name, q, most)
    if method not in _BETWEEN and method not in _AT_ITEMS:
        valid = ", ".join((*_BETWEEN, *_AT_ITEMS))
        raise ValueError(f"{method!r} is not a valid method. Use one of: {valid}")
    if weights is not None and method != "inverted_cdf":
        raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
    s = rows_of(name, x, axis, stream, device)
    of = item_dtype(s.items)
    if not s.length and leaves_nan_out:
        return mean(x, axis, out=out, keepdims=keepdims, stream=stream, device=device)
    if not s.length:
        raise IndexError(f"{name}(): there are no items to take one of")
    shape = shape_of(s, q.shape, keepdims)
    if weights is not None:
        return weighted(s, weights, axis is None, q, shape, out, leaves_nan_out)
    s = in_order(s)
    n: Any = s.length
    if leaves_nan_out and has_nan(s.items) and s.rows:
        n = _numbers(s).astype(q.dtype if q.dtype.kind == "f" else np.int64)
    before, behind, distance = _places(method, n, q.reshape(-1, 1))
    text, kind, wide = _NEAREST, of, ""
    places = {"e": before}
    if distance is not None:
        if of.kind == "b":
            raise TypeError(f"{name}(): there is nothing between bools: method is {method!r}")
        far = distance >= 0.5
        places["e"] = np.where(far, behind, before)
        kind = _type_between(of, distance, is_weak)
        if kind.kind not in "iu":  # else q is of whole numbers, and each quantile an item
            wide = "f64" if kind == np.float64 else "f32"
            text = _between(of, wide)
            share = np.where(far, distance - 1, distance)
            places |= {"p": before, "k": behind, "g": share.astype(wide.replace("f", "float"))}
    if has_nan(s.items) and not leaves_nan_out:
        text = or_nan(text, wide)
    return evaluated(s, text, kind, shape, out, places)


def _median(
    name: str, x: Any, axis: Any, out: Any, keepdims: Any, leaves_nan_out: bool, stream: Any,
    device: Any,
) -> Any:  # fmt: skip
    s = in_order(rows_of(name, x, axis, stream, device))
    of = item_dtype(s.items)
    if not s.length or not s.rows:
        return mean(x, axis, out=out, keepdims=keepdims, stream=stream, device=device)
    n: Any = np.array([s.length])
    if leaves_nan_out and has_nan(s.items):
        n = _numbers(s)
    kind = np.dtype("f8") if of.kind in "iub" else of
    wide = "f64" if kind == np.float64 else "f32"
    text = _middle(wide)
    if has_nan(s.items) and not leaves_nan_out:
        text = or_nan(text, wide)
    places = {"p": np.maximum(n - 1, 0) // 2, "k": n // 2}
    return evaluated(s, text, kind, shape_of(s, (), keepdims), out, places)


# ---- NumPy's names ------------------------------------------------------------------------------
@named
def median(
    x, /, axis=None, out=None, overwrite_input=False, keepdims=False, *, stream=None, device=None
) -> Any:
    """Middle item in order, or the mean of both middle ones, as numpy.median; or along axes.

    Parameters
    ----------
    x : array_like
        Array of any number of dimensions, of real numbers.
    axis : int, tuple of int or None
        Axes along which to look; by default all.
    out : array, optional
        Array for the result.
    overwrite_input : bool
        As for numpy.median; the input stays as it is.
    keepdims : bool
        True keeps a dimension of 1 for each axis.
    stream, device
        As for `reduce`.

    Returns
    -------
    numpy scalar, array or out
        As of `mean`: float64 for integers and bool, else the type of `x`. NaN where there is one,
        and for no items, with a RuntimeWarning.

    Raises
    ------
    TypeError, ValueError
        As `sort`; for complex numbers.

    Notes
    -----
    The items are sorted, by radix, and a second launch finds all results.

    Examples
    --------
    >>> print(cubc.median(np.array([3.0, 1.0, 2.0, 9.0])))
    2.5
    """
    del overwrite_input
    return _median("median", x, axis, out, keepdims, False, stream, device)


@named
def nanmedian(
    x, /, axis=None, out=None, overwrite_input=False, keepdims=False, *, stream=None, device=None
) -> Any:
    """Median of the items that are not NaN, as numpy.nanmedian; or along axes.

    It waits for a device, as the number of items that are not NaN says which is in the middle.

    Parameters
    ----------
    x, axis, out, overwrite_input, keepdims, stream, device
        As for `median`.

    Returns
    -------
    numpy scalar, array or out
        As of `median`. NaN where there is no other item, with a RuntimeWarning.

    Raises
    ------
    TypeError, ValueError
        As `median`.

    Examples
    --------
    >>> print(cubc.nanmedian(np.array([3.0, np.nan, 1.0])))
    2.0
    """
    del overwrite_input
    return _median("nanmedian", x, axis, out, keepdims, True, stream, device)


@named
def quantile(
    x,
    /,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    weights=None,
    stream=None,
    device=None,
) -> Any:
    """Items below which a share of all items lies, as numpy.quantile; or along axes.

    Parameters
    ----------
    x, axis, out, overwrite_input, keepdims, stream, device
        As for `median`.
    q : number or array_like of numbers
        Shares from 0 to 1, of two dimensions at most. Those on a device are waited for.
    method : str
        Which number between two items it is. With n items, counted from 0, "linear" is at place
        q (n - 1), and "lower", "higher", "nearest" and "midpoint" are the items around it.
        "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf",
        "hazen", "weibull", "median_unbiased" and "normal_unbiased" are the methods 1 to 6, 8 and 9
        of Hyndman and Fan; "linear" is number 7.
    weights : array_like, optional
        How often each item counts: real numbers that are not negative, of the shape of `x`, or of
        that of the axes. The method has to be "inverted_cdf". A device is waited for.

    Returns
    -------
    numpy scalar, array or out
        The shape is that of `q`, and then that of a reduction along the axes. The type is that of
        numpy.quantile: that of `x` where the result is an item; float64 for integers. NaN where
        there is one.

    Raises
    ------
    IndexError
        If there are no items.
    TypeError
        As `sort`; for complex numbers, and for bools with a method between items; for weights of
        another shape than that of `x` if there is no axis.
    ValueError
        If a share is below 0 or above 1; for an unknown method; for weights that are negative, or
        whose sum is 0 or not finite, or of another shape than that of the axes.

    Examples
    --------
    >>> print(cubc.quantile(np.arange(11.0), [0.1, 0.5]))
    [1. 5.]
    """
    del overwrite_input
    return _quantile(
        "quantile", x, q, 1, axis, out, method, keepdims, False, weights, stream, device
    )


@named
def nanquantile(
    x,
    /,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    weights=None,
    stream=None,
    device=None,
) -> Any:
    """Quantiles of the items that are not NaN, as numpy.nanquantile; or along axes.

    It waits for a device, as the number of items that are not NaN says where the quantiles are.

    Parameters
    ----------
    x, q, axis, out, overwrite_input, method, keepdims, weights, stream, device
        As for `quantile`.

    Returns
    -------
    numpy scalar, array or out
        As of `quantile`. NaN where there is no other item, with a RuntimeWarning.

    Raises
    ------
    TypeError, ValueError
        As `quantile`.

    Examples
    --------
    >>> print(cubc.nanquantile(np.array([0.0, np.nan, 10.0]), 0.1))
    1.0
    """
    del overwrite_input
    return _quantile(
        "nanquantile", x, q, 1, axis, out, method, keepdims, True, weights, stream, device
    )


@named
def percentile(
    x,
    /,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    weights=None,
    stream=None,
    device=None,
) -> Any:
    """Quantiles by shares from 0 to 100, as numpy.percentile; or along axes.

    Parameters
    ----------
    x, q, axis, out, overwrite_input, method, keepdims, weights, stream, device
        As for `quantile`. Shares `q` are from 0 to 100.

    Returns
    -------
    numpy scalar, array or out
        As of `quantile`.

    Raises
    ------
    IndexError, TypeError, ValueError
        As `quantile`.

    Examples
    --------
    >>> print(cubc.percentile(np.arange(11.0), 90))
    9.0
    """
    del overwrite_input
    return _quantile(
        "percentile", x, q, 100, axis, out, method, keepdims, False, weights, stream, device
    )


@named
def nanpercentile(
    x,
    /,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    weights=None,
    stream=None,
    device=None,
) -> Any:
    """Percentiles of the items that are not NaN, as numpy.nanpercentile; or along axes.

    Parameters
    ----------
    x, q, axis, out, overwrite_input, method, keepdims, weights, stream, device
        As for `percentile`.

    Returns
    -------
    numpy scalar, array or out
        As of `percentile`. NaN where there is no other item, with a RuntimeWarning.

    Raises
    ------
    TypeError, ValueError
        As `quantile`.

    Examples
    --------
    >>> print(cubc.nanpercentile(np.array([0.0, np.nan, 10.0]), 10))
    1.0
    """
    del overwrite_input
    return _quantile(
        "nanpercentile", x, q, 100, axis, out, method, keepdims, True, weights, stream, device
    )
