"""Parameter importance as bars."""

from __future__ import annotations

from matplotlib.axes import Axes

from .._groups import Group
from .._importance import importance
from . import style


def plot_importance(group: Group, axes: Axes | None = None) -> Axes:
    """Draw how much of the score's variation each parameter has a part in.

    Whiskers are the standard deviation over the folds. See `_importance.importance`, also for
    errors.

    Parameters
    ----------
    group : Group
        Measurements to draw.
    axes
        To draw on; new ones by default.
    """
    frame = importance(group)[::-1]
    axes = style.new_axes(axes, (6.4, 0.9 + 0.36 * len(frame)))
    axes.barh(
        frame.parameter,
        frame.importance,
        xerr=frame.spread,
        color=style.COLORS[0],
        error_kw={"ecolor": "0.3", "capsize": 3},
    )
    axes.axvline(0, color="0.3", linewidth=0.8)
    axes.set_xlabel("share of the variance of log(score) that needs the parameter")
    style.clean(axes)
    axes.grid(axis="y", visible=False)
    axes.set_title(
        f"{style.about(group)}\n{frame.variants.iloc[0]} variants, "
        f"forest predicts {frame.r2.iloc[0]:.0%} of the variance",
        fontsize="medium",
        loc="left",
    )
    return axes
