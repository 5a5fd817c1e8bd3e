"""The points of a space by their places, and the record of which were named: shared by strategies.

A point is a tuple of places, one a parameter: the position of its value in the parameter's range.
`PointStrategy` names no point twice, and none that is invalid, as every strategy that learns must.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from heapq import nsmallest
from itertools import islice

from .._space import Space, Value, parse_label

Point = tuple[int, ...]

MANY = 64  # values of a parameter that are looked at around a point
MISSES = 200_000  # points that may be of no use before a draw gives up, after some seconds


class PointStrategy:
    """Base of the strategies that learn; a subclass says which point it would like next.

    Attributes
    ----------
    scores : dict of Point to float or None
        Scores that were told, None for a failure; asked and untold points are not in it.
    asked : int
        Number of points that this strategy named itself.
    """

    def __init__(self, space: Space, seed: int = 0):
        self.space, self.rng = space, random.Random(seed)
        self.shape = tuple(map(len, space.ranges.values()))
        self.scores: dict[Point, float | None] = {}
        self.asked = 0
        self._named: dict[Point, None] = {}  # in the order in which they were
        self._labels: dict[Point, str] = {}  # of points that were looked up; "" of invalid ones
        self._awaited: dict[str, Point] = {}  # by label: asked and not told
        self._rest = space.numbers(random.Random(seed))

    def ask(self) -> str | None:
        """Label of the next variant: what the strategy likes best, else any that is left."""
        point = self.propose()
        if point is None:
            point = self.draw()
        if point is None:
            return None
        self._named[point] = None
        self.asked += 1
        label = self.label(point)
        self._awaited[label] = point
        return label

    def tell(self, variant: str, score: float | None) -> None:
        """Take note of a variant's score, None for one that failed, whoever named the variant."""
        point = self._awaited.pop(variant, None) or self.point(variant)
        if point is not None:
            self._named[point] = None
            self.scores[point] = score
            self.learn(point, score)

    def propose(self) -> Point | None:
        """Give a free point that looks good; None without a preference."""
        raise NotImplementedError

    def learn(self, point: Point, score: float | None) -> None:
        """Act on an outcome, for strategies that do."""

    def draw(self) -> Point | None:
        """Next free point of a random order of the whole space; None if none is left or found."""
        return self.first(map(self._point, islice(self._rest, MISSES)))

    def first(self, points: Iterable[Point]) -> Point | None:
        """First free point of some."""
        return next(filter(self.free, points), None)

    def free(self, point: Point) -> bool:
        """True if a point was not named yet and is valid; the latter is looked up once."""
        if point in self._named:
            return False
        label = self._labels.get(point)
        if label is None:
            label = label_at(self.space, point)
            self._labels[point] = label = label if self.space.valid(label) else ""
        return bool(label)

    def best(self, count: int) -> list[Point]:
        """Return the points told with the highest scores, best first."""
        worked = ((-score, point) for point, score in self.scores.items() if score is not None)
        return [point for _, point in nsmallest(count, worked)]

    def label(self, point: Sequence[int]) -> str:
        """Label of a point."""
        return self._labels.get(tuple(point)) or label_at(self.space, point)

    def point(self, label: str) -> Point | None:
        """Point of a label; None if the space does not have it."""
        return place(self.space, label)

    def neighbours(self, point: Point) -> list[Point]:
        """Points that differ from one in a single parameter, whether valid or not.

        All of them, but of a parameter with more than `MANY` values that many, drawn anew.
        """
        return [
            (*point[:at], place, *point[at + 1 :])
            for at, length in enumerate(self.shape)
            for place in self._places(length)
            if place != point[at]
        ]

    def _places(self, length: int) -> Iterable[int]:
        return range(length) if length <= MANY else self.rng.sample(range(length), MANY)

    def _point(self, number: int) -> Point:
        places = []
        for length in reversed(self.shape):
            number, place = divmod(number, length)
            places.append(place)
        return tuple(reversed(places))


def label_at(space: Space, point: Sequence[int]) -> str:
    """Label of a point in a space."""
    named = zip(space.ranges.items(), point, strict=True)
    return ".".join(f"{name}_{values[at]}" for (name, values), at in named)


def place(space: Space, label: str) -> Point | None:
    """Point of a label in a space; None if the space does not have it."""
    try:
        values = parse_label(label)
        found = tuple(map(_index, space.ranges.values(), values.values()))
    except ValueError:
        return None
    written = ".".join(f"{name}_{value}" for name, value in values.items())
    return found if list(values) == list(space.ranges) and written == label else None


def _index(values: Sequence[Value], value: Value) -> int:
    return values.index(value)  # a range does it by arithmetic
