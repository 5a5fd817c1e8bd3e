"""Measurements read back from stores, in groups within which times may be compared.

A group is one benchmark and compile-time workload on one physical device, with one driver, one
compiler, one version of the kernel source and one declaration of its axes. A base of one group is
never held against a variant of another, even in one file.

Stores may come from somebody else: a row is parsed to declared shapes (integers, names) or it is
refused with its number and store.
"""

from __future__ import annotations

import dataclasses
import glob
import math
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cubc import _core

from . import axes as ax
from .score import score
from .space import Space, parse_label

KEPT = ("registers", "local_bytes", "shared_bytes", "blocks_per_unit", "bytes", "created")
_BENCHMARK = re.compile(r"\w+(?:\.\w+)*", re.ASCII)
_ARCH = re.compile(r"cpu|sm_\d{2,3}[a-z]?", re.ASCII)

StorePaths = str | os.PathLike | Iterable[str | os.PathLike]


@dataclass(frozen=True, slots=True)
class Measurement:
    """One variant at one run-time workload. Times are medians in seconds, None without samples."""

    store: str
    id: int
    variant: str
    rt: dict[str, int]
    status: str
    message: str
    center: float | None
    base_center: float | None
    samples: int
    extra: dict[str, Any]


@dataclass
class Group:
    """Comparable measurements of one benchmark and compile-time workload."""

    benchmark: str
    ct: dict[str, str]
    arch: str
    device: str
    device_uuid: str
    driver: str
    compiler: str
    source_hash: str
    axes: tuple[ax.Axis, ...]  # run-time ones with all their declared values: they give the weights
    cells: dict[str, dict[str, Measurement]] = field(default_factory=dict)  # by variant and rt
    _rts: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def key(self) -> tuple:
        """What a measurement must share to be compared with those of this group."""
        ct, axes = ax.workload_text(self.ct), ax.axes_text(self.axes)
        device = (self.arch, self.device_uuid, self.driver, self.compiler)
        return (self.benchmark, ct, *device, self.source_hash, axes)

    @property
    def workload(self) -> str:
        """The compile-time workload without axis names: ``F32``."""
        return ",".join(self.ct.values())

    @property
    def rts(self) -> list[str]:
        """All run-time workloads that were measured, smallest first."""
        return sorted(self._rts, key=lambda text: tuple(self._rts[text].values()))

    @property
    def current(self) -> bool:
        """Whether these times are of the kernel source that this cubc has."""
        declared = _core.benchmarks().get(self.benchmark)
        if declared is None or any(v not in declared.get(k, ()) for k, v in self.ct.items()):
            return False
        return self.source_hash == _core.source_hash(self.benchmark, self.ct, self.arch)

    def add(self, measurement: Measurement) -> None:
        """Take in a measurement; a later one of the same workload replaces an earlier."""
        rt = ax.workload_text(measurement.rt)
        self.cells.setdefault(measurement.variant, {})[rt] = measurement
        self._rts[rt] = measurement.rt

    def only(self, rts: Iterable[Mapping[str, int]]) -> Group:
        """Copy this group with some of its run-time workloads only."""
        kept = dataclasses.replace(self, cells={}, _rts={})
        texts = [ax.workload_text(rt) for rt in rts]
        for cells in self.cells.values():
            for text in filter(cells.__contains__, texts):
                kept.add(cells[text])
        return kept

    def speedup(self, variant: str, rt: str) -> float | None:
        """Median of base over median of the variant; None where that is not known.

        Base's samples taken alongside the variant come first, for drift cancels between the two.
        """
        cell = self.cells[variant].get(rt)
        if cell is None or cell.status != "ok" or not cell.center:
            return None
        if variant == "base":
            return 1.0
        base = self.cells.get("base", {}).get(rt)
        reference = cell.base_center or (base and base.center)
        return reference / cell.center if reference else None

    def speedups(self, variant: str) -> dict[str, float]:
        """Known speedups of a variant by run-time workload."""
        cells = self.cells[variant]
        known = ((rt, self.speedup(variant, rt)) for rt in self.rts if rt in cells)
        return {rt: speedup for rt, speedup in known if speedup is not None}

    def score(self, variant: str) -> float | None:
        """CUB's score over the workloads that were measured; None if it failed at one of them."""
        cells = self.cells[variant]
        speedups = self.speedups(variant)
        if not speedups or len(speedups) < len(cells):
            return None
        return score(self.axes, ((cells[rt].rt, speedup) for rt, speedup in speedups.items()))

    def status(self, variant: str) -> str:
        """First failure of a variant, ``ok``, or ``partial`` if a workload is missing."""
        cells = self.cells[variant]
        failed = (cell.status for cell in cells.values() if cell.status != "ok")
        return next(failed, "ok" if len(cells) == len(self._rts) else "partial")

    def ranked(self) -> list[tuple[float, str]]:
        """Score and label of each variant that has all workloads of the group, best first."""
        rts = len(self.rts)
        complete = (label for label, cells in self.cells.items() if len(cells) == rts)
        scored = ((self.score(label), label) for label in complete)
        return sorted(((s, v) for s, v in scored if s is not None), key=lambda sv: (-sv[0], sv[1]))

    def space(self) -> Space:
        """Parameter space that the variants come from, as this cubc declares it."""
        return Space(self.benchmark, self.ct, self.arch)

    def parameters(self, variant: str) -> dict[str, int]:
        """Values of a variant; of base those that it was measured with, if that is known."""
        if variant != "base":
            return parse_label(variant)
        label = next(iter(self.cells["base"].values())).message
        try:
            return parse_label(label)
        except ValueError:
            return {}


