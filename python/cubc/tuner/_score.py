"""The score of a variant, exactly as CUB defines it.

A score is the weighted mean of the speedups over base. Values of an importance-ordered axis
(``{io}``) weigh the more the later they are declared, from 0.6 towards 0.999; every other axis
weighs 1, and the weights of a workload's axes multiply. Weights come from the declared values,
never from those that happened to run, and only the measured workloads share the total: so a
variant as fast as base scores 1 whatever was left out (CCCL, pull request 11225).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._axes import Axis

FIRST, LAST = 0.6, 0.999


@cache
def importance(n: int) -> list[float]:
    """Weights of the `n` declared values of an importance-ordered axis, in declared order.

    The range is divided by `n` and not by `n` - 1, as in CUB: ``LAST`` itself is never reached.
    """
    begin, end = -math.log(1 - FIRST), -math.log(1 - LAST)
    return [1 - math.exp(-(begin + k * (end - begin) / n)) for k in range(n)]


def weight(axes: Sequence[Axis], workload: Mapping[str, int]) -> float:
    """Weight of one run-time workload, not normalised.

    Parameters
    ----------
    axes
        The declared run-time axes.
    workload
        A declared value for each of them, by full axis name.
    """
    product = 1.0
    for axis in axes:
        if axis.ordered:
            product *= importance(len(axis.values))[axis.values.index(workload[axis.name])]
    return product


def score(axes: Sequence[Axis], measured: Iterable[tuple[Mapping[str, int], float]]) -> float:
    """Weighted mean of the speedups over the measured workloads.

    Parameters
    ----------
    axes
        The declared run-time axes.
    measured
        Pairs of a run-time workload and the speedup there, median of base over median of variant.

    Raises
    ------
    ValueError
        If nothing was measured, or a speedup is not a positive number.
    """
    total = weighted = 0.0
    for workload, speedup in measured:
        if not (math.isfinite(speedup) and speedup > 0):
            raise ValueError(f"a speedup must be a positive number, not {speedup}")
        w = weight(axes, workload)
        total += w
        weighted += w * speedup
    if not total:
        raise ValueError("no score without a measured workload")
    return weighted / total
