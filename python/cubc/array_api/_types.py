"""Types of the array API: dtypes, promotion, limits, conversion, and what the namespace can do."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._arrays import common_type
from .._calls import named
from .._core import Array, Lazy
from .._core import asarray as on_device

_KINDS = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
DTYPES = {name: np.dtype(name) for names in _KINDS.values() for name in names}
_GROUPS = {
    "integral": ("signed integer", "unsigned integer"),
    "numeric": ("signed integer", "unsigned integer", "real floating", "complex floating"),
    **{kind: (kind,) for kind in _KINDS},
}
_DEFAULTS = {
    "real floating": DTYPES["float64"],
    "complex floating": DTYPES["complex128"],
    "integral": DTYPES["int64"],
    "indexing": DTYPES["int64"],
}
_MOST_DIMENSIONS = 32


def computed(x: Any) -> Array:
    """Return an array of a device, which a lazy input is computed to; TypeError for others."""
    if isinstance(x, Array):
        return x
    if isinstance(x, Lazy):
        return on_device(x)
    raise TypeError(f"{type(x).__name__} is no array of cubc: xp.asarray(x, device=...) makes one")


def readable(x: Any) -> Any:
    """Return what a reduction reads: a lazy input stays one."""
    return x if isinstance(x, Lazy) else computed(x)


def _dtype(x: Any) -> Any:
    """Return the dtype of an array, a number as it is, or a dtype."""
    if isinstance(x, Array | Lazy):
        return x.dtype
    return x if isinstance(x, bool | int | float | complex) else np.dtype(x)


@named
def result_type(*arrays_and_dtypes: Any) -> Any:
    """Return the type that arrays, dtypes and numbers have together.

    Raises
    ------
    TypeError
        If one is neither, or they have no type together.
    ValueError
        If there is none.

    Examples
    --------
    >>> print(xp.result_type(xp.int32, xp.float64))
    float64
    """
    return common_type(*(_dtype(x) for x in arrays_and_dtypes))


@named
def can_cast(from_: Any, to: Any, /) -> bool:
    """Tell if a type, or that of an array, becomes another one without loss.

    Raises
    ------
    TypeError
        If one is no type.

    Examples
    --------
    >>> xp.can_cast(xp.int32, xp.int64), xp.can_cast(xp.float64, xp.int64)
    (True, False)
    """
    return np.can_cast(_dtype(from_), to)


@named
def isdtype(dtype: Any, kind: Any) -> bool:
    """Tell if a dtype is a given one, of a kind, or of one of a tuple of these.

    Raises
    ------
    ValueError
        If there is no such kind.
    TypeError
        If `dtype` is no type.

    Examples
    --------
    >>> xp.isdtype(xp.int8, "integral"), xp.isdtype(xp.int8, ("bool", xp.int16))
    (True, False)
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if not isinstance(kind, str):
        return np.dtype(dtype) == np.dtype(kind)
    if kind not in _GROUPS:
        raise ValueError(f"kind is {kind!r}: expected one of {', '.join(map(repr, _GROUPS))}")
    return np.dtype(dtype).name in _names(kind)


def _names(kind: str) -> list[str]:
    return [name for one in _GROUPS[kind] for name in _KINDS[one]]


@named
def finfo(type: Any, /) -> np.finfo[Any]:
    """Return the limits of a floating type, or of that of an array.

    Raises
    ------
    ValueError
        If the type is no floating one.

    Examples
    --------
    >>> print(xp.finfo(xp.float32).max)
    3.4028235e+38
    """
    return np.finfo(_dtype(type))


@named
def iinfo(type: Any, /) -> np.iinfo[Any]:
    """Return the limits of an integer type, or of that of an array.

    Raises
    ------
    ValueError
        If the type is no integer one.

    Examples
    --------
    >>> xp.iinfo(xp.int8).max
    127
    """
    return np.iinfo(_dtype(type))


@named
def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: str | None = None) -> Array:
    """Return an array of another type; with copy=False `x` itself where nothing changes.

    Raises
    ------
    TypeError
        If `x` is no array of cubc, or the type none of cubc's.
    NoDeviceError
        If there is no such device.

    Examples
    --------
    >>> xp.astype(xp.asarray([1.5, 2.5]), xp.int64).tolist()
    [1, 2]
    """
    x = computed(x)
    same = x.dtype == np.dtype(dtype)
    made = on_device(x, dtype, device=device)
    return made.copy() if copy and same and made is x else made


@named
def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that shapes have together.

    Raises
    ------
    ValueError
        If the shapes do not go together.

    Examples
    --------
    >>> xp.broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    return np.broadcast_shapes(*shapes)


class __array_namespace_info__:
    """Facts of the namespace: types, devices, defaults.

    Examples
    --------
    >>> info = xp.__array_namespace_info__()
    >>> info.default_device() in info.devices()
    True
    """

    def capabilities(self) -> dict[str, Any]:
        """Return which optional parts are there.

        Examples
        --------
        >>> xp.__array_namespace_info__().capabilities()["boolean indexing"]
        True
        """
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": _MOST_DIMENSIONS,
        }

    def default_device(self) -> str:
        """Return the device of arrays for which no other is named.

        Examples
        --------
        >>> xp.__array_namespace_info__().default_device()  # doctest: +SKIP
        'cuda:0'
        """
        return _core.empty(0).device

    def devices(self) -> list[str]:
        """Return the names of all devices.

        Examples
        --------
        >>> xp.__array_namespace_info__().devices()  # doctest: +SKIP
        ['cuda:0', 'cpu']
        """
        return _core.devices()

    def default_dtypes(self, *, device: str | None = None) -> dict[str, Any]:
        """Return the types of arrays for which no other is named.

        Examples
        --------
        >>> print(xp.__array_namespace_info__().default_dtypes()["real floating"])
        float64
        """
        return dict(_DEFAULTS)

    @named
    def dtypes(
        self, *, device: str | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, Any]:
        """Return the types of a kind, by name; they are those of all devices.

        Raises
        ------
        ValueError
            If there is no such kind.

        Examples
        --------
        >>> print(*xp.__array_namespace_info__().dtypes(kind="real floating"))
        float32 float64
        """
        if kind is None:
            return dict(DTYPES)
        return {name: dtype for name, dtype in DTYPES.items() if isdtype(dtype, kind)}
