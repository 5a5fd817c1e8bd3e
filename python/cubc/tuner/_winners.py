"""Winners among measurements, which become policies, and the message where there is none."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cubc import _core

from ._axes import Value, calls_near, split_name, workload_text
from ._axes import declared as declared_axes
from ._groups import Group, settle
from ._warning import warn
from ._words import listed

Part = tuple[tuple[str, ...], Group]


class Winner(NamedTuple):
    """The best variant that was confirmed to be FASTER than base."""

    group: Group
    label: str
    score: float


def winners(groups: list[Group], *, by_workload: bool = False) -> list[Winner]:
    """Winners, one for each group or for each of its run-time workloads; base stays elsewhere.

    Everything that turns measurements into policies calls this, or `judged` and `best`. If several
    devices of one architecture were measured, the highest score wins; but nothing wins that another
    device of the model has measured again and not found FASTER.
    """
    return best(judged(groups, by_workload=by_workload))


def best(parts: Iterable[Part]) -> list[Winner]:
    """Winners of parts that were judged."""
    found: dict[tuple, Winner] = {}
    for key, group in parts:
        score, label = group.winner() or (0.0, "")
        if label and (key not in found or score > found[key].score):
            found[key] = Winner(group, label, score)
    return list(found.values())


def judged(
    groups: Iterable[Group], *, by_workload: bool, here: Mapping[str, Any] | None = None
) -> list[Part]:
    """Groups that count, or a part of them for each workload, which may dispute each other.

    They stand behind the key of the policy that each gives. `here` is the information on the device
    that is to run them; by default all devices are asked, where groups differ in that alone.
    """
    parts = _parts(groups, by_workload)
    settle(parts)
    places = _places(parts, by_workload).items()
    return [(key, group) for key, several in places for group in _counting(several, here)]


def undecided(groups: Iterable[Group]) -> set[str]:
    """Architectures whose groups count, workload by workload, by what their devices are now."""
    places = _places(_parts(groups, True), True).items()
    return {
        arch
        for (arch, *_), several in places
        if any(len({one.environment for one in same}) > 1 for same in _of_devices(several))
    }


def _parts(groups: Iterable[Group], by_workload: bool) -> list[Group]:
    return [part for one in groups for part in (one.by_workload() if by_workload else [one])]


def _places(parts: list[Group], by_workload: bool) -> dict[tuple[str, ...], list[Group]]:
    """Groups by the key of the policy that they give."""
    places: dict[tuple[str, ...], list[Group]] = {}
    for group in parts:
        rt = workload_text(group.workloads[0]) if by_workload else ""
        key = (group.arch, group.benchmark, group.workload, rt)
        places.setdefault(key, []).append(group)
    return places


def _of_devices(groups: list[Group]) -> Iterable[list[Group]]:
    """Groups of the newest source, by their devices."""
    if len(groups) == 1:
        return [groups]
    source = max(groups, key=lambda group: (group.current, _moment(group))).source_hash
    devices: dict[str, list[Group]] = {}
    for group in groups:
        if group.source_hash == source:
            devices.setdefault(group.device_uuid, []).append(group)
    return devices.values()


def _counting(groups: list[Group], here: Mapping[str, Any] | None) -> Iterator[Group]:
    """Those of the newest source and, on each device, of one driver and compiler.

    These are the ones that are here, or else the newest: what was FASTER with others says nothing
    of what runs now.
    """
    for several in _of_devices(groups):
        environments = {group.environment for group in several}
        if len(environments) > 1:
            now = _environments([here] if here else map(_core.device_info, _core.devices()))
            environments = {
                max(several, key=lambda g: (g.environment in now, _moment(g))).environment
            }
        yield from (group for group in several if group.environment in environments)


def _environments(infos: Iterable[Mapping[str, Any]]) -> set[tuple]:
    """Environments of devices."""
    return {((one["sm_count"], one["ecc"]), one["driver"], one["compiler"]) for one in infos}


def _moment(group: Group) -> tuple[str, int]:
    """When a group was measured last."""
    moments = ((cell.extra["created"], cell.id) for cell in group.measurements())
    return max(moments, default=("", 0))


def rows_of(found: Iterable[Winner]) -> str:
    """Rows of policies.def of winners, which were found by workload."""
    return "\n".join(
        f'POLICY("{one.group.arch}", "{one.group.benchmark}", "{one.group.workload}", '
        f'"{calls_near(one.group.workloads[0])}", "{one.label}")'
        f"{'  // of another version of the kernel' if one.group.stale else ''}"
        for one in found
    )


def warn_unconfirmed(groups: list[Group], *, by_workload: bool = False) -> None:
    """Warn of variants that look faster than base and were not measured again."""
    if text := unconfirmed(groups, by_workload=by_workload):
        warn(text)


def warn_without_score(groups: Iterable[Group]) -> None:
    """Warn of variants whose objective is no positive number, which tables leave out."""
    for group in groups:
        for text, left_out in group.objective.without_score(group.measurements()).items():
            warn(
                f"{group.benchmark}: {text} of {listed(left_out)} is no positive number, so there "
                "is no score: take an expression that is, as 'error + 1e-9'"
            )


def warn_without_base(groups: Iterable[Group]) -> None:
    """Warn of groups without a time of base, in which no variant has a score."""
    if text := without_base(groups):
        warn(text)


def without_base(groups: Iterable[Group]) -> str:
    """Say which groups have no time of base, and what to do; "" if all have one."""
    found = [group for group in groups if not group.has_base]
    if not found:
        return ""
    first, *more = found
    several = f" and {len(more)} more" if more else ""
    name = f"{first.benchmark} {first.workload}".rstrip() + f" on {first.device}{several}"
    if "base" in first.cells:
        why = first.message("base") or first.failure("base")
        return f"{name}: base failed, so no variant has a score: {why}"
    search = f"tuner.search(..., db={store_of(first)!r})"
    if first.benchmark in _core.benchmarks():
        search = _command(first)
    return f"{name}: no time of base is there, so no variant has a score; to measure it: {search}"


def unconfirmed(
    groups: list[Group], *, by_workload: bool, here: Mapping[str, Any] | None = None
) -> str:
    """Say which variants look faster than base and were not measured again; "" if none do.

    Workloads that have a winner are not named.
    """
    parts = judged(groups, by_workload=by_workload, here=here)
    won = {key for key, group in parts if group.winner()}
    names: dict[str, Group] = {}
    for key, group in parts:
        if key not in won and (label := group.unconfirmed()):
            names.setdefault(" ".join(filter(None, [*key[1:], label])), group)
    if not names:
        return ""
    (name, group), *more = names.items()
    several = f" and {len(more)} more" if more else ""
    command = f"tuner.search(..., db={store_of(group)!r}, confirm=5)"
    if group.benchmark in _core.benchmarks():
        whole = next(one for one in groups if one.key == group.key)
        command = f"{_command(whole)} --confirm 5"
    return (
        f"{name}{several}: measured once, which may be luck, so base stays; to have the best "
        f"measured again, and used if they are FASTER: {command}"
    )


def store_of(group: Group) -> str:
    """Path of the store that a group was read from."""
    return next(cell.store for cell in group.measurements())


def _command(group: Group) -> str:
    """Search of what a group has measured, and of nothing else, in its store."""
    wanted: dict[str, list[Value]] = {name: [value] for name, value in group.ct.items()}
    declared = {axis.name: axis.values for axis in declared_axes(group.benchmark)}
    for axis in group.axes:
        measured = {rt[axis.name] for rt in group.workloads}
        # Values that a search was given are axes of their own: a part of them is another axis.
        some = [v for v in axis.values if v in measured or axis.values != declared.get(axis.name)]
        wanted[axis.name] = some
    axes = " ".join(
        f"-a {shlex.quote(f'{split_name(name)[0]}={listed}')}"
        for name, values in wanted.items()
        if (listed := ",".join(map(str, values)))
    )
    name, store = f"{re.escape(group.benchmark)}$", shlex.quote(store_of(group))
    return f"cubc search -R '{name}' {axes} --db {store} --seconds 60"


def no_winner(names: Iterable[str], groups: Sequence[Group], on_arch: str = "") -> str:
    """Message where no variant of some stores wins, with the search that goes on there."""
    names = [*dict.fromkeys(names)]
    built_in = [group for group in groups if group.benchmark in _core.benchmarks()]
    search = "tuner.search of the same benchmark into the same store"
    if built_in:
        search = _command(built_in[0])
    return (
        f"{', '.join(names)}: nothing there was found FASTER than base{on_arch}, so base stays; to "
        f"measure more variants, and the best again: {search}"
    )
