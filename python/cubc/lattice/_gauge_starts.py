"""Gauge fields to begin with, of links 1 and of random ones, as constructors of `Gauge`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import _core
from .._calls import named
from ._fields import finite, integer, sites_along
from ._rotations import fill
from ._team import Team, checked_grid, refuse_of_one_device

if TYPE_CHECKING:
    from ._gauge import Gauge
    from ._grid import Grid

MOST_NOISE = 1e100  # of random links: the squares of more overflow


@named
def unit(
    cls: type[Gauge],
    extent: tuple[int, int, int, int],
    *,
    device: Any = None,
    grid: Grid | Sequence[int] | None = None,
    devices: Sequence[str] | None = None,
) -> Gauge:
    """Return the field whose links are all 1.

    Parameters
    ----------
    extent, device, grid, devices
        As for `random`.

    Returns
    -------
    Gauge
        The field.

    Raises
    ------
    TypeError, ValueError
        If the extents are not four whole numbers, even and from 2 on.

    Examples
    --------
    >>> lattice.Gauge.unit((8, 4, 6, 2))
    Gauge(8x4x6x2 on cpu)
    """
    return _filled(cls, extent, 0, 1, 0, device, grid, devices)


@named
def random(
    cls: type[Gauge],
    extent: tuple[int, int, int, int],
    seed: int = 1,
    *,
    noise: float | None = None,
    device: Any = None,
    grid: Grid | Sequence[int] | None = None,
    devices: Sequence[str] | None = None,
) -> Gauge:
    """Return a field of random links.

    Parameters
    ----------
    extent : tuple of int
        Sites of the lattice along X, Y, Z, T.
    seed : int
        Seed of the random numbers, from 0 to 2^63 - 1. One seed gives one field, on every device
        but for rounding.
    noise : float, optional
        Width of a distribution around 1: the first two rows of a link are those of
        1 + noise * G, made orthonormal, where the real and imaginary parts of G are normal. By
        default links have the distribution of Haar's measure.
    device : str, optional
        Device that holds the field; by default the default device, or that of `grid`.
    grid : Grid or tuple of int, optional
        Ranks over which the lattice of `extent` is cut, as for `Gauge`. They have the links
        that one has.
    devices : sequence of str, optional
        As for `Gauge`.

    Returns
    -------
    Gauge
        The field.

    Raises
    ------
    TypeError, ValueError
        As `unit`.
    ValueError
        If the seed is out of range, or the noise above 1e100 in magnitude.

    Examples
    --------
    >>> abs(lattice.Gauge.random((8, 4, 6, 2), seed=1).plaquette()[0]) < 0.1
    True
    """
    rows = float(noise is not None), 1.0 if noise is None else finite("noise", noise)
    if abs(rows[1]) > MOST_NOISE:
        raise ValueError(f"noise={noise!r}: expected at most {MOST_NOISE:g}")
    return _filled(cls, extent, seed, *rows, device, grid, devices)


def _filled(
    cls: type[Gauge],
    extent: Any,
    seed: int,
    identity: float,
    noise: float,
    device: Any,
    grid: Grid | Sequence[int] | None = None,
    devices: Sequence[str] | None = None,
) -> Gauge:
    extent, seed = sites_along(extent), integer("seed", seed)
    ranks, grid = checked_grid(grid, devices)
    if ranks is not None:
        refuse_of_one_device(device=device)
        team = Team(ranks, devices)
        return cls._of_team(
            team,
            lambda rank: _filled(cls, extent, seed, identity, noise, None, team.ranks[rank]),
        )
    if grid is not None:
        extent = grid._extent_of_part(extent)
        device = grid.device if device is None else device
    links = _core.empty((72 * math.prod(extent),), "float64", device=device)
    fill(links, 4, extent, seed, identity, noise, grid)
    return cls.from_native(links, tuple(extent), grid=grid)
