"""Means and variances by NumPy's names.

A mean is a sum divided by its count. A variance is one pass where that is exact enough
(`_moments.py`). Elsewhere it takes two, as NumPy's: the second sums squared deviations from the
mean, which no cancellation spoils.
"""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ._arrays import as_array, is_of_numpy, item_dtype, name_of, refuse_items, shape_of
from ._axes import axis_number, items_of
from ._calls import named
from ._core import Array, operator_types, transform
from ._lazy import lazy
from ._moments import is_one_pass, squared_deviations
from ._reductions import in_type, left_out, mask_of, refuse_complex
from ._reductions import sum as sum_of

_SQUARE = "(convert<f64>(x) - convert<f64>(m)) * (convert<f64>(x) - convert<f64>(m))"
_APART = "(convert<c128>(x) - convert<c128>(m))"
_NORM = f"real({_APART}) * real({_APART}) + imag({_APART}) * imag({_APART})"


@named
def count_nonzero(x, /, axis=None, *, keepdims=False, stream=None, device=None) -> Any:
    """Count the items that are not 0, or along axes; as numpy.count_nonzero, int64.

    Parameters
    ----------
    x, axis, keepdims, stream, device
        As for `sum`. A NaN is not 0.

    Returns
    -------
    int64
        As of `sum`.

    Raises
    ------
    TypeError, ValueError
        As `sum`.

    Examples
    --------
    >>> print(cubc.count_nonzero(np.array([0.0, 3.0, 0.0, 4.0])))
    2
    """
    x = as_array(x)
    refuse_items("the items", x, "which are neither 0 nor not: count_if() takes an expression")
    options = {"stream": stream, "device": device}
    truth = x if x.dtype == bool else lazy("convert<bool>(x)", x=x, dtype=bool)
    return sum_of(truth, axis, "int64", None, keepdims, **options)


@named
def mean(
    x, /, axis=None, dtype=None, out=None, keepdims=False, *, where=True, stream=None, device=None
) -> Any:
    """Mean of all items, or along axes, as numpy.mean.

    Parameters
    ----------
    x : array_like
        Array of any number of dimensions.
    axis, keepdims, where
        As for `sum`.
    dtype : dtype, optional
        Type of the arithmetic and of the result; by default float64 for integers and bool, else
        that of `x`. float16 and bfloat16 are summed in float32.
    out : array, optional
        Array for the result.
    stream, device
        As for `reduce`.

    Returns
    -------
    numpy scalar, array or out
        As of `sum`. For no items it is a NaN, with a RuntimeWarning.

    Raises
    ------
    TypeError, ValueError
        As `sum`.

    Examples
    --------
    >>> print(cubc.mean(np.arange(5.0)))
    2.0
    """
    x = as_array(x)
    _refuse_axis(x, axis, where)
    options = {"stream": stream, "device": device}
    items = x if dtype is None else in_type(x, dtype)
    total, wide = _total(items, items, axis, dtype, keepdims, where, options)
    count = _count(x, axis, keepdims, where, options)
    if _none(count):
        warnings.warn("Mean of empty slice", RuntimeWarning, stacklevel=3)
    kind = wide if dtype is not None or item_dtype(x).kind in "iub" else item_dtype(x)
    return _quotient(False, total, count, dtype or kind, out, options)


def spread(
    is_root: bool,
    counted: Callable[[Any, Any], tuple[Any, float]],
    axis_of: Callable[[Any, Any], Any] = lambda x, axis: axis,
    check: Callable[[Any, Any, Any], None] = lambda x, dtype, out: None,
) -> Callable[..., Any]:
    """Decorate a name and its documentation: the call is a variance, or made of one.

    Parameters
    ----------
    is_root
        True for the square root of the variance.
    counted
        Function of the array and of where=: which items count, and the divisor of none.
    axis_of
        Function of the array and of axis=: the axis of the call.
    check
        Function of the array, of dtype= and of out=, which refuses types.
    """

    def made(named_so: Callable[[], Any]) -> Callable[..., Any]:
        def call(
            x,
            /,
            axis=None,
            dtype=None,
            out=None,
            ddof=0,
            keepdims=False,
            *,
            where=True,
            mean=None,
            correction=None,
            stream=None,
            device=None,
        ) -> Any:
            if correction is not None and ddof != 0:
                raise ValueError("ddof and correction can't be provided simultaneously.")
            x = as_array(x)
            check(x, dtype, out)
            of_these, least = counted(x, where)
            _refuse_axis(x, axis := axis_of(x, axis), where)
            less = ddof if correction is None else correction
            options = {"stream": stream, "device": device}
            how = (axis, dtype, out, less, keepdims, of_these, mean, least, options)
            return _spread(is_root, x, _Asked(*how))

        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(call, name, getattr(named_so, name))
        return named(call)

    return made


