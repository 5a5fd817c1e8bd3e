"""Axes of a benchmark: names with flags, values, and the choice that a user makes among them.

A name carries its flags as in CUB: ``T{ct}`` is compile-time, ``Elements{io}[pow2]`` is
importance-ordered and holds exponents of two. A user may write the plain name. Only declared values
can be chosen, because a weight in the score comes from the place among them; a built-in benchmark
takes any run-time value, which replaces the declared ones then (`opened`). Lattices have an axis
``T``, their extent in time, beside ``T{ct}``, the type (`told_apart`).
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cubc import _core

from ._words import instead

Value = str | int
_NAME = re.compile(r"([A-Za-z]\w*)((?:\{\w+\}|\[\w+\])*)", re.ASCII)
FLAGS = ("{ct}", "{io}", "[pow2]")
ELEMENTS = "Elements{io}[pow2]"  # axis of all benchmarks of arrays
MOST_VALUES = 10_000  # no axis declares as many
MOST_EXPONENT = 40  # of an axis of exponents; more elements do not fit a device
MOST_AXES = 32  # no benchmark declares as many
_ARGUMENT = re.compile(r"\s*([^=\s]+)\s*=\s*(.+?)\s*")


@dataclass(frozen=True)
class Axis:
    """One declared axis: its full name and its values in declared order."""

    name: str
    values: tuple[Value, ...]

    @property
    def plain(self) -> str:
        """The name without flags."""
        return split_name(self.name)[0]

    @property
    def compile_time(self) -> bool:
        """True if each value is another kernel (``{ct}``)."""
        return "{ct}" in self.name

    @property
    def ordered(self) -> bool:
        """True if later values weigh more in the score (``{io}``)."""
        return "{io}" in self.name

    @cached_property
    def known(self) -> frozenset[Value]:
        """Declared values, to look one up."""
        return frozenset(self.values)

    def convert(self, value: Any) -> Value:
        """Give a value this axis's type; ValueError if it has another."""
        if isinstance(self.values[0], str):
            return str(value)
        return int(value) if isinstance(value, str) else value.__index__()


def split_name(name: str) -> tuple[str, frozenset[str]]:
    """Plain name and flags of an axis: ``("Elements", {"{io}", "[pow2]"})``."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError(f"{name!r} is no axis name, as T{{ct}} or Elements{{io}}[pow2]")
    return match[1], frozenset(re.findall(r"\{\w+\}|\[\w+\]", match[2]))


def declared(benchmark: str) -> tuple[Axis, ...]:
    """Axes that a benchmark declares, in declared order."""
    return tuple(Axis(name, tuple(v)) for name, v in _core.benchmarks()[benchmark].items())


def declared_with_keys(benchmark: str, wanted: Iterable[str]) -> tuple[Axis, ...]:
    """Axes of a benchmark, and those of what its keys are like that are wanted.

    The latter are not declared: their one value, 0, says that keys are as the benchmark has them.
    """
    names = [name for name in _core.key_axes(benchmark) if name in wanted]
    return declared(benchmark) + tuple(Axis(name, (0,)) for name in names)


def find(axes: Sequence[Axis], name: str) -> Axis | None:
    """Axis that `name` means: its plain name, with none, some or all of its flags."""
    plain, flags = split_name(name)
    for axis in sorted(axes, key=lambda axis: axis.name != name):  # the full name comes first
        known, known_flags = split_name(axis.name)
        if known == plain and flags <= known_flags:
            return axis
    return None


def given(axes: Mapping[str, Any] | None) -> dict[str, Any]:
    """Values that a user wants, by axis name; TypeError if it is no such thing."""
    wanted = {} if axes is None else axes
    if not isinstance(wanted, Mapping) or not all(isinstance(name, str) for name in wanted):
        like = "{'T': 'F32', 'Elements': [16, 20]}"
        raise TypeError(f"axes is {axes!r:.80}, must be a dict of values by axis name, as {like}")
    return {name: list(one) if isinstance(one, Iterator) else one for name, one in wanted.items()}


def told_apart(axes: Sequence[Axis], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Wanted values by axes, where a compile-time and a run-time axis have one plain name.

    Numbers are for the run-time axis: ``T=[F32,24]`` is the type F32 and the extent 24.
    """
    shared = {a.plain: (a.name, b.name) for a in axes for b in axes if _share_name(a, b)}
    found: dict[str, Any] = {}
    for name, values in wanted.items():
        if name not in shared:
            found[name] = values
            continue
        several = isinstance(values, Iterable) and not isinstance(values, str)
        for value in values if several else [values]:
            number = not isinstance(value, str) or value.isdecimal()
            found.setdefault(shared[name][number], []).append(value)
    return found


def _share_name(compile_time: Axis, run_time: Axis) -> bool:
    same = compile_time.plain == run_time.plain
    return same and compile_time.compile_time and not run_time.compile_time


