"""Deadlines of variants: some seconds, or a multiple (CUB's) of base's time if that is more."""

from __future__ import annotations

import time

from ._measurer import Request

BUILD_FACTOR, BUILD_FLOOR = 10.0, 10.0
RUN_FACTOR, RUN_FLOOR = 50.0, 5.0
METERED = 4.0  # times the seconds asked for, for batches that double up to them
BASE_SECONDS = 300.0  # for base itself, to compile and then to run, before its timing's timeouts


def is_over(moment: float | None) -> bool:
    """True if a moment of time.monotonic() has come; None never does."""
    return moment is not None and time.monotonic() >= moment


def build_deadline(base: float) -> float:
    """Seconds to compile a variant in; `base` is the time that base took."""
    return max(BUILD_FLOOR, BUILD_FACTOR * base)


def run_deadline(base: float, request: Request) -> float:
    """Seconds to verify and measure a variant in; `base` is the time that base took.

    A noisy variant may use its timing's timeout at each workload.
    """
    return max(RUN_FLOOR, RUN_FACTOR * base) + _timeouts(request)


def base_deadline(request: Request) -> float:
    """Seconds to measure base in."""
    return BASE_SECONDS + _timeouts(request)


def _timeouts(request: Request) -> float:
    one = float(request.timing.get("timeout", 0.0)) + METERED * request.meter
    return len(request.runs) * one
