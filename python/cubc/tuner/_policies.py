"""Policies of a store: its winners become what the next call runs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from cubc import _core
from cubc._core import StoreError
from cubc._first_call import hasten, wait_for
from cubc._logging import POLICY, say

from . import _policy_text as policy_text
from ._axes import workload_text
from ._groups import Group
from ._policy_text import Policy
from ._stores import StorePaths, expand, read
from ._warning import warn
from ._winners import Part, best, judged, store_of, unconfirmed, undecided, warn_unconfirmed


def from_variable(paths: StorePaths) -> None:
    """Apply the policies of stores that all processes of a shell have in a variable.

    Measurements of a device in several states are chosen from before its first call: an import asks
    no device, which would start CUDA. Variants that were not measured again are named in the log
    ("cubc.policy"): a warning would come with each import.
    """
    files = _read(paths)
    late = undecided(files.current)
    for arch in late:
        wait_for(arch, partial(_apply_at_call, files.of({arch})))
    _apply_and_say(files.of(files.archs - late))


def _apply_at_call(files: _Files, here: Mapping[str, Any] | None) -> None:
    """Apply what waited for a call, which must not fail of a stale variable, as an import."""
    try:
        _apply_and_say(files, here)
    except (OSError, StoreError, ValueError) as error:
        warn(f"CUBC_POLICIES is ignored: {error}")


def _apply_and_say(files: _Files, here: Mapping[str, Any] | None = None) -> None:
    _use(_policies(files, here))
    if text := unconfirmed(files.current, by_workload=True, here=here):
        say(POLICY, f"CUBC_POLICIES: {text}")


def apply(paths: StorePaths) -> int:
    """Apply the policies of stores; see `cubc.use_policies`."""
    hasten()  # those of the variable come first
    files = _read(paths)
    policies = _policies(files)
    warn_unconfirmed(files.current, by_workload=True)
    return _use(policies)


def _use(policies: dict[tuple, Policy]) -> int:
    """Bring policies into force; their number without base."""
    for one in policies.values():  # each is checked before the first is used
        _core.base(one.benchmark, one.ct, one.arch, one.rt)
    for one in policies.values():
        _core.use_policy(one.benchmark, one.ct, one.arch, one.label, one.rt)
    return sum(one.label != "base" for one in policies.values())


class _Files(NamedTuple):
    """Contents of stores and of files of policies, whose paths are in their order."""

    paths: list[str]
    texts: dict[str, list[Policy]]
    current: list[Group]

    @property
    def archs(self) -> set[str]:
        known = {one.arch for several in self.texts.values() for one in several}
        return known.union(group.arch for group in self.current)

    def of(self, archs: set[str]) -> _Files:
        """Return the contents for some architectures."""
        texts = {
            path: [one for one in several if one.arch in archs]
            for path, several in self.texts.items()
        }
        return _Files(self.paths, texts, [one for one in self.current if one.arch in archs])


def _read(paths: StorePaths) -> _Files:
    """Read stores and files of policies, and say what is passed over."""
    names = expand(paths)
    texts = {path: policy_text.read(path) for path in names if policy_text.is_text(path)}
    stale = {one.benchmark for several in texts.values() for one in several if not one.current}
    groups = [g for path in names if path not in texts for g in read(path, bad="raise")]
    old, users = passed(groups)
    for path, several in texts.items():
        texts[path] = [one for one in several if one.current and _checked(path, one)]
    for text in passed_over(stale | old, users):
        warn(text)
    return _Files(names, texts, [group for group in groups if group.current])


def _policies(files: _Files, here: Mapping[str, Any] | None = None) -> dict[tuple, Policy]:
    """Policies of files by their keys; the last file wins.

    Stores are judged together: what one of them found wrong wins in none.
    """
    found: dict[tuple, Policy] = {}
    parts = judged(files.current, by_workload=True, here=here)
    chosen: dict[tuple, tuple[Group, str]] = {}
    for path in files.paths:
        if path not in files.texts:
            place = os.path.abspath(path)
            chosen |= _of_parts([part for part in parts if store_of(part[1]) == place])
            continue
        found.update(_of_calls(chosen.values()))
        chosen.clear()
        found.update({one.key: one for one in files.texts[path]})
    found.update(_of_calls(chosen.values()))
    return found


def passed_over(stale: set[str], users: set[str]) -> Iterator[str]:
    """Say why measurements of some benchmarks become no policies."""
    if stale:
        yield (
            f"{', '.join(sorted(stale))}: some measurements were skipped because they were "
            "taken with another version of the kernel; search again to renew them"
        )
    if users:
        yield (
            f"{', '.join(sorted(users))}: kernels of one's own have no policy that cubc "
            "would use; cubc policy --header writes their constants"
        )


def passed(groups: Iterable[Group]) -> tuple[set[str], set[str]]:
    """Benchmarks of another version of a kernel, and kernels of one's own."""
    every = {group.benchmark for group in groups if not group.current}
    users = every.difference(_core.benchmarks())
    return every - users, users


def _checked(path: str, one: Policy) -> bool:
    reason: str | None = None
    try:
        if one.label != "base":
            reason = _core.variant_invalid(one.benchmark, one.ct, one.arch, one.label, one.rt)
    except ValueError as error:
        reason = str(error)
    if reason:
        raise _core.StoreError(f"{path}: {one.benchmark}: {reason}")
    return True


def save_policies(groups: list[Group], path: str | os.PathLike) -> int:
    """Write the policies of some groups to a file of text; their number without base."""
    current = [group for group in groups if group.current]
    for text in passed_over(*passed(groups)):
        warn(text)
    warn_unconfirmed(current, by_workload=True)
    found = _of_calls(_of_parts(judged(current, by_workload=True)).values())
    policy_text.write(os.fspath(path), found.values())
    return sum(one.label != "base" for one in found.values())


def _of_calls(chosen: Iterable[tuple[Group, str]]) -> dict[tuple, Policy]:
    """Variants that differ in more than what keys are like, which no call knows of its own.

    Of several a winner comes before base, and one that was found with keys of some likeness before
    one that was found with a benchmark's own.
    """
    ranked: dict[tuple, tuple[tuple[bool, bool], Group, str]] = {}
    for group, label in chosen:
        rt, likeness = group.workloads[0], _core.key_axes(group.benchmark)
        place = {name: value for name, value in rt.items() if name not in likeness}
        key = (group.arch, group.benchmark, group.workload, workload_text(place))
        rank = (label != "base", len(place) < len(rt))
        if key not in ranked or rank >= ranked[key][0]:
            ranked[key] = rank, group, label
    found = (_policy(group, label) for _, group, label in ranked.values())
    return {one.key: one for one in found}


def _policy(group: Group, label: str) -> Policy:
    at = group.workloads[0]
    return Policy(group.arch, group.benchmark, group.ct, at, group.source_hash, label)


def _of_parts(parts: list[Part]) -> dict[tuple, tuple[Group, str]]:
    """Variants for the run-time workloads of groups that have a winner, by what tells them apart.

    Base is one of them: it stays at the workloads that were measured and have no winner.
    """
    won = best(parts)
    tuned = {(one.group.arch, one.group.benchmark, one.group.workload) for one in won}
    found = {key: (group, "base") for key, group in parts if key[:3] in tuned}
    return found | {_key(one.group): (one.group, one.label) for one in won}


def _key(group: Group) -> tuple[str, ...]:
    return group.arch, group.benchmark, group.workload, workload_text(group.workloads[0])
