"""The parameter space of a benchmark at one compile-time workload, addressed by number.

A space may hold billions of variants, so nothing here lists it: a variant's number is turned into
its label, and each label is checked when it is used. Constraints on a single parameter narrow the
space itself: with a few parameters fixed, hardly one variant in a billion would fulfil them.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cubc import _core

from ._constraints import Constraint

# A parameter and its value. A name has none of its underscores in front of digits at its end, so
# that a number belongs to a parameter whose own name has underscores, as a measured table's may.
_PART = re.compile(
    r"([A-Za-z]\w{0,30})_(\d{1,9})|([A-Za-z][A-Za-z0-9]{0,30})_([A-Za-z]\w{0,22})", re.ASCII
)
MOST_PARTS = 64  # of a label
Value = int | str
COUNTED = 10_000  # above this many variants the valid ones are estimated
SAMPLED = 5_000
NARROWED = 10_000  # values of a parameter, at most, that constraints are asked about one by one


def parse_label(label: str) -> dict[str, Value]:
    """Values of a variant by parameter label: ``{"ipt": 16, "acc": "double"}``.

    Raises
    ------
    ValueError
        If `label` is not written as a variant is. Ranges are not checked here.
    """
    values: dict[str, Value] = {}
    for part in label.split(".", MOST_PARTS):
        found = _PART.fullmatch(part)
        if found is None:
            raise ValueError(f"{label!r:.80} is no variant; one looks like ipt_16.tpb_256")
        if found[1]:
            values[found[1]] = int(found[2])
        else:
            values[found[3]] = found[4]
    return values


def named(values: Sequence[Value]) -> bool:
    """True if values of a parameter are names; a stranger's store may have numbers beside them."""
    return not isinstance(values, range) and any(isinstance(value, str) for value in values)


def in_order(values: Iterable[Value]) -> list[Value]:
    """Sort values, numbers before names."""
    return sorted(values, key=lambda value: (isinstance(value, str), value))


class Space:
    """Parameter space of a benchmark at a compile-time workload on an architecture.

    A variant has to be valid at all of the run-time workloads `rts`, where some are given.

    Attributes
    ----------
    ranges : dict of str to sequence of int or of str
        Values by label of a parameter: numbers, or names.
    size : int
        Number of combinations.
    """

    ranges: dict[str, Sequence[Value]]

    def __init__(
        self,
        benchmark: str,
        ct: Mapping[str, str],
        arch: str,
        constraints: Iterable[Constraint] = (),
        rts: Sequence[Mapping[str, int]] = (),
    ):
        self.benchmark, self.ct, self.arch = benchmark, dict(ct), arch
        self.rts: list[dict[str, int] | None] = [*map(dict, rts)] or [None]
        self._declare(_core.parameters(benchmark, arch), constraints)

    def _declare(
        self,
        parameters: Iterable[tuple[str, str, Sequence[Value]]],
        constraints: Iterable[Constraint],
    ) -> None:
        """Keep the declared values that fulfil the constraints."""
        self._constraints = [one for one in constraints if not one.needs_compiling]
        self.ranges = {label: self._left(label, values) for _, label, values in parameters}
        self.size = math.prod(map(len, self.ranges.values()))

    def _left(self, label: str, values: Sequence[Value]) -> Sequence[Value]:
        """Values of a parameter that fulfil the constraints on it alone."""
        alone = [holds for holds in self._constraints if holds.names == {label}]
        if not alone or len(values) > NARROWED:
            return values
        return [value for value in values if all(holds({label: value}) for holds in alone)]

    def label(self, index: int) -> str:
        """Label of variant number `index`; the last parameter varies fastest."""
        parts = []
        for name, values in reversed(self.ranges.items()):
            index, place = divmod(index, len(values))
            parts.append(f"{name}_{values[place]}")
        return ".".join(reversed(parts))

    def numbers(self, rng: random.Random | None = None) -> Iterator[int]:
        """Numbers of the variants, each once, in order or in a random one; some invalid."""
        return iter(range(self.size)) if rng is None else permutation(self.size, rng)

    def valid(self, label: str) -> bool:
        """True if a variant can run the workload, as far as that is known without compiling it."""
        if self._constraints:
            values = parse_label(label)
            if not all(holds(values) for holds in self._constraints):
                return False
        variant = (self.benchmark, self.ct, self.arch, label)
        return not any(_core.variant_invalid(*variant, rt) for rt in self.rts)

    def count(self) -> int:
        """Count the valid variants; above 10 000 variants estimate it from a sample."""
        if self.size <= COUNTED:
            return sum(self.valid(self.label(index)) for index in range(self.size))
        rng = random.Random(0)
        hits = sum(self.valid(self.label(rng.randrange(self.size))) for _ in range(SAMPLED))
        return round(self.size * hits / SAMPLED)


def permutation(n: int, rng: random.Random) -> Iterator[int]:
    """Yield the numbers below `n` in random order, each once.

    This is Fisher and Yates's shuffle on an array that is not stored: only the places that were
    swapped are, so the first k of n numbers take memory for k.
    """
    moved: dict[int, int] = {}
    for i in range(n):
        j = rng.randrange(i, n)
        yield moved.get(j, j)
        moved[j] = moved.pop(i, i)
