"""Runs of equal consecutive keys: reductions, scans, lengths, and repetition.

The number of runs is known when the work is done. Calls with one result for each run wait for it,
unless the caller gives ``count=``.
"""

from typing import Any, Unpack

import numpy as np

from ._arrays import as_array, computed, dtype_of, one_dimension, output_pair
from ._axes import axis_number, items_of
from ._calls import primitive
from ._core import Lazy, asarray, call, operator_types, scan, transform
from ._initial import init_in_memory
from ._lazy import lazy
from ._options import Placement, without_workspace
from ._payload import is_moved, take_values, with_indices
from ._selections import _first
from ._take import places_of, take

MOST_REPEATS = 1 << 60  # of all items, so that int64 holds every sum and size


@primitive(workspace="cubc_runs_temp_bytes")
def reduce_by_key(
    keys,
    values,
    /,
    op="sum",
    *,
    out=None,
    count=None,
    dtype=None,
    deterministic=False,
    equal=None,
    **placement: Unpack[Placement],
) -> tuple[Any, Any]:
    """Reduce the values of each run of equal consecutive keys.

    Parameters
    ----------
    keys : array_like
        Array of one dimension. NaN differs from all keys; 0.0 and -0.0 are equal.
    values : array_like
        Array with one value for each key.
    op : str
        Operator as for `reduce`, without argmin and argmax: a name, or an associative C expression
        of ``a`` and ``b``, whose operands keep their order.
    out : tuple of two arrays, optional
        Arrays for keys and results, each with as many items as `keys`. They may be `keys` and
        `values`, if an item of the results is as large as one of `values`.
    count : array, optional
        One int64 in the device's memory, to which the number of runs is written. The call then does
        not wait, and returns the whole of `out`. Items past the count are undefined.
    dtype : optional
        Type of the results and of the arithmetic, as for `reduce`: integers are summed and
        multiplied in 64 bits by default.
    deterministic : bool
        As for `scan`.
    equal : str or function, optional
        When a key belongs to the run of the key before it: a C expression of ``a``, the
        key before, and ``b``, such as ``"a / 10 == b / 10"`` or of structs ``"a.id == b.id"``;
        or a Python function of both. By default they are equal.

    Returns
    -------
    keys, results : array
        Key and reduced values of each run. NumPy arrays if the inputs are in host memory, else
        cubc.Arrays or the parts of `out`.

    Raises
    ------
    TypeError
        For items that `asarray` does not take; for an `out` of another type.
    ValueError
        If there is not one value for each key, or an array has not one dimension.
    CompileError
        If the expression does not compile.

    Notes
    -----
    Sums of floats may differ in the last digits from call to call, as those of `scan`, unless
    `deterministic` is set. A result then has the bits of the run's last item in `scan_by_key`.

    The workspace has at most 32 bytes for each tile of some thousand items.

    The call is a single pass: a scan of pairs of count and sum, whose sum begins anew at each key
    that differs from the one before it [1]_, with decoupled look-back [2]_.

    References
    ----------
    .. [1] S. Sengupta, M. Harris, Y. Zhang and J. Owens, "Scan Primitives for GPU Computing",
       Graphics Hardware 2007.
    .. [2] D. Merrill and M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back",
       NVR-2016-002.

    Examples
    --------
    >>> print(*cubc.reduce_by_key(np.array([7, 7, 9]), np.array([1.0, 2.0, 4.0])))
    [7 9] [3. 4.]
    >>> print(*cubc.reduce_by_key(np.array([71, 78, 9]), np.arange(3), equal="a / 10 == b / 10"))
    [71  9] [1 2]
    """
    keys_out, results_out = output_pair("reduce_by_key", out, "(keys, results)")
    _check("reduce_by_key", keys, values)
    acc, result = operator_types(
        op, _dtype(values), dtype=dtype, out=dtype_of(results_out), widen=True
    )
    fields = {
        "keys": keys,
        "values": values,
        "op": op,
        "acc_type": acc,
        "deterministic": bool(deterministic),
        "equal": equal,
        "keys_out": ("keys", "keys", keys_out),
        "out": (result, "keys", results_out),
    }
    return _runs(fields, count, placement)


