"""Manipulation of the array API: a change of shape shares the memory, other items are gathered."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _runs, _sets
from .._axes import axis_number
from .._core import Array
from .._strides import broadcast, gathered, steps_of
from ._types import computed


def _axes(axis: Any, ndim: int) -> list[int]:
    axes = axis if isinstance(axis, tuple) else (axis,)
    return [axis_number(one, ndim) for one in axes]


def broadcast_to(x: Any, /, shape: tuple[int, ...]) -> Array:
    """Return an array of a shape, in which items are repeated along axes of one."""
    return broadcast(computed(x), tuple(map(int, shape)))


def broadcast_arrays(*arrays: Any) -> list[Array]:
    """Return arrays of the shape that they have together."""
    given = [computed(x) for x in arrays]
    shape = np.broadcast_shapes(*(tuple(x.shape) for x in given))
    return [broadcast_to(x, shape) for x in given]


def reshape(x: Any, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Array:
    """Return the same items in another shape; they share the memory unless copy=True."""
    made = computed(x).reshape(tuple(shape))
    return made.copy() if copy else made


def expand_dims(x: Any, /, axis: int = 0) -> Array:
    """Return the same memory with an axis of one item more."""
    x = computed(x)
    at = axis_number(axis, x.ndim + 1)
    return x.reshape((*x.shape[:at], 1, *x.shape[at:]))


def squeeze(x: Any, /, axis: Any) -> Array:
    """Return the same memory without axes of one item."""
    return computed(x).squeeze(axis)


def permute_dims(x: Any, /, axes: tuple[int, ...]) -> Array:
    """Return a copy with the axes in another order."""
    return computed(x).transpose(tuple(axes)) if len(axes) else computed(x)


def moveaxis(x: Any, source: Any, destination: Any, /) -> Array:
    """Return a copy with axes at other places."""
    x = computed(x)
    begin, end = _axes(source, x.ndim), _axes(destination, x.ndim)
    if len(begin) != len(end) or len(set(begin)) < len(begin) or len(set(end)) < len(end):
        raise ValueError("moveaxis() takes as many distinct sources as distinct destinations")
    order = [axis for axis in range(x.ndim) if axis not in begin]
    for to, of in sorted(zip(end, begin, strict=True)):
        order.insert(to, of)
    return permute_dims(x, tuple(order))


def flip(x: Any, /, *, axis: Any = None) -> Array:
    """Return a copy with the items in the opposite order along axes, by default along all."""
    x = computed(x)
    axes = range(x.ndim) if axis is None else _axes(axis, x.ndim)
    steps, first = list(steps_of(x.shape)), 0
    for d in axes:
        first += (x.shape[d] - 1) * steps[d]
        steps[d] = -steps[d]
    return gathered(x.reshape(-1), first, x.shape, steps)


def roll(x: Any, /, shift: Any, *, axis: Any = None) -> Array:
    """Return a copy with the items moved along axes; those of the end come first."""
    x = computed(x)
    if axis is None:
        return roll(x.reshape(-1), shift, axis=0).reshape(tuple(x.shape))
    axes = _axes(axis, x.ndim)
    shifts = list(shift) if isinstance(shift, tuple) else [shift] * len(axes)
    if len(shifts) != len(axes):
        raise ValueError(f"roll() has {len(shifts)} shifts for {len(axes)} axes")
    made = x
    for d, by in zip(axes, shifts, strict=True):
        split = -by % x.shape[d] if x.shape[d] else 0
        if split:
            before = (slice(None),) * d
            parts = [made[(*before, slice(split, None))], made[(*before, slice(None, split))]]
            made = _sets.concatenate(parts, d)
    return made.copy() if made is x else made


def tile(x: Any, repetitions: tuple[int, ...], /) -> Array:
    """Return an array that is repeated along its axes."""
    x = computed(x)
    ndim = max(x.ndim, len(repetitions))
    shape = (1,) * (ndim - x.ndim) + tuple(x.shape)
    times = (1,) * (ndim - len(repetitions)) + tuple(repetitions)
    pairs = [one for pair in zip(times, shape, strict=True) for one in pair]
    steps = [one for step in steps_of(shape) for one in (0, step)]
    made = gathered(x.reshape(-1), 0, pairs, steps)
    return made.reshape(tuple(n * by for n, by in zip(shape, times, strict=True)))


def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> Array:
    """Return an array in which each item is repeated; one number for all is read by the host."""
    if isinstance(repeats, Array) and repeats.size == 1:
        repeats = int(repeats)
    return _runs.repeat(computed(x), repeats, axis=axis)


def concat(arrays: Sequence[Any], /, *, axis: int | None = 0) -> Array:
    """Join arrays along an axis; None joins them flat."""
    return _sets.concatenate([computed(x) for x in arrays], axis)


def stack(arrays: Sequence[Any], /, *, axis: int = 0) -> Array:
    """Join arrays of one shape along a new axis."""
    given = [computed(x) for x in arrays]
    if len({tuple(x.shape) for x in given}) > 1:
        raise ValueError("stack() takes arrays of one shape")
    return concat([expand_dims(x, axis) for x in given], axis=axis)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Return the parts of an array along an axis."""
    x = computed(x)
    at = axis_number(axis, x.ndim)
    rows = moveaxis(x, at, 0) if at else x
    return tuple(rows[k] for k in range(x.shape[at]))
