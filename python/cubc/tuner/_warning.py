"""Warnings that name the line of the user, through whatever of cubc a call has passed."""

from __future__ import annotations

import sys
import warnings
from types import FrameType


def warn(text: str) -> None:
    """Warn at the nearest caller that is not of cubc."""
    level = 1
    frame: FrameType | None = sys._getframe()
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "cubc":
        level, frame = level + 1, frame.f_back
    warnings.warn(text, RuntimeWarning, stacklevel=level)
