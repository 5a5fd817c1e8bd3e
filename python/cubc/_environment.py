"""Variables of the environment that switch something on."""

from __future__ import annotations

import os


def is_on(name: str) -> bool:
    """Tell if a variable is 1.

    Raises
    ------
    ValueError
        If it is neither 1, 0, empty nor absent.
    """
    given = os.environ.get(name) or "0"
    if given not in ("0", "1"):
        raise ValueError(f'{name} is "{given:.40}", must be a number from 0 to 1')
    return given == "1"
