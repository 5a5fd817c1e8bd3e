"""Solutions of M x = b on the device."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _core
from .._calls import named, real, truth, whole
from .._html import table
from .._waiting import compilation_said
from ._fields import EVEN_ODD, PLAIN, as_complex, device_output, precision_type, returned
from ._single_range import scaled, scales_into_single

ALL_SITES, BY_PARITY, EVEN_SITES = range(3)
TOLERANCE = {"double": 1e-10, "single": 1e-5}


@dataclass(frozen=True)
class SolveInfo:
    """Report of a solve.

    Attributes
    ----------
    converged : bool
        True if `residual` is at most `tol`.
    reason : str
        "converged", or the reason for which the solve ended.
    iterations : int
        Number of iterations of the solver, those of "gcr" without the steps of its preconditioner.
    updates : int
        Number of times that the residual was computed from b and x.
    residual : float
        ``|b - M x| / |b|`` on the whole lattice, computed in `precision` from the returned x in its
        own type; ``|b - M x|`` if b is zero. NaN if x is NaN, which means that b, x0 or M has a
        number that is not finite, or x0 one whose square is none.
    seconds : float
        Time from the call to the result, without compilation.
    gflops : float
        Rate of the operator's floating-point operations on the whole lattice during `seconds`, in
        10^9 a second. Those of a preconditioner are counted as if no hop were left out.
    sources : tuple of SolveInfo
        Report of each of several right-hand sides. The attributes of the whole have the most
        iterations, the largest residual, and the reason of the first that did not converge. With
        shifts there is a report for each shift of each right-hand side.
    compile_seconds : float
        Time before `seconds` in which kernels new to this process were compiled.
    sums : int
        Number of sums over all ranks of a `Grid`, each of which waits for all of them; 0 without.
    shifts : int
        Number of shifts of a multishift solve; 0 of any other.

    Examples
    --------
    >>> u = lattice.Gauge.unit((4, 2, 4, 6))
    >>> b = lattice.point_source(u.extent, (0, 0, 0, 0))[0, 0]
    >>> x, info = lattice.Wilson(u, kappa=0.1).solve(b, tol=1e-8)
    >>> info.converged, info.reason, info.residual < 1e-8
    (True, 'converged', True)
    >>> info.compile_seconds >= 0, info.sources  # of one right-hand side
    (True, ())
    """

    converged: bool
    reason: str
    iterations: int
    updates: int
    residual: float
    seconds: float
    gflops: float
    compile_seconds: float = 0.0
    sums: int = 0
    sources: "tuple[SolveInfo, ...]" = ()
    shifts: int = 0

    def __repr__(self) -> str:
        count = len(self.sources) // (self.shifts or 1)
        many = f", {count} right-hand sides" if count > 1 else ""
        many += f", {self.shifts} shifts" if self.shifts > 1 else ""
        return (
            f"<{self.reason}: residual {self.residual:.2e} after {self.iterations} iterations and "
            f"{self.updates} updates, {self.seconds:.3g} s, {self.gflops:.4g} GFLOPS{many}>"
        )

    def _repr_html_(self) -> str:
        heads = ["", "ended", "residual", "iterations", "updates", "seconds", "GFLOPS"]
        named = [("all" if self.sources else "", self), *enumerate(self.sources)]
        rows = [
            [str(n), s.reason, s.residual, s.iterations, s.updates, s.seconds, s.gflops]
            for n, s in named
        ]
        return table(heads, rows)


def _summary(sources: list[SolveInfo], shifts: int) -> SolveInfo:
    if len(sources) == 1:
        return replace(sources[0], shifts=shifts)
    failed = [s for s in sources if not s.converged]
    residuals = [s.residual for s in sources]
    return SolveInfo(
        converged=not failed,
        reason=(failed or sources)[0].reason,
        iterations=max(s.iterations for s in sources),
        updates=max(s.updates for s in sources),
        residual=next((r for r in residuals if r != r), max(residuals)),
        seconds=sources[0].seconds,
        gflops=sources[0].gflops,
        compile_seconds=sources[0].compile_seconds,
        sums=max(s.sums for s in sources),
        sources=tuple(sources),
        shifts=shifts,
    )


def _solve_by_team(
    operator: Any, b: Any, x0: Any, out: Any, stream: Any, options: dict[str, Any]
) -> tuple[Any, SolveInfo]:
    """Solve by the ranks of this process, whose reports differ in their seconds alone."""
    infos = []

    def work(mine: Any, part: Any, guess: Any) -> Any:
        x, info = solve(mine, part, x0=guess, **options)
        infos.append(info)
        return x

    shifts = options["shifts"]
    before = () if shifts is None else np.shape(shifts)
    return operator.gauge.team.apply(operator, [b, x0], out, stream, work, before), infos[0]


def check_operator(operator: Any) -> None:
    """Raise TypeError for an object that is no operator."""
    if not hasattr(operator, "_system"):
        raise TypeError(f"{operator!r:.60} is no operator: give one of cubc.lattice, as Wilson")


def _precision_of(operator: Any, precision: str | None) -> str:
    """Precision of the residual: the given one, or the operator's."""
    if precision is None:
        precision = operator.precision
        if precision == "half":
            raise ValueError(
                "the operator is in half precision, in which no residual is calculated: give "
                "precision='single' or 'double', and sloppy='half' to iterate in half"
            )
    if precision not in ("double", "single"):
        raise ValueError(f"precision {precision!r}: expected double or single")
    return precision


