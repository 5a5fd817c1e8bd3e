"""Sums of squared deviations from the mean, by one pass over the items.

Items and squares are summed in more digits than those of the result, so that the square of the sum
can be subtracted at the end. Squares of float32 and of shorter floats are exact in float64. Those
of float64, and their sums, are two numbers each: what rounding leaves of the first is the second.
Either way the sum is as exact as that of two passes: its error is below the square of the mean's
last digit, for each item.
"""

from typing import Any

import numpy as np

from ._arrays import as_array, is_of_numpy, is_on_cpu, item_dtype, name_of, shape_of
from ._core import Array, Lazy, asarray, reduce, transform
from ._lazy import lazy
from ._reductions import left_out

_PAIR = "complex<f64>(convert<f64>(x), convert<f64>(x) * convert<f64>(x))"  # item and square
_COUNT = "(n > 0 ? n : 1)"  # of no items the sums are 0
_PAIR_DEVIATIONS = f"imag(t) - real(t) * real(t) / {_COUNT}"
# A sum is sum + sum_rest, that of the squares is square + square_rest.
_SUMS = np.dtype([(name, "f8") for name in ("sum", "sum_rest", "square", "square_rest")])
_ITEM = "out_t{{{x}, 0, rounded_product({x}, {x}), fma({x}, {x}, -rounded_product({x}, {x}))}}"
_SHORT = ("float16", "bfloat16", "float32")


def _sum_of(field: str) -> tuple[str, str]:
    """Return the sum of a field of `a` and of `b`, and what its rounding lost, after Knuth."""
    made = f"(a.{field} + b.{field})"
    second = f"({made} - a.{field})"
    return made, f"((a.{field} - ({made} - {second})) + (b.{field} - {second}))"


def _combined() -> str:
    fields = []
    for field in ("sum", "square"):
        made, lost = _sum_of(field)
        fields += [made, f"(a.{field}_rest + b.{field}_rest) + {lost}"]
    return f"value_t{{{', '.join(fields)}}}"


_COMBINED = _combined()


def _sums_deviations() -> str:
    """Return the text of square - sum * sum / n, whose products and quotient have a rest too."""
    s = "(t.sum + t.sum_rest)"
    rest = "((t.sum - " + s + ") + t.sum_rest)"
    p = f"rounded_product({s}, {s})"
    p_rest = f"(fma({s}, {s}, -{p}) + 2 * ({s} * {rest}))"
    h = f"({p} / {_COUNT})"
    h_rest = f"((fma(-{h}, {_COUNT}, {p}) + {p_rest}) / {_COUNT})"
    return f"(t.square - {h}) + (t.square_rest - {h_rest})"


_SUMS_DEVIATIONS = _sums_deviations()


def is_one_pass(x: Any, kind: np.dtype[Any], device: Any) -> bool:
    """Tell if one pass is exact enough for arithmetic in a type, and the faster way.

    The arithmetic of four sums costs the cpu more than a second pass.
    """
    of = item_dtype(x)
    if name_of(kind) in _SHORT:
        return of == kind
    real = of.kind in "iubf" or name_of(of) == "bfloat16"
    return kind == np.float64 and real and not isinstance(x, Lazy) and not is_on_cpu(x, device)


def squared_deviations(
    x: Any, kind: Any, axis: Any, count: Any, keepdims: bool, where: Any, options: Any
) -> Any:
    """Return the sums of squared deviations from the mean, in float64.

    They are a lazy input where the items are on a device. `count` is the number of items that take
    part; the others are read as 0, which adds nothing.
    """
    x = as_array(x)
    every = where is True or where is None
    how = {"axis": axis, "keepdims": keepdims, **options}
    if name_of(kind) in _SHORT:
        of = x if every else left_out(x, where, 0, options["stream"])
        t = reduce(lazy(_PAIR, x=of, dtype="complex128"), "sum", **how)
        if not is_of_numpy(t):
            return lazy(_at_least_0(_PAIR_DEVIATIONS), t=t, n=_divisor(count), dtype="float64")
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.maximum(t.imag - t.real * t.real / np.maximum(count, 1), 0)
    is_host = isinstance(x, np.ndarray)
    x = x if is_host else asarray(x)
    operands, item = {"x": x}, "convert<f64>(x)"
    if not every:
        operands["x"] = left_out(x, where, 0, options["stream"])
    elif count == x.size and x.ndim:  # a column would divide each index to find its first item
        operands["k"] = float(x[(0,) * x.ndim]) if is_host else x.reshape(-1)[0]
        item = "(convert<f64>(x) - convert<f64>(k))"
    of = lazy(_ITEM.format(x=item), dtype=_SUMS, **operands)
    t = reduce(of, _COMBINED, commutative=True, **how)
    text, n = _at_least_0(_SUMS_DEVIATIONS), _divisor(count)
    if is_host:  # an array without dimensions is one there
        return transform(text, t=np.asarray(t), n=n, dtype="float64", **options)[()]
    return lazy(text, t=t, n=n, dtype="float64")


def _divisor(count: Any) -> Any:
    """Return a count as an operand: a number, or an array of some."""
    return count if isinstance(count, Array) or shape_of(count) else float(count)


def _at_least_0(text: str) -> str:
    """Return an expression that is 0 where a text is negative, and NaN where that is NaN."""
    return f"{text} < 0 ? 0 : {text}"
