"""Results of a compile-time workload on all devices that measure for a search.

A variant is compared with base on the device that measured it. Where several devices measure, most
variants run on one of them only. If more than one has measured a variant, the device with the most
measurements of it counts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ._groups import Group, Measurement, fullest
from ._objective import TIME, Objective, figures, value
from ._status import COMPILE_ERROR, LOST, OF_MACHINE, OK, PRUNED
from ._workload import CompileTimeWorkload


class WorkloadResults:
    """Groups of one compile-time workload, one per device.

    Parameters
    ----------
    workload
        Workload that is searched.
    info
        Info of the device that measures, or of one of several.
    stored
        Groups that the store holds.
    several
        True if other devices of the same model measure too.
    objective
        What scores are of.
    """

    def __init__(
        self,
        workload: CompileTimeWorkload,
        info: Mapping[str, Any],
        stored: Iterable[Group],
        *,
        several: bool,
        objective: Objective = TIME,
    ):
        self._workload, self._objective = workload, objective
        self._stored = [dataclasses.replace(group, objective=objective) for group in stored]
        self._groups = {info["uuid"]: self._new_group(info)}
        if several:
            for group in self._stored:
                if group.model_key == self._groups[info["uuid"]].model_key:
                    self._groups[group.device_uuid] = group.only(workload.rts)
        self._refused = set(self._broken_of_store())
        self._measured: dict[str, list[Group]] = {}  # by variant: of a hundred devices, few have it
        for group in self.groups:
            self._note(group)

    def _broken_of_store(self) -> Iterator[str]:
        """Stored variants that a constraint on what the compiler made of them leaves out."""
        if not self._workload.limits:
            return
        for group in self.groups:
            for variant, cells in group.cells.items():
                worked = [cell for cell in cells.values() if cell.status == OK]
                if variant != "base" and not all(
                    self._workload.admits_compiled(variant, figures(cell)) for cell in worked
                ):
                    yield variant

    def admits(self, variant: str) -> bool:
        """True if a label is base's, or fulfils the constraints, as far as it is known."""
        return variant not in self._refused and self._workload.admits(variant)

    def _note(self, group: Group) -> None:
        """Note which variants a group has."""
        for variant in group.cells.keys() | group.rounds.keys() | group.wrong:
            self._note_variant(variant, group)

    def _note_variant(self, variant: str, group: Group) -> None:
        having = self._measured.setdefault(variant, [])
        if not having or (having[-1] is not group and all(one is not group for one in having)):
            having.append(group)

    def _new_group(self, info: Mapping[str, Any]) -> Group:
        """Group of a device, with what the store holds of it."""
        made = self._workload.group(info, self._stored)
        made.objective = self._objective
        return made

    def include(self, info: Mapping[str, Any]) -> None:
        """Take in what the store holds of another device that has measured."""
        if info["uuid"] not in self._groups:
            self._groups[info["uuid"]] = self._new_group(info)
            self._note(self._groups[info["uuid"]])

    @property
    def groups(self) -> list[Group]:
        """The groups, that of the device itself first."""
        return [*self._groups.values()]

    def add(self, info: Mapping[str, Any], measurement: Measurement) -> None:
        """Take in what a device measured."""
        group = self._groups.get(info["uuid"])
        if group is None:
            group = self._groups[info["uuid"]] = self._new_group(info)
            self._note(group)
        group.add(measurement)
        self._note_variant(measurement.variant, group)

    def variants(self) -> list[str]:
        """All labels but base, in measured order."""
        labels = dict.fromkeys(label for group in self.groups for label in group.cells)
        return [label for label in labels if label != "base"]

    def group_of(self, variant: str) -> Group:
        """Group that counts for a variant: one in which it was wrong, else the fullest."""
        having = self._measured.get(variant) or self.groups[:1]
        return having[0] if len(having) == 1 else fullest(having, variant)

    def knows(self, variant: str) -> bool:
        """True if a device has measured a variant, in part at least."""
        return variant in self._measured

    def has(self, variant: str, round_number: int, rt: str) -> bool:
        """True if the device that counts has measured a variant at a workload in a round."""
        group = self.group_of(variant)
        if round_number:
            return rt in group.rounds.get(variant, {}).get(round_number, ())
        return rt in group.cells.get(variant, ())

    def must_retry(self, variant: str, rt: str, *, racing: bool) -> bool:
        """True if a variant was skipped for a reason that this search does not share."""
        cell = self.group_of(variant).cells.get(variant, {}).get(rt)
        if cell is not None and cell.status == COMPILE_ERROR:
            return any(text in cell.message for text in OF_MACHINE)
        if cell is None or cell.status not in (LOST, PRUNED):
            return False
        if cell.status == LOST:
            return not racing
        return cell.message not in {f"{limit} does not hold" for limit in self._workload.limits}

    def speedups(self, variant: str) -> list[float] | None:
        """Speedup at each run-time workload; None if one is not known."""
        found = [*self.group_of(variant).speedups(variant).values()]
        return found if len(found) == len(self._workload.rts) else None

    def seconds(self, variant: str) -> list[float]:
        """Time at each run-time workload; none if one is not known."""
        cells = self.group_of(variant).cells.get(variant, {}).values()
        found = [cell.center for cell in cells if cell.status == OK and cell.center]
        return found if len(found) == len(self._workload.rts) else []

    def without_figures(self) -> Measurement | None:
        """Measurement without what the objective is of, or base's if that is no positive number."""
        cells = (cell for group in self.groups for cell in group.measurements())
        worked = (cell for cell in cells if cell.status == OK and not cell.round)
        names = frozenset().union(*(part.names for part in self._objective.parts))
        return next(
            (
                cell
                for cell in worked
                if not names <= figures(cell).keys()
                or (cell.variant == "base" and self._worthless(cell))
            ),
            None,
        )

    def _worthless(self, cell: Measurement) -> bool:
        return any(value(part, figures(cell)) is None for part in self._objective.parts)

    def has_rounds(self, variant: str) -> bool:
        """True if a variant has been measured in a round of confirmation."""
        return bool(self.group_of(variant).rounds.get(variant))

    def confirmed_once(self) -> Iterator[tuple[str, str]]:
        """Variants that win, if only at one workload, on the one device that measured them again.

        The device is given by its uuid.
        """
        having: dict[str, list[Group]] = {}
        for group in self.groups:
            for variant in group.rounds:
                having.setdefault(variant, []).append(group)
        for variant, (group, *others) in having.items():
            alone = group.among(lambda label, kept=variant: label in ("base", kept))  # type: ignore[misc]
            if not others and any(one.wins(variant) for one in [alone, *alone.by_workload()]):
                yield variant, group.device_uuid

    def ranked(self) -> list[str]:
        """Admitted labels that have a speedup at all run-time workloads, best first.

        Base is not among them.
        """
        admitted = filter(self.admits, self.variants())
        complete = (v for v in admitted if self.speedups(v) is not None)
        scored = ((self.group_of(variant).score(variant), variant) for variant in complete)
        return [v for _, v in sorted((-s, v) for s, v in scored if s is not None)]
