"""Spinor fields in the library's native order, and conversion to and from it.

Users have complex arrays ``[t][z][y][x][spin][colour]`` in the DeGrand-Rossi basis. Kernels read
the native order, which cubc/lattice.h describes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from operator import index
from typing import Any

import numpy as np

from .._arrays import as_array, described
from .._calls import real
from .._core import asarray, call, is_binding

PRECISIONS = {"double": "float64", "single": "float32", "half": "int16"}
PLAIN, EVEN_ODD, NATIVE = range(3)
# Sites around a part, on each side of the directions that are cut: plaquettes and staples reach
# one, and with an even number parities stay. Links of hisq take 4.
MARGIN = 2
MOST_SITES = 1 << 48  # their bytes can be counted; no memory has room for so many
NEAR = 1e-4  # of a matrix to SU(3), |U U^+ - 1| and |det U - 1|: more is not rounding


def precision_type(precision: str) -> str:
    """Return the type of stored reals; that of "half" is int16, in fixed point."""
    if precision not in tuple(PRECISIONS):  # a list has no hash, but is compared
        raise ValueError(f"precision {precision!r}: expected one of {', '.join(PRECISIONS)}")
    return PRECISIONS[precision]


def extent_fields(extent: tuple[int, ...]) -> dict[str, int]:
    """Return the extents by the names of the kernels' parameters."""
    return dict(zip(("lx", "ly", "lz", "lt"), extent, strict=True))


def integer(name: str, value: Any) -> int:
    """Return a whole number as an int; TypeError for anything else."""
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r:.80}: expected an int") from None


def finite(name: str, value: Any) -> float:
    """Return a number as a float; ValueError if it is not finite."""
    number = real(name, value)
    if not isfinite(number):
        raise ValueError(f"{name}={value!r}: expected a finite number")
    return number


def sites_along(extent: Any) -> tuple[int, int, int, int]:
    """Return the sites along x, y, z, t; ValueError or TypeError for anything else."""
    if not isinstance(extent, Sequence | np.ndarray) or len(extent) != 4:
        raise ValueError(f"extent is {extent!r:.80}: expected the sites along x, y, z and t")
    x, y, z, t = (integer("extent", one) for one in extent)
    if min(x, y, z, t) < 1:
        raise ValueError(f"extent is {extent!r:.80}: each is 1 or more")
    if x * y * z * t > MOST_SITES:
        raise ValueError(f"extent is {extent!r:.80}: a lattice has up to 2^48 sites")
    return x, y, z, t


def as_complex(x: Any, what: str, device: Any, stream: Any) -> Any:
    """Return an array of complex numbers, on its own device or, from host memory, on this one."""
    x = as_array(x)
    kind = str(x.dtype).removeprefix("torch.")
    if kind not in ("complex128", "complex64"):
        raise TypeError(
            f"{what} is of {kind}; it has to be complex128 or complex64, as x.astype(complex) is"
        )
    if is_binding() and hasattr(x, "__array_interface__"):
        raise ValueError(f"{what} is on the host and would be copied: bind cubc.asarray of it")
    return asarray(x, device=device, stream=stream)


def is_on_host(x: Any) -> bool:
    """Tell if an array, or what NumPy makes one of, is in host memory."""
    x = described(x)
    return hasattr(x, "__array_interface__") or not hasattr(x, "dtype")


def on_host(x: Any) -> np.ndarray:
    """Return an array of any library, or a list, as one of NumPy."""
    return np.asarray(as_array(x)) if is_on_host(x) else asarray(x).numpy()


