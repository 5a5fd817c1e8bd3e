"""Wilson fermions."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from .._calls import named, real, truth
from ._fields import Spinors, extent_fields, finite, outputs, precision_type
from ._gauge import Gauge
from ._gauge_checks import check_temporal
from ._operator import Operator, theta_fields
from ._propagator import Propagates


def kappa_of(name: str, kappa: float | None, mass: float | None, anisotropy: float) -> float:
    """Return `kappa`, or 1 / (2 (mass + 1 + 3 / anisotropy)) if `mass` is given."""
    if (kappa is None) == (mass is None):
        raise TypeError(f"{name} takes either kappa or mass, one of the two")
    if mass is None:
        return finite("kappa", kappa)
    twice = 2 * (real("mass", mass) + 1 + 3 / anisotropy)
    if twice == 0 or not isfinite(twice):
        raise ValueError(
            f"mass={mass!r}, anisotropy={anisotropy!r}: kappa = 1 / (2 (mass + 1 + 3 / anisotropy))"
            " is no finite number"
        )
    return 1 / twice


class Wilson(Propagates, Operator):
    """Wilson operator, M = 1 - kappa D.

    D psi(x) is the sum over directions of (1 - gamma_mu) U_mu(x) psi(x + mu) + (1 + gamma_mu)
    U_mu(x - mu)^+ psi(x - mu).

    Parameters
    ----------
    gauge : Gauge
        Gauge field.
    kappa : float
        Hopping parameter; or give `mass`.
    mass : float
        Bare mass m in place of kappa, which is 1 / (2 (m + 1 + 3 / anisotropy)); without an
        anisotropy 1 / (2 m + 8).
    antiperiodic_t : bool
        True: spinors change sign across the boundary in time.
    theta : sequence of four float, optional
        Twisted boundary conditions: psi(x + L) = exp(i theta) psi(x) in each of x, y, z, t, by
        default 0. The sign of `antiperiodic_t` comes on top.
    anisotropy : float
        Hops in space have the factor 1 / anisotropy; it is above 0.
    reconstruct : 18, 12 or 8
        Number of reals that a link is stored in: all, two rows, or the fewest. 18 keep a link as it
        is. With 12 row 2 is computed from rows 0 and 1, and with 8 most elements from five, as of a
        link in SU(3). For a link that is 1e-7 away from SU(3), as those of single precision are, 12
        change row 2 by about 1e-7, and 8 change all elements as much, and an element near 0 of
        column 0 by up to 1e-4. M changes accordingly; `Gauge.project` avoids that. 8 lose a link,
        to NaN or noise, whose element in row 1, column 0 has the magnitude 1 in `precision`: fields
        with such links need 12.
    precision : "double", "single" or "half"
        Precision of links and spinors as the operator is applied, and the default of `solve`. half
        is 16-bit fixed point with a norm for each site. A site with a NaN or an infinity is NaN,
        and one whose numbers are all below 4e-34 is 0.
    temporal_gauge : bool
        True: links in time are taken for 1 except in the last time slice, and only those of that
        slice are read. The gauge field is one of `Gauge.temporal_gauge`; a product or solve with
        another raises ValueError.

    Raises
    ------
    TypeError
        If neither `kappa` nor `mass` is given, or both; if `gauge` is no `Gauge`, or an option has
        another type.
    ValueError
        If a number is not finite, as the kappa of a `mass`, or an option is none of those above.

    Notes
    -----
    K. G. Wilson, "Quarks and strings on a lattice", in New Phenomena in Subnuclear Physics (1977);
    reconstruction and fixed point: M. A. Clark et al., "Solving Lattice QCD systems of equations
    using mixed precision solvers on GPUs", Comput. Phys. Commun. 181 (2010). Gamma matrices are
    those of DeGrand and Rossi.

    Examples
    --------
    >>> u = lattice.Gauge.unit((4, 2, 4, 6))
    >>> D = lattice.Wilson(u, kappa=0.1, antiperiodic_t=False)
    >>> x = np.ones((6, 4, 2, 4, 4, 3), complex)
    >>> print(abs(D(x) - (1 - 8 * 0.1) * x).max() < 1e-14)  # a constant has momentum 0
    True
    """

    _kernel = "dslash_wilson"

    @named
    def __init__(
        self,
        gauge: Gauge,
        kappa: float | None = None,
        *,
        mass: float | None = None,
        antiperiodic_t: bool = True,
        theta: Sequence[float] | None = None,
        anisotropy: float = 1.0,
        reconstruct: int = 12,
        precision: str = "double",
        temporal_gauge: bool = False,
    ):
        self._take_options(gauge, antiperiodic_t, theta, reconstruct, precision)
        self.anisotropy = finite("anisotropy", anisotropy)
        if self.anisotropy <= 0:
            raise ValueError(f"anisotropy={anisotropy!r}: expected a positive number")
        self.kappa = kappa_of(type(self).__name__, kappa, mass, self.anisotropy)
        self.temporal_gauge = truth("temporal_gauge", temporal_gauge)

    @property
    def mass(self) -> float:
        """The bare mass m of kappa = 1 / (2 (m + 1 + 3 / anisotropy)).

        Examples
        --------
        >>> lattice.Wilson(lattice.Gauge.unit((4, 2, 4, 6)), kappa=0.125).mass
        0.0
        """
        hops = 1 + 3 / self.anisotropy
        return 1 / (2 * self.kappa) - hops if self.kappa else float("inf")

    @property
    def _per_solution(self) -> float:  # type: ignore[override]
        return 2 * self.kappa

    def _of(self) -> str:
        anisotropy = "" if self.anisotropy == 1 else f", anisotropy={self.anisotropy}"
        return f"kappa={self.kappa}{anisotropy}"

    def _beside_hops(self, dagger: bool, stream: Any) -> dict[str, Any]:
        """Give the kernel's parameters for what is applied to x, beside the hopping term."""
        return {}

    def _fields(self, x: Spinors, parity: int, dagger: bool, stream: Any) -> dict[str, Any]:
        return {
            "links": self._links(self.precision, stream),
            "in": x.data,
            "in_norms": x.norms,
            "reconstruct": self.reconstruct,
            "parity": parity,
            "dagger": bool(dagger),
            "antiperiodic": self.antiperiodic_t,
            "temporal_gauge": self.temporal_gauge,
            "anisotropy": self.anisotropy,
            **theta_fields(self.theta),
            **extent_fields(self.gauge.extent),
            **outputs(precision_type(self.precision), x.sites),
        }

    def _links(self, precision: str, stream: Any) -> Any:
        if self.temporal_gauge:
            check_temporal(self.gauge, stream)
        return self.gauge.native(self.reconstruct, precision, stream)

    def _run(self, kernel: str, given: dict[str, Any], x: Spinors, stream: Any) -> Spinors:
        data, norms = self._call(kernel, given, stream)
        return Spinors(data, norms, x.extent, x.fields)

    def _hop(self, x: Spinors, parity: int, dagger: bool, stream: Any) -> Spinors:
        return self._run("dslash_wilson", self._fields(x, parity, dagger, stream), x, stream)

    def _apply(self, x: Spinors, dagger: bool, stream: Any) -> Spinors:
        given = self._fields(x, 2, dagger, stream)
        given |= {"x": x.data, "x_norms": x.norms, "a": -self.kappa}
        given |= self._beside_hops(dagger, stream)
        return self._run(self._kernel, given, x, stream)

    def _system(self, precision: str, stream: Any = None) -> tuple[str, dict[str, Any]]:
        """See `Operator`."""
        return "wilson", {
            "links": self._links(precision, stream),
            "reconstruct": self.reconstruct,
            "antiperiodic": self.antiperiodic_t,
            "temporal_gauge": self.temporal_gauge,
            "anisotropy": self.anisotropy,
            **theta_fields(self.theta),
            "kappa": self.kappa,
        }
