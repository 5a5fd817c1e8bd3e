"""Twisted mass fermions."""

from collections.abc import Sequence
from typing import Any

from .._calls import named
from ._gauge import Gauge
from ._wilson import Wilson


class TwistedMass(Wilson):
    """Operator of degenerate twisted mass fermions, M = 1 + 2 i kappa mu gamma_5 - kappa D.

    This is the operator of one of two flavours; that of the other has -mu. The adjoint of M(mu) is
    gamma_5 M(-mu) gamma_5.

    Parameters
    ----------
    gauge, kappa, mass
        As for `Wilson`.
    mu : float
        Twisted mass.
    antiperiodic_t, theta, anisotropy, reconstruct, precision, temporal_gauge
        As for `Wilson`.

    Notes
    -----
    R. Frezzotti, P. A. Grassi, S. Sint and P. Weisz, "Lattice QCD with a chirally twisted mass
    term", JHEP 08 (2001) 058. D is that of `Wilson`.
    """

    _kernel = "dslash_twisted"

    @named
    def __init__(
        self,
        gauge: Gauge,
        kappa: float | None = None,
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
        if mu is None:
            raise TypeError("TwistedMass takes mu")
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
        self.mu = float(mu)

    def _of(self) -> str:
        return f"{super()._of()}, mu={self.mu}"

    def _beside_hops(self, dagger: bool, stream: Any) -> dict[str, Any]:
        twist = 2 * self.kappa * self.mu
        return {"b": 1.0, "b5": -twist if dagger else twist}

    def _system(self, precision: str, stream: Any = None) -> tuple[str, dict[str, Any]]:
        """See `Operator`."""
        return "twisted", super()._system(precision, stream)[1] | {"mu": self.mu}
