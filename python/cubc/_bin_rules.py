"""Numbers of bins by a rule from the items, as numpy.histogram_bin_edges has them.

Each rule gives the width of a bin: H. A. Sturges, "The Choice of a Class Interval", 1926; D. P.
Doane, "Aesthetic Frequency Classifications", 1976; D. W. Scott, "On Optimal and Data-Based
Histograms", 1979; D. Freedman and P. Diaconis, "On the Histogram as a Density Estimator", 1981;
C. J. Stone, "An Asymptotically Optimal Histogram Selection Rule", 1984.
"""

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ._arrays import item_dtype
from ._core import asarray, call, reduce
from ._lazy import lazy
from ._quantiles import percentile
from ._selections import select
from ._statistics import mean, std


class _Items:
    """Items of a device, in the range of the bins, and what the rules ask of them.

    `low` and `high` are the ends of the bins, `least` and `most` those of the items.
    """

    def __init__(
        self, items: Any, low: float, high: float, least: float, most: float, options: Any
    ):
        self.items, self.options = items, options
        self.count = int(items.shape[0])
        self.low, self.high = low, high
        self.spread = most - least

    def deviation(self) -> float:
        return float(std(self.items, **self.options))

    def quartiles_apart(self) -> float:
        low, high = asarray(percentile(self.items, [25, 75], **self.options)).numpy()
        return float(high - low)

    def skewness(self, deviation: float) -> float:
        text = "(x - m) / s * ((x - m) / s) * ((x - m) / s)"
        m = float(mean(self.items, **self.options))
        cubes = lazy(text, x=self.items, m=m, s=deviation, dtype="f8")
        return float(mean(cubes, **self.options))

    def counts(self, bins: int) -> np.ndarray:
        fields = {
            "in": self.items,
            "out": ("int64", (bins,), None),
            "bins0": bins,
            "lower0": self.low,
            "upper0": self.high,
            "edge_type": "float64",
            "step_type": "float64",
        }
        return asarray(call("histogram", fields, **self.options)[0]).numpy()


def _sqrt(of: _Items) -> float:
    return of.spread / math.sqrt(of.count)


def _sturges(of: _Items) -> float:
    return of.spread / (math.log2(of.count) + 1)


def _rice(of: _Items) -> float:
    return of.spread / (2 * of.count ** (1 / 3))


def _scott(of: _Items) -> float:
    return (24 * math.sqrt(math.pi) / of.count) ** (1 / 3) * of.deviation()


def _fd(of: _Items) -> float:
    return 2 * of.quartiles_apart() / of.count ** (1 / 3)


def _auto(of: _Items) -> float:
    """The narrower of `fd`, with at most twice the bins of `sqrt`, and `sturges`."""
    return min(max(_fd(of), _sqrt(of) / 2), _sturges(of))


def _doane(of: _Items) -> float:
    n = of.count
    deviation = of.deviation() if n >= 3 else 0.0
    if not deviation > 0:
        return 0.0
    error = math.sqrt(6 * (n - 2) / ((n + 1) * (n + 3)))  # of the skewness of a normal distribution
    return of.spread / (1 + math.log2(n) + math.log2(1 + abs(of.skewness(deviation)) / error))


def _stone(of: _Items) -> float:
    """The number of bins whose estimated loss is the least, up to the larger of 100 and sqrt(n)."""
    n = of.count
    if n <= 1 or not of.spread:
        return 0.0

    def loss(bins: int) -> float:
        share = of.counts(bins) / n
        return (2 - (n + 1) * float(share @ share)) * bins / of.spread

    most = max(100, int(math.sqrt(n)))
    bins = min(range(1, most + 1), key=loss)
    if bins == most:
        warnings.warn(
            "The number of bins estimated may be suboptimal.", RuntimeWarning, stacklevel=6
        )
    return of.spread / bins


_WIDTHS: dict[str, Callable[[_Items], float]] = {
    "auto": _auto,
    "doane": _doane,
    "fd": _fd,
    "rice": _rice,
    "scott": _scott,
    "sqrt": _sqrt,
    "stone": _stone,
    "sturges": _sturges,
}


def bins_by_rule(items: Any, rule: str, ends: Any, given: bool, options: dict[str, Any]) -> int:
    """Return how many bins a rule makes between two ends; `given` tells if they are the caller's.

    NumPy's own function does for its arrays.
    """
    if rule not in _WIDTHS:
        raise ValueError(f"{rule!r} is not a valid estimator for `bins`: {', '.join(_WIDTHS)}")
    if isinstance(items, np.ndarray):
        return int(np.histogram_bin_edges(items, rule, ends if given else None).size) - 1
    low, high = least, most = [float(end) for end in ends]
    if not (math.isfinite(low) and math.isfinite(high)):
        which = "supplied" if given else "autodetected"
        raise ValueError(f"{which} range of [{low}, {high}] is not finite")
    if low == high:
        low, high = low - 0.5, high + 0.5
    items = items.reshape(-1)
    if item_dtype(items).kind == "b":
        items = lazy("static_cast<u8>(x)", x=items, dtype="uint8")
    if given:
        inside = lazy("x >= a && x <= b", x=items, a=low, b=high, dtype=bool)
        items = select(items, inside, **options)
    if not items.shape[0]:
        return 1
    if given:
        least, most = (float(end) for end in reduce(items, ["min", "max"], **options))
    of = _Items(items, low, high, least, most, options)
    width = _WIDTHS[rule](of)
    if item_dtype(items).kind in "iu" and 0 < width < 1:
        width = 1.0
    return math.ceil((high - low) / width) if width else 1
