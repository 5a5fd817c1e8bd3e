"""Twisted mass fermions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._calls import named
from ._fields import finite, on_host
from ._gauge import Gauge
from ._propagator import check_converged, propagator_of, refuse, sources_of
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

    Raises
    ------
    TypeError
        As `Wilson`; if `mu` is not given.
    ValueError
        As `Wilson`.

    Notes
    -----
    R. Frezzotti, P. A. Grassi, S. Sint and P. Weisz, "Lattice QCD with a chirally twisted mass
    term", JHEP 08 (2001) 058. D is that of `Wilson`.

    Examples
    --------
    >>> u = lattice.Gauge.unit((4, 2, 4, 6))
    >>> D = lattice.TwistedMass(u, kappa=0.12, mu=0.01)
    >>> D.kappa, D.mu
    (0.12, 0.01)
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
        self.mu = finite("mu", mu)

    def _of(self) -> str:
        return f"{super()._of()}, mu={self.mu}"

    def _beside_hops(self, dagger: bool, stream: Any) -> dict[str, Any]:
        twist = 2 * self.kappa * self.mu
        return {"b": 1.0, "b5": -twist if dagger else twist}

    def _system(self, precision: str, stream: Any = None) -> tuple[str, dict[str, Any]]:
        """See `Operator`."""
        return "twisted", super()._system(precision, stream)[1] | {"mu": self.mu}


class TwistedDoublet(Wilson):
    """Operator of two flavours of twisted mass fermions whose masses differ.

    M = 1 + 2 i kappa mu gamma_5 tau_3 + 2 kappa epsilon tau_1 - kappa D, with Pauli matrices tau of
    flavour. The adjoint of M is gamma_5 tau_1 M tau_1 gamma_5. With epsilon = 0 the flavours are
    those of `TwistedMass` with mu and -mu.

    Fields have an axis of the two flavours before those of the lattice:
    ``(..., 2, T, Z, Y, X, 4, 3)``.

    Parameters
    ----------
    gauge, kappa, mass
        As for `Wilson`.
    mu : float
        Mean twisted mass of the flavours, ETMC's mu bar (mu_sigma).
    epsilon : float
        Half of the difference of their masses, ETMC's epsilon bar (mu_delta).
    antiperiodic_t, theta, anisotropy, reconstruct, precision, temporal_gauge
        As for `Wilson`.

    Raises
    ------
    TypeError
        As `Wilson`; if `mu` or `epsilon` is not given.
    ValueError
        As `Wilson`.

    Notes
    -----
    R. Frezzotti and G. C. Rossi, "Twisted-mass lattice QCD with mass non-degenerate quarks", Nucl.
    Phys. B (Proc. Suppl.) 128 (2004) 193; T. Chiarappa et al., Eur. Phys. J. C 50 (2007) 373. D is
    that of `Wilson`.

    Examples
    --------
    >>> u = lattice.Gauge.unit((4, 2, 4, 6))
    >>> D = lattice.TwistedDoublet(u, kappa=0.12, mu=0.02, epsilon=0.01)
    >>> D.mu, D.epsilon
    (0.02, 0.01)
    """

    _kernel = "dslash_doublet"
    _inner = 2

    @named
    def __init__(
        self,
        gauge: Gauge,
        kappa: float | None = None,
        mu: float | None = None,
        epsilon: float | None = None,
        *,
        mass: float | None = None,
        antiperiodic_t: bool = True,
        theta: Sequence[float] | None = None,
        anisotropy: float = 1.0,
        reconstruct: int = 12,
        precision: str = "double",
        temporal_gauge: bool = False,
    ):
        if mu is None or epsilon is None:
            raise TypeError("TwistedDoublet takes mu and epsilon")
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
        self.mu = finite("mu", mu)
        self.epsilon = finite("epsilon", epsilon)

    def _of(self) -> str:
        return f"{super()._of()}, mu={self.mu}, epsilon={self.epsilon}"

    def _beside_hops(self, dagger: bool, stream: Any) -> dict[str, Any]:
        t, e = 2 * self.kappa * self.mu, 2 * self.kappa * self.epsilon
        return {"b": 1.0, "b5": -t if dagger else t, "b1": e}

    def _system(self, precision: str, stream: Any = None) -> tuple[str, dict[str, Any]]:
        """See `Operator`."""
        masses = {"mu": self.mu, "epsilon": self.epsilon}
        return "doublet", super()._system(precision, stream)[1] | masses

    @named
    def propagator(
        self,
        place: tuple[int, int, int, int] = (0, 0, 0, 0),
        source: Any = None,
        **options: Any,
    ) -> np.ndarray:
        """Return the propagator from a point or another source, S = 2 kappa M^-1.

        Parameters
        ----------
        place : tuple of int
            Site x, y, z, t of a point source.
        source : array_like, optional
            Other sources, of each flavour by itself, as of `cubc.lattice.propagator`.
        **options
            Options of `solve` but `x0`, `shifts`, `normal` and `out`.

        Returns
        -------
        numpy.ndarray
            Array of complex128,
            ``[sink flavour][source flavour][t][z][y][x]`` and then the axes of spin and colour of
            `cubc.lattice.propagator`.

        Raises
        ------
        RuntimeError
            If a column did not converge.

        Examples
        --------
        >>> u = lattice.Gauge.unit((4, 2, 4, 6))
        >>> D = lattice.TwistedDoublet(u, kappa=0.1, mu=0.1, epsilon=0.05)
        >>> D.propagator((0, 0, 0, 0), tol=1e-6, sloppy="half").shape
        (2, 2, 6, 4, 2, 4, 4, 4, 3, 3)
        """
        refuse(options, "x0", "shifts", "normal", "out")
        given = sources_of(self, place, source)
        sources = np.zeros((2, *given.shape[:-6], 2, *given.shape[-6:]), complex)
        for flavour in range(2):
            sources[flavour, ..., flavour, :, :, :, :, :, :] = given
        x, info = self.solve(sources, **options)
        check_converged(info)
        return 2 * self.kappa * propagator_of(np.moveaxis(on_host(x), -7, 0), len(self._site))
