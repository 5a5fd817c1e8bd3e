"""Element-wise functions of the array API: NumPy's ufuncs, computed on the device at once."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._arithmetic import compute
from .._core import Array, Lazy
from .._core import asarray as on_device
from .._lazy import lazy
from ._types import computed

_UFUNCS = {
    **{name: name for name in ("add", "subtract", "multiply", "divide", "floor_divide")},
    **{name: name for name in ("remainder", "negative", "positive", "square", "reciprocal")},
    **{name: name for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "sign", "signbit")},
    **{name: name for name in ("equal", "not_equal", "less", "less_equal", "greater")},
    **{name: name for name in ("greater_equal", "logical_and", "logical_or", "logical_xor")},
    **{name: name for name in ("logical_not", "isnan", "isinf", "isfinite", "maximum", "minimum")},
    **{name: name for name in ("exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "sin")},
    **{name: name for name in ("cos", "tan", "sinh", "cosh", "tanh", "floor", "ceil", "trunc")},
    **{name: name for name in ("hypot", "copysign", "nextafter", "logaddexp")},
    "abs": "absolute",
    "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
    "bitwise_invert": "invert",
    "conj": "conjugate",
    "pow": "power",
    "atan2": "arctan2",
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
}


def evaluated(ufunc: np.ufunc, *operands: Any) -> Array:
    """Return what a ufunc makes of operands; one of them at least is an array."""
    if not any(isinstance(x, Array | Lazy) for x in operands):
        computed(operands[0])
    made = compute(ufunc, *operands)
    if made is NotImplemented:
        wrong = next(x for x in operands if not isinstance(x, Array | Lazy))
        computed(wrong)
    return on_device(made)


def _function(name: str, ufunc: np.ufunc) -> Callable[..., Array]:
    def of_one(x: Any, /) -> Array:
        return evaluated(ufunc, x)

    def of_two(x1: Any, x2: Any, /) -> Array:
        return evaluated(ufunc, x1, x2)

    made = of_one if ufunc.nin == 1 else of_two
    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"Return numpy.{ufunc.__name__} of each item, on the device."
    return made


FUNCTIONS = {name: _function(name, getattr(np, ufunc)) for name, ufunc in _UFUNCS.items()}


def _part(name: str, x: Any) -> Array:
    x = x if isinstance(x, Lazy) else computed(x)
    return on_device(lazy(f"{name}(x)", x=x) if x.dtype.kind == "c" else lazy("x", x=x))


def real(x: Any, /) -> Array:
    """Return the real part of each item."""
    return _part("real", x)


def imag(x: Any, /) -> Array:
    """Return the imaginary part of each item, which is complex."""
    if x.dtype.kind != "c":
        raise TypeError(f"imag() is of complex numbers, not of {x.dtype}")
    return _part("imag", x)


def round_(x: Any, /) -> Array:
    """Round each item to the nearest whole number; halves go to the even one."""
    x = x if isinstance(x, Lazy) else computed(x)
    if x.dtype.kind in "biu":
        return computed(x).copy()
    return evaluated(np.rint, x)


round_.__name__ = round_.__qualname__ = "round"


def clip(x: Any, /, min: Any = None, max: Any = None) -> Array:
    """Return each item, or the bound that it is beyond; a NaN stays one."""
    made = x if isinstance(x, Lazy) else computed(x)
    dtype = made.dtype
    for ufunc, bound in ((np.maximum, min), (np.minimum, max)):
        made = made if bound is None else compute(ufunc, made, bound)
    made = lazy("x", x=made, dtype=dtype) if made.dtype != dtype else made
    return computed(x).copy() if made is x else on_device(made)
