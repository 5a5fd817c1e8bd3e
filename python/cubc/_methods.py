"""Methods of arrays on a device: texts, pickles, items, operators, and NumPy's names.

The core's type has memory and shape. Everything that can be said by calls of cubc is here.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _arithmetic, _indexing, _numpy, _reductions, _runs, _statistics, _topk
from ._axes import axis_number, axis_numbers
from ._calls import named
from ._core import Array, Lazy, NoDeviceError, asarray
from ._elements import items_in_turn, set_item
from ._html import escape
from ._lazy import indexed
from ._ordered import searchsorted
from ._partitions import argpartition
from ._scatter import put
from ._sorting import argsort
from ._strides import turned
from ._take import take

_SHOWN = 1000  # items; of more, only those at the edges are copied to be shown
_EDGE = 3
_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")


# ---- text ----------------------------------------------------------------------------------------
def _edges(a: Array) -> np.ndarray[Any, Any]:
    """Return the items that NumPy would print, with one of those left out along each axis."""
    for axis, extent in enumerate(a.shape):
        if extent > 2 * _EDGE + 1:
            places = np.r_[0 : _EDGE + 1, extent - _EDGE : extent]
            a = take(a, asarray(places, device=a.device), axis, mode="clip")
    return a.numpy()


def _text(a: Array) -> str:
    if a.size <= _SHOWN:
        return str(a.numpy())
    return np.array2string(_edges(a), threshold=0, edgeitems=_EDGE)


def _type(dtype: Any) -> str:
    """Return a dtype's name; of a struct all of its fields."""
    return str(dtype if dtype.fields else dtype.name)


def _repr(self: Array) -> str:
    return f"cubc.Array({_text(self)}, dtype={_type(self.dtype)}, device='{self.device}')"


def _format(self: Any, spec: str, /) -> str:
    if not spec:
        return str(self)
    if self.ndim:
        raise TypeError(
            f"the format {spec!r} is for one number, and there are {self.size}: take one, as in "
            f"f'{{d[0]:{spec}}}', or format d.numpy()"
        )
    return format(self.item(), spec)


def _html(self: Array) -> str:
    about = f"cubc.Array {self.shape}, {_type(self.dtype)}, {self.device}"
    return f"<div>{escape(about)}<pre>{escape(_text(self))}</pre></div>"


def _lazy_repr(self: Lazy) -> str:
    names = [_named(name, value) for name, value in self.operands.items()]
    what = f"{self.expression!r} of ({', '.join(names)}), {_type(self.dtype)} {self.shape}"
    return f"<cubc.Lazy {what}>"


def _named(name: str, value: Any) -> str:
    return name if np.ndim(value) or isinstance(value, Array) else f"{name}={value}"


def _lazy_html(self: Lazy) -> str:
    return (
        f"<div>{escape(_lazy_repr(self))}<br>computed where a call reads it, or by .array()</div>"
    )


# ---- copies and pickles --------------------------------------------------------------------------
def _restored(items: np.ndarray[Any, Any], device: str) -> Array:
    """Return an array as it was pickled: on the default device where its own is not there."""
    try:
        return asarray(items, device=device)
    except NoDeviceError:
        return asarray(items)


def _reduce(self: Array) -> tuple[Any, ...]:
    return _restored, (self.numpy(), self.device)


def _restored_lazy(expression: str, operands: dict[str, Any], dtype: Any, shape: Any) -> Lazy:
    """Return a lazy input as it was pickled; without arrays its size says its shape."""
    along = [x for name, x in operands.items() if name not in indexed(expression)]
    shaped = any(np.ndim(x) for x in along)
    return Lazy(expression, operands, dtype, None if shaped or not shape else shape[0])


def _reduce_lazy(self: Lazy) -> tuple[Any, ...]:
    return _restored_lazy, (self.expression, dict(self.operands), self.dtype, self.shape)


def _copied(self: Array) -> Array:
    return self.copy()


def _deep_copied(self: Array, memo: dict[int, Any], /) -> Array:
    return self.copy()


# ---- items of a lazy input -----------------------------------------------------------------------
@named
def numpy(self: Lazy) -> Any:
    """Return a lazy input's items in host memory.

    Raises
    ------
    CompileError
        If the expression does not compile.

    Examples
    --------
    >>> print(cubc.lazy("x + 1", x=np.arange(3)).numpy())
    [1 2 3]
    """
    return np.asarray(self)


@named
def item(self: Lazy) -> Any:
    """Compute the only item, as a Python number.

    Raises
    ------
    ValueError
        If there are several items, or none.
    CompileError
        If the expression does not compile.

    Examples
    --------
    >>> (cubc.asarray([3.0]) * 2).item()
    6.0
    """
    return _only_item(self, ValueError)


