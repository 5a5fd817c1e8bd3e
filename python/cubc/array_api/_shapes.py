"""Manipulation of the array API: a change of shape shares the memory, other items are gathered."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _concatenate, _runs
from .._axes import axis_number, axis_numbers
from .._calls import named
from .._core import Array
from .._strides import broadcast, gathered, steps_of
from ._types import computed


@named
def broadcast_to(x: Any, /, shape: tuple[int, ...]) -> Array:
    """Return an array of a shape, in which items are repeated along axes of one.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    ValueError
        If the items do not go into the shape.

    Examples
    --------
    >>> xp.broadcast_to(xp.asarray([1, 2]), (2, 2)).tolist()
    [[1, 2], [1, 2]]
    """
    return broadcast(x, tuple(map(int, shape)), None)


@named
def broadcast_arrays(*arrays: Any) -> list[Array]:
    """Return arrays of the shape that they have together.

    Raises
    ------
    TypeError
        If one is no array of cubc.
    ValueError
        If the shapes do not go together.

    Examples
    --------
    >>> a, b = xp.broadcast_arrays(xp.asarray([1, 2]), xp.asarray([[3], [4]]))
    >>> a.tolist(), b.tolist()
    ([[1, 2], [1, 2]], [[3, 3], [4, 4]])
    """
    given = [computed(x) for x in arrays]
    shape = np.broadcast_shapes(*(tuple(x.shape) for x in given))
    return [broadcast_to(x, shape) for x in given]


@named
def reshape(x: Any, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Array:
    """Return the same items in another shape; they share the memory unless copy=True.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    ValueError
        If the shape is of another number of items.

    Examples
    --------
    >>> xp.reshape(xp.arange(4), (2, -1)).tolist()
    [[0, 1], [2, 3]]
    """
    made = computed(x).reshape(tuple(shape))
    return made.copy() if copy else made


@named
def expand_dims(x: Any, /, axis: int = 0) -> Array:
    """Return the same memory with an axis of one item more.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    numpy.exceptions.AxisError
        If the axis is not between those that there are.

    Examples
    --------
    >>> xp.expand_dims(xp.arange(3)).shape
    (1, 3)
    """
    x = computed(x)
    at = axis_number(axis, x.ndim + 1)
    return x.reshape((*x.shape[:at], 1, *x.shape[at:]))


@named
def squeeze(x: Any, /, axis: Any) -> Array:
    """Return the same memory without axes of one item.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    ValueError
        If an axis has several items, or is named twice.
    numpy.exceptions.AxisError
        If `x` has no such axis.

    Examples
    --------
    >>> xp.squeeze(xp.zeros((1, 3)), 0).shape
    (3,)
    """
    return computed(x).squeeze(axis)


@named
def permute_dims(x: Any, /, axes: tuple[int, ...]) -> Array:
    """Return a copy with the axes in another order.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    ValueError
        If an axis is named twice, or not at all.

    Examples
    --------
    >>> xp.permute_dims(xp.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    return computed(x).transpose(tuple(axes)) if len(axes) else computed(x)


@named
def moveaxis(x: Any, source: Any, destination: Any, /) -> Array:
    """Return a copy with axes at other places.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    ValueError
        If the two have different numbers of axes, or one twice.
    numpy.exceptions.AxisError
        If `x` has no such axis.

    Examples
    --------
    >>> xp.moveaxis(xp.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    x = computed(x)
    begin, end = axis_numbers(source, x.ndim), axis_numbers(destination, x.ndim)
    if len(begin) != len(end):
        raise ValueError("moveaxis() takes as many sources as destinations")
    order = [axis for axis in range(x.ndim) if axis not in begin]
    for to, of in sorted(zip(end, begin, strict=True)):
        order.insert(to, of)
    return permute_dims(x, tuple(order))


@named
def flip(x: Any, /, *, axis: Any = None) -> Array:
    """Return a copy with the items in the opposite order along axes, by default along all.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    ValueError
        If an axis is named twice.
    numpy.exceptions.AxisError
        If `x` has no such axis.

    Examples
    --------
    >>> xp.flip(xp.arange(3)).tolist()
    [2, 1, 0]
    """
    x = computed(x)
    steps, first = list(steps_of(x.shape)), 0
    for d in axis_numbers(axis, x.ndim):
        first += (x.shape[d] - 1) * steps[d]
        steps[d] = -steps[d]
    return gathered(x.reshape(-1), first, x.shape, steps)


@named
def roll(x: Any, /, shift: Any, *, axis: Any = None) -> Array:
    """Return a copy with the items moved along axes; those of the end come first.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    ValueError
        If there are more shifts than axes, or fewer.
    numpy.exceptions.AxisError
        If `x` has no such axis.

    Examples
    --------
    >>> xp.roll(xp.arange(5), 2).tolist()
    [3, 4, 0, 1, 2]
    """
    x = computed(x)
    if axis is None:
        return roll(x.reshape(-1), shift, axis=0).reshape(tuple(x.shape))
    axes = [axis_number(one, x.ndim) for one in (axis if isinstance(axis, tuple) else (axis,))]
    shifts = list(shift) if isinstance(shift, tuple) else [shift] * len(axes)
    if len(shifts) != len(axes):
        raise ValueError(f"roll() has {len(shifts)} shifts for {len(axes)} axes")
    made = x
    for d, by in zip(axes, shifts, strict=True):
        split = -by % x.shape[d] if x.shape[d] else 0
        if split:
            before = (slice(None),) * d
            parts = [made[(*before, slice(split, None))], made[(*before, slice(None, split))]]
            made = _concatenate.concatenate(parts, d)
    return made.copy() if made is x else made


@named
def tile(x: Any, repetitions: tuple[int, ...], /) -> Array:
    """Return an array that is repeated along its axes.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    ValueError
        If a number is negative.

    Examples
    --------
    >>> xp.tile(xp.arange(2), (2, 2)).tolist()
    [[0, 1, 0, 1], [0, 1, 0, 1]]
    """
    x = computed(x)
    ndim = max(x.ndim, len(repetitions))
    shape = (1,) * (ndim - x.ndim) + tuple(x.shape)
    times = (1,) * (ndim - len(repetitions)) + tuple(repetitions)
    pairs = [one for pair in zip(times, shape, strict=True) for one in pair]
    steps = [one for step in steps_of(shape) for one in (0, step)]
    made = gathered(x.reshape(-1), 0, pairs, steps)
    return made.reshape(tuple(n * by for n, by in zip(shape, times, strict=True)))


@named
def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> Array:
    """Return an array in which each item is repeated; one number for all is read by the host.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    ValueError
        If a number is negative, or there is not one for each item.
    numpy.exceptions.AxisError
        If `x` has no such axis.

    Examples
    --------
    >>> xp.repeat(xp.arange(3), xp.asarray([1, 0, 2])).tolist()
    [0, 2, 2]
    """
    if isinstance(repeats, Array) and repeats.size == 1:
        repeats = int(repeats)
    return _runs.repeat(computed(x), repeats, axis=axis)


@named
def concat(arrays: Sequence[Any], /, *, axis: int | None = 0) -> Array:
    """Join arrays along an axis; None joins them flat.

    Raises
    ------
    TypeError
        If one is no array of cubc.
    ValueError
        If there is none, or the shapes differ along other axes.
    numpy.exceptions.AxisError
        If `x` has no such axis.

    Examples
    --------
    >>> xp.concat([xp.arange(2), xp.arange(3)]).tolist()
    [0, 1, 0, 1, 2]
    """
    return _concatenate.concatenate([computed(x) for x in arrays], axis)


@named
def stack(arrays: Sequence[Any], /, *, axis: int = 0) -> Array:
    """Join arrays of one shape along a new axis.

    Raises
    ------
    TypeError
        If one is no array of cubc.
    ValueError
        If there is none, or the shapes differ.
    numpy.exceptions.AxisError
        If `x` has no such axis.

    Examples
    --------
    >>> xp.stack([xp.arange(2), xp.arange(2)]).tolist()
    [[0, 1], [0, 1]]
    """
    given = [computed(x) for x in arrays]
    if len({tuple(x.shape) for x in given}) > 1:
        raise ValueError("stack() takes arrays of one shape")
    return concat([expand_dims(x, axis) for x in given], axis=axis)


@named
def unstack(x: Any, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Return the parts of an array along an axis.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    numpy.exceptions.AxisError
        If `x` has no such axis.

    Examples
    --------
    >>> [one.tolist() for one in xp.unstack(xp.asarray([[1, 2], [3, 4]]))]
    [[1, 2], [3, 4]]
    """
    x = computed(x)
    at = axis_number(axis, x.ndim)
    rows = moveaxis(x, at, 0) if at else x
    return tuple(rows[k] for k in range(x.shape[at]))
