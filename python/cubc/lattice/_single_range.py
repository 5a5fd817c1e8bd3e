"""Double sources whose numbers single precision does not hold, brought into its range.

The solver itself scales sources whose squares do not fit its precision. Those whose numbers do not
are zero, infinite or rounded to few bits by the time that it sees them.
"""

from typing import Any

import numpy as np

from .._core import asarray, reduce, transform
from .._lazy import lazy

_MOST = 100  # exponent of a number that has all bits in single precision, with room for products


def scales_into_single(b: Any, sources: int, grid: Any, stream: Any) -> np.ndarray | None:
    """Return a power of two for each source of an array on a device; None if all fit without.

    The ranks of a grid find the same ones.
    """
    size = lazy("fmax(fabs(real(z)), fabs(imag(z)))", z=b.reshape(sources, -1), dtype="float64")
    largest = asarray(reduce(size, "max", axis=1, stream=stream)).numpy()
    if grid is not None:
        largest = np.max(grid._all(largest), axis=0)
    exponent = np.frexp(largest)[1]
    far = np.isfinite(largest) & (largest > 0) & (np.abs(exponent) > _MOST)
    return np.ldexp(1.0, np.where(far, np.clip(-exponent, -1000, 1000), 0)) if far.any() else None


def scaled(x: Any, scales: np.ndarray, length: int, stream: Any, out: Any = None) -> Any:
    """Return fields of `length` numbers times the scale of each, those of the first ones again."""
    s = asarray(scales, device=asarray(x).device, stream=stream)
    given = {"z": x, "s": s, "n": length, "m": len(scales)}
    return transform("z * s[i / n % m]", dtype="complex128", out=out, stream=stream, **given)
