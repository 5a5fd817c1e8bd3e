"""Wilson fermions with a clover term, and with a twisted mass besides."""

import math
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from .._calls import named
from .._core import call
from .._reductions import sum as sum_of
from ._fields import extent_fields, finite, precision_type
from ._gauge import Gauge
from ._gauge_margins import around, inside
from ._wilson import Wilson


def _of_planes(csw: float | Sequence[float]) -> tuple[float, float]:
    """Return the coefficients of planes in space and of those with time."""
    both = (csw, csw) if np.ndim(csw) == 0 else tuple(csw)  # type: ignore[arg-type]
    if len(both) != 2:
        raise ValueError(
            f"csw={csw!r:.80}: expected a number, or a pair: of planes in space and with time"
        )
    return finite("csw", both[0]), finite("csw", both[1])


class WilsonClover(Wilson):
    """Sheikholeslami-Wohlert (clover) operator, M = A - kappa D.

    A = 1 + kappa c_sw sum over mu < nu of sigma_munu H_munu, with sigma_munu = i/2 [gamma_mu,
    gamma_nu] and H_munu = i/8 (Q_munu - Q_munu^+). Q_munu is the sum of the four plaquettes in the
    plane that begin at the site.

    Parameters
    ----------
    gauge, kappa, mass
        As for `Wilson`.
    csw : float or (float, float)
        Coefficient c_sw; a pair if that of planes in space and that of planes with time differ.
    antiperiodic_t, theta, anisotropy, reconstruct, precision, temporal_gauge
        As for `Wilson`. The clover term is computed in double precision from all 18 reals of the
        links, and stored in `precision`.

    Raises
    ------
    TypeError
        As `Wilson`; if `csw` is not given.
    ValueError
        As `Wilson`; if `csw` is neither a number nor a pair.

    Notes
    -----
    B. Sheikholeslami and R. Wohlert, "Improved continuum limit lattice action for QCD with Wilson
    fermions", Nucl. Phys. B 259 (1985) 572; M. Luescher, S. Sint, R. Sommer and P. Weisz, "Chiral
    symmetry and O(a) improvement in lattice QCD", Nucl. Phys. B 478 (1996) 365. At tree level c_sw
    is 1. D is that of `Wilson`.

    Examples
    --------
    >>> u = lattice.Gauge.unit((4, 2, 4, 6))
    >>> D = lattice.WilsonClover(u, mass=0.1, csw=1.5)
    >>> round(D.kappa, 6), D.csw
    (0.121951, (1.5, 1.5))
    """

    _kernel = "dslash_clover"

    _caches = ("_kept",)

    @named
    def __init__(
        self,
        gauge: Gauge,
        kappa: float | None = None,
        csw: float | Sequence[float] | None = None,
        *,
        mass: float | None = None,
        antiperiodic_t: bool = True,
        theta: Sequence[float] | None = None,
        anisotropy: float = 1.0,
        reconstruct: int = 12,
        precision: str = "double",
        temporal_gauge: bool = False,
    ):
        if csw is None:
            raise TypeError("WilsonClover takes csw")
        super().__init__(
            gauge,
            kappa,
            mass=mass,
            antiperiodic_t=antiperiodic_t,
            theta=theta,
            anisotropy=anisotropy,
            reconstruct=reconstruct,
            precision=precision,
            temporal_gauge=temporal_gauge,
        )
        self.csw = _of_planes(csw)
        self._kept: WeakKeyDictionary[Gauge, tuple[Any, dict[Any, Any]]] = WeakKeyDictionary()

    def _of(self) -> str:
        return f"{super()._of()}, csw={self.csw}"

    def _beside_hops(self, dagger: bool, stream: Any) -> dict[str, Any]:
        clover, norms = self.clover(self.precision, stream)
        return {"clover": clover, "clover_norms": norms, "on_x": 1}

    def _system(self, precision: str, stream: Any = None) -> tuple[str, dict[str, Any]]:
        """See `Operator`."""
        hops = super()._system(precision, stream)[1]
        return "clover", hops | {"clover": self.clover("double", stream)[0]}

    @named
    def clover(self, precision: str = "double", stream: Any = None) -> tuple[Any, Any]:
        """Return the clover term in native order, and its norms in half precision, else None.

        ``cubc_clover_term_params`` in ``cubc/lattice.h`` describes the order. Both are kept until
        the links change.

        Raises
        ------
        ValueError
            If the precision is none.

        Examples
        --------
        >>> D = lattice.WilsonClover(lattice.Gauge.unit((4, 2, 4, 6)), mass=0.1, csw=1.5)
        >>> matrices, norms = D.clover()
        >>> matrices.size == 72 * 4 * 2 * 4 * 6, norms
        (True, None)
        """
        return self._keep("clover_term", precision, self._term, stream)[:2]

    def _term(self, kind: str, stream: Any) -> Any:
        gauge, planes = self.gauge, {"magnetic": self.csw[0], "electric": self.csw[1]}
        given = {plane: self.kappa * c for plane, c in planes.items()}
        given["links"], extent = around(gauge, stream=stream)
        made = _made("clover_term", kind, extent, given, stream)
        return [
            inside(gauge, x, extent, reals, stream=stream) if x is not None else None
            for x, reals in zip(made, (72, 1), strict=True)
        ]

    @named
    def inverse(self, precision: str = "double", stream: Any = None) -> tuple[Any, Any]:
        """Return the inverse of the clover term, in the order of `clover`.

        Raises
        ------
        ValueError
            If the precision is none.

        Examples
        --------
        >>> D = lattice.WilsonClover(lattice.Gauge.unit((4, 2, 4, 6)), mass=0.1, csw=1.5)
        >>> D.inverse()[0].size == D.clover()[0].size
        True
        """
        return self._inverse(precision, stream)[:2]

    @named
    def trace_log(self, parity: str | None = None, stream: Any = None) -> float:
        """Return the logarithm of the magnitude of the clover term's determinant.

        It is the trace of the term's logarithm where the term is positive.

        Parameters
        ----------
        parity : "even" or "odd", optional
            Parity of the sites that count; by default all sites.
        stream : optional
            As for `cubc.reduce`.

        Raises
        ------
        ValueError
            If the parity is none.

        Examples
        --------
        >>> D = lattice.WilsonClover(lattice.Gauge.unit((4, 2, 4, 6)), mass=0.1, csw=1.5)
        >>> abs(D.trace_log()) < 1e-12  # without a field the term is 1
        True
        """
        if parity not in ("even", "odd", None):
            raise ValueError(f"parity {parity!r}: expected 'even' or 'odd', or None for both")
        if (team := self.gauge.team) is not None:
            return team.run(lambda rank: team.operator_of(self, rank).trace_log(parity))[0]
        of_sites = self._inverse("double", stream)[2]
        half = of_sites.size // 2
        first, last = {"even": (0, half), "odd": (half, 2 * half), None: (0, 2 * half)}[parity]
        here = float(sum_of(of_sites[first:last], stream=stream))
        return here if self.gauge.grid is None else self.gauge.grid._sum(here)

    def _inverse(self, precision: str, stream: Any) -> Any:
        return self._keep("clover_invert", precision, self._inverted, stream)

    def _inverted(self, kind: str, stream: Any) -> Any:
        extent = self.gauge.extent
        given = {
            "clover": self.clover("double", stream)[0],
            "log_det": ("float64", (math.prod(extent),), None),
            **self._square(),
        }
        return _made("clover_invert", kind, extent, given, stream)

    def _square(self) -> dict[str, Any]:
        """Give the parameters of the inverse of a site term that is not Hermitian."""
        return {}

    def _keep(self, what: str, precision: str, make: Any, stream: Any) -> Any:
        """Return a result that was made before from the same links and numbers."""
        kind = precision_type(precision)
        made_of = (self.gauge.version, self.kappa, self.csw, self._square())
        kept_of, kept = self._kept.get(self.gauge, (None, {}))
        if kept_of != made_of:
            kept = {}
            self._kept[self.gauge] = made_of, kept
        if (what, kind) not in kept:
            kept[what, kind] = make(kind, stream)
        return kept[what, kind]


