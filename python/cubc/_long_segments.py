"""Sorts of segments of one size: long ones are sorted one after the other, as `sort` does.

A sort of segments merges the parts of a long segment, and each round of merges reads and writes
all items. A sort by radix does that for each digit, and takes the whole device for one segment.
`benchmarks/notes/segmented_sort.md` has the lengths from which that is faster.
"""

from itertools import combinations
from typing import Any

import numpy as np

from ._calls import item_dtype
from ._core import asarray, call, device_info, empty, is_binding, transform

_LONG_ON_CPU = 65536  # least items of a segment
_LONG = {1: 1 << 20, 2: 1 << 20, 4: 1 << 20, 8: 3_000_000}  # the same on GPUs, by a key's bytes
# The same of at most _FEW segments whose keys have at most 4 bytes.
_FEW, _LONG_OF_FEW = 3, 16384
_ARRAYS = ("keys_in", "values_in", "keys_out", "values_out", "indices_out")


def sort_segments(fields: dict[str, Any], size: int | None, where: Any) -> Any:
    """Return `call("segmented_sort", fields)`.

    `size` is the items of a segment; None where offsets say that.
    """
    flat = None
    if size is not None and not is_binding() and where.get("workspace") is None:
        flat = _flat_arrays(fields, size, where)
    if not flat or size is None:
        return call("segmented_sort", fields, **where)
    for first in range(0, flat["keys_in"].shape[0], size):
        parts = {name: x[first : first + size] for name, x in flat.items()}
        _sort_part(fields, parts, first, where)
    shape = tuple(fields["keys_in"].shape)
    return [_output(fields.get(name), flat.get(name), shape) for name in _ARRAYS[2:]]


def _sort_part(
    fields: dict[str, Any], parts: dict[str, Any], first: int, where: dict[str, Any]
) -> None:
    """Sort one segment, which begins at `first`."""
    shape = (parts["keys_in"].shape[0],)
    sort = {"keys_in": parts["keys_in"], "keys_out": ("keys_in", shape, parts["keys_out"])}
    if "values_in" in parts:
        sort["values_in"] = parts["values_in"]
        sort["values_out"] = ("values_in", shape, parts["values_out"])
    indices = parts.get("indices_out")
    if indices is not None:
        sort["values_out"] = ("int64", shape, indices)
    call("sort", {**sort, "descending": fields["descending"]}, **where)
    if indices is not None and first and not fields.get("relative"):
        transform("i + first", i=indices, first=first, out=indices, **where)


def _output(asked: Any, made: Any, shape: tuple[int, ...]) -> Any:
    """Return the caller's array, or the one that was made."""
    if asked is None:
        return None
    return made.reshape(shape) if asked[2] is None else asked[2]


def _flat_arrays(fields: dict[str, Any], size: int, where: dict[str, Any]) -> Any:
    """Return all arrays flat, by their names; None where one call sorts faster, or refuses them."""
    keys, flat = fields["keys_in"], {}
    try:
        on = device_of(keys, where)
        if not _is_long(item_dtype(keys).itemsize, fields["segments"], size, on == "cpu"):
            return None
        for name in _ARRAYS:
            if name not in fields:
                continue
            array, dtype = fields[name], None
            if name.endswith("_out"):
                type, _, array = fields[name]
                dtype = item_dtype(fields[type]) if type in fields else np.dtype(type)
            flat[name] = _flat(array, keys, dtype, on, where)
    except (AttributeError, TypeError, ValueError):
        return None  # the one call says what is wrong with its arguments
    return None if any(x is None for x in flat.values()) or _overlap(flat) else flat


def _is_long(key_bytes: int, count: int, size: int, on_cpu: bool) -> bool:
    if on_cpu:
        return size >= _LONG_ON_CPU
    few = count <= _FEW and key_bytes <= 4 and size >= _LONG_OF_FEW
    return few or size >= _LONG.get(key_bytes, size + 1)


def device_of(keys: Any, where: dict[str, Any]) -> str:
    """Return the name of the device that a call on an array works on."""
    if isinstance(keys, np.ndarray):
        return str(device_info(where.get("device"))["name"])
    return str(asarray(keys).device)


def _flat(x: Any, keys: Any, dtype: Any, on: str, where: dict[str, Any]) -> Any:
    """Return an array as one of one dimension; None if that were a copy, or if it does not fit.

    A new one beside the keys for None.
    """
    in_host = isinstance(keys, np.ndarray)
    if x is None and in_host:
        return np.empty(keys.size, dtype)
    if x is None:
        return empty((asarray(keys).size,), dtype, device=on, stream=where.get("stream"))
    if tuple(x.shape) != tuple(keys.shape) or (dtype is not None and item_dtype(x) != dtype):
        return None
    if not isinstance(x, np.ndarray):
        return None if in_host else asarray(x).reshape(-1)
    fits = in_host and x.flags.c_contiguous and (x.flags.writeable or dtype is None)
    return x.reshape(-1) if fits else None


def _overlap(flat: dict[str, Any]) -> bool:
    """Tell if an output overlaps another array, but for an input in its own place."""
    spans = {}
    for name, x in flat.items():
        begin = x.__array_interface__["data"][0] if isinstance(x, np.ndarray) else x.ptr
        spans[name] = begin, begin + x.nbytes
    return any(
        spans[a][0] < spans[b][1]
        and spans[b][0] < spans[a][1]
        and not (spans[a] == spans[b] and a.removesuffix("_in") == b.removesuffix("_out"))
        for a, b in combinations(spans, 2)
        if b.endswith("_out")
    )
