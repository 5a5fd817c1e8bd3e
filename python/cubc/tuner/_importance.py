"""Importance of parameters for the speed of a variant.

The measure is the total-effect index of a variance-based sensitivity analysis: the share of the
variance of log(score) that cannot be predicted from all parameters but this one. It counts a
parameter's interactions, so the shares may add up to more than 1. `interactions` gives the share of
each pair of parameters.

A random forest, trained on the measured variants, stands in for the benchmark where it was not
measured. The index is half the rise of its mean squared error when the parameter's values are
exchanged between variants, on variants that it was not trained on: so a parameter that only fits
noise scores about 0, and a forest that predicts nothing - see column r2 - claims nothing.

Why this and not a functional analysis of variance of the table itself: a search measures a small
and irregular part of the space, with invalid variants missing, where sums of squares over a full
grid have no meaning. Why a forest: parameters are steps and ridges rather than lines, there is
nothing to tune, and scikit-learn maintains it.

Sources: T. Homma, A. Saltelli, "Importance measures in global sensitivity analysis of nonlinear
models"; L. Breiman, "Random forests"; J. Fruth, O. Roustant, S. Kuhnt, "Total interaction index: a
variance-based sensitivity index for second-order interaction screening".
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cubc._extras import need

from ._groups import Group
from ._space import Value, in_order, named

if TYPE_CHECKING:
    import pandas as pd

FEWEST = 10  # variants: below it nothing is left to check the forest on
FOLDS, REPEATS, TREES = 5, 5, 100
AT_ONCE = 100_000  # variants that a forest predicts in one call, each of which starts every tree


class Table(NamedTuple):
    """Complete variants: `values[i, j]` of parameter `names[j]`, and log(score) in `log_scores`."""

    names: list[str]
    values: NDArray[np.float64]
    log_scores: NDArray[np.float64]


def importance(group: Group) -> pd.DataFrame:
    """Share of the variation of the score that each parameter has a part in.

    Parameters
    ----------
    group : Group
        At least 10 complete variants; those that failed or lack a workload have no score.

    Returns
    -------
    pandas.DataFrame
        Most important first; columns parameter; importance (total-effect index: 0 for a parameter
        without effect, 1 for one without which nothing is known); spread (standard deviation over
        the folds); variants (count) and r2 (share of the variance that the forest predicts of
        variants it has not seen: with a low one, importances are lower bounds).

    Raises
    ------
    ValueError
        If there are fewer variants, or all have the same score.
    """
    table = _table(group)
    effects, r2 = _effects(table, [(j,) for j in range(len(table.names))])
    rows = zip(table.names, effects.mean(axis=1), effects.std(axis=1), strict=True)
    frame = need("pandas").DataFrame(rows, columns=["parameter", "importance", "spread"])
    frame["variants"], frame["r2"] = len(table.log_scores), r2
    return frame.sort_values("importance", ascending=False, kind="stable", ignore_index=True)


def interactions(group: Group) -> pd.DataFrame:
    """Share of the variation of the score that two parameters have together, for all pairs.

    It is the part that is counted in the `importance` of both: 0 where the effect of one does not
    depend on the other. Parameters and errors are those of `importance`.

    Returns
    -------
    pandas.DataFrame
        Strongest first; columns first, second (parameters), interaction, spread, variants, r2.
    """
    table = _table(group)
    pairs = list(itertools.combinations(range(len(table.names)), 2))
    sets: list[tuple[int, ...]] = [(j,) for j in range(len(table.names))]
    effects, r2 = _effects(table, [*sets, *pairs])
    both = effects[len(sets) :]
    shared = np.array([effects[i] + effects[j] - e for (i, j), e in zip(pairs, both, strict=True)])
    rows = [
        (table.names[i], table.names[j], s.mean(), s.std())
        for (i, j), s in zip(pairs, shared, strict=True)
    ]
    frame = need("pandas").DataFrame(rows, columns=["first", "second", "interaction", "spread"])
    frame["variants"], frame["r2"] = len(table.log_scores), r2
    return frame.sort_values("interaction", ascending=False, kind="stable", ignore_index=True)


def taken(group: Group) -> dict[str, list[Value]]:
    """Parameters, with the values that they took in rising order."""
    found: dict[str, set[Value]] = {}
    for variant in group.cells:
        for name, value in group.parameters(variant).items():
            found.setdefault(name, set()).add(value)
    return {name: in_order(values) for name, values in found.items()}


def varied(group: Group) -> dict[str, list[Value]]:
    """Parameters that took more than one value, with these in rising order."""
    return {name: values for name, values in taken(group).items() if len(values) > 1}


def _table(group: Group) -> Table:
    scored = [(score, group.parameters(variant)) for score, variant in group.ranked()]
    known = [(score, values) for score, values in scored if values]
    found = varied(group)
    names = [name for name in found if all(name in values for _, values in known)]
    log_scores = np.log([score for score, _ in known])
    about = f"{group.benchmark} {group.workload}"
    if len(known) < FEWEST:
        raise ValueError(
            f"{about} has {len(known)} complete variants; importance needs {FEWEST}: search on"
        )
    if not names or np.ptp(log_scores) == 0:
        raise ValueError(f"{about}: all variants are alike, so no parameter is important")
    rows = [[_number(values[name], found[name]) for name in names] for _, values in known]
    return Table(names, np.array(rows, float), log_scores)


def _number(value: Value, among: Sequence[Value]) -> int:
    """Number of a value in a table: its place, if the parameter has names."""
    return among.index(value) if named(among) else int(value)


def _effects(table: Table, sets: Sequence[tuple[int, ...]]) -> tuple[NDArray[np.float64], float]:
    """Total-effect index of sets of parameters in each fold, and r2 over all of them."""
    variance = table.log_scores.var()
    effects, unexplained = [], 0.0
    for predict, values, log_scores in _folds(table):
        error = np.mean((predict(values) - log_scores) ** 2)
        unexplained += error * len(log_scores) / len(table.log_scores)
        step = max(1, AT_ONCE // (REPEATS * len(values)))
        parts = (sets[k : k + step] for k in range(0, len(sets), step))
        errors = [_errors_without(predict, values, log_scores, part) for part in parts]
        effects.append((np.concatenate(errors) - error) / (2 * variance))
    return np.transpose(effects), 1 - unexplained / variance


def _folds(table: Table) -> Iterator[tuple]:
    """Forests, each with the variants that were kept from it."""
    forests, selection = need("sklearn.ensemble"), need("sklearn.model_selection")
    for train, test in selection.KFold(FOLDS, shuffle=True, random_state=0).split(table.values):
        forest = forests.RandomForestRegressor(TREES, random_state=0)
        forest.fit(table.values[train], table.log_scores[train])
        yield forest.predict, table.values[test], table.log_scores[test]


def _errors_without(
    predict,
    values: NDArray[np.float64],
    log_scores: NDArray[np.float64],
    sets: Sequence[Iterable[int]],
) -> NDArray[np.float64]:
    """Mean squared error with each set of columns exchanged between variants, the same for all."""
    rng = np.random.default_rng(0)
    orders = np.array([rng.permutation(len(values)) for _ in range(REPEATS)])
    exchanged = np.tile(values, (len(sets), REPEATS, 1, 1))
    for one, columns in zip(exchanged, sets, strict=True):
        for column in columns:
            one[..., column] = values[orders, column]
    predicted = predict(exchanged.reshape(-1, values.shape[1])).reshape(len(sets), -1)
    return np.mean((predicted - np.tile(log_scores, REPEATS)) ** 2, axis=1)
