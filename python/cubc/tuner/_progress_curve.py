"""Progress of a search: the best score so far, and what random search would have found.

A search that learns measures mostly good variants, so the scores that it has are not those of the
space: a random order of them finds far more than random search does. Therefore each measured
variant stands for the part of the space that is nearest to it. The model of the default strategy
learns from these scores which variants are near: those that differ in parameters of little effect.
The size of each part is estimated by variants drawn at random from the space.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cubc._extras import need

from ._groups import Group, fullest
from ._replay import TableSpace
from ._space import Space
from ._status import LOST
from ._strategy.distance import Distances
from ._strategy.model import ranks
from ._strategy.points import Point, label_at, place
from ._strategy.process import Process

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

DRAWN = 2000  # variants of the space, which tell the parts to some percent
TRIES = 20  # times as many draws, at most, where few variants are valid
TOGETHER = 200  # variants to which distances are computed at once
NEGLIGIBLE = 1e-18  # probability of the worst scores together, below which they are left out


class Expected(NamedTuple):
    """Best of k scores drawn at random, for k = 1 ... n: its mean, and ends of an interval."""

    mean: Floats
    low: Floats
    high: Floats


def best_of_random(
    scores: ArrayLike, weights: ArrayLike, draws: int, confidence: float = 0.9
) -> Expected:
    """Best of k variants drawn at random, with replacement, for k up to `draws`.

    It is at most the i-th of the sorted scores with the probability F(i)^k, F being the share of
    the space that has no better score than that.

    Parameters
    ----------
    scores : array_like, shape (n,)
        Finite numbers, in any order.
    weights : array_like, shape (n,)
        Parts of the space that have these scores, in any unit.
    draws
        Greatest k.
    confidence : float
        Probability that the best lies between `low` and `high`, at each k.

    Returns
    -------
    Expected
        Arrays of shape (draws,).
    """
    parts = np.asarray(weights, float)
    drawn = np.flatnonzero(parts)
    ordered = np.asarray(scores, float)[drawn]
    order = np.argsort(ordered, kind="stable")
    ordered, share = ordered[order], np.cumsum(parts[drawn][order])
    share /= share[-1]
    mean, low, high = np.empty(draws), np.empty(draws), np.empty(draws)
    tail = (1 - confidence) / 2
    below = np.ones_like(share)
    for k in range(draws):
        below *= share  # probability that the best of k + 1 is no better than the i-th
        if below[0] < NEGLIGIBLE:  # most of the work otherwise, of denormal numbers
            kept = int(np.searchsorted(below, NEGLIGIBLE))
            ordered, share, below = ordered[kept:], share[kept:], below[kept:]
        mean[k] = np.diff(below, prepend=0) @ ordered
        places = np.searchsorted(below, [tail, 1 - tail])
        low[k], high[k] = ordered[np.minimum(places, len(ordered) - 1)]
    return Expected(mean, low, high)


def shares(group: Group, labels: list[str], scores: Floats) -> Floats:
    """Parts of the space that measured variants stand for: number of the draws nearest to each.

    The space is the one that cubc declares; of another version of a kernel, and of a user's own,
    all combinations of the values that were measured.
    """
    seen = TableSpace(dict.fromkeys(labels))
    space: Space = group.space() if group.current else seen
    known = [(at, found) for at, label in enumerate(labels) if (found := place(space, label))]
    distances = Distances(list(space.ranges.values()))
    if len(known) < 2 or not distances.count:
        return np.ones(len(labels))
    places, points = [at for at, _ in known], [point for _, point in known]
    process = Process(distances)
    weights = process.learn(points, ranks([*scores[places]], [*scores[places]]))
    counts, drawn = np.zeros(len(points)), _drawn(space, checked=space is not seen)
    of_points = distances.see(points)
    for first in range(0, len(drawn), TOGETHER):
        several = distances.see(drawn[first : first + TOGETHER])
        nearest = distances.squared(several, of_points, weights).argmin(axis=1)
        counts += np.bincount(nearest, minlength=len(points))
    if not counts.any():
        return np.ones(len(labels))
    parts = np.zeros(len(labels))
    parts[places] = counts
    return parts


def _drawn(space: Space, *, checked: bool) -> list[Point]:
    """Points of a space at random; valid ones, where it is known which are."""
    rng, found = random.Random(0), []
    lengths = [len(values) for values in space.ranges.values()]
    for _ in range(TRIES * DRAWN):
        point = tuple(rng.randrange(length) for length in lengths)
        if not checked or space.valid(label_at(space, point)):
            found.append(point)
            if len(found) == DRAWN:
                break
    return found


def progress(groups: Sequence[Group]) -> pd.DataFrame:
    """Best score so far in measured order, beside that of random search.

    Of several devices of a model, that counts which has most measurements of a variant.

    Base was known before the search, so that the best is never below 1. A variant that failed or is
    incomplete adds nothing to the best; one that lost its race counts in random search with the
    score that is known of it. The scores of random search are estimates from the measured variants.

    Returns
    -------
    pandas.DataFrame
        One row for each variant but base: evaluation (from 1), variant, status, score (nan without
        one), best; and expected, low, high of random search (mean and 90 % interval).
    """
    order = measured_order(groups)
    of = [_searched(groups, label) for label in order]
    complete = {(id(one), label): score for one in groups for score, label in one.ranked()}
    found = [complete.get((id(one), label), np.nan) for one, label in zip(of, order, strict=True)]
    scores = np.array(found)
    gains = np.fmax(scores, 1.0)
    columns = {
        "evaluation": np.arange(1, len(order) + 1),
        "variant": order,
        "status": [one.status(label) for one, label in zip(of, order, strict=True)],
        "score": scores,
        "best": np.maximum.accumulate(gains),
    }
    expected = Expected(gains, gains, gains)
    if order:
        lost = [
            one.estimate(label) if one.failure(label) == LOST else None
            for one, label in zip(of, order, strict=True)
        ]
        likely = np.fmax(gains, [np.nan if one is None else one for one in lost])
        expected = best_of_random(likely, shares(groups[0], order, likely), len(order))
    return (
        need("pandas").DataFrame(columns | expected._asdict()).rename(columns={"mean": "expected"})
    )


def _searched(groups: Iterable[Group], label: str) -> Group:
    """Group that counts for a variant, of those whose search measured it."""
    return fullest((group for group in groups if label in group.cells), label)


def measured_order(groups: Sequence[Group]) -> list[str]:
    """Variants without base, in the order in which their last measurements were stored."""

    def moment(label: str) -> tuple[str, str, int]:
        cells = _searched(groups, label).cells[label].values()
        return max((cell.extra.get("created", ""), cell.store, cell.id) for cell in cells)

    labels = dict.fromkeys(label for group in groups for label in group.cells)
    return sorted((label for label in labels if label != "base"), key=moment)
