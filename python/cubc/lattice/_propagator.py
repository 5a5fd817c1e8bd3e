"""Quark propagators, and correlators from them."""

from typing import Any

import numpy as np

from .._calls import named
from ._fields import SPINOR, integer, on_host
from ._solve import SolveInfo, check_operator
from ._sources import point_source, site_at


def _of_propagator(extent: tuple[int, ...], site: tuple[int, ...]) -> tuple[int, ...]:
    """Return the last axes of a propagator."""
    return (*extent[::-1], *(n for n in site for _ in range(2)))


def columns_of(source: Any, extent: tuple[int, ...], site: tuple[int, ...]) -> np.ndarray:
    """Return sources with their spin and colour first, ``(..., *site, T, Z, Y, X, *site)``.

    They are given so, or as a propagator has them.
    """
    source = on_host(source)
    columns, whole = (*site, *extent[::-1], *site), _of_propagator(extent, site)
    last = source.shape[-len(columns) :]
    if last == columns:
        return source.astype(complex, copy=False)
    if last != whole:  # extents are even, so that no axis of a lattice is a colour's
        raise ValueError(
            f"source has shape {source.shape}: expected those of all spins and colours, "
            f"(..., {', '.join(map(str, columns))}), or a propagator, "
            f"(..., {', '.join(map(str, whole))})"
        )
    first = source.ndim - len(whole)
    places = [first + 5 + 2 * k for k in range(len(site))]
    columns = np.moveaxis(source, places, range(first, first + len(site)))
    return columns.astype(complex, copy=False)


def sources_of(operator: Any, place: tuple[int, int, int, int], source: Any) -> np.ndarray:
    """Return point sources at a site, or those that are given, as `columns_of` does.

    On a grid they are this rank's part of them; the site is one of the whole lattice.
    """
    grid, extent, site = operator.gauge.grid, operator.gauge.extent, operator._site
    if source is not None:
        return columns_of(source, extent, site)
    if grid is not None:
        at = site_at(tuple(np.multiply(extent, grid.grid)), place)
        place = tuple(np.subtract(at, np.multiply(extent, grid.place)))
        if not all(0 <= p < e for p, e in zip(place, extent, strict=True)):
            return np.zeros((*site, *extent[::-1], *site), complex)
    return point_source(extent, place, "spinor" if site == SPINOR else "colour vector")


def refuse(options: dict[str, Any], *names: str) -> None:
    """Raise ValueError for options of `solve` that a propagator does not take."""
    for name in names:
        given = options.get(name)
        if given is not None and (np.ndim(given) > 0 or given):
            raise ValueError(
                f"a propagator is the inverse of M itself and takes no {name}: `solve` takes {name}"
            )


def check_converged(info: SolveInfo) -> None:
    """Raise RuntimeError for a propagator of which a column did not converge."""
    if not info.converged:
        raise RuntimeError(f"the propagator did not converge: {info!r}")


def propagator_of(columns: np.ndarray, axes: int) -> np.ndarray:
    """Return the propagator of columns ``(..., *site, T, Z, Y, X, *site)``; a site has `axes`."""
    first = columns.ndim - 4 - 2 * axes
    places = [first + 5 + 2 * k for k in range(axes)]
    return np.moveaxis(columns, range(first, first + axes), places)


