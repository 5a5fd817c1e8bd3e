"""Radix sorts of keys, of keys with values, of indices, and by several keys.

A. Adinets and D. Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs",
arXiv 2206.01784, 2022.
"""

from typing import Any, Unpack

import numpy as np

from ._arrays import (
    as_array,
    described,
    dimensions,
    name_of,
    one_dimension,
    output_pair,
    refuse_bound,
)
from ._axes import axis_number
from ._axis_sort import argsort_along, sort_along
from ._calls import named, primitive, truth
from ._complex_order import is_complex, keys_of_complex
from ._core import Lazy, call, transform
from ._field_order import has_fields, sorted_by_fields
from ._lazy import lazy
from ._options import Placement, without_workspace
from ._payload import call_with_values
from ._take import take_along_axis


@primitive(workspace="cubc_sort_temp_bytes, aligned to 256 bytes")
def sort(
    x,
    /,
    axis=-1,
    kind=None,
    order=None,
    *,
    stable=None,
    key=None,
    descending=False,
    begin_bit=0,
    end_bit=None,
    out=None,
    **placement: Unpack[Placement],
) -> Any:
    """Sort a copy of an array; the sort is stable.

    Parameters
    ----------
    x : array_like
        Keys. There may be more than 2**32.
    axis : int or None
        Axis along which to sort; by default the last one. None sorts all items as one dimension.
    kind, stable : optional
        As for numpy.sort. They change nothing: the sort is stable.
    order : str or sequence of str, optional
        Fields that structs are sorted by, the first one first; all others decide where these are
        equal. A field that is a struct or has several numbers stands for all of them.
    key : str or sequence of str, optional
        The same in place of `order`, but structs that are equal in these fields keep their order.
    descending : bool, or a sequence of bool for the fields of `order` or `key`
        True sorts the largest key first. Equal keys keep their order here too.
    begin_bit, end_bit : int
        Range of bits that numbers are sorted by, without `end_bit`; by default all bits. Bits
        outside take no time. Some bits of floats are those of codes that have the floats' order:
        all bits are inverted if the sign is set, and else the sign alone, so that a NaN is beyond
        the infinity of its sign. An array of several dimensions needs ``axis=None`` for it.
    out : array, optional
        Array for the result, of the shape and type of `x`. It may be `x`; any other overlap of
        contiguous arrays is refused.

    Returns
    -------
    numpy.ndarray, cubc.Array or out
        Result; in host memory if `x` is, else on the device of `x`.

    Raises
    ------
    TypeError
        For items that `asarray` does not take; for an `out` of another type than `x`; for fields
        that are complex.
    ValueError
        For structs along an axis of several; for an axis, a field or a range of bits that the keys
        do not have; for a kind that NumPy
        does not have, or for both `kind` and `stable`; as for `reduce`.

    Notes
    -----
    The temporary storage is as large as `x`.

    Structs are sorted by radix too: a key is made of the fields as they are read, as CUB's
    decomposer makes it. Where the fields that are sorted by have all bytes of structs of 1, 2, 4 or
    8, the keys are sorted alone, and are made to structs again. Other structs of 1, 2, 4, 8 or 16
    bytes go along with their keys, and those of other sizes are gathered behind the sort. Fields of
    more than 64 bits together take a sort for each 64 bits.

    Complex numbers are in NumPy's order: by the real part, and equal ones by the imaginary part.
    Zeros of both signs are alike.

    -0.0 comes before 0.0, and NaN after all numbers as in NumPy (so a descending sort begins with
    it); several NaNs are ordered by their bits. All bytes of a bool but 0 are the same key, and
    are written as 1, but in structs that go along; NumPy orders bools by their bytes.

    On a GPU few items are sorted in shared memory, more in bins or by one pass a digit of 8 bits
    with decoupled look-back [1]_; on the cpu one split by the highest digit, or floats by their
    value, and bins sorted in cache [2]_. An axis of at most 2048 items (128 on the cpu, if it is
    the last) is sorted where it is, in one pass without temporary storage: by a network [3]_, or by
    merges of a team of threads. Longer rows along the last axis are sorted as `segmented_sort`
    does; around a sort along another one the array is transposed, which takes twice as much memory.

    References
    ----------
    .. [1] A. Adinets and D. Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for
       GPUs", arXiv 2206.01784, 2022.
    .. [2] P. McIlroy, K. Bostic and M. McIlroy, "Engineering Radix Sort", Computing Systems 6,
       1993.
    .. [3] K. E. Batcher, "Sorting networks and their applications", AFIPS Spring Joint Computer
       Conference, 1968.

    Examples
    --------
    >>> print(cubc.sort(np.array([3.0, 1.0, 2.0]), descending=True))
    [3. 2. 1.]
    >>> pairs = np.array([(1, 2.0), (0, 3.0), (1, 1.0)], [("a", "i4"), ("b", "f4")])
    >>> print(cubc.sort(pairs, key=["a", "b"], descending=[True, False]))
    [(1, 1.) (1, 2.) (0, 3.)]
    """
    _check_kind(kind, stable)
    bits = (begin_bit, end_bit)
    if by_fields := _by_fields("sort", x, axis, order, key, bits):
        return by_fields(x, order, key, descending, False, out, placement)
    if is_complex(x):
        given = x, axis, truth("descending", descending), bits, False, out
        return _sorted_complex(*given, without_workspace(placement))
    if _has_rows("sort", x, axis, begin_bit, end_bit):
        return sort_along(x, axis, truth("descending", descending), out, placement)
    fields = {"keys_in": x, "keys_out": ("keys_in", _flat_shape(x), out)}
    fields |= _order(descending, begin_bit, end_bit)
    return call("sort", fields, **placement)[0]


