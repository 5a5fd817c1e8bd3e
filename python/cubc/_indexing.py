"""Items by their indices, and indices of items, by NumPy's names."""

from typing import Any, Unpack

import numpy as np

from ._axes import axis_number, items_of
from ._calls import as_array, beside, item_dtype, named, primitive
from ._core import Lazy, call, transform
from ._lazy import lazy
from ._options import Where, without_workspace
from ._reductions import any as any_of
from ._selections import flatnonzero
from ._sorting import argsort
from ._strides import broadcast

MODES = {"raise": 0, "wrap": 1, "clip": 2}


def places_of(items: Any, indices: Any, stream: Any) -> Any:
    """Return indices as an array beside items; an empty list, of no type yet, is of integers."""
    empty = isinstance(indices, list | tuple) and not np.size(indices)
    places = as_array(beside(items, indices, stream))
    return places.astype("int64") if empty else places


def check_mode(mode: Any) -> None:
    """Raise ValueError for a mode that is not there."""
    if mode not in MODES:
        raise ValueError(f"mode is {mode!r}: expected 'raise', 'wrap' or 'clip'")


@primitive(workspace=None)
def take(x, indices, /, axis=None, out=None, mode="raise", **where: Unpack[Where]) -> Any:
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
        places = places_of(items, indices, where.get("stream"))
    shape = tuple(items.shape)
    if axis is None:
        shape, number = (items_of(shape),), 0
    else:
        number = axis_number(axis, len(shape) or 1)
        shape = shape or (1,)
    check_mode(mode)
    check_indices("take", places, shape, number, mode, where)
    result = (*shape[:number], *tuple(places.shape), *shape[number + 1 :])
    fields = {
        "in": items,
        "indices": places,
        "length": shape[number],
        "columns": items_of(shape[number + 1 :]),
        "mode": MODES[mode],
        "out": ("in", result, out),
    }
    return call("take", fields, **where)[0]


@primitive(workspace=None)
def take_along_axis(x, indices, /, axis=-1, **where: Unpack[Where]) -> Any:
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
    places = as_array(beside(items, indices, where.get("stream")))
    if item_dtype(places).kind not in "iu":
        raise IndexError("the indices are no integers")
    shape, of = tuple(items.shape), tuple(places.shape)
    if axis is None:
        shape, axis = (items_of(shape),), 0
    number = axis_number(axis, len(shape))
    if len(of) != len(shape):
        raise ValueError(f"the indices have {len(of)} dimensions and the array {len(shape)}")
    others, theirs = (s[:number] + s[number + 1 :] for s in (shape, of))
    if others != theirs:
        both = np.broadcast_shapes(others, theirs)
        shape, of = ((*both[:number], s[number], *both[number:]) for s in (shape, of))
        items, places = broadcast(items, shape), broadcast(places, of)
    check_indices("take_along_axis", places, shape, number, "raise", where)
    fields = {
        "in": items,
        "indices": places,
        "length": shape[number],
        "columns": items_of(shape[number + 1 :]),
        "along": 1,
        "out": ("in", of, None),
    }
    return call("take", fields, **where)[0]


def check_indices(function, places, shape, axis, mode, where: Where) -> None:
    """Raise IndexError for indices that are not there."""
    length = shape[axis]
    if not items_of(places.shape):
        return
    if not length:
        if mode != "raise" and not items_of((*shape[:axis], *shape[axis + 1 :])):
            return
        raise IndexError(f"{function}() takes no items from an axis without any")
    if mode != "raise" or item_dtype(places).kind not in "iu":
        return
    if isinstance(places, np.ndarray):
        least, most = int(places.min()), int(places.max())
        beyond: Any = least if least < -length else most
        wrong = not -length <= beyond < length
    else:
        beyond = "in device memory"
        text = "static_cast<i64>(k) < -n || static_cast<i64>(k) >= n"
        test = lazy(text, k=places, n=length, dtype=bool)
        wrong = bool(any_of(test, **without_workspace(where)))
    if wrong:
        raise IndexError(f"index {beyond} is out of bounds for axis {axis} with size {length}")


