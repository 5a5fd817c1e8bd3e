"""Quark propagators, and correlators from them."""

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from .._calls import named
from .._core import asarray
from ._solve import SolveInfo


@named
def point_source(extent: tuple[int, int, int, int], place: tuple[int, int, int, int]) -> np.ndarray:
    """Return the twelve point sources at a site (x, y, z, t); the first axis is spin and colour.

    Raises
    ------
    TypeError, ValueError
        If the site is not four whole numbers, or not on the lattice.
    """
    x, y, z, t = extent
    if not isinstance(place, Sequence | np.ndarray) or len(place) != 4:
        raise ValueError(f"place is {place!r:.80}: expected x, y, z, t")
    at = tuple(map(index, place))
    if not all(0 <= p < e for p, e in zip(at, extent, strict=True)):
        size = "x".join(map(str, extent))
        raise ValueError(f"place {at} is not on a lattice of {size} sites (x, y, z, t, from 0)")
    sources = np.zeros((4, 3, t, z, y, x, 4, 3), complex)
    for spin in range(4):
        for colour in range(3):
            sources[(spin, colour, *at[::-1], spin, colour)] = 1
    return sources


@named
def propagator(
    operator: Any, place: tuple[int, int, int, int] = (0, 0, 0, 0), **options: Any
) -> tuple[np.ndarray, SolveInfo]:
    """Solve for the propagator from a point, S = 2 kappa M^-1.

    Parameters
    ----------
    operator : Wilson, TwistedMass, WilsonClover or TwistedClover
        Operator M. For `Wilson` S is the inverse of (m + 1 + 3 / anisotropy) - D / 2.
    place : tuple of int
        Site x, y, z, t of the source, each from 0 to the extent less 1.
    **options
        Options of `solve` but `shifts` and `normal`. `x0` and `out` have the shape
        ``(12, T, Z, Y, X, 4, 3)``, with source spin and colour first. They are solutions of
        M x = b, without the factor 2 kappa.

    Returns
    -------
    S : numpy.ndarray
        Propagator, complex128, as `write_propagator` takes it:
        ``[t][z][y][x][sink spin][source spin][sink colour][source colour]``.
    info : SolveInfo
        Report of the solve.
    """
    for other in ("shifts", "normal"):
        if options.get(other):
            raise ValueError(f"a propagator is the inverse of M itself: `solve` takes {other}")
    extent = operator.gauge.extent
    sources = point_source(extent, place)
    x, info = operator.solve(sources.reshape(12, *sources.shape[2:]), **options)
    columns = x if isinstance(x, np.ndarray) else asarray(x).numpy()
    columns = columns.reshape(sources.shape)
    return 2 * operator.kappa * np.moveaxis(columns, (0, 1), (5, 7)), info


@named
def pion_correlator(s: Any, time: int = 0) -> np.ndarray:
    """Return the pion correlator C(t): tr S^+ S, summed over space, at distance t from the source.

    Parameters
    ----------
    s : array_like
        Propagator, as `propagator` returns it.
    time : int
        Time slice of the source.

    Returns
    -------
    numpy.ndarray
        Array of float64, one for each t.
    """
    s = np.asarray(s)
    if s.ndim != 8 or s.shape[4:] != (4, 4, 3, 3):
        raise ValueError(f"a propagator of shape {s.shape}: expected (T, Z, Y, X, 4, 4, 3, 3)")
    return np.roll((abs(s) ** 2).sum(axis=(1, 2, 3, 4, 5, 6, 7)), -time)


@named
def effective_mass(correlator: Any) -> np.ndarray:
    """Return the effective mass of a correlator, arcosh((C(t - 1) + C(t + 1)) / 2 C(t)).

    t is from 1 to T - 2. For one state that propagates in both directions of time it is the mass.
    """
    c = np.asarray(correlator)
    ratio = (c[:-2] + c[2:]) / (2 * c[1:-1])
    return np.arccosh(np.maximum(ratio, 1))
