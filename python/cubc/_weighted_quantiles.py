"""Quantiles of items with weights: the first item below which a share of all weight lies.

Weights are summed in the order of their items, and each share is searched among the sums of its
row, all rows at once.
"""

import warnings
from typing import Any

import numpy as np

from ._arrays import as_array, has_nan, in_memory_of, item_dtype, refuse_bound, refuse_items
from ._core import Lazy, transform
from ._lazy import lazy
from ._numpy import cumsum
from ._ordered import searchsorted
from ._reductions import any as any_of
from ._sorted_rows import Rows, evaluated, item_at, laid_out, or_nan
from ._sorting import argsort
from ._take import take_along_axis

_PLACE = np.dtype([("row", "i8"), ("share", "f8")])
_LESS = "a.row < b.row || (a.row == b.row && a.share < b.share)"
# Sums of 0 lie below the share 0, so that an item without weight is never the first.
_SHARE = "c == 0 ? -1.0 : c / t[i / n]"


def weighted(
    s: Rows, weights: Any, is_flat: bool, q: np.ndarray, shape: Any, out: Any, leaves_nan_out: bool
) -> Any:
    """Return quantiles `q` of rows by "inverted_cdf", or write them to `out`.

    `is_flat` says that no axis was given, so that weights have the shape of the items.
    """
    refuse_bound("the weights are looked through")
    leaves_nan_out = leaves_nan_out and has_nan(s.items)
    w = _as_rows(s, weights, is_flat)
    nowhere = {"k": np.zeros(q.size)}  # places of a result without items
    if s.rows == 0:
        return evaluated(s, item_at("k"), item_dtype(s.items), shape, out, nowhere)
    order = argsort(s.matrix, -1, **s.options)
    x = take_along_axis(s.matrix, order, -1, **s.options)
    w = take_along_axis(w, order, -1, **s.options)
    if leaves_nan_out:
        w = lazy("x != x ? 0.0 : w", x=x, w=w, dtype="float64")
    sums = cumsum(w, 1, "float64", **s.options)
    total = transform(
        "c[i * n + n - 1]", c=sums, n=s.length, size=s.rows, dtype="float64", **s.options
    )
    _check_sums(total, x[:, 0], leaves_nan_out, s.options)
    if not q.size:
        return evaluated(s, item_at("k"), item_dtype(s.items), shape, out, nowhere)
    kind = q.dtype if q.dtype.kind == "f" else "float64"
    shares = transform(_SHARE, c=sums, t=total, n=s.length, dtype=kind, **s.options).reshape(-1)
    wanted = in_memory_of(shares, q.astype("f8").reshape(-1), s.options["stream"])
    places = searchsorted(
        lazy("out_t{i / n, c[i]}", c=shares, n=s.length, size=s.rows * s.length, dtype=_PLACE),
        lazy("out_t{i % r, q[i / r]}", q=wanted, r=s.rows, size=s.rows * q.size, dtype=_PLACE),
        less=_LESS,
        **s.options,
    )
    text = "k - i % r * n < n ? k - i % r * n : n - 1"
    places = transform(text, k=places, r=s.rows, n=s.length, **s.options)
    s = s._replace(items=x.reshape(-1))
    text = item_at("k")
    if has_nan(s.items) and not leaves_nan_out:
        text = or_nan(text, "")
    return evaluated(s, text, item_dtype(s.items), shape, out, {"k": places})


def _as_rows(s: Rows, weights: Any, is_flat: bool) -> Any:
    """Return weights beside the items, as a row for each row or as one for all."""
    w = as_array(weights)
    refuse_items("weights", w, "which do not count how often an item is there", ordered=True)
    w = w.array(**s.options) if isinstance(w, Lazy) else w
    w = in_memory_of(s.items, w, s.options["stream"])
    if any_of(lazy("w < 0", w=w, dtype=bool), None, **s.options):
        raise ValueError("Weights must be non-negative.")
    if tuple(w.shape) == s.shape:
        w = laid_out(w, s.axes, s.options["stream"], s.options["device"])
        return w.reshape(s.rows, s.length)
    if is_flat:
        raise TypeError(f"weights of the shape {tuple(w.shape)} for items of {s.shape}: give axis=")
    if tuple(w.shape) != tuple(s.shape[k] for k in s.axes):
        raise ValueError(f"weights of the shape {tuple(w.shape)}, which is not that of the axes")
    if len(s.axes) > 1:
        w = w.transpose(*sorted(range(len(s.axes)), key=s.axes.__getitem__))
    return w.reshape(1, s.length)


def _check_sums(total: Any, first: Any, leaves_nan_out: bool, options: dict[str, Any]) -> None:
    """Raise ValueError for sums without shares; warn of rows of NaN alone, which have none."""
    bad = lazy("!(t > 0 && t < inf)", t=total, inf=np.inf, dtype=bool)
    if leaves_nan_out:
        if any_of(lazy("x != x", x=first, dtype=bool), **options):
            warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=5)
        bad = lazy("b && x == x", b=bad, x=first, dtype=bool)
    if any_of(bad, **options):
        raise ValueError("Weights included NaN, inf or were all zero.")
