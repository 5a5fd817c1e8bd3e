"""Reductions of segments by NumPy."""

from itertools import pairwise

import inputs
import numpy as np

EMPTY = {"sum": 0, "prod": 1, "argmin": -1, "argmax": -1}


def empty_value(op, dtype):
    """Result of a segment of no items."""
    if op in EMPTY:
        return EMPTY[op]
    if dtype.kind in "iu":
        return np.iinfo(dtype).max if op == "min" else np.iinfo(dtype).min
    return np.inf if op == "min" else -np.inf


def reference(x, offsets, op):
    widened = np.issubdtype(x.dtype, np.integer) and op in ("sum", "prod")
    some = getattr(np, op)(inputs.exact(x[:1]))
    dtype = np.dtype(np.int64) if op in ("argmin", "argmax") else x.dtype
    out = np.empty(len(offsets) - 1, some.dtype if widened else dtype)
    items = inputs.exact(x)
    for s, (begin, end) in enumerate(pairwise(offsets)):
        part = items[begin:end]
        out[s] = getattr(np, op)(part) if part.size else empty_value(op, x.dtype)
    return out