@primitive(workspace="cubc_scan_temp_bytes")
def scan_by_key(
    keys,
    values,
    /,
    op="sum",
    *,
    inclusive=True,
    init=None,
    out=None,
    dtype=None,
    deterministic=False,
    equal=None,
    **placement: Unpack[Placement],
) -> Any:
    """Scan the values of each run of equal consecutive keys by themselves.

    Parameters
    ----------
    keys, values : array_like
        As for `reduce_by_key`.
    op : str
        As for `scan`.
    inclusive : bool
        True: a result includes its own item. False: it ends before it.
    init : number or array, optional
        First operand of each run, as for `reduce`. The default of an exclusive scan is the
        operator's identity; with `min`, `max` or an expression it needs a value.
    out : array, optional
        Array for the result, with as many items as `keys`. It may be `values`, if its items are as
        large.
    dtype : optional
        Type of the result and of the arithmetic; by default that of `values`, as for `scan`.
    deterministic : bool
        As for `scan`.
    equal : optional
        As for `reduce_by_key`.

    Returns
    -------
    array
        Array of as many items as `keys`; a NumPy array if the inputs are in host memory, else a
        cubc.Array or `out`.

    Raises
    ------
    TypeError, ValueError, CompileError
        As for `reduce_by_key`.

    Notes
    -----
    Results of floats may differ in the last digits from call to call, as those of `scan`, unless
    `deterministic` is set. The method is that of `reduce_by_key`, with a flag in place of the
    count.

    Examples
    --------
    >>> print(cubc.scan_by_key(np.array([7, 7, 9]), np.array([1.0, 2.0, 4.0])))
    [1. 3. 4.]
    """
    _check("scan_by_key", keys, values)
    acc, result = operator_types(op, _dtype(values), dtype=dtype, out=dtype_of(out))
    fields = {
        "in": values,
        "keys": keys,
        "op": op,
        "inclusive": bool(inclusive),
        "deterministic": bool(deterministic),
        "equal": equal,
        "acc_type": acc,
        "init": init_in_memory(init, acc),
        "out": (result, "in", out),
    }
    return call("scan", fields, **placement)[0]


@primitive(workspace="cubc_runs_temp_bytes")
def unique_by_key(
    keys, values, /, *, out=None, count=None, equal=None, **placement: Unpack[Placement]
) -> tuple[Any, Any]:
    """Select key and value of the first item of each run of equal consecutive keys.

    Parameters
    ----------
    keys : array_like
        As for `reduce_by_key`.
    values : array_like
        Array with one value for each key, as for `sort_pairs`.
    out : tuple of two arrays, optional
        Arrays for keys and values, of the types and lengths of `keys` and `values`. They may be
        these.
    count, equal : optional
        As for `reduce_by_key`.

    Returns
    -------
    keys, values : array
        Arrays as of `reduce_by_key`.

    Raises
    ------
    TypeError, ValueError
        As for `reduce_by_key`.

    Notes
    -----
    The call is a single pass with decoupled look-back, as `reduce_by_key`.

    Examples
    --------
    >>> print(*cubc.unique_by_key(np.array([7, 7, 9]), np.array([1.0, 2.0, 4.0])))
    [7 9] [1. 4.]
    """
    keys_out, values_out = output_pair("unique_by_key", out, "(keys, values)")
    _check("unique_by_key", keys)
    if not is_moved(values):
        return _unique_by_indices(keys, values, (keys_out, values_out), count, equal, placement)
    one_dimension("unique_by_key", values, "give rows of another size, or values as x.ravel()")
    if isinstance(values, Lazy):
        values = values.array(**without_workspace(placement))
    fields = {
        "keys": keys,
        "values": values,
        "equal": equal,
        "keys_out": ("keys", "keys", keys_out),
        "out": ("values", "keys", values_out),
    }
    return _runs(fields, count, placement)


