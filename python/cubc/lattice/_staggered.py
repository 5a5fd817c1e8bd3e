"""Staggered fermions: naive, asqtad and HISQ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from .. import _core
from .._calls import named, real
from .._core import call, reduce
from .._lazy import lazy
from . import _fat_links
from ._fields import COLOUR_VECTOR, NATIVE, Spinors, extent_fields, finite, outputs, precision_type
from ._gauge import Gauge
from ._operator import Operator, theta_fields
from ._propagator import Propagates

# For each direction x, y, z, t: five bits that say which of the coordinates x, y, z, t change the
# sign of a hop, and whether it is negative besides (cubc_dslash_staggered_params).
PHASES = {
    "milc": (0b01000, 0b01001, 0b01011, 0b00000),
    "chroma": (0b00000, 0b00001, 0b00011, 0b00111),
    "tifr": (0b11110, 0b01100, 0b11000, 0b00000),
}


def _stored(links: Any, extent: tuple[int, ...], kind: str, reals: int, stream: Any) -> Any:
    """Return links of 18 float64 as `reals` numbers of another type."""
    if (reals, kind) == (18, "float64"):
        return links
    padded = reals + reals % 2 if kind == "int16" else reals
    given = {
        "from": links,
        "to": (kind, (links.size // 18 * padded,), None),
        "from_order": NATIVE,
        "to_order": NATIVE,
        "from_reals": 18,
        "to_reals": reals,
        **extent_fields(extent),
    }
    return call("link_copy", given, stream=stream)[0]


class _Improved:
    """Fat and long links of a gauge field, in each precision that was asked for.

    Attributes
    ----------
    scale, long_scale : float
        Factors of the stored links: fixed point holds numbers up to 1, and long links are stored as
        matrices of U(3).
    """

    def __init__(self, gauge: Gauge, action: str, u0: float, naik_epsilon: float, stream: Any):
        paths = _fat_links.paths_of(action, u0, naik_epsilon)
        fat, self._long = _fat_links.made_of(gauge, action, paths, 1.0, stream)
        here = float(reduce(lazy("fabs(u)", u=fat), "max", stream=stream))
        self.made_of = gauge.version, u0, naik_epsilon
        self.scale = here if gauge.grid is None else max(gauge.grid._all(here))
        self.long_scale = paths.naik
        self._extent = gauge.extent
        self._fat = _core.transform("u * s", u=fat, s=1 / self.scale, stream=stream)
        self._kept: dict[tuple[str, str, int], Any] = {}

    def links(self, which: str, precision: str, reals: int, stream: Any) -> Any:
        """Return the "fat" or the "long" links in native order."""
        key = which, precision_type(precision), reals
        if key not in self._kept:
            links = self._fat if which == "fat" else self._long
            self._kept[key] = _stored(links, self._extent, key[1], reals, stream)
        return self._kept[key]


class _StaggeredOperator(Propagates, Operator):
    """M = 2 m + D of colour vectors; subclasses say which links D has."""

    _site = COLOUR_VECTOR

    def __init__(
        self,
        gauge: Gauge,
        mass: float,
        phases: str,
        antiperiodic_t: bool,
        theta: Sequence[float] | None,
        reconstruct: int,
        precision: str,
    ):
        self._take_options(gauge, antiperiodic_t, theta, reconstruct, precision)
        if phases not in tuple(PHASES):
            raise ValueError(f"phases {phases!r}: expected one of {', '.join(PHASES)}")
        self.mass = finite("mass", mass)
        self.phases = phases

    def _of(self) -> str:
        return f"mass={self.mass}, phases={self.phases!r}"

    def _links(self, precision: str, stream: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _of_links(self, precision: str, stream: Any) -> dict[str, Any]:
        signs = sum(bits << 5 * mu for mu, bits in enumerate(PHASES[self.phases]))
        boundary = {"signs": signs | self.antiperiodic_t << 20, **theta_fields(self.theta)}
        return self._links(precision, stream) | boundary

    def _run(
        self, x: Spinors, parity: int, dagger: bool, stream: Any, diagonal: float | None
    ) -> Spinors:
        given = {
            "in": x.data,
            "in_norms": x.norms,
            "parity": parity,
            "a": -1.0 if dagger else 1.0,
            **self._of_links(self.precision, stream),
            **extent_fields(self.gauge.extent),
            **outputs(precision_type(self.precision), x.sites, COLOUR_VECTOR),
        }
        if diagonal is not None:
            given |= {"x": x.data, "x_norms": x.norms, "b": diagonal}
        data, norms = self._call("dslash_staggered", given, stream)
        return Spinors(data, norms, x.extent, x.fields, COLOUR_VECTOR)

    def _hop(self, x: Spinors, parity: int, dagger: bool, stream: Any) -> Spinors:
        return self._run(x, parity, dagger, stream, None)

    def _apply(self, x: Spinors, dagger: bool, stream: Any) -> Spinors:
        return self._run(x, 2, dagger, stream, 2 * self.mass)

    def _system(self, precision: str, stream: Any = None) -> tuple[str, dict[str, Any]]:
        """See `Operator`."""
        return "staggered", self._of_links(precision, stream) | {"mass": self.mass}


class Staggered(_StaggeredOperator):
    """Naive staggered operator, M = 2 m + D.

    D chi(x) is the sum over directions of eta_mu(x) times U_mu(x) chi(x + mu) - U_mu(x - mu)^+
    chi(x - mu). All of M is twice the textbooks' operator.

    Parameters
    ----------
    gauge : Gauge
        Gauge field.
    mass : float
        Mass m.
    phases : "milc", "chroma" or "tifr"
        Convention of the signs eta: (-1)^t, (-1)^(t+x), (-1)^(t+x+y), 1 of MILC; 1, (-1)^x,
        (-1)^(x+y), (-1)^(x+y+z) of Chroma; -(-1)^(t+z+y), (-1)^(t+z), -(-1)^t, 1 of TIFR. All give
        the same spectrum.
    antiperiodic_t : bool
        True: fields change sign across the boundary in time.
    theta : sequence of four float, optional
        Angles at the boundaries of x, y, z, t; see `Wilson`.
    reconstruct : 18, 12 or 8
        Number of reals that a link is stored in; see `Wilson`.
    precision : "double", "single" or "half"
        Precision of links and fields as the operator is applied, and the default of `solve`.

    Raises
    ------
    ValueError
        If an option is none of those above.

    Notes
    -----
    J. Kogut and L. Susskind, "Hamiltonian formulation of Wilson's lattice gauge theories" (1975).
    Fields are colour vectors ``[t][z][y][x][colour]``.

    Examples
    --------
    >>> u = lattice.Gauge.unit((4, 2, 4, 6))
    >>> D = lattice.Staggered(u, mass=0.05, phases="milc")
    >>> D.mass, D.phases
    (0.05, 'milc')
    """

    @named
    def __init__(
        self,
        gauge: Gauge,
        mass: float,
        *,
        phases: str = "milc",
        antiperiodic_t: bool = True,
        theta: Sequence[float] | None = None,
        reconstruct: int = 12,
        precision: str = "double",
    ):
        super().__init__(gauge, mass, phases, antiperiodic_t, theta, reconstruct, precision)

    def _links(self, precision: str, stream: Any) -> dict[str, Any]:
        return {
            "links": self.gauge.native(self.reconstruct, precision, stream),
            "reconstruct": self.reconstruct,
            "scale": 1.0,
        }


class _ImprovedOperator(_StaggeredOperator):
    """Operators with fat and long links, which are kept until the gauge field changes."""

    _action: str
    _links_name, _reals = "long links", (18, 13)
    _caches = ("_improved",)

    def __init__(
        self,
        gauge: Gauge,
        mass: float,
        u0: float,
        naik_epsilon: float,
        reconstruct: int,
        **options: Any,
    ):
        super().__init__(gauge, mass, reconstruct=reconstruct, **options)
        _fat_links.check(self._action, u0, naik_epsilon)
        self.u0 = real("u0", u0)
        self.naik_epsilon = real("naik_epsilon", naik_epsilon)
        self._improved: WeakKeyDictionary[Gauge, _Improved] = WeakKeyDictionary()

    def _of(self) -> str:
        numbers = f", u0={self.u0}" if self.u0 != 1 else ""
        numbers += f", naik_epsilon={self.naik_epsilon}" if self.naik_epsilon else ""
        return f"{super()._of()}{numbers}"

    def _links(self, precision: str, stream: Any) -> dict[str, Any]:
        made = self._improved.get(self.gauge)
        if made is None or made.made_of != (self.gauge.version, self.u0, self.naik_epsilon):
            made = _Improved(self.gauge, self._action, self.u0, self.naik_epsilon, stream)
            self._improved[self.gauge] = made
        return {
            "links": made.links("fat", precision, 18, stream),
            "long_links": made.links("long", precision, self.reconstruct, stream),
            "reconstruct": 18,
            "long_reconstruct": self.reconstruct,
            "scale": made.scale,
            "long_scale": made.long_scale,
        }


class Asqtad(_ImprovedOperator):
    """Asqtad staggered operator, M = 2 m + D, with fat and long links in D.

    D chi(x) is the sum over directions of eta_mu(x) times F_mu(x) chi(x + mu) - F_mu(x - mu)^+
    chi(x - mu) + L_mu(x) chi(x + 3 mu) - L_mu(x - 3 mu)^+ chi(x - 3 mu), with the links of
    `fat_links`. They are computed at the first use and again when the gauge field has changed.

    Parameters
    ----------
    gauge : Gauge
        Gauge field.
    mass : float
        Mass m.
    u0 : float
        Tadpole factor.
    phases, antiperiodic_t, theta, precision
        As of `Staggered`.
    reconstruct : 18 or 13
        Number of reals that a long link is stored in: all, or two rows and the phase of the
        determinant. Fat links have all 18.

    Raises
    ------
    ValueError
        If an option is none of those above.

    Notes
    -----
    K. Orginos, D. Toussaint and R. L. Sugar, "Variants of fattening and flavor symmetry
    restoration" (1999).

    Examples
    --------
    >>> u = lattice.Gauge.unit((4, 2, 4, 6))
    >>> lattice.Asqtad(u, mass=0.05, u0=0.9).mass
    0.05
    """

    _action = "asqtad"

    @named
    def __init__(
        self,
        gauge: Gauge,
        mass: float,
        u0: float = 1.0,
        *,
        phases: str = "milc",
        antiperiodic_t: bool = True,
        theta: Sequence[float] | None = None,
        reconstruct: int = 13,
        precision: str = "double",
    ):
        options = {"phases": phases, "antiperiodic_t": antiperiodic_t, "theta": theta}
        super().__init__(gauge, mass, u0, 0.0, reconstruct, precision=precision, **options)


class HISQ(_ImprovedOperator):
    """HISQ operator, M = 2 m + D: asqtad's form with links that are smeared twice.

    Parameters
    ----------
    gauge : Gauge
        Gauge field.
    mass : float
        Mass m.
    naik_epsilon : float
        Correction of the dispersion relation for heavy quarks; see `fat_links`.
    phases, antiperiodic_t, theta, reconstruct, precision
        As of `Asqtad`.

    Raises
    ------
    ValueError
        If an option is none of those above.

    Notes
    -----
    E. Follana et al., "Highly improved staggered quarks on the lattice, with applications to charm
    physics" (2007).

    Examples
    --------
    >>> u = lattice.Gauge.unit((4, 2, 4, 6))
    >>> lattice.HISQ(u, mass=0.05, naik_epsilon=-0.01).mass
    0.05
    """

    _action = "hisq"

    @named
    def __init__(
        self,
        gauge: Gauge,
        mass: float,
        naik_epsilon: float = 0.0,
        *,
        phases: str = "milc",
        antiperiodic_t: bool = True,
        theta: Sequence[float] | None = None,
        reconstruct: int = 13,
        precision: str = "double",
    ):
        options = {"phases": phases, "antiperiodic_t": antiperiodic_t, "theta": theta}
        super().__init__(
            gauge, mass, 1.0, naik_epsilon, reconstruct, precision=precision, **options
        )
