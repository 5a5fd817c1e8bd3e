"""Stores read back as groups of measurements.

Stores may be damaged or come from somebody else. Each row is parsed into integers and names of
declared forms, or refused with its number and store; the other rows are read all the same. Columns
that rows share are parsed once, so that the time of reading depends on the size of a store alone.
"""

from __future__ import annotations

import glob
import math
import os
import re
import statistics
import struct
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np

from cubc import _core

from . import _axes as ax
from ._groups import Group, Measurement
from ._metrics import from_text
from ._space import parse_label
from ._status import OK, RECORDED, STATUSES
from ._verdict import round_ratio
from ._warning import warn

StorePaths = str | os.PathLike | Iterable[str | os.PathLike]

SAMPLE = 4  # bytes
MOST_SAMPLES = _core.MOST_SERIES // SAMPLE  # in a series
_KEPT = (
    "registers",
    "local_bytes",
    "shared_bytes",
    "blocks_per_sm",
    "bytes",
    "flops",
    "temperature",
    "power",
    "checked",
)
_SHOWN = ("device_uuid", "device_model", "device_name", "driver", "compiler", "source_hash")
_SHARED = (*_SHOWN, "benchmark", "axes", "ct", "arch", "sm_count", "ecc")  # by the rows of a group
_BENCHMARK = re.compile(r"\w+(?:\.\w+)*", re.ASCII)
_ARCH = re.compile(r"cpu|replay|sm_[1-9]\d{1,2}[a-z]?", re.ASCII)
_INTEGER = re.compile(r"-?\d{1,18}", re.ASCII)


def store_path(path: str | os.PathLike) -> str:
    """Path of a store as text, ``~`` expanded; TypeError or ValueError if it is none."""
    text = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(text, str):
        raise TypeError(f"a store is named by a path or a text, not by {path!r:.80}")
    if not text or "\0" in text:
        raise ValueError(f"{text!r:.80} is no path of a store")
    return os.path.expanduser(text)


def expand(paths: StorePaths) -> list[str]:
    """Files that some paths and glob patterns name.

    Raises
    ------
    FileNotFoundError
        If one of them names none.
    IsADirectoryError
        If one of them names a folder.
    TypeError, ValueError
        If one of them is no path.
    """
    several = isinstance(paths, Iterable) and not isinstance(paths, str | bytes)
    listed: Iterable = paths if several else (paths,)  # type: ignore[assignment]
    found: dict[str, None] = {}
    for path in listed:
        pattern = store_path(path)
        if Path(pattern).is_dir():
            raise IsADirectoryError(
                f"{pattern} is a folder; name the stores in it, as {pattern}/*.db"
            )
        matches = [pattern] if Path(pattern).exists() else sorted(glob.glob(pattern))
        if not matches:
            raise FileNotFoundError(f"there is no store {pattern}")
        found.update(dict.fromkeys(matches))
    if not found:
        raise FileNotFoundError("no store was named")
    return list(found)


def read(paths: StorePaths, *, bad: Literal["warn", "raise", "pass"] = "warn") -> list[Group]:
    """Read all measurements of some stores.

    Parameters
    ----------
    paths
        A store, a glob pattern, or several of these.
    bad
        Treatment of rows that are refused: leave them out with a warning for each store, raise,
        or leave them out without a word.

    Raises
    ------
    StoreError
        If a file is no store, or of a newer version; if rows are refused and `bad` says so or
        nothing else is there. The message has the first row's number, store and reason.
    """
    groups = _Groups()
    refused: dict[str, list[str]] = {}
    for path in expand(paths):
        reasons: list[str] = []
        place = os.path.abspath(path)  # samples are read later, maybe from another folder
        for row in rows(path, reasons):
            if row["status"] == RECORDED:
                continue
            try:
                groups.take(place, row)
            except ValueError as error:
                reasons.append(f"row {row['id']} was refused: {error}")
        if reasons and bad == "raise":
            raise _core.StoreError(f"{path}: {reasons[0]}")
        if reasons:
            refused[path] = reasons
    found = groups.found()
    if refused and not found:
        path, reasons = next(iter(refused.items()))
        text = f"{path}: none of its rows can be used, {len(reasons)} were refused; the first:"
        raise _core.StoreError(f"{text} {reasons[0]}")
    if bad == "warn":
        for path, reasons in refused.items():
            text = f"{path}: {len(reasons)} of its rows left out; the first: {reasons[0]}"
            warn(text)
    return found


def rows(path: str, reasons: list[str]) -> Generator[dict[str, Any], None, None]:
    """Rows that the core can read; why it cannot read the others is added to `reasons`."""
    store = _core.Store(path)
    try:
        found = store.rows()
        while True:
            try:
                row = next(found)
            except StopIteration:
                return
            except _core.StoreError as error:  # the core goes on behind a row that is damaged
                reason = str(error).removeprefix(f"{path} is damaged: ")
                if reason in reasons[-1:]:
                    raise  # it does not
                reasons.append(reason)
            else:
                yield row
    finally:
        store.close()


class _Groups:
    """Groups while rows are added; an error of a group is reported for each of its rows."""

    def __init__(self) -> None:
        self._groups: dict[tuple, Group] = {}
        self._known: dict[tuple, Group | str] = {}  # by the columns that make a group

    def found(self) -> list[Group]:
        """Groups that have rows."""
        return [group for group in self._groups.values() if group.cells or group.rounds]

    def take(self, path: str, row: dict[str, Any]) -> None:
        """Add a row to its group; ValueError if it is malformed."""
        group = self._group(row)
        rt = _run_time_workload(row["rt"], group.axes)
        _check_variant(group, row["variant"], rt)
        group.add(measurement(row, path, rt))

    def _group(self, row: dict[str, Any]) -> Group:
        shared = tuple(row[name] for name in _SHARED)
        known = self._known.get(shared)
        if known is None:
            try:
                new = _group(row)
                known = self._groups.setdefault(new.key, new)
            except ValueError as error:
                known = str(error)
            self._known[shared] = known
        if isinstance(known, str):
            raise ValueError(known)
        return known