@primitive(workspace="cubc_sort_temp_bytes, aligned to 256 bytes")
def argsort(
    x,
    /,
    axis=-1,
    kind=None,
    order=None,
    *,
    stable=None,
    key=None,
    descending=False,
    begin_bit=0,
    end_bit=None,
    out=None,
    **placement: Unpack[Placement],
) -> Any:
    """Find the indices that sort an array: ``x[argsort(x)]`` is ``sort(x)``.

    Parameters
    ----------
    x, axis, kind, order, stable, key, descending, begin_bit, end_bit
        As for `sort`.
    out : array, optional
        Array for the indices, int64, of the shape of `x`.

    Returns
    -------
    numpy.ndarray, cubc.Array or out
        Indices, int64. Equal items keep their order, as in numpy.argsort(x, kind="stable").

    Raises
    ------
    TypeError, ValueError
        As for `sort`.

    Examples
    --------
    >>> print(cubc.argsort(np.array([3.0, 1.0, 2.0])))
    [1 2 0]
    """
    _check_kind(kind, stable)
    bits = (begin_bit, end_bit)
    if by_fields := _by_fields("argsort", x, axis, order, key, bits):
        return by_fields(x, order, key, descending, True, out, placement)
    if is_complex(x):
        given = x, axis, truth("descending", descending), bits, True, out
        return _sorted_complex(*given, without_workspace(placement))
    if _has_rows("argsort", x, axis, begin_bit, end_bit):
        return argsort_along(x, axis, truth("descending", descending), out, placement)
    shape = _flat_shape(x)
    fields = {
        "keys_in": x,
        "keys_out": ("keys_in", shape, None),
        "values_out": ("int64", shape, out),
    }
    fields |= _order(descending, begin_bit, end_bit)
    return call("sort", fields, **placement)[1]


@primitive(workspace="cubc_sort_temp_bytes, aligned to 256 bytes")
def sort_pairs(
    keys,
    values,
    /,
    *,
    descending=False,
    begin_bit=0,
    end_bit=None,
    out=None,
    **placement: Unpack[Placement],
) -> tuple[Any, Any]:
    """Sort keys, and move values with their keys; the sort is stable.

    Parameters
    ----------
    keys : array_like
        Array of one dimension.
    values : array_like
        Array with one value for each key along the first axis: an item, or a row of items. Those of
        1, 2, 4, 8 or 16 bytes move with their keys; others, of any size, are taken by their indices
        behind that. In host memory they may be bytes, texts and structs of any size.
    descending, begin_bit, end_bit
        As for `sort`.
    out : tuple of two arrays, optional
        Arrays for keys and values, of their shapes and types. They may be `keys` and `values`.

    Returns
    -------
    keys, values : numpy.ndarray, cubc.Array or those of out
        Sorted keys and their values; in host memory if both inputs are, else on their device.

    Raises
    ------
    TypeError, ValueError
        As for `sort`; if there is not one value for each key.

    Examples
    --------
    >>> print(*cubc.sort_pairs(np.array([3.0, 1.0, 2.0]), np.arange(3)))
    [1. 2. 3.] [1 2 0]
    """
    one_dimension("sort_pairs", keys, SEVERAL)
    keys_out, values_out = output_pair("sort_pairs", out)
    fields = {
        "keys_in": keys,
        "values_in": values,
        "keys_out": ("keys_in", "keys_in", keys_out),
        "values_out": ("values_in", "values_in", values_out),
    }
    fields |= _order(descending, begin_bit, end_bit)
    return call_with_values("sort", fields, **placement)


