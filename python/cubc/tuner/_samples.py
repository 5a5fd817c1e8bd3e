"""The raw samples behind measurements, fetched from their stores when a figure needs them.

An analysis keeps medians only: a large store's samples would not fit in memory, and most figures
are about a few variants.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cubc import _core

from ._axes import workload_text
from ._groups import Group, Measurement
from ._stores import rows

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Times of one measurement in seconds, in measured order, with clocks in MHz if recorded.

    `base` are those that were taken in turns with the variant's; for base itself it is empty.
    """

    variant: Floats
    base: Floats
    clocks: Floats
    base_clocks: Floats


def read_samples(cells: Iterable[Measurement]) -> dict[tuple[str, int], Samples]:
    """Samples of some measurements by store and number of the row.

    Raises
    ------
    StoreError
        If a store is gone or cannot be read any more, or another one is in its place.
    """
    wanted: dict[str, dict[int, Measurement]] = {}
    for cell in cells:
        wanted.setdefault(cell.store, {})[cell.id] = cell
    return {
        (path, row["id"]): _samples(row)
        for path, mine in wanted.items()
        for row in _rows(path, mine)
    }


def pair(
    group: Group, variant: str, rt: str, samples: Mapping[tuple[str, int], Samples]
) -> tuple[Floats, Floats]:
    """Samples of a variant and of base to compare it with; empty where there are none.

    Base's samples are those taken in turns with the variant's, as in `Group.speedup`, if there are
    any.
    """
    mine = find(group, variant, rt, samples)
    base = mine.base if variant != "base" else mine.variant
    return mine.variant, base if base.size else find(group, "base", rt, samples).variant


def cells_of(group: Group, variants: Iterable[str]) -> list[Measurement]:
    """Measurements of some variants and of base."""
    labels = dict.fromkeys(["base", *variants])
    return [cell for label in labels for cell in group.cells.get(label, {}).values()]


def find(
    group: Group, variant: str, rt: str, samples: Mapping[tuple[str, int], Samples]
) -> Samples:
    """Samples of a variant at a run-time workload; empty ones where there are none."""
    cell = group.cells.get(variant, {}).get(rt)
    return samples.get((cell.store, cell.id), _NONE) if cell else _NONE


def _rows(path: str, cells: Mapping[int, Measurement]) -> Generator[dict[str, Any]]:
    """Rows of a store by their numbers. The analysis has read them, so none of them is refused."""
    last = max(cells)
    with closing(rows(path, [])) as found:
        for row in found:
            if cell := cells.get(row["id"]):
                about = cell.variant, workload_text(cell.rt), cell.round
                if (row["variant"], row["rt"], row["round"]) != about:
                    raise _core.StoreError(f"{path} is another store by now: analyze it again")
                yield row
            if row["id"] >= last:
                return


def _samples(row: dict[str, Any]) -> Samples:
    names = {"samples": 1.0, "base_samples": 1.0, "clocks": 1e-6, "base_clocks": 1e-6}
    return Samples(*(np.frombuffer(row[n], "<f4").astype(float) * u for n, u in names.items()))


_NONE = Samples(*[np.empty(0)] * 4)