# The phases of a solve, which `cubc.trace` replaces by ones with a range.
def _prepare(operator: Any, precision: str, stream: Any) -> tuple[str, dict[str, Any]]:
    return operator._system(precision, stream)


_iterate = _core.lattice_solve


def _solved(b: Any, x0: Any, out: Any, length: int, grid: Any, system: dict[str, Any]) -> Any:
    """Solve, with sources scaled that single precision does not hold; each has `length` numbers."""
    scales, stream = None, system["stream"]
    if system["precise"] == precision_type("single") and str(b.dtype) != "complex64":
        scales = scales_into_single(b, math.prod(b.shape) // length, grid, stream)
    if scales is not None:
        b = scaled(b, scales, length, stream)
        x0 = None if x0 is None else scaled(x0, scales, length, stream)
    x, reports = _iterate(b=b, x0=x0, out=out, **system)
    if scales is not None:
        x = scaled(x, 1 / scales, length, stream, out=x)
    return x, [SolveInfo(*report) for report in reports]


@named
def solve(
    operator: Any,
    b: Any,
    *,
    solver: str = "cg",
    tol: float | None = None,
    maxiter: int = 10_000,
    precision: str | None = None,
    sloppy: str | None = None,
    x0: Any = None,
    shifts: Any = None,
    even_odd: bool = True,
    normal: bool = False,
    delta: float | None = None,
    schwarz: int = 0,
    schwarz_precision: str = "half",
    out: Any = None,
    stream: Any = None,
) -> tuple[Any, SolveInfo]:
    """Solve M x = b.

    Parameters
    ----------
    operator : Wilson, TwistedMass, WilsonClover, Staggered or another operator
        Operator M.
    b : array_like
        Right-hand side: spinors, complex128 or complex64 of shape ``(..., T, Z, Y, X, 4, 3)``, or
        colour vectors of shape ``(..., T, Z, Y, X, 3)`` for a staggered operator. A domain-wall
        operator has an axis of Ls before T.
        Several sources are solved together. One of the even sites alone, of shape
        ``(..., T, Z, Y, X / 2, 4, 3)``, is that of their system, M_e x = b, and M_e is in the place
        of M in what follows: for `Wilson` it is 1 - kappa^2 D_eo D_oe, for staggered operators
        2 m - D_eo D_oe / (2 m), which is Hermitian and positive; solves need m > 0. `Mobius` has
        its own.
    solver : str
        "cg" : conjugate gradients on the normal equations, with the least residual in its Krylov
        space. It converges for every M that has an inverse. A system that is Hermitian and positive
        itself, as with `normal`, is iterated as it is.
        "block_cg" : the same for up to 12 sources at a time, which share their Krylov space and
        need fewer iterations than alone; more sources are several blocks. Each iteration costs
        products of all pairs of sources. Not in half precision.
        "ca_cg" : the iterates of "cg", four iterations at a time, with one sum over ranks for all
        four instead of two for each. It has memory for eleven more fields, and moves more of them.
        "bicgstab" : two products with M for each iteration, as cg, and mostly fewer iterations. It
        restarts after a breakdown.
        "gcr" : one product for each iteration, and memory for up to eight more fields. It restarts
        after eight iterations. It takes `schwarz`.
        "multishift" : conjugate gradients for all of `shifts` at once.
    tol : float, optional
        Residual to reach, relative to b; by default 1e-10, or 1e-5 if `precision` is single or b is
        complex64. A solve that cannot reach it for rounding ends as "stagnated", at the latest
        after nine updates that did not lower the residual by a tenth; `SolveInfo.reason` says what
        holds a smaller one. In single precision that is about 1e-7: with `precision` double,
        `sloppy` single iterates as fast, to 1e-15. An update comes after 256
        iterations at the latest; block_cg has no such bound, and multishift no updates.
    maxiter : int
        Largest number of iterations; "ca_cg" ends at the next multiple of four.
    precision : "double" or "single", optional
        Precision of M, of the residual and of the solution; by default that of the operator, so
        that the residual is that of ``operator(x)``. An operator in half precision needs it.
    sloppy : "double", "single" or "half", optional
        Precision of the iteration; by default `precision`. When the residual has dropped by a
        factor `delta` the correction so far is added to the solution, and the residual computed
        anew.
    x0 : array, optional
        First guess, of the shape of `b`; by default zero.
    shifts : sequence of float, optional
        Shifts of ``(M^+ M + shift) x = b``: up to 16 numbers of 0 or more, with
        ``solver="multishift"``. All sites are solved, whatever `even_odd` is, and in `precision`
        alone. For one of the even sites of staggered operators it is ``(M_e + shift) x = b``, and
        ``(M_e^2 + shift) x = b`` with `normal`. x has the shifts as its first axis, and
        `info.sources` a report for each. A system is not iterated further once it has converged.
    even_odd : bool
        True solves the system of the even sites, from which the odd ones follow; False that of all
        sites, as do `shifts` and `normal`.
    normal : bool
        True solves M^+ M x = b.
    delta : float, optional
        Factor for updates, see `sloppy`; by default 0.2, and 0.1 for "cg" and "ca_cg" on a
        Hermitian positive operator, as that of staggered fermions. An update waits for the end of a
        round of eight iterations.
    schwarz : int
        Steps of the additive Schwarz preconditioner of "gcr": minimal residual on the block of a
        rank of a `Grid`, with hops from other ranks left out; up to 64, 0 for none. The steps send
        nothing between ranks and have no sums over them, and there are fewer iterations, which
        have both. Each takes a product with M. Where the lattice is not cut the block is all of it.
    schwarz_precision : "double", "single" or "half"
        Precision of these steps, no higher than `sloppy`.
    out : array, optional
        Array for x, of the shape of `b`.
    stream : optional
        As for `cubc.reduce`; not for a gauge field on several devices, which have their own. The
        call returns when x is complete.

    Returns
    -------
    x : array
        Solution, of the type of `b`; a NumPy array if `b` is one. All of it is NaN if b, x0 or M
        has a number that is not finite, or x0 one whose square is none, for each of several
        sources by itself.
    info : SolveInfo
        Report with the true residual. A solve that did not converge raises no error.

    Raises
    ------
    ValueError, TypeError
        For shapes, types, precisions and numbers that do not fit.
    KeyboardInterrupt
        On Ctrl-C; the iteration ends within a few of its rounds.

    Notes
    -----
    The first solve with an operator compiles its kernels, which takes seconds. They are compiled
    for the extents, the boundary and the reconstruction, and cached for later processes. The
    iteration runs on the device; the host does not read intermediate results. Sources whose squares
    are out of the range of the precision are multiplied by a power of two, and their solutions
    divided by it. Reliable updates: G. L. G. Sleijpen and H. A. van der Vorst, Computing 56 (1996);
    in fixed point: M. A. Clark et al., Comput. Phys. Commun. 181 (2010). Blocks of ranks:
    M. Luscher, Comput. Phys. Commun. 156 (2004); R. Babich et al., SC11 (2011). Several
    iterations at a time: A. T. Chronopoulos and C. W. Gear, J. Comput. Appl. Math. 25 (1989).

    Examples
    --------
    >>> u = lattice.Gauge.unit((4, 2, 4, 6))
    >>> D = lattice.Wilson(u, kappa=0.1)
    >>> b = lattice.point_source(u.extent, (0, 0, 0, 0))[0, 0]
    >>> x, info = lattice.solve(D, b, tol=1e-8)
    >>> print(np.linalg.norm(b - D(x)) / np.linalg.norm(b) < 1e-8)
    True
    """
    check_operator(operator)
    if operator.gauge.team is not None:
        options = {
            "solver": solver,
            "tol": tol,
            "maxiter": maxiter,
            "precision": precision,
            "sloppy": sloppy,
            "shifts": shifts,
            "even_odd": even_odd,
            "normal": normal,
            "delta": delta,
            "schwarz": schwarz,
            "schwarz_precision": schwarz_precision,
        }
        return _solve_by_team(operator, b, x0, out, stream, options)
    precision = _precision_of(operator, precision)
    if not isinstance(solver, str):
        raise TypeError(f"solver is {solver!r:.60}: expected a name, as 'cg' or 'bicgstab'")
    if (maxiter := whole("solve", "maxiter", maxiter)) < 1:
        raise ValueError(f"maxiter {maxiter}: at least one iteration")
    sloppy = precision if sloppy is None else sloppy
    schwarz = min(whole("solve", "schwarz", schwarz), 2**31 - 1)
    if shifts is not None and (np.ndim(shifts) != 1 or len(shifts) == 0):
        raise ValueError(f"shifts is {shifts!r:.80}: give a sequence of one or more, or none")
    gauge = operator.gauge
    given, b = b, as_complex(b, "b", gauge.device, stream)
    half = operator._is_half(b)
    even_odd, normal = truth("even_odd", even_odd), truth("normal", normal)
    by_parity = even_odd and shifts is None and not normal
    if x0 is not None:
        x0 = as_complex(x0, "x0", gauge.device, stream)
    shape = b.shape if shifts is None else (len(shifts), *b.shape)
    to = device_output(out, shape, b.dtype)
    of_b = "single" if str(b.dtype) == "complex64" else "double"
    kind, parameters = _prepare(operator, precision, stream)
    extents = "x".join(map(str, gauge.extent))
    what = f"the kernels of a solve with {type(operator).__name__} on {extents}"
    system = {
        "operator": kind,
        "parameters": parameters,
        "extents": gauge.extent,
        "stream": stream,
        "solver": solver,
        "tol": max(TOLERANCE[precision], TOLERANCE[of_b]) if tol is None else real("tol", tol),
        "maxiter": maxiter,
        "precise": precision_type(precision),
        "sloppy": precision_type(sloppy),
        "sites": EVEN_SITES if half else BY_PARITY if by_parity else ALL_SITES,
        "normal": normal,
        "delta": 0.0 if delta is None else real("delta", delta),
        "order": EVEN_ODD if half else PLAIN,
        "shifts": None if shifts is None else [real("shifts", s) for s in shifts],
        "ranks": None if gauge.grid is None else gauge.grid._ranks,
        "schwarz": schwarz,
        "schwarz_type": precision_type(schwarz_precision),
    }
    with compilation_said(what):
        x, infos = _solved(b, x0, to, operator._numbers(half), gauge.grid, system)
    return returned(given, x, out), _summary(infos, 0 if shifts is None else len(shifts))
