"""Variant plots: where in the distribution of times a variant gains or loses against base.

This is the matrix of ratio plots of CUB's documentation, with the quantile of base divided by the
same quantile of the variant at every percentile. (CUB's script divides sums of widths of bins,
which is a different curve.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from .._groups import Group
from .._quantiles import PERCENTILES, Band, known, ratio_band
from .._samples import Samples, pair
from . import style
from .matrix import Matrix, empty


def plot_variant(
    group: Group,
    variants: Sequence[str],
    samples: Mapping[tuple[str, int], Samples],
    figure: Figure | SubFigure | None = None,
) -> NDArray[np.object_]:
    """Draw speedup over base against percentile, one plot for each run-time workload.

    On the left the slowest percent of the variant's samples is compared with the slowest percent of
    base's, on the right the fastest. Base is the red line at 1: above it the variant is faster. The
    band is the 95 % interval at each percentile for itself; towards the ends, where the samples
    are too few for a statement (`_quantiles.margin`), there is none and the curve is thin.

    Parameters
    ----------
    group : Group
        Measurements to draw.
    variants : sequence of str
        Labels, from one to six.
    samples
        Those of the variants and of base, as of `_samples.read_samples`.
    figure
        To draw on; a new one by default.

    Returns
    -------
    ndarray of Axes, shape (rows, columns)
        Rows: ``Elements``; columns: all other run-time axes.

    Raises
    ------
    ValueError
        If the variants are too many.
    """
    style.check_count(variants)
    labels = style.short(group, variants)
    matrix = Matrix(group, figure, sharey="all")  # so that workloads are compared by eye
    for rt, axes in matrix.by_rt.items():
        axes.axhline(1, color=style.BASE, linewidth=1.2, label="base", zorder=1.5)
        counts = []
        for place, variant in enumerate(variants):
            if variant == "base":  # which is the line
                continue
            mine, base = pair(group, variant, rt, samples)
            if mine.size and base.size:
                counts.append(min(mine.size, base.size))
                _curve(axes, ratio_band(mine, base), counts[-1], place, labels[variant])
            elif len(variants) == 1:
                cell = group.cells[variant].get(rt)
                empty(axes, cell.status if cell else "not measured")
        if counts and not known(PERCENTILES, min(counts)).any():
            _note(axes, min(counts))
        axes.set_xlim(100, 0)
        axes.set_xticks([99, 75, 50, 25, 1])
        axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10], min_n_ticks=3))
    matrix.label("percentile of time, slowest samples on the left", "speedup (base / variant)")
    matrix.legend()
    return matrix.axes


def _curve(axes: Axes, band: Band, samples: int, place: int, label: str) -> None:
    color, line = style.COLORS[place], style.LINES[place]
    x, enough = 100 * PERCENTILES, known(PERCENTILES, samples)
    axes.plot(x, band.value, color=color, linewidth=0.8, alpha=0.6, gid="all percentiles")
    inside = np.where(enough, band.value, np.nan)
    axes.plot(x, inside, color=color, linestyle=line, linewidth=1.8, label=label)
    axes.fill_between(x, band.low, band.high, where=enough, color=color, alpha=0.2, linewidth=0)


def _note(axes: Axes, samples: int) -> None:
    axes.text(
        *(0.01, 0.97), f"{samples} samples: too few for a band", transform=axes.transAxes,
        ha="left", va="top", color="0.3", fontsize="small",
    )  # fmt: skip
