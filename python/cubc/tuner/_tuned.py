"""A kernel of one's own with the values that a search found, to be called with arrays.

It is launched as the benchmark launches it. A variant was measured with that grid, and another
may compute another result. The benchmark's function is asked for it once more, at the workloads
that were measured, with a launch that only notes what it is given.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cubc import _core
from cubc._kernel import Extent, Kernel

from . import _axes as ax
from ._launch import Given, Recorded
from ._space import parse_label
from ._state import State

if TYPE_CHECKING:
    from ._benchmark import Benchmark
    from ._groups import Group


class Measured(NamedTuple):
    """A launch of the benchmark: values that a grid may depend on (`_size`), and its shape."""

    sizes: list[Any]
    elements: int  # of the axis Elements; 0 if there is none
    given: Given


class TunedKernel(Kernel):
    """Kernel of a benchmark's source, compiled as one variant; `Result.kernel` makes it.

    Attributes
    ----------
    label : str
        Label of the variant.
    values : dict of str to int or str
        Its values by label.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        ct: Mapping[str, str],
        rts: Sequence[Mapping[str, int]],
        label: str,
        name: str | None = None,
        device: str | None = None,
    ):
        self.label, self._ct, self._rts = label, dict(ct), list(rts)
        self.values = parse_label(label)
        self._benchmark = benchmark
        self._measured: list[list[Measured]] = []  # of the first workloads, once they are asked for
        threads = self.values.get("tpb")
        self._open(benchmark.source, name, threads if isinstance(threads, int) else None, device)

    def _text(self, threads: int) -> str:
        return self._source.complete(self._arch, self._ct, self.label)  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return f"<kernel {self.name} as {self.label} on {self.device}>"

    def __call__(
        self,
        *arguments: Any,
        grid: Extent | None = None,
        block: Extent | None = None,
        shared: int | None = None,
        stream: Any = None,
    ) -> None:
        """Launch the kernel; parameters and errors are those of `cubc.Kernel`.

        The defaults of `grid`, `block` and `shared` are the benchmark's, as `Result.kernel` says.
        """
        asked = (grid, block, shared)
        shape: Any = asked
        if None in asked:
            sizes = [*map(_size, arguments)]
            like = self._like(sizes, exactly=grid is None)
            own: Any = (b if a is None else a for a, b in zip(asked, like.given, strict=True))
            given = Given(*own)
            items = self._items(like, sizes) if given.grid is None else 0
            shape = given.shape(self.name, self.values, arguments, items)
        blocks, threads, more = shape
        super().__call__(*arguments, grid=blocks, block=threads, shared=more, stream=stream)

    def _like(self, sizes: list[Any], exactly: bool) -> Measured:
        """Launch of the benchmark that tells how to launch for arguments of these sizes.

        Numbers for a grid hold for the sizes alone that they were given for, if that is asked for.
        """
        first = next(self._workloads(), [])
        if not first:
            return Measured([], 0, Given())
        grid, alike = first[0].given.grid, all(one.given == first[0].given for one in first)
        if alike and (not exactly or grid is None or callable(grid)):
            return first[0]
        for launches in self._workloads():
            same = [one for one in launches if one.sizes == sizes]
            if same and all(one.given == same[0].given for one in same):
                return same[0]
        how = "numbers" if alike else "several shapes of launches"
        raise ValueError(
            f"{self.name} was measured with {how} for arguments of other sizes: give grid=, block= "
            "and shared= here, or have the benchmark give functions of the arguments, as "
            "grid=lambda x, n: -(-n // launch.tpb)"
        )

    def _workloads(self) -> Iterator[list[Measured]]:
        """Launches of this kernel at each workload that was measured."""
        for place, rt in enumerate(self._rts):
            if place == len(self._measured):
                state = State(self._ct, rt, self.device)
                self._benchmark.function(state)
                launch = Recorded(self._source.kernels, self.values)
                if state.work is not None:
                    state.work(launch)
                self._measured.append(
                    [
                        Measured([*map(_size, arguments)], state.rt.get("Elements", 0), given)
                        for name, arguments, given in launch.launches
                        if name == self.name
                    ]
                )
            yield self._measured[place]

    def _items(self, like: Measured, sizes: list[Any]) -> int:
        """Elements of a call, by the arguments that had as many as the axis Elements said.

        It is 0 if the benchmark goes by the largest array.
        """
        for kind in (tuple, int) if like.elements else ():  # a number may be as large by chance
            found = [
                _count(now)
                for before, now in zip(like.sizes, sizes, strict=False)
                if type(before) is type(now) is kind and _count(before) == like.elements
            ]
            if found:
                return max(found)
        if like.elements:
            raise ValueError(
                f"{self.name} has a block for each tpb * ipt of the axis Elements, which none of "
                "its arguments tells: give grid="
            )
        return 0


def _size(argument: Any) -> Any:
    """Value that a grid may depend on: a shape, a whole number or the bytes of a struct."""
    if shape := tuple(getattr(argument, "shape", ())):
        return shape
    if isinstance(argument, numbers.Integral):
        return int(argument)
    if isinstance(argument, np.void):
        return argument.tobytes()
    return bytes(argument) if isinstance(argument, bytes | bytearray) else None


def _count(size: Any) -> int:
    return math.prod(size) if isinstance(size, tuple) else size


def tuned(
    benchmark: Benchmark | None,
    groups: list[Group],
    name: str | None,
    variant: str | None,
    device: str | None,
) -> TunedKernel:
    """Kernel of the one group of a result; `Result.kernel` describes the rest."""
    if benchmark is None:
        raise ValueError(
            f"{', '.join(sorted({g.benchmark for g in groups})) or 'the search'} is no kernel of "
            "your own: after cubc.use_policies(db) the function of cubc runs the winners"
        )
    if len(groups) != 1:
        names = [" ".join([g.device, g.workload]) for g in groups]
        raise ValueError(f"there are {len(groups)} groups, {', '.join(names)}: take one, as r[0]")
    (group,) = groups
    winner = group.winner()
    label = variant or (winner[1] if winner else "base")
    if label == "base":
        label = benchmark.base(group.arch)
    elif label not in group.cells:
        raise ax.unknown("the search", "variant", label, group.cells)
    rts = sorted(group.workloads, key=lambda rt: tuple(rt.values()))
    return TunedKernel(benchmark, group.ct, rts, label, name, device or _device_of(group))


def _device_of(group: Group) -> str | None:
    """Device of the architecture that was searched; the default one if it is."""
    names = [str(_core.device_info(None)["name"]), *_core.devices()]
    fitting = (name for name in names if _core.device_info(name)["arch"] == group.arch)
    found = next(fitting, None)
    if found is None:
        raise ValueError(f"{group.device} ({group.arch}) was searched, which is not here")
    return found