@named
def propagator(
    operator: Any,
    place: tuple[int, int, int, int] = (0, 0, 0, 0),
    source: Any = None,
    **options: Any,
) -> tuple[np.ndarray, SolveInfo]:
    """Solve for the propagator from a source, S = 2 kappa M^-1 of Wilson-like operators.

    Parameters
    ----------
    operator : Wilson, TwistedMass, WilsonClover, TwistedClover, Staggered, Asqtad or HISQ
        Operator M. For `Wilson` S is the inverse of (m + 1 + 3 / anisotropy) - D / 2, for staggered
        operators M^-1, the inverse of 2 m + D.
    place : tuple of int
        Site x, y, z, t of a point source, each from 0 to the extent less 1; of the whole lattice,
        if that is on a `Grid`.
    source : array_like, optional
        Other sources in place of points: of each spin and colour, as `wall_source` has them, or in
        the shape of a propagator, as files do. Several of these, along axes before, are solved
        together. On a `Grid` they are this rank's part, as are x0 and the propagator.
    **options
        Options of `solve` but `shifts` and `normal`. `x0` and `out` have the shape
        ``(12, T, Z, Y, X, 4, 3)``, with source spin and colour first, or ``(3, T, Z, Y, X, 3)`` for
        staggered operators; several sources make the first axis longer. They are solutions of M x =
        b, without the factor 2 kappa. `x0` may be a propagator, too, which has that factor.

    Returns
    -------
    S : numpy.ndarray
        Propagator, complex128, as `write_propagator` takes it:
        ``[t][z][y][x][sink spin][source spin][sink colour][source colour]``; or as
        `write_staggered_propagator` does, ``[t][z][y][x][sink colour][source colour]``.
    info : SolveInfo
        Report of the solve.

    Raises
    ------
    ValueError, TypeError
        As `solve`; and if the place is no site, or the source has another shape, or the operator
        has another propagator, as `Mobius` and `TwistedDoublet`: call its method.
    RuntimeError
        If a solve does not converge.

    Examples
    --------
    >>> u = lattice.Gauge.random((4, 2, 4, 6), seed=1)
    >>> D = lattice.Wilson(u, kappa=0.12)
    >>> S, info = lattice.propagator(D, (0, 0, 0, 0), tol=1e-6)
    >>> S.shape, info.converged
    ((6, 4, 2, 4, 4, 4, 3, 3), True)
    """
    check_operator(operator)
    if getattr(type(operator), "propagator", None) is not Propagates.propagator:
        name = type(operator).__name__
        raise TypeError(f"{name} has a propagator of its own: call the method, as D.propagator()")
    return _solved(operator, place, source, options)


def _solved(
    operator: Any, place: Any, source: Any, options: dict[str, Any]
) -> tuple[np.ndarray, SolveInfo]:
    """Return the propagator of an operator of one flavour in four dimensions."""
    refuse(options, "shifts", "normal")
    extent, site = operator.gauge.extent, operator._site
    sources = sources_of(operator, place, source)
    together = (-1, *sources.shape[-4 - len(site) :])
    x0, whole = options.get("x0"), _of_propagator(extent, site)
    if x0 is not None and np.shape(x0)[-len(whole) :] == whole:
        guess = columns_of(x0, extent, site).reshape(together)
        options["x0"] = guess / operator._per_solution
    x, info = operator.solve(sources.reshape(together), **options)
    check_converged(info)
    s = propagator_of(on_host(x).reshape(sources.shape), len(site))
    return operator._per_solution * s, info


@named
def pion_correlator(s: Any, time: int = 0) -> np.ndarray:
    """Return the pion correlator C(t): tr S^+ S, summed over space, at distance t from the source.

    Parameters
    ----------
    s : array_like
        Propagator, as `propagator` returns it. The method of the same name of operators takes
        those of several sources, along axes before.
    time : int
        Time slice of the source.

    Returns
    -------
    numpy.ndarray
        Array of float64, one for each t. Staggered quarks give the Goldstone pion.

    Raises
    ------
    ValueError
        If the shape is not that of a propagator, or there is no such time slice.

    Examples
    --------
    >>> s = np.ones((6, 4, 2, 4, 4, 4, 3, 3))
    >>> print(lattice.pion_correlator(s)[:2])  # 32 sites of 144 numbers
    [4608. 4608.]
    """
    s = on_host(s)
    if (s.ndim, s.shape[4:]) not in ((8, (4, 4, 3, 3)), (6, (3, 3))):
        raise ValueError(
            f"a propagator of shape {s.shape}: expected (T, Z, Y, X, 4, 4, 3, 3), or of staggered "
            "quarks (T, Z, Y, X, 3, 3)"
        )
    return _correlated(s, s.ndim - 4, _slice(time, s.shape[0]))


def _slice(time: Any, slices: int) -> int:
    """Return a time slice as an int; ValueError if there is no such one."""
    if not 0 <= integer("time", time) < slices:
        raise ValueError(f"time={time!r:.80}: the lattice has {slices} time slices, from 0 on")
    return int(time)


