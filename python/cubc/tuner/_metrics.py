"""Metrics: numbers that a user's benchmark measures of a variant, beside its time.

A store has those of a row in one text, ``error=0.25,peak_bytes=4096.0``. It may come from somebody
else, so it is taken only in exactly this form.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Iterable, Mapping
from typing import Any

MOST = 16  # of a variant
_NAME = re.compile(r"[A-Za-z_]\w{0,30}", re.ASCII)
_PART = re.compile(r"([A-Za-z_]\w{0,30})=(-?\d{1,20}(?:\.\d{1,20})?(?:e[+-]?\d{1,3})?)", re.ASCII)


def check_name(name: Any, taken: Iterable[str]) -> str:
    """Check the name of a new metric.

    Raises
    ------
    TypeError
        If it is no text.
    ValueError
        If it is no name, or another figure has it.
    """
    if not isinstance(name, str):
        raise TypeError(f"a metric's name is a text as 'error', not {name!r:.80}")
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r:.80} is no name of a metric: take up to 31 letters and digits")
    if name in taken:
        raise ValueError(f"{name} is the name of another figure: give the metric one of its own")
    return name


def number(name: str, value: Any) -> float:
    """Value of a metric; TypeError or ValueError if it is no finite number."""
    given = value.item() if hasattr(value, "item") else value  # an array of one
    if isinstance(given, bool) or not isinstance(given, numbers.Real):
        raise TypeError(f"metric {name} is {value!r:.80}, must be a number")
    if not math.isfinite(float(given)):
        raise ValueError(f"metric {name} is {float(given)}, must be finite")
    return float(given)


def to_text(metrics: Mapping[str, float]) -> str:
    """Text of some metrics in a store."""
    return ",".join(f"{name}={value!r}" for name, value in metrics.items())


def from_text(text: str) -> dict[str, float]:
    """Metrics of a text in a store; ValueError if it is none."""
    if not text:
        return {}
    parts = [_PART.fullmatch(part) for part in text.split(",", MOST)]
    found = {part[1]: float(part[2]) for part in parts if part}
    if len(found) < len(parts) or len(parts) > MOST or not all(map(math.isfinite, found.values())):
        raise ValueError(f"{text!r:.80} is no list of metrics, as error=0.25,steps=3.0")
    return found
