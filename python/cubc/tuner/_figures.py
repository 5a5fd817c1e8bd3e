"""Plots of an analysis as its methods, and its report.

A plot shows one group of comparable measurements. If an analysis holds several, restrict it with
`R` and `axes`, or take one of them: ``analysis[0]``.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

from cubc._calls import named
from cubc._extras import need

from ._sample_tables import Tables, Variants, labels_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Figures(Tables):
    """Methods of an analysis that draw.

    All plots return Matplotlib axes and take ``ax=`` or, where they are a matrix of plots over the
    run-time axes, ``figure=``. They need ``pip install 'cubc[plot]'``.

    `variants` is a label, several labels, or a regular expression that is searched for in the
    labels, as ``"ipt_(18|19).*tpb_512"``; by default the best variant is shown. All of these raise
    LookupError for an unknown variant, and ValueError if the analysis holds several groups.
    """

    @named
    def report(self, path: str | os.PathLike) -> int:
        """Write one page of HTML that needs no server, no network and no other file.

        It has the winners by place with their verdicts; and of each search its best variants,
        progress, parallel coordinates, failures with their messages, machine, driver, compiler and
        policies.

        Parameters
        ----------
        path
            Path of the file, which replaces such a page.

        Returns
        -------
        int
            Bytes of the page.

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
    def plot_variant(self, variants: Variants = None, *, figure: Any = None) -> Any:
        """Draw the speedup over base at each percentile, a plot for each run-time workload.

        The slowest percent of the samples is on the left, the fastest on the right. Base is the red
        line at 1; above it the variant is faster. The band is the 95 % interval.

        Parameters
        ----------
        variants
            A label, several labels, or a regular expression that is searched for in the labels, as
            ``"ipt_(18|19).*tpb_512"``; up to six. By default it is the best variant.
        figure
            Figure or subfigure of Matplotlib to draw on; a new one by default.

        Returns
        -------
        numpy.ndarray of matplotlib.axes.Axes
            A plot for each run-time workload: rows are the values of ``Elements``, columns those of
            all other run-time axes.

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

        Parameters
        ----------
        variants
            A label, several labels, or a regular expression that is searched for in the labels, as
            ``"ipt_(18|19).*tpb_512"``; up to six. By default it is the best variant.
        figure
            Figure or subfigure of Matplotlib to draw on; a new one by default.

        Returns
        -------
        numpy.ndarray of matplotlib.axes.Axes
            A plot for each run-time workload: rows are the values of ``Elements``, columns those of
            all other run-time axes.

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

        Parameters
        ----------
        variant
            A label, ``"base"`` for base's own samples, or a regular expression, of which the first
            match is drawn. None draws base over the whole search.
        ax
            Axes of Matplotlib to draw on; new ones by default. Only without a variant.
        figure
            Figure or subfigure of Matplotlib to draw on; a new one by default. Only with
            a variant.

        Returns
        -------
        matplotlib.axes.Axes or numpy.ndarray of them
            Without a variant axes with a line for each run-time workload, over the number of
            variants measured. With one a matrix of plots as of `plot_variant`, of the times in
            their order.

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

        A cell shows the best, or the median, of its variants. It is hatched if all of them failed
        or are incomplete, and white if none was tried. Red marks base.

        Parameters
        ----------
        x, y
            Labels of two parameters, as ``"ipt"`` and ``"tpb"``: across and upwards.
        over
            ``"best"`` or ``"median"``, of the variants of a cell.
        ax
            Axes of Matplotlib to draw on; new ones by default.

        Returns
        -------
        matplotlib.axes.Axes
            Axes of the cells, with a colour bar for the score, that of base being 1.

        Raises
        ------
        ModuleNotFoundError
            Without Matplotlib: ``pip install "cubc[plot]"``.
        LookupError
            If there is no such parameter.
        ValueError
            If there are several benchmarks, types or devices, or `over` is another word; if `x` and
            `y` are the same, or no variant has a score.

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

        Parameters
        ----------
        ax
            Axes of Matplotlib to draw on; new ones by default.

        Returns
        -------
        matplotlib.axes.Axes
            Score, that of base being 1, over the number of variants measured.

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

        Parameters
        ----------
        ax
            Axes of Matplotlib to draw on; new ones by default.

        Returns
        -------
        matplotlib.axes.Axes
            A bar for each parameter.

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

        Parameters
        ----------
        ax
            Axes of Matplotlib to draw on; new ones by default.

        Returns
        -------
        matplotlib.axes.Axes
            A line for each variant, over the parameters.

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
        """Draw the throughput in GB/s at each run-time workload.

        Parameters
        ----------
        variants
            A label, several labels, or a regular expression that is searched for in the labels, as
            ``"ipt_(18|19).*tpb_512"``; up to six. By default it is the best variant.
        peak
            Bandwidth of the device's memory in GB/s (10^9 bytes a second), drawn as a line.
        ax
            Axes of Matplotlib to draw on; new ones by default.

        Returns
        -------
        matplotlib.axes.Axes
            Bytes that must be moved over the time, in GB/s; a line for base and for each variant.

        Raises
        ------
        ModuleNotFoundError
            Without Matplotlib: ``pip install "cubc[plot]"``.
        LookupError
            If there is no such variant.
        ValueError
            If there are several benchmarks, types or devices, more than six variants, or the
            benchmark declares no bytes.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "scan")
        >>> a.plot_bandwidth(peak=4800).get_ylabel()
        'throughput (GB/s)'
        """
        group = self._one()
        return _load("_plots").plot_bandwidth(group, labels_of(group, variants), peak, ax)

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

        Dirac operators declare their flops, and a benchmark of your own does by `State.flops`.

        Parameters
        ----------
        variants
            A label, several labels, or a regular expression that is searched for in the labels, as
            ``"ipt_(18|19).*tpb_512"``; up to six. By default it is the best variant.
        peak_gbps
            Bandwidth of the device's memory in GB/s: the slanted roof.
        peak_gflops
            Arithmetic peak of the device in GFLOP/s: the level roof.
        flops
            Operations of each element, of a benchmark that declares none and has the axis
            ``Elements``.
        ax
            Axes of Matplotlib to draw on; new ones by default.

        Returns
        -------
        matplotlib.axes.Axes
            GFLOP/s over flops for each byte that must be moved; both axes are logarithmic.

        Raises
        ------
        ModuleNotFoundError
            Without Matplotlib: ``pip install "cubc[plot]"``.
        LookupError
            If there is no such variant.
        ValueError
            If there are several benchmarks, types or devices, more than six variants, or no bytes
            and flops are known.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "reduce")  # a sum: an addition for each element
        >>> a.plot_roofline(peak_gbps=4800, peak_gflops=60_000, flops=1).get_ylabel()
        'throughput (GFLOP/s)'
        """
        group = self._one()
        labels = labels_of(group, variants)
        return _load("_plots").plot_roofline(group, labels, peak_gbps, peak_gflops, flops, ax)


def _load(module: str) -> Any:
    """Import a module of the tuner that needs packages which cubc itself does without."""
    return need(f".{module}", __package__)
