"""A measured table or store as the device of a search: ``device="replay:table.csv"``.

Nothing is compiled or run: a variant gives the result that was measured, fails if it failed, and is
invalid if it was not measured. So strategies and budgets are tried without a GPU, in seconds. A
table is one benchmark with one workload, named by its file. A store replays each benchmark that it
holds.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from cubc import _core

from . import _axes as ax
from ._constraints import Constraint, check_names
from ._groups import Group
from ._measurer import OneDevice, Request, Results
from ._replay import TableSpace, read_table, stored_table
from ._restriction import restrict
from ._status import FAULT, OK
from ._stores import read, store_path
from ._workload import CompileTimeWorkload, matching

PREFIX = "replay:"
ARCH = "replay"
AHEAD = 4  # requests before the first result, as with a device that compiles ahead
TABLES = (".csv", ".csv.gz")


@dataclass(frozen=True, kw_only=True)
class ReplayWorkload(CompileTimeWorkload):
    """A compile-time workload whose variants have been measured already."""

    table: TableSpace = field(compare=False)
    source: str = field(compare=False)  # the file, for messages
    times: Mapping[str, Mapping[str, Any]] = field(compare=False)  # by variant and workload
    in_seconds: bool = True  # False: in a unit that is not known
    labels: Sequence[str]  # base's, by workload

    @property
    def space(self) -> TableSpace:
        """Variants that were measured, as a space."""
        return self.table

    @property
    def bases(self) -> list[str]:  # type: ignore[override]
        """Label of base at each of `rts`; of a table the median variant."""
        return [*self.labels]

    @property
    def shipped(self) -> list[str]:  # type: ignore[override]
        """Nothing is shipped for it."""
        return []

    @property
    def source_hash(self) -> str:
        """No source is compiled."""
        return ARCH

    def result(self, variant: str, place: int) -> dict[str, Any]:
        """Fields of a store's row as they were measured."""
        found = self.times.get(variant, {}).get(ax.workload_text(self.rts[place]))
        if found is None:
            return {"status": FAULT, "message": f"it failed, or is not there, in {self.source}"}
        status, time, base = found
        if status != OK:
            return {"status": status, "message": f"as in {self.source}"}
        fields = {"status": OK, "samples": _sample(time)}
        return fields | ({} if variant == "base" else {"base_samples": _sample(base)})


def _sample(seconds: float) -> bytes:
    return np.float32(seconds).tobytes()


class Replay(OneDevice):
    """Measurer that looks results up; see `Measurer`."""

    def __init__(self, info: Mapping[str, Any]):
        super().__init__(info)
        self._workload: ReplayWorkload | None = None
        self._asked: deque[Request] = deque()

    def begin(self, workload: CompileTimeWorkload, base: Request) -> Results:
        """Take a compile-time workload of the file; its base is known."""
        assert isinstance(workload, ReplayWorkload)
        self._asked.clear()
        self._workload = workload
        return self._results(base)

    def wants(self) -> bool:
        """True if less is asked for than a device would compile ahead."""
        return len(self._asked) < AHEAD

    def submit(self, request: Request) -> None:
        """Ask for a variant."""
        self._asked.append(request)

    def next(self, until: float | None = None) -> tuple[Request, Results]:
        """Answer the oldest request."""
        request = self._asked.popleft()
        return request, self._results(request)

    def _results(self, request: Request) -> Results:
        assert self._workload is not None
        for run in request.runs:
            fields = self._workload.result(request.variant, run.place)
            yield run, fields
            if fields["status"] != OK:
                return

    def drop(self) -> None:
        """Forget what was asked for."""
        self._asked.clear()

    def close(self) -> None:
        """Nothing was started."""


def is_replay(device: Any) -> TypeGuard[str]:
    """True if a device's name means a file."""
    return isinstance(device, str) and device.startswith(PREFIX)


def replay_info(device: str) -> dict[str, Any]:
    """Info of a file as a device; OSError if it cannot be read."""
    path = Path(store_path(device.removeprefix(PREFIX)))
    if not path.exists():
        raise FileNotFoundError(f"there is no store {path}, nor a table, to be replayed")
    digest = hashlib.sha256(_core.read_file(path, -1)).hexdigest()
    texts = dict.fromkeys(("driver", "compiler", "runtime"), "-")
    names = {"name": "replay", "kind": "replay", "model": f"replay of {path.name}", "arch": ARCH}
    return (
        texts
        | names
        | {"path": str(path), "uuid": f"replay-{digest[:32]}", "sm_count": 1, "ecc": -1}
    )


