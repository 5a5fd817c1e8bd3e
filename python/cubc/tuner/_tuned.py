"""A kernel of one's own with the values that a search found, to be called with arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from cubc import _core
from cubc._kernel import Extent, Kernel

from . import _axes as ax
from ._space import parse_label

if TYPE_CHECKING:
    from ._benchmark import Benchmark
    from ._groups import Group


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
        label: str,
        name: str | None = None,
        device: str | None = None,
    ):
        self.label, self._ct = label, dict(ct)
        self.values = parse_label(label)
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
        shared: int = 0,
        stream: Any = None,
    ) -> None:
        """Launch the kernel; parameters and errors are those of `cubc.Kernel`.

        The default of `block` is the parameter ``tpb``, and that of `grid` one block for each
        ``tpb * ipt`` items of the largest array.
        """
        if grid is None:
            grid = default_grid(self.name, self.values, arguments)
        super().__call__(*arguments, grid=grid, block=block, shared=shared, stream=stream)


def default_threads(what: str, name: str, values: Mapping[str, Any]) -> int:
    """Parameter ``tpb`` of a variant; ValueError if it has none."""
    if not isinstance(threads := values.get("tpb"), int):
        raise ValueError(f"{name} has no default {what} without a parameter tpb: give {what}=")
    return threads


def default_grid(
    name: str, values: Mapping[str, Any], arguments: Iterable[Any], items: int = 0
) -> int:
    """One block for each ``tpb * ipt`` items, by default of the largest array of the arguments."""
    sizes = [math.prod(one.shape) for one in arguments if getattr(one, "shape", ())]
    each = default_threads("grid", name, values) * values.get("ipt", 1)
    return max(1, -(-(items or max(sizes, default=1)) // each))


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
    return TunedKernel(benchmark, group.ct, label, name, device or _device_of(group))


def _device_of(group: Group) -> str | None:
    """Device of the architecture that was searched; the default one if it is."""
    names = [str(_core.device_info(None)["name"]), *_core.devices()]
    fitting = (name for name in names if _core.device_info(name)["arch"] == group.arch)
    found = next(fitting, None)
    if found is None:
        raise ValueError(f"{group.device} ({group.arch}) was searched, which is not here")
    return found
