"""Domain-wall fermions: Shamir's operator and Moebius'."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from .._calls import named, real, whole
from ._fields import Spinors, extent_fields, is_half, on_host, outputs, precision_type
from ._gauge import Gauge
from ._operator import Operator, theta_fields
from ._propagator import Propagates, check_converged, propagator_of, refuse, sources_of
from ._solve import SolveInfo
from ._wilson import Wilson

MOST_LS = 64  # CUBC_MOST_LS
UPPER, LOWER = slice(0, 2), slice(2, 4)  # spins with gamma_5 = 1 and with -1


class Mobius(Propagates, Operator):
    """Moebius domain-wall operator of five dimensions.

    ``M psi_s = D_+ psi_s - D_- (P_- psi_(s+1) + P_+ psi_(s-1))`` with ``D_+ = b5 D_W + 1``, ``D_- =
    1 - c5 D_W``, ``D_W = 4 - M5 - D / 2``, ``P_+- = (1 +- gamma_5) / 2``, and D of `Wilson`.
    Neighbours across the walls, from s = Ls - 1 to 0 and back, have the factor -mass.

    Parameters
    ----------
    gauge : Gauge
        Gauge field.
    mass : float
        Mass of the quark.
    M5 : float
        Height of the domain wall, between 0 and 2 for one light quark.
    Ls : int
        Sites of the fifth dimension, 1 to 64.
    b5, c5 : float
        Coefficients: 1.5 and 0.5 are a usual choice; 1 and 0 are `DomainWall`, 1 and 1 Borici's
        operator.
    antiperiodic_t, theta, reconstruct, precision
        As for `Wilson`.

    Raises
    ------
    ValueError
        If `Ls` or an option is out of range.

    Notes
    -----
    R. C. Brower, H. Neff and K. Orginos, "The Moebius domain wall fermion algorithm" (2012). Fields
    are spinors ``[s][t][z][y][x][spin][colour]``. The physical field is ``q = P_- psi_0 + P_+
    psi_(Ls-1)``. Its propagator is that of an operator of four dimensions, (1 + m) / 2 + (1 - m) /
    2 gamma_5 epsilon(H), in which epsilon nears the sign of H = gamma_5 (b5 + c5) D_W / (2 + (b5 -
    c5) D_W) as Ls grows: epsilon(x) = tanh(Ls artanh(x)).

    On a site M is a matrix T along s, and D has another behind it, M = T - D B / 2 with T = b5 (4 -
    M5) + 1 + (c5 (4 - M5) - 1) H_5, B = b5 + c5 H_5, and H_5 the shift in brackets above. A solve
    of the even sites is that of 1 - D_eo K D_oe K / 4, K = B / T, for y = T x.

    Examples
    --------
    >>> u = lattice.Gauge.unit((4, 2, 4, 6))
    >>> D = lattice.Mobius(u, mass=0.1, M5=1.4, Ls=8, b5=1.5, c5=0.5)
    >>> D.source(np.ones((6, 4, 2, 4, 4, 3), complex)).shape  # of five dimensions
    (8, 6, 4, 2, 4, 4, 3)
    """

    @named
    def __init__(
        self,
        gauge: Gauge,
        mass: float,
        M5: float,
        Ls: int,
        b5: float = 1.5,
        c5: float = 0.5,
        *,
        antiperiodic_t: bool = True,
        theta: Sequence[float] | None = None,
        reconstruct: int = 12,
        precision: str = "double",
    ):
        self._take_options(gauge, antiperiodic_t, theta, reconstruct, precision)
        if not 1 <= (sites := whole(type(self).__name__, "Ls", Ls)) <= MOST_LS:
            raise ValueError(f"Ls={Ls!r}: the fifth dimension has 1 to {MOST_LS} sites")
        self.mass, self.M5 = real("mass", mass), real("M5", M5)
        self.Ls = self._inner = sites
        self.b5, self.c5 = real("b5", b5), real("c5", c5)
        if not all(map(isfinite, (self.mass, self.M5, self.b5, self.c5))):
            raise ValueError(f"{self._of()}: expected finite numbers")

    def _of(self) -> str:
        return f"mass={self.mass}, M5={self.M5}, Ls={self.Ls}, b5={self.b5}, c5={self.c5}"

    # ---- the operator ----------------------------------------------------------------------------
    @property
    def _hopless(self) -> float:
        """D_W without its hops."""
        return 4 - self.M5

    def _links(self, precision: str, stream: Any) -> dict[str, Any]:
        return {
            "links": self.gauge.native(self.reconstruct, precision, stream),
            "reconstruct": self.reconstruct,
            "antiperiodic": self.antiperiodic_t,
            "anisotropy": 1.0,
            **theta_fields(self.theta),
        }

    def _run(self, kernel: str, x: Spinors, given: dict[str, Any], stream: Any) -> Spinors:
        fields = {
            "in": x.data,
            "in_norms": x.norms,
            **given,
            **self._links(self.precision, stream),
            **extent_fields(self.gauge.extent),
            **outputs(precision_type(self.precision), x.sites),
        }
        data, norms = self._call(kernel, fields, stream)
        return Spinors(data, norms, x.extent, x.fields)

    def _along(
        self, x: Spinors, same: float, other: float, more: dict[str, Any], stream: Any
    ) -> Spinors:
        """(same + other H) x, or with hops that of D x."""
        given = {"inner": self.Ls, "mass": self.mass, "a": same, "next": other, "parity": 2}
        return self._run("dslash_domain_wall", x, given | more, stream)

    def _hop(self, x: Spinors, parity: int, dagger: bool, stream: Any) -> Spinors:
        return self._run("dslash_wilson", x, {"parity": parity, "dagger": dagger}, stream)

    def _apply(self, x: Spinors, dagger: bool, stream: Any) -> Spinors:
        b, c, hopless = self.b5, self.c5, self._hopless
        adjoint = {"dagger": dagger}
        here = self._along(x, b * hopless + 1, c * hopless - 1, adjoint, stream)
        added = {"x": here.data, "x_norms": here.norms}
        if dagger:
            return self._along(x, -b / 2, -c / 2, added | adjoint | {"hops": True}, stream)
        mixed = self._along(x, b, c, {}, stream)
        return self._run("dslash_wilson", mixed, added | {"parity": 2, "a": -0.5}, stream)

    def _system(self, precision: str, stream: Any = None) -> tuple[str, dict[str, Any]]:
        """See `Operator`."""
        return "domain_wall", self._links(precision, stream) | {
            "mass": self.mass,
            "m5": self.M5,
            "b5": self.b5,
            "c5": self.c5,
            "ls": self.Ls,
        }

    # ---- four dimensions -------------------------------------------------------------------------
    @named
    def source(self, eta: Any) -> np.ndarray:
        """Return the source of five dimensions for sources of the physical field.

        It is ``D_- (P_+ eta)`` at s = 0 and ``D_- (P_- eta)`` at s = Ls - 1: spinors ``(..., T, Z,
        Y, X, 4, 3)`` become ``(..., Ls, T, Z, Y, X, 4, 3)``, in double precision.

        Raises
        ------
        ValueError
            If `eta` is of one parity, or has another shape.

        Examples
        --------
        >>> u = lattice.Gauge.unit((4, 2, 4, 6))
        >>> D = lattice.DomainWall(u, mass=0.1, M5=1.4, Ls=8)
        >>> D.source(np.ones((6, 4, 2, 4, 4, 3))).shape
        (8, 6, 4, 2, 4, 4, 3)
        """
        eta = on_host(eta).astype(complex)
        if is_half(eta.shape, self.gauge.extent):
            raise ValueError("a source is of both parities")
        walls = np.zeros((2, *eta.shape), complex)
        walls[0, ..., UPPER, :], walls[1, ..., LOWER, :] = eta[..., UPPER, :], eta[..., LOWER, :]
        if self.c5:
            D = Wilson(
                self.gauge,
                kappa=1.0,  # of the hopping term alone
                antiperiodic_t=self.antiperiodic_t,
                theta=self.theta,
                reconstruct=self.reconstruct,
            )
            walls = (1 - self.c5 * self._hopless) * walls + self.c5 / 2 * D.dslash(walls)
        out = np.zeros((*eta.shape[:-6], self.Ls, *eta.shape[-6:]), complex)
        out[..., 0, :, :, :, :, :, :] += walls[0]
        out[..., -1, :, :, :, :, :, :] += walls[1]
        return out

    def _between(self, psi: Any, s: int) -> np.ndarray:
        """``P_- psi_s + P_+ psi_(s-1)``."""
        psi = on_host(psi)
        self._is_half(psi)
        if psi.shape[-7:-6] != (self.Ls,):  # an operator with one s takes fields without that axis
            raise ValueError(
                f"a field of shape {psi.shape}: the axis before those of the lattice is the fifth "
                f"dimension, of {self.Ls}"
            )
        after, before = (psi[..., k, :, :, :, :, :, :] for k in (s, s - 1))
        return np.concatenate([before[..., UPPER, :], after[..., LOWER, :]], axis=-2)

    @named
    def physical(self, psi: Any) -> np.ndarray:
        """Return the physical field of a solution, ``q = P_- psi_0 + P_+ psi_(Ls-1)``.

        Raises
        ------
        ValueError
            If `psi` has another shape.

        Examples
        --------
        >>> u = lattice.Gauge.unit((4, 2, 4, 6))
        >>> D = lattice.DomainWall(u, mass=0.1, M5=1.4, Ls=8)
        >>> D.physical(np.ones((8, 6, 4, 2, 4, 4, 3))).shape
        (6, 4, 2, 4, 4, 3)
        """
        return self._between(psi, 0)

    @named
    def midpoint(self, psi: Any) -> np.ndarray:
        """Return the field half-way between the walls, ``P_- psi_(Ls/2) + P_+ psi_(Ls/2-1)``.

        Raises
        ------
        ValueError
            If Ls is odd, or `psi` has another shape.

        Examples
        --------
        >>> u = lattice.Gauge.unit((4, 2, 4, 6))
        >>> D = lattice.DomainWall(u, mass=0.1, M5=1.4, Ls=8)
        >>> D.midpoint(np.ones((8, 6, 4, 2, 4, 4, 3))).shape
        (6, 4, 2, 4, 4, 3)
        """
        if self.Ls % 2:
            raise ValueError(f"Ls={self.Ls}: the middle of an even number of sites is asked for")
        return self._between(psi, self.Ls // 2)

    def _columns(
        self, place: Any, source: Any, options: dict[str, Any]
    ) -> tuple[np.ndarray, SolveInfo]:
        """Solutions for sources: ...[source spin][source colour][s]..."""
        refuse(options, "shifts", "normal")
        eta = sources_of(self, place, source)
        psi, info = self.solve(self.source(eta), **options)
        check_converged(info)
        return on_host(psi), info

    @named
    def propagator(
        self,
        place: tuple[int, int, int, int] = (0, 0, 0, 0),
        source: Any = None,
        **options: Any,
    ) -> np.ndarray:
        """Return the propagator of the physical field from a point or another source.

        It is the inverse of the operator of four dimensions that the class describes, D_ov, less
        what does not propagate: (D_ov^-1 - 1) / (1 - mass).

        Parameters
        ----------
        place : tuple of int
            Site x, y, z, t of a point source, each from 0 to the extent less 1.
        source : array_like, optional
            Other sources of the physical field, as of `cubc.lattice.propagator`.
        **options
            Options of `solve` but `shifts` and `normal`.

        Returns
        -------
        numpy.ndarray
            Propagator as of `cubc.lattice.propagator`:
            ``[t][z][y][x][sink spin][source spin][sink colour][source colour]``.

        Raises
        ------
        RuntimeError
            If a column did not converge.

        Examples
        --------
        >>> D = lattice.DomainWall(lattice.Gauge.unit((4, 2, 4, 6)), mass=0.1, M5=1.4, Ls=4)
        >>> D.propagator((0, 0, 0, 0), tol=1e-6).shape  # of four dimensions
        (6, 4, 2, 4, 4, 4, 3, 3)
        """
        psi, _ = self._columns(place, source, options)
        return propagator_of(self.physical(psi), len(self._site))

    @named
    def residual_mass(
        self, place: tuple[int, int, int, int] = (0, 0, 0, 0), **options: Any
    ) -> np.ndarray:
        """Return the residual mass by distance in time from a point source.

        At each distance it is the correlator of the pion with the density half-way between the
        walls over that of the pion, both summed over space; on a plateau it depends little on the
        distance.

        Parameters
        ----------
        place, **options
            As for `propagator`.

        Returns
        -------
        numpy.ndarray
            Array of float64, one for each distance in time from the source: T of them, and on a
            `Grid` those of the whole lattice.

        Raises
        ------
        ValueError
            If Ls is odd.
        RuntimeError
            If a column did not converge.

        Examples
        --------
        >>> D = lattice.DomainWall(lattice.Gauge.unit((4, 2, 4, 6)), mass=0.1, M5=1.4, Ls=4)
        >>> D.residual_mass(tol=1e-6).shape  # a number for each distance in time
        (6,)
        """
        psi, _ = self._columns(place, None, options)
        middle, pion = (
            (abs(q) ** 2).sum((0, 1, 3, 4, 5, 6, 7))
            for q in (self.midpoint(psi), self.physical(psi))
        )
        if (grid := self.gauge.grid) is not None:
            middle, pion = grid.sum_of_slices(np.stack([middle, pion]))
        return np.roll(middle / pion, -place[3])


class DomainWall(Mobius):
    """Shamir's domain-wall operator: `Mobius` with b5 = 1 and c5 = 0.

    ``M psi_s = (D_W + 1) psi_s - P_- psi_(s+1) - P_+ psi_(s-1)``.

    Parameters
    ----------
    gauge, mass, M5, Ls, antiperiodic_t, theta, reconstruct, precision
        As for `Mobius`.

    Raises
    ------
    ValueError
        If `Ls` or an option is out of range.

    Notes
    -----
    Y. Shamir, "Chiral fermions from lattice boundaries", Nucl. Phys. B 406 (1993); V. Furman and Y.
    Shamir, "Axial symmetries in lattice QCD with Kaplan fermions", Nucl. Phys. B 439 (1995).

    Examples
    --------
    >>> u = lattice.Gauge.unit((4, 2, 4, 6))
    >>> D = lattice.DomainWall(u, mass=0.1, M5=1.4, Ls=8)
    >>> D.b5, D.c5
    (1.0, 0.0)
    """

    @named
    def __init__(
        self,
        gauge: Gauge,
        mass: float,
        M5: float,
        Ls: int,
        *,
        antiperiodic_t: bool = True,
        theta: Sequence[float] | None = None,
        reconstruct: int = 12,
        precision: str = "double",
    ):
        super().__init__(
            gauge,
            mass,
            M5,
            Ls,
            1.0,
            0.0,
            antiperiodic_t=antiperiodic_t,
            theta=theta,
            reconstruct=reconstruct,
            precision=precision,
        )