def columns(ct: Mapping[str, Any], rt: Mapping[str, Any]) -> dict[str, Any]:
    """Workload by plain names; a compile-time axis keeps its full name where two share one."""
    at_run = {split_name(name)[0]: value for name, value in rt.items()}
    plain = {name: split_name(name)[0] for name in ct}
    return {name if plain[name] in at_run else plain[name]: ct[name] for name in ct} | at_run


def unknown(owner: str, kind: str, name: str, names: Iterable[str]) -> LookupError:
    """Error for a name that `owner` does not declare, with the nearest that it does."""
    return LookupError(f"{owner} has no {kind} {str(name)!r}; {instead(str(name), sorted(names))}")


def choose(
    owner: str, axes: Sequence[Axis], wanted: Mapping[str, Any] | None
) -> dict[str, tuple[Value, ...]]:
    """Values to use on each axis: the wanted ones where given, else all declared.

    Parameters
    ----------
    owner
        The benchmark's name, for messages.
    axes
        Axes that it declares.
    wanted
        Axis name, with or without its flags, to one value or to several.

    Returns
    -------
    dict
        Values in declared order, by full axis name, in declared order.

    Raises
    ------
    LookupError
        For an axis that is not declared, with the nearest one.
    ValueError
        For a value that is not declared, with those that are; for no values.
    """
    chosen = {axis.name: axis.values for axis in axes}
    _refuse_twice(axes, wanted or {})
    for name, values in (wanted or {}).items():
        axis = find(axes, name)
        if axis is None:
            raise unknown(owner, "axis", name, (axis.name for axis in axes))
        chosen[axis.name] = _check(owner, axis, values)
    return chosen


def _refuse_twice(axes: Sequence[Axis], wanted: Mapping[str, Any]) -> None:
    """Raise ValueError for one axis under two names, with its flags and without."""
    names: dict[str, str] = {}
    for name in wanted:
        axis = find(axes, name)
        if axis is not None and (other := names.setdefault(axis.name, name)) != name:
            raise ValueError(
                f"axis {axis.name} is given twice, as {other} and as {name}: give all of its "
                "values under one name"
            )


def opened(axes: Sequence[Axis], wanted: Mapping[str, Any]) -> tuple[Axis, ...]:
    """Axes of a built-in benchmark, whose run-time values need not be those that it declares.

    An axis for which another value is wanted becomes one of the wanted values. On an axis of
    exponents, values up to 40 are exponents and greater ones are numbers: ``Elements=[1000,5000]``
    becomes ``Elements{io}``.

    Raises
    ------
    ValueError
        If a value is no positive integer up to 2^40, or if exponents and numbers are mixed.
    """
    _refuse_twice(axes, wanted)
    return tuple(
        _opened(axis, values) if (values := _given_to(axis, axes, wanted)) is not None else axis
        for axis in axes
    )


def _given_to(axis: Axis, axes: Sequence[Axis], wanted: Mapping[str, Any]) -> Any:
    return next((values for name, values in wanted.items() if find(axes, name) is axis), None)


def _opened(axis: Axis, values: Any) -> Axis:
    several = isinstance(values, Iterable) and not isinstance(values, str)
    try:
        wanted = sorted({int(axis.convert(value)) for value in (values if several else [values])})
    except (AttributeError, TypeError, ValueError):
        return axis  # which says what it declares
    if axis.compile_time or not wanted or axis.known.issuperset(wanted):
        return axis
    if wanted[-1] > 1 << MOST_EXPONENT:
        raise ValueError(f"{axis.plain}={wanted[-1]}: expected at most 2^{MOST_EXPONENT}")
    if "[pow2]" not in axis.name:
        if wanted[0] < 1:
            raise ValueError(f"{axis.plain}={wanted[0]}: expected a positive number")
        return Axis(axis.name, tuple(wanted))
    if wanted[0] < 0 or wanted[0] <= MOST_EXPONENT < wanted[-1]:
        raise ValueError(
            f"{axis.plain}={wanted}: expected exponents of two, up to {MOST_EXPONENT}, or numbers, "
            "all greater than that"
        )
    exponents = wanted[-1] <= MOST_EXPONENT
    return Axis(axis.name if exponents else axis.name.replace("[pow2]", ""), tuple(wanted))


def _check(owner: str, axis: Axis, values: Any) -> tuple[Value, ...]:
    several = isinstance(values, Iterable) and not isinstance(values, str)
    wanted = set()
    for value in values if several else (values,):
        try:
            typed = axis.convert(value)
        except (AttributeError, ValueError):
            typed = None
        if typed not in axis.values:
            told = f"{owner} does not declare {value!s:.80} on axis {axis.name}"
            names = [str(known) for known in axis.values]
            if axis.compile_time:
                raise ValueError(f"{told}; {instead(str(value), names, 'declares')}")
            raise ValueError(f"{told}; it declares {', '.join(names)}")
        wanted.add(typed)
    if not wanted:
        raise ValueError(
            f"no value is given for axis {axis.name} of {owner}: choose among "
            f"{', '.join(map(str, axis.values))}, or leave the axis out for all of them"
        )
    return tuple(value for value in axis.values if value in wanted)


