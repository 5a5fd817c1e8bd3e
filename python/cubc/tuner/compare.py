"""Two stores side by side: what a change of the kernels, the compiler or the driver did.

Only times of one physical device are compared. Within a store base is sampled again and again,
beside every variant; each time is one round, those with a fresh opening before the others (see
`verdict`). The rounds of the two stores were not taken by turns, so the machine's drift between the
two searches is in the ratio: search both in one go where a few per cent matter.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import axes as ax
from .checks import need
from .records import Group, geometric_mean, restrict
from .status import OK
from .stores import StorePaths, expand, read
from .verdict import FASTER, LEAST, SAME, SLOWER, Verdict, judge_unpaired

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Compared:
    """One workload in both stores; times are medians over the rounds, in seconds."""

    benchmark: str
    ct: str
    rt: str
    device: str
    a: float
    b: float
    verdict: Verdict  # on b; FASTER: b takes less time than a


class Comparison:
    """Verdicts on what two stores have in common.

    Attributes
    ----------
    workloads : list of Compared
    """

    def __init__(self, workloads: list[Compared]):
        self.workloads = workloads

    @property
    def slower(self) -> list[Compared]:
        """Workloads at which the second store is slower."""
        return [one for one in self.workloads if one.verdict.word == SLOWER]

    @property
    def ratio(self) -> float:
        """Geometric mean of the speed of the second store over that of the first."""
        return geometric_mean(one.verdict.ratio for one in self.workloads)

    def to_frame(self) -> pd.DataFrame:
        """Table with a row a workload.

        Returns
        -------
        pandas.DataFrame
            Columns benchmark, ct, rt, device, a_us, b_us (medians, microseconds), ratio, low, high
            (speed of b over that of a with the ends of its interval), rounds (of both), verdict.
        """
        names = ["benchmark", "ct", "rt", "device", "a_us", "b_us"]
        names += ["ratio", "low", "high", "rounds", "verdict"]
        rows = [
            [one.benchmark, one.ct, one.rt, one.device, 1e6 * one.a, 1e6 * one.b]
            + [getattr(one.verdict, name) for name in ("ratio", "low", "high", "rounds", "word")]
            for one in self.workloads
        ]
        return need("pandas").DataFrame(rows, columns=names)

    def markdown(self) -> str:
        """Table in Markdown, with the counts and the geometric mean below it."""
        lines = ["| benchmark | workload | a, us | b, us | b is | interval | |"]
        lines.append("|---|---|--:|--:|--:|---|---|")
        for one in self.workloads:
            v = one.verdict
            lines.append(
                f"| {one.benchmark} | {one.ct} {one.rt} | {one.a * 1e6:.2f} | {one.b * 1e6:.2f} "
                f"| x{v.ratio:.3f} | {v.low:.3f} to {v.high:.3f} | {v.word} |"
            )
        words = [one.verdict.word for one in self.workloads]
        counts = ", ".join(f"{words.count(w)} {w}" for w in (FASTER, SAME, SLOWER))
        return "\n".join([*lines, "", f"{counts}; geometric mean x{self.ratio:.3f}"])

    __str__ = markdown

    def _repr_markdown_(self) -> str:
        return self.markdown()

    def __repr__(self) -> str:
        return f"<Comparison: {len(self.workloads)} workloads, {len(self.slower)} slower>"


def compare(
    a: StorePaths,
    b: StorePaths,
    R: str | None = None,
    axes: Mapping[str, Any] | None = None,
    *,
    variant: str = "base",
) -> Comparison:
    """Compare what two stores say of the same workloads on the same device.

    Parameters
    ----------
    a, b
        Stores, or glob patterns: before and after.
    R, axes
        Restrict benchmarks and axis values, as in `analyze`.
    variant
        What is compared: base, or a label that both have.

    Raises
    ------
    FileNotFoundError, StoreError
        If a path names no store, or a file is none.
    LookupError
        For an unknown benchmark or axis.
    ValueError
        If the stores have no workload of one device in common.
    """
    before, after = (_latest(restrict(read(expand(paths)), R, axes)) for paths in (a, b))
    found = [
        one for key in before if key in after for one in _compared(before[key], after[key], variant)
    ]
    foreign = {key[:2] for key in before} & {key[:2] for key in after}
    foreign -= {(one.benchmark, one.ct) for one in found}
    if foreign:
        names = ", ".join(" ".join(key) for key in sorted(foreign))
        warnings.warn(
            f"{names}: left out, since the stores have no time of {variant} on the same device",
            RuntimeWarning,
            stacklevel=2,
        )
    if not found:
        raise ValueError(f"{a} and {b} have no workload of the same device in common")
    return Comparison(found)


def _latest(groups: list[Group]) -> dict[tuple[str, str, str], Group]:
    """Group of each benchmark, workload and device; of several versions that measured last."""
    ordered = sorted(groups, key=lambda group: max(_created(group), default=""))
    return {(group.benchmark, group.workload, group.device_uuid): group for group in ordered}


def _created(group: Group) -> Iterator[str]:
    return (cell.extra["created"] for cell in group.measurements())


def _compared(before: Group, after: Group, variant: str) -> Iterator[Compared]:
    for rt in before.rts:
        x, y = _times(before, variant, rt), _times(after, variant, rt)
        if not (x and y):
            continue
        about = (before.benchmark, before.workload, rt, before.device)
        yield Compared(
            *about, float(np.median(x)), float(np.median(y)), judge_unpaired(faster=y, slower=x)
        )


def _times(group: Group, variant: str, rt: str) -> list[float]:
    """Median time of each round at a workload; those with fresh openings if there are enough."""
    rounds: list[float] = []
    others: list[float] = []
    for cell in group.measurements():
        if cell.status != OK or ax.workload_text(cell.rt) != rt:
            continue
        if variant == "base":
            time = cell.base_center or (cell.center if cell.variant == "base" else None)
        else:
            time = cell.center if cell.variant == variant else None
        if time:
            (rounds if cell.round else others).append(time)
    return rounds if len(rounds) >= LEAST else [*others, *rounds]
