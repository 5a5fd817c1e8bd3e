"""Items along axes as rows that are sorted, and expressions of items at places of the rows."""

import math
from typing import Any, NamedTuple

import numpy as np

from ._arrays import as_array, is_on_cpu, refuse_bound, refuse_items
from ._axes import axis_numbers, items_of, rows_along
from ._core import Array, Lazy, asarray, empty, transform
from ._sorting import sort


class Rows(NamedTuple):
    """Items along some axes."""

    items: Any  # of one dimension, one row behind the other
    shape: tuple[int, ...]  # of the array
    axes: tuple[int, ...]  # those of a row
    options: dict[str, Any]
    is_copy: bool  # on a device, of an array of the host

    @property
    def length(self) -> int:
        """Number of items of a row."""
        return items_of(self.shape[k] for k in self.axes)

    @property
    def others(self) -> tuple[int, ...]:
        """Extents of the other axes."""
        return tuple(n for k, n in enumerate(self.shape) if k not in self.axes)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return items_of(self.others)

    @property
    def matrix(self) -> Any:
        """Items with a row for each row."""
        return self.items.reshape(self.rows, self.length)


# Item number n - 1 of the row that result number i is of, which is number i % r.
_LAST = "s[(i % r) * n + n - 1]"


def rows_of(function: str, x: Any, axis: Any, stream: Any, device: Any) -> Rows:
    """Return the items of an array along axes as rows; TypeError unless they are real numbers."""
    options = {"stream": stream, "device": device}
    x = as_array(x)
    refuse_items(f"the items of {function}", x, "which have no order", ordered=True)
    x = x.array(**options) if isinstance(x, Lazy) else x
    is_copy = isinstance(x, np.ndarray) and not is_on_cpu(x, device)
    axes = axis_numbers(axis, len(x.shape))
    if isinstance(x, np.ndarray) and (len(axes) > 1 or not x.flags.c_contiguous):
        refuse_bound("the items along these axes are brought together")
    if not isinstance(x, np.ndarray) or is_copy:
        x = asarray(x, device=device, stream=stream)
    if is_copy:
        options["device"] = None
    items = laid_out(x, axes, stream, options["device"])
    return Rows(items, tuple(x.shape), axes, options, is_copy)


def laid_out(x: Any, axes: tuple[int, ...], stream: Any, device: Any) -> Any:
    """Return the items of an array in one dimension, those along axes behind one another."""
    shape = tuple(x.shape)
    rest = [k for k in range(len(shape)) if k not in axes]
    if len(axes) == 1:
        x = rows_along(x, axes[0], {"stream": stream, "device": device})
    elif rest:
        x = x.transpose(*rest, *sorted(axes))
    return x.reshape(-1)


def in_order(s: Rows) -> Rows:
    """Return rows with the items of each sorted."""
    items = s.matrix if s.rows != 1 else s.items
    if s.rows and s.length:
        items = sort(items, -1, **s.options)
    return s._replace(items=items.reshape(-1))


def shape_of(s: Rows, q: tuple[int, ...], keepdims: bool) -> tuple[int, ...]:
    """Return the shape of results of the shape `q` for each row."""
    if not keepdims:
        return (*q, *s.others)
    return (*q, *(1 if k in s.axes else n for k, n in enumerate(s.shape)))


def item_at(place: str) -> str:
    """Return an expression of the items at the places of a table's name, as `evaluated` has it."""
    return f"s[(i % r) * n + {place}[i / w]]"


def or_nan(text: str, wide: str) -> str:
    """Return an expression that is NaN where a row has one, which is its last item then."""
    last = f"convert<{wide}>({_LAST})" if wide else _LAST
    return f"({_LAST} != {_LAST} ? {last} : {text})"


def evaluated(s: Rows, text: str, kind: Any, shape: Any, out: Any, places: Any) -> Any:
    """Return the results of an expression of the items' places, or write them to `out`.

    Result number i is of row i % r, which has n of the items `s`. Of each place in `places` there
    is one for w results that follow one another.
    """
    if out is not None:
        _check_out(out, shape)
    types = {name: places[name].dtype if name == "g" else np.int64 for name in places}
    tables = {name: of.astype(types[name]).reshape(-1) for name, of in places.items()}
    count = len(next(iter(tables.values())))
    numbers = {"r": s.rows, "n": s.length, "w": math.prod(shape) // max(count, 1)}
    if out is None and not shape and isinstance(s.items, np.ndarray):
        refuse_bound("without out= a number is made")
    to: Any = out if out is not None and not s.is_copy else np.empty(shape, kind)
    if isinstance(s.items, Array):
        device, stream = s.items.device, s.options["stream"]
        tables = {k: asarray(of, device=device, stream=stream) for k, of in tables.items()}
        if to is not out:
            to = empty(shape, kind, device=device, stream=stream)
    if math.prod(shape):
        transform(text, s=s.items, **tables, **numbers, out=to, casting="unsafe", **s.options)
    if to is out:
        return out
    found = to.numpy() if s.is_copy else to
    if out is None:
        return found[()] if isinstance(found, np.ndarray) else found
    np.copyto(out, found.reshape(out.shape), casting="unsafe")
    return out


def _check_out(out: Any, shape: tuple[int, ...]) -> None:
    if not hasattr(out, "dtype"):
        raise TypeError(f"out is {out!r:.40}: expected an array")
    if tuple(out.shape) != shape and (shape or math.prod(out.shape) != 1):
        raise ValueError(f"out has the shape {tuple(out.shape)}, expected {shape}")
