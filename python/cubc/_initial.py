"""Initial values of reductions and scans that are in a device's memory, and stay there."""

from typing import Any

import numpy as np

from ._arrays import described
from ._core import Array, Lazy, asarray


def init_in_memory(init: Any, dtype: Any) -> Any:
    """Return an array of a device as one item of a type, which the kernel reads.

    Anything else is a number of the host, and comes back as it is.
    """
    if isinstance(init, Lazy):
        init = init.array()
    if hasattr(init, "__dlpack__"):
        init = described(init)
    if not isinstance(init, Array) and not hasattr(init, "__cuda_array_interface__"):
        return init
    one = asarray(init)
    if one.size != 1:
        raise ValueError(f"init has {one.size} items: expected a number, or an array of one item")
    return one if one.dtype == np.dtype(dtype) else asarray(one, dtype)
