"""Compilation of a solve's kernels before the first solve."""

from typing import Any

import numpy as np

from .._calls import named, whole
from ._solve import check_operator, solve


@named
def precompile(
    operator: Any, sources: int = 1, *, dtype: Any = "complex128", **options: Any
) -> float:
    """Compile the kernels of a solve, so that the first one begins at once.

    They stay in the cache (see the README), where later processes find them: a job on a machine
    without a compiler, or on many nodes at once, can start from such a cache.

    Parameters
    ----------
    operator : Wilson, TwistedMass, WilsonClover, Staggered or another operator
        Operator of the solves to come. Its numbers may differ then; its kind, extents, boundary,
        reconstruction and precision may not.
    sources : int
        Right-hand sides of a solve; what is compiled differs at most between one and several.
    dtype : dtype
        Type of the right-hand sides: complex128 or complex64.
    **options
        Those of `solve` that will be given: `solver`, `precision`, `sloppy`, `shifts`, `even_odd`
        and `normal` choose kernels.

    Returns
    -------
    float
        Seconds that compilation took; about 0 where all was in the cache.

    Raises
    ------
    ValueError, TypeError
        As `solve`, for its options.
    CompileError
        If there is no compiler.

    Examples
    --------
    >>> u = lattice.Gauge.unit((4, 2, 4, 6))
    >>> seconds = lattice.precompile(lattice.Wilson(u, kappa=0.1))
    """
    check_operator(operator)
    if (sources := whole("precompile", "sources", sources)) < 1:
        raise ValueError(f"sources {sources}: at least one right-hand side")
    inner = (operator._inner,) if operator._inner > 1 else ()
    shape = (sources, *inner, *operator.gauge.extent[::-1], *operator._site)
    # A source of zeros is solved without an iteration.
    _, info = solve(operator, np.zeros(shape, dtype), **options)
    return info.compile_seconds
