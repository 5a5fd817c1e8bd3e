"""Choice of what an analysis covers: benchmarks by their names, groups by their axis values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cubc import _core

from . import _axes as ax
from ._checks import regex
from ._groups import Group


def restrict(
    groups: Sequence[Group], pattern: str | None, wanted: Mapping[str, Any] | None
) -> list[Group]:
    """Keep the groups whose benchmark matches an expression, with the wanted axis values.

    Raises
    ------
    LookupError
        If no benchmark matches, or none of those that do has an axis.
    TypeError
        If the expression is no text, or the wanted values are no dict.
    ValueError
        If the expression is malformed, or a value is not declared.
    """
    matches = regex("" if pattern is None else pattern).match
    matching = [group for group in groups if matches(group.benchmark)]
    if groups and not matching:
        raise ax.unknown("the store", "benchmark", str(pattern), {g.benchmark for g in groups})
    wanted = {name: _listed(values) for name, values in ax.given(wanted).items()}
    every = [axis for g in matching for axis in _all_axes(g)]
    for name in wanted:
        if matching and ax.find(every, name) is None:
            raise ax.unknown("the store", "axis", name, {axis.name for axis in every})
    kept: list[Group] = []
    answers: list[tuple[tuple[str, str], ValueError | None]] = []
    for group in matching:
        narrowed, errors = _narrow(group, wanted)
        kept.append(narrowed)
        answers += errors.items()
    known = {point for point, error in answers if error is None}
    for point, error in answers:
        if error is not None and point not in known:  # by no group
            raise error
    return [group for group in kept if group.cells]


def _listed(values: Any) -> Any:
    """Return one value as it is, and several as a list, which can be read again."""
    several = isinstance(values, Iterable) and not isinstance(values, str)
    return list(values) if several else values


def _all_axes(group: Group) -> list[ax.Axis]:
    declared = _core.benchmarks().get(group.benchmark, {})
    ct = [ax.Axis(name, tuple(declared.get(name) or [value])) for name, value in group.ct.items()]
    return [*ct, *group.axes]


def _narrow(
    group: Group, wanted: Mapping[str, Any]
) -> tuple[Group, dict[tuple[str, str], ValueError | None]]:
    """Keep what has the wanted values; beside it, for each of these, None or why it is refused.

    Searches of one benchmark declare the points that each was asked for.
    """
    answers: dict[tuple[str, str], ValueError | None] = {}
    axes = _all_axes(group)
    mine = {name: values for name, values in wanted.items() if ax.find(axes, name)}
    declared: dict[str, Any] = {}
    for name, values in ax.told_apart(axes, mine).items():
        if values == []:
            ax.choose(group.benchmark, axes, {name: values})  # which raises
        declared[name] = []
        for one in values if isinstance(values, list) else [values]:
            try:
                ax.choose(group.benchmark, axes, {name: one})
            except ValueError as error:
                answers[name, str(one)] = error
            else:
                answers[name, str(one)] = None
                declared[name].append(one)
    if not all(declared.values()):
        return group.only([]), answers
    chosen = ax.choose(group.benchmark, axes, declared)
    if any(value not in chosen[name] for name, value in group.ct.items()):
        return group.only([]), answers
    return group.only(ax.combinations(group.axes, chosen)), answers
