"""Densities of measured times that respect their quantiles, with quartiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from .._groups import Group
from .._quantiles import density, quantiles
from .._samples import Samples, pair
from . import style
from .matrix import Matrix, empty

QUARTILES = (0.25, 0.5, 0.75)


def plot_density(
    group: Group,
    variants: Sequence[str],
    samples: Mapping[tuple[str, int], Samples],
    figure: Figure | SubFigure | None = None,
) -> NDArray[np.object_]:
    """Draw how the times of base and of variants are distributed, for each run-time workload.

    See `_quantiles.density`. The three lines of each are its quartiles. Variants are measured one
    after another, and the machine may have changed in between: so each one's times are divided by
    the median of the base samples that were taken in turns with them. Base's distribution is that
    beside the first variant; its median is written into the plot. Outliers are not shown.

    Parameters and errors are those of `plot_variant`.

    Returns
    -------
    ndarray of Axes, shape (rows, columns)
        Rows: ``Elements``; columns: all other run-time axes.
    """
    style.check_count(variants)
    labels = style.short(group, ["base", *variants])
    matrix = Matrix(group, figure, sharex=False, sharey=False)
    ends: list[tuple[float, float]] = []
    for rt, axes in matrix.by_rt.items():
        pairs = {label: pair(group, label, rt, samples) for label in variants}
        known = {label: both for label, both in pairs.items() if both[0].size and both[1].size}
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        if not known:
            empty(axes, "not measured")
            continue
        base = next(iter(known.values()))[1]
        shown = {label: times / np.median(beside) for label, (times, beside) in known.items()}
        shown = {"base": base / np.median(base)} | shown
        for label, times in shown.items():
            place = None if label == "base" else variants.index(label)
            _shape(axes, times, place, labels[label])
        ends.append(style.ends(shown.values()))
        axes.set_ylim(0, 1.2 * axes.dataLim.y1)  # with room for the note
        axes.xaxis.set_major_locator(MaxNLocator(6))
        _note(axes, base)
    for axes in matrix.by_rt.values() if ends else ():  # so that workloads are compared by eye
        axes.set_xlim(min(low for low, _ in ends), max(high for _, high in ends))
    matrix.label("time / median of base", "density")
    matrix.legend()
    return matrix.axes


def _note(axes: Axes, base: NDArray[np.float64]) -> None:
    factor, unit = style.time_unit(base)
    text = f"base: {np.median(base) * factor:.4g} {unit}"
    axes.text(
        0.99, 0.97, text, transform=axes.transAxes, ha="right", va="top", color="0.3",
        fontsize="small",
    )  # fmt: skip


def _shape(axes: Axes, times: NDArray[np.float64], place: int | None, label: str) -> None:
    color = style.BASE if place is None else style.COLORS[place]
    line = "-" if place is None else style.LINES[place]
    bins = max(4, min(50, times.size // 3))  # few samples give a steady picture, not a fine one
    edges, heights = density(times, bins)
    axes.stairs(heights, edges, fill=True, color=color, alpha=0.15)
    axes.stairs(heights, edges, color=color, linestyle=line, linewidth=1.2, label=label)
    at = quantiles(times, QUARTILES)
    tops = heights[np.clip(np.searchsorted(edges, at, "right") - 1, 0, heights.size - 1)]
    axes.vlines(at, 0, tops, color=color, linestyle=line, linewidth=1.2)