@primitive(workspace="cubc_runs_temp_bytes")
def run_length_encode(
    x, /, *, out=None, count=None, equal=None, **placement: Unpack[Placement]
) -> tuple[Any, Any]:
    """Find item and length of each run of equal consecutive items.

    `repeat` is its inverse: ``cubc.repeat(*cubc.run_length_encode(x))`` is `x`.

    Parameters
    ----------
    x : array_like
        Array of one dimension. NaN differs from all items; 0.0 and -0.0 are equal.
    out : tuple of two arrays, optional
        Arrays for items and lengths, each with as many items as `x`. The lengths are int64 or
        int32. The array for items may be `x`.
    count, equal : optional
        As for `reduce_by_key`.

    Returns
    -------
    values, lengths : array
        Arrays as of `reduce_by_key`. The lengths are int64 (CUB's are int32).

    Raises
    ------
    TypeError, ValueError
        As for `reduce_by_key`.

    Notes
    -----
    The call is a single pass with decoupled look-back, as `reduce_by_key`.

    Examples
    --------
    >>> print(*cubc.run_length_encode(np.array([7, 7, 9])))
    [7 9] [2 1]
    >>> print(*cubc.run_length_encode(np.array([1.0, 1.2, 1.4, 9.0]), equal="b - a < 0.5"))
    [1. 9.] [3 1]
    """
    values_out, lengths_out = output_pair("run_length_encode", out, "(values, lengths)")
    _check("run_length_encode", x)
    lengths = dtype_of(lengths_out) or "int64"
    fields = {
        "keys": x,
        "equal": equal,
        "keys_out": ("keys", "keys", values_out),
        "out": (lengths, "keys", lengths_out),
    }
    return _runs(fields, count, placement)


