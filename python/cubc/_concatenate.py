"""Arrays joined along an axis, by NumPy's name."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._arrays import as_array, beside, common_type, computed, item_dtype, of_device, refuse_bound
from ._axes import axis_number
from ._calls import named
from ._core import Array, Lazy, asarray, empty, transform


@named
def concatenate(
    arrays: Sequence[Any],
    /,
    axis=0,
    out=None,
    *,
    dtype=None,
    casting="same_kind",
    stream=None,
    device=None,
) -> Any:
    """Join arrays along an axis, as numpy.concatenate.

    Parameters
    ----------
    arrays : sequence of array_like
        Arrays of one device, whose shapes differ along the axis alone.
    axis : int or None
        Axis along which to join; None joins them flat. Another than the first one takes a launch
        for each array, as the first one does, whose rows are then written apart.
    out : array, optional
        Array for the result.
    dtype : dtype, optional
        Type of the result, in place of that which the arrays have together; not with `out`.
    casting : str
        What conversions there may be, as for numpy.can_cast.
    stream, device
        As for `transform`.

    Returns
    -------
    array or out
        Array of the type that they have together.

    Raises
    ------
    ValueError
        Without arrays; for shapes that do not go together.
    TypeError
        For a conversion that `casting` excludes; for both `out` and `dtype`.

    Examples
    --------
    >>> print(cubc.concatenate([np.array([1, 2]), np.array([3])]))
    [1 2 3]
    """
    arrays = [computed(one, stream) if isinstance(one, Lazy) else one for one in arrays]
    given = [as_array(one) for one in arrays]
    if not given:
        raise ValueError("concatenate(): need at least one array to concatenate")
    parts = given
    if {*map(type, given)} != {Array}:  # some of the host, or of another library
        there = next((one for one in given if of_device(one) is not None), None)
        if there is not None:
            given = [as_array(beside(there, one, stream)) for one in arrays]
            if any(isinstance(one, np.ndarray) for one in given):
                raise ValueError(
                    "some arrays are in the host's memory, as NumPy's are, and others on a device; "
                    "move them with cubc.asarray"
                )
        if all(isinstance(one, np.ndarray) for one in given):
            refuse_bound("arrays of NumPy are joined")
            if dtype is None and out is None:
                dtype = common_type(*map(item_dtype, given))
            return np.concatenate(given, axis, out, dtype=dtype, casting=casting)
        parts = [asarray(one, stream=stream) for one in given]
    if out is not None and dtype is not None:
        raise TypeError("out and dtype are given: the result has the type of out")
    if len({one.device for one in parts}) > 1:
        raise ValueError("the arrays are on different devices; move them with cubc.asarray")
    if axis is None:
        parts, axis = [one.reshape(-1) for one in parts], 0
    axis = axis_number(axis, parts[0].ndim)
    others = {(one.shape[:axis], one.shape[axis + 1 :]) for one in parts}
    if len(others) > 1:
        raise ValueError(
            f"arrays of the shapes {', '.join(str(one.shape) for one in parts)} differ along other "
            f"axes than {axis}"
        )
    kinds = dict.fromkeys(one.dtype for one in parts)
    if dtype is None:
        dtype = item_dtype(out) if out is not None else common_type(*kinds)
    for kind in kinds:
        if not np.can_cast(kind, dtype, casting):
            raise TypeError(f"{kind} does not become {dtype} with casting={casting!r}")
        if kind.kind == "c" and np.dtype(dtype).kind != "c":
            raise TypeError(f"{kind} does not become {dtype}: take the real parts first")
    rows, rest = parts, range(axis + 1, parts[0].ndim)
    if axis:
        rows = [one.transpose([axis, *range(axis), *rest]) for one in parts]
    length, at = sum(one.shape[0] for one in rows), 0
    shape = (length, *rows[0].shape[1:])
    if isinstance(out, np.ndarray):
        raise ValueError(f"out must lie on {parts[0].device}, as the arrays do")
    joined = asarray(out) if out is not None and not axis else None
    if joined is None:
        joined = empty(shape, dtype, device=parts[0].device, stream=stream)
    elif joined.shape != shape:
        raise ValueError(f"out has the shape {joined.shape}, expected {shape}")
    for one in rows:
        end = at + one.shape[0]
        if one.size:
            transform("x", x=one, out=joined[at:end], casting="unsafe", stream=stream)
        at = end
    if not axis:
        return joined if out is None else out
    joined = joined.transpose([*range(1, axis + 1), 0, *rest])
    return joined if out is None else transform("x", x=joined, out=out, stream=stream)
