"""Things that the plots share: colours, units, names of workloads and variants, empty axes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.transforms import ScaledTranslation
from numpy.typing import NDArray

from .. import _axes as ax
from .._groups import Group
from .._importance import varied
from .._quantiles import trimmed_quantiles

# Okabe and Ito's palette without its reds, which would be taken for base, and without yellow.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#7F5539")
LINES = ("-", "--", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (7, 3)))
MARKERS = ("o", "s", "D", "^", "v", "P")
MOST = len(COLORS)  # series that can be told apart in one plot
BASE = "red"
FAINT = "0.6"
FAILED = "////"  # hatching
USUAL = (0.01, 0.9)  # quantiles that are shown in any case

UNITS = ((1.0, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns"))


def new_axes(given: Axes | None, size: tuple[float, float] = (7, 4.2)) -> Axes:
    """Axes to draw on: the given ones, or those of a new figure."""
    if given is None:
        _, given = plt.subplots(figsize=size, layout="constrained")
    return given


def new_figure(given: Figure | SubFigure | None, size: tuple[float, float]) -> Figure | SubFigure:
    """Figure to draw on: the given one, or a new one of a size in inches."""
    return given if given is not None else plt.figure(figsize=size, layout="constrained")


def clean(*several: Axes) -> None:
    """Take away the frame and lay a faint grid under the data."""
    for axes in several:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="0.9", linewidth=0.8)
        axes.set_axisbelow(True)


def about(group: Group) -> str:
    """Title: what was measured, and on which device, whose name may be a stranger's."""
    device = group.device.replace("$", r"\$")  # Matplotlib takes what is between two for a formula
    return f"{group.benchmark}  {group.workload}\n{device}"


def look(variant: str, place: int) -> tuple[str, str]:
    """Colour and marker of base, or of the variant with a place among those shown."""
    return (BASE, "x") if variant == "base" else (COLORS[place], MARKERS[place])


def title(axes: Axes, group: Group) -> None:
    """Give axes their title."""
    axes.set_title(about(group), fontsize="medium", loc="left")


def workload(rt: dict[str, int]) -> str:
    """Text of a run-time workload: ``Elements = 2^20``."""
    return ", ".join(
        f"{ax.split_name(name)[0]} = {number(name, value)}" for name, value in rt.items()
    )


def number(axis: str, value: int) -> str:
    """Text of an axis value: a power where it is an exponent of two."""
    return f"$2^{{{value}}}$" if "[pow2]" in ax.split_name(axis)[1] else str(value)


def short(group: Group, variants: Iterable[str]) -> dict[str, str]:
    """Labels to print, without the parameters that have one value in the whole group."""
    names = varied(group)

    def text(variant: str) -> str:
        kept = [f"{k}_{v}" for k, v in group.parameters(variant).items() if k in names]
        return variant if variant == "base" or not kept else ".".join(kept)

    return {variant: text(variant) for variant in variants}


def legend(axes: Axes, lines: int = 1) -> None:
    """Explain the series below the axes and `lines` of tick labels, where it hides no data."""
    below = axes.transAxes + ScaledTranslation(0, -0.3 - 0.15 * lines, axes.figure.dpi_scale_trans)
    handles, labels = axes.get_legend_handles_labels()
    longest = max(map(len, labels), default=0)
    columns = max(1, int(axes.figure.bbox.width / axes.figure.dpi / (0.08 * longest + 0.7)))
    axes.legend(
        handles, labels, loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=below,
        ncols=min(columns, 4), frameon=False, fontsize="small",
    )  # fmt: skip


def ends(several: Iterable[NDArray[np.float64]]) -> tuple[float, float]:
    """Limits of an axis that hold nearly all samples, and that no outlier rules."""
    low, high = np.transpose([trimmed_quantiles(series, USUAL) for series in several])
    room = high.max() - low.min() or 1e-3 * abs(high.max())
    return low.min() - 0.1 * room, high.max() + 0.25 * room


def time_unit(seconds: Iterable[float]) -> tuple[float, str]:
    """Factor and unit in which the median of some times is a number from 1 to 1000."""
    center = float(np.median(np.fromiter(seconds, float)))
    return next((unit for unit in UNITS if center * unit[0] >= 1), UNITS[-1])


def check_count(variants: Sequence[str]) -> None:
    """Raise ValueError if variants are too many to be told apart."""
    if len(variants) > MOST:
        raise ValueError(
            f"{len(variants)} variants are too many for one plot, which tells {MOST} apart: "
            f"{', '.join(variants[:3])}, ..."
        )
