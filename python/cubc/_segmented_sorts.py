"""Sorts and top-k of the segments of an array, which `_segments` says how to name."""

from typing import Any, Unpack

from ._arrays import as_array, one_dimension, output_pair, overlap
from ._calls import primitive, truth, whole
from ._core import call, transform
from ._options import Placement, without_workspace
from ._payload import call_with_values, take_values, with_indices
from ._segment_ends import by_offsets, evaluated, indices_of, put_back
from ._segment_offsets import segments_of


@primitive(workspace="cubc_segmented_sort_temp_bytes, aligned to 256 bytes")
def segmented_sort(
    x,
    offsets=None,
    /,
    *,
    segment_size=None,
    ends=None,
    descending=False,
    out=None,
    **placement: Unpack[Placement],
) -> Any:
    """Sort every segment of a copy of an array by itself; the sort is stable.

    Parameters
    ----------
    x : array_like
        Keys, of one dimension. With segment_size= there may be several dimensions, taken flat in C
        order.
    offsets, segment_size : optional
        Segments, as for `segmented_reduce`. Items before the first segment are sorted as a segment
        more, and so are those behind the last.
    ends : array_like, optional
        As for `segmented_reduce`, but that segments do not overlap. All other items stay as they
        are.
    descending : bool
        True sorts the largest key first. Equal keys keep their order here too.
    out : array, optional
        Array for the result, of the shape and type of `x`. It may be `x`; any other overlap of
        contiguous arrays is refused.

    Returns
    -------
    numpy.ndarray, cubc.Array or out
        Result; in host memory if `x` is, else on the device of `x`.

    Raises
    ------
    TypeError, ValueError
        As `sort` and `segmented_reduce`.

    Notes
    -----
    The method is a merge sort that merges inside of segments alone [1]_. Segments that fit a block
    are read and written once, several short ones by one block. In longer segments each round of
    merges doubles the length of the sorted runs. The call does not wait for the lengths. If a
    segment may be longer than a block holds, the temporary storage is as large as `x`. The order is
    that of `sort`. Offsets on a device are not checked: if they fall, the result is undefined.

    A long segment of one size is sorted by itself, as `sort` does: from 65536 items on the cpu, on
    a GPU from 2^20, from 3000000 if keys have 8 bytes, and from 16384 if there are at most three
    segments of shorter keys.

    References
    ----------
    .. [1] S. Baxter, "Modern GPU", 2013: segmented sort and locality sort.

    Examples
    --------
    >>> print(cubc.segmented_sort(np.array([3.0, 1.0, 2.0, 0.0]), segment_size=2))
    [1. 3. 0. 2.]
    """
    given = x = evaluated(x, ends, placement)
    x, offsets, places = by_offsets("segmented_sort", x, offsets, ends, placement, in_place=True)
    fields = _sorting("segmented_sort", x, offsets, segment_size, descending)
    fields |= {"keys_out": ("keys_in", "keys_in", out if places is None else None)}
    made = call("segmented_sort", fields, **placement)[0]
    return made if places is None else put_back(given, places, made, out, placement)


@primitive(workspace="cubc_segmented_sort_temp_bytes, aligned to 256 bytes")
def segmented_argsort(
    x,
    offsets=None,
    /,
    *,
    segment_size=None,
    ends=None,
    descending=False,
    out=None,
    **placement: Unpack[Placement],
) -> Any:
    """Find the indices that sort every segment.

    ``x[segmented_argsort(x, o)]`` is ``segmented_sort(x, o)``.

    Parameters
    ----------
    x, offsets, segment_size, ends, descending
        As for `segmented_sort`.
    out : array, optional
        Array for the indices, int64, of the shape of `x`.

    Returns
    -------
    numpy.ndarray, cubc.Array or out
        Indices, int64. They count from the first item of `x`, not of a segment.

    Raises
    ------
    TypeError, ValueError
        As `segmented_sort`.

    Examples
    --------
    >>> print(cubc.segmented_argsort(np.array([3.0, 1.0, 2.0, 0.0]), segment_size=2))
    [1 0 3 2]
    """
    given = x = evaluated(x, ends, placement)
    x, offsets, places = by_offsets("segmented_argsort", x, offsets, ends, placement, in_place=True)
    fields = _sorting("segmented_argsort", x, offsets, segment_size, descending)
    fields |= {
        "keys_out": ("keys_in", "keys_in", None),
        "indices_out": ("int64", "keys_in", out if places is None else None),
        "value_bytes": 8,
    }
    made = call("segmented_sort", fields, **placement)[2]
    return made if places is None else _order_of(given, places, made, out, placement)


