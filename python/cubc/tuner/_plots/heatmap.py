"""Scores over two parameters, with what failed and what was never tried told apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from .._axes import unknown
from .._groups import Group
from .._importance import taken
from .._space import Value
from . import style

ANNOTATED = 80  # cells, at most, that have their score written into them
TICKS = 16  # on an axis, at most


def plot_heatmap(
    group: Group,
    x: str,
    y: str,
    over: Literal["best", "median"] = "best",
    axes: Axes | None = None,
) -> Axes:
    """Draw the score over two parameters, as colour.

    A cell shows the best, or the median, of the variants with its two values and any values of the
    other parameters. It is hatched if all of them failed or are incomplete, and white if none was
    tried. Red lines mark base on the colour bar and base's own cell. A parameter that kept one
    value has one row or column, as ``tpb`` on the cpu.

    Parameters
    ----------
    group : Group
        Measurements to draw.
    x, y : str
        Labels of parameters, as ``"ipt"`` and ``"tpb"``.
    over : {"best", "median"}
        Function that sums up the variants of a cell.
    axes
        To draw on; new ones by default.

    Returns
    -------
    Axes

    Raises
    ------
    LookupError
        For a parameter that what was measured does not have, with the nearest that it has.
    ValueError
        If `over` is neither, `x` and `y` are the same, or no variant has a score.
    """
    if over not in ("best", "median"):
        raise ValueError(f"over is 'best' or 'median', not {over!r}")
    if x == y:
        raise ValueError(f"a heat map has two different parameters, not {x} twice")
    values = taken(group)
    for name in (x, y):
        if name not in values:
            owner = f"what was measured of {group.benchmark} {group.workload}"
            raise unknown(owner, "parameter", name, values)
    scores, scoreless = _cells(group, x, y, values, over)
    if np.isnan(scores).all():
        raise ValueError(f"{group.benchmark} {group.workload}: no variant has a score")
    axes = style.new_axes(axes, (7.2, 5.2))
    image = axes.pcolormesh(np.ma.masked_invalid(scores), cmap="viridis", edgecolors="white")
    bar = axes.figure.colorbar(image, ax=axes, label=f"{over} score (base = 1)", pad=0.02)
    if scores.size <= ANNOTATED:
        _annotate(axes, scores, image)
    _mark_scoreless(axes, scoreless)
    low, high = image.get_clim()
    if low <= 1 <= high:
        bar.ax.axhline(1, color=style.BASE, linewidth=2)
    _mark_base(axes, group, x, y, values)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(
            loc="lower right", bbox_to_anchor=(1, 1), ncols=2, frameon=False, fontsize="small"
        )
    _ticks(axes.set_xticks, values[x])
    _ticks(axes.set_yticks, values[y])
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    style.title(axes, group)
    return axes


def _cells(
    group: Group, x: str, y: str, values: dict[str, list[Value]], over: str
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Score of each cell, nan without one; and True where variants were tried and none has one."""
    found: dict[tuple[int, int], list[float]] = {}
    complete = {label: score for score, label in group.ranked()}
    for variant in group.cells:
        parameters = group.parameters(variant)
        if x in parameters and y in parameters:
            place = values[y].index(parameters[y]), values[x].index(parameters[x])
            found.setdefault(place, []).append(complete.get(variant, np.nan))
    scores = np.full((len(values[y]), len(values[x])), np.nan)
    tried = np.zeros(scores.shape, bool)
    combine = np.max if over == "best" else np.median
    for place, several in found.items():
        tried[place] = True
        if known := [score for score in several if not np.isnan(score)]:
            scores[place] = combine(known)
    return scores, tried & np.isnan(scores)


def _annotate(axes: Axes, scores: NDArray[np.float64], image) -> None:
    for (row, column), score in np.ndenumerate(scores):
        if not np.isnan(score):
            dark = image.norm(score) < 0.6
            axes.text(
                column + 0.5, row + 0.5, f"{score:.2f}", ha="center", va="center",
                fontsize="small", color="white" if dark else "black",
            )  # fmt: skip


def _mark_scoreless(axes: Axes, scoreless: NDArray[np.bool_]) -> None:
    look: dict[str, Any] = {
        "facecolor": "0.93",
        "edgecolor": "0.45",
        "hatch": style.FAILED,
        "linewidth": 0,
    }
    for row, column in np.argwhere(scoreless):
        axes.add_patch(Rectangle((column, row), 1, 1, **look))
    if scoreless.any():
        axes.add_patch(Rectangle((0, 0), 0, 0, **look, label="failed or incomplete"))


def _mark_base(axes: Axes, group: Group, x: str, y: str, values: dict[str, list[Value]]) -> None:
    base = group.parameters("base") if "base" in group.cells else {}
    if x in base and y in base:
        corner = values[x].index(base[x]), values[y].index(base[y])
        look: dict[str, Any] = {
            "fill": False,
            "edgecolor": style.BASE,
            "linewidth": 2,
            "label": "base",
        }
        axes.add_patch(Rectangle(corner, 1, 1, **look, zorder=3))


def _ticks(set_ticks, values: Sequence[Value]) -> None:
    places = range(0, len(values), -(-len(values) // TICKS))
    set_ticks([place + 0.5 for place in places], [str(values[place]) for place in places])
