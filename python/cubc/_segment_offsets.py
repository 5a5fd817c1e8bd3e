"""Offsets of segments: how many segments there are, and offsets of a type that kernels have."""

from typing import Any

import numpy as np

from ._arrays import as_array, item_dtype
from ._axes import items_of
from ._calls import whole
from ._core import Lazy
from ._lazy import lazy


def segments_of(function: str, x: Any, offsets: Any, size: int | None) -> tuple[Any, int]:
    """Return the offsets and the number of segments."""
    if (offsets is None) == (size is None):
        raise ValueError(f"{function}() takes offsets or segment_size=, one of the two")
    if size is not None:
        size, items = whole(function, "segment_size", size), items_of(tuple(x.shape))
        if size < 1 or items % size:
            raise ValueError(
                f"{function}(): {items} items are no multiple of segment_size={size}; "
                "give a divisor of it, or offsets for segments of different lengths"
            )
        return None, items // size
    offsets = as_array(offsets)
    if offsets.ndim != 1 or offsets.shape[0] == 0:
        raise ValueError(
            f"{function}(): offsets have one dimension, and one item more than there are segments, "
            f"not the shape {tuple(offsets.shape)}"
        )
    if isinstance(offsets, np.ndarray) and offsets.dtype.kind in "iu":
        falls = offsets[1:] < offsets[:-1]
        if falls.any():
            k = int(falls.argmax())
            raise ValueError(
                f"{function}(): offsets must not fall: {offsets[k]} is before {offsets[k + 1]}, at "
                f"{k + 1}"
            )
    return known_offsets(function, offsets), offsets.shape[0] - 1


# An offset, of which unsigned ones of 64 bits may be beyond the signed ones.
_OFFSET = "static_cast<i64>(k < 0x7fffffffffffffffull ? k : 0x7fffffffffffffffull)"


def known_offsets(function: str, offsets: Any) -> Any:
    """Return offsets of a type that the kernels have; others are converted as they are read."""
    dtype = np.dtype(item_dtype(offsets))
    if isinstance(offsets, Lazy) or dtype in ("int32", "int64"):
        return offsets
    if dtype.kind not in "iu":
        raise TypeError(f"{function}(): offsets are integers, not {dtype}")
    return lazy("k" if dtype != "uint64" else _OFFSET, k=offsets, dtype="int64")
