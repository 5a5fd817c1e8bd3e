"""Indices of device arrays: ``d[3]``, ``d[1:, ::2]``, ``d[mask]``, ``d[places]``, and iteration.

Items that lie together are a part of the array that shares its memory; others are gathered on the
device into a new array. No item goes to the host.
"""

import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ._arithmetic import store
from ._arrays import described, of_dlpack
from ._axes import items_of
from ._calls import unnamed
from ._core import Array, Lazy, asarray, transform
from ._lazy import lazy
from ._nulls import refuse_missing
from ._scatter import apart, scatter
from ._selections import flatnonzero, select
from ._strides import broadcast, contiguous, gathered, index_of, steps_of
from ._take import checked_indices, take, taken


@unnamed
def item_of(a: Array, index: Any) -> Any:
    """Return ``a[index]``."""
    keys = [_key(a, key) for key in (index if isinstance(index, tuple) else (index,))]
    if not any(hasattr(key, "dtype") for key in keys):
        return _part(a, keys)
    _refuse_mixed(keys)
    if len(keys) == 1 and keys[0].dtype == bool:
        return _masked(a, keys[0])
    return _taken(a, keys)


@unnamed
def set_item(a: Array, index: Any, value: Any) -> None:
    """Do ``a[index] = value``."""
    value = _own(a, value)
    keys = [_key(a, key) for key in (index if isinstance(index, tuple) else (index,))]
    arrays = [key for key in keys if hasattr(key, "dtype")]
    masked = len(keys) == 1 and arrays and arrays[0].dtype == bool
    if masked and np.ndim(value) == 0 and tuple(arrays[0].shape) == tuple(a.shape):
        kept = hasattr(value, "device") or a.dtype.kind not in "biufc"
        number = value if kept else np.asarray(value, a.dtype)
        chosen = "m ? convert<out_t>(v) : a"
        store(lazy(chosen, m=arrays[0], v=number, a=a, dtype=a.dtype), a)
        return
    if arrays:
        _refuse_mixed(keys)
        keys = keys if masked else [apart(key, a) for key in keys]
        _put(a, keys, masked, apart(value, a))
        return
    first, shape, steps = _spans(a, keys)
    if 0 in shape:
        return
    if contiguous(shape, steps):
        _write(_together(a, first, shape), value)
    else:
        flat = a.reshape(-1)
        value = apart(_broadcast(value, shape), a)
        scatter(flat, index_of(first, shape, steps), value, out=flat, mode="clip")


def _write(part: Array, value: Any) -> None:
    """Write a number or an array, which is broadcast, to items that lie together."""
    if np.ndim(value) > part.ndim and items_of(value.shape[: np.ndim(value) - part.ndim]) != 1:
        raise ValueError(f"items of the shape {value.shape} do not broadcast to {part.shape}")
    if np.ndim(value) > part.ndim:
        value = asarray(value).reshape(value.shape[np.ndim(value) - part.ndim :])
    is_number = not isinstance(value, Array | Lazy) and not np.ndim(value)
    same = is_number or tuple(value.shape) == tuple(part.shape)
    whole = {} if same else {"whole": part}  # gives its shape to a value with fewer items
    text = "value" if same else "(void(whole), value)"
    if not is_number:
        store(lazy(text, value=value, **whole), part)
    else:
        transform(text, value=value, out=part, casting="unsafe")


def _broadcast(value: Any, shape: Sequence[int]) -> Any:
    """Return a number as it is, and an array as one of a shape, flat."""
    if not np.ndim(value):
        return value
    of = asarray(value)  # a lazy input may read what is written
    return broadcast(of, shape, None).reshape(-1)


def _put(a: Array, keys: list[Any], masked: Any, value: Any) -> None:
    """Write values to the places that a mask or arrays of integers name."""
    if masked and not keys[0].ndim:
        _put(a.reshape((1, *a.shape)), [asarray(keys[0]).reshape(1)], masked, value)
        return
    if masked:
        mask = _mask_of(a, keys[0])
        rows = a.reshape(mask.size, *a.shape[mask.ndim :])
        scatter(rows, flatnonzero(mask), value, axis=0, out=rows, mode="clip")
        return
    keys = _expanded(a, keys)
    at, places, _ = _places(a, keys)
    joined = a.reshape(
        *a.shape[: at[0]], items_of(a.shape[at[0] : at[-1] + 1]), *a.shape[at[-1] + 1 :]
    )
    if len(at) == 1:
        _check(places, at[0], a.shape[at[0]])
    mode = "wrap" if len(at) == 1 else "clip"  # several have no negative ones left
    scatter(joined, places, value, axis=at[0], out=joined, mode=mode)