@primitive(workspace="cubc_runs_temp_bytes")
def nontrivial_runs(
    x, /, *, out=None, count=None, equal=None, **placement: Unpack[Placement]
) -> tuple[Any, Any]:
    """Find offset and length of each run of two or more equal consecutive items.

    Parameters
    ----------
    x : array_like
        As for `run_length_encode`.
    out : tuple of two arrays, optional
        Arrays for offsets (int64) and lengths (int64 or int32), each with half as many items as
        `x`.
    count, equal : optional
        As for `reduce_by_key`.

    Returns
    -------
    offsets, lengths : array
        Arrays as of `reduce_by_key`; both int64.

    Raises
    ------
    TypeError, ValueError
        As for `reduce_by_key`.

    Notes
    -----
    The call is a single pass with decoupled look-back, as `reduce_by_key`.

    Examples
    --------
    >>> print(*cubc.nontrivial_runs(np.array([7, 7, 9])))
    [0] [2]
    """
    offsets_out, lengths_out = output_pair("nontrivial_runs", out, "(offsets, lengths)")
    _check("nontrivial_runs", x)
    most = (_size(x) // 2,)
    lengths = dtype_of(lengths_out) or "int64"
    fields = {
        "keys": x,
        "equal": equal,
        "offsets": ("int64", most, offsets_out),
        "out": (lengths, most, lengths_out),
    }
    return _runs(fields, count, placement)


@primitive(workspace="cubc_scan_temp_bytes")
def repeat(x, /, repeats, axis=None, *, out=None, **placement: Unpack[Placement]) -> Any:
    """Repeat each item of an array a number of times, as numpy.repeat does: run-length decoding.

    Parameters
    ----------
    x : array_like
        Array of any number of dimensions.
    repeats : int or array_like
        Integers of 0 or more, one for each item or for all. Their sum is less than 2^60. They are
        not checked in a device's memory.
    axis : int, optional
        Axis along which to repeat; by default `x` is taken flat.
    out : array, optional
        Array for the result, of the type of `x`. A call of one dimension then does not wait: items
        past the sum of `repeats` are filled with the last item of `x`, and repeats that do not fit
        are left out.

    Returns
    -------
    array
        Array of as many items, or `out`. A NumPy array if `x` is in host memory, else a cubc.Array.

    Raises
    ------
    TypeError
        If `repeats` are no integers, or `out` is of another type than `x`.
    ValueError
        If there is not one number for each item; if a number in host memory is negative, or the sum
        too large; for an axis that is not there.

    Notes
    -----
    The call scans `repeats` first. Then each block finds the item at the beginning of its part of
    the result, marks where others begin, and scans the marks. Parts have the same size, however
    long the runs are (load-balancing search, as in S. Baxter's moderngpu, 2013). One number for all
    items, and an axis of several, take items by their indices.

    Examples
    --------
    >>> print(cubc.repeat(np.array([1.0, 2.0]), np.array([2, 1])))
    [1. 1. 2.]
    """
    x = as_array(x) if not isinstance(x, Lazy) else x
    untyped = isinstance(repeats, list | tuple) and not np.size(repeats)
    if not untyped and "float" in operator_types("sum", _dtype(repeats))[1]:
        raise TypeError("repeat(): the repeats are floats: give integers")
    shape = tuple(x.shape)
    number = 0 if axis is None else axis_number(axis, len(shape) or 1)
    length = items_of(shape) if axis is None or not shape else shape[number]
    to = {"mode": "clip", "out": out, **without_workspace(placement)}
    if isinstance(repeats, Lazy) and _is_for_all(repeats, length):
        repeats = computed(repeats, placement.get("stream"))
    if not isinstance(repeats, Lazy):
        given = repeats
        repeats = np.asarray(repeats) if isinstance(repeats, np.generic) else as_array(repeats)
        if not isinstance(repeats, np.ndarray) and _is_for_all(repeats, length):
            repeats = asarray(repeats).numpy()  # the host has to know how long the result is
        if isinstance(repeats, np.ndarray):
            _check_repeats(repeats.ravel())
            if repeats.size == 1 and (repeats.ndim == 0 or length != 1):
                each = int(repeats.ravel()[0])
                places = lazy("i / r", r=each, size=length * each, dtype="int64")
                return take(x, places, axis, **to)
        if isinstance(given, list | tuple):
            repeats = places_of(x, given, placement.get("stream"))
    one_dimension("repeat", repeats, "give a number for each item")
    if length != _size(repeats):
        raise ValueError(
            f"repeat(): {_size(repeats)} repeats for {length} items: one is needed for each"
        )
    if len(shape) != 1:
        places = lazy("i", size=length, dtype="int64")
        if not isinstance(repeats, np.ndarray):
            places = transform(
                "r * 0 + i", r=repeats, dtype="int64", **without_workspace(placement)
            )
        return take(x, repeat(places, repeats, **placement), axis, **to)
    ends = scan(repeats, dtype="int64", **placement)
    if out is not None:
        one_dimension("repeat", out, "give out as out.ravel()")
        total = _size(out)
    else:
        total = int(asarray(ends[-1:], device=placement.get("device")).numpy()[0]) if length else 0
        if total < 0:
            raise ValueError(f"repeat(): the repeats add up to {total}: none may be negative")
    fields = {"in": x, "ends": ends, "out": ("in", (total,), out)}
    return call("repeat", fields, **without_workspace(placement))[0]


def _unique_by_indices(
    keys: Any, values: Any, out: Any, count: Any, equal: Any, placement: Placement
):
    """Return first keys and first values of runs, which are taken by their indices."""
    keys, values, indices = with_indices(keys, values, placement)
    fields = {
        "keys": keys,
        "values": indices,
        "equal": equal,
        "keys_out": ("keys", "keys", out[0]),
        "out": ("values", "keys", None),
    }
    heads, order = _runs(fields, count, placement)
    to = None if out[1] is None else out[1][: order.shape[0]]
    return heads, take_values(values, order, to, placement)


def _runs(fields: dict[str, Any], count, placement: Placement) -> tuple[Any, Any]:
    """Return the results of the runs: the whole of the outputs if the caller gives `count`."""
    fields["count"] = ("int64", (), count)
    keys, offsets, results, number = call("runs", fields, **placement)
    heads, name = (offsets, "offsets") if keys is None else (keys, "keys_out")
    if count is not None:
        return heads, results
    found = int(number)
    return (
        _first(heads, found, made=fields[name][2] is None),
        _first(results, found, made=fields["out"][2] is None),
    )


def _check(function: str, keys: Any, values: Any = None) -> None:
    one_dimension(function, keys, f"give {'all items' if values is None else 'keys'} as x.ravel()")
    if values is not None:
        one_dimension(function, values, "give values as x.ravel()")


def _is_for_all(repeats: Any, length: int) -> bool:
    """Tell if an array is one number of repeats, by which all items go."""
    shape = tuple(repeats.shape)
    return not shape or (shape == (1,) and length != 1)


def _check_repeats(repeats: np.ndarray) -> None:
    below = repeats < 0
    if below.any():
        k = int(below.argmax())
        raise ValueError(f"repeat(): none may be negative, and repeats[{k}] is {repeats[k]}")
    total = float(repeats.sum(dtype=np.float64))  # int64 may wrap, and be a small number then
    if total >= MOST_REPEATS:
        raise ValueError(f"repeat(): the repeats add up to {total:.4g}, expected less than 2^60")


def _size(x: Any) -> int:
    """Return the number of items of an array of one dimension, of any library."""
    return x.shape[0] if hasattr(x, "shape") else len(x)


def _dtype(x: Any) -> Any:
    return x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype
