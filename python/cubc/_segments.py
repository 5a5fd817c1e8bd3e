"""Reductions and scans of the segments of an array.

Segment ``s`` of ``x`` is ``x[offsets[s]:offsets[s + 1]]``, or with ``segment_size=k`` the k items
from ``s * k`` on; with ``ends`` it is ``x[offsets[s]:ends[s]]``. A merge path over items and ends
shares out equal work: D. Merrill and M. Garland, "Merge-based Parallel Sparse Matrix-Vector
Multiplication", SC 2016.
"""

from typing import Any, Unpack

import numpy as np

from ._arrays import as_array, dtype_of
from ._callables import operator_of
from ._calls import primitive
from ._core import call, is_binding, operator_types
from ._initial import init_in_memory
from ._options import Placement
from ._segment_ends import by_offsets, evaluated, follow, own_ends, put_back
from ._segment_offsets import known_offsets, segments_of
from ._several import OPERATORS


@primitive(workspace="cubc_segmented_reduce_temp_bytes")
def segmented_reduce(
    x,
    offsets=None,
    /,
    op="sum",
    *,
    segment_size=None,
    ends=None,
    init=None,
    out=None,
    dtype=None,
    commutative=False,
    deterministic=False,
    **placement: Unpack[Placement],
) -> Any:
    """Reduce every segment of an array to one item.

    Parameters
    ----------
    x : array_like
        Array of any number of dimensions, taken flat in C order.
    offsets : array_like, optional
        Integers of one dimension, in rising order: segment ``s`` is
        ``x[offsets[s]:offsets[s + 1]]``, so that there is one segment less than offsets. Parts
        outside of ``x`` are not read. Unlike ``numpy.add.reduceat``, the end of the last segment is
        given too, and a segment may be empty.
    op : str
        "sum", "prod", "min", "max", "any", "all", "argmin", "argmax", or a C expression of a and b.
        An index counts from the first item of its segment.
    segment_size : int, optional
        Number of items of every segment, in place of offsets. The size of `x` is a multiple of it.
    ends : array_like, optional
        End of each segment, as many as there are offsets, which are the beginnings alone then:
        segment ``s`` is ``x[offsets[s]:ends[s]]``. Segments may have gaps between them, lie in any
        order and overlap. With `deterministic`, and for an expression that is not `commutative`,
        the items are gathered first unless each begins where the one before ends; the call waits
        for their number then.
    init : number or array, optional
        First operand of each segment, as for `reduce`, and the result of an empty one. The default
        for an empty segment is the operator's identity (for min and max an infinity or an extreme
        integer), and -1 for an index. An expression with offsets needs it.
    out : array, optional
        Array for the result, one item for each segment. It must not overlap the inputs.
    dtype, commutative
        As for `reduce`.
    deterministic : bool
        As for `reduce`. The result of a segment then has the bits of `reduce` of that segment with
        ``deterministic=True``.

    Returns
    -------
    numpy.ndarray, cubc.Array or out
        One item for each segment, of the type that `reduce` returns.

    Raises
    ------
    ValueError
        If neither or both of offsets and segment_size are given; if offsets in host memory fall, or
        an end there is before its beginning; if `x` is not a multiple of segment_size; if an
        expression with offsets has no init.
    TypeError
        For offsets or ends that are no integers; as `reduce`.
    CompileError
        As `reduce`.

    Notes
    -----
    Every item is read once, whatever the lengths are: a warp or a part of one takes a segment, a
    long one is cut into sections for many warps, and very short ones are shared out by items. The
    temporary storage is a hundredth of `x` at most, and a few bytes for each block; with `ends` it
    has 8 bytes more for each segment. Results have the same bits from run to run, as those of
    `reduce`. Offsets on a device are not checked: if they fall, results are undefined, of other
    segments too. A segment that ends before its beginning there is empty.

    With `deterministic` a segment is cut into tiles from its first item on. A lane of a warp, a
    warp, or a block for each tile reduces it, all in the same order. The temporary storage is then
    about a byte for 150 items of float32. The error of a sum has the bound of `reduce`.

    Examples
    --------
    >>> print(cubc.segmented_reduce(np.arange(6.0), segment_size=3))
    [ 3. 12.]
    """
    x = as_array(x)
    op = operator_of(op, x, dtype) if callable(op) else op
    named = isinstance(op, str) and op in OPERATORS
    any_order = not deterministic and (commutative or named)
    if ends is not None and segment_size is None and any_order:
        offsets, ends = own_ends("segmented_reduce", x, offsets, ends, placement)
        offsets, ends = (known_offsets("segmented_reduce", one) for one in (offsets, ends))
        count = ends.shape[0]
        # A thread of the cpu takes a whole segment with an end. A bound call reads ends again.
        on_host = isinstance(offsets, np.ndarray) and isinstance(ends, np.ndarray)
        if on_host and not is_binding() and follow(offsets, ends):
            offsets, ends = np.append(offsets, ends[-1]), None
    else:
        x, offsets, _ = by_offsets("segmented_reduce", x, offsets, ends, placement)
        offsets, count = segments_of("segmented_reduce", x, offsets, segment_size)
        ends = None
    acc, kind = operator_types(op, x.dtype, dtype=dtype, out=dtype_of(out), widen=True)
    fields = {
        "in": x,
        "offsets": offsets,
        "ends": ends,
        "acc_type": acc,
        "op": op,
        "commutative": bool(commutative),
        "deterministic": bool(deterministic),
        "init": init_in_memory(init, acc),
        "out": (kind, (count,), out),
    }
    return call("segmented_reduce", fields, **placement)[0]


