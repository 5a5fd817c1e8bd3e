"""Plots of an analysis as its methods, and the tables that they draw.

A plot shows one group of comparable measurements. If an analysis holds several, restrict it with
`R` and `axes`, or take one of them: ``analysis[0]``.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from cubc._calls import named
from cubc._extras import need

from ._axes import split_name
from ._checks import regex
from ._groups import Group, Measurement

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Variants = str | Iterable[str] | None


class Figures:
    """Methods of an analysis that draw, or that need the raw samples.

    All plots return Matplotlib axes and take ``ax=`` or, where they are a matrix of plots over the
    run-time axes, ``figure=``. They need ``pip install 'cubc[plot]'``.

    `variants` is a label, several labels, or a regular expression that is searched for in the
    labels, as ``"ipt_(18|19).*tpb_512"``; by default the best variant is shown. All of these raise
    LookupError for an unknown variant, and ValueError if the analysis holds several groups.
    """

    groups: list[Group]

    @named
    def report(self, path: str | os.PathLike) -> int:
        """Write one page of HTML that needs no server, no network and no other file; its bytes.

        It has the winners by place with their verdicts; and of each search its best variants,
        progress, parallel coordinates, failures with their messages, machine, driver, compiler and
        policies.

        Raises
        ------
        FileExistsError
            If a file of another kind is there; only such a page is replaced.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "scan")
        >>> a.report("report.html") > 10_000  # bytes
        True
        """
        stores = dict.fromkeys(cell.store for group in self.groups for cell in group.measurements())
        return int(_load("_report").write(self, os.fspath(path), [*stores]))

    @named
    def samples(self, variants: Variants = None) -> pd.DataFrame:
        """Raw samples of some variants and of base, a row each.

        Returns
        -------
        pandas.DataFrame
            Columns: each run-time axis by its plain name; variant; role (``"variant"``, or
            ``"base"`` for base's samples taken in turns with the variant's); place (in time, from
            0, for each role); time_us; clock_mhz (nan where it was not recorded).

        Raises
        ------
        ModuleNotFoundError
            Without pandas: ``pip install "cubc[tune]"``.
        LookupError
            If there is no such variant.
        ValueError
            If there are several benchmarks, types or devices, or more than six variants.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "scan")
        >>> a.samples(a.best().label).columns.tolist()
        ['Elements', 'variant', 'role', 'place', 'time_us', 'clock_mhz']
        """
        import numpy as np

        from ._samples import find

        pd = need("pandas")
        group, labels, samples = self._read(variants)
        parts = []
        for label in labels:
            for rt, cell in group.cells[label].items():
                found = find(group, label, rt, samples)
                series = (
                    ("variant", found.variant, found.clocks),
                    ("base", found.base, found.base_clocks),
                )
                for role, times, clocks in series:
                    known = clocks if clocks.size == times.size else np.full(times.size, np.nan)
                    columns = {"role": role, "place": np.arange(times.size)}
                    columns |= {"time_us": times * 1e6, "clock_mhz": known}
                    if times.size:
                        parts.append(pd.DataFrame(_plain(cell) | columns))
        if not parts:
            raise ValueError(f"{', '.join(labels)}: there are no samples, only failures")
        return pd.concat(parts, ignore_index=True)

    @named
    def ratios(self, variants: Variants = None) -> pd.DataFrame:
        """Data that `plot_variant` draws: speedup over base at each percentile.

        Returns
        -------
        pandas.DataFrame
            Columns: each run-time axis by its plain name; variant; percentile (0.5 ... 99.5 of the
            times: 99.5 is the slowest percent); speedup; low and high (95 % interval); known
            (true if there are enough samples for this percentile).

        Raises
        ------
        ModuleNotFoundError
            Without pandas: ``pip install "cubc[tune]"``.
        LookupError
            If there is no such variant.
        ValueError
            If there are several benchmarks, types or devices, or more than six variants.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "scan")
        >>> table = a.ratios(a.best().label)
        >>> bool((table.low <= table.high).all())
        True
        """
        from ._samples import pair

        pd, q = need("pandas"), _load("_quantiles")
        group, labels, samples = self._read(variants)
        parts = []
        for label in labels:
            for rt, cell in group.cells[label].items():
                mine, base = pair(group, label, rt, samples)
                if not (mine.size and base.size):
                    continue
                band = q.ratio_band(mine, base)
                columns = {"percentile": 100 * q.PERCENTILES}
                columns |= {"speedup": band.value, "low": band.low, "high": band.high}
                columns["known"] = q.known(q.PERCENTILES, min(mine.size, base.size))
                parts.append(pd.DataFrame(_plain(cell) | columns))
        if not parts:
            raise ValueError(f"{', '.join(labels)}: no samples to hold against base")
        return pd.concat(parts, ignore_index=True)

    @named
    def importance(self) -> pd.DataFrame:
        """Share of the score's variation that each parameter has a part in; needs 10 variants.

        Returns
        -------
        pandas.DataFrame
            Most important first; columns parameter; importance (total-effect index: 0 for a
            parameter without effect); spread (standard deviation over the folds); variants (count)
            and r2 (share of the variance that the model predicts: if it is low, importances are
            lower bounds).

        Raises
        ------
        ModuleNotFoundError
            Without scikit-learn: ``pip install "cubc[tune]"``.
        ValueError
            If there are several benchmarks, types or devices, or too few variants.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "scan")
        >>> a.importance().parameter[:2].tolist()
        ['ipv', 'ipt']
        """
        from ._importance import importance

        return importance(self._one())

    @named
    def interactions(self) -> pd.DataFrame:
        """Share of the score's variation that two parameters have together, for all pairs.

        Returns
        -------
        pandas.DataFrame
            Strongest first; columns first, second (parameters), interaction, spread, variants, r2
            (see `importance`).

        Raises
        ------
        ModuleNotFoundError
            Without scikit-learn: ``pip install "cubc[tune]"``.
        ValueError
            If there are several benchmarks, types or devices, or too few variants.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "scan")
        >>> a.interactions().columns[:3].tolist()
        ['first', 'second', 'interaction']
        """
        from ._importance import interactions

        return interactions(self._one())

    @named
    def progress(self) -> pd.DataFrame:
        """Best score so far in measured order, and of random search on average.

        Each variant stands for the part of the space that is nearest to it. Several devices of a
        model have one search.

        Returns
        -------
        pandas.DataFrame
            One row for each variant but base: evaluation (from 1), variant, status, score (nan
            without one), best; and expected, low, high of random search (mean and 90 % interval).

        Raises
        ------
        ModuleNotFoundError
            Without SciPy or pandas: ``pip install "cubc[tune]"``.
        ValueError
            If there are several benchmarks, types or models of devices.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "scan")
        >>> table = a.progress()
        >>> bool(table.best.is_monotonic_increasing)
        True
        """
        from ._progress_curve import progress

        return progress(self._of_a_model())

    @named
    def plot_variant(self, variants: Variants = None, *, figure: Any = None) -> Any:
        """Draw the speedup over base at each percentile, a plot for each run-time workload.

        The slowest percent of the samples is on the left, the fastest on the right. Base is the red
        line at 1; above it the variant is faster. The band is the 95 % interval.

        Raises
        ------
        ModuleNotFoundError
            Without Matplotlib: ``pip install "cubc[plot]"``.
        LookupError
            If there is no such variant.
        ValueError
            If there are several benchmarks, types or devices, or more than six variants.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "scan")
        >>> axes = a.plot_variant(a.best().label)
        >>> axes.shape  # a plot for each number of elements
        (4, 1)
        """
        group, labels, samples = self._read(variants)
        return _load("_plots").plot_variant(group, labels, samples, figure)

    @named
    def plot_density(self, variants: Variants = None, *, figure: Any = None) -> Any:
        """Draw how the times of base and of variants are distributed, with their quartiles.

        A variant's times are divided by the median of the base samples that were taken in turns
        with them.

        Raises
        ------
        ModuleNotFoundError
            Without Matplotlib: ``pip install "cubc[plot]"``.
        LookupError
            If there is no such variant.
        ValueError
            If there are several benchmarks, types or devices, or more than six variants.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "scan")
        >>> a.plot_density().shape
        (4, 1)
        """
        group, labels, samples = self._read(variants)
        return _load("_plots").plot_density(group, labels, samples, figure)

    @named
    def plot_drift(
        self, variant: str | None = None, *, ax: Axes | None = None, figure: Any = None
    ) -> Any:
        """Draw the samples of one variant, and base's, in the order in which they were taken.

        Without a variant it draws how base drifted over the whole search; a machine that stays as
        it is gives lines at 1.

        Raises
        ------
        ModuleNotFoundError
            Without Matplotlib: ``pip install "cubc[plot]"``.
        LookupError
            If there is no such variant.
        ValueError
            If there are several benchmarks, types or devices.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "scan")
        >>> a.plot_drift().get_ylabel()
        'time of base / its median'
        """
        if variant is None:
            return _load("_plots").plot_search_drift(self._one(), ax)
        group, labels, samples = self._read(variant)
        return _load("_plots").plot_drift(group, labels[0], samples, figure)

    @named
    def plot_heatmap(
        self, x: str, y: str, *, over: Literal["best", "median"] = "best", ax: Axes | None = None
    ) -> Axes:
        """Draw the score over the values of two parameters, as colour.

        A cell shows the best, or the median, of its variants. It is hatched if all of them failed,
        and white if none was tried. Red marks base.

        Raises
        ------
        ModuleNotFoundError
            Without Matplotlib: ``pip install "cubc[plot]"``.
        LookupError
            If there is no such parameter.
        ValueError
            If there are several benchmarks, types or devices, or `over` is another word.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "scan")
        >>> a.plot_heatmap("ipt", "tpb").get_xlabel()
        'ipt'
        """
        return _load("_plots").plot_heatmap(self._one(), x, y, over, ax)

    @named
    def plot_progress(self, *, ax: Axes | None = None) -> Axes:
        """Draw the best score so far, each variant's score, and the mean of random searches.

        Raises
        ------
        ModuleNotFoundError
            Without Matplotlib: ``pip install "cubc[plot]"``.
        ValueError
            If there are several benchmarks, types or models of devices.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "scan")
        >>> a.plot_progress().get_xlabel()
        'variants measured'
        """
        return _load("_plots").plot_progress(self._of_a_model(), ax)

    @named
    def plot_importance(self, *, ax: Axes | None = None) -> Axes:
        """Draw `importance` as bars, with the standard deviation over the folds.

        Raises
        ------
        ModuleNotFoundError
            Without Matplotlib: ``pip install "cubc[plot]"``.
        ValueError
            If there are several benchmarks, types or devices, or too few variants.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "scan")
        >>> len(a.plot_importance().patches)  # a bar for each parameter
        11
        """
        return _load("_plots").plot_importance(self._one(), ax)

    @named
    def plot_parallel(self, *, ax: Axes | None = None) -> Axes:
        """Draw each complete variant as a line through its values, coloured by score.

        Raises
        ------
        ModuleNotFoundError
            Without Matplotlib: ``pip install "cubc[plot]"``.
        ValueError
            If there are several benchmarks, types or devices.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "scan")
        >>> axes = a.plot_parallel()
        """
        return _load("_plots").plot_parallel(self._one(), ax)

    @named
    def plot_bandwidth(
        self, variants: Variants = None, *, peak: float | None = None, ax: Axes | None = None
    ) -> Axes:
        """Draw the throughput in GB/s at each run-time workload; `peak` is that of the memory.

        Raises
        ------
        ModuleNotFoundError
            Without Matplotlib: ``pip install "cubc[plot]"``.
        LookupError
            If there is no such variant.
        ValueError
            If there are several benchmarks, types or devices, or the benchmark declares no bytes.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "scan")
        >>> a.plot_bandwidth(peak=4800).get_ylabel()
        'throughput (GB/s)'
        """
        group = self._one()
        return _load("_plots").plot_bandwidth(group, _labels(group, variants), peak, ax)

    @named
    def plot_roofline(
        self,
        variants: Variants = None,
        *,
        peak_gbps: float | None = None,
        peak_gflops: float | None = None,
        flops: float | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw GFLOP/s against flops a byte, under the device's two roofs.

        Dirac operators declare their flops, and a benchmark of your own does by `State.flops`. Of
        others `flops` are those of an element.

        Raises
        ------
        ModuleNotFoundError
            Without Matplotlib: ``pip install "cubc[plot]"``.
        LookupError
            If there is no such variant.
        ValueError
            If there are several benchmarks, types or devices, or no bytes and flops are known.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "reduce")  # a sum: an addition for each element
        >>> a.plot_roofline(peak_gbps=4800, peak_gflops=60_000, flops=1).get_ylabel()
        'throughput (GFLOP/s)'
        """
        group = self._one()
        labels = _labels(group, variants)
        return _load("_plots").plot_roofline(group, labels, peak_gbps, peak_gflops, flops, ax)

    def _of_a_model(self) -> list[Group]:
        """The one group, or those of several devices of its model."""
        alike = len({group.model_key for group in self.groups}) == 1
        return self.groups if alike else [self._one()]

    def _one(self) -> Group:
        if len(self.groups) == 1:
            return self.groups[0]
        listed = (
            f"[{i}] {g.benchmark} {g.workload} on {g.device}" for i, g in enumerate(self.groups)
        )
        raise ValueError(
            "this is about one benchmark and compile-time workload on one device, but here are "
            f"{len(self.groups)}: restrict them with R= and axes=, or take one, such as [0]:\n"
            + "\n".join(listed)
        )

    def _read(self, variants: Variants) -> tuple[Group, list[str], dict]:
        """The one group, labels of variants in it (at least one), and their samples."""
        from ._samples import cells_of, read_samples

        group = self._one()
        labels = _labels(group, variants) or [v for _, v in group.ranked() if v != "base"][:1]
        if not labels:
            raise ValueError(
                f"{group.benchmark} {group.workload}: no variant was measured throughout"
            )
        return group, labels, read_samples(cells_of(group, labels))


def _plain(cell: Measurement) -> dict[str, Any]:
    """Run-time workload, by plain names, and label of a measurement."""
    return {split_name(name)[0]: v for name, v in cell.rt.items()} | {"variant": cell.variant}


def _labels(group: Group, variants: Variants) -> list[str]:
    """Labels that a user means, without doubles, in the order given or else best first."""
    wanted = [variants] if isinstance(variants, str) else variants or ()
    if not isinstance(wanted, Iterable):
        raise TypeError(f"variants is {variants!r:.80}, must be a label or several")
    ranked = [label for _, label in group.ranked()]
    known = [*ranked, *(label for label in group.cells if label not in set(ranked))]
    found: dict[str, None] = {}
    for text in wanted:
        matches = [text] if text in group.cells else []
        matches = matches or list(filter(regex(text).search, known))
        if not matches:
            near = difflib.get_close_matches(text, known, n=1, cutoff=0.3)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise LookupError(f"{group.benchmark} {group.workload} has no variant {text!r}{hint}")
        found.update(dict.fromkeys(matches))
    return list(found)


def _load(module: str) -> Any:
    """Import a module of the tuner that needs packages which cubc itself does without."""
    return need(f".{module}", __package__)