def expand(paths: StorePaths) -> list[str]:
    """Files that some paths and glob patterns name.

    Raises
    ------
    FileNotFoundError
        If one of them names none.
    """
    several = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not several:
        raise FileNotFoundError("no store was named")
    found: dict[str, None] = {}
    for path in several:
        pattern = os.path.expanduser(os.fspath(path))
        matches = [pattern] if Path(pattern).exists() else sorted(glob.glob(pattern))
        if not matches:
            raise FileNotFoundError(f"there is no store {pattern}")
        found.update(dict.fromkeys(matches))
    return list(found)


def read(paths: StorePaths, *, strict: bool = False) -> list[Group]:
    """Read all measurements of some stores.

    Parameters
    ----------
    paths
        A store, a glob pattern, or several of these.
    strict
        Raise for a malformed row, instead of warning once a store and leaving it out.

    Raises
    ------
    StoreError
        If a file is no store, or of a newer version; if `strict` and a row is malformed (the
        message has its number and store).
    """
    groups: dict[tuple, Group] = {}
    for path in expand(paths):
        refused = []
        for row in _rows(path):
            try:
                _take(groups, path, row)
            except ValueError as error:
                reason = f"{path}: row {row['id']} was refused: {error}"
                if strict:
                    raise _core.StoreError(reason) from None
                refused.append(reason)
        if refused:
            more = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
            warnings.warn(refused[0] + more, RuntimeWarning, stacklevel=3)
    return list(groups.values())


def _rows(path: str) -> Iterator[dict[str, Any]]:
    store = _core.Store(path)
    try:
        yield from store.rows()
    finally:
        store.close()


def _take(groups: dict[tuple, Group], path: str, row: dict[str, Any]) -> None:
    benchmark, arch, variant = row["benchmark"], row["arch"], row["variant"]
    if not _BENCHMARK.fullmatch(benchmark) or not _ARCH.fullmatch(arch):
        raise ValueError(f"{benchmark!r:.80} on {arch!r:.80} is no benchmark on an architecture")
    if variant != "base":
        parse_label(variant)
    ct, axes = ax.parse_workload(row["ct"]), ax.parse_axes(row["axes"])
    rt = {name: int(value) for name, value in ax.parse_workload(row["rt"]).items()}
    if [axis.name for axis in axes] != list(rt) or any(rt[a.name] not in a.values for a in axes):
        raise ValueError(f"{row['rt']!r:.80} is no workload of its declared axes")
    device = row["device_model"] or row["device_name"]
    key = (row["device_uuid"], row["driver"], row["compiler"], row["source_hash"])
    new = Group(benchmark, ct, arch, device, *key, axes)
    group = groups.setdefault(new.key, new)
    group.add(
        Measurement(
            store=path,
            id=row["id"],
            variant=variant,
            rt=rt,
            status=row["status"],
            message=row["message"],
            center=_time(row["center"]),
            base_center=_time(row["base_center"]),
            samples=len(row["samples"]) // 4,
            extra={name: row[name] for name in KEPT},
        )
    )


def _time(seconds: float | None) -> float | None:
    return seconds if seconds is not None and math.isfinite(seconds) and seconds > 0 else None


def restrict(
    groups: Sequence[Group], pattern: str | None, wanted: Mapping[str, Any] | None
) -> list[Group]:
    """Keep the groups whose benchmark matches an expression, with the wanted axis values.

    Raises
    ------
    LookupError
        If no benchmark matches, or none of those that do has an axis.
    ValueError
        If the expression is malformed, or a value is not declared.
    """
    matches = compiled(pattern or "").match
    matching = [group for group in groups if matches(group.benchmark)]
    if groups and not matching:
        raise ax.unknown("the store", "benchmark", str(pattern), {g.benchmark for g in groups})
    wanted = dict(wanted or {})
    every = [axis for g in matching for axis in _all_axes(g)]
    for name in wanted:
        if matching and ax.find(every, name) is None:
            raise ax.unknown("the store", "axis", name, {axis.name for axis in every})
    return [kept for g in matching if (kept := _narrow(g, wanted)).cells]


def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a regular expression; ValueError if it is malformed."""
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from None


def _all_axes(group: Group) -> list[ax.Axis]:
    declared = _core.benchmarks().get(group.benchmark, {})
    ct = [ax.Axis(name, tuple(declared.get(name) or [value])) for name, value in group.ct.items()]
    return [*ct, *group.axes]


def _narrow(group: Group, wanted: Mapping[str, Any]) -> Group:
    axes = _all_axes(group)
    mine = {name: values for name, values in wanted.items() if ax.find(axes, name)}
    chosen = ax.choose(group.benchmark, axes, mine)
    if any(value not in chosen[name] for name, value in group.ct.items()):
        return group.only([])
    return group.only(ax.combinations(group.axes, chosen))
