"""Searches: what is asked for, checked before anything is built, and what came of it."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from cubc import _core

from . import axes as ax
from . import records
from .analyze import Analysis
from .driver import Driver, Visit
from .process import BaseFailed
from .space import Space
from .strategy import Strategy, make
from .unit import units

TIMING = ("min_samples", "max_samples", "max_noise", "timeout")  # options of Workload.measure


class Result(Analysis):
    """What a search found: the analysis of the workloads that it was asked for.

    Attributes
    ----------
    failed : dict of str to str
        Why a compile-time workload could not be searched, by its name.
    """

    def __init__(self, groups: list[records.Group], failed: dict[str, str]):
        super().__init__(groups)
        self.failed = failed


class Search:
    """A search that is checked and ready to run; `search` describes the parameters."""

    def __init__(
        self,
        benchmark: str,
        axes: Mapping[str, Any] | None = None,
        *,
        db: str | os.PathLike = "cubc_meta_bench.db",
        device: str | None = None,
        strategy: str | Callable[[Space, int], Strategy] = "random",
        variants: int | None = None,
        seconds: float | None = None,
        seed: int = 0,
        timing: Mapping[str, float] | None = None,
        progress: bool | None = None,
    ):
        if variants is not None and (not isinstance(variants, int) or variants < 1):
            raise ValueError(f"variants is {variants!r}, must be a whole number of at least 1")
        if seconds is not None and not seconds > 0:
            raise ValueError(f"seconds is {seconds}, must be positive")
        for name in timing or {}:
            if name not in TIMING:
                raise ax.unknown("the measurement", "option", name, TIMING)
        self.strategy = make(strategy)
        self.device = _core.device_info(device)
        self.units = units(benchmark, axes, self.device["arch"])
        self.db = os.fspath(db)
        self.variants, self.seconds, self.seed = variants, seconds, seed
        self.timing, self.progress = dict(timing or {}), progress

    def run(self) -> Result:
        """Search all compile-time workloads, one after another.

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C, after what was measured is safe.
        BaseFailed
            If base runs for none of the workloads.
        StoreError
            If the store cannot be read or written.
        """
        failed = {}
        store = _core.Store(self.db, True)
        try:
            store.set_device(self.device)
            visits = self._visits()
            with Driver(store, self.device, self.timing) as driver:
                driver.show(sum(visit.expected for visit in visits), self.progress)
                for visit, until in zip(visits, self._deadlines(len(visits)), strict=True):
                    try:
                        visit.run(driver, until)
                    except BaseFailed as error:
                        failed[str(visit.unit)] = str(error)
        except KeyboardInterrupt:
            kept = f"{self.db} holds what was measured; the same search resumes there"
            print(f"cubc: stopped: {kept}", file=sys.stderr)
            raise
        finally:
            store.close()
        return self._result(failed)

    def _visits(self) -> list[Visit]:
        stored = records.read(self.db)
        return [
            Visit(
                unit,
                self.strategy(unit.space, self.seed),
                unit.group(self.device, stored),
                self.variants,
            )
            for unit in self.units
        ]

    def _deadlines(self, count: int):
        """Moment at which each visit has to end, so that the time left is shared evenly."""
        end = time.monotonic() + (self.seconds or 0)
        for left in range(count, 0, -1):
            now = time.monotonic()
            yield None if self.seconds is None else now + (end - now) / left

    def _result(self, failed: dict[str, str]) -> Result:
        for name, reason in failed.items():
            message = f"{name}: base does not run: {reason}"
            if len(failed) == len(self.units):
                raise BaseFailed(message)
            warnings.warn(message, RuntimeWarning, stacklevel=4)
        stored = records.read(self.db)
        groups = [unit.group(self.device, stored) for unit in self.units]
        return Result([group for group in groups if group.cells], failed)


def search(
    benchmark: str,
    axes: Mapping[str, Any] | None = None,
    *,
    db: str | os.PathLike = "cubc_meta_bench.db",
    device: str | None = None,
    strategy: str | Callable[[Space, int], Strategy] = "random",
    variants: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    timing: Mapping[str, float] | None = None,
    progress: bool | None = None,
) -> Result:
    """Search the parameter space of a benchmark for variants that are faster than base.

    Each variant is compiled, verified against base and timed alternately with it, in a process of
    its own, at all run-time workloads. Everything is kept in the store; what is there already is
    not measured again, so that the same call resumes an interrupted search.

    Parameters
    ----------
    benchmark
        Name such as ``"reduce.sum"``, or a regular expression that names match from their start.
    axes
        Axis name (``"T{ct}"`` or ``"T"``) to one declared value or several. All declared values of
        the axes that are left out are searched.
    db
        Path of the store, made if it is not there.
    device
        ``"cuda:0"``, ``"cpu"``; the default device if None.
    strategy
        ``"random"``, ``"exhaustive"``, or a callable of (space, seed) that makes a strategy.
    variants
        How many variants to visit at each compile-time workload, those that the store has already
        included; the whole space if None.
    seconds
        Wall time after which no further variant is begun, shared by the compile-time workloads.
    seed
        Decides the order. The same seed gives the same order.
    timing
        Options of ``Workload.measure``: min_samples, max_samples, max_noise (relative standard
        error of the median), timeout (seconds). The device's defaults where left out.
    progress
        Show a line of progress; None shows it in terminals and notebooks.

    Returns
    -------
    Result
        With ``best()``, ``scores()``, ``to_frame()``, ``top()`` and ``coverage()``.

    Raises
    ------
    LookupError
        For an unknown benchmark, axis, strategy or option, with the nearest name.
    ValueError
        For an axis value that is not declared, with the declared ones, and for a budget that is not
        positive. Nothing has been built then.
    NoDeviceError
        If the device is not there.
    BaseFailed
        If base runs for none of the workloads; the message has the compiler's log.
    StoreError
        If the store cannot be read or written.
    KeyboardInterrupt
        On Ctrl-C; what was measured is in the store.
    """
    return Search(
        benchmark,
        axes,
        db=db,
        device=device,
        strategy=strategy,
        variants=variants,
        seconds=seconds,
        seed=seed,
        timing=timing,
        progress=progress,
    ).run()
