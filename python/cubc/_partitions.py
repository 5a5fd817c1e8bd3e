"""numpy.partition and numpy.argpartition; and the partition by a condition that had the name."""

import warnings
from typing import Any, Unpack

import numpy as np

from ._arrays import as_array, described
from ._axes import axis_number, items_of
from ._calls import named, whole
from ._core import Lazy
from ._nulls import refuse_missing
from ._options import Sorting, listed
from ._selections import partition_if
from ._sorting import argsort, sort


@named
@listed
def partition(x, /, kth, axis=-1, kind="introselect", **options: Unpack[Sorting]) -> Any:
    """Put the items that are the kth in order in their places, smaller ones before them.

    Parameters
    ----------
    x : array_like
        Array of one dimension or more.
    kth : int or sequence of int
        Places of the sorted array; negative ones count from the end.
    axis : int or None
        As for `sort`.
    kind : str
        As for numpy.partition. It changes nothing: the items are sorted.
    **options
        ``out``, ``stream``, ``workspace`` and ``device`` of `sort`.

    Returns
    -------
    array
        Array as of `sort`, which is a partition at every place.

    Raises
    ------
    TypeError, ValueError
        As `sort`; for a `kth` that is no int or not in the array.

    Notes
    -----
    A condition or a mask in place of `kth` calls `partition_if`, which had this name, with a
    DeprecationWarning.

    Examples
    --------
    >>> print(cubc.partition(np.array([3.0, 1.0, 2.0]), 0)[0])
    1.0
    """
    if _is_condition(kth):
        text = "partition() by a condition is partition_if(): this name has NumPy's meaning"
        warnings.warn(text, DeprecationWarning, stacklevel=3)
        second = (axis,) if isinstance(axis, str) else ()
        return partition_if(x, kth, *second, **options)  # type: ignore[misc]  # it refuses out=
    _check_places("partition", x, kth, axis, kind)
    return sort(x, axis, **options)


@named
@listed
def argpartition(x, /, kth, axis=-1, kind="introselect", **options: Unpack[Sorting]) -> Any:
    """Find the indices that partition an array as `partition` does.

    Parameters
    ----------
    x, kth, axis, kind
        As for `partition`.
    **options
        As for `argsort`.

    Returns
    -------
    array
        Indices, int64, as of `argsort`.

    Raises
    ------
    TypeError, ValueError
        As `partition`.

    Examples
    --------
    >>> print(cubc.argpartition(np.array([3.0, 1.0, 2.0]), 0)[0])
    1
    """
    _check_places("argpartition", x, kth, axis, kind)
    return argsort(x, axis, **options)


def _is_condition(kth: Any) -> bool:
    if isinstance(kth, str | Lazy):
        return True
    return bool(getattr(kth, "ndim", 0)) and str(kth.dtype) in ("bool", "torch.bool")


def _check_places(function: str, x: Any, kth: Any, axis: Any, kind: Any) -> None:
    if kind != "introselect":
        refused = ValueError if isinstance(kind, str) else TypeError
        raise refused(f"kind is {kind!r}: expected 'introselect'")
    shape = tuple(as_array(x).shape) or (1,)
    length = int(np.prod(shape)) if axis is None else shape[axis_number(axis, len(shape))]
    refuse_missing(kth)
    places = np.asarray(described(kth))
    if places.dtype == bool:
        raise ValueError(f"kth is {kth!r}: expected an int or several")
    if places.dtype.kind not in "iu":
        whole(function, "kth", kth)
        raise TypeError(f"kth is {kth!r}: expected an int or several")
    if places.ndim > 1:
        raise ValueError("kth has more than one dimension")
    if not items_of(shape):  # NumPy takes any place of no items
        return
    for place in places.ravel().tolist():
        if not -length <= place < length:
            raise ValueError(f"kth(={place}) out of bounds ({length})")
