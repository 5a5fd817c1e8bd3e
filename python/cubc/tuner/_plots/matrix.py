"""A matrix of small plots, one for each run-time workload, as in CUB's variant plots.

Rows are the values of the importance-ordered axis (``Elements``), columns the combinations of all
other run-time axes; the compile-time workload is fixed. The largest workloads are at the bottom.
"""

from __future__ import annotations

from typing import Any, Literal

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from numpy.typing import NDArray

from .._axes import workload_text
from .._groups import Group
from . import style

CELL = (3.6, 2.0)  # inches
EDGE = (0.9, 1.3)  # for labels, title and legend


class Matrix:
    """Empty axes by run-time workload.

    Attributes
    ----------
    figure
        That they belong to.
    axes : ndarray of Axes, shape (rows, columns)
        As they lie.
    by_rt : dict of str to Axes
        As they are called in a group; workloads that were not measured are left out.
    """

    def __init__(
        self,
        group: Group,
        figure: Figure | SubFigure | None = None,
        *,
        sharex: bool | Literal["all", "row"] = True,
        sharey: bool | Literal["all", "row"] = "row",
    ):
        measured = (cell for cells in group.cells.values() for cell in cells.values())
        workloads = {workload_text(cell.rt): cell.rt for cell in measured}
        first = group.axes[0].name if group.axes else ""
        vertical = next((axis.name for axis in group.axes if axis.ordered), first)
        rows = sorted({rt.get(vertical, 0) for rt in workloads.values()})
        rest = {text: _without(rt, vertical) for text, rt in workloads.items()}
        columns = [dict(c) for c in sorted({tuple(rt.items()) for rt in rest.values()})]
        size = (CELL[0] * max(len(columns), 1.6) + EDGE[0], CELL[1] * len(rows) + EDGE[1])
        self.figure = style.new_figure(figure, size)
        self.axes: NDArray[Any] = self.figure.subplots(
            len(rows), len(columns), squeeze=False, sharex=sharex, sharey=sharey
        )
        self.by_rt: dict[str, Axes] = {
            text: self.axes[rows.index(rt.get(vertical, 0)), columns.index(rest[text])]
            for text, rt in workloads.items()
        }
        style.clean(*self.axes.flat)
        if vertical:
            for axes, value in zip(self.axes[:, -1], rows, strict=True):
                _right(axes, style.workload({vertical: value}))
        if columns != [{}]:
            for axes, column in zip(self.axes[0], columns, strict=True):
                axes.set_title(style.workload(column), fontsize="small")
        for axes in set(self.axes.flat) - set(self.by_rt.values()):
            empty(axes, "not measured")
        self.figure.suptitle(style.about(group), fontsize="medium", x=0.01, ha="left")

    def label(self, x: str, y: str) -> None:
        """Name the horizontal axes of the lowest row and the vertical ones."""
        for axes in self.axes[-1]:
            axes.set_xlabel(x, fontsize="small")
        self.figure.supylabel(y, fontsize="medium")

    def legend(self) -> None:
        """Explain the series below the matrix, each once."""
        found: dict[Any, Artist] = {}
        for axes in self.axes.flat:
            for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
                found.setdefault(name, handle)
        columns = 1 if max(map(len, found), default=0) > 30 else 2
        self.figure.legend(
            list(found.values()),
            list(found),
            loc="outside lower center",
            ncols=columns,
            frameon=False,
            fontsize="small",
        )


def empty(axes: Axes, reason: str) -> None:
    """Say why a plot holds nothing."""
    axes.text(0.5, 0.5, reason, transform=axes.transAxes, ha="center", va="center", color="0.4")


def _right(axes: Axes, text: str) -> None:
    axes.annotate(
        text,
        (1, 0.5),
        (8, 0),
        xycoords="axes fraction",
        textcoords="offset points",
        rotation=270,
        va="center",
        fontsize="small",
    )


def _without(rt: dict[str, int], name: str) -> dict[str, int]:
    return {key: value for key, value in rt.items() if key != name}