def _made(algorithm: str, kind: str, extent: Any, given: dict[str, Any], stream: Any) -> Any:
    """Return matrices of all sites, their norms, and what else a kernel makes."""
    sites = math.prod(extent)
    norms = ("float32", (sites,), None) if kind == "int16" else None
    given |= {"out": (kind, (72 * sites,), None), "out_norms": norms, **extent_fields(extent)}
    return call(algorithm, given, stream=stream)


class TwistedClover(WilsonClover):
    """Operator of twisted mass fermions with a clover term, M = A + 2 i kappa mu gamma_5 - kappa D.

    A is the clover term of `WilsonClover`. This is the operator of one of two flavours; that of the
    other has -mu. The adjoint of M(mu) is gamma_5 M(-mu) gamma_5.

    Parameters
    ----------
    gauge, kappa, mass
        As for `Wilson`.
    csw : float or (float, float)
        As for `WilsonClover`.
    mu : float
        Twisted mass, as for `TwistedMass`.
    antiperiodic_t, theta, anisotropy, reconstruct, precision, temporal_gauge
        As for `WilsonClover`.

    Raises
    ------
    TypeError
        As `WilsonClover`; if `mu` is not given.
    ValueError
        As `WilsonClover`.

    Notes
    -----
    R. Frezzotti, G. Martinelli, M. Papinutto and G. C. Rossi, "Reducing cutoff effects in maximally
    twisted lattice QCD close to the chiral limit", JHEP 04 (2006) 038. D is that of `Wilson`. The
    inverse of the site term is K (A - 2 i kappa mu gamma_5), K = (A^2 + (2 kappa mu)^2)^-1; a hop
    that is multiplied by it reads A and K.

    Examples
    --------
    >>> u = lattice.Gauge.unit((4, 2, 4, 6))
    >>> D = lattice.TwistedClover(u, kappa=0.12, csw=1.5, mu=0.01)
    >>> D.mu, D.csw
    (0.01, (1.5, 1.5))
    """

    _kernel = "dslash_twisted_clover"

    @named
    def __init__(
        self,
        gauge: Gauge,
        kappa: float | None = None,
        csw: float | Sequence[float] | None = None,
        mu: float | None = None,
        *,
        mass: float | None = None,
        antiperiodic_t: bool = True,
        theta: Sequence[float] | None = None,
        anisotropy: float = 1.0,
        reconstruct: int = 12,
        precision: str = "double",
        temporal_gauge: bool = False,
    ):
        if csw is None or mu is None:
            raise TypeError("TwistedClover takes csw and mu")
        super().__init__(
            gauge,
            kappa,
            csw,
            mass=mass,
            antiperiodic_t=antiperiodic_t,
            theta=theta,
            anisotropy=anisotropy,
            reconstruct=reconstruct,
            precision=precision,
            temporal_gauge=temporal_gauge,
        )
        self.mu = finite("mu", mu)

    def _of(self) -> str:
        return f"{super()._of()}, mu={self.mu}"

    def _square(self) -> dict[str, Any]:
        return {"squared": 1, "shift": (2 * self.kappa * self.mu) ** 2}

    def _beside_hops(self, dagger: bool, stream: Any) -> dict[str, Any]:
        twist = 2 * self.kappa * self.mu
        return super()._beside_hops(dagger, stream) | {"t": -twist if dagger else twist}

    def _system(self, precision: str, stream: Any = None) -> tuple[str, dict[str, Any]]:
        """See `Operator`."""
        return "twisted_clover", super()._system(precision, stream)[1] | {"mu": self.mu}

    @named
    def inverse(self, precision: str = "double", stream: Any = None) -> tuple[Any, Any]:
        """Return K, the inverse of A^2 + (2 kappa mu)^2, in the order of `clover`.

        Raises
        ------
        ValueError
            If the precision is none.

        Examples
        --------
        >>> u = lattice.Gauge.unit((4, 2, 4, 6))
        >>> D = lattice.TwistedClover(u, mass=0.1, csw=1.5, mu=0.1)
        >>> D.inverse()[0].size == D.clover()[0].size
        True
        """
        return self._inverse(precision, stream)[:2]

    @named
    def trace_log(self, parity: str | None = None, stream: Any = None) -> float:
        """Return the trace of the logarithm of A^2 + (2 kappa mu)^2: of both flavours together.

        The arguments are those of `WilsonClover.trace_log`.

        Raises
        ------
        ValueError
            If `parity` is another word.

        Examples
        --------
        >>> u = lattice.Gauge.unit((4, 2, 4, 6))
        >>> D = lattice.TwistedClover(u, kappa=0.125, csw=1.5, mu=4.0)
        >>> print(round(D.trace_log() / (192 * 12), 6))  # log(1 + (2 kappa mu)^2) without a field
        0.693147
        """
        return super().trace_log(parity, stream)
