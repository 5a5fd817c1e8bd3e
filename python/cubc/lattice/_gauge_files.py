"""Gauge fields in files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from .._calls import named
from ._gauge import Gauge
from ._gauge_checks import into_su3
from ._grid import Grid
from ._io import FileInfo, read_field, read_links
from ._io_write import write_links
from ._team import Team, checked_grid, refuse_of_one_device

PRINTED = 1e-5  # of the digits that programs print of single precision


@named
def read_gauge(
    path: Any,
    *,
    verify: bool = True,
    project: bool = False,
    record: int | None = None,
    device: Any = None,
    grid: Grid | Sequence[int] | None = None,
    devices: Sequence[str] | None = None,
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
        Ranks over which the lattice is cut, as for `Gauge`. All of them call this, and each reads
        its part of the file alone. A failure of one rank is an error on all of them.
    devices : sequence of str, optional
        As for `Gauge`.

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
    ranks, grid = checked_grid(grid, devices)
    if ranks is not None:
        refuse_of_one_device(device=device)
        team = Team(ranks, devices)
        return Gauge._of_team(
            team, lambda rank: _read_part(path, verify, project, record, team.ranks[rank], None)
        )
    if grid is not None:
        return _read_part(path, verify, project, record, grid, device)
    links = read_links(path, verify=verify, record=record)[0]
    try:
        return Gauge(links, device=device, project=project)
    except ValueError as error:
        raise _named_error(path, error) from None


def _read_part(
    path: Any, verify: bool, project: bool, record: int | None, grid: Grid, device: Any
) -> Gauge:
    """Read this rank's part; all ranks call it."""
    links, info = read_field(path, "links", verify, record, grid=grid)
    device = grid.device if device is None else device

    def made() -> Gauge:
        try:
            return Gauge._unchecked(links, grid, device)
        except ValueError as error:  # as of an odd extent
            raise _named_error(path, error) from None

    gauge: Gauge = grid._agreed(made)
    if verify:
        _verify(path, gauge, info)

    def checked() -> None:
        try:
            into_su3(gauge, None, project)
        except ValueError as error:
            raise _named_error(path, error) from None

    grid._agreed(checked)
    return gauge


def _verify(path: Any, gauge: Gauge, info: FileInfo) -> None:
    """Compare what the header states with the links of all ranks, which all call it."""
    stated = {"plaquette": info.plaquette, "link trace": info.link_trace}
    if all(value is None for value in stated.values()):
        return
    found = {"plaquette": gauge.plaquette()[0], "link trace": gauge.link_trace()}
    for name, value in stated.items():
        if value is not None and not abs(found[name] - value) <= PRINTED:
            raise OSError(
                f"{os.fspath(path)}: the {name} is {found[name]:.10f}, the header says {value:.10f}"
            )


def _named_error(path: Any, error: ValueError) -> ValueError:
    return ValueError(f"{os.fspath(path)}: {str(error).removeprefix('Gauge(): ')}")


@named
def write_gauge(
    path: Any, gauge: Any, *, format: str = "ildg", precision: str | None = None
) -> None:
    """Write a gauge field, or an array of links, to a file.

    Parameters
    ----------
    path, format, precision
        As for `write_links`.
    gauge : Gauge or array_like
        Gauge field, all of whose ranks call this; or links as for `write_links`.

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
        write_links(path, gauge, format=format, precision=precision)