def _order_of(x: Any, places: Any, made: Any, out: Any, placement: Any) -> Any:
    """Return the indices that sort segments that lie at places of `x`: others stay."""
    if made.shape[0]:
        options = without_workspace(placement)
        made = transform("p[m]", p=places.array(**options), m=made, **options)
    to = indices_of(x, out, placement)
    return put_back(to, places, made, to, placement)


@primitive(workspace="cubc_segmented_sort_temp_bytes, aligned to 256 bytes")
def segmented_sort_pairs(
    keys,
    values,
    offsets=None,
    /,
    *,
    segment_size=None,
    ends=None,
    descending=False,
    out=None,
    **placement: Unpack[Placement],
) -> tuple[Any, Any]:
    """Sort every segment of keys by itself, and move values with their keys; the sort is stable.

    Parameters
    ----------
    keys, offsets, segment_size, ends, descending
        As for `segmented_sort`.
    values, out
        As for `sort_pairs`.

    Returns
    -------
    keys, values : numpy.ndarray or cubc.Array
        Sorted keys and their values; in host memory if both inputs are, else on their device.

    Raises
    ------
    TypeError, ValueError
        As `segmented_sort` and `sort_pairs`.

    Examples
    --------
    >>> keys = np.array([3.0, 1.0, 2.0, 0.0])
    >>> print(*cubc.segmented_sort_pairs(keys, np.arange(4), segment_size=2))
    [1. 3. 0. 2.] [1 0 3 2]
    """
    outs = output_pair("segmented_sort_pairs", out)
    given = keys = evaluated(keys, ends, placement)
    name = "segmented_sort_pairs"
    keys, offsets, places = by_offsets(name, keys, offsets, ends, placement, in_place=True)
    fields = _sorting(name, keys, offsets, segment_size, descending)
    if places is not None:
        return _pairs_at(given, values, places, fields, outs, placement)
    fields |= {
        "values_in": values,
        "keys_out": ("keys_in", "keys_in", outs[0]),
        "values_out": ("values_in", "values_in", outs[1]),
    }
    return call_with_values("segmented_sort", fields, **placement)[:2]


def _pairs_at(keys: Any, values: Any, places: Any, fields: Any, outs: Any, placement: Any) -> Any:
    """Return pairs of which segments at places are sorted: values are taken by their indices."""
    keys, values, _ = with_indices(keys, values, placement)
    apart = [(outs[0], values), (outs[1], keys), outs]
    if any(a is not None and b is not None and overlap(a, b) for a, b in apart):
        raise ValueError("the output of keys overlaps values, or that of values keys")
    fields |= {
        "keys_out": ("keys_in", "keys_in", None),
        "indices_out": ("int64", "keys_in", None),
        "value_bytes": 8,
    }
    sorted_keys, _, indices = call("segmented_sort", fields, **placement)
    order = _order_of(keys, places, indices, None, placement)
    return (
        put_back(keys, places, sorted_keys, outs[0], placement),
        take_values(values, order, outs[1], placement),
    )


