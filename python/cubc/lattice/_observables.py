"""Observables of a gauge field, as methods of `Gauge`."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from .._calls import named
from .._core import call
from ._fields import MARGIN, extent_fields
from ._gauge_margins import around
from ._team import refuse_of_one_device

if TYPE_CHECKING:
    from ._gauge import Gauge
    from ._grid import Grid

PLANES = ("xy", "xz", "xt", "yz", "yt", "zt")
PLAQUETTES, POLYAKOV, UNITARITY, TEMPORAL = range(4)  # cubc_gauge_quantity


@named
def plaquette(gauge: Gauge) -> tuple[float, float, float]:
    """Return the mean plaquette, Re tr / 3 of the product of the links around a unit square.

    Returns
    -------
    tuple of float
        Mean over all planes, over those in space, and over those with time.

    Notes
    -----
    Links are multiplied and added in float64. The order depends on the policy and the device, so
    that a result has the same bits from run to run. The call waits for the result.

    Raises
    ------
    ValueError
        If the field was made of native links that no such lattice has.
    TimeoutError
        If a rank of a `Grid` waits in vain for another.

    Examples
    --------
    >>> u = lattice.Gauge.unit((8, 4, 6, 2))
    >>> u.plaquette()
    (1.0, 1.0, 1.0)
    """
    planes = _measured(gauge, PLAQUETTES)[:6]
    spatial, temporal = planes[[0, 1, 3]].mean(), planes[[2, 4, 5]].mean()
    return float(planes.mean()), float(spatial), float(temporal)


@named
def plaquettes(gauge: Gauge) -> dict[str, float]:
    """Return the mean plaquette of each plane: "xy", "xz", "xt", "yz", "yt", "zt".

    Returns
    -------
    dict of str to float
        Mean of Re tr / 3 by plane, of the whole lattice.

    Raises
    ------
    ValueError
        If the field was made of native links that no such lattice has.
    TimeoutError
        If a rank of a `Grid` waits in vain for another.

    Examples
    --------
    >>> u = lattice.Gauge.unit((8, 4, 6, 2))
    >>> u.plaquettes()["xt"]
    1.0
    """
    return dict(zip(PLANES, _measured(gauge, PLAQUETTES)[:6].tolist(), strict=True))


@named
def link_trace(gauge: Gauge) -> float:
    """Return the mean of Re tr / 3 of the links, which depends on the gauge; files state it.

    Returns
    -------
    float
        Mean over all links of the whole lattice.

    Raises
    ------
    ValueError
        If the field was made of native links that no such lattice has.
    TimeoutError
        If a rank of a `Grid` waits in vain for another.

    Examples
    --------
    >>> u = lattice.Gauge.unit((8, 4, 6, 2))
    >>> u.link_trace()
    1.0
    """
    return float(_measured(gauge, PLAQUETTES)[6])


@named
def polyakov(gauge: Gauge) -> complex:
    """Return the Polyakov loop: the mean over space of tr / 3 of the product of links in time.

    On a `Grid` all ranks call it.

    Returns
    -------
    complex
        Polyakov loop of the whole lattice. The call waits for it.

    Raises
    ------
    ValueError
        If the field was made of native links that no such lattice has.
    TimeoutError
        If a rank of a `Grid` waits in vain for another.

    Examples
    --------
    >>> u = lattice.Gauge.unit((8, 4, 6, 2))
    >>> u.polyakov()
    (1+0j)
    """
    return complex(*_measured(gauge, POLYAKOV))


@named
def unitarity(gauge: Gauge, *, stream: Any = None) -> tuple[float, float]:
    """Return the largest deviation of the links from SU(3); on a `Grid` all ranks call it.

    Parameters
    ----------
    stream : optional
        As for `cubc.reduce`. The call waits for the result.

    Returns
    -------
    tuple of float
        Largest magnitude of an element of U U^+ - 1, and of det U - 1; NaN if a link has a NaN.

    Raises
    ------
    TypeError
        If `stream` is no stream.
    ValueError
        If the field was made of native links that no such lattice has.
    TimeoutError
        If a rank of a `Grid` waits in vain for another.

    Examples
    --------
    >>> u = lattice.Gauge.unit((8, 4, 6, 2))
    >>> u.unitarity()
    (0.0, 0.0)
    """
    found = own_unitarity(gauge, stream)
    if gauge.grid is not None:
        elements, determinant = np.max(gauge.grid._all(found), 0)  # NaN is the largest
        found = float(elements), float(determinant)
    return found


def own_unitarity(gauge: Gauge, stream: Any = None) -> tuple[float, float]:
    """Return the largest deviation of the links of this rank, or of all of this process."""
    elements, determinant = _measured(gauge, UNITARITY, stream)
    return float(elements), float(determinant)


def temporal_deviation(gauge: Gauge, stream: Any = None) -> float:
    """Return how far links in time are from 1 before the last slice. All ranks call it."""
    before, last = _measured(gauge, TEMPORAL, stream)
    grid = gauge.grid
    if grid is None:
        return float(before)
    ends_there = grid.place[3] == grid.grid[3] - 1
    return float(np.max(grid._all(before if ends_there else np.maximum(before, last))))


def _measured(gauge: Gauge, quantity: int, stream: Any = None) -> Any:
    if gauge.team is not None:
        refuse_of_one_device(stream=stream)
        made = gauge.team.run(lambda rank: _measured(gauge.parts[rank], quantity))
        return np.max(made, 0) if quantity == UNITARITY else made[0]
    if gauge.grid is not None and quantity < UNITARITY:
        of_ranks = _plaquettes_of_ranks if quantity == PLAQUETTES else _polyakov_of_ranks
        return of_ranks(gauge, gauge.grid, stream)
    given = {
        "links": gauge.native(),
        "out": ("float64", (7 if quantity == PLAQUETTES else 2,), None),
        "quantity": quantity,
        **extent_fields(gauge.extent),
    }
    return np.asarray(call("gauge_measure", given, stream=stream)[0])


def _plaquettes_of_ranks(gauge: Gauge, grid: Grid, stream: Any) -> Any:
    """Add up what begins at sites of the parts, which reaches one site above them."""
    links, extent = around(gauge, stream=stream)
    given = {
        "links": links,
        "out": ("float64", (7,), None),
        "quantity": PLAQUETTES,
        **extent_fields(extent),
        **({"cut": grid._cut, "margin": MARGIN} if grid._cut else {}),
    }
    return grid._sum(np.asarray(call("gauge_measure", given, stream=stream)[0])) / grid.size


def _polyakov_of_ranks(gauge: Gauge, grid: Grid, stream: Any) -> Any:
    """Multiply the products of links in time of ranks that follow each other."""
    in_time = gauge.links(stream=stream).numpy()[..., 3, :, :]
    lines = np.stack(grid._all(functools.reduce(np.matmul, in_time)))
    lines = functools.reduce(np.matmul, lines.reshape(grid.grid[3], -1, 3, 3))
    loop = np.trace(lines, axis1=-2, axis2=-1).mean() / 3
    return np.array([loop.real, loop.imag])