def _correlated(s: np.ndarray, axes: int, time: int) -> np.ndarray:
    """Return the pion correlators of propagators whose sites have `axes` axes."""
    parts = (s.real, s.imag) if np.iscomplexobj(s) else (s,)
    over = tuple(range(-axes - 3, 0))
    # Squares of a heavy quark far from its source are below the least float32.
    sums = (np.square(part, dtype=np.float64).sum(axis=over) for part in parts)
    return np.roll(sum(sums), -time, axis=-1)


class Propagates:
    """Methods of operators that have a propagator of one flavour in four dimensions."""

    gauge: Any
    _site: tuple[int, ...]
    _per_solution: float = 1.0  # S as a multiple of M^-1

    @named
    def propagator(
        self,
        place: tuple[int, int, int, int] = (0, 0, 0, 0),
        source: Any = None,
        **options: Any,
    ) -> np.ndarray:
        """Return the propagator from a point or another source.

        Parameters
        ----------
        place, source, **options
            As for `cubc.lattice.propagator`.

        Returns
        -------
        numpy.ndarray
            Propagator S of `cubc.lattice.propagator`, without the report.

        Raises
        ------
        ValueError, TypeError
            As `cubc.lattice.propagator`.
        RuntimeError
            If a column did not converge.

        Examples
        --------
        >>> D = lattice.Wilson(lattice.Gauge.unit((4, 2, 4, 6)), kappa=0.1)
        >>> D.propagator((0, 0, 0, 0), tol=1e-8).shape
        (6, 4, 2, 4, 4, 4, 3, 3)
        """
        s, _ = _solved(self, place, source, options)
        return s

    @named
    def pion_correlator(self, s: Any, time: int = 0) -> np.ndarray:
        """Return the pion correlators of propagators of this operator.

        On a `Grid` all ranks call it, each with its part.

        Parameters
        ----------
        s : array_like
            Propagator, as the method `propagator` returns it; of several sources along axes before.
        time : int
            Time slice of the source; on a `Grid` one of the whole lattice.

        Returns
        -------
        numpy.ndarray
            Array of float64 ``[...][t]``, as of `cubc.lattice.pion_correlator` for each source; on
            a `Grid` that of the whole lattice.

        Raises
        ------
        ValueError
            If the propagators have another shape, or the lattice has no such time slice.

        Examples
        --------
        >>> D = lattice.Wilson(lattice.Gauge.unit((4, 2, 4, 6)), kappa=0.1)
        >>> print(D.pion_correlator(np.ones((6, 4, 2, 4, 4, 4, 3, 3)))[:2])
        [4608. 4608.]
        """
        s, whole = on_host(s), _of_propagator(self.gauge.extent, self._site)
        if s.shape[-len(whole) :] != whole:
            axes = ", ".join(map(str, whole))
            raise ValueError(f"a propagator of shape {s.shape}: expected (..., {axes})")
        grid = self.gauge.grid
        if grid is None:
            return _correlated(s, len(whole) - 4, _slice(time, self.gauge.extent[3]))
        time = _slice(time, self.gauge.extent[3] * grid.grid[3])
        return np.roll(grid.sum_of_slices(_correlated(s, len(whole) - 4, 0)), -time, axis=-1)


@named
def effective_mass(correlator: Any) -> np.ndarray:
    """Return the effective mass of a correlator, arcosh((C(t - 1) + C(t + 1)) / 2 C(t)).

    t is from 1 to T - 2. For one state that propagates in both directions of time it is the mass.
    Where noise leaves the ratio below 1 it is 0. Where C(t) is 0 it is infinite, 0 or NaN.

    Parameters
    ----------
    correlator : array_like
        Real numbers C(t) of one dimension, for t from 0 to T - 1.

    Returns
    -------
    numpy.ndarray
        Array of float64 with T - 2 masses, in units of the inverse lattice spacing.

    Raises
    ------
    TypeError
        If it is no array of real numbers in one dimension.

    Examples
    --------
    >>> print(lattice.effective_mass(np.cosh(0.5 * np.arange(-2, 3))).round(6))
    [0.5 0.5 0.5]
    """
    c = on_host(correlator)
    if c.ndim != 1 or c.dtype.kind not in "iuf":
        raise TypeError(f"{correlator!r:.60} is no correlator: give real numbers, by time")
    c = c.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (c[:-2] + c[2:]) / (2 * c[1:-1])
    return np.arccosh(np.maximum(ratio, 1))