def device_output(out: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Return a kernel's output: `out`, or None for a NumPy array, which `returned` fills."""
    if not hasattr(out, "__array_interface__"):
        return out
    if out.shape != tuple(shape) or out.dtype != dtype:
        raise ValueError(
            f"out has shape {out.shape} and dtype {out.dtype}; the result has {tuple(shape)} and "
            f"{dtype}"
        )
    if not out.flags.writeable:
        raise ValueError("out is read-only")
    return None


def returned(x: Any, result: Any, out: Any) -> Any:
    """Return a result: as a NumPy array if `x` or `out` is one, else as a device array."""
    if hasattr(out, "__array_interface__"):
        out[...] = result.numpy()
        return out
    if out is None and is_on_host(x):
        return result.numpy()
    return result if out is None else out


SPINOR = (4, 3)  # axes of a site: spin and colour
COLOUR_VECTOR = (3,)
KINDS: dict[str, tuple[int, ...]] = {"spinor": SPINOR, "colour vector": COLOUR_VECTOR}


def site_of(kind: str) -> tuple[int, ...]:
    """Return the axes of a site of a kind of field; ValueError if there is no such one."""
    if kind not in tuple(KINDS):
        raise ValueError(f"kind {kind!r}: expected one of {', '.join(KINDS)}")
    return KINDS[kind]


@dataclass
class Spinors:
    """Spinors, or colour vectors, in native order.

    Attributes
    ----------
    data : cubc.Array
        Reals of all sites: float64, float32, or int16 in fixed point.
    norms : cubc.Array or None
        Norm of each site, float32, for fixed-point numbers; else None.
    extent : tuple of int
        The lattice: X, Y, Z, T.
    fields : int
        Number of fields of one parity: 2 for each source, or 1 for a source of one parity, times
        the sites of an inner dimension.
    site : tuple of int
        Axes of a site: `SPINOR` or `COLOUR_VECTOR`.
    """

    data: Any
    norms: Any
    extent: tuple[int, int, int, int]
    fields: int
    site: tuple[int, ...] = SPINOR

    @property
    def sites(self) -> int:
        """Number of sites of all fields together."""
        return self.fields * int(np.prod(self.extent)) // 2


def outputs(kind: str, sites: int, site: tuple[int, ...] = SPINOR) -> dict[str, Any]:
    """Return the kernels' parameters out and out_norms, which ask for new arrays of spinors."""
    norms = ("float32", (sites,), None) if kind == "int16" else None
    return {"out": (kind, (reals_of(site) * sites,), None), "out_norms": norms}


def reals_of(site: tuple[int, ...]) -> int:
    """Return the reals of a site."""
    return 2 * int(np.prod(site))


def pack(
    x: Any,
    extent: tuple[int, int, int, int],
    precision: str,
    stream: Any = None,
    site: tuple[int, ...] = SPINOR,
) -> Spinors:
    """Convert spinors, a device array as of `as_complex`, to native order.

    Their shape is ``(..., T, Z, Y, X, *site)``, or with ``X / 2`` for one parity.
    """
    kind = precision_type(precision)
    half = is_half(x.shape, extent, site)
    sites = 2 * x.size // reals_of(site)
    made = outputs(kind, sites, site)
    given = {
        "from": x,
        "to": made["out"],
        "to_norms": made["out_norms"],
        "from_order": EVEN_ODD if half else PLAIN,
        "to_order": NATIVE,
        "reals": reals_of(site),
        **extent_fields(extent),
    }
    data, norms = call("spinor_copy", given, stream=stream)
    return Spinors(data, norms, extent, 2 * sites // math.prod(extent), site)


def unpack(field: Spinors, like: Any, out: Any = None, stream: Any = None) -> Any:
    """Convert spinors back from native order, to the shape and type of `like`."""
    given = {
        "from": field.data,
        "from_norms": field.norms,
        "to": (str(like.dtype), tuple(like.shape), out),
        "from_order": NATIVE,
        "to_order": EVEN_ODD if is_half(like.shape, field.extent, field.site) else PLAIN,
        "reals": reals_of(field.site),
        **extent_fields(field.extent),
    }
    return call("spinor_copy", given, stream=stream)[0]


def copied_part(
    field: Any, to: Any, extent: tuple[int, ...], reals: int, stream: Any, **options: Any
) -> Any:
    """Return a rank's part of a field with sites around it, or without them.

    Parameters
    ----------
    field : cubc.Array
        Field of both parities in native order, of `reals` reals a site.
    to : tuple
        Type, shape and array, or None, of the result.
    extent : tuple of int
        Sites along X, Y, Z, T of the larger field.
    options
        Further members of ``cubc_part_copy_params``.
    """
    given = {"from": field, "to": to, "reals": reals, **extent_fields(extent), **options}
    return call("part_copy", given, stream=stream)[0]


def is_half(
    shape: tuple[int, ...], extent: tuple[int, int, int, int], site: tuple[int, ...] = SPINOR
) -> bool:
    """True if spinors of a shape are of one parity; ValueError for the shape of no spinors."""
    x, y, z, t = extent
    last = tuple(shape[-4 - len(site) :])
    if last == (t, z, y, x, *site):
        return False
    if last == (t, z, y, x // 2, *site):
        return True
    axes = ", ".join(map(str, site))
    raise ValueError(
        f"{'spinors' if site == SPINOR else 'colour vectors'} of shape {tuple(shape)}: on this "
        f"lattice it is (..., {t}, {z}, {y}, {x}, {axes}), or with {x // 2} for {x} of one parity"
    )
