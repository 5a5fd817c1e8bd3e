"""Gauge fields of the pure gauge theory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._calls import named
from ._gauge import Gauge


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
) -> Gauge:
    """Make a gauge field by Monte Carlo with Wilson's plaquette action.

    Parameters
    ----------
    extent : tuple of int
        The lattice: X, Y, Z, T, even numbers.
    beta, sweeps, seed, over_relaxation, progress
        As for `Gauge.update`.
    start : {"cold", "hot"} or Gauge
        All links 1, or drawn by Haar's measure; or a field, which is copied.
    measure : callable, optional
        Called after each sweep with its number and the field, which goes on changing:
        ``lambda sweep, u: history.append(u.plaquette())``.
    device : str, optional
        Where to make it: by default that of `start`, or the default device.

    Returns
    -------
    Gauge

    Raises
    ------
    ValueError
        For a number out of range, or a start of another lattice.
    KeyboardInterrupt
        When the user says so. To keep the field then, give it to `measure`, or call `Gauge.update`.

    Examples
    --------
    >>> from cubc import lattice
    >>> u = lattice.quenched((4, 4, 4, 4), beta=6.0, sweeps=5, device="cpu")
    >>> 0.5 < u.plaquette()[0] < 0.75
    True
    """
    if not hasattr(extent, "__len__") or len(extent) != 4:
        raise ValueError(f"an extent of {extent!r}: expected four numbers, of sites in x, y, z, t")
    if isinstance(start, Gauge):
        if tuple(extent) != start.extent:
            raise ValueError(f"start is {start!r}, and the lattice to be made is {extent}")
        gauge = (
            start.copy()
            if device in (None, start.device)
            else Gauge(np.asarray(start.links()), device=device)
        )
    elif start == "cold":
        gauge = Gauge.unit(extent, device=device)
    elif start == "hot":
        gauge = Gauge.random(extent, seed, device=device)
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
