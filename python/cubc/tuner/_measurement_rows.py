"""Rows of `Analysis.to_frame`: one for each measurement, with plain values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ._axes import columns, workload_text
from ._groups import Group, Measurement

if TYPE_CHECKING:
    import pandas as pd

_WHERE = ("device", "arch", "device_uuid", "driver", "compiler", "source_hash")


def measurement_rows(group: Group) -> list[dict[str, Any]]:
    """Rows of a group, which all have the same columns.

    A user names axes, parameters and metrics. One that has the name of another column is
    ``device{axis}``, ``round{parameter}`` or ``samples{metric}``.
    """
    cells = list(group.measurements())
    if not cells:
        return []
    workloads = [columns(group.ct, cell.rt) for cell in cells]
    found = [_figures(group, cell) for cell in cells]
    where = {name: getattr(group, name) for name in _WHERE}
    taken = {"benchmark", "variant", *found[0], *where, "store", "id"}
    of_axes = _names(workloads, "axis", taken)
    parameters = [cell.parameters for cell in cells]
    of_parameters = _names(parameters, "parameter", taken)
    of_metrics = _names((cell.metrics for cell in cells), "metric", taken)
    return [
        {"benchmark": group.benchmark}
        | {column: workload[name] for name, column in of_axes.items()}
        | {"variant": cell.variant}
        | {column: values.get(name) for name, column in of_parameters.items()}
        | figures
        | {column: cell.metrics.get(name) for name, column in of_metrics.items()}
        | where
        | {"store": cell.store, "id": cell.id}
        for cell, workload, values, figures in zip(cells, workloads, parameters, found, strict=True)
    ]


def with_whole_numbers(frame: pd.DataFrame, rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Give columns of integers that some rows lack pandas' type of these, in place of floats."""
    kinds: dict[str, set[type]] = {}
    for row in rows:
        for name, value in row.items():
            if value is not None:
                kinds.setdefault(name, set()).add(type(value))
    whole = [name for name, several in kinds.items() if several == {int}]
    return frame.astype({name: "Int64" for name in whole if frame[name].isna().any()})


def _names(several: Iterable[Iterable[str]], kind: str, taken: set[str]) -> dict[str, str]:
    """Columns by the names that a user gave; they are taken from then on."""
    names = dict.fromkeys(name for one in several for name in one)
    found = {name: f"{name}{{{kind}}}" if name in taken else name for name in names}
    taken.update(found.values())
    return found


def _figures(group: Group, cell: Measurement) -> dict[str, Any]:
    base = cell.base_center if cell.variant != "base" else cell.center
    moved = cell.extra["bytes"]
    found = {
        "round": cell.round,
        "status": cell.status,
        "message": cell.message,
        "center_us": cell.center * 1e6 if cell.center else math.nan,
        "base_us": base * 1e6 if base else math.nan,
        "speedup": _speedup(group, cell) or math.nan,
        "gbps": moved / cell.center * 1e-9 if moved and cell.center else math.nan,
        "samples": cell.samples,
    }
    return found | {name: value for name, value in cell.extra.items() if name != "bytes"}


def _speedup(group: Group, cell: Measurement) -> float | None:
    """Speedup of a measurement's own round; of a search's own, the one that the group has."""
    if cell.round:
        return group.round_speedup(cell)
    return group.speedup(cell.variant, workload_text(cell.rt))
