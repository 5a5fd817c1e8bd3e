"""Items to places that their indices name: numpy.put, its like along an axis, and with an operator.

Atomic operations combine items of which several have one place, in any order. Where the order
shows, the values are sorted by their places, those of one place reduced in their order, and the
results, of which no two have one place, are combined with the items.
"""

from typing import Any, Unpack

import numpy as np

from ._arrays import (
    as_array,
    beside,
    changeable,
    computed,
    described,
    in_memory_of,
    name_of,
    overlap,
    refuse_bound,
)
from ._axes import axis_number, items_of
from ._calls import named, primitive
from ._core import Lazy, asarray, call, transform
from ._lazy import lazy
from ._nulls import refuse_missing
from ._options import Placement, without_workspace
from ._runs import reduce_by_key
from ._sorting import argsort
from ._strides import broadcast, gathered, steps_of
from ._take import MODES, check_mode, checked_indices, places_of, shapes_along

_BUILT_IN = ("sum", "prod", "min", "max", "any", "all")
# An index of an axis of n items, brought into [0, n) as by kernels/shared/places.h.
_INTO_AXIS = {
    "raise": "k < 0 ? (k + n < 0 ? 0 : k + n) : k < n ? k : n - 1",
    "wrap": "(k % n + n) % n",
    "clip": "k < 0 ? 0 : k < n ? k : n - 1",
}


@primitive(workspace=None)
def scatter(
    x,
    indices,
    values,
    /,
    op=None,
    axis=None,
    *,
    out=None,
    mode="raise",
    commutative=False,
    deterministic=False,
    **placement: Unpack[Placement],
) -> Any:
    """Write values to the places that indices name, or combine them with the items there.

    What ``numpy.add.at(x, indices, values)`` does in place, `scatter` does with ``op="sum"``. A
    call with ``out=x`` changes `x`.

    Parameters
    ----------
    x : array_like
        Items, of any number of dimensions.
    indices : array_like or Lazy
        Integers, of any number of dimensions, as for `take`.
    values : array_like, number or Lazy
        Values, converted to the type of `x`. They have the shape of ``take(x, indices, axis)``, or
        one that is broadcast to it.
    op : str or function, optional
        Operator as for `reduce`, but for "argmin" and "argmax". None: a value replaces the item.
    axis : int, optional
        Axis that the indices are along; by default `x` is taken flat.
    out : array, optional
        Array for the result, of the shape and type of `x`: `x` itself, or apart from all inputs.
    mode : {"raise", "wrap", "clip"}
        As for `take`.
    commutative : bool
        The values of one place may be combined in any order by an operator of your own, so that
        atomic operations do. The built-in operators always are.
    deterministic : bool
        Every run gives the same bits: of values that replace, the last one with a place stays
        there; others are sorted by their places and combined in their order, as by
        `reduce_by_key`. This waits for the device.

    Returns
    -------
    numpy.ndarray, cubc.Array or out
        Items, of the shape and the type of `x`.

    Raises
    ------
    IndexError
        For an index beyond the items with "raise"; for any index if there are no items.
    TypeError
        For indices that are no integers; for an `out` of another type.
    ValueError
        For an axis that is not there, another `mode`, values that cannot be broadcast.
    OverflowError
        For a number of Python, alone or in a list, that is outside of the items' type.
    CompileError
        If the expression does not compile.

    Notes
    -----
    Of values that replace, any one with a place stays there, if it is not deterministic. Sums of
    float16 and bfloat16 are rounded after each value by atomic operations, and once for each place
    by the sorted way. The sorted way is taken too for an own operator that is not commutative, and
    for structs and complex numbers, but for sums.

    Examples
    --------
    >>> print(cubc.scatter(np.zeros(4), np.array([1, 3, 1]), np.array([1.0, 2.0, 4.0]), "sum"))
    [0. 5. 0. 2.]
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
    moved = (*shape[:number], *tuple(places.shape), *shape[number + 1 :])
    check_mode(mode)
    places = checked_indices("scatter", places, shape, number, mode, placement)
    fields = {
        "in": items,
        "indices": places,
        "values": _broadcast(items, values, moved, placement),
        "op": op,
        "length": shape[number],
        "columns": items_of(shape[number + 1 :]),
        "mode": MODES[mode],
        "out": ("in", tuple(items.shape), out),
    }
    return _scatter(fields, mode, commutative, deterministic, placement)


def _broadcast(items: Any, values: Any, shape: tuple[int, ...], placement: Placement) -> Any:
    """Return values of the items' type, as many as the shape has, beside the items."""
    stream = placement.get("stream")
    if not isinstance(values, Lazy):
        values = _beside(items, values, stream)
    own = tuple(values.shape)
    if own != shape:
        if np.broadcast_shapes(own, shape) != shape:
            raise ValueError(f"values of the shape {own} do not go into {shape}")
        if isinstance(values, Lazy):
            values = _evaluated(values, items, placement)
        if isinstance(values, np.ndarray | np.generic):
            values = np.broadcast_to(values, shape)
        else:
            steps = [s if n != 1 else 0 for n, s in zip(own, steps_of(own), strict=True)]
            steps = [*[0] * (len(shape) - len(own)), *steps]
            values = gathered(asarray(values).reshape(-1), 0, shape, steps, stream)
    dtype = _dtype(items)
    if name_of(values.dtype) == name_of(dtype):
        return values
    if dtype.fields or np.dtype(_dtype(values)).fields:
        raise TypeError(f"values of {values.dtype} do not go into items of {dtype}")
    if np.dtype(_dtype(values)).kind == "c" and dtype.kind != "c":
        raise TypeError("complex values do not go into real items: take their real parts")
    return lazy("v", v=values, dtype=dtype)


