"""Links of a rank's part with those of its neighbours around them, and the part inside of such."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ._fields import MARGIN, copied_part

if TYPE_CHECKING:
    from ._gauge import Gauge


def around(
    gauge: Gauge, margin: int = MARGIN, stream: Any = None
) -> tuple[Any, tuple[int, int, int, int]]:
    """Return the native links with those of the neighbours around them, and the extents.

    All ranks call it. Without a cut they are the links of the field.

    Parameters
    ----------
    margin : int
        Sites on each side, an even number.
    stream : optional
        As for `cubc.reduce`.
    """
    if gauge.grid is None:
        return gauge.native(), gauge.extent
    links = gauge.grid._around(gauge.native(), gauge.extent, 72, margin, stream)
    return links, gauge.grid._surrounded(gauge.extent, margin)


def inside(
    gauge: Gauge,
    field: Any,
    extent: tuple[int, ...],
    reals: int,
    margin: int = MARGIN,
    stream: Any = None,
    out: Any = None,
) -> Any:
    """Return this rank's part of a field of `reals` reals a site, with sites around it."""
    if gauge.grid is None or not gauge.grid._cut:
        return field
    to = (str(field.dtype), (math.prod(gauge.extent) * reals,), out)
    options = {"crop": 1, "cut": gauge.grid._cut, "margin": margin}
    return copied_part(field, to, extent, reals, stream, **options)
