"""Gauge fields in files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._calls import named
from ._gauge import Gauge
from ._grid import Grid
from ._io import read_links, write_links


@named
def read_gauge(
    path: Any,
    *,
    verify: bool = True,
    project: bool = False,
    record: int | None = None,
    device: Any = None,
    grid: Grid | Sequence[int] | None = None,
) -> Gauge:
    """Read a gauge configuration of ILDG, SciDAC, NERSC, MILC, openQCD or DD-alphaAMG.

    Parameters
    ----------
    path : path
        Path of the file, whose format is recognised.
    verify : bool
        True checks the checksums, plaquette and trace that the file states.
    project : bool
        True replaces each link by the SU(3) matrix nearest to it. By default links are those of the
        file, with the plaquettes that its author measured. Links of single precision are then about
        1e-7 away from SU(3); `Wilson` says what follows from that.
    record : int, optional
        Number of the configuration, from 0 on, in a file that holds several.
    device : str, optional
        Device that holds the field: "cuda:0", "cpu"; by default the default device.
    grid : Grid or tuple of int, optional
        Ranks over which the lattice is cut, as for `Gauge`. Each reads the whole file and keeps its
        part.

    Returns
    -------
    Gauge
        Gauge field.

    Raises
    ------
    OSError, ValueError
        As for `read_links`, with the record and the byte; as for `Gauge`.

    Examples
    --------
    >>> u = lattice.Gauge.unit((8, 4, 6, 2))
    >>> lattice.write_gauge("unit.lime", u)
    >>> lattice.read_gauge("unit.lime")
    Gauge(8x4x6x2 on cpu)
    """
    links = read_links(path, verify=verify, record=record)[0]
    try:
        if isinstance(grid, Grid):
            links = grid.part(links)
        return Gauge(links, device=device, project=project, grid=grid)
    except ValueError as error:
        reason = str(error).removeprefix("Gauge(): ")
        raise ValueError(f"{os.fspath(path)}: {reason}") from None


@named
def write_gauge(
    path: Any, gauge: Any, *, format: str = "ildg", precision: str | None = None
) -> None:
    """Write a gauge field, or an array of links, to a file; see `write_links`.

    Raises
    ------
    OSError, ValueError
        As `write_links`.

    Examples
    --------
    >>> u = lattice.Gauge.unit((8, 4, 6, 2))
    >>> lattice.write_gauge("unit.nersc", u, format="nersc")
    >>> lattice.read_info("unit.nersc")[0].plaquette
    1.0
    """
    if isinstance(gauge, Gauge):
        gauge.write(path, format=format, precision=precision)
    else:
        write_links(path, np.asarray(gauge), format=format, precision=precision)