def _evaluated(x: Lazy, items: Any, placement: Placement) -> Any:
    """Return the items of a lazy input, in host memory where others are: it may have no arrays."""
    out = np.empty(x.shape, x.dtype) if isinstance(items, np.ndarray) else None
    return transform(x, out=out, casting="unsafe", **without_workspace(placement))


def _beside(a: Any, values: Any, stream: Any) -> Any:
    """Return values as an array, on the device of `a` if they are Python's numbers.

    Those are converted as NumPy does: OverflowError for one that is outside of the items' type.
    """
    if isinstance(values, int | float | complex | list | tuple) and _dtype(a).kind in "iu":
        refuse_missing(values)
        found = np.asarray(values)
        values = found if found.dtype.kind == "c" else np.asarray(values, _dtype(a))
        on_host = isinstance(described(a), np.ndarray | np.generic)
        return values if on_host else asarray(values, device=asarray(a).device, stream=stream)
    values = as_array(beside(a, values, stream))
    return np.asarray(values) if isinstance(values, np.generic) else values


def apart(x: Any, a: Any, stream: Any = None) -> Any:
    """Return an input, or a copy if it reads memory of an array that is written before its end."""
    inputs = x.operands.values() if isinstance(x, Lazy) else [x]
    if not any(overlap(one, a) for one in inputs):
        return x
    return transform(lazy("x", x=x, dtype=x.dtype), stream=stream)


def _flat(x: Any, stream: Any) -> Any:
    """Return an array of any library, a lazy input's items, or a number, in one dimension."""
    x = computed(x, stream)
    if isinstance(x, np.ndarray | np.generic):
        return np.asarray(x).reshape(-1)
    return asarray(x).reshape(-1)


def _dtype(x: Any) -> Any:
    """Return NumPy's dtype of an array of any library."""
    return x.dtype if isinstance(x, np.ndarray | Lazy) else asarray(x).dtype


