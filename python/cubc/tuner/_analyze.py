"""Analysis of the variants in stores: tables, and the policies that follow."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from cubc._calls import named
from cubc._extras import need

from ._best import Best
from ._checks import count
from ._confidence import score_interval
from ._figures import Figures
from ._groups import PARTIAL, Group, settle
from ._header import header
from ._measurement_rows import measurement_rows, with_whole_numbers
from ._objective import check_figures, front
from ._objective import objective as checked_objective
from ._restriction import restrict
from ._samples import cells_of, read_samples
from ._status import LOST, OK
from ._stores import StorePaths, expand, read
from ._warning import warn
from ._winners import (
    rows_of,
    warn_unconfirmed,
    warn_without_base,
    warn_without_score,
    winners,
)
from ._words import listed

if TYPE_CHECKING:
    import pandas as pd

    from ._space import Space
    from ._table import Table


class Analysis(Figures):
    """Measurements of one or several stores, grouped so that only like is compared with like.

    ``analysis[i]`` is an analysis of one group, ``analysis[i:j]`` of several.

    Examples
    --------
    >>> a = tuner.analyze(tuner.example_db())
    >>> len(a), len(a[:1])
    (2, 1)
    """

    def __init__(self, groups: list[Group]):
        self.groups = groups
        settle(groups)

    def __len__(self) -> int:
        return len(self.groups)

    def __getitem__(self, place: int | slice) -> Analysis:
        if not isinstance(place, slice) and place not in range(-len(self.groups), len(self.groups)):
            there = listed(f"[{i}] {g.benchmark} {g.workload}" for i, g in enumerate(self.groups))
            raise IndexError(f"there is no group [{place!r}], but {there}")
        found = self.groups[place]
        return Analysis(found if isinstance(found, list) else [found])

    @named
    def best(self) -> Best | list[Best]:
        """Winner of each group, or the best complete variant; one alone if there is one group.

        Devices of one model that measured the same, with one driver and compiler, count as one
        group: the best of what each of them compared with its own base. Nothing wins that one of
        them has measured again and not found FASTER.

        Raises
        ------
        ValueError
            If no variant was measured at all workloads.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "scan.exclusive.sum")
        >>> a.best().label
        'ipt_64.tpb_384.mb_3.pk_6.ipv_3.ld_1.la_1.ord_1.lb_1.ns_50.l2w_2150'
        """
        found: dict[tuple, Best] = {}
        for group in self.groups:
            if ranked := group.ranked():
                score, label = ranked[0]
                about = (group.benchmark, group.ct, group.arch, group.device)
                verdict = group.verdict(label)
                wins = group.wins(label)
                one = Best(*about, label, score, group.speedups(label), verdict, wins)
                other = found.setdefault(group.model_key, one)
                if _certain(one) > _certain(other):
                    found[group.model_key] = one
        if not found:
            raise ValueError(
                "no variant was measured at all its workloads: search longer, or look at to_frame()"
            )
        models = {group.model_key for group in self.groups}
        return next(iter(found.values())) if len(models) == 1 else [*found.values()]

    @named
    def top(self, n: int = 5) -> Table:
        """Best `n` variants of each group, of those measured at all workloads of the group.

        It prints with a heading for each group, in 80 columns where the terminal has no more.

        Returns
        -------
        pandas.DataFrame
            Columns benchmark, ct, device, variant, score, low, high, verdict, mins, means, maxs.
            Where groups look alike, as those of two devices of a model, the device has the place
            of the group behind its name: ``NVIDIA H200 [1]`` is that of ``analysis[1]``. So it is
            in the tables of `scores` and `coverage`.
            Of two objectives verdict, score, and a score by each under its name, or as
            ``score{objective}`` where a metric has the name of a column. The variants are those
            than which no other is as good in both and better in one, and `n` counts them alone.
            A variant that was measured again has the score, the interval and the verdict of those
            rounds: FASTER, SAME, SLOWER or UNDECIDED; by another objective than time BETTER and
            WORSE. Those that are FASTER or BETTER come first, and nothing else becomes a policy.
            Without a verdict `low` and `high` bound the
            95 % confidence interval given the samples: that the best of many has also been lucky is
            not in it. The last three are over the speedups at the run-time
            workloads. Base is among them, with score 1.

        Raises
        ------
        TypeError, ValueError
            If `n` is no whole number of at least 1.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "scan.exclusive.sum")
        >>> print(a.top(1))  # doctest: +SKIP
        scan.exclusive.sum I16 on NVIDIA H200
         score low high verdict mins means maxs
         1.057 1.051 1.063 FASTER 0.990 1.058 1.150
            ipt_64.tpb_384.mb_3.pk_6.ipv_3.ld_1.la_1.ord_1.lb_1.ns_50.l2w_2150
        """
        rows = []
        n = count("the number of variants to show", n)
        if self.groups and len(self.groups[0].objective.parts) > 1:
            return self._front(n)
        for about, group in self._named():
            best = group.ranked()[:n]
            found = read_samples(cells_of(group, [variant for _, variant in best]))
            for score, variant in best:
                speedups = list(group.speedups(variant).values())
                mean = sum(speedups) / len(speedups)
                numbers = (min(speedups), mean, max(speedups))
                verdict = group.verdict(variant)
                word = verdict.word if verdict else ""
                interval = (verdict.low, verdict.high) if verdict else ()
                if not interval and group.objective.is_time:
                    interval = score_interval(group, variant, found)
                interval = interval or (math.nan, math.nan)
                rows.append((*about, variant, score, *interval, word, *numbers))
        columns = ["variant", "score", "low", "high", "verdict", "mins", "means", "maxs"]
        return _table(rows, [*_ABOUT, *columns])

    def _front(self, n: int) -> Table:
        """Best `n` variants of the Pareto front of each group, by their score."""
        rows = []
        for about, group in self._named():
            words = {one: found.word for one in group.cells if (found := group.verdict(one))}
            known = {variant: group.scores(variant) for _, variant in group.ranked()}
            points = {variant: scores for variant, scores in known.items() if scores}
            first = front([*points.values()])
            kept = [v for v, is_first in zip(points, first, strict=True) if is_first][:n]
            rows += [(*about, v, words.get(v, ""), group.score(v), *points[v]) for v in kept]
        columns = [*_ABOUT, "variant", "verdict", "score"]
        for text in self.groups[0].objective.texts:
            columns.append(f"{text}{{objective}}" if text in columns else text)
        return _table(rows, columns)

    @named
    def scores(self) -> pd.DataFrame:
        """All variants with status and score, best first; a failed one has no score.

        Returns
        -------
        pandas.DataFrame
            Columns benchmark, ct, device, variant, status, score, and the speedup at each run-time
            workload.

        Raises
        ------
        ModuleNotFoundError
            Without pandas: ``pip install "cubc[tune]"``.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "scan.exclusive.sum")
        >>> print(a.scores().columns[:6].tolist())
        ['benchmark', 'ct', 'device', 'variant', 'status', 'score']
        """
        rows = []
        for about, group in self._named():
            for variant in group.cells:
                head = zip(_ABOUT, about, strict=True)
                row: dict[str, Any] = {**dict(head), "variant": variant}
                row["status"] = group.status(variant)
                rows.append(row | {"score": group.score(variant)} | group.speedups(variant))
        frame = _frame(rows)
        if rows:
            order = [*_ABOUT, "score"]
            frame = frame.astype({"score": float})
            frame = frame.sort_values(order, ascending=[True, True, True, False], kind="stable")
        return frame.reset_index(drop=True)

    @named
    def coverage(self) -> pd.DataFrame:
        """Share of the valid parameter space that was measured.

        It prints with every column, as `top` does.

        Returns
        -------
        pandas.DataFrame
            Columns benchmark, ct, device, measured, failed (counts of variants; the failed ones
            were tried too), valid (an estimate above 10 000 variants) and coverage. Measurements
            of another version of the kernel have no valid count, nor have those of a kernel of
            your own in a store: the result of `search` knows its source.

        Raises
        ------
        ModuleNotFoundError
            Without pandas: ``pip install "cubc[tune]"``.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "scan.exclusive.sum")
        >>> int(a.coverage().measured[0])
        91
        """
        rows = []
        for about, group in self._named():
            tried = {tuple(group.parameters(variant).items()) for variant in group.cells} - {()}
            failed = sum(group.status(v) not in (OK, PARTIAL, LOST) for v in group.cells)
            space = self._space(group)
            valid = space.count() if space else None
            share = min(1.0, len(tried) / valid) if valid else None
            rows.append((*about, len(tried), failed, valid, share))
        frame = _frame(rows, [*_ABOUT, "measured", "failed", "valid", "coverage"])
        from ._table import Coverage

        return Coverage(frame.astype({"valid": "Int64", "coverage": float}))

    def _named(self) -> Iterator[tuple[tuple[str, str, str], Group]]:
        """Groups behind what tables say of them, with the place of those that look alike."""
        names = [(group.benchmark, group.workload, group.device) for group in self.groups]
        times = Counter(names)
        for place, (name, group) in enumerate(zip(names, self.groups, strict=True)):
            device = f"{group.device} [{place}]" if times[name] > 1 else group.device
            yield (*name[:2], device), group

    def _space(self, group: Group) -> Space | None:
        """Parameter space of a group, if that is known."""
        return group.space() if group.current else None

    @named
    def policies(self) -> str:
        """Rows ready for ``csrc/compile/policies.def``: the winner of each run-time workload.

        A winner was measured again and found FASTER, or BETTER by another objective. A comment says
        where it was so of another version of the kernel, and none of this one was measured.

        The ranges of a row reach two octaves below and above the workload that was measured, on
        each run-time axis: ``Elements=262144:4194304`` of 2^20.

        Warns
        -----
        RuntimeWarning
            If variants look faster and were not measured again: they are left out.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "scan.exclusive.sum")
        >>> print(a.policies().splitlines()[2][:70])
        POLICY("sm_90", "scan.exclusive.sum", "I16", "Elements=4194304:6710886
        """
        warn_unconfirmed(self.groups, by_workload=True)
        return rows_of(winners(self.groups, by_workload=True))

    @named
    def save_policies(self, path: str | os.PathLike) -> int:
        """Write the winners to a file of text, for `cubc.use_policies` and ``CUBC_POLICIES``.

        A program ships it in place of the store. Policies of another version of a kernel are left
        out with a warning, now and when it is read.

        Parameters
        ----------
        path
            Path of the file, which replaces one of policies.

        Returns
        -------
        int
            Number of policies, without those that keep base at its place.

        Warns
        -----
        RuntimeWarning
            If measurements are of another version of a kernel, or of a kernel of one's own, and if
            variants look faster and were not measured again: they are left out.

        Raises
        ------
        FileExistsError
            If a file of another kind is there; only one of policies is replaced.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "scan.exclusive.sum")
        >>> tuner.analyze("my.db").save_policies("my.policies")  # doctest: +SKIP
        3
        """
        from ._policies import save_policies

        return save_policies(self.groups, path)

    @named
    def header(self) -> str:
        """C header with the constants of the winners, for use in code of one's own.

        They are those over all run-time workloads of a group; of a kernel of one's own those of the
        source that was measured last, whose hash is named. A comment says which are of another
        version of one of cubc's kernels.

        Warns
        -----
        RuntimeWarning
            If variants look faster and were not measured again: they are left out.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "scan.exclusive.sum")
        >>> print(a.header().splitlines()[5])
        #define CUBC_SM_90_SCAN_EXCLUSIVE_SUM_I16_ITEMS_PER_THREAD 64
        """
        warn_unconfirmed(self.groups)
        return header(winners(self.groups))

    @named
    def to_frame(self) -> pd.DataFrame:
        """All measurements, one row for each variant, run-time workload, round and device.

        Returns
        -------
        pandas.DataFrame
            Columns: benchmark; each axis by its plain name (of lattices ``T`` is the extent in
            time and ``T{ct}`` the type); variant; each parameter by its label, or as
            ``round{parameter}`` where another column has that name, and an axis ``device{axis}``;
            round (0 in the search, from 1 where it was measured again); status and message;
            center_us and base_us (medians, microseconds); speedup (by the objective: of the round
            from 1, else as in `scores`); gbps (10^9 bytes that must move,
            a second); samples (count); registers, local_bytes, shared_bytes, blocks_per_sm;
            flops (that must be done), temperature (degrees Celsius), power (watts) and clock_mhz,
            hot_us (mean of runs that follow each other), 0 or nan where they are unknown; each
            metric that a benchmark of one's own measures, under its name, or as
            ``samples{metric}``; created, device, arch, device_uuid, driver, compiler, source_hash,
            store, id.

        Raises
        ------
        ModuleNotFoundError
            Without pandas: ``pip install "cubc[tune]"``.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "scan.exclusive.sum")
        >>> a.to_frame()[["variant", "center_us"]].head(1)
          variant center_us
        0 base 10.8
        """
        rows = [row for group in self.groups for row in measurement_rows(group)]
        return with_whole_numbers(_frame(rows), rows)

    def _repr_html_(self) -> str:
        return self.top().to_html(index=False, float_format="{:.3f}".format)

    def __repr__(self) -> str:
        counts = f"{len(self.groups)} groups, {sum(len(g.cells) for g in self.groups)} variants"
        return f"<{type(self).__name__}: {counts}>"


def _certain(best: Best) -> tuple[bool, bool, float]:
    """Rank among the best of several devices: winners, then variants that were measured again."""
    return best.wins, best.verdict is not None, best.score


_ABOUT = ["benchmark", "ct", "device"]


def _frame(rows: list, columns: list[str] | None = None) -> pd.DataFrame:
    """Make a table; pandas takes longer to import than cubc, so only here."""
    return need("pandas").DataFrame(rows, columns=columns)


def _table(rows: list, columns: list[str]) -> Table:
    """Make a table of variants that prints whole."""
    need("pandas")
    from ._table import Table

    return Table(rows, columns=columns)


def analyze(
    paths: StorePaths,
    R: str | None = None,
    axes: Mapping[str, Any] | None = None,
    objective: str | Iterable[str] = "time",
) -> Analysis:
    """Read stores for analysis.

    Parameters
    ----------
    paths
        One store or glob pattern, or several.
    R
        Regular expression that a benchmark's name must match from its start; all by default.
    axes
        Axis name to one value or several: only these workloads are looked at.
    objective
        Figure that scores are of, or two, as for `search`.

    Returns
    -------
    Analysis

    Warns
    -----
    RuntimeWarning
        If no measurement of a benchmark and workload has the figures of the objective, or if that
        is no positive number for some variants, which have no score then.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If a path names no store.
    StoreError
        If a file is no store, or of a newer version; if no row can be used. Where only some cannot,
        they are left out with a warning.
    LookupError
        If no benchmark matches `R`, or an axis or a figure is unknown.
    ValueError
        If a value is not declared, or nothing is left to analyse.

    Examples
    --------
    >>> a = tuner.analyze(tuner.example_db(), "scan.exclusive.sum")
    >>> a
    <Analysis: 1 groups, 91 variants>
    """
    names = expand(paths)
    wanted = checked_objective(objective, None)
    known = read(names)
    groups = restrict(known, R, axes)
    if not groups:
        there = listed(dict.fromkeys(f"{group.benchmark} {group.workload}" for group in known))
        raise ValueError(f"{', '.join(names)}: nothing was measured of this; there is {there}")
    check_figures(wanted, {name for group in groups for name in group.metrics()})
    if not all(map(wanted.is_known, (group.measurements() for group in groups))):
        figure = " and ".join(wanted.texts)
        warn(f"{', '.join(names)}: not all was measured with what {figure} needs, and has no score")
    for group in groups:
        group.objective = wanted
    warn_without_base(groups)
    warn_without_score(groups)
    return Analysis(groups)