def _all_of(x: Any, where: Any) -> tuple[Any, float]:
    return where, 0.0


@spread(False, _all_of)
def var() -> Any:
    """Variance of all items, or along axes, as numpy.var.

    Parameters
    ----------
    x, axis, dtype, out, keepdims, where, stream, device
        As for `mean`. The variance of complex numbers is real.
    ddof, correction : number
        What is subtracted from the number of items in the divisor; either name.
    mean : array, optional
        Mean along the axes, with a dimension of 1 for each, where it is known already.

    Returns
    -------
    numpy scalar, array or out
        As of `mean`. Where the divisor is 0 or less it is a NaN or an infinity, with a
        RuntimeWarning.

    Raises
    ------
    TypeError, ValueError
        As `mean`; if both `ddof` and `correction` are given.

    Notes
    -----
    One pass over all float32, float16 or bfloat16 adds them and their squares in float64, less the
    first of them. On a GPU one pass along axes, with `where`, or over float64, integers and bool,
    does so in twice the digits of float64. All others, complex numbers, lazy inputs and calls with
    `mean` take two passes, in float64: the mean, and the squares of what is left without it.

    Examples
    --------
    >>> print(cubc.var(np.arange(5.0)))
    2.0
    """


@spread(True, _all_of)
def std() -> Any:
    """Standard deviation of all items, or along axes, as numpy.std: the square root of `var`.

    Parameters
    ----------
    x, axis, dtype, out, ddof, keepdims, where, mean, correction, stream, device
        As for `var`.

    Returns
    -------
    numpy scalar, array or out
        As of `var`.

    Raises
    ------
    TypeError, ValueError
        As `var`.

    Examples
    --------
    >>> print(cubc.std(np.array([1.0, 3.0])))
    1.0
    """


def _total(x, of, axis, dtype, keepdims, where, options) -> tuple[Any, str]:
    """Return the sum of `of` in the type in which items of `x` are summed, and that type."""
    asked = "float64" if dtype is None and item_dtype(x).kind in "iub" else dtype
    wide = operator_types("sum", of.dtype, dtype=asked)[0]
    if where is not True and where is not None:
        of = left_out(of, where, 0, options["stream"])
    return sum_of(of, axis, wide, None, keepdims, **options), wide


def _count(x, axis, keepdims, where, options) -> Any:
    """Return the number of items that a sum had: an int, or with where= an array."""
    shape = tuple(x.shape)
    if where is not True and where is not None:
        mask = where if isinstance(where, bool | np.bool) else mask_of(x, where, options["stream"])
        if shape_of(mask) != shape:
            mask = lazy("((void)x, m)", x=x, m=mask, dtype=bool)
        return sum_of(mask, axis, "int64", None, keepdims, **options)
    if axis is None or not shape:
        return items_of(shape)
    axes = axis if isinstance(axis, tuple) else (axis,)
    return items_of(tuple(shape[axis_number(k, len(shape))] for k in axes))


def _refuse_axis(x: Any, axis: Any, where: Any) -> None:
    """Raise AxisError for an axis of an array without dimensions, which sums take as one item.

    NumPy counts its items without an axis where there is a mask.
    """
    if where is not True and not len(x.shape):
        return
    axes = axis if isinstance(axis, tuple) else (axis,)
    for one in () if axis is None else axes:
        axis_number(one, len(x.shape))


def _refuse_cut_roots(x: Any, axis: Any, kind: Any, is_array: Any) -> None:
    """Raise TypeError for an array of roots that become integers; NumPy cuts one without axes."""
    left = 0 if axis is None else len(x.shape) - (len(axis) if isinstance(axis, tuple) else 1)
    if (is_array or left > 0) and "float" not in name_of(kind) and np.dtype(kind).kind in "biu":
        raise TypeError(f"a root is no {np.dtype(kind)}: give a type of floats")


def _none(count: Any) -> bool:
    """Tell if a sum had no items, as far as the host knows."""
    if isinstance(count, int | float):
        return count <= 0
    return not isinstance(count, Array) and bool(np.any(np.asarray(count) <= 0))


