"""Products of the array API, as sums of lazy products: without tensor cores, and exact to the sum.

A product of matrices reads each item as often as there are rows or columns, from the caches; a
library of linear algebra is faster for large ones.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _reductions
from .._arithmetic import compute
from .._axes import axis_number, items_of
from .._calls import named
from .._core import Array
from ._types import computed, result_type


def _summed(x: Array, y: Array, axis: int) -> Array:
    """Return the sum of products along an axis, in the type that both have together."""
    return _reductions.sum(compute(np.multiply, x, y), axis, result_type(x, y))


@named
def matrix_transpose(x: Any, /) -> Array:
    """Return a copy with the last two axes exchanged.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    ValueError
        If `x` has fewer than two axes.

    Examples
    --------
    >>> x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> xp.matrix_transpose(x).tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    """
    return computed(x).mT


@named
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Array:
    """Return the scalar products of vectors along an axis, of the conjugates of the first.

    Raises
    ------
    TypeError
        If `x1` or `x2` is no array of cubc.
    ValueError
        If the vectors have different numbers of items, or the shapes do not go together.

    Examples
    --------
    >>> xp.vecdot(xp.asarray([1, 2]), xp.asarray([3, 4])).tolist()
    11
    """
    x1, x2 = computed(x1), computed(x2)
    number = axis_number(axis, min(x1.ndim, x2.ndim)) - min(x1.ndim, x2.ndim)
    if x1.shape[number] != x2.shape[number]:
        raise ValueError(f"vecdot() of {x1.shape[number]} and {x2.shape[number]} items")
    first = compute(np.conjugate, x1) if x1.dtype.kind == "c" else x1
    return _reductions.sum(compute(np.multiply, first, x2), number, result_type(x1, x2))


@named
def matmul(x1: Any, x2: Any, /) -> Array:
    """Return the products of matrices, or of a vector with one.

    Raises
    ------
    TypeError
        If `x1` or `x2` is no array of cubc.
    ValueError
        If the shapes do not go together.

    Examples
    --------
    >>> x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> xp.matmul(x, x).tolist(), xp.matmul(x, xp.asarray([1.0, 1.0])).tolist()
    ([[7.0, 10.0], [15.0, 22.0]], [3.0, 7.0])
    """
    x1, x2 = computed(x1), computed(x2)
    if not x1.ndim or not x2.ndim:
        raise ValueError("matmul() takes one dimension or more")
    rows = x1 if x1.ndim > 1 else x1.reshape((1, *x1.shape))
    columns = x2.mT if x2.ndim > 1 else x2.reshape((1, *x2.shape))
    if rows.shape[-1] != columns.shape[-1]:
        raise ValueError(f"matmul(): the shapes {x1.shape} and {x2.shape} do not go together")
    rows = rows.reshape((*rows.shape[:-1], 1, rows.shape[-1]))
    columns = columns.reshape((*columns.shape[:-2], 1, *columns.shape[-2:]))
    made = _summed(rows, columns, -1)
    shape = list(made.shape)
    if x2.ndim == 1:
        del shape[-1]
    if x1.ndim == 1:
        del shape[-1 if x2.ndim == 1 else -2]
    return made.reshape(tuple(shape))


@named
def tensordot(x1: Any, x2: Any, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Array:
    """Return sums of products over pairs of axes.

    Raises
    ------
    TypeError
        If `x1` or `x2` is no array of cubc.
    ValueError
        If two axes have different numbers of items.

    Examples
    --------
    >>> x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> xp.tensordot(x, x).tolist(), xp.tensordot(x, x, axes=([0], [1])).tolist()
    (30.0, [[7.0, 15.0], [10.0, 22.0]])
    """
    x1, x2 = computed(x1), computed(x2)
    if isinstance(axes, int):
        axes = (range(x1.ndim - axes, x1.ndim), range(axes))
    first = [axis_number(d, x1.ndim) for d in axes[0]]
    second = [axis_number(d, x2.ndim) for d in axes[1]]
    if [x1.shape[d] for d in first] != [x2.shape[d] for d in second]:
        raise ValueError(f"tensordot(): axes of {x1.shape} and {x2.shape} do not go together")
    left = [d for d in range(x1.ndim) if d not in first]
    right = [d for d in range(x2.ndim) if d not in second]
    length = items_of(tuple(x1.shape[d] for d in first))
    shape = tuple(x1.shape[d] for d in left) + tuple(x2.shape[d] for d in right)
    n, m = items_of(tuple(x1.shape[d] for d in left)), items_of(tuple(x2.shape[d] for d in right))
    x = x1.transpose([*left, *first]) if x1.ndim else x1
    y = x2.transpose([*right, *second]) if x2.ndim else x2
    made = _summed(x.reshape((n, 1, length)), y.reshape((1, m, length)), -1)
    return made.reshape(shape)