def replay_workloads(
    device: str,
    benchmark: str,
    axes: Mapping[str, Any] | None,
    constraints: Sequence[Constraint] = (),
) -> list[ReplayWorkload]:
    """Compile-time workloads of a file whose benchmarks a name or a regular expression matches.

    Raises
    ------
    OSError
        If there is no such file.
    LookupError
        If it has no such benchmark or axis, with the nearest name.
    ValueError
        If it is no such table, or a store of several devices; if it has none of the workloads; for
        a constraint on what a compiler makes of a variant.
    StoreError
        If it is no store.
    """
    path = store_path(device.removeprefix(PREFIX))
    found = _workloads(path, benchmark, axes)
    if not found:
        raise ValueError(f"{path} has no variants of {benchmark} at these values of its axes")
    for workload in found:
        check_names(workload.benchmark, constraints, workload.space.ranges)
        if compiled := [one.text for one in constraints if one.needs_compiling]:
            raise ValueError(
                f"{compiled[0]!r}: nothing is compiled in a replay; constrain parameters"
            )
        workload.space.constrain(constraints)
    return [dataclasses.replace(workload, constraints=tuple(constraints)) for workload in found]


def _workloads(path: str, benchmark: str, axes: Mapping[str, Any] | None) -> list[ReplayWorkload]:
    if path.endswith(TABLES):
        return [_table_workload(path, benchmark, axes)]
    groups = restrict(read(path), benchmark, axes)
    seen: dict[tuple[str, str], Group] = {}
    for group in groups:
        other = seen.setdefault((group.benchmark, group.workload), group)
        if other is not group:
            raise ValueError(
                f"{path} has {group.benchmark} {group.workload} of {other.device} "
                f"({other.device_uuid}) and of {group.device} ({group.device_uuid}), or of two "
                "versions: a replay is of one of them; give it a store that holds one"
            )
    return [workload for group in groups if (workload := _stored_workload(path, group))]


def _table_workload(path: str, benchmark: str, axes: Mapping[str, Any] | None) -> ReplayWorkload:
    table, name = read_table(path), Path(path).name.partition(".")[0]
    matching(benchmark, [name], path)
    for axis in ax.given(axes):
        raise ax.unknown(name, "axis", axis, [])
    worked = {label: time for label, time in table.times.items() if time is not None}
    if not worked:
        raise ValueError(f"{path}: every variant failed, so there is no base")
    base = min(worked, key=lambda label: (worked[label] != table.base, label))
    unit = table.unit or 1.0
    times = {label: {"": (OK, time * unit, table.base * unit)} for label, time in worked.items()}
    times["base"] = times[base]
    labels = [base]
    return ReplayWorkload(
        name,
        (),
        {},
        [{}],
        ARCH,
        table=table,
        source=path,
        times=times,
        in_seconds=table.unit is not None,
        labels=labels,
    )


def _stored_workload(path: str, group: Group) -> ReplayWorkload | None:
    """Compile-time workload of a group; None if it has no base or nothing else."""
    if "base" not in group.cells or len(group.cells) == 1:
        return None
    table = stored_table(group)
    times = {variant: dict(_times(group, variant)) for variant in group.cells}
    bases = [*group.cells["base"].values()]
    about = (group.benchmark, group.axes, group.ct, [cell.rt for cell in bases], ARCH)
    labels = [cell.label for cell in bases]
    return ReplayWorkload(*about, table=table, source=path, times=times, labels=labels)


def _times(group: Group, variant: str) -> Iterator[tuple[str, tuple[str, Any, Any]]]:
    """Results of a variant at each workload: its status, its time, and base's beside it."""
    for rt, cell in group.cells[variant].items():
        speedup, base = group.speedup(variant, rt), group.cells["base"][rt].center
        if cell.status == OK and speedup and base:
            yield rt, (OK, base / speedup, base)
        else:
            yield rt, (cell.status, None, None)
