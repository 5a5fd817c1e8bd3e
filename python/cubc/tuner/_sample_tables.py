"""Tables of an analysis that need its raw samples, or a model of its space."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from cubc._calls import named
from cubc._extras import need

from ._axes import split_name
from ._checks import regex
from ._groups import Group, Measurement
from ._samples import cells_of, find, pair, read_samples

if TYPE_CHECKING:
    import pandas as pd

Variants = str | Iterable[str] | None


class Tables:
    """Methods of an analysis whose tables need more than its rows.

    `variants` is a label, several labels, or a regular expression that is searched for in the
    labels, as ``"ipt_(18|19).*tpb_512"``; by default the best variant is taken. All of these raise
    LookupError for an unknown variant, and ValueError if the analysis holds several groups.
    """

    groups: list[Group]

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
            If there are several benchmarks, types or devices, or no samples of the variants.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "scan")
        >>> a.samples(a.best().label).columns.tolist()
        ['Elements', 'variant', 'role', 'place', 'time_us', 'clock_mhz']
        """
        import numpy as np

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
            If there are several benchmarks, types or devices, or no samples of the variants.

        Examples
        --------
        >>> a = tuner.analyze(tuner.example_db(), "scan")
        >>> table = a.ratios(a.best().label)
        >>> bool((table.low <= table.high).all())
        True
        """
        pd, q = need("pandas"), need("._quantiles", __package__)
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
        group = self._one()
        labels = labels_of(group, variants)
        return group, labels, read_samples(cells_of(group, labels))


def _plain(cell: Measurement) -> dict[str, Any]:
    """Run-time workload, by plain names, and label of a measurement."""
    return {split_name(name)[0]: v for name, v in cell.rt.items()} | {"variant": cell.variant}


def labels_of(group: Group, variants: Variants) -> list[str]:
    """Labels that a user means, each once, in the order given or else best first; at least one.

    Where none is named it is the best that is not base.
    """
    wanted = [variants] if isinstance(variants, str) else variants or ()
    if not isinstance(wanted, Iterable):
        raise TypeError(f"variants is {variants!r:.80}, must be a label or several")
    ranked = [label for _, label in group.ranked()]
    known = list(dict.fromkeys([*ranked, *group.cells]))
    found: dict[str, None] = {}
    for text in wanted:
        matches = [text] if text in group.cells else []
        matches = matches or list(filter(regex(text).search, known))
        if not matches:
            near = difflib.get_close_matches(text, known, n=1, cutoff=0.3)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise LookupError(f"{group.benchmark} {group.workload} has no variant {text!r}{hint}")
        found.update(dict.fromkeys(matches))
    labels = list(found) or [label for label in ranked if label != "base"][:1]
    if not labels:
        raise ValueError(f"{group.benchmark} {group.workload}: no variant was measured throughout")
    return labels
