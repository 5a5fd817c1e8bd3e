"""Options of a search that say when a measurement has enough samples, with their checks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from . import _axes as ax
from ._checks import count, positive, share
from ._stores import MOST_SAMPLES

RULES = ("median", "stdrel", "entropy", "count")
OWN = {  # options that not every stopping rule goes by
    "max_noise": ("median", "stdrel"),
    "min_time": ("stdrel",),
    "max_angle": ("entropy",),
    "min_r2": ("entropy",),
    "samples": ("count",),
}


def _rule(name: str, value: Any) -> str:
    """`value` as the name of a stopping rule; LookupError or TypeError if it is none."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r:.80}, must be one of {', '.join(RULES)}")
    if value not in RULES:
        raise ax.unknown("the measurement", "stopping rule", value, RULES)
    return value


TIMING: dict[str, Callable[[str, Any], Any]] = {  # options of Workload.measure, with checks
    "min_samples": count,
    "max_samples": count,
    "max_noise": positive,
    "timeout": positive,
    "stopping": _rule,
    "min_time": positive,
    "max_angle": positive,
    "min_r2": positive,
    "samples": count,
    "throttle_below": share,
}


def checked_timing(timing: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options as given; LookupError, TypeError or ValueError for a wrong one."""
    if not isinstance(timing, Mapping):
        like = "{'min_samples': 20, 'timeout': 1.0}"
        raise TypeError(f"timing is {timing!r:.80}, must be a dict of options, as {like}")
    checked: dict[str, Any] = {}
    for name, value in timing.items():
        if name not in TIMING:
            raise ax.unknown("the measurement", "option", name, TIMING)
        checked[name] = TIMING[name](name, value)
    for name in ("min_samples", "max_samples", "samples"):
        if checked.get(name, 0) > MOST_SAMPLES:
            raise ValueError(f"{name} is {checked[name]}: a store keeps {MOST_SAMPLES} at most")
    rule = checked.get("stopping", RULES[0])
    for name, rules in OWN.items():
        if name in checked and rule not in rules:
            those = " or ".join(f"stopping={one!r}" for one in rules)
            raise ValueError(f"{name} has no effect with stopping={rule!r}: it belongs to {those}")
    least, most = checked.get("min_samples", 0), checked.get("max_samples", math.inf)
    if least > most:
        raise ValueError(f"min_samples is {least}, more than max_samples, {most}")
    return checked