def _quotient(is_root, total, count, kind, out, options) -> Any:
    """Return total / count of a type, or its square root; on the host where the total is."""
    if out is not None and not hasattr(out, "dtype"):
        raise TypeError(f"out is {out!r:.40}: expected an array")
    if out is not None:
        refuse_complex(total, out)
    if not is_of_numpy(total):
        # A count of 0 makes a NaN of integers, too.
        sum_text = "static_cast<f64>(t)" if total.dtype.kind in "iu" else "t"
        text = f"sqrt({sum_text} / n)" if is_root else f"{sum_text} / n"
        to = {"out": out, "casting": "unsafe"} if out is not None else {"dtype": kind}
        return transform(text, t=total, n=count, **to, **options)
    inexact = total.dtype if total.dtype.kind in "fc" else None
    with np.errstate(invalid="ignore", divide="ignore"):  # who divides by 0 has been warned
        found = np.true_divide(total, count, dtype=inexact)
        found = np.sqrt(found) if is_root else found
    if out is None:
        return found.astype(kind)
    if tuple(out.shape) != found.shape:
        raise ValueError(f"out has the shape {tuple(out.shape)}, expected {found.shape}")
    np.copyto(out, found, casting="unsafe")
    return out


class _Asked(NamedTuple):
    """Arguments of a variance."""

    axis: Any
    dtype: Any
    out: Any
    ddof: Any
    keepdims: Any
    where: Any
    mean: Any
    least: float  # divisor where there would be none
    options: dict[str, Any]


def _spread(is_root: bool, x: Any, asked: _Asked) -> Any:
    """Return the variance of an array, or its root."""
    axis, dtype, out = asked.axis, asked.dtype, asked.out
    keepdims, where = asked.keepdims, asked.where
    count = _count(x, axis, keepdims, where, asked.options)
    divisor = _divisor_of(count, asked)
    kind = np.dtype(dtype or ("float64" if item_dtype(x).kind in "iub" else item_dtype(x)))
    if is_root:
        _refuse_cut_roots(x, axis, kind if out is None else out.dtype, keepdims or out is not None)
    some = not isinstance(count, int) or count
    if asked.mean is None and some and is_one_pass(x, kind, count, asked.options["device"]):
        total = squared_deviations(x, kind, axis, count, keepdims, where, asked.options)
        return _quotient(is_root, total, divisor, kind, out, asked.options)
    if item_dtype(x).kind == "c" and kind.kind != "c":
        raise TypeError(f"the mean of complex numbers is no {kind}: give a complex dtype")
    real = kind if kind.kind != "c" else np.dtype(f"f{kind.itemsize // 2}")
    total = _sum_of_squares(x, kind, real, asked)
    return _quotient(is_root, total, divisor, real if dtype is None else kind, out, asked.options)


def _divisor_of(count: Any, asked: _Asked) -> Any:
    """Return the number of items less `ddof`; a warning where that is none."""
    if not is_of_numpy(count):
        given = {"n": count, "d": asked.ddof, "l": asked.least}
        return transform("n > d ? n - d : l", dtype="float64", **given, **asked.options)
    left = count - asked.ddof
    if _none(left):
        warnings.warn("Degrees of freedom <= 0 for slice.", RuntimeWarning, stacklevel=5)
    if isinstance(left, int | float):
        return float(left) if left > 0 else asked.least
    return np.where(left > 0, left, asked.least)[()]


def _sum_of_squares(x: Any, kind: np.dtype[Any], real: np.dtype[Any], asked: _Asked) -> Any:
    """Return the sum of squared deviations from the mean, for which a pass is taken if needed."""
    axis, where, options = asked.axis, asked.where, asked.options
    is_real, mean = item_dtype(x).kind != "c", asked.mean
    if mean is None:
        kept = axis is not None  # else it is one number
        items = x if asked.dtype is None else in_type(x, asked.dtype)
        of = _in_64_bits(real if is_real and asked.dtype is not None else kind)
        total, wide = _total(x, items, axis, of, kept, where, options)
        all_of = _count(x, axis, kept, where, options)
        wide = wide if np.dtype(wide).kind in "fc" else "float64"
        mean = _quotient(False, total, all_of, wide, None, options)
    wide = _in_64_bits(real)
    squares = lazy(_SQUARE if is_real else _NORM, x=x, m=mean, dtype=wide)
    return _total(squares, squares, axis, wide, asked.keepdims, where, options)[0]


def _in_64_bits(dtype: Any) -> Any:
    """Return the type of sums that add up to results of a type: no float of less than 64 bits."""
    if np.dtype(dtype).kind in "biu":
        return operator_types("sum", dtype)[0]
    return "complex128" if np.dtype(dtype).kind == "c" else "float64"
