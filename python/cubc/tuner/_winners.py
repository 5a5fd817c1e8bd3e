"""Winners among measurements: who makes policies of them, or says that there are none, asks."""

from __future__ import annotations

import re
import shlex
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from cubc import _core

from ._axes import workload_text
from ._groups import Group, settle


class Winner(NamedTuple):
    """The best variant that was confirmed to be FASTER than base."""

    group: Group
    label: str
    score: float


def winners(groups: list[Group], *, by_workload: bool = False) -> list[Winner]:
    """Winners, one for each group or for each of its run-time workloads; base stays elsewhere.

    Everything that turns measurements into policies calls this. If several devices of one
    architecture were measured, the highest score wins; but nothing wins that another device of the
    model has measured again and not found FASTER.
    """
    best: dict[tuple, Winner] = {}
    for key, group in _parts(groups, by_workload):
        score, label = group.winner() or (0.0, "")
        if label and (key not in best or score > best[key].score):
            best[key] = Winner(group, label, score)
    return list(best.values())


def _parts(groups: list[Group], by_workload: bool) -> Iterator[tuple[tuple[str, ...], Group]]:
    """Groups or their parts, and what policies tell them apart by."""
    parts = [part for one in groups for part in (one.by_workload() if by_workload else [one])]
    settle(parts)
    for group in parts:
        rt = workload_text(group.workloads[0]) if by_workload else ""
        yield (group.arch, group.benchmark, group.workload, rt), group


def warn_unconfirmed(
    groups: list[Group], *, by_workload: bool = False, stacklevel: int = 3
) -> None:
    """Warn of variants that look faster than base and were not measured again.

    Workloads that have a winner are not named.
    """
    parts = [*_parts(groups, by_workload)]
    won = {key for key, group in parts if group.winner()}
    names: dict[str, None] = {}
    for key, group in parts:
        if key not in won and (label := group.unconfirmed()):
            names[" ".join(filter(None, [*key[1:], label]))] = None
    if names:
        several = f" and {len(names) - 1} more" if len(names) > 1 else ""
        warnings.warn(
            f"{next(iter(names))}{several}: measured once, which may be luck, so base stays; "
            "the same search with confirm=5 (cubc search --confirm 5) measures the best again, and "
            "what is FASTER becomes a policy",
            RuntimeWarning,
            stacklevel=stacklevel,
        )


def no_winner(names: Iterable[str], groups: Sequence[Group], where: str = "") -> str:
    """Message where no variant of some stores wins, with the search that goes on there."""
    names = [*dict.fromkeys(names)]
    built_in = [group.benchmark for group in groups if group.benchmark in _core.benchmarks()]
    search = "tuner.search of the same benchmark into the same store"
    if built_in:
        search = f"cubc search -R '{re.escape(built_in[0])}$' --db {shlex.quote(names[0])}"
    return (
        f"{', '.join(names)}: nothing there was found FASTER than base{where}, so base stays; to "
        f"measure more variants, and the best again: {search}"
    )