def _own(a: Array, value: Any) -> Any:
    """Return a value of Python or NumPy in the items' type, converted as NumPy does.

    A list becomes an array of the device. Arrays and lazy inputs are returned as they are.
    """
    refuse_missing(value)
    value = of_dlpack(a, value)
    if isinstance(value, np.ndarray) and value.ndim:
        raise ValueError(
            f"the values are in host memory and the array on {a.device}: write "
            f"cubc.asarray(values, device={a.device!r})"
        )
    kind = value.dtype.kind if isinstance(value, Array | Lazy) else ""
    if kind == "c" and a.dtype.kind != "c":
        raise TypeError("complex values do not go into real items: take their real parts")
    if not isinstance(value, int | float | complex | list | tuple | np.generic | np.ndarray):
        return value
    if a.dtype.fields:
        own = np.asarray(value, a.dtype)
        return asarray(own, device=a.device) if own.ndim else own[()]
    if a.dtype.kind not in "biufc":  # bfloat16, which NumPy does not know by itself
        is_list = isinstance(value, list | tuple)
        return asarray(value, device=a.device) if is_list else np.asarray(value)[()]
    if np.asarray(value).dtype.kind == "c" and a.dtype.kind != "c":
        raise TypeError("complex values do not go into real items: take their real parts")
    own = np.empty(np.shape(value), a.dtype)
    own[...] = value
    return asarray(own, device=a.device) if own.ndim else own.item()


def items_in_turn(a: Array) -> Iterator[Any]:
    """Return the items along the first axis, parts that share the memory."""
    if not a.ndim:
        raise TypeError("iteration over a 0-d array")
    return (a[k] for k in range(a.shape[0]))


def _key(a: Array, key: Any) -> Any:
    """Return a key as an int, slice, None, Ellipsis, or array of a device."""
    if key is None or key is Ellipsis or isinstance(key, slice | Array | Lazy):
        return key
    if isinstance(key, bool | np.bool):
        raise IndexError("an index that is True or False alone is not there: give a mask")
    if isinstance(key, list):
        refuse_missing(key)
        of = np.asarray(key, None if key else np.int64)
        return asarray(of, device=a.device)
    key = of_dlpack(a, key)
    if isinstance(key, Array):
        return key
    if hasattr(key, "__cuda_array_interface__") or hasattr(key, "__array__"):
        key = described(key)
        if hasattr(key, "__cuda_array_interface__"):
            return asarray(key)
        if np.ndim(key):
            raise IndexError(
                "an index in host memory for an array of a device: cubc.asarray(index, device="
                f"'{a.device}') moves it there"
            )
    try:
        return operator.index(key)
    except TypeError:
        raise IndexError(
            f"an index is {key!r}: expected ints, slices, None, ..., a mask or arrays of integers"
        ) from None


# ---- ints and slices -----------------------------------------------------------------------------
def _expanded(a: Array, keys: list[Any]) -> list[Any]:
    """Return keys of all axes, with full slices in the place of an ellipsis."""
    if sum(key is Ellipsis for key in keys) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    used = sum(key is not None and key is not Ellipsis for key in keys)
    if used > a.ndim:
        raise IndexError(
            f"too many indices for array: array is {a.ndim}-dimensional, but {used} were indexed"
        )
    at = next((k for k, key in enumerate(keys) if key is Ellipsis), len(keys))
    return [*keys[:at], *[slice(None)] * (a.ndim - used), *keys[at + 1 :]]


def _spans(a: Array, keys: list[Any]) -> tuple[int, list[int], list[int]]:
    """Return the first item that ints and slices name, and the extents and steps of all of them."""
    own = steps_of(a.shape)
    first, shape, steps, axis = 0, [], [], 0
    for key in _expanded(a, keys):
        if key is None:
            shape.append(1)
            steps.append(0)
            continue
        extent = a.shape[axis]
        if isinstance(key, slice):
            begin, end, step = key.indices(extent)
            shape.append(len(range(begin, end, step)))
            steps.append(own[axis] * step)
            first += begin * own[axis] if shape[-1] else 0
        else:
            if not -extent <= key < extent:
                raise IndexError(f"index {key} is out of bounds for axis {axis} with size {extent}")
            first += key % extent * own[axis]
        axis += 1
    return first, shape, steps


