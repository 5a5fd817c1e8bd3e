"""Writing of a gauge field to a file, as a method of `Gauge`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._calls import named
from ._fields import MARGIN
from ._gauge_margins import around
from ._io_write import write_links, write_part

if TYPE_CHECKING:
    from ._gauge import Gauge


@named
def write(gauge: Gauge, path: Any, format: str = "ildg", precision: str | None = None) -> None:
    """Write the field to a file.

    On a `Grid` all ranks call it, and each writes its part. The bytes are those that one rank
    writes, and the file appears when all parts are in it. A failure of one rank is an error on
    all of them.

    Parameters
    ----------
    path, format, precision
        As for `write_links`.

    Raises
    ------
    FileExistsError, OSError, ValueError
        As `write_links`.

    Examples
    --------
    >>> u = lattice.Gauge.unit((8, 4, 6, 2))
    >>> u.write("unit.lime")
    >>> lattice.read_info("unit.lime")[0].format
    'ildg'
    """
    if (team := gauge.team) is not None:
        team.run(lambda rank: gauge.parts[rank].write(path, format, precision))
        return
    if gauge.grid is None:
        write_links(path, gauge.links().numpy(), format=format, precision=precision)
        return
    write_part(path, gauge.links, format, precision, gauge.grid, lambda: _links_around(gauge))


def _links_around(gauge: Gauge) -> np.ndarray:
    """Return the links with neighbours' links around them along directions with ranks."""
    grid: Any = gauge.grid
    links, extent = around(gauge)
    whole = gauge.from_native(links, extent).links().numpy()
    own = [grid._cut >> d & 1 and grid.grid[d] == 1 for d in (3, 2, 1, 0)]
    inside = tuple(slice(MARGIN, -MARGIN) if alone else slice(None) for alone in own)
    return np.ascontiguousarray(whole[inside])