@primitive(workspace="cubc_segmented_topk_temp_bytes")
def segmented_topk(
    x,
    k,
    offsets=None,
    /,
    *,
    segment_size=None,
    ends=None,
    largest=True,
    sorted=True,
    out=None,
    **placement: Unpack[Placement],
) -> tuple[Any, Any]:
    """Find the k largest keys of every segment, or the k smallest, and their indices.

    Parameters
    ----------
    x : array_like
        Keys, of one dimension. With segment_size= there may be several dimensions, taken flat in C
        order.
    k : int
        Number of keys to find, at most 2048; with segment_size= at most that.
    offsets, segment_size, ends : optional
        Segments, as for `segmented_reduce`.
    largest : bool
        True finds the largest keys, False the smallest.
    sorted : bool
        True sorts the result of each segment, as `topk` does. False saves most of that sort: the
        items are the same, and their order is unspecified, but the same in each call.
    out : tuple of two arrays, optional
        Arrays for keys and indices (int64), of shape (segments, k) each.

    Returns
    -------
    keys, indices : numpy.ndarray, cubc.Array or those of out
        Keys and indices of each segment, those that `topk` finds in it. Indices count from the
        first item of the segment. Behind the last item of a segment of fewer than k, keys are 0 and
        indices -1.

    Raises
    ------
    TypeError, ValueError
        As for `segmented_sort`; if k is out of range.

    Notes
    -----
    Keys are read once. On a GPU a block takes a segment, and keeps what may be among the k in its
    shared memory; a warp takes one of up to 128 items. Segments that are fewer than the blocks that
    run at once are cut into parts, from whose keys a second launch selects. A long segment among
    many short ones is one block's work.

    Examples
    --------
    >>> print(*cubc.segmented_topk(np.array([3.0, 1.0, 2.0, 0.0]), 1, segment_size=2))
    [[3.]
     [2.]] [[0]
     [0]]
    """
    x = as_array(x)
    x, offsets, _ = by_offsets("segmented_topk", x, offsets, ends, placement)
    if segment_size is None:
        one_dimension("segmented_topk", x, "its segments may have any length")
    offsets, count = segments_of("segmented_topk", x, offsets, segment_size)
    keys_out, indices_out = output_pair("segmented_topk", out, "(keys, indices)")
    k = number_of_keys("segmented_topk", k)
    fields = {
        "in": x,
        "offsets": offsets,
        "segments": count,
        "k": k,
        "largest": bool(largest),
        "unordered": not sorted,
        "keys_out": ("in", (count, k), keys_out),
        "indices_out": ("int64", (count, k), indices_out),
    }
    return call("segmented_topk", fields, **placement)


def number_of_keys(function: str, k: Any) -> int:
    """Return the k of a top-k as an int."""
    k = whole(function, "k", k)
    if k < 0:
        raise ValueError(f"{function}(): k is {k}, which is out of range")
    return k


def sort_in_segments(x, size, descending, **placement) -> tuple[Any, Any]:
    """Return the keys of each segment of one size, sorted, and their indices in the segment."""
    fields = _sorting("sort", x, None, size, descending)
    fields |= {
        "keys_out": ("keys_in", "keys_in", None),
        "indices_out": ("int64", "keys_in", None),
        "value_bytes": 8,
        "relative": True,
    }
    keys, _, indices = call("segmented_sort", fields, **placement)
    return keys, indices


def argsort_in_segments(x, size, descending, out, **placement) -> Any:
    """Return the indices in each segment of one size that sort it, in the shape of `x`."""
    fields = _sorting("argsort", x, None, size, descending)
    fields |= {
        "keys_out": ("keys_in", "keys_in", None),
        "indices_out": ("int64", "keys_in", out),
        "value_bytes": 8,
        "relative": True,
    }
    return call("segmented_sort", fields, **placement)[2]


def _sorting(function, x, offsets, size, descending) -> dict[str, Any]:
    """Return the parameters that all sorts of segments have."""
    x = as_array(x)
    if size is None:
        one_dimension(function, x, "its segments may have any length")
    offsets, count = segments_of(function, x, offsets, size)
    return {
        "keys_in": x,
        "offsets": offsets,
        "segments": count,
        "descending": truth("descending", descending),
    }
