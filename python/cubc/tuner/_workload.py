"""Compile-time workloads of benchmarks: what each is searched over, opened and stored with."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import zip_longest
from typing import Any

from cubc import _core

from . import _axes as ax
from ._checks import regex
from ._constraints import Constraint, check_names
from ._groups import Group
from ._space import Space, parse_label
from ._words import listed

# Takes a deadline in seconds, the byte by which it is abandoned, and a bundle; returns its seconds.
Compilation = Callable[[float, bytes | bytearray, bytes | bytearray], float]


def _compile_at(
    key: tuple[str, dict[str, str], str],
    variant: str,
    rt: dict[str, int],
    deadline: float,
    abandon: bytes | bytearray,
    bundle: bytes | bytearray,
) -> float:
    return _core.compile(*key, variant, deadline, abandon, rt, bundle)


@dataclass(frozen=True)
class CompileTimeWorkload:
    """A benchmark at one compile-time workload on an architecture."""

    benchmark: str
    axes: tuple[ax.Axis, ...]  # the declared run-time axes, with all their values
    ct: dict[str, str]
    rts: list[dict[str, int]]  # the run-time workloads to measure
    arch: str
    constraints: tuple[Constraint, ...] = ()  # conditions on its variants

    @property
    def policy_key(self) -> tuple[str, dict[str, str], str]:
        """Key of its policies: the arguments of the core's functions that precede a variant."""
        return self.benchmark, self.ct, self.arch

    @cached_property
    def space(self) -> Space:
        """The parameter space."""
        return Space(*self.policy_key, self.constraints, self.rts)

    @property
    def limits(self) -> tuple[str, ...]:
        """Constraints on what the compiler makes of a variant."""
        return tuple(one.text for one in self.constraints if one.needs_compiling)

    def admits(self, variant: str) -> bool:
        """True if a label is base's, or fulfils the constraints on parameters."""
        return variant == "base" or not self.constraints or self.space.valid(variant)

    def admits_compiled(self, variant: str, known: Mapping[str, float]) -> bool:
        """True if figures of a variant fulfil the constraints on what the compiler makes of it.

        Constraints on a figure that is not known decide nothing.
        """
        values = {**known, **parse_label(variant)}
        return all(
            one(values)
            for one in self.constraints
            if one.needs_compiling and one.names <= values.keys()
        )

    @cached_property
    def bases(self) -> list[str]:
        """Label of base at each of `rts`: what a call there runs."""
        return [_core.base(*self.policy_key, rt) for rt in self.rts]

    @cached_property
    def shipped(self) -> list[str]:
        """Variants that are shipped for calls of other sizes, those of the nearest sizes first."""
        per_size = (_core.shipped(*self.policy_key, rt) for rt in self.rts)
        labels = dict.fromkeys(label for turn in zip_longest(*per_size) for label in turn if label)
        return [label for label in labels if set(self.bases) != {label}]

    @cached_property
    def source_hash(self) -> str:
        """Hash of the kernel source with this workload."""
        return _core.source_hash(*self.policy_key)

    def compile(
        self,
        variant: str,
        deadline: float,
        abandon: bytes | bytearray = b"",
        bundle: bytes | bytearray = b"",
    ) -> float:
        """Compile a variant into the cache; seconds that it took, 0 if it was there.

        It is abandoned with KeyboardInterrupt when the first byte of `abandon` is set. Kernels that
        are in `bundle`, as of other processes, are not compiled; a bytearray gets the others.

        Raises
        ------
        Exception
            One of `status.FAILURES`.
        """
        end, seconds = time.monotonic() + deadline, 0.0
        for compilation in self._compilations(variant):
            left = max(end - time.monotonic(), 1e-3) if deadline else 0.0
            seconds += compilation(left, abandon, bundle)
        return seconds

    def _compilations(self, variant: str) -> Iterator[Compilation]:
        """Compilations of a variant, one after another.

        Run-time workloads may have code of their own: the kernels of a lattice know its extents.
        """
        for rt in self.rts:
            yield partial(_compile_at, self.policy_key, variant, rt)

    @property
    def opening(self) -> tuple:
        """Arguments that the measuring process is sent to open it."""
        return self.benchmark, self.ct, self.rts

    def row(self, variant: str, place: int, round_number: int = 0) -> dict[str, Any]:
        """Key of a store's row: a variant at the run-time workload with a place in `rts`.

        `round_number` is 0 in the search, and counts from 1 where the best are confirmed.
        """
        return {
            "round": round_number,
            "benchmark": self.benchmark,
            "axes": ax.axes_text(self.axes),
            "source_hash": self.source_hash,
            "ct": ax.workload_text(self.ct),
            "variant": variant,
            "rt": ax.workload_text(self.rts[place]),
        }

    def group(self, device: Mapping[str, Any], groups: Sequence[Group]) -> Group:
        """Find the measurements of this workload on a device among those of a store; maybe none."""
        new = Group(
            benchmark=self.benchmark,
            ct=self.ct,
            arch=self.arch,
            device=device["model"],
            device_uuid=device["uuid"],
            device_state=(device["sm_count"], device["ecc"]),
            driver=device["driver"],
            compiler=device["compiler"],
            source_hash=self.source_hash,
            axes=self.axes,
        )
        return next((group for group in groups if group.key == new.key), new).only(self.rts)

    def __str__(self) -> str:
        return " ".join([self.benchmark, *self.ct.values()])