def _only_item(self: Lazy, refused: type[Exception] = TypeError) -> Any:
    if self.size != 1:  # item() refuses it by ValueError, conversions of Python by TypeError
        raise refused(
            f"only an array of one item can become a scalar, this one has {self.size}: "
            "x.array() computes all of them"
        )
    return np.asarray(self).item()


def _only_index(self: Lazy) -> int:
    if self.shape:
        raise TypeError("only an array without dimensions can become an index")
    return _only_item(self).__index__()


@named
def tolist(self: Lazy) -> Any:
    """Compute the items, as a list, of lists for several dimensions.

    Raises
    ------
    CompileError
        If the expression does not compile.

    Examples
    --------
    >>> (cubc.asarray([[1, 2], [3, 4]]) * 2).tolist()
    [[2, 4], [6, 8]]
    """
    return numpy(self).tolist()


def _length(self: Any) -> int:
    if not self.ndim:
        raise TypeError("len() of an array without dimensions")
    return int(self.shape[0])


def _truth(self: Lazy) -> bool:
    if self.size != 1:
        raise ValueError(
            f"{self.size} items are neither true nor false: ask cubc.any(x) or cubc.all(x)"
        )
    return bool(_only_item(self))


# Replacements of NumPy's methods that the array API's standard lacks.
_INSTEAD = {"fill": "x[...] = value", "dot": "x @ y", "partition": "cubc.partition(x, kth)"}


def _missing(self: Any, name: str) -> Any:
    """Raise AttributeError for a name that is not there; for one of NumPy's say what to write."""
    kind = type(self).__name__
    if (property_of := getattr(type(self), name, None)) is not None:  # its error led here
        return property_of.__get__(self)
    if not name.startswith("_") and hasattr(np.ndarray, name):
        of_standard = hasattr(_namespace(self), name)
        other = f"cubc.array_api.{name}(x)" if of_standard else f"x.numpy().{name}, of a copy"
        instead = _INSTEAD.get(name, other)
        raise AttributeError(f"cubc.{kind} has no '{name}': write {instead}", name=name, obj=self)
    raise AttributeError(f"'cubc.{kind}' object has no attribute '{name}'", name=name, obj=self)


def _lazy_item_of(self: Lazy, index: Any) -> Any:
    raise TypeError(
        "cubc.Lazy has no items of its own, and each index would compute all of it: write "
        "x = x.array() before"
    )


def _lazy_items(self: Lazy) -> Iterator[Any]:
    return iter(self.array())


# ---- the array API standard ----------------------------------------------------------------------
def _namespace(self: Any, /, *, api_version: str | None = None) -> Any:
    """Return cubc.array_api, the array API's namespace of arrays on a device."""
    from . import array_api

    if api_version not in (None, *_VERSIONS):
        raise ValueError(f"the array API {api_version!r} is not there: {', '.join(_VERSIONS)} are")
    return array_api


@named
def to_device(self: Any, device: str, /, *, stream: Any = None) -> Array:
    """Return an array on another device; this one if it is there.

    Raises
    ------
    NoDeviceError
        If there is no such device.

    Examples
    --------
    >>> d = cubc.asarray([1.0, 2.0])
    >>> d.to_device("cpu") is d
    True
    """
    return asarray(self, device=device, stream=stream)


def _device_of(self: Lazy) -> str:
    """Return the device of the operands; "cpu" for those of the host alone."""
    return next((x.device for x in self.operands.values() if isinstance(x, Array)), "cpu")


def _matmul(self: Any, other: Any, /) -> Any:
    if not isinstance(other, Array | Lazy):
        return NotImplemented
    return _namespace(self).matmul(self, other)


# ---- shapes --------------------------------------------------------------------------------------
@named
def transpose(self: Array, *axes: Any) -> Array:
    """Return a copy with the axes in another order, by default reversed.

    Raises
    ------
    ValueError
        If an axis is named twice, or not at all.
    AxisError
        If there is no such axis.

    Examples
    --------
    >>> cubc.empty((2, 3, 4)).transpose(1, 0, 2).shape
    (3, 2, 4)
    """
    order = axes[0] if len(axes) == 1 and not hasattr(axes[0], "__index__") else axes
    numbers = [axis_number(axis, self.ndim) for axis in order or ()]
    if not order:
        numbers = list(reversed(range(self.ndim)))
    if sorted(numbers) != list(range(self.ndim)):
        raise ValueError("axes don't match array")
    return turned(self, numbers)


