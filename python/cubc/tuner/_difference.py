"""Comparison of an output with the right one, item by item, on the output's device."""

from __future__ import annotations

from typing import Any

import numpy as np

import cubc
from cubc._arrays import as_array, item_dtype

RTOL = {
    "float16": 1e-2,
    "bfloat16": 5e-2,
    "float32": 1e-5,
    "float64": 1e-12,
    "complex64": 1e-5,
    "complex128": 1e-12,
}
# Equal infinities are equal, and nothing else is close to one.
_FLOATS = "x == y || (x != x && y != y) || (y - y == 0 && fabs(x - y) <= a + r * fabs(y)) ? 0 : 1"
_COMPLEX = (
    "x == y || (x != x && y != y) || (abs(y - y) == 0 && abs(x - y) <= a + r * abs(y)) ? 0 : 1"
)
# A difference of integers of the same sign is exact in 64 bits, whatever their types.
_APART = (
    "(x < 0) != (y < 0) ? fabs((double)x - (double)y)"
    " : (double)((u64)x < (u64)y ? (u64)y - (u64)x : (u64)x - (u64)y)"
)
_INTEGERS = f"({_APART}) <= a + r * fabs((double)y) ? 0 : 1"


def difference(actual: cubc.Array, expected: Any, rtol: float | None, atol: float) -> str:
    """Describe how an array differs from the expected one; "" if it does not."""
    right = cubc.asarray(_like(actual, expected), device=actual.device)
    if right.shape != actual.shape:
        return f"it has the shape {actual.shape}, expected is one of {right.shape}"
    wrong = _wrong(actual, right, rtol, atol)
    count = int(cubc.reduce(wrong))
    if not count:
        return ""
    at = np.unravel_index(int(cubc.argmax(wrong)), actual.shape)
    place = ", ".join(map(str, map(int, at)))
    given, wanted = actual.numpy()[at], right.numpy()[at]
    return f"{count} of {actual.size} items differ, the first at [{place}]: {given}, not {wanted}"


def _wrong(actual: cubc.Array, right: cubc.Array, rtol: float | None, atol: float) -> cubc.Array:
    """1 for each item that differs; of structs for each that differs in a field."""
    if not actual.dtype.fields:
        wrong = cubc.empty(actual.shape, "uint8", device=actual.device)
        rtol = RTOL.get(actual.dtype.name, 0.0) if rtol is None else rtol
        text = {"f": _FLOATS, "c": _COMPLEX}.get(_kind(right), _INTEGERS)
        cubc.transform(text, x=actual, y=right, a=float(atol), r=float(rtol), out=wrong)
        return wrong
    both, differ = (actual.numpy(), right.numpy()), np.zeros(actual.shape, np.uint8)
    for name in actual.dtype.fields if actual.size else ():
        fields = (np.ascontiguousarray(items[name]) for items in both)
        x, y = (cubc.asarray(field, device=actual.device) for field in fields)
        each = _wrong(x, y, rtol, atol).numpy()  # a field may be an array
        differ |= each.reshape(*actual.shape, -1).max(axis=-1)
    return cubc.asarray(differ, device=actual.device)


def _like(actual: cubc.Array, expected: Any) -> Any:
    """Return expected contents in a type in which the output can be compared with them.

    They are rounded to that of an output of floats or of complex numbers. Integers stay as they
    are: another type may not hold them.
    """
    if actual.dtype.fields:
        is_list = isinstance(expected, list | tuple)
        of = np.asarray(expected, actual.dtype) if is_list else as_array(expected)
        if of.dtype != actual.dtype:
            raise TypeError(f"the output has items of {actual.dtype}, expected are {of.dtype}")
        return of
    of = as_array(expected)
    kind, own = _kind(of), _kind(actual)
    if kind not in "biufc":
        raise TypeError(f"expected contents of the type {of.dtype} are no numbers")
    if kind == "c" and own != "c":
        raise TypeError("expected contents of a real output are complex: take their real parts")
    to = actual.dtype if own in "fc" else np.dtype("float64") if kind == "f" else of.dtype
    with np.errstate(all="ignore"):
        return of if of.dtype == to else of.astype(to)


def _kind(of: Any) -> str:
    return "f" if item_dtype(of).name == "bfloat16" else item_dtype(of).kind
