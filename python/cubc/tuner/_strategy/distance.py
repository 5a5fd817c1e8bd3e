"""Distances between points of a space: how alike two variants are, parameter by parameter.

Three things can make two values of a parameter unlike, and each is a part of the distance. Names
have the last of them alone.

- Their size. Positive values are taken as logarithms, for powers of two are steps alike.
- Their divisors: how often 2 divides them, and what is left. A block of 96 threads lies between
  64 and 128, but these divide the lengths of most problems evenly, which often makes them fast.
- That they differ at all, as the values of a switch do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from .._space import Value, named
from .points import MANY, Point

UNLIKE = 0.5  # squared distance of any two values, beside parts that reach from 0 to 1


class Distances:
    """Squared distances between points, a part for each parameter that has several values.

    On average two values of a parameter are at 1, so that parameters are alike before anything is
    known about them.
    """

    def __init__(self, ranges: Sequence[Sequence[Value]]):
        self._length = len(ranges)
        self._at = [at for at, values in enumerate(ranges) if len(values) > 1]
        self._ranges = [ranges[at] for at in self._at]
        self.count = len(self._at)
        self._unlike: list[float] = []
        self._steps: list[np.ndarray] = []
        self._rows: list[np.ndarray | None] = []  # of each value; None where there are too many
        widths = []
        for values in self._ranges:
            sample = np.unique(np.linspace(0, len(values) - 1, MANY).astype(int))
            traits = _traits(values, sample)
            low, high = traits.min(axis=0), traits.max(axis=0)
            steps = np.where(high > low, high - low, 1)
            traits /= steps
            apart = ((traits[:, None] - traits) ** 2).sum(-1) + UNLIKE
            mean = apart[~np.eye(len(sample), dtype=bool)].mean()
            self._steps.append(steps * np.sqrt(mean))
            self._unlike.append(UNLIKE / mean)
            # Two different values are sqrt(2) apart in columns that have a 1 for each value.
            each = np.sqrt(UNLIKE / mean / 2) * np.eye(len(sample))
            own = [] if named(values) else [traits / np.sqrt(mean)]
            rows = np.hstack([*own, each]) if len(sample) == len(values) else None
            self._rows.append(rows)
            widths.append((traits if rows is None else rows).shape[1])
        self._of = np.repeat(np.arange(self.count), widths)  # parameter of each column
        self._starts = np.cumsum([0, *widths])[:-1]  # first column of each parameter

    def see(self, points: Sequence[Point]) -> Seen:
        """Turn points into what distances are computed from."""
        places = np.array(points, int).reshape(len(points), self._length)[:, self._at]
        columns = [
            _traits(values, column) / steps if rows is None else rows[column]
            for values, column, steps, rows in zip(
                self._ranges, places.T, self._steps, self._rows, strict=True
            )
        ]
        whole = np.hstack(columns)
        return Seen(places, whole, np.add.reduceat(whole**2, self._starts, axis=1))

    def squared(self, one: Seen, other: Seen, weights: np.ndarray) -> np.ndarray:
        """Weighted sum over the parameters, for each of some points (rows) and of others."""
        found = (one.columns * (-2 * weights[self._of])) @ other.columns.T
        found += (one.squares @ weights)[:, None]
        found += other.squares @ weights
        np.maximum(found, 0, out=found)  # rounding
        for at, rows in enumerate(self._rows):
            if rows is None:
                differ = one.places[:, at, None] != other.places[:, at]
                found += (weights[at] * self._unlike[at]) * differ
        return found


class Seen:
    """Points as `Distances` sees them: their places, and columns whose differences it squares.

    `squares` are the columns' squares, added up for each parameter.
    """

    def __init__(self, places: np.ndarray, columns: np.ndarray, squares: np.ndarray):
        self.places, self.columns, self.squares = places, columns, squares

    def __getitem__(self, which: np.ndarray | slice) -> Seen:
        return Seen(self.places[which], self.columns[which], self.squares[which])

    def joined(self, other: Seen) -> Seen:
        """These points and others."""
        return Seen(
            np.concatenate([self.places, other.places]),
            np.concatenate([self.columns, other.columns]),
            np.concatenate([self.squares, other.squares]),
        )


def _traits(several: Sequence[Value], places: np.ndarray) -> np.ndarray:
    """Size and divisors of the values at some places; a range may be long and is never listed.

    Names have a column of zeros, for each parameter needs one.
    """
    if named(several):
        return np.zeros((len(places), 1))
    values = cast("Sequence[int]", several)
    if isinstance(values, range):
        found = values.start + values.step * places.astype(np.int64)
        low, high = sorted((values[0], values[-1]))
    else:
        found = np.array(values)[places]
        low, high = min(values), max(values)
    size = np.log2(found) if low > 0 else found.astype(float)
    if high <= 2:  # a switch
        return size[:, None]
    magnitude = np.maximum(np.abs(found), 1)
    twos = np.log2(magnitude & -magnitude)
    return np.stack([size, twos, np.log2(magnitude) - twos], axis=1)