def measurement(row: Mapping[str, Any], store: str, rt: dict[str, int]) -> Measurement:
    """Fields that an analysis keeps of a row; ValueError if it cannot be a measurement's."""
    samples, base = row.get("samples", b""), row.get("base_samples", b"")
    round_number, status = row.get("round", 0), row["status"]
    center = _median(row, "center", samples)
    if status not in STATUSES:
        raise ValueError(f"{status!r:.80} is no status; one is {', '.join(sorted(STATUSES))}")
    if status == OK and center is None:
        raise ValueError(f"its status is {OK}, but it has no samples")
    if round_number and row["variant"] == "base":
        raise ValueError("base cannot be measured again: it is what the rounds are against")
    if round_number and status == OK and not 0 < len(samples) == len(base):
        counts = f"{len(samples) // SAMPLE} samples and {len(base) // SAMPLE} of base"
        raise ValueError(f"its round has {counts}")
    return Measurement(
        store=store,
        id=row.get("id", 0),
        variant=row["variant"],
        rt=rt,
        round=round_number,
        status=status,
        message=_printable(row.get("message", "")),
        center=center,
        base_center=_median(row, "base_center", base),
        ratio=round_ratio(np.frombuffer(samples, "<f4"), np.frombuffer(base, "<f4"))
        if round_number and status == OK
        else None,
        samples=len(samples) // SAMPLE,
        metrics=from_text(row.get("metrics", "")),
        base=_base(row),
        extra={
            **{name: row.get(name) for name in _KEPT},
            "created": _printable(row.get("created", "")),
            "clock_mhz": _clock(row),
            "hot_us": 1e6 * row.get("hot", 0.0),
        },
    )


def _base(row: Mapping[str, Any]) -> dict[str, float]:
    """Figures of base that were measured beside its samples."""
    found = from_text(row.get("base_metrics", ""))
    return found | {
        name: row[f"base_{name}"] for name in ("hot", "power") if row.get(f"base_{name}")
    }


def _printable(text: str) -> str:
    """A text of a row without what would steer a terminal."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text
    )


def _floats(samples: bytes) -> tuple[float, ...]:
    """Numbers of a series; an array of NumPy's would take longer to make for so few."""
    return struct.unpack(f"<{len(samples) // SAMPLE}f", samples)


def _median(row: Mapping[str, Any], name: str, samples: bytes) -> float | None:
    """The core's median of a row read back; of one to be written it is computed."""
    if name in row:
        return _time(row[name])
    return statistics.median(_floats(samples)) if samples else None


def _clock(row: Mapping[str, Any]) -> float:
    clocks = row.get("clocks", b"")
    return float(np.float32(statistics.median(_floats(clocks)))) * 1e-6 if clocks else math.nan


def _group(row: dict[str, Any]) -> Group:
    benchmark, arch = row["benchmark"], row["arch"]
    if not _BENCHMARK.fullmatch(benchmark) or not _ARCH.fullmatch(arch):
        raise ValueError(f"{benchmark!r:.80} on {arch!r:.80} is no benchmark on an architecture")
    for name in _SHOWN:
        if not row[name].isprintable():
            raise ValueError(f"{row[name]!r:.80} is no {name}")
    ct, axes = ax.parse_workload(row["ct"]), ax.parse_axes(row["axes"])
    declared = _core.benchmarks().get(benchmark, {})
    for name, value in ct.items():
        if "{ct}" not in name:
            raise ValueError(f"{name} is no compile-time axis, as T{{ct}}")
        if value not in declared.get(name, [value]):
            known = ", ".join(map(str, declared[name]))
            raise ValueError(f"{benchmark} does not declare {value} on {name}; it declares {known}")
    return Group(
        benchmark=benchmark,
        ct=ct,
        arch=arch,
        device=row["device_model"] or row["device_name"],
        device_uuid=row["device_uuid"],
        device_state=(row["sm_count"], row["ecc"]),
        driver=row["driver"],
        compiler=row["compiler"],
        source_hash=row["source_hash"],
        axes=axes,
    )


def _check_variant(group: Group, variant: str, rt: dict[str, int]) -> None:
    if variant == "base" or variant in group.cells:  # the latter has been checked
        return
    parse_label(variant)
    if not group.current:  # then its parameters are not known
        return
    try:
        reason = _core.variant_invalid(group.benchmark, group.ct, group.arch, variant, rt)
    except LookupError as error:
        reason = str(error)
    if reason is not None:
        raise ValueError(f"{variant}: {reason}")


def _run_time_workload(text: str, axes: tuple[ax.Axis, ...]) -> dict[str, int]:
    values = ax.parse_workload(text)
    if not all(map(_INTEGER.fullmatch, values.values())):
        raise ValueError(f"{text!r:.80} is no workload of whole numbers")
    rt = {name: int(value) for name, value in values.items()}
    if [axis.name for axis in axes] != list(rt) or any(rt[a.name] not in a.known for a in axes):
        raise ValueError(f"{text!r:.80} is no workload of its declared axes")
    return rt


def _time(seconds: float | None) -> float | None:
    return seconds if seconds is not None and math.isfinite(seconds) and seconds > 0 else None
