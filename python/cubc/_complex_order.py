"""The order that NumPy gives complex numbers: by their real parts, then by their imaginary ones.

Numbers without NaN come first, then those with it as imaginary part, as real part, as both.
"""

from typing import Any

from ._arrays import as_array, item_dtype
from ._core import transform

_NANS = "2 * (real(z) != real(z)) + (imag(z) != imag(z))"


def is_complex(x: Any) -> bool:
    """Tell if an array of any library, a list or a lazy input is of complex numbers."""
    kind = getattr(getattr(x, "dtype", None), "kind", None)
    return kind == "c" if kind is not None else item_dtype(as_array(x)).kind == "c"


def keys_of_complex(z: Any, options: dict[str, Any], descending: bool = False) -> list[Any]:
    """Return what orders complex numbers as keys of `lexsort`, the last one first."""
    sign = "-" if descending else ""
    parts = [transform(f"{sign}{part}(z)", z=z, **options) for part in ("imag", "real")]
    return [*parts, transform(f"{sign}({_NANS})", z=z, dtype="int8", **options)]