def _together(a: Array, first: int, shape: Sequence[int]) -> Array:
    """Return items that lie together, in the array's memory."""
    return a.reshape(-1)[first : first + items_of(tuple(shape))].reshape(tuple(shape))


def _part(a: Array, keys: list[Any]) -> Array:
    """Return what ints and slices name."""
    first, shape, steps = _spans(a, keys)
    if contiguous(shape, steps):
        return _together(a, first, shape)
    return gathered(a.reshape(-1), first, shape, steps)


# ---- masks and arrays of integers ----------------------------------------------------------------
def _refuse_mixed(keys: list[Any]) -> None:
    """Refuse combinations that are not there, and say what to write."""
    arrays = [key for key in keys if hasattr(key, "dtype")]
    for key in arrays:
        if key.dtype != bool and key.dtype.kind not in "iu":
            raise IndexError(
                f"an index has the dtype {key.dtype}: expected integers, or a mask of bool"
            )
    masks = [key for key in arrays if key.dtype == bool]
    if masks and len(keys) > 1:
        raise IndexError(
            "a mask is the only index: write d[mask][...], or indices by cubc.nonzero(mask)"
        )
    others = [key for key in keys if not hasattr(key, "dtype") and key is not Ellipsis]
    if any(not isinstance(key, slice) or key != slice(None) for key in others):
        raise IndexError(
            "an array of indices goes with full slices, as in d[:, places]: take a part before or "
            "behind, as in d[1:][places]"
        )


def _mask_of(a: Array, mask: Any) -> Any:
    """Return a mask; IndexError unless it has the array's shape, or that of its first axes."""
    if tuple(mask.shape) != tuple(a.shape[: mask.ndim]) or not mask.ndim:
        raise IndexError(
            f"a mask has the shape {tuple(mask.shape)} and the array {tuple(a.shape)}: expected "
            "that of the array, or of its first axes"
        )
    return mask


def _masked(a: Array, mask: Any) -> Any:
    if not mask.ndim:  # all or nothing, along a new axis
        rows = asarray(mask).reshape(1)
        return _masked(a.reshape((1, *a.shape)), rows)
    mask = _mask_of(a, mask)
    if mask.ndim == a.ndim:
        return select(a, mask)
    rows = a.reshape(mask.size, *a.shape[mask.ndim :])
    return take(rows, flatnonzero(mask), 0)


def _taken(a: Array, keys: list[Any]) -> Any:
    """Return items by arrays of indices, which are along axes that lie together."""
    keys = _expanded(a, keys)
    at, places, shape = _places(a, keys)
    if len(at) == 1:  # checked here, so that the error is of the index and not of take()
        _check(places, at[0], a.shape[at[0]])
        return taken(a, places, a.shape, at[0], "raise", None, {})
    joined = a.reshape(
        *a.shape[: at[0]], items_of(a.shape[at[0] : at[-1] + 1]), *a.shape[at[-1] + 1 :]
    )
    made = take(joined, places, at[0], mode="clip")
    return made.reshape(*a.shape[: at[0]], *shape, *a.shape[at[-1] + 1 :])


def _places(a: Array, keys: list[Any]) -> tuple[list[int], Any, tuple[int, ...]]:
    """Return the axes of arrays of indices, their places in these axes as one, and their shape.

    Several arrays are checked, and their places count from the front.
    """
    at = [axis for axis, key in enumerate(keys) if hasattr(key, "dtype")]
    if len(at) == 1:
        return at, keys[at[0]], tuple(keys[at[0]].shape)
    if at != list(range(at[0], at[-1] + 1)):
        raise IndexError("arrays of indices are for axes side by side: d[:, rows, columns]")
    try:
        shape = np.broadcast_shapes(*(tuple(keys[axis].shape) for axis in at))
    except ValueError as error:
        raise IndexError(f"the arrays of indices do not go together: {error}") from None
    flat: Any = None
    for axis in at:
        extent = a.shape[axis]
        _check(keys[axis], axis, extent)
        own = lazy("k < 0 ? k + n : k", k=keys[axis], n=extent, dtype="int64")
        text = "f * n + k" if flat is not None else "k"
        more = {} if flat is None else {"f": flat, "n": extent}
        flat = lazy(text, k=own, dtype="int64", **more)
    return at, transform(flat), shape


def _check(places: Any, axis: int, extent: int) -> None:
    checked_indices("take", places, (*[1] * axis, extent), axis, "raise", {})