@named
def where(condition, x=None, y=None, /, *, stream=None, device=None) -> Any:
    """Choose items of `x` where a condition is true, else of `y`, as numpy.where does.

    Parameters
    ----------
    condition : array_like
        Items that are not 0 are true.
    x, y : array_like or number, optional
        Items to choose from; the three are broadcast. Without both the call is `nonzero`.
    stream, device
        As for `transform`.

    Returns
    -------
    array
        Array of the type that `x` and `y` have together; or the tuple of `nonzero`.

    Raises
    ------
    TypeError, ValueError
        As `transform`; if one of `x` and `y` is missing.
    OverflowError
        For an int that the other's type cannot hold.

    Examples
    --------
    >>> print(cubc.where(np.array([True, False]), np.array([1.0, 2.0]), np.array([3.0, 4.0])))
    [1. 4.]
    """
    if x is None and y is None:
        return nonzero(condition, stream=stream, device=device)
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    condition = as_array(condition)
    x, y = (z if np.isscalar(z) else as_array(z) for z in (x, y))
    types = [z.dtype for z in (x, y) if hasattr(z, "dtype")]
    for z in (x, y):
        if type(z) is int and len(types) == 1 and np.dtype(types[0]).kind in "iu":
            np.dtype(types[0]).type(z)  # raises OverflowError
    if len(types) == 1 and any(isinstance(z, complex) for z in (x, y)):
        types.append(np.result_type(*types, 1j))
    numbers = not any(isinstance(z, Lazy) or np.ndim(z) for z in (x, y))
    if numbers:  # of which the condition would decide the type
        types = [z.dtype if hasattr(z, "dtype") else z for z in (x, y)]
    text = "convert<bool>(c) ? x : y"
    if numbers or (len(types) == 2 and str(types[0]) != str(types[1])):
        text = "convert<bool>(c) ? convert<out_t>(x) : convert<out_t>(y)"
    dtype = np.result_type(*types) if "out_t" in text else None
    how = {"dtype": dtype, "casting": "unsafe", "stream": stream, "device": device}
    return transform(text, c=condition, x=x, y=y, **how)


@named
def nonzero(x, /, *, stream=None, device=None) -> tuple[Any, ...]:
    """Find the items that are not 0, as numpy.nonzero: an array of indices for each dimension.

    Parameters
    ----------
    x : array_like
        Array of one dimension or more.
    stream, device
        As for `flatnonzero`, which finds the places.

    Returns
    -------
    tuple of array
        Indices, int64, along each dimension, in order.

    Raises
    ------
    ValueError
        For an array without dimensions.
    TypeError
        As `flatnonzero`.

    Examples
    --------
    >>> print(*cubc.nonzero(np.array([0.0, 3.0, 0.0, 4.0])))
    [1 3]
    """
    x = as_array(x)
    shape = tuple(x.shape)
    if not shape:
        raise ValueError(
            "nonzero(): Calling nonzero on 0d arrays is not allowed: give x.reshape(1)"
        )
    flat = flatnonzero(x, stream=stream, device=device)
    if len(shape) == 1:
        return (flat,)
    of = {"flat": flat, "stream": stream, "device": device, "dtype": "int64"}
    steps = [items_of(shape[d + 1 :]) for d in range(len(shape))]
    return tuple(
        transform("flat / step % extent", step=max(step, 1), extent=max(extent, 1), **of)
        for step, extent in zip(steps, shape, strict=True)
    )


@named
def lexsort(keys, /, axis=-1, *, stream=None, device=None) -> Any:
    """Find the indices that sort by several keys, the last one first, as numpy.lexsort does.

    Parameters
    ----------
    keys : sequence of array_like, or an array
        Keys of one shape; of an array its items along the first axis.
    axis : int
        Axis along which to sort.
    stream, device
        As for `argsort`.

    Returns
    -------
    array
        Indices, int64, of the shape of a key.

    Raises
    ------
    TypeError
        Without keys; as `argsort`.
    ValueError
        For keys of different shapes; for an axis that is not there.

    Examples
    --------
    >>> print(cubc.lexsort((np.array([2.0, 1.0, 0.0]), np.array([1.0, 1.0, 0.0]))))
    [2 1 0]
    """
    given = [as_array(key) for key in keys]
    if not given:
        raise TypeError("lexsort() needs a key or more")
    if axis is None:
        raise TypeError("axis is None: expected an int")
    if any(tuple(key.shape) != tuple(given[0].shape) for key in given):
        raise ValueError("all keys need to be the same shape")
    if not tuple(given[0].shape):
        axis_number(axis, 1)
        return np.int64(0)
    options = {"stream": stream, "device": device}
    order = argsort(_ordered(given[0]), axis, **options)
    for key in given[1:]:
        moved = take_along_axis(key, order, axis, **options)
        order = take_along_axis(order, argsort(_ordered(moved), axis, **options), axis, **options)
    return order


def _ordered(key: Any) -> Any:
    """Return a key whose zeros are alike: sorts put -0.0 before 0.0, NumPy does not."""
    return lazy("x == 0 ? 0.0f : x", x=key, dtype=key.dtype) if "float" in str(key.dtype) else key
