"""Items by their indices, and indices of items, by NumPy's names."""

from typing import Any

import numpy as np

from ._arrays import as_array, common_type, item_dtype, name_of, refuse_items, shape_of
from ._axes import items_of
from ._calls import named
from ._core import Lazy, transform
from ._selections import flatnonzero


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
    refuse_items("the conditions", condition, "which are neither 0 nor not")
    x, y = (z if np.isscalar(z) else as_array(z) for z in (x, y))
    types = [item_dtype(z) for z in (x, y) if hasattr(z, "dtype")]
    for z in (x, y):
        if type(z) is int and len(types) == 1 and types[0].kind in "iu":
            types[0].type(z)  # raises OverflowError
    if len(types) == 1 and any(isinstance(z, complex) for z in (x, y)):
        types.append(np.result_type(*types, 1j))
    numbers = not any(isinstance(z, Lazy) or shape_of(z) for z in (x, y))
    if numbers:  # of which the condition would decide the type
        types = [item_dtype(z) if hasattr(z, "dtype") else z for z in (x, y)]
    text = "convert<bool>(c) ? x : y"
    if numbers or (len(types) == 2 and name_of(types[0]) != name_of(types[1])):
        text = "convert<bool>(c) ? convert<out_t>(x) : convert<out_t>(y)"
    dtype = common_type(*types) if "out_t" in text else None
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
