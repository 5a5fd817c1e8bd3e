"""Items of a device array with steps between them, gathered into a contiguous array there."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._arrays import computed
from ._axes import items_of, transposed
from ._core import Array, Lazy, asarray, call, empty
from ._lazy import lazy

# Up to this number of axes, extents and steps are arguments of a launch; those of more axes are
# part of its kernel.
_MOST_AXES = 4


def gathered(
    x: Array, first: int, shape: Sequence[int], steps: Sequence[int], stream: Any = None
) -> Array:
    """Return items first + sum of index times step, in the given shape, as a new array.

    `x` has one dimension. One launch: a transposition where the steps are those of one, else
    `take` by an index that is computed.
    """
    shape = tuple(map(int, shape))
    if 0 in shape:
        return empty(shape, x.dtype, device=x.device, stream=stream)
    axes = _merged(shape, steps)
    turned = _as_transposition(axes)
    if turned and first == 0 and items_of(shape) == x.size:
        return transposed(x, *turned, shape, None, {"stream": stream})
    fields = {
        "in": x,
        "indices": _index_of(first, axes, items_of(shape)),
        "length": x.size,
        "columns": 1,
        "mode": 2,
        "out": ("in", shape, None),
    }
    return call("take", fields, stream=stream)[0]


def index_of(first: int, shape: Sequence[int], steps: Sequence[int]) -> Lazy:
    """Return the places first + sum of index times step, flat, as a lazy input."""
    return _index_of(first, _merged(shape, steps), items_of(shape))


def _index_of(first: int, axes: list[tuple[int, int]], size: int) -> Lazy:
    text, numbers = _index(first, axes)
    return lazy(text, size=size, dtype="int64", **numbers)


def _merged(shape: Sequence[int], steps: Sequence[int]) -> list[tuple[int, int]]:
    """Return extents and steps without axes of one item; neighbours that go on are one axis."""
    axes: list[tuple[int, int]] = []
    for extent, step in zip(shape, steps, strict=True):
        if extent == 1:
            continue
        if axes and axes[-1][1] == step * extent:
            axes[-1] = (axes[-1][0] * extent, step)
        else:
            axes.append((extent, step))
    return axes or [(1, 0)]


def _as_transposition(axes: list[tuple[int, int]]) -> tuple[int, int] | None:
    """Return rows and columns of the matrices that the axes are the transposes of, or None."""
    if len(axes) not in (2, 3):
        return None
    (columns, one), (rows, step) = axes[-2:]
    apart = len(axes) == 2 or axes[0][1] == rows * columns
    return (rows, columns) if one == 1 and step == columns and apart else None


def _index(first: int, axes: list[tuple[int, int]]) -> tuple[str, dict[str, int]]:
    """Return the expression of an item's place, and its numbers."""
    numbers: dict[str, int] = {"first": first}
    terms, rest = [], "i"
    for k, (extent, step) in enumerate(reversed(axes)):
        last = k == len(axes) - 1
        if len(axes) <= _MOST_AXES:
            numbers[f"s{k}"] = step
            if not last:
                numbers[f"n{k}"] = extent
        of, by = (f"n{k}", f"s{k}") if len(axes) <= _MOST_AXES else (f"{extent}ll", f"{step}ll")
        terms.append(f"{rest} * {by}" if last else f"{rest} % {of} * {by}")
        rest = f"({rest} / {of})"
    return " + ".join(["first", *terms]), numbers


def steps_of(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the steps of a contiguous array, in items."""
    steps, step = [], 1
    for extent in reversed(shape):
        steps.append(step)
        step *= extent
    return tuple(reversed(steps))


def contiguous(shape: Sequence[int], steps: Sequence[int]) -> bool:
    """Tell if items with these steps lie one after the other."""
    if 0 in shape:
        return True
    return _merged(shape, steps) in ([(1, 0)], [(items_of(shape), 1)])


def turned(x: Array, order: Sequence[int]) -> Array:
    """Return an array with its axes in another order."""
    shape, steps = tuple(x.shape), steps_of(x.shape)
    return gathered(x.reshape(-1), 0, [shape[d] for d in order], [steps[d] for d in order], None)


def broadcast(x: Any, shape: Sequence[int], stream: Any) -> Any:
    """Return an array of a shape, in which items are repeated along axes of one."""
    x = computed(x, stream)
    if isinstance(x, np.ndarray):
        return np.broadcast_to(x, shape)
    x = asarray(x)
    extents = (1,) * (len(shape) - x.ndim) + tuple(x.shape)
    pairs = zip(extents, shape, strict=False)
    if len(extents) > len(shape) or any(have not in (1, need) for have, need in pairs):
        raise ValueError(f"items of the shape {x.shape} do not broadcast to {tuple(shape)}")
    if extents == tuple(shape):
        return x.reshape(extents)
    steps = [0 if n == 1 else step for n, step in zip(extents, steps_of(extents), strict=True)]
    return gathered(x.reshape(-1), 0, shape, steps, stream)
