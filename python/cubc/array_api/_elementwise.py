"""Element-wise functions of the array API: NumPy's ufuncs, computed on the device at once."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from .._arithmetic import compute, limits
from .._calls import named
from .._core import Array, Lazy
from .._core import asarray as on_device
from .._lazy import lazy
from ._types import computed, readable

# NumPy's ufunc of each function, operands of an example, and what comes of them.
_UFUNCS = {
    "add": ("add", "[7, -7], [2, 2]", "[9, -5]"),
    "subtract": ("subtract", "[7, -7], [2, 2]", "[5, -9]"),
    "multiply": ("multiply", "[7, -7], [2, 2]", "[14, -14]"),
    "divide": ("divide", "[1.0, 3.0], [2.0, 2.0]", "[0.5, 1.5]"),
    "floor_divide": ("floor_divide", "[7, -7], [2, 2]", "[3, -4]"),
    "remainder": ("remainder", "[7, -7], [2, 2]", "[1, 1]"),
    "negative": ("negative", "[1, -2]", "[-1, 2]"),
    "positive": ("positive", "[1, -2]", "[1, -2]"),
    "square": ("square", "[2, 3]", "[4, 9]"),
    "reciprocal": ("reciprocal", "[2.0, 4.0]", "[0.5, 0.25]"),
    "bitwise_and": ("bitwise_and", "[6, 5], [3, 3]", "[2, 1]"),
    "bitwise_or": ("bitwise_or", "[6, 5], [3, 3]", "[7, 7]"),
    "bitwise_xor": ("bitwise_xor", "[6, 5], [3, 3]", "[5, 6]"),
    "sign": ("sign", "[-5, 0, 3]", "[-1, 0, 1]"),
    "signbit": ("signbit", "[-1.0, 2.0]", "[True, False]"),
    "equal": ("equal", "[1, 2], [2, 2]", "[False, True]"),
    "not_equal": ("not_equal", "[1, 2], [2, 2]", "[True, False]"),
    "less": ("less", "[1, 2], [2, 2]", "[True, False]"),
    "less_equal": ("less_equal", "[1, 2], [2, 2]", "[True, True]"),
    "greater": ("greater", "[1, 2], [2, 2]", "[False, False]"),
    "greater_equal": ("greater_equal", "[1, 2], [2, 2]", "[False, True]"),
    "logical_and": ("logical_and", "[True, True], [True, False]", "[True, False]"),
    "logical_or": ("logical_or", "[True, True], [True, False]", "[True, True]"),
    "logical_xor": ("logical_xor", "[True, True], [True, False]", "[False, True]"),
    "logical_not": ("logical_not", "[True, False]", "[False, True]"),
    "isnan": ("isnan", "[1.0, xp.nan]", "[False, True]"),
    "isinf": ("isinf", "[1.0, xp.inf]", "[False, True]"),
    "isfinite": ("isfinite", "[1.0, xp.inf]", "[True, False]"),
    "maximum": ("maximum", "[1, 2], [2, 2]", "[2, 2]"),
    "minimum": ("minimum", "[1, 2], [2, 2]", "[1, 2]"),
    "log": ("log", "[1.0, xp.e]", "[0.0, 1.0]"),
    "log2": ("log2", "[1.0, 8.0]", "[0.0, 3.0]"),
    "log10": ("log10", "[1.0, 100.0]", "[0.0, 2.0]"),
    "sqrt": ("sqrt", "[1.0, 4.0]", "[1.0, 2.0]"),
    "floor": ("floor", "[1.5, -1.5]", "[1.0, -2.0]"),
    "ceil": ("ceil", "[1.5, -1.5]", "[2.0, -1.0]"),
    "trunc": ("trunc", "[1.5, -1.5]", "[1.0, -1.0]"),
    "hypot": ("hypot", "[3.0, 5.0], [4.0, 12.0]", "[5.0, 13.0]"),
    "copysign": ("copysign", "[1.0, 2.0], [-1.0, 1.0]", "[-1.0, 2.0]"),
    "nextafter": ("nextafter", "[0.0], [1.0]", "[5e-324]"),
    "abs": ("absolute", "[-1, 2]", "[1, 2]"),
    "bitwise_left_shift": ("left_shift", "[1, 3], [2, 1]", "[4, 6]"),
    "bitwise_right_shift": ("right_shift", "[4, 3], [2, 1]", "[1, 1]"),
    "bitwise_invert": ("invert", "[0, 5]", "[-1, -6]"),
    "conj": ("conjugate", "[1 + 2j]", "[(1-2j)]"),
    "pow": ("power", "[2, 3], [3, 2]", "[8, 9]"),
}
# The same of functions whose results are shown with four digits.
_ROUNDED = {
    "exp": ("exp", "[0.0, 1.0]", "[1.0, 2.7183]"),
    "expm1": ("expm1", "[0.0, 1.0]", "[0.0, 1.7183]"),
    "log1p": ("log1p", "[0.0, 1.0]", "[0.0, 0.6931]"),
    "sin": ("sin", "[0.0, 1.0]", "[0.0, 0.8415]"),
    "cos": ("cos", "[0.0, 1.0]", "[1.0, 0.5403]"),
    "tan": ("tan", "[0.0, 1.0]", "[0.0, 1.5574]"),
    "sinh": ("sinh", "[0.0, 1.0]", "[0.0, 1.1752]"),
    "cosh": ("cosh", "[0.0, 1.0]", "[1.0, 1.5431]"),
    "tanh": ("tanh", "[0.0, 1.0]", "[0.0, 0.7616]"),
    "logaddexp": ("logaddexp", "[0.0], [0.0]", "[0.6931]"),
    "atan2": ("arctan2", "[1.0], [1.0]", "[0.7854]"),
    "asin": ("arcsin", "[0.0, 1.0]", "[0.0, 1.5708]"),
    "acos": ("arccos", "[1.0, 0.0]", "[0.0, 1.5708]"),
    "atan": ("arctan", "[0.0, 1.0]", "[0.0, 0.7854]"),
    "asinh": ("arcsinh", "[0.0, 1.0]", "[0.0, 0.8814]"),
    "acosh": ("arccosh", "[1.0, 2.0]", "[0.0, 1.317]"),
    "atanh": ("arctanh", "[0.0, 0.5]", "[0.0, 0.5493]"),
}


def _operated(ufunc: np.ufunc, *operands: Any) -> Any:
    """Return the lazy input that a ufunc makes of operands; one of them at least is an array."""
    if not any(isinstance(x, Array | Lazy) for x in operands):
        computed(operands[0])
    made = compute(ufunc, *operands)
    if made is NotImplemented:
        wrong = next(x for x in operands if not isinstance(x, Array | Lazy))
        computed(wrong)
    return made


def evaluated(ufunc: np.ufunc, *operands: Any) -> Array:
    """Return the array that a ufunc makes of operands."""
    return on_device(_operated(ufunc, *operands))


_TEXT = """Return numpy.{ufunc} of each item, on the device.