def declared_axes(
    names: Sequence[str], wanted: Mapping[str, Any]
) -> dict[str, tuple[ax.Axis, ...]]:
    """Axes of each benchmark; LookupError for a wanted one that none of them has."""
    axes_of = {name: ax.declared_with_keys(name, wanted) for name in names}
    every = [axis for declared in axes_of.values() for axis in declared]
    for axis in wanted:
        if ax.find(every, axis) is None:
            owner = names[0] if len(names) == 1 else f"each of {listed(names)}"
            raise ax.unknown(owner, "axis", axis, {known.name for known in every})
    return axes_of


def compile_time_workloads(
    benchmark: str,
    axes: Mapping[str, Any] | None,
    arch: str,
    constraints: tuple[Constraint, ...] = (),
) -> list[CompileTimeWorkload]:
    """Compile-time workloads of the benchmarks that a name or a regular expression matches.

    An axis has to be declared by at least one of the benchmarks; the others are taken whole. Of
    several benchmarks those are left out that do not declare a wanted value.
    Constraints have to be on parameters that all of them have.

    Raises
    ------
    LookupError
        For an unknown benchmark, axis or parameter, with the nearest name.
    TypeError
        If `benchmark` is no text, or `axes` no dict.
    ValueError
        For an undeclared value, with the declared ones.
    """
    names = matching(benchmark)
    wanted = ax.given(axes)
    axes_of = declared_axes(names, wanted)
    found: list[CompileTimeWorkload] = []
    refused: list[ValueError] = []
    for name, declared in axes_of.items():
        mine = {axis: values for axis, values in wanted.items() if ax.find(declared, axis)}
        try:
            mine = ax.told_apart(declared, mine)
            declared = ax.opened(declared, mine)
            chosen = ax.choose(name, declared, mine)
        except ValueError as error:
            refused.append(error)
            continue
        at_run = tuple(axis for axis in declared if not axis.compile_time)
        rts = ax.combinations(at_run, chosen)
        cts = ax.combinations([axis for axis in declared if axis.compile_time], chosen)
        new = [CompileTimeWorkload(name, at_run, ct, rts, arch, constraints) for ct in cts]
        for workload in new[:1]:  # one compile-time workload has the parameters of all
            check_names(name, constraints, workload.space.ranges)
        found += new
    if not found:
        raise refused[0]
    return found


def matching(pattern: str, names: Sequence[str] | None = None, owner: str = "cubc") -> list[str]:
    """Benchmark of this name, or all whose names the expression matches from their start.

    Parameters
    ----------
    pattern
        Name or regular expression.
    names
        Those to choose from; the built-in ones by default.
    owner
        Whose they are, for the message.

    Raises
    ------
    LookupError
        If there is none.
    TypeError
        If `pattern` is no text.
    ValueError
        If `pattern` is no regular expression.
    """
    names = list(_core.benchmarks()) if names is None else names
    if pattern in names:
        return [pattern]
    found = list(filter(regex(pattern).match, names))
    if not found:
        raise ax.unknown(owner, "benchmark", pattern, names)
    return found
