"""Sums of squared deviations from the mean, by one pass over the items.

Both are summed less the first item, in float64 for float32 and shorter floats: their differences
and squares lose nothing that these types could show. float64, sums along axes, whose first items
differ, and sums that leave items out take two numbers each: what rounding leaves of the first is
the second. Either way the square of the sum is subtracted at the end, and the result is as exact as
that of two passes: its error is below the square of the mean's last digit, for each item.
"""

from typing import Any

import numpy as np

from ._arrays import as_array, is_of_numpy, is_on_cpu, item_dtype, name_of, shape_of
from ._axes import items_of
from ._core import Array, Lazy, asarray, reduce, transform
from ._lazy import lazy, literal
from ._reductions import left_out

_LESS_FIRST = "(convert<f64>(x) - convert<f64>(k))"
_PAIR = f"complex<f64>({_LESS_FIRST}, {_LESS_FIRST} * {_LESS_FIRST})"  # item and square
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


def is_one_pass(x: Any, kind: np.dtype[Any], count: Any, device: Any) -> bool:
    """Tell if one pass is exact enough for arithmetic in a type, and the faster way.

    The arithmetic of four sums costs the cpu more than a second pass.
    """
    if isinstance(x, Lazy) or not items_of(shape_of(x)):
        return False
    of = item_dtype(x)
    if name_of(kind) in _SHORT:
        return of == kind and (_is_whole(x, count) or not is_on_cpu(x, device))
    real = of.kind in "iubf" or name_of(of) == "bfloat16"
    return kind == np.float64 and real and not is_on_cpu(x, device)


def _is_whole(x: Any, count: Any) -> bool:
    """Tell if a count is that of all items, of which the first is known then."""
    return isinstance(count, int) and bool(len(x.shape)) and count == items_of(tuple(x.shape))


def squared_deviations(
    x: Any, kind: Any, axis: Any, count: Any, keepdims: bool, where: Any, options: Any
) -> Any:
    """Return the sums of squared deviations from the mean, in float64.

    They are a lazy input where the items are on a device. `count` is the number of items that take
    part; the others are read as 0, which adds nothing.
    """
    x = as_array(x)
    is_host = isinstance(x, np.ndarray)
    x = x if is_host else asarray(x)
    how = {"axis": axis, "keepdims": keepdims, **options}
    operands, item = {"x": x}, "convert<f64>(x)"
    if _is_whole(x, count):
        operands["k"] = x[(*[0] * x.ndim, ...)] if is_host else x.reshape(-1)[0]  # no copy, to bind
        item = _LESS_FIRST
    elif where is not True and where is not None:
        operands["x"] = left_out(x, where, 0, options["stream"])
    if "k" in operands and name_of(kind) in _SHORT:
        t = reduce(lazy(_PAIR, dtype="complex128", **operands), "sum", **how)
        if not is_of_numpy(t):
            return lazy(_at_least_0(_PAIR_DEVIATIONS), t=t, n=_divisor(count), dtype="float64")
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.maximum(t.imag - t.real * t.real / np.maximum(count, 1), 0)
    of = lazy(_ITEM.format(x=item), dtype=_SUMS, **operands)
    t = reduce(of, _COMBINED, commutative=True, **how)
    text, n = _at_least_0(_SUMS_DEVIATIONS), _divisor(count)
    if is_host:  # an array without dimensions is one there
        return transform(text, t=np.asarray(t), n=n, dtype="float64", **options)[()]
    return lazy(text, t=t, n=n, dtype="float64")


def _divisor(count: Any) -> Any:
    """Return a count as an operand: an array of some, or a number in float64.

    A float of Python would have the type of the result.
    """
    return count if isinstance(count, Array) or shape_of(count) else literal(count, np.float64)


def _at_least_0(text: str) -> str:
    """Return an expression that is 0 where a text is negative, and NaN where that is NaN."""
    return f"{text} < 0 ? 0 : {text}"