Parameters
----------
{names} : cubc.Array, cubc.Lazy{numbers}

Raises
------
TypeError
    {no_array}, or numpy.{ufunc} takes no such type.
{shapes}
Examples
--------
>>> xp.{name}({operands}){digits}.tolist()
{result}
"""
_SHAPES = """ValueError
    If the shapes do not go together.
"""


def _documentation(name: str, ufunc: np.ufunc, operands: str, result: str) -> str:
    """Return a docstring with an example, which the tests run."""
    one = ufunc.nin == 1
    return _TEXT.format(
        ufunc=ufunc.__name__,
        names="x" if one else "x1, x2",
        numbers="" if one else " or number",
        no_array="If `x` is no array of cubc" if one else "If neither is an array of cubc",
        shapes="" if one else _SHAPES,
        name=name,
        operands=re.sub(r"\[.*?\]", r"xp.asarray(\g<0>)", operands),
        digits=".numpy().round(4)" if name in _ROUNDED else "",
        result=result,
    )


def _function(name: str, ufunc: np.ufunc, operands: str, result: str) -> Callable[..., Array]:
    def of_one(x: Any, /) -> Array:
        return evaluated(ufunc, x)

    def of_two(x1: Any, x2: Any, /) -> Array:
        return evaluated(ufunc, x1, x2)

    made = of_one if ufunc.nin == 1 else of_two
    made.__name__ = made.__qualname__ = name
    made.__doc__ = _documentation(name, ufunc, operands, result)
    return named(made)


FUNCTIONS = {
    name: _function(name, getattr(np, ufunc), *example)
    for name, (ufunc, *example) in (_UFUNCS | _ROUNDED).items()
}


def _part(name: str, x: Any) -> Array:
    x = readable(x)
    return on_device(lazy(f"{name}(x)", x=x) if x.dtype.kind == "c" else lazy("x", x=x))


@named
def real(x: Any, /) -> Array:
    """Return the real part of each item.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.

    Examples
    --------
    >>> xp.real(xp.asarray([1 + 2j, 3])).tolist()
    [1.0, 3.0]
    """
    return _part("real", x)


@named
def imag(x: Any, /) -> Array:
    """Return the imaginary part of each item, which is complex.

    Raises
    ------
    TypeError
        If `x` is no array of cubc, or not of complex numbers.

    Examples
    --------
    >>> xp.imag(xp.asarray([1 + 2j, 3])).tolist()
    [2.0, 0.0]
    """
    if readable(x).dtype.kind != "c":
        raise TypeError(f"imag() is of complex numbers, not of {x.dtype}")
    return _part("imag", x)


@named
def round(x: Any, /) -> Array:
    """Round each item to the nearest whole number; halves go to the even one.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.

    Examples
    --------
    >>> xp.round(xp.asarray([0.5, 1.5, 2.6])).tolist()
    [0.0, 2.0, 3.0]
    """
    x = readable(x)
    if x.dtype.kind in "biu":
        return computed(x).copy()
    return evaluated(np.rint, x)


@named
def clip(x: Any, /, min: Any = None, max: Any = None) -> Array:
    """Return each item, or the bound that it is beyond; a NaN stays one.

    The type is that of the items and the bounds together, as NumPy's. An int that no item is
    beyond may be outside of the type.

    Raises
    ------
    TypeError
        If `x` is no array of cubc, or a bound neither that nor a number.
    OverflowError
        If an int that all items are beyond is outside of their type.
    ValueError
        If the shapes do not go together.

    Examples
    --------
    >>> xp.clip(xp.arange(6), 1, 4).tolist()
    [1, 1, 2, 3, 4, 4]
    """
    made = readable(x)
    for ufunc, bound in limits(made.dtype, min, max):
        made = _operated(ufunc, made, bound)
    return computed(x).copy() if made is x else on_device(made)
