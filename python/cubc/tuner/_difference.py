"""Comparison of an output with the right one, item by item, on the output's device."""

from __future__ import annotations

from typing import Any

import numpy as np

import cubc

RTOL = {"float16": 1e-2, "float32": 1e-5, "float64": 1e-12}
# Equal infinities are equal, and nothing else is close to one.
_FLOATS = "x == y || (x != x && y != y) || (y - y == 0 && fabs(x - y) <= a + r * fabs(y)) ? 0 : 1"


def difference(actual: cubc.Array, expected: Any, rtol: float | None, atol: float) -> str:
    """Describe how an array differs from the expected one; "" if it does not."""
    right = expected if isinstance(expected, cubc.Array) else _like(actual, expected)
    if right.shape != actual.shape:
        return f"it has the shape {actual.shape}, expected is one of {right.shape}"
    wrong = cubc.empty(actual.shape, "uint8", device=actual.device)
    floats = actual.dtype.kind == "f"
    rtol = RTOL.get(actual.dtype.name, 0.0) if rtol is None else rtol
    if floats:
        cubc.transform(_FLOATS, x=actual, y=right, a=float(atol), r=float(rtol), out=wrong)
    else:
        cubc.transform("x != y", x=actual, y=right, out=wrong)
    count = int(cubc.reduce(wrong))
    if not count:
        return ""
    at = np.unravel_index(int(cubc.argmax(wrong)), actual.shape)
    place = ", ".join(map(str, map(int, at)))
    given, wanted = actual.numpy()[at], right.numpy()[at]
    return f"{count} of {actual.size} items differ, the first at [{place}]: {given}, not {wanted}"


def _like(actual: cubc.Array, expected: Any) -> cubc.Array:
    host = np.ascontiguousarray(expected)
    if host.dtype != actual.dtype:
        with np.errstate(all="ignore"):
            host = host.astype(actual.dtype)
    return cubc.asarray(host, device=actual.device)
