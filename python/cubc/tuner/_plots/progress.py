"""Best score so far over a search, against random search of the space."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from .._groups import Group
from .._progress_curve import progress
from . import style


def plot_progress(groups: Sequence[Group], axes: Axes | None = None) -> Axes:
    """Draw the best score so far, each variant's score, and the mean of random searches.

    The shaded band holds the best so far of 90 % of the random searches, as `_progress_curve`
    estimates them. Crosses at the bottom are variants that failed or are incomplete;
    triangles are slower than the axis shows, which ends below the better half.

    Parameters
    ----------
    groups : sequence of Group
        Measurements to draw: one group, or those of several devices of a model.
    axes
        To draw on; new ones by default.

    Returns
    -------
    Axes
        Horizontally the count of variants, vertically scores.

    Raises
    ------
    ValueError
        If no variant but base was tried.
    """
    frame, group = progress(groups), groups[0]
    if frame.empty:
        raise ValueError(f"{group.benchmark} {group.workload}: only base was measured")
    axes = style.new_axes(axes)
    x, (blue, orange) = frame.evaluation, style.COLORS[:2]
    axes.fill_between(x, frame.low, frame.high, color=orange, alpha=0.2, linewidth=0,
                      label="90 % of the random searches")  # fmt: skip
    # Thin lines are above the thick one, so that all are seen where nothing is better than base.
    axes.plot(x, frame.expected, "--", color=orange, zorder=2.4,
              label="best so far, mean of random searches")  # fmt: skip
    axes.step(x, frame.best, where="post", color=blue, linewidth=3, label="best so far")
    bottom = _bottom(frame)
    axes.plot(x, frame.score, "o", color=style.FAINT, markersize=3, zorder=1.5, label="variant")
    if (low := frame.score < bottom).any():
        axes.plot(x[low], [bottom] * low.sum(), "v", color=style.FAINT, markersize=4, clip_on=False,
                  zorder=1.5, label="worse variant")  # fmt: skip
    axes.axhline(1, color=style.BASE, linewidth=1, zorder=2.2, label="base")
    if (failed := frame.score.isna()).any():
        axes.plot(
            x[failed], [0.04] * failed.sum(), "x", color="0.2", markersize=5,
            transform=axes.get_xaxis_transform(), label="failed or incomplete",
        )  # fmt: skip
    axes.set_xlabel("variants measured")
    axes.set_ylabel("score (base = 1)")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlim(0, len(frame) + 0.5)
    axes.set_ylim(bottom=bottom)
    style.legend(axes)
    style.clean(axes)
    style.title(axes, group)
    return axes


def _bottom(frame: pd.DataFrame) -> float:
    """Lower end of the axis: the better half of the variants, and base, are above it."""
    top = frame.best.iloc[-1]
    low = min(frame.score.median(), 1.0) if frame.score.notna().any() else 1.0
    return low - 0.15 * max(top - low, 0.01)
