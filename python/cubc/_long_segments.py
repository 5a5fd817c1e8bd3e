"""Name of the device that a call works on."""

from typing import Any

import numpy as np

from ._core import asarray, device_info


def device_of(keys: Any, where: dict[str, Any]) -> str:
    """Return the name of the device that a call on an array works on."""
    if isinstance(keys, np.ndarray):
        return str(device_info(where.get("device"))["name"])
    return str(asarray(keys).device)