SEVERAL = "for the rows of a matrix call it on each, for all items on x.ravel()"


def _check_kind(kind: Any, stable: Any) -> None:
    """Raise ValueError for what numpy.sort refuses; all kinds are one sort, which is stable."""
    if kind is None:
        return
    if stable is not None:
        raise ValueError("kind and stable are given: give one of the two")
    if not isinstance(kind, str) or kind[:1].lower() not in ("q", "h", "m", "s"):
        refused = ValueError if isinstance(kind, str) else TypeError
        raise refused(f"kind is {kind!r}: expected 'quicksort', 'heapsort' or 'stable'")


def _has_rows(function: str, x: Any, axis: Any, begin_bit: int, end_bit: int | None) -> bool:
    """True if the axis is one of several."""
    if axis is None:
        return False
    ndim = dimensions(x)
    # numpy.argsort makes one index of an array without dimensions, and numpy.sort an error.
    axis_number(axis, ndim or int(function == "argsort"))
    if ndim > 1 and (begin_bit or end_bit is not None):
        raise ValueError(
            f"{function}() by some bits takes one dimension or axis=None: shift and mask the items "
            "of a matrix by cubc.transform before"
        )
    return ndim > 1


def _by_fields(function: str, x: Any, axis: Any, order: Any, key: Any, bits: Any) -> Any:
    """Return the function that sorts structs; None for numbers, which have no fields."""
    if not has_fields(x):
        if order is not None or key is not None:
            raise ValueError(f"{function}(): order= and key= name fields of structs: x has none")
        return None
    if axis is not None and dimensions(x) != 1:
        raise ValueError(f"{function}() of structs takes one dimension or axis=None")
    if bits != (0, None):
        raise ValueError(
            f"{function}() of structs goes by fields: leave begin_bit and end_bit away"
        )
    return sorted_by_fields


def _flat_shape(x: Any) -> Any:
    """Return the shape of all items in one dimension; "keys_in" if the keys have one dimension."""
    if dimensions(x) == 1:
        return "keys_in"
    return (int(np.prod(x.shape if hasattr(x, "shape") else np.shape(x), dtype=np.int64)),)


def _order(descending: bool, begin_bit: int, end_bit: int | None) -> dict[str, int]:
    """Return the core's parameters of the order; bits 1 to 1 are none, since 0 means all."""
    if end_bit == 0:
        if begin_bit > 0:
            raise ValueError(f"there are no bits {begin_bit} to 0: begin_bit is above end_bit")
        begin_bit = end_bit = 1
    return {
        "descending": truth("descending", descending),
        "begin_bit": begin_bit,
        "end_bit": end_bit or 0,
    }


def _sorted_complex(
    x: Any, axis: Any, descending: bool, bits: Any, as_indices: bool, out: Any, options: Any
) -> Any:
    """Return complex numbers sorted along an axis, or the indices that sort them."""
    if bits != (0, None):
        raise ValueError("complex numbers have no order by some bits: sort their parts")
    x = x.array(**options) if isinstance(x, Lazy) else as_array(x)
    if isinstance(x, np.ndarray):
        refuse_bound("the parts of complex numbers are sorted one after the other")
    if axis is None:
        x, axis = x.reshape(-1), 0
    order = lexsort(keys_of_complex(x, options, descending), axis, **options)
    made = order if as_indices else take_along_axis(x, order, axis, **options)
    if out is None:
        return made
    return transform("x", x=made, out=out, dtype=made.dtype, **options)


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
    given = [as_array(key) for key in described(keys)]
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
    floats = "float" in name_of(key.dtype)
    return lazy("x == 0 ? 0.0f : x", x=key, dtype=key.dtype) if floats else key
