"""Times in measured order: drift, jumps and outliers that medians hide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from .._groups import Group
from .._progress_curve import measured_order
from .._samples import Samples, find
from . import style
from .matrix import Matrix, empty

Floats = NDArray[np.float64]
STRIP = 0.28  # height of the strip of clocks, of that of the axes


def places(count: int) -> tuple[Floats, Floats]:
    """Places in time of `count` samples of a variant and of as many of base, from 0.

    The order of measurement is variant, base, base, variant, and so on.
    """
    rounds = np.arange(count, dtype=float)
    odd = rounds % 2
    return 2 * rounds + odd, 2 * rounds + 1 - odd


def plot_drift(
    group: Group,
    variant: str,
    samples: Mapping[tuple[str, int], Samples],
    figure: Figure | SubFigure | None = None,
) -> NDArray[np.object_]:
    """Draw a variant's samples and those of base in the order in which they were taken.

    Where clocks were recorded they are in a strip below the times. Triangles at the edge are
    samples beyond it.

    Parameters
    ----------
    group : Group
        Measurements to draw.
    variant : str
        A label, or ``"base"`` for base's own samples.
    samples
        Those of the variant and of base, as of `_samples.read_samples`.
    figure
        To draw on; a new one by default.

    Returns
    -------
    ndarray of Axes, shape (rows, columns)
        Those of the times; rows: ``Elements``; columns: all other run-time axes.
    """
    label = style.short(group, [variant])[variant]
    matrix = Matrix(group, figure, sharex=False, sharey=False)
    for rt, axes in matrix.by_rt.items():
        taken = find(group, variant, rt, samples)
        if not taken.variant.size:
            cell = group.cells[variant].get(rt)
            empty(axes, cell.status if cell else "not measured")
            continue
        series = [(label, taken.variant, taken.clocks)]
        if taken.base.size == taken.variant.size:
            series.insert(0, ("base", taken.base, taken.base_clocks))
        _strip(axes, series)
    matrix.label("sample, in measured order", "time")
    matrix.legend()
    return matrix.axes


def plot_search_drift(group: Group, axes: Axes | None = None) -> Axes:
    """Draw how base itself drifted during a search.

    Each variant's base samples, taken in turns with its own, are summed up by their median, and
    that is divided by the median of all of them at this workload. A machine that stays as it is
    gives lines at 1.

    Parameters
    ----------
    group : Group
        Measurements to draw.
    axes
        To draw on; new ones by default.

    Raises
    ------
    ValueError
        If no variant was measured along with base.
    """
    order = measured_order([group])
    lines = {}
    for rt in group.rts:
        cells = [(place, group.cells[v].get(rt)) for place, v in enumerate(order, 1)]
        known = [(place, cell) for place, cell in cells if cell and cell.base_center]
        if known:
            x, centers = np.transpose([(place, cell.base_center) for place, cell in known])
            lines[style.workload(known[0][1].rt)] = x, centers / np.median(centers)
    if not lines:
        raise ValueError(f"{group.benchmark} {group.workload}: no variant was measured with base")
    axes = style.new_axes(axes, (7, 3.4))
    shades = _shades(len(lines))
    for place, (label, (x, y)) in enumerate(lines.items()):
        marker = style.MARKERS[place % len(style.MARKERS)]
        axes.plot(x, y, marker, color=shades[place], markersize=3.5, label=label)
        axes.plot(x, _running_median(y), color=shades[place], linewidth=1)
    _show(axes, list(lines.values()), shades)
    axes.axhline(1, color=style.BASE, linewidth=1.2, zorder=1.5)
    _explain(axes)
    axes.set_xlabel("variants measured")
    axes.set_ylabel("time of base / its median")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    style.legend(axes)
    style.clean(axes)
    style.title(axes, group)
    return axes


def _strip(axes: Axes, series: Sequence[tuple[str, Floats, Floats]]) -> None:
    factor, unit = style.time_unit(np.concatenate([times for _, times, _ in series]))
    drawn, colors = [], []
    for (label, times, _), x in zip(series, _orders(series), strict=True):
        color, marker = style.look(label, 0)
        drawn.append((x, times * factor))
        colors.append(color)
        axes.plot(x, times * factor, marker, color=color, markersize=3, label=label)
        axes.plot(x, _running_median(times * factor), color=color, linewidth=1)
    _show(axes, drawn, colors)
    _explain(axes)
    axes.set_ylabel(unit, fontsize="small")
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    if any(clocks.size for _, _, clocks in series):
        _clocks(axes, series)


def _explain(axes: Axes) -> None:
    """Add to the legend what has no label of a series: lines through points, and triangles."""
    axes.plot([], [], color="0.3", linewidth=1, label="running median")
    if any(line.get_marker() == "^" and not line.get_clip_on() for line in axes.lines):
        axes.plot([], [], "^", color="0.3", label="above the axis")


def _clocks(axes: Axes, series: Sequence[tuple[str, Floats, Floats]]) -> None:
    """Draw the clocks into a strip at the foot of the axes, which is made free for them."""
    low, high = axes.get_ylim()
    axes.set_ylim(low - (high - low) * STRIP / (1 - STRIP), high)
    axes.set_yticks([tick for tick in axes.get_yticks() if low <= tick <= high])
    strip = axes.inset_axes((0, 0, 1, STRIP - 0.03), sharex=axes, label="clocks")
    known = [clocks for _, _, clocks in series if clocks.size]
    least, most = np.min(np.concatenate(known)), np.max(np.concatenate(known))
    for (label, _, clocks), x in zip(series, _orders(series), strict=True):
        if clocks.size == x.size:
            color, marker = style.look(label, 0)
            strip.plot(x, clocks, marker, color=color, markersize=2)
    strip.set_ylim(least - 0.1 * (most - least or 1), most + 0.6 * (most - least or 1))
    strip.tick_params(left=False, labelleft=False, bottom=False, labelbottom=False)
    strip.spines[["right", "bottom"]].set_visible(False)
    strip.spines[["top", "left"]].set_color("0.8")
    strip.text(
        0.01, 0.97, f"clock {least:.0f} to {most:.0f} MHz", transform=strip.transAxes, va="top",
        color="0.3", fontsize="x-small",
    )  # fmt: skip


def _orders(series: Sequence[tuple[str, Floats, Floats]]) -> tuple[Floats, ...]:
    """Places of each series in time; base comes first where there are two."""
    count = series[0][1].size
    return tuple(reversed(places(count))) if len(series) == 2 else (np.arange(count, dtype=float),)


def _shades(count: int) -> list[str]:
    return [style.COLORS[place % style.MOST] for place in range(count)]


def _running_median(y: Floats, window: int = 9) -> Floats:
    padded = np.pad(y, window // 2, mode="edge")
    return np.median(np.lib.stride_tricks.sliding_window_view(padded, window), axis=-1)


def _show(axes: Axes, drawn: Sequence[tuple[Floats, Floats]], colors: Sequence[str]) -> None:
    """Choose vertical limits that no outlier rules, and mark what lies above them."""
    low, top = style.ends([y for _, y in drawn])
    axes.set_ylim(max(0.0, low), top)
    for (x, y), color in zip(drawn, colors, strict=True):
        if (y > top).any():
            beyond = x[y > top]
            axes.plot(beyond, np.full(beyond.size, top), "^", color=color, clip_on=False, zorder=4)
