"""Items by their indices, along an axis."""

from typing import Any, Unpack

import numpy as np

from ._arrays import as_array, beside, item_dtype
from ._axes import axis_number, items_of
from ._calls import primitive
from ._core import Lazy, call, reduce
from ._lazy import lazy
from ._options import Placement, without_workspace
from ._strides import broadcast

MODES = {"raise": 0, "wrap": 1, "clip": 2}


def places_of(items: Any, indices: Any, stream: Any) -> Any:
    """Return indices as an array beside items; an empty list, of no type yet, is of integers."""
    places = as_array(beside(items, indices, stream))
    places = np.asarray(places) if isinstance(places, np.generic) else places
    empty = isinstance(indices, list | tuple) and not places.size
    return places.astype("int64") if empty else places


def check_mode(mode: Any) -> None:
    """Raise ValueError for a mode that is not there."""
    if mode not in MODES:
        raise ValueError(f"mode is {mode!r}: expected 'raise', 'wrap' or 'clip'")


@primitive(workspace=None)
def take(x, /, indices, axis=None, out=None, mode="raise", **placement: Unpack[Placement]) -> Any:
    """Take items by their indices, as numpy.take does: ``x[indices]`` of an array taken flat.

    Parameters
    ----------
    x : array_like
        Array of any number of dimensions.
    indices : array_like or Lazy
        Integers, of any number of dimensions; negative ones count from the end.
    axis : int, optional
        Axis along which to take; by default `x` is taken flat.
    out : array, optional
        Array for the result, of its shape and of the type of `x`. It must not overlap the inputs.
    mode : {"raise", "wrap", "clip"}
        "raise" looks at all indices first, and waits for a device that has them; "wrap" takes them
        modulo the number of items, "clip" takes the nearest, so that negative ones are 0.

    Returns
    -------
    numpy.ndarray, cubc.Array or out
        Items; the shape of `indices` takes the place of the axis.

    Raises
    ------
    IndexError
        For an index beyond the items with "raise"; for any index if there are no items.
    TypeError
        For indices that are no integers.
    ValueError
        For an axis that is not there, or another `mode`.

    Examples
    --------
    >>> print(cubc.take(np.array([3.0, 1.0, 2.0]), np.array([2, 0])))
    [2. 3.]
    """
    items = as_array(x)
    places = indices
    if not isinstance(places, Lazy):
        places = places_of(items, indices, placement.get("stream"))
    shape = tuple(items.shape)
    if axis is None:
        shape, number = (items_of(shape),), 0
    else:
        number = axis_number(axis, len(shape) or 1)
        shape = shape or (1,)
    check_mode(mode)
    places = checked_indices("take", places, shape, number, mode, placement)
    return taken(items, places, shape, number, mode, out, placement)


def taken(items, places, shape, number, mode, out, placement: Placement) -> Any:
    """Return the items of an array of a shape by indices along an axis that were checked."""
    result = (*shape[:number], *tuple(places.shape), *shape[number + 1 :])
    fields = {
        "in": items,
        "indices": places,
        "length": shape[number],
        "columns": items_of(shape[number + 1 :]),
        "mode": MODES[mode],
        "out": ("in", result, out),
    }
    return call("take", fields, **placement)[0]


@primitive(workspace=None)
def take_along_axis(x, /, indices, axis=-1, **placement: Unpack[Placement]) -> Any:
    """Take from each line along an axis its own items, as numpy.take_along_axis does.

    Parameters
    ----------
    x : array_like
        Array of one dimension or more.
    indices : array_like
        Integers, of the shape of `x` but for the axis; what `argsort` returns. Other extents may be
        1 as well. They are checked as by `take`.
    axis : int or None
        Axis along which to take; None takes `x` flat.

    Returns
    -------
    numpy.ndarray or cubc.Array
        Array of the shape of `indices`.

    Raises
    ------
    IndexError
        For an index beyond the axis, or indices that are no integers.
    ValueError
        For an axis that is not there; for shapes that do not go together.

    Examples
    --------
    >>> print(cubc.take_along_axis(np.array([3.0, 1.0, 2.0]), np.array([2, 0]), 0))
    [2. 3.]
    """
    items = as_array(x)
    places = as_array(beside(items, indices, placement.get("stream")))
    if item_dtype(places).kind not in "iu":
        raise IndexError("the indices are no integers")
    shape = tuple(items.shape)
    if axis is None:
        shape, axis = (items_of(shape),), 0
    number = axis_number(axis, len(shape))
    lines, of = shapes_along(shape, tuple(places.shape), number)
    if lines != shape or of != tuple(places.shape):
        stream = placement.get("stream")
        items, places = broadcast(items, lines, stream), broadcast(places, of, stream)
        shape = lines
    places = checked_indices("take_along_axis", places, shape, number, "raise", placement)
    fields = {
        "in": items,
        "indices": places,
        "length": shape[number],
        "columns": items_of(shape[number + 1 :]),
        "along": 1,
        "out": ("in", of, None),
    }
    return call("take", fields, **placement)[0]


def shapes_along(
    shape: tuple[int, ...], indices: tuple[int, ...], axis: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shapes of an array and of indices along an axis with the other axes alike.

    Those are broadcast; ValueError where they are not of one shape then.
    """
    if len(indices) != len(shape):
        raise ValueError(f"the indices have {len(indices)} dimensions and the array {len(shape)}")
    others = np.broadcast_shapes(*(s[:axis] + s[axis + 1 :] for s in (shape, indices)))
    first, second = ((*others[:axis], s[axis], *others[axis:]) for s in (shape, indices))
    return first, second


def checked_indices(function, places, shape, axis, mode, placement: Placement) -> Any:
    """Return indices as kernels take them; raise IndexError for those that are not there."""
    length = shape[axis]
    if not items_of(places.shape):
        return places
    if not length:
        if mode != "raise" and not items_of((*shape[:axis], *shape[axis + 1 :])):
            return places
        raise IndexError(f"{function}() takes no items from an axis without any")
    kind = item_dtype(places).kind
    if mode != "raise" and item_dtype(places) == np.uint64:  # deterministic scatters take int64
        text = (
            "k % static_cast<u64>(n)" if mode == "wrap" else "k < static_cast<u64>(n) ? k : n - 1"
        )
        return lazy(text, k=places, n=length, dtype="int64")
    if mode != "raise" or kind not in "iub":
        return places
    if isinstance(places, np.ndarray):
        least, most = int(places.min()), int(places.max())
        beyond: Any = least if least < -length else most
        wrong = not -length <= beyond < length
    else:
        beyond = None  # it stays on the device
        text = "static_cast<i64>(k) < -n || static_cast<i64>(k) >= n"
        if kind == "u":
            text = "static_cast<u64>(k) >= static_cast<u64>(n)"
        test = lazy(text, k=places, n=length, dtype=bool)
        wrong = bool(reduce(test, "any", **without_workspace(placement)))
    if wrong:
        what = "an index" if beyond is None else f"index {beyond}"
        raise IndexError(f"{what} is out of bounds for axis {axis} with size {length}")
    return places
