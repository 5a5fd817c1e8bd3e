"""Searches replayed on what was measured before, so that a strategy is tried without a GPU.

A table is a CSV file, gzipped or not: a row a configuration, a column of whole numbers a parameter,
and a column ``time...`` that is empty where the configuration failed, with its unit in the name, as
``time_ms``. Columns ``samples...`` are passed over. A group of a store is a table too. Variants
that a table lacks are invalid.
"""

from __future__ import annotations

import csv
import gzip
import math
import os
import random
import re
import statistics
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from ._constraints import Constraint
from ._goal import UNITS
from ._space import Space, Value, in_order, parse_label

if TYPE_CHECKING:
    from ._groups import Group
    from ._strategy import Factory


class TableSpace(Space):
    """A measured table as a space.

    Attributes
    ----------
    times : dict of str to float or None
        Time of each variant; None for one that failed.
    unit : float or None
        Seconds of a unit of the times; None if it is not known.
    best : float
        The least of the times; infinite if all variants failed.
    """

    def __init__(self, times: Mapping[str, float | None], unit: float | None = None):
        if not times:
            raise ValueError("a table without a row is no space")
        self.times, self.unit = dict(times), unit
        self._constraints: list[Constraint] = []
        values: dict[str, set[Value]] = {}
        for label in times:
            for name, value in parse_label(label).items():
                values.setdefault(name, set()).add(value)
        self.ranges = {name: in_order(found) for name, found in values.items()}
        self.size = math.prod(map(len, self.ranges.values()))
        worked = [time for time in self.times.values() if time is not None]
        self.best = min(worked, default=math.inf)
        # Scores are against it.
        self.base = statistics.median_low(worked) if worked else math.inf

    @cached_property
    def _numbered(self) -> dict[str, int]:
        """Numbers of all labels, the least first."""
        lengths = [len(values) for values in self.ranges.values()]
        at = [{value: i for i, value in enumerate(values)} for values in self.ranges.values()]
        found = []
        for label in self.times:
            number = 0
            for value, length, places in zip(parse_label(label).values(), lengths, at, strict=True):
                number = number * length + places[value]
            found.append((number, label))
        return {label: number for number, label in sorted(found)}

    def constrain(self, constraints: Iterable[Constraint]) -> None:
        """Let only such variants be valid as fulfil some constraints on the parameters."""
        self._constraints = [one for one in constraints if not one.needs_compiling]

    def valid(self, label: str) -> bool:
        """True if the table has a variant that fulfils the constraints."""
        if label not in self.times:
            return False
        values = parse_label(label) if self._constraints else {}
        return all(holds(values) for holds in self._constraints)

    def numbers(self, rng: random.Random | None = None) -> Iterator[int]:
        """Numbers of the valid variants: of a large space a table may have very few."""
        found = [number for label, number in self._numbered.items() if self.valid(label)]
        if rng is not None:
            rng.shuffle(found)
        yield from found

    def count(self) -> int:
        """Count the valid variants."""
        return sum(map(self.valid, self.times))

    def score(self, label: str) -> float | None:
        """Score of a variant against the median one; None if it failed."""
        time = self.times[label]
        return None if time is None else self.base / time


def read_table(path: str | os.PathLike) -> TableSpace:
    """Read a measured table.

    Raises
    ------
    OSError
        If there is no such file, or it cannot be read.
    ValueError
        If it is no such table; the message has the line.
    """
    opener = gzip.open if str(path).endswith(".gz") else open
    times: dict[str, float | None] = {}
    with opener(path, "rt", newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file)
        names = next(rows, [])
        timed = [at for at, name in enumerate(names) if name.startswith("time")]
        if len(timed) != 1:
            raise ValueError(
                f"{path} has columns {names}; one of them must be time_..., and one only"
            )
        for name, many in Counter(names).items():
            if many > 1:
                raise ValueError(f"{path} has the column {name!r} {many} times")
        skipped = {at for at, name in enumerate(names) if name.startswith("samples")} | {*timed}
        parameters = [(name, at) for at, name in enumerate(names) if at not in skipped]
        if not parameters:
            raise ValueError(f"{path} has columns {names}; at least one must be a parameter")
        for row in filter(None, rows):  # one of no column is an empty line
            try:
                if len(row) != len(names):
                    raise ValueError(f"{len(row)} columns, where the first line has {len(names)}")
                label = ".".join(f"{name}_{_whole(name, row[at])}" for name, at in parameters)
                time = _time(row[timed[0]])
            except ValueError as error:
                raise ValueError(f"{path}, line {rows.line_num}: {error}") from None
            if label in times:
                raise ValueError(f"{path}, line {rows.line_num}: {label} was on a line before")
            times[label] = time
    if not times:
        raise ValueError(f"{path} has no row")
    return TableSpace(times, _unit(names[timed[0]]))


def _unit(column: str) -> float | None:
    """Seconds of the unit that the name of a column ends with, as ``time_ms`` and ``time (us)``."""
    found = re.search(r"[\W_](s|ms|us|µs|ns)\W*$", column)
    return UNITS[found[1]] if found else None


def _whole(name: str, text: str) -> int:
    if not re.fullmatch(r"\s*\d{1,18}\s*", text, re.ASCII):
        raise ValueError(f"{name} is {text!r:.40}; parameters are whole numbers from 0")
    return int(text)


def _time(text: str) -> float | None:
    if not text:
        return None
    try:
        time = float(text)
    except ValueError:
        time = math.nan
    if not 0 < time < math.inf:
        raise ValueError(f"{text!r:.40} is no time")
    return time


def stored_table(group: Group) -> TableSpace:
    """Table of a group of measurements: the times are relative to base."""
    scores = {label: group.score(label) for label in group.cells if label != "base"}
    return TableSpace({label: score and 1 / score for label, score in scores.items()})


def replay(
    factory: Factory, table: TableSpace, budget: int, seed: int = 0, ahead: int = 1
) -> list[float]:
    """Search a table instead of a device.

    Parameters
    ----------
    factory
        Makes the strategy, of (space, seed).
    table
        Measurements.
    budget
        Number of variants to try, failures included.
    seed
        Seed of the strategy.
    ahead
        Variants that are asked for before the first of them is told, as a driver that compiles
        ahead does.

    Returns
    -------
    list of float
        Least time after each variant, infinite before the first that did not fail. It is shorter
        than the budget if the strategy has named everything.
    """
    strategy = factory(table, seed)
    asks = islice(iter(strategy.ask, None), budget)
    waiting: deque[str] = deque(islice(asks, ahead))
    curve, best = [], math.inf
    while waiting:
        label = waiting.popleft()
        strategy.tell(label, table.score(label))
        best = min(best, table.times[label] or math.inf)
        curve.append(best)
        waiting.extend(islice(asks, 1))
    return curve
