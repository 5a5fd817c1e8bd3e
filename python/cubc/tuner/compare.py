"""Two stores side by side: what a change of the kernels, the compiler or the driver did.

Only times of one physical device are compared. Within a store base is sampled again and again,
beside every variant; each time is one round, those with a fresh opening before the others (see
`verdict`). The rounds of the two stores were not taken by turns, so the machine's drift between the
two searches is in the ratio: search both in one go where a few per cent matter.
"""

from __future__ import annotations

import difflib
import warnings
from collections import defaultdict
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
    """One workload in both stores.

    Times, in seconds, are medians over the rounds; from `verify` those of the last round.
    """

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
                f"| x{v.ratio:.3f} | {v.low:.3f} to {v.high:.3f} "
                f"| {v.word}{'' if v.decided else ' (open)'} |"
            )
        words = [one.verdict.word for one in self.workloads]
        counts = ", ".join(f"{words.count(w)} {w}" for w in (FASTER, SAME, SLOWER))
        lines += ["", f"{counts}; geometric mean x{self.ratio:.3f}"]
        if any(not one.verdict.decided for one in self.workloads):
            lines.append("(open): too few rounds, or too noisy ones, to rule out a difference")
        return "\n".join(lines)

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
        For an unknown benchmark or axis, or a variant that neither store has.
    ValueError
        If the stores have no workload of one device in common.

    Warns
    -----
    RuntimeWarning
        Names the workloads of the first store that are left out because the second has no time of
        them on the same device: not measured there, failed, or measured on another.
    """
    before, after = (_latest(restrict(read(expand(paths)), R, axes)) for paths in (a, b))
    _check_label(variant, [*before.values(), *after.values()])
    found: list[Compared] = []
    missing: list[str] = []
    for key, group in before.items():
        times = _times(group, variant)
        others = _times(after[key], variant) if key in after else {}
        found += [_compared(group, rt, times[rt], others[rt]) for rt in times if rt in others]
        if lost := [rt for rt in times if rt not in others]:
            which = f" {', '.join(lost)}" if len(lost) < len(times) else ""
            missing.append(f"{group.benchmark} {group.workload}{which} on {group.device}")
    if missing:
        names = "; ".join(missing)
        warnings.warn(
            f"{names}: left out, since {b} has no time of {variant} on the same device",
            RuntimeWarning,
            stacklevel=2,
        )
    if not found:
        raise ValueError(f"{a} and {b} have no workload of the same device in common")
    return Comparison(found)


def _check_label(variant: str, groups: list[Group]) -> None:
    known = {cell.variant for group in groups for cell in group.measurements()} | {"base"}
    if variant not in known:
        near = ", ".join(difflib.get_close_matches(variant, known, n=3)) or "base"
        raise LookupError(f"neither store has the variant {variant!r:.80}; nearest: {near}")


def _latest(groups: list[Group]) -> dict[tuple[str, str, str], Group]:
    """Group of each benchmark, workload and device; of several versions that measured last."""
    ordered = sorted(groups, key=lambda group: max(_created(group), default=""))
    return {(group.benchmark, group.workload, group.device_uuid): group for group in ordered}


def _created(group: Group) -> Iterator[str]:
    return (cell.extra["created"] for cell in group.measurements())


def _compared(group: Group, rt: str, a: list[float], b: list[float]) -> Compared:
    medians = float(np.median(a)), float(np.median(b))
    verdict = judge_unpaired(faster=b, slower=a)
    return Compared(group.benchmark, group.workload, rt, group.device, *medians, verdict)


def _times(group: Group, variant: str) -> dict[str, list[float]]:
    """Median times of the rounds at each workload; those with fresh openings if they suffice."""
    rounds, others = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
    for cell in group.measurements():
        if cell.status != OK:
            continue
        if variant == "base":
            time = cell.base_center or (cell.center if cell.variant == "base" else None)
        else:
            time = cell.center if cell.variant == variant else None
        if time:
            (rounds if cell.round else others)[ax.workload_text(cell.rt)].append(time)
    chosen = (
        (rt, rounds[rt] if len(rounds[rt]) >= LEAST else others[rt] + rounds[rt])
        for rt in group.rts
    )
    return {rt: times for rt, times in chosen if times}
