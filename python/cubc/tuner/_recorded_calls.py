"""Recorded calls read back: as a table, and as the workloads that a search takes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from cubc import _core
from cubc._extras import need

from . import _axes as ax
from ._constraints import Constraint, check_names
from ._status import RECORDED
from ._stores import StorePaths, expand, rows
from ._warning import warn
from ._workload import CompileTimeWorkload

if TYPE_CHECKING:
    import pandas as pd

MOST_CALLS = 2.0**53  # the whole numbers up to there are exact
COLUMNS = (
    "benchmark",
    "type",
    "shape",
    "device",
    "calls",
    "mean_us",
    "total_ms",
    "share",
    "gb_s",
    "variant",
    "searchable",
)


@dataclass
class Calls:
    """Calls of one benchmark, type and shape on devices of a model."""

    benchmark: str
    ct: dict[str, str]
    place: dict[str, int]
    model: str
    arch: str
    device: str
    bytes: float
    calls: float = 0.0
    seconds: float = 0.0  # of all calls, estimated from those that were timed
    timed: float = 0.0  # calls that `seconds` is of
    variants: dict[str, float] = field(default_factory=dict)  # calls by label

    @property
    def mean(self) -> float:
        """Seconds of a call; NaN if none was timed."""
        return self.seconds / self.timed if self.timed else math.nan

    @property
    def variant(self) -> str:
        """Label that most of the calls ran."""
        return max(self.variants, key=self.variants.__getitem__)

    @property
    def why_not(self) -> str:
        """Why a search cannot take the calls, or the empty text."""
        declared = _core.benchmarks().get(self.benchmark)
        if declared is None:
            return "it has no benchmark"
        axes = ax.declared(self.benchmark)
        types = {axis.name for axis in axes if axis.compile_time}
        if types != self.ct.keys() or any(self.ct[name] not in declared[name] for name in types):
            return f"the benchmark has no {','.join(self.ct.values()) or 'such type'}"
        for axis in axes:
            if axis.compile_time:
                continue
            if axis.plain not in self.place:
                return f"its {axis.plain} is not known"
            if self.place[axis.plain] <= (ax.MOST_EXPONENT if "[pow2]" in axis.name else 0):
                return "it is too small"
            if self.place[axis.plain] > 1 << ax.MOST_EXPONENT:
                return "it is too large"
        return ""

    @property
    def near(self) -> tuple:
        """Key that calls share which one search is for.

        Shapes are rounded to powers of two, but not those of lattices, whose variants go by the
        divisors of the extents.
        """
        exact = "X" in self.place
        place = (v if exact else round(math.log2(max(v, 1))) for v in self.place.values())
        return self.benchmark, *self.ct.values(), *place

    def workload(self, arch: str, constraints: tuple[Constraint, ...]) -> CompileTimeWorkload:
        """The workload that a search takes."""
        declared = ax.declared_with_keys(self.benchmark, self.place)
        plain = {axis.plain for axis in declared}
        wanted = {name: value for name, value in self.place.items() if name in plain}
        axes = tuple(axis for axis in ax.opened(declared, wanted) if not axis.compile_time)
        axes = tuple(ax.Axis(axis.name, (wanted[axis.plain],)) for axis in axes)
        rt = {axis.name: int(axis.values[0]) for axis in axes}
        return CompileTimeWorkload(self.benchmark, axes, self.ct, [rt], arch, constraints)


def read(paths: StorePaths) -> list[Calls]:
    """Calls that some stores hold, most time first; rows that are damaged are left out.

    Calls that several stores have of one recording count once.

    Raises
    ------
    FileNotFoundError
        If a path names no store.
    StoreError
        If a file is no store, or of a newer version.
    """
    most: dict[tuple, tuple[Calls, dict[str, Any]]] = {}
    for path in expand(paths):
        refused: list[str] = []
        for row in rows(path, refused):
            if row["status"] == RECORDED:
                try:
                    new = _calls_of(row)
                except ValueError as error:
                    refused.append(f"row {row['id']} was refused: {error}")
                    continue
                recording = row["message"] or f"row {row['id']} of {path}"
                key = (recording, row["device_uuid"], *(row[name] for name in OF_A_CALL))
                if key not in most or row["calls"] > most[key][1]["calls"]:
                    most[key] = new, row
        if refused:
            text = f"{path}: {len(refused)} of its rows left out; the first: {refused[0]}"
            warn(text)
    found: dict[tuple, Calls] = {}
    for new, row in most.values():
        key = (row["benchmark"], row["ct"], row["rt"], row["device_model"])
        _add(found.setdefault(key, new), row)
    return sorted(found.values(), key=lambda one: -one.seconds)


OF_A_CALL = ("benchmark", "ct", "rt", "variant")


def _calls_of(row: dict[str, Any]) -> Calls:
    if not re.fullmatch(r"\w+(?:\.\w+)*", row["benchmark"]):
        raise ValueError(f"{row['benchmark']!r:.80} is no benchmark")
    for name in ("device_model", "variant", "device_name", "arch"):
        if not row[name].isprintable():
            raise ValueError(f"{row[name]!r:.80} is no {name}")
    ct, place = ax.parse_workload(row["ct"]), ax.parse_workload(row["rt"])
    if not all(re.fullmatch(r"\d{1,19}", value, re.ASCII) for value in place.values()):
        raise ValueError(f"{row['rt']!r:.80} is no workload of whole numbers")
    if not 0 <= row["calls"] <= MOST_CALLS:
        raise ValueError(f"{row['calls']} is no number of calls")
    return Calls(
        row["benchmark"],
        ct,
        {name: int(value) for name, value in place.items()},
        row["device_model"],
        row["arch"],
        row["device_name"],
        row["bytes"],
    )


def _add(one: Calls, row: dict[str, Any]) -> None:
    samples = np.frombuffer(row["samples"], "<f4")
    one.calls += row["calls"]
    one.variants[row["variant"]] = one.variants.get(row["variant"], 0) + row["calls"]
    if samples.size:
        one.seconds += row["calls"] * float(np.mean(samples, dtype="f8"))
        one.timed += row["calls"]


def recorded(db: StorePaths) -> pd.DataFrame:
    """List the calls of a program, which `record` has stored.

    Parameters
    ----------
    db
        One store or glob pattern, or several.

    Returns
    -------
    pandas.DataFrame
        A row for each benchmark, type, shape and device model, most time first: ``calls``,
        ``mean_us`` of a call, ``total_ms`` of all, ``share`` of the time of all rows, ``gb_s``
        (bytes that a call must move, by its mean time), the ``variant`` that most calls ran, and
        ``searchable``: yes, or no and why `search` leaves it out. Kernels of one's own have the
        name of the kernel, and the blocks and threads of their launches as shape.

    Raises
    ------
    FileNotFoundError
        If a path names no store.
    StoreError
        If a file is no store, or of a newer version.

    Examples
    --------
    >>> with tuner.record("work.db"):
    ...     total = cubc.sum(np.arange(100.0))
    >>> tuner.recorded("work.db")[["benchmark", "calls"]]
        benchmark  calls
    0  reduce.sum      1
    """
    make = need("._table", __package__).Recorded
    calls = read(db)
    total = sum(one.seconds for one in calls)
    table = [
        (
            one.benchmark,
            ",".join(one.ct.values()),
            ax.workload_text(one.place),
            one.model,
            int(one.calls),
            1e6 * one.mean,
            1e3 * one.seconds,
            one.seconds / total if total else math.nan,
            1e-9 * one.bytes / one.mean if one.bytes else math.nan,
            one.variant,
            "yes" if not one.why_not else f"no: {one.why_not}",
        )
        for one in calls
    ]
    return make(table, columns=list(COLUMNS))


def device_of(calls: Iterable[Calls]) -> str | None:
    """Device that most time was spent on, if it is here; else None."""
    here = _core.devices()
    return next((one.device for one in calls if one.device in here), None)


def workloads(
    calls: Iterable[Calls], arch: str, constraints: tuple[Constraint, ...]
) -> Iterator[tuple[CompileTimeWorkload, float]]:
    """Workloads to search, with the seconds that calls like each took, most time first.

    Shapes that are the same powers of two when rounded are searched at the one that took most time.

    Raises
    ------
    LookupError
        If there is none; for a constraint on a parameter that a kernel does not have.
    """
    if not calls:
        raise LookupError(
            "no calls are recorded there: cubc record, or cubc.tuner.record, writes such a store"
        )
    kind = arch == "cpu"
    fit = [one for one in calls if (one.arch == "cpu") == kind and not one.why_not]
    if not fit:
        others = {one.arch for one in calls if (one.arch == "cpu") != kind}
        found = f"its calls ran on {', '.join(sorted(others))}: name a device as these"
        raise LookupError(
            f"the recording has no call that a search for {arch} could take; "
            f"{found if others else 'cubc.tuner.recorded says why'}"
        )
    seconds: dict[tuple, float] = {}
    first: dict[tuple, Calls] = {}
    for one in fit:
        first.setdefault(one.near, one)
        seconds[one.near] = seconds.get(one.near, 0.0) + one.seconds
    for key in sorted(first, key=lambda key: -seconds[key]):
        workload = first[key].workload(arch, constraints)
        check_names(workload.benchmark, constraints, workload.space.ranges)
        yield workload, seconds[key]