def _turned(self: Array) -> Array:
    return transpose(self)


def _matrices_turned(self: Array) -> Array:
    if self.ndim < 2:
        raise ValueError("matrix transpose with ndim < 2 is undefined")
    return turned(self, [*range(self.ndim - 2), self.ndim - 1, self.ndim - 2])


@named
def swapaxes(self: Array, axis1: int, axis2: int) -> Array:
    """Return a copy with two axes exchanged.

    Raises
    ------
    AxisError
        If there is no such axis.

    Examples
    --------
    >>> cubc.empty((2, 3, 4)).swapaxes(0, -1).shape
    (4, 3, 2)
    """
    order = list(range(self.ndim))
    a, b = axis_number(axis1, self.ndim), axis_number(axis2, self.ndim)
    order[a], order[b] = order[b], order[a]
    return turned(self, order)


@named
def squeeze(self: Array, axis: Any = None) -> Array:
    """Return the same memory without axes of one item.

    Raises
    ------
    ValueError
        If an axis that is named has several items, or is named twice.
    AxisError
        If there is no such axis.

    Examples
    --------
    >>> cubc.empty((1, 3, 1)).squeeze().shape
    (3,)
    """
    numbers = axis_numbers(axis, self.ndim)
    if axis is not None and any(self.shape[d] != 1 for d in numbers):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return self.reshape(tuple(n for d, n in enumerate(self.shape) if d not in numbers or n != 1))


@named
def ravel(self: Array) -> Array:
    """Return the same memory in one dimension.

    Examples
    --------
    >>> cubc.empty((2, 3)).ravel().shape
    (6,)
    """
    return self.reshape(-1)


@named
def flatten(self: Array) -> Array:
    """Return a copy in one dimension.

    Raises
    ------
    DeviceMemoryError
        If memory does not suffice.

    Examples
    --------
    >>> cubc.empty((2, 3)).flatten().shape
    (6,)
    """
    return self.copy().reshape(-1)


_SHARED = {
    **{name: getattr(_reductions, name) for name in ("sum", "prod", "min", "max", "any", "all")},
    **{name: getattr(_reductions, name) for name in ("argmin", "argmax")},
    **{name: getattr(_statistics, name) for name in ("mean", "var", "std")},
    **{name: getattr(_numpy, name) for name in ("cumsum", "cumprod")},
    "argsort": argsort,
    "nonzero": _indexing.nonzero,
    "repeat": _runs.repeat,
    "searchsorted": searchsorted,
    "take": take,
    "topk": _topk.topk,
    "to_device": to_device,
    "__array_namespace__": _namespace,
    "__matmul__": _matmul,
}
_OF_ARRAY = {
    "T": property(_turned, doc="A copy with the axes reversed."),
    "mT": property(_matrices_turned, doc="A copy with the last two axes exchanged."),
    "transpose": transpose,
    "swapaxes": swapaxes,
    "squeeze": squeeze,
    "ravel": ravel,
    "flatten": flatten,
    "argpartition": argpartition,
    "put": put,
    "__repr__": _repr,
    "__format__": _format,
    "_repr_html_": _html,
    "__getattr__": _missing,
    "__reduce__": _reduce,
    "__copy__": _copied,
    "__deepcopy__": _deep_copied,
    "__setitem__": set_item,
    "__iter__": items_in_turn,
}
_OF_LAZY = {
    "__reduce__": _reduce_lazy,
    "__getattr__": _missing,
    "device": property(_device_of, doc="Name of the device of the operands."),
    "T": property(lambda self: _turned(asarray(self)), doc="A copy with the axes reversed."),
    "mT": property(
        lambda self: _matrices_turned(asarray(self)),
        doc="A copy with the last two axes exchanged.",
    ),
    "numpy": numpy,
    "item": item,
    "tolist": tolist,
    "__repr__": _lazy_repr,
    "__format__": _format,
    "_repr_html_": _lazy_html,
    "__len__": _length,
    "__bool__": _truth,
    "__float__": lambda self: float(_only_item(self)),
    "__int__": lambda self: int(_only_item(self)),
    "__index__": _only_index,
    "__complex__": lambda self: complex(_only_item(self)),
    "__getitem__": _lazy_item_of,
    "__iter__": _lazy_items,
}


def install() -> None:
    """Give the core's types their methods and operators."""
    shared = {**_SHARED, **_arithmetic.methods()}
    own = ((Array, {**_OF_ARRAY, **_arithmetic.methods_in_place()}), (Lazy, _OF_LAZY))
    for kind, others in own:
        for name, method in {**shared, **others}.items():
            setattr(kind, name, method)