def combinations(axes: Sequence[Axis], chosen: Mapping[str, Sequence[Value]]) -> list[dict]:
    """All workloads of some axes: one value of each, the last axis varying fastest."""
    names = [axis.name for axis in axes]
    return [
        dict(zip(names, values, strict=True))
        for values in itertools.product(*(chosen[name] for name in names))
    ]


def parse_argument(text: str) -> tuple[str, list[str] | range]:
    """Name and values of one ``-a`` argument.

    The forms are ``Axis=value``, ``Axis=[value,value]`` and, for integers, the ranges
    ``Axis=[16:28:4]`` and ``Axis=(16,28,4)``, whose end is included.

    Raises
    ------
    ValueError
        If `text` has none of these forms.
    """
    match = _ARGUMENT.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not of the form Axis=value or Axis=[value,value]")
    name, values = match.groups()
    split_name(name)
    steps = re.fullmatch(r"\[(-?\d+):(-?\d+)(?::(\d+))?\]|\((-?\d+),(-?\d+)(?:,(\d+))?\)", values)
    if steps is not None:
        start, end, step = (int(part) for part in (*filter(None, steps.groups()), 1)[:3])
        if step < 1 or end < start:
            raise ValueError(f"{text!r} holds no value: a range is start, end, step")
        if (end - start) // step >= MOST_VALUES:
            raise ValueError(f"{text!r} holds more than {MOST_VALUES} values")
        return name, range(start, end + 1, step)
    listed = values[1:-1] if values[0] == "[" and values[-1] == "]" else values
    if not listed.strip():
        raise ValueError(
            f"{text!r} holds no value: write Axis=value or Axis=[value,value], or leave the axis "
            "out for all its values"
        )
    parts = [part.strip() for part in listed.split(",")]
    if not all(re.fullmatch(r"[\w.+-]+", part) for part in parts):
        raise ValueError(f"{text!r}: {values!r} is no value and no list of values")
    return name, parts


def parse_arguments(arguments: Iterable[str]) -> dict[str, list]:
    """Wanted values by axis name, from several ``-a`` arguments."""
    wanted: dict[str, list] = {}
    for argument in arguments:
        name, values = parse_argument(argument)
        wanted.setdefault(name, []).extend(values)
    return wanted


def items(workload: Mapping[str, Value]) -> int:
    """Number of items of a run-time workload; 0 where it says none that an array can have."""
    return numbers({name: int(v) for name, v in workload.items()}).get("Elements", 0)


def numbers(workload: Mapping[str, int]) -> dict[str, int]:
    """Values of a run-time workload by plain names; powers for exponents, 0 for impossible ones."""
    return {
        split_name(name)[0]: value if "[pow2]" not in name else 1 << value if 0 <= value < 63 else 0
        for name, value in workload.items()
    }


def calls_near(workload: Mapping[str, int]) -> str:
    """Ranges of the calls that a policy is for which was measured at a run-time workload.

    They reach two octaves to either side: ``Elements=262144:4194304`` of 2^20.
    """
    return ",".join(f"{name}={at >> 2}:{at << 2}" for name, at in numbers(workload).items())


def workload_text(workload: Mapping[str, Value]) -> str:
    """Text of a workload as a store keeps it: ``T{ct}=F32,OffsetT{ct}=I64``."""
    return ",".join(f"{name}={value}" for name, value in workload.items())


def parse_workload(text: str) -> dict[str, str]:
    """Inverse of `workload_text`, values left as text; ValueError if it is malformed."""
    workload = {}
    for part in filter(None, text.split(",")):
        match = re.fullmatch(rf"({_NAME.pattern})=([\w.+-]+)", part, re.ASCII)
        if match is None:
            raise ValueError(f"{text!r:.80} is no workload")
        if match[1] in workload:
            raise ValueError(f"{text!r:.80} names {match[1]} twice")
        workload[match[1]] = match[4]
    return workload


def axes_text(axes: Sequence[Axis]) -> str:
    """JSON text of declared axes as a store keeps it."""
    return json.dumps([[axis.name, list(axis.values)] for axis in axes])


def parse_axes(text: str) -> tuple[Axis, ...]:
    """Inverse of `axes_text` for run-time axes; ValueError if it is malformed."""
    try:
        axes = tuple(Axis(name, tuple(values)) for name, values in json.loads(text))
        if len(axes) > MOST_AXES or len({axis.plain for axis in axes}) < len(axes):
            raise ValueError
        for axis in axes:
            if not 1 <= len(set(axis.values)) == len(axis.values) <= MOST_VALUES:
                raise ValueError
            if axis.compile_time or not all(map(is_int64, axis.values)):
                raise ValueError
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{text!r:.200} declares no axes") from error
    return axes


def is_int64(value: Any) -> bool:
    """True for an int that a store can hold."""
    return type(value) is int and -(2**63) <= value < 2**63
