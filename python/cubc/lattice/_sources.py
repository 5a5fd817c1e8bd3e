"""Sources of propagators: points, walls and walls of random numbers, for each spin and colour.

They are host arrays with source spin and colour first, or the source colour of a colour vector, as
`propagator` takes them. Random numbers depend on the seed and the site alone.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._calls import named, whole
from ._fields import integer, site_of, sites_along

Extent = tuple[int, int, int, int]


def _of_columns(values: Any, kind: str) -> np.ndarray:
    """Return the sources that have the values ``[t][z][y][x]`` in one spin and colour."""
    site = site_of(kind)
    sources = np.zeros((*site, *values.shape, *site), complex)
    for column in np.ndindex(site):
        sources[(*column, ..., *column)] = values
    return sources


def _slice_of(function: str, time: int, extent: Extent) -> int:
    """Return the number of a time slice; ValueError if the lattice has no such one."""
    if not 0 <= (at := whole(function, "time", time)) < extent[3]:
        raise ValueError(f"time={time!r}: the lattice has {extent[3]} time slices, from 0 on")
    return at


def _chosen(extent: Extent, sites: str) -> np.ndarray:
    """Return 1 at the chosen sites of a time slice, ``[z][y][x]``, and 0 at the others."""
    z, y, x = np.indices(extent[2::-1]) % 2
    of = {"all": x == x, "even": (x + y + z) % 2 == 0, "corner": (x | y | z) == 0}
    if sites not in tuple(of):
        raise ValueError(f"sites {sites!r}: expected one of {', '.join(of)}")
    return of[sites].astype(float)


def site_at(extent: Extent, place: Any) -> tuple[int, ...]:
    """Return a site x, y, z, t as whole numbers; ValueError if the lattice has no such one."""
    if not isinstance(place, Sequence | np.ndarray) or len(place) != 4:
        raise ValueError(f"place is {place!r:.80}: expected x, y, z, t")
    extent = sites_along(extent)
    at = tuple(integer("place", one) for one in place)
    if not all(0 <= p < e for p, e in zip(at, extent, strict=True)):
        size = "x".join(map(str, extent))
        raise ValueError(f"place {at} is not on a lattice of {size} sites (x, y, z, t, from 0)")
    return at


@named
def point_source(
    extent: Extent, place: tuple[int, int, int, int], kind: str = "spinor"
) -> np.ndarray:
    """Return the point sources at a site (x, y, z, t), one for each spin and colour.

    Parameters
    ----------
    extent : tuple of int
        The lattice: X, Y, Z, T.
    place : tuple of int
        Site x, y, z, t.
    kind : "spinor" or "colour vector"
        Kind of field, the latter for staggered operators.

    Returns
    -------
    numpy.ndarray
        Twelve spinors ``(4, 3, T, Z, Y, X, 4, 3)``, or three colour vectors ``(3, T, Z, Y, X, 3)``:
        the source's spin and colour come first.

    Raises
    ------
    TypeError, ValueError
        If the site is not four whole numbers, or not on the lattice.

    Examples
    --------
    >>> b = lattice.point_source((2, 2, 2, 4), (0, 0, 0, 0))
    >>> print(b.shape, b.sum())
    (4, 3, 4, 2, 2, 2, 4, 3) (12+0j)
    """
    at = site_at(extent, place)
    x, y, z, t = extent
    values = np.zeros((t, z, y, x))
    values[at[::-1]] = 1
    return _of_columns(values, kind)


@named
def wall_source(extent: Extent, time: int, sites: str = "all", kind: str = "spinor") -> np.ndarray:
    """Return the wall sources of a time slice: 1 at its sites, for each spin and colour.

    Parameters
    ----------
    extent : tuple of int
        The lattice: X, Y, Z, T.
    time : int
        Time slice, from 0 to T - 1.
    sites : "all", "even" or "corner"
        Sites of the slice: all, those with an even x + y + z, or those whose x, y and z are even.
        Links are not in it, so that a gauge field is fixed first (Coulomb).
    kind : "spinor" or "colour vector"
        As for `point_source`.

    Returns
    -------
    numpy.ndarray
        Sources of complex128, of the shape of those of `point_source`.

    Raises
    ------
    ValueError
        If the time is no slice, or `sites` or `kind` is none of those above.

    Examples
    --------
    >>> print(lattice.wall_source((2, 2, 2, 4), 0).shape)
    (4, 3, 4, 2, 2, 2, 4, 3)
    """
    extent = sites_along(extent)
    values = np.zeros(extent[::-1])
    values[_slice_of("wall_source", time, extent)] = _chosen(extent, sites)
    return _of_columns(values, kind)


def _random_u64(seed: int, at: np.ndarray) -> np.ndarray:
    """Return the numbers at these places of a stream: random_u64 of kernels/dialect/types.h."""
    word = np.uint64
    first = (seed * 0xD1342543DE82EF95 + 0x9E3779B97F4A7C15) % 2**64
    z = word(first) + at.astype(word) * word(0x9E3779B97F4A7C15)
    z = (z ^ z >> word(30)) * word(0xBF58476D1CE4E5B9)
    z = (z ^ z >> word(27)) * word(0x94D049BB133111EB)
    return z ^ z >> word(31)


@named
def random_wall_source(
    extent: Extent,
    time: int,
    seed: int = 0,
    noise: str = "z4",
    sites: str = "all",
    kind: str = "spinor",
) -> np.ndarray:
    """Return wall sources with a random number of magnitude 1 at each site.

    A site has the same number in each of the sources, which differ in spin and colour. The mean
    over seeds of the product of two sites' numbers, one conjugated, is 0, so that a correlator of
    these sources is the sum of those of all points of the wall, and noise.

    Parameters
    ----------
    extent : tuple of int
        The lattice: X, Y, Z, T.
    time : int
        Time slice, from 0 to T - 1.
    seed : int
        Seed, from 0 on. A number depends on it and on the number of the site on the lattice,
        x + X (y + Y (z + Z t)), alone.
    noise : "z2", "z4" or "u1"
        Numbers: 1 and -1; 1, i, -1 and -i; or all of magnitude 1.
    sites : "all", "even" or "corner"
        As for `wall_source`.
    kind : "spinor" or "colour vector"
        As for `point_source`.

    Returns
    -------
    numpy.ndarray
        Sources of complex128, of the shape of those of `point_source`.

    Raises
    ------
    ValueError
        If the seed is negative, the time is no slice, or `noise`, `sites` or `kind` is none of
        those above.

    Examples
    --------
    >>> print(lattice.random_wall_source((2, 2, 2, 4), 0, 1).shape)
    (4, 3, 4, 2, 2, 2, 4, 3)
    """
    if (seed := whole("random_wall_source", "seed", seed)) < 0:
        raise ValueError(f"seed={seed}: expected a number from 0 on")
    extent = sites_along(extent)
    counts = {"z2": 1, "z4": 2, "u1": 53}
    if noise not in tuple(counts):
        raise ValueError(f"noise {noise!r}: expected one of {', '.join(counts)}")
    at, volume = _slice_of("random_wall_source", time, extent), math.prod(extent[:3])
    bits = counts[noise]
    words = _random_u64(seed, at * volume + np.arange(volume)) >> np.uint64(64 - bits)
    turns = words.astype(float).reshape(extent[2::-1]) / 2**bits
    numbers = np.exp(2j * np.pi * turns)
    if noise != "u1":
        numbers = np.round(numbers)
    values = np.zeros(extent[::-1], complex)
    values[at] = _chosen(extent, sites) * numbers
    return _of_columns(values, kind)