def _scatter(
    fields: dict[str, Any], mode: str, commutative: Any, deterministic: Any, placement: Placement
) -> Any:
    """Call the core: with atomic operations, or without two values of one place."""
    if not items_of(tuple(fields["values"].shape)):
        fields = {**fields, "op": None}  # which changes nothing of any type
    op, dtype = fields["op"], _dtype(fields["in"])
    exact = op in _BUILT_IN and dtype.kind in "biu"
    in_order = bool(deterministic) and not exact
    if op is not None:
        in_order = in_order or (op not in _BUILT_IN and not commutative)
        in_order = in_order or dtype.fields is not None or (dtype.kind == "c" and op != "sum")
    if in_order and items_of(tuple(fields["values"].shape)):
        fields = _distinct(fields, mode, placement)
    return call("scatter", fields, **placement)[0]


def _distinct(fields: dict[str, Any], mode: str, placement: Placement) -> dict[str, Any]:
    """Return the fields with the values of each place as one, combined in their order."""
    options = without_workspace(placement)
    values, indices = fields["values"], fields["indices"]
    size, length, columns = items_of(tuple(values.shape)), fields["length"], fields["columns"]
    rows = max(1, items_of(tuple(fields["in"].shape)) // (length * columns))
    count = size // (rows * columns)
    if isinstance(indices, Lazy):
        indices = _evaluated(indices, fields["in"], placement)
    if isinstance(values, Lazy):
        values = _evaluated(values, fields["in"], placement)
    text = "static_cast<i64>(t[i / c % m])"
    index = lazy(text, t=indices, dtype="int64", size=size, c=columns, m=count)
    k = lazy(_INTO_AXIS[mode], k=index, n=length, dtype="int64")
    text = "(i / r * n + k) * c + i % c"
    places = transform(text, k=k, r=columns * count, n=length, c=columns, dtype="int64", **options)
    order = argsort(places, **options)
    keys, results = reduce_by_key(
        lazy("t[o]", t=places, o=order),
        lazy("v[o]", v=values, o=order, dtype=_dtype(values)),
        fields["op"] or "b",
        dtype=None if _dtype(values).fields else _dtype(values),
        deterministic=True,
        **options,
    )
    return {
        **fields,
        "indices": keys,
        "values": results,
        "length": items_of(tuple(fields["in"].shape)),
        "columns": 1,
        "mode": MODES["clip"],
        "distinct": 1,
    }


@named
def put(a, ind, v, mode="raise", *, deterministic=False, stream=None, device=None) -> None:
    """Replace items of an array taken flat by values, in place, as numpy.put does.

    Parameters
    ----------
    a : array
        Array that is changed.
    ind : array_like
        Integers; negative ones count from the end.
    v : array_like
        Values, converted to the type of `a`, and repeated if they are fewer than the indices. Those
        of an array wrap; a number of Python or one of a list has to be within the type.
    mode : {"raise", "wrap", "clip"}
        As for `take`.
    deterministic : bool
        Of several values for one place the last one stays there, as in NumPy; otherwise any one.
    stream, device
        As for `scatter`.

    Raises
    ------
    IndexError, TypeError, ValueError, OverflowError
        As `scatter`; a TypeError too for an `a` that is no array.

    Examples
    --------
    >>> x = np.arange(5)
    >>> cubc.put(x, [0, -1], [-44, -55])
    >>> print(x)
    [-44   1   2   3 -55]
    """
    a = changeable(a)
    check_mode(mode)
    options: Placement = {"stream": stream, "device": device}
    places = apart(_flat(beside(a, ind, stream), stream), a, stream)
    if np.dtype(_dtype(places)).kind not in "biu" and items_of(tuple(places.shape)):
        raise TypeError(f"put(): the indices are {places.dtype}, expected integers")
    if items_of(tuple(places.shape)) and not items_of(tuple(a.shape)):
        raise IndexError("put(): cannot replace elements of an empty array")
    values = apart(_flat(_beside(a, v, stream), stream), a, stream)
    given, count = items_of(tuple(values.shape)), items_of(tuple(places.shape))
    if not given or not count:
        return
    if _dtype(places).kind == "b":
        places = lazy("k", k=places, dtype="int64")
    if given != count:
        at = {"n": given} if given < count else {}
        values = lazy(
            f"v[{'i % n' if at else 'i'}]", v=values, size=count, dtype=_dtype(values), **at
        )

    def change(x: Any) -> None:
        scatter(x, places, values, mode=mode, deterministic=deterministic, out=x, **options)

    _in_place(a, change)


@named
def put_along_axis(arr, indices, values, axis, *, stream=None, device=None) -> None:
    """Put values into each line along an axis at its own places, as numpy.put_along_axis does.

    Parameters
    ----------
    arr : array
        Array that is changed.
    indices : array_like
        Integers, of the shape of `arr` but for the axis; what `argsort` returns. Other extents may
        differ where one of both is 1.
    values : array_like or number
        Values, of the shape of `indices`, or one that is broadcast to it.
    axis : int or None
        Axis along which to put; None takes `arr` flat.
    stream, device
        As for `scatter`.

    Raises
    ------
    IndexError, TypeError, ValueError, OverflowError
        As `take_along_axis` and `scatter`.

    Examples
    --------
    >>> x = np.array([[10, 30, 20], [60, 40, 50]])
    >>> cubc.put_along_axis(x, np.array([[1], [0]]), 99, axis=1)
    >>> print(x.tolist())
    [[10, 99, 20], [99, 40, 50]]
    """
    a = changeable(arr)
    placement: Placement = {"stream": stream, "device": device}
    places = apart(as_array(beside(a, indices, stream)), a, stream)
    values = apart(values, a, stream)
    if np.dtype(_dtype(places)).kind not in "iu":
        raise IndexError("the indices are no integers")
    shape, of = tuple(a.shape), tuple(places.shape)
    if axis is None:
        if len(of) != 1:
            raise ValueError(f"with axis=None the indices have a single dimension, not {len(of)}")
        shape, axis = (items_of(shape),), 0
    number = axis_number(axis, len(shape))
    lines, of = shapes_along(shape, of, number)
    if of != tuple(places.shape):
        places = broadcast(places, of, placement.get("stream"))
    places = checked_indices("put_along_axis", places, shape, number, "raise", placement)
    if lines != shape:
        _put_repeatedly(a, _flat_places(places, shape, number, of, stream), values, of, placement)
        return
    fields = {
        "indices": places,
        "values": _broadcast(a, values, of, placement),
        "op": None,
        "length": shape[number],
        "columns": items_of(shape[number + 1 :]),
        "along": 1,
        "mode": MODES["raise"],
    }
    _in_place(
        a,
        lambda x: _scatter(
            {**fields, "in": x, "out": ("in", tuple(x.shape), x)}, "raise", False, False, placement
        ),
    )


def _flat_places(places: Any, shape: Any, axis: int, of: Any, stream: Any) -> Any:
    """Return the places of an array taken flat that indices along an axis name.

    Where the array has one item along another axis and the indices more, all of them are its.
    """
    steps = steps_of(shape)
    first = np.zeros(of, np.int64)
    for k, step in enumerate(steps):
        if k != axis and shape[k] > 1:
            along = [1] * len(of)
            along[k] = shape[k]
            first += (np.arange(shape[k]) * step).reshape(along)
    first = in_memory_of(places, first, stream)
    text = "f + (k < 0 ? k + n : k) * s"
    given = {"f": first, "k": places, "n": shape[axis], "s": steps[axis]}
    return transform(text, dtype="int64", stream=stream, **given)


def _put_repeatedly(a: Any, places: Any, values: Any, of: Any, placement: Placement) -> None:
    """Put values at places of an array taken flat; the last one with a place stays there."""
    values = _broadcast(a, values, of, placement)
    _in_place(a, lambda x: scatter(x, places, values, deterministic=True, out=x, **placement))


def _in_place(a: Any, change: Any) -> None:
    """Change an array; of one in host memory with gaps, or not aligned, a copy, which goes back."""
    if not isinstance(a, np.ndarray) or (a.flags.c_contiguous and a.flags.aligned):
        change(a)
        return
    refuse_bound("an array that is not contiguous is copied")
    copy = a.copy()
    change(copy)
    a[...] = copy
