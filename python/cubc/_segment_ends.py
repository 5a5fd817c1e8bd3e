"""Segments with beginnings and ends of their own: with gaps, in any order, overlapping.

Segments that each begin at the end of the one before are those of offsets. Others are reduced where
they lie if their order does not matter to the operator. For all other calls their items are read
one segment behind the other, by an expression that indexes the array; results that lie where the
items lie are scattered back.
"""

from typing import Any

import numpy as np

from ._arrays import (
    as_array,
    beside,
    item_dtype,
    name_of,
    of_device,
    one_dimension,
    refuse_bound,
)
from ._axes import items_of
from ._comparing import array_equal
from ._concatenate import concatenate
from ._core import Lazy, asarray, empty, reduce, scan, transform
from ._lazy import lazy
from ._options import without_workspace
from ._runs import repeat

Joined = tuple[Any, Any, Any]
# A place among n items; numbers of 64 bits without a sign may be beyond those with one.
_INSIDE = "k < 0 ? 0 : static_cast<u64>(k) < static_cast<u64>(n) ? k : n"


def by_offsets(
    function: str, x: Any, begins: Any, ends: Any, placement: Any, *, in_place: bool = False
) -> Joined:
    """Return the items of segments one behind the other, their offsets, and their places in `x`.

    The places are None if the items are those of `x` where they are. `in_place` says that results
    lie where items do, so that what is outside of the segments matters.
    """
    if ends is None:
        return x, None if begins is None else beside(x, begins, placement.get("stream")), None
    options = without_workspace(placement)
    x = evaluated(x, ends, placement)
    one_dimension(function, x, "its segments may lie anywhere")
    begins, ends = own_ends(function, x, begins, ends, placement)
    begins, ends = (b.array(**options) if isinstance(b, Lazy) else b for b in (begins, ends))
    size = items_of(tuple(x.shape))
    if in_place and isinstance(begins, np.ndarray) and isinstance(ends, np.ndarray):
        _check_apart(function, np.clip(begins, 0, size), np.clip(ends, 0, size))
    offsets = _offsets_alike(begins, ends, size, in_place, options)
    return (x, offsets, None) if offsets is not None else _joined(x, begins, ends, size, options)


def own_ends(function: str, x: Any, begins: Any, ends: Any, placement: Any) -> tuple[Any, Any]:
    """Return the beginnings and the ends of segments, checked, in the memory of `x` or lazy."""
    begins, ends = (_bounds(function, x, one, placement.get("stream")) for one in (begins, ends))
    if tuple(begins.shape) != tuple(ends.shape):
        raise ValueError(
            f"{function}(): {begins.shape[0]} offsets and {ends.shape[0]} ends: with ends= there "
            "is one of each for a segment"
        )
    if isinstance(begins, np.ndarray) and isinstance(ends, np.ndarray):
        _check_order(function, begins, ends)
    return begins, ends


def follow(begins: Any, ends: Any, **options: Any) -> bool:
    """Tell if there are segments, each of which begins where the one before ends."""
    if not begins.shape[0]:
        return False
    if isinstance(begins, np.ndarray) and isinstance(ends, np.ndarray):
        return bool(np.array_equal(begins[1:], ends[:-1]))
    return bool(array_equal(begins[1:], ends[:-1], **options))


def evaluated(x: Any, ends: Any, placement: Any) -> Any:
    """Return an array; with ends a lazy input is evaluated, as its items are read out of order."""
    if ends is not None and isinstance(x, Lazy):
        return x.array(**without_workspace(placement))
    return as_array(x)


def _bounds(function: str, x: Any, bounds: Any, stream: Any) -> Any:
    """Return beginnings or ends as an array, or a lazy input, checked."""
    if bounds is None:
        raise ValueError(f"{function}(): ends= goes with offsets, the beginnings of the segments")
    bounds = as_array(bounds)
    if isinstance(bounds, np.ndarray) and bounds.size == 0:  # an empty list is of floats in NumPy
        bounds = bounds.astype(np.int64)
    of = of_device(x)
    if of is not None and isinstance(bounds, np.ndarray):
        bounds = asarray(bounds, device=asarray(of).device, stream=stream)
    if np.dtype(item_dtype(bounds)).kind not in "iu":
        raise TypeError(f"{function}(): offsets and ends are integers, not {bounds.dtype}")
    if len(bounds.shape) != 1:
        raise ValueError(f"{function}(): offsets and ends have one dimension")
    return bounds


