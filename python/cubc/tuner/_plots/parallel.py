"""Parallel coordinates: which combinations of values were measured, and which were good."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from .._groups import Group
from .._importance import varied
from . import style

TICKS = 9  # values that are written beside an axis, at most


def plot_parallel(group: Group, axes: Axes | None = None) -> Axes:
    """Draw each complete variant as a line through its values, coloured by score, best on top.

    Values are spread evenly in rising order, so that powers of two do not crowd. Base is the red
    dashed line.

    Parameters
    ----------
    group : Group
        Measurements to draw.
    axes
        To draw on; new ones by default.

    Raises
    ------
    ValueError
        If fewer than two parameters vary, or no variant has a score.
    """
    values = varied(group)
    scored = [(s, group.parameters(v), v) for s, v in reversed(group.ranked())]
    scored = [(s, p, v) for s, p, v in scored if all(name in p for name in values)]
    if len(values) < 2 or not scored:
        raise ValueError(
            f"{group.benchmark} {group.workload}: parallel coordinates need two parameters that "
            "vary and a variant with a score"
        )
    heights = {name: dict(zip(found, np.linspace(0, 1, len(found)), strict=True))
               for name, found in values.items()}  # fmt: skip
    lines = [[(i, heights[n][p[n]]) for i, n in enumerate(values)] for _, p, _ in scored]
    axes = style.new_axes(axes, (1.6 + 1.3 * len(values), 4.4))
    scores = np.array([s for s, _, _ in scored])
    shown = LineCollection(lines, array=scores, cmap="viridis", linewidths=1.4, alpha=0.8)
    axes.add_collection(shown)
    axes.figure.colorbar(shown, ax=axes, label="score (base = 1)", pad=0.02)
    for line, (_, _, variant) in zip(lines, scored, strict=True):
        if variant == "base":
            axes.plot(*np.transpose(line), "--", color=style.BASE, linewidth=2, label="base")
            axes.legend(frameon=False, fontsize="small", loc="lower right", bbox_to_anchor=(1, 1))
    for place, (name, found) in enumerate(values.items()):
        axes.axvline(place, color="0.3", linewidth=1, zorder=1)
        for value in found[:: -(-len(found) // TICKS)]:
            axes.text(
                place - 0.04, heights[name][value], str(value), ha="right", va="center",
                fontsize="x-small",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.8},
            )  # fmt: skip
    axes.set_xlim(-0.35, len(values) - 0.85)
    axes.set_ylim(-0.05, 1.05)
    axes.set_xticks(range(len(values)), list(values))
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    style.title(axes, group)
    return axes
