"""Values of any size that go where their keys go.

The kernels move values of 1, 2, 4, 8 and 16 bytes. In the place of all others the indices of the
keys are moved, by which the values are taken then.
"""

from typing import Any

import numpy as np

from ._arrays import as_array, is_of_numpy, item_dtype, overlap
from ._axes import items_of
from ._core import Lazy, asarray, call, transform
from ._options import without_workspace
from ._take import take

MOVED = (1, 2, 4, 8, 16)  # bytes of values that the kernels move
_KNOWN_BYTES = 64  # of an item of an array in a device's memory


def is_moved(values: Any) -> bool:
    """Tell if the kernels move these values themselves; they say what is wrong with no array."""
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "biufc" and values.ndim == 1:
        return dtype.itemsize in MOVED
    if isinstance(values, Lazy):
        return values.dtype.itemsize * items_of(values.shape[1:]) in MOVED
    x = as_array(values)
    dtype = item_dtype(x)
    size = dtype.itemsize * items_of(tuple(x.shape[1:]))
    if dtype.kind in "SU" or (dtype.kind == "V" and dtype.name != "bfloat16"):
        return dtype.hasobject or (bool(dtype.fields) and size in MOVED)
    return not x.shape or size in MOVED or dtype.kind not in "biufcV" or not size


def call_with_values(algorithm: str, fields: dict[str, Any], **placement: Any) -> Any:
    """Return `call(algorithm, fields)`, whose values have any size."""
    values, keys = fields.get("values_in"), fields["keys_in"]
    if values is None or is_moved(values):
        return call(algorithm, fields, **placement)
    keys, values, indices = with_indices(keys, values, placement)
    shape, out = fields["values_out"][1:]
    shape = shape if isinstance(shape, str) else shape[:1]  # one index for a row
    fields = {**fields, "keys_in": keys, "values_in": indices}
    done = call(algorithm, {**fields, "values_out": ("values_in", shape, None)}, **placement)
    return done[0], take_values(values, done[1], out, placement), *done[2:]


def with_indices(keys: Any, values: Any, placement: Any) -> tuple[Any, Any, Any]:
    """Return keys and values in memory, and the indices of the keys beside them."""
    options = without_workspace(placement)
    keys, values = (
        x.array(**options) if isinstance(x, Lazy) else as_array(x) for x in (keys, values)
    )
    n = items_of(tuple(keys.shape))
    if not tuple(values.shape):
        raise ValueError(f"the values have no dimensions: one is needed for each of {n} keys")
    if n != values.shape[0]:
        raise ValueError(
            f"there are {values.shape[0]} values and {n} keys: one is needed for each key"
        )
    return keys, values, indices_beside(keys, 0, n, placement)


def indices_beside(x: Any, first: int, n: int, placement: Any) -> Any:
    """Return the numbers from `first` on, where an array is."""
    if isinstance(x, np.ndarray):
        return np.arange(first, first + n)
    place = asarray(x).device
    stream = placement.get("stream")
    return transform("i + first", first=first, size=n, dtype="i8", device=place, stream=stream)


def take_values(values: Any, order: Any, out: Any, placement: Any) -> Any:
    """Return the values of these indices; `out` may be the values."""
    rows = _as_rows(values)
    if not items_of(tuple(values.shape)):
        return values[: order.shape[0]] if out is None else out
    if rows is values and (out is None or not overlap(values, out)):
        return take(rows, order, 0, out, "clip", **without_workspace(placement))
    made = take(rows, order, 0, None, "clip", **without_workspace(placement))
    if rows is not values:
        made = made.reshape(-1).view(values.dtype).reshape(made.shape[0], *values.shape[1:])
    if out is None:
        return made
    if not is_of_numpy(made):
        return transform("x", x=made, out=out, dtype=made.dtype, stream=placement.get("stream"))
    if not isinstance(out, np.ndarray) or out.dtype != made.dtype:
        raise TypeError(f"out has {getattr(out, 'dtype', type(out))}, expected {made.dtype}")
    if out.shape != made.shape:
        raise ValueError(f"out has the shape {out.shape}, expected {made.shape}")
    out[...] = made
    return out


def _as_rows(values: Any) -> Any:
    """Return items that no device has, of host memory, as rows of words."""
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "VSU":
        return values
    if values.dtype.fields and values.dtype.itemsize <= _KNOWN_BYTES:
        return values
    if values.dtype.name == "bfloat16":
        return values
    size = values.dtype.itemsize * items_of(values.shape[1:])
    if not size:
        return values
    word = next(word for word in (8, 4, 2, 1) if size % word == 0)
    flat = np.ascontiguousarray(values).view(np.uint8).reshape(-1)
    return flat.view(f"u{word}").reshape(values.shape[0], size // word)