def _check_order(function: str, begins: np.ndarray, ends: np.ndarray) -> None:
    wrong = ends < begins
    if wrong.any():
        k = int(wrong.argmax())
        raise ValueError(
            f"{function}(): segment {k} ends at {ends[k]}, before its beginning at {begins[k]}"
        )


def _check_apart(function: str, begins: np.ndarray, ends: np.ndarray) -> None:
    """Raise ValueError if segments overlap, whose results would lie in one place."""
    full = np.flatnonzero(ends > begins)
    full = full[np.argsort(begins[full], kind="stable")]
    wrong = ends[full[:-1]] > begins[full[1:]]
    if wrong.any():
        k = int(wrong.argmax())
        raise ValueError(
            f"{function}(): segments {full[k]} and {full[k + 1]} overlap, as their results would"
        )


def _offsets_alike(begins: Any, ends: Any, size: int, in_place: bool, options: Any) -> Any:
    """Return the offsets of segments of which each begins where the one before ends, or None."""
    if not follow(begins, ends, **options) or not _in_order(begins, ends, options):
        return None
    edges = [begins[:1], ends[-1:]]
    if in_place and [int(_host(edge)[0]) for edge in edges] != [0, size]:
        return None
    parts = [transform("b", b=part, dtype="int64", **options) for part in (begins, edges[1])]
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return concatenate(parts, stream=options.get("stream"))


def _in_order(begins: Any, ends: Any, options: Any) -> bool:
    """Tell if no segment ends before its beginning; as offsets it would take items of others."""
    text = "convert<i64>(b) <= convert<i64>(e)"
    return bool(asarray(reduce(lazy(text, b=begins, e=ends), "all", **options)).item())


def _host(x: Any) -> Any:
    return x if isinstance(x, np.ndarray) else asarray(x).numpy()


def _joined(x: Any, begins: Any, ends: Any, size: int, options: Any) -> Joined:
    begin, end = (lazy(_INSIDE, k=bound, n=size, dtype="int64") for bound in (begins, ends))
    lengths = transform("e > b ? e - b : 0", b=begin, e=end, dtype="int64", **options)
    count = lengths.shape[0]
    offsets = _new(lengths, count + 1, options)
    transform("0", out=offsets[:1], **options)
    if count:
        scan(lengths, out=offsets[1:], **options)
    shift = transform("b - o", b=begin, o=offsets[:count], dtype="int64", **options)
    shifts = repeat(shift, lengths, **options)
    places = lazy("s + i", s=shifts, dtype="int64")
    if not shifts.shape[0]:
        return x.reshape(-1)[:0], offsets, places
    text = "x[s + i]"
    return lazy(text, x=x, s=shifts, dtype=item_dtype(x)), offsets, places


def _new(x: Any, size: int, options: Any) -> Any:
    if isinstance(x, np.ndarray):
        return np.empty(size, np.int64)
    return empty(size, "int64", device=x.device, stream=options.get("stream"))


def put_back(x: Any, places: Any, made: Any, out: Any, placement: Any) -> Any:
    """Return results at their places among the items of `x`; `out` may be `x`."""
    from ._scatter import scatter

    options = without_workspace(placement)
    if out is not None and name_of(out.dtype) != name_of(made.dtype):
        raise TypeError(f"out has {name_of(out.dtype)}, expected {name_of(made.dtype)}")
    if out is None or out is not x:
        out = transform("x", x=x, out=out, dtype=None if out is not None else made.dtype, **options)
    if not made.shape[0]:
        return out
    if isinstance(out, np.ndarray) and not out.flags.c_contiguous:
        refuse_bound("an out that is not contiguous is written")
        out[...] = scatter(out, places, made, mode="clip", **options)
        return out
    return scatter(out, places, made, out=out, mode="clip", **options)


def indices_of(x: Any, out: Any, placement: Any) -> Any:
    """Return the index of each item of `x`, where it is."""
    options = without_workspace(placement)
    shape = tuple(x.shape)
    if out is None:
        on_host = isinstance(x, np.ndarray)
        out = np.empty(shape, np.int64) if on_host else empty(shape, "i8", device=asarray(x).device)
    return transform("i", out=out, **options)