@primitive(workspace="cubc_scan_temp_bytes")
def segmented_scan(
    x,
    offsets=None,
    /,
    op="sum",
    *,
    segment_size=None,
    ends=None,
    inclusive=True,
    init=None,
    out=None,
    dtype=None,
    deterministic=False,
    **placement: Unpack[Placement],
) -> Any:
    """Scan every segment of an array by itself.

    Parameters
    ----------
    x : array_like
        Array of any number of dimensions, taken flat in C order.
    offsets, segment_size : optional
        Segments, as for `segmented_reduce`. Items before the first segment are scanned as a segment
        more, and so are those behind the last.
    ends : array_like, optional
        As for `segmented_reduce`, but that segments do not overlap. All other items stay as they
        are.
    op, inclusive : optional
        As for `scan`.
    init : optional
        First operand of each segment. The default of an exclusive scan is the operator's identity;
        with `min`, `max` or an expression it needs a value.
    out : array, optional
        Array for the result, of the shape of `x`. It may be `x`, if its items are as large.
    dtype : optional
        Type of the result and of the arithmetic; by default that of `x`, as for `scan`.
    deterministic : bool
        As for `scan`.

    Returns
    -------
    numpy.ndarray, cubc.Array or out
        Array of the shape of `x`; in host memory if `x` is, else on the device of `x`.

    Raises
    ------
    TypeError, ValueError, CompileError
        As `scan` and `segmented_reduce`.

    Notes
    -----
    The call is one pass with decoupled look-back, as `scan`, over pairs of a value and a flag that
    begins a segment (S. Sengupta et al., "Scan Primitives for GPU Computing", Graphics Hardware
    2007). Each block marks the offsets that lie in its tile, so that an item takes the same time
    whatever the lengths are. Results of floats may differ in the last digits from run to run,
    unless `deterministic` is set. Offsets on a device are not checked: if they fall, results are
    undefined, of other segments too.

    Examples
    --------
    >>> print(cubc.segmented_scan(np.arange(6.0), segment_size=3))
    [ 0.  1.  3.  3.  7. 12.]
    """
    given = x = evaluated(x, ends, placement)
    x, offsets, places = by_offsets("segmented_scan", x, offsets, ends, placement, in_place=True)
    offsets, count = segments_of("segmented_scan", x, offsets, segment_size)
    acc, kind = operator_types(op, x.dtype, dtype=dtype, out=dtype_of(out))
    fields = {
        "in": x,
        "offsets": offsets,
        "segments": count,
        "op": op,
        "inclusive": bool(inclusive),
        "deterministic": bool(deterministic),
        "acc_type": acc,
        "init": init_in_memory(init, acc),
        "out": (kind, "in", out if places is None else None),
    }
    made = call("scan", fields, **placement)[0]
    return made if places is None else put_back(given, places, made, out, placement)
