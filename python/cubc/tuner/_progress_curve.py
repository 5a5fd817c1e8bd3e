"""Progress of a search: the best score so far, and what a random order would have given."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._checks import need
from ._records import Group

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]


class Expected(NamedTuple):
    """Best of k scores drawn at random, for k = 1 ... n: its mean, and ends of an interval."""

    mean: Floats
    low: Floats
    high: Floats


def best_of_random(scores: ArrayLike, confidence: float = 0.9) -> Expected:
    """Best of the first k of some scores in random order, without replacement, exactly.

    With the n scores sorted, the best of k is at most the i-th with the probability
    C(i, k) / C(n, k), which is the product of (i - j) / (n - j) over j < k.

    Parameters
    ----------
    scores : array_like, shape (n,)
        Finite numbers, in any order.
    confidence : float
        Share of the random orders whose best so far lies between `low` and `high`, at each k.

    Returns
    -------
    Expected
        Arrays of shape (n,).
    """
    ordered = np.sort(np.asarray(scores, float))
    n = ordered.size
    rank = np.arange(1, n + 1)
    below = np.ones(n)  # probability that the best of k is no better than the i-th
    mean, low, high = np.empty(n), np.empty(n), np.empty(n)
    tail = (1 - confidence) / 2
    for k in range(n):
        below *= np.maximum(rank - k, 0) / (n - k)
        mean[k] = np.diff(below, prepend=0) @ ordered
        low[k], high[k] = ordered[np.searchsorted(below, [tail, 1 - tail])]
    return Expected(mean, low, high)


def progress(group: Group) -> pd.DataFrame:
    """Best score so far in measured order, beside that of a random order of the same variants.

    Base was known before the search, so that the best is never below 1; a variant that failed or
    is incomplete adds nothing to the best, in either order. If the search was guided, its table
    holds more good variants than the space does, and a random search of the space would do worse
    than the random order here.

    Returns
    -------
    pandas.DataFrame
        One row for each variant but base: evaluation (from 1), variant, status, score (nan without
        one), best; and expected, low, high of a random order (mean and 90 % interval).
    """
    order = measured_order(group)
    complete = {label: score for score, label in group.ranked()}
    scores = np.array([complete.get(label, np.nan) for label in order])
    gains = np.fmax(scores, 1.0)
    expected = best_of_random(gains)
    return need("pandas").DataFrame(
        {
            "evaluation": np.arange(1, len(order) + 1),
            "variant": order,
            "status": [group.status(label) for label in order],
            "score": scores,
            "best": np.maximum.accumulate(gains),
            "expected": expected.mean,
            "low": expected.low,
            "high": expected.high,
        }
    )


def measured_order(group: Group) -> list[str]:
    """Variants without base, in the order in which their last measurements were stored."""

    def moment(label: str) -> tuple[str, str, int]:
        cells = group.cells[label].values()
        return max((cell.extra.get("created", ""), cell.store, cell.id) for cell in cells)

    return sorted((label for label in group.cells if label != "base"), key=moment)
