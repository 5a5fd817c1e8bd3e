"""Distance of variants from what the device can do: bandwidth, and the roofline with flops.

Times of two variants may have been taken an hour apart. So that a drift of the machine does not
pass for a difference between them, base's time is the median over the whole search, and a variant's
is that divided by its speedup.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import LogLocator

from .._axes import numbers
from .._groups import Group
from . import style

DECADE = 10


def plot_bandwidth(
    group: Group, variants: Sequence[str], peak: float | None = None, axes: Axes | None = None
) -> Axes:
    """Draw the throughput of base and of variants at each run-time workload.

    Parameters
    ----------
    group : Group
        Measurements to draw.
    variants : sequence of str
        Labels, from one to six.
    peak : float
        Bandwidth of the device's memory in GB/s (10^9 bytes a second), drawn as a line.
    axes
        To draw on; new ones by default.

    Returns
    -------
    Axes
        Vertically the bytes that must be moved over the time, in GB/s; logarithmic if the
        throughputs lie a factor of ten apart or more, as those of small and large arrays do.

    Raises
    ------
    ValueError
        If the benchmark declares no bytes, or the variants are too many.
    """
    chosen, group = _chosen(group, variants)
    labels = style.short(group, chosen)
    axes = style.new_axes(axes)
    texts: dict[str, str] = {}
    rates: list[float] = []
    for place, variant in enumerate(chosen, -1):
        points = [(rt, rate) for rt in group.rts if (rate := _rate(group, variant, rt, "bytes"))]
        texts |= {rt: _lines(group.cells[variant][rt].rt) for rt, _ in points}
        color, marker = style.look(variant, place)
        x, y = [group.rts.index(rt) for rt, _ in points], [rate for _, rate in points]
        axes.plot(x, y, color=color, marker=marker, label=labels[variant])
        rates += y
    if not texts:
        raise ValueError(f"{group.benchmark} {group.workload} declares no bytes to be moved")
    if peak is not None:
        axes.axhline(peak, color="0.2", linestyle=":", label=f"memory: {peak:.0f} GB/s")
    axes.set_xticks([group.rts.index(rt) for rt in texts], list(texts.values()))
    axes.set_xlabel(" / ".join(axis.plain for axis in group.axes))
    axes.margins(x=0.08)
    if max(rates) >= DECADE * min(rates):
        axes.set_yscale("log")
        _number_decades(axes.yaxis)
    else:
        axes.set_ylim(bottom=0)
    axes.set_ylabel("throughput (GB/s)")
    style.legend(axes, len(group.axes))
    style.clean(axes)
    style.title(axes, group)
    return axes


def plot_roofline(
    group: Group,
    variants: Sequence[str],
    peak_gbps: float | None = None,
    peak_gflops: float | None = None,
    flops: float | None = None,
    axes: Axes | None = None,
) -> Axes:
    """Draw arithmetic throughput against arithmetic intensity, under the device's two roofs.

    Parameters
    ----------
    group, variants, axes
        See `plot_bandwidth`.
    peak_gbps : float
        Bandwidth of the device's memory in GB/s: the slanted roof.
    peak_gflops : float
        Arithmetic peak of the device in GFLOP/s: the level roof.
    flops : float, optional
        Operations for each element, of a benchmark that declares none and has the axis Elements.

    Returns
    -------
    Axes
        Horizontally flops for each byte that must be moved, vertically GFLOP/s; both logarithmic.

    Raises
    ------
    ValueError
        If the benchmark declares no bytes or no flops, or the variants are too many.

    References
    ----------
    S. Williams, A. Waterman, D. Patterson: "Roofline: an insightful visual performance model for
    multicore architectures".
    """
    chosen, group = _chosen(group, variants)
    points = {v: [p for rt in group.rts if (p := _point(group, v, rt, flops or 0))] for v in chosen}
    if not any(points.values()):
        raise ValueError(
            f"{group.benchmark} {group.workload} declares no bytes and flops; plot_bandwidth shows "
            "the bytes alone, flops= sets the operations for each element, and a benchmark of your "
            "own declares them by state.flops(...)"
        )
    labels = style.short(group, chosen)
    axes = style.new_axes(axes)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        _number_decades(axis)
    for place, (variant, several) in enumerate(points.items(), -1):
        color, marker = style.look(variant, place)
        x, y = np.transpose(several) if several else ([], [])
        axes.plot(x, y, marker, color=color, label=labels[variant])
    _roofs(axes, peak_gbps, peak_gflops)
    axes.set_xlabel("arithmetic intensity (flop/byte)")
    axes.set_ylabel("throughput (GFLOP/s)")
    style.legend(axes)
    style.clean(axes)
    style.title(axes, group)
    return axes


def _chosen(group: Group, variants: Sequence[str]) -> tuple[list[str], Group]:
    """Base and the variants to show, and the group by time, whatever the best is best at."""
    style.check_count(variants)
    return ["base", *(v for v in variants if v != "base")], group.by_time()


def _number_decades(axis: Axis) -> None:
    """Write numbers at 1, 2 and 5 of each decade of a logarithmic axis."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter("")


def _roofs(axes: Axes, gbps: float | None, gflops: float | None) -> None:
    low, high = axes.get_xlim()
    ridge = gflops / gbps if gbps and gflops else None
    ends = np.array([min(low, ridge / 4), max(high, ridge * 4)] if ridge else [low, high])
    if gbps:
        x = np.array([ends[0], ridge or ends[1]])
        axes.plot(x, gbps * x, ":", color="0.2", label=f"memory: {gbps:.0f} GB/s")
    if gflops:
        level = [ridge or ends[0], ends[1]]
        axes.plot(
            level, [gflops, gflops], "--", color="0.2", label=f"arithmetic: {gflops:.0f} GFLOP/s"
        )


def _lines(rt: dict[str, int]) -> str:
    return "\n".join(style.number(name, value) for name, value in rt.items())


def _rate(group: Group, variant: str, rt: str, what: str, each: float = 0) -> float | None:
    """Bytes or flops in 10^9 a second; where none are declared, `each` are those of an element."""
    cell = group.cells.get(variant, {}).get(rt)
    speedup = group.speedup(variant, rt) if cell else None
    if not cell or not speedup:
        return None
    amount = cell.extra.get(what) or each * numbers(cell.rt).get("Elements", 0)
    return 1e-9 * amount * speedup / _base(group, rt) if amount else None


def _base(group: Group, rt: str) -> float:
    """Time of base in seconds: the median of what was measured all along the search."""
    found = [cells[rt] for cells in group.cells.values() if rt in cells]
    alone = group.cells.get("base", {}).get(rt)
    centers = [cell.base_center for cell in found] + [alone.center if alone else None]
    return statistics.median(filter(None, centers))


def _point(group: Group, variant: str, rt: str, each: float) -> tuple[float, float] | None:
    bandwidth = _rate(group, variant, rt, "bytes")
    arithmetic = _rate(group, variant, rt, "flops", each)
    return (arithmetic / bandwidth, arithmetic) if arithmetic and bandwidth else None
