"""Common part of the operators: fields on their way to kernels and back, and solves."""

from collections.abc import Sequence
from math import isfinite, prod
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from .._calls import name_function, named, real, truth
from .._core import call
from ._fields import (
    SPINOR,
    Spinors,
    as_complex,
    device_output,
    is_half,
    pack,
    precision_type,
    returned,
    unpack,
)
from ._gauge import Gauge
from ._solve import SolveInfo, solve

_PARITIES = {"even": 0, "odd": 1}


def angles_of(theta: Sequence[float] | None) -> tuple[float, float, float, float]:
    """Return the angles at the boundaries of x, y, z, t."""
    given = (0.0,) * 4 if theta is None else theta
    in_order = isinstance(given, Sequence | np.ndarray)
    angles = tuple(real("theta", angle) for angle in given) if in_order else ()
    if len(angles) != 4 or not all(map(isfinite, angles)):
        raise ValueError(f"theta={theta!r:.80}: expected four finite angles, of x, y, z, t")
    return angles


def theta_fields(theta: tuple[float, ...]) -> dict[str, float]:
    """Return the angles by the names of the kernels' parameters."""
    return dict(zip(("theta_x", "theta_y", "theta_z", "theta_t"), theta, strict=True))


class Operator:
    """Base of operators: conversion of fields, and solves.

    A subclass defines `_of`, its numbers; `_apply`, the operator on spinors of both parities;
    `_hop`, its hopping term on spinors of one parity or of both; and `_system`, its kind and
    parameters for the core's solver, by the names of its row's fields
    (csrc/lattice/solver/operator_row.h).

    `_site` are the axes of a site, and `_inner` is the number of fields of a source: the sites of
    an inner dimension, whose axis comes before those of the lattice. `_caches` names what is made
    from the links, by the gauge field or the fields of ranks of this process; a copy makes its own.
    """

    gauge: Gauge
    precision: str
    _site: tuple[int, ...] = SPINOR
    _inner: int = 1
    _caches: tuple[str, ...] = ()
    _links_name: str = "links"
    _reals: tuple[int, ...] = (18, 12, 8)  # that one of them may be stored in

    def _take_options(
        self,
        gauge: Gauge,
        antiperiodic_t: bool,
        theta: Sequence[float] | None,
        reconstruct: int,
        precision: str,
    ) -> None:
        """Check and keep the options that all operators have."""
        if not isinstance(gauge, Gauge):
            raise TypeError(f"expected a Gauge, not {type(gauge).__name__}: Gauge(links) makes one")
        precision_type(precision)
        if reconstruct not in self._reals:
            few, last = ", ".join(map(str, self._reals[:-1])), self._reals[-1]
            raise ValueError(
                f"reconstruct={reconstruct!r}: {self._links_name} are stored in {few} or {last} "
                "reals"
            )
        self.gauge = gauge
        self.antiperiodic_t = truth("antiperiodic_t", antiperiodic_t)
        self.theta = angles_of(theta)
        self.reconstruct = int(reconstruct)
        self.precision = precision

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | dict.fromkeys(self._caches)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state | {name: WeakKeyDictionary() for name in self._caches}

    def __repr__(self) -> str:
        boundary = "" if self.antiperiodic_t else ", antiperiodic_t=False"
        boundary += f", theta={self.theta}" if any(self.theta) else ""
        return (
            f"{type(self).__name__}({self.gauge!r}, {self._of()}{boundary}, "
            f"reconstruct={self.reconstruct}, precision={self.precision!r})"
        )

    def _of(self) -> str:
        """Say what the operator depends on besides the links."""
        raise NotImplementedError

    def _apply(self, x: Spinors, dagger: bool, stream: Any) -> Spinors:
        raise NotImplementedError

    def _hop(self, x: Spinors, parity: int, dagger: bool, stream: Any) -> Spinors:
        raise NotImplementedError

    def _system(self, precision: str, stream: Any = None) -> tuple[str, dict[str, Any]]:
        raise NotImplementedError

    def _call(self, kernel: str, given: dict[str, Any], stream: Any) -> Any:
        """Call a kernel that has hops, over the ranks of the gauge field."""
        grid = self.gauge.grid
        if grid is None:
            return call(kernel, given, stream=stream)
        made = call(kernel, given | {"ranks": grid._ranks}, stream=stream)
        grid._check_others()
        return made

    def _packed(self, x: Any, stream: Any) -> tuple[Any, Spinors]:
        x = as_complex(x, "the field", self.gauge.device, stream)
        self._is_half(x)
        return x, pack(x, self.gauge.extent, self.precision, stream, self._site)

    def _is_half(self, x: Any) -> bool:
        """True if a field of this operator is of one parity; ValueError if it is none."""
        half = is_half(x.shape, self.gauge.extent, self._site)
        before = tuple(x.shape[: -4 - len(self._site)])
        if self._inner > 1 and before[-1:] != (self._inner,):
            raise ValueError(
                f"a field of shape {tuple(x.shape)}: the axis before those of the lattice is the "
                f"inner dimension, of {self._inner}"
            )
        if 0 in before:
            raise ValueError(f"a field of shape {tuple(x.shape)} has no sources: give one at least")
        return half

    def _numbers(self, half: bool) -> int:
        """Return how many complex numbers a source has, of all sites or of one parity."""
        return prod(self.gauge.extent) // (2 if half else 1) * self._inner * prod(self._site)

    def __call__(self, x: Any, *, out: Any = None, stream: Any = None) -> Any:
        """Apply the operator.

        Parameters
        ----------
        x : array_like
            Spinors, complex128 or complex64 of shape ``(T, Z, Y, X, 4, 3)``, or colour vectors of
            shape ``(T, Z, Y, X, 3)`` for a staggered operator; a domain-wall operator has an axis
            of Ls before these. Several sources, along axes before, are handled together.
        out : array, optional
            Array for the result, of the same shape; by default a new one of the type of `x`.
        stream : optional
            As for `cubc.reduce`; not for a gauge field on several devices, which have their own.

        Returns
        -------
        array or out
            M x, of the shape and type of `x`: a NumPy array if `x` is in host memory, else a
            cubc.Array.

        Raises
        ------
        ValueError
            If the field has another shape, or is of one parity; if `out` does not fit it.
        TypeError
            If the field is of no complex numbers.

        Examples
        --------
        >>> D = lattice.Wilson(lattice.Gauge.unit((4, 2, 4, 6)), kappa=0.1, antiperiodic_t=False)
        >>> x = np.ones((6, 4, 2, 4, 4, 3), complex)
        >>> print(abs(D(x) - 0.2 * x).max() < 1e-14)  # 1 - 8 kappa
        True
        """
        try:
            return self._both(x, False, out, stream)
        except Exception as error:
            name_function(error, f"{type(self).__name__}.__call__")
            raise

    @named
    def dagger(self, x: Any, *, out: Any = None, stream: Any = None) -> Any:
        """Apply the adjoint of the operator.

        Parameters
        ----------
        x, out, stream
            As for calling the operator.

        Returns
        -------
        array or out
            M^+ x, as of calling the operator.

        Raises
        ------
        ValueError, TypeError
            As calling the operator.

        Examples
        --------
        >>> D = lattice.TwistedMass(lattice.Gauge.unit((4, 2, 4, 6)), mass=0.1, mu=0.2)
        >>> x, y = (lattice.point_source((4, 2, 4, 6), (0, 0, 0, t))[0, 0] for t in (0, 1))
        >>> print(abs(np.vdot(y, D(x)) - np.vdot(D.dagger(y), x)) < 1e-14)
        True
        """
        return self._both(x, True, out, stream)

    def _both(self, x: Any, dagger: bool, out: Any, stream: Any) -> Any:
        if self.gauge.team is not None:
            return self.gauge.team.apply(
                self, [x], out, stream, lambda one, part: one._both(part, dagger, None, None)
            )
        given, field = self._packed(x, stream)
        if self._is_half(given):
            raise ValueError(
                "an operator is applied to a field of both parities; dslash(x, parity=) takes one"
            )
        to = device_output(out, given.shape, given.dtype)
        return returned(x, unpack(self._apply(field, dagger, stream), given, to, stream), out)

    @named
    def dslash(
        self,
        x: Any,
        parity: str | None = None,
        *,
        dagger: bool = False,
        out: Any = None,
        stream: Any = None,
    ) -> Any:
        """Apply the hopping term D alone, without mass, kappa or a factor 1/2.

        Parameters
        ----------
        x : array_like
            A field as for calling the operator; with `parity`, that of the other parity, which has
            X / 2 in the place of X.
        parity : "even" or "odd", optional
            Parity of the sites of the result; by default both.
        dagger : bool
            True applies the adjoint of D.
        out, stream
            As for calling the operator.

        Returns
        -------
        array or out
            D x, or D^+ x, of the shape and type of `x`, where calling the operator has its result.

        Raises
        ------
        ValueError
            If the field has another shape, or an option is another word.
        TypeError
            If the field is of no complex numbers.

        Examples
        --------
        >>> D = lattice.Wilson(lattice.Gauge.unit((4, 2, 4, 6)), kappa=0.1, antiperiodic_t=False)
        >>> x = np.ones((6, 4, 2, 4, 4, 3), complex)
        >>> print(abs(D.dslash(x) - 8 * x).max() < 1e-14)  # M = 1 - kappa D
        True
        """
        if parity is not None and parity not in tuple(_PARITIES):
            raise ValueError(f"parity {parity!r}: expected 'even' or 'odd', or None for both")
        if self.gauge.team is not None:
            return self.gauge.team.apply(
                self, [x], out, stream, lambda one, part: one.dslash(part, parity, dagger=dagger)
            )
        given, field = self._packed(x, stream)
        half = self._is_half(given)
        if half != (parity is not None):
            raise ValueError(
                f"a field of shape {tuple(given.shape)} is of {'one parity' if half else 'both'}: "
                + ("say parity='even' or 'odd', of the result" if half else "leave parity out")
            )
        dagger = truth("dagger", dagger)
        which = 2 if parity is None else _PARITIES[parity]
        to = device_output(out, given.shape, given.dtype)
        return returned(x, unpack(self._hop(field, which, dagger, stream), given, to, stream), out)

    @named
    def solve(self, b: Any, **options: Any) -> tuple[Any, SolveInfo]:
        """Solve M x = b.

        Parameters
        ----------
        b : array_like
            Right-hand side, as for `cubc.lattice.solve`.
        **options
            All other arguments of `cubc.lattice.solve`, by name.

        Returns
        -------
        x : array
            Solution, of the type of `b`; a NumPy array if `b` is one.
        info : SolveInfo
            Report with the true residual. A solve that did not converge raises no error.

        Raises
        ------
        ValueError
            If the field has another shape, or an option is another word or out of its range.
        TypeError
            If the field is of no complex numbers.

        Examples
        --------
        >>> D = lattice.Wilson(lattice.Gauge.unit((4, 2, 4, 6)), kappa=0.1)
        >>> b = lattice.point_source((4, 2, 4, 6), (0, 0, 0, 0))[0, 0]
        >>> x, info = D.solve(b, tol=1e-8)
        >>> print(np.linalg.norm(b - D(x)) < 1e-8, info.compile_seconds >= 0, info.sources)
        True True ()
        """
        return solve(self, b, **options)
