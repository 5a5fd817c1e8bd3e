"""Solutions of M x = b on the device."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from .._calls import named, whole
from ._fields import PLAIN, as_complex, device_output, is_half, precision_type, returned

TOLERANCE = {"double": 1e-10, "single": 1e-5}


@dataclass(frozen=True)
class SolveInfo:
    """What became of a solve.

    Attributes
    ----------
    converged : bool
        `residual` is at most what was asked for.
    reason : str
        "converged", or why the solve ended.
    iterations : int
        Of the solver.
    updates : int
        How often the residual was calculated from b and x.
    residual : float
        ``|b - M x| / |b|`` of the x that was returned, rounded to its type, on the whole lattice in
        `precision`; ``|b - M x|`` where b is zero. NaN: x is NaN, as what was met allows no other.
    seconds : float
        From the call to the result, without what had to be compiled.
    gflops : float
        Of the operator alone, in 10^9 operations a second of these.
    sources : tuple of SolveInfo
        Of several right-hand sides each; above them are the most iterations, the largest residual
        and the first that did not converge.
    compile_seconds : float
        What went before `seconds`: kernels that this process did not have yet.
    """

    converged: bool
    reason: str
    iterations: int
    updates: int
    residual: float
    seconds: float
    gflops: float
    compile_seconds: float = 0.0
    sources: "tuple[SolveInfo, ...]" = ()

    def __repr__(self) -> str:
        many = f", {len(self.sources)} right-hand sides" if self.sources else ""
        return (
            f"<{self.reason}: residual {self.residual:.2e} after {self.iterations} iterations and "
            f"{self.updates} updates, {self.seconds:.3g} s, {self.gflops:.4g} GFLOPS{many}>"
        )


def _summary(sources: list[SolveInfo]) -> SolveInfo:
    if len(sources) == 1:
        return sources[0]
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
        sources=tuple(sources),
    )


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
    delta: float | None = None,
    out: Any = None,
    stream: Any = None,
) -> tuple[Any, SolveInfo]:
    """Solve M x = b.

    Parameters
    ----------
    operator : Wilson, TwistedMass or WilsonClover
        M.
    b : array_like
        Spinors, complex128 or complex64 of shape ``(..., T, Z, Y, X, 4, 3)``; several sources are
        solved for together.
    solver : str
        "cg" : conjugate gradients on the normal equations. Of all solutions in its space it finds
        the one with the least residual; it converges for every M that has an inverse.
        "bicgstab" : two products with M an iteration, as cg, and mostly fewer iterations; it may
        break down, and then begins anew.
        "gcr" : one product an iteration and up to eight more fields; restarted after eight.
        "multishift" : conjugate gradients for all of `shifts` at once.
    tol : float, optional
        The residual to reach, relative to b; by default 1e-10, or 1e-5 where `precision` is single
        or b is complex64. One that the numbers do not hold ends as "stagnated", at the latest after
        nine updates, of at most 256 iterations each, that did not lower the residual by a tenth.
    maxiter : int
        Iterations at most.
    precision : "double" or "single", optional
        Of M, the residual and the solution; by default that of the operator, so that the residual
        is that of ``operator(x)``. Of an operator in half precision it has to be given.
    sloppy : "double", "single" or "half", optional
        Of the iteration; by default as `precision`. Whenever the residual has dropped by `delta`
        what was found is added to the solution and the residual calculated anew.
    x0 : array, optional
        Where to begin, as `b`; by default at zero.
    shifts : sequence of float, optional
        Solve ``(M^+ M + shift) x = b`` for up to 16 of them, none below 0, with "multishift", of
        all sites and in `precision` alone. x then has a first axis of the shifts, and one of
        `info.sources` for each. A system that has converged is left alone while others go on.
    even_odd : bool
        Solve the system of the even sites, from which the odd ones follow; otherwise that of all.
    delta : float, optional
        See `sloppy`; 0.2 by default. An update waits until a round of eight iterations is done.
    out : array, optional
        Where to write x, as `b`.
    stream : optional
        As for `cubc.reduce`. The call returns when x is there.

    Returns
    -------
    x : array
        Of the type of `b`; a NumPy array where that was one. All of it is NaN where b, x0 or M has
        a number that is not finite; of several sources each is judged by itself.
    info : SolveInfo
        Whether it converged, and its true residual. That it did not is no error.

    Raises
    ------
    ValueError, TypeError
        For shapes, types, precisions and numbers that do not fit.
    KeyboardInterrupt
        The iteration ends within a few of its rounds.

    Notes
    -----
    The first solve with an operator compiles its kernels, which takes seconds: they are made for
    the extents, the boundary and the reconstruction, and kept for other processes. The iteration
    runs on the device, without a look at it by the host. Sources whose squares would not fit the
    precision are multiplied by a power of two, and their solutions divided. Reliable updates: G. L.
    G. Sleijpen and H. A. van der Vorst, Computing 56 (1996); in fixed point: M. A. Clark et al.,
    Comput. Phys. Commun. 181 (2010).
    """
    if precision is None:
        precision = operator.precision
        if precision == "half":
            raise ValueError(
                "the operator is in half precision, in which no residual is calculated: give "
                "precision='single' or 'double', and sloppy='half' to iterate in half"
            )
    if precision not in ("double", "single"):
        raise ValueError(f"precision {precision!r}: expected double or single")
    if (maxiter := whole("solve", "maxiter", maxiter)) < 1:
        raise ValueError(f"maxiter {maxiter}: at least one iteration")
    maxiter = min(maxiter, 2**64 - 1)
    sloppy = precision if sloppy is None else sloppy
    if shifts is not None and (np.ndim(shifts) != 1 or len(shifts) == 0):
        raise ValueError(f"shifts is {shifts!r:.80}: give a sequence of one or more, or none")
    gauge = operator.gauge
    given, b = b, as_complex(b, "b", gauge.device, stream)
    if is_half(b.shape, gauge.extent):
        raise ValueError("a solve takes spinors of both parities")
    if x0 is not None:
        x0 = as_complex(x0, "x0", gauge.device, stream)
    shape = b.shape if shifts is None else (len(shifts), *b.shape)
    to = device_output(out, shape, b.dtype)
    of_b = "single" if str(b.dtype) == "complex64" else "double"
    x, sources = _core.lattice_solve(
        links=gauge.native(operator.reconstruct, precision, stream),
        b=b,
        x0=x0,
        out=to,
        extents=gauge.extent,
        device=None,
        stream=stream,
        reconstruct=operator.reconstruct,
        antiperiodic=operator.antiperiodic_t,
        temporal_gauge=operator.temporal_gauge,
        anisotropy=operator.anisotropy,
        kappa=operator.kappa,
        **operator._system(stream),
        solver=solver,
        tol=max(TOLERANCE[precision], TOLERANCE[of_b]) if tol is None else tol,
        maxiter=maxiter,
        precise=precision_type(precision),
        sloppy=precision_type(sloppy),
        even_odd=even_odd,
        delta=0.0 if delta is None else delta,
        order=PLAIN,
        shifts=None if shifts is None else [float(s) for s in shifts],
    )
    return returned(given, x, out), _summary([SolveInfo(*source) for source in sources])
