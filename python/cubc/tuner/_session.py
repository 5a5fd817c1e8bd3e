"""Session of a search: what the searches of its workloads share, as the store and the progress."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from cubc import _core
from cubc._progress import Progress

from ._goal import Goal
from ._measurer import Source
from ._objective import Objective
from ._warning import warn


class Session:
    """Things that the workloads of a search share: store, progress, and how to measure.

    Parameters
    ----------
    path, source
        Store in which results are kept, and who measures.
    timing
        Options of ``Workload.measure``.
    racing
        True if a variant that cannot win any more is not measured further.
    confirm
        Number of the best variants to confirm; 0 for none.
    goal
        What is enough.
    objective
        What is looked for. Races are of time alone.
    progress
        True for a line of progress; None for one where somebody is there to read it.
    """

    def __init__(
        self,
        path: str,
        source: Source,
        timing: dict[str, Any],
        *,
        racing: bool,
        confirm: int,
        goal: Goal,
        objective: Objective,
        progress: bool | None,
    ):
        self.path, self.store = path, _core.Store(path, True)
        self.place = os.path.abspath(path)
        warn_if_slow(path, has_log=self.store.has_log())
        self.timing = timing
        self.racing = racing and objective.is_time
        self.confirm = confirm
        self.goal, self.objective = goal, objective
        self._until: float | None = None
        self._base_was_asked = False
        self._device = ""
        self.measured_on(source.info)
        self.progress = Progress(progress, lambda: source.compiling)

    def plan(self, total: int, until: float | None) -> None:
        """Take in `total` more variants, of a search that ends at the moment `until`."""
        self.progress.plan(total, until)
        self._until = until

    def base_until(self) -> float | None:
        """Moment up to which base may take; None at the first call.

        So the first base is measured, however short the search is.
        """
        was_asked, self._base_was_asked = self._base_was_asked, True
        return self._until if was_asked else None

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: type | None, *exception: object) -> None:
        self.progress.close()
        self.store.close()

    def measured_on(self, info: Mapping[str, Any]) -> None:
        """Set the device of the rows that are stored from now on."""
        if info["uuid"] != self._device:
            self.store.set_device(dict(info))
            self._device = info["uuid"]

    def add_all(
        self, rows: list[dict[str, Any]], devices: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Store rows with the device of each, in one transaction, and give them as stored."""
        if all(info["uuid"] == self._device for info in devices):
            return self.store.add_all(rows)
        self._device = ""  # after an error none is set
        stored = self.store.add_all(rows, devices)
        self._device = devices[-1]["uuid"]
        return stored


def warn_if_slow(path: str, *, has_log: bool) -> None:
    """Warn of a store on a file system that SQLite cannot share memory over, once for each path."""
    if has_log or path in _warned:
        return
    _warned.add(path)
    warn(
        f"{path} lies on a file system without SQLite's log (WAL), such as one of a network: each "
        "result waits for its disk, and one search at a time may write; for more speed take a "
        "store on a local disk, and put stores together by `cubc merge a.db b.db -o all.db`"
    )


_warned: set[str] = set()
