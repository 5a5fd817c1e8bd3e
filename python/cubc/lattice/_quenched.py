"""Gauge fields of the pure gauge theory, by Monte Carlo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import _core
from .._calls import named
from ._fields import sites_along
from ._gauge import Gauge
from ._grid import Grid


@named
def quenched(
    extent: tuple[int, int, int, int],
    beta: float,
    sweeps: int = 200,
    *,
    seed: int = 1,
    start: str | Gauge = "cold",
    over_relaxation: int = 4,
    measure: Callable[[int, Gauge], Any] | None = None,
    progress: bool | None = None,
    device: Any = None,
    grid: Grid | Sequence[int] | None = None,
    devices: Sequence[str] | None = None,
) -> Gauge:
    """Make a gauge field by Monte Carlo with Wilson's plaquette action.

    Parameters
    ----------
    extent : tuple of int
        Sites of the lattice along X, Y, Z, T; even numbers.
    beta, sweeps, seed, over_relaxation, progress
        As for `Gauge.update`.
    start : {"cold", "hot"} or Gauge
        Field before the first sweep: all links 1, links of Haar's measure, or a copy of a field.
    measure : callable, optional
        Function that is called after each sweep with its number and the field, which later sweeps
        change: ``lambda sweep, u: history.append(u.plaquette())``.
    device : str, optional
        Device that holds the field; by default that of `start`, or the default device.
    grid : Grid or tuple of int, optional
        Ranks over which the lattice of `extent` is cut, as for `Gauge`: all of them call this, and
        links are those that one rank makes. By default those of `start`, if it is a field.
    devices : sequence of str, optional
        As for `Gauge`.

    Returns
    -------
    Gauge
        Field after the last sweep.

    Raises
    ------
    ValueError
        If a number is out of range, or `start` is of another lattice.
    TypeError
        If an argument is of another type.
    KeyboardInterrupt
        On Ctrl-C. To keep the field then, store it in `measure`, or call `Gauge.update`.

    Examples
    --------
    >>> from cubc import lattice
    >>> u = lattice.quenched((4, 4, 4, 4), beta=6.0, sweeps=5, device="cpu")
    >>> 0.5 < u.plaquette()[0] < 0.75
    True
    """
    extent = sites_along(extent)
    if not isinstance(start, str | Gauge):
        raise TypeError(f"start is {start!r:.80}: expected 'cold', 'hot' or a Gauge")
    if isinstance(start, Gauge):
        if grid is not None or devices is not None:
            raise ValueError("start is a field, whose ranks are those of the result: no grid=")
        ranks = (1, 1, 1, 1) if start.grid is None else start.grid.grid
        if tuple(extent) != tuple(e * n for e, n in zip(start.extent, ranks, strict=True)):
            raise ValueError(f"start is {start!r}, and the lattice to be made is {extent}")
        where = start.device if device is None else _core.device_info(device)["name"]
        if where != start.device and start.grid is not None:
            raise ValueError(
                f"start is a rank's part on {start.device}, where the result is: no "
                f"device={device!r:.40}"
            )
        gauge = (
            start.copy()
            if where == start.device
            else Gauge(np.asarray(start.links()), device=where)
        )
    elif start == "cold":
        gauge = Gauge.unit(extent, device=device, grid=grid, devices=devices)
    elif start == "hot":
        gauge = Gauge.random(extent, seed, device=device, grid=grid, devices=devices)
    else:
        raise ValueError(f"start is {start!r}: expected 'cold', 'hot' or a Gauge")
    gauge.update(
        beta,
        sweeps,
        seed=seed,
        over_relaxation=over_relaxation,
        measure=measure,
        progress=progress,
    )
    return gauge
