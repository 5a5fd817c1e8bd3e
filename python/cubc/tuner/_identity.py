"""Identity of a user's function: its instructions and the values that it finds outside itself.

A measurement counts for what was measured. A function that is made in a loop has the same
instructions each time, and other values of the names around it.
"""

from __future__ import annotations

import array
import dis
import hashlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from numbers import Number
from pathlib import PurePath
from types import CodeType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

import cubc

_OUTER = ("LOAD_GLOBAL", "LOAD_NAME")
_PLAIN = (
    *(type(None), bool, int, float, complex, str, bytes, range, slice),
    *(Number, np.generic, np.dtype, Enum, PurePath),
)
_WRAPPED = ("__wrapped__", "pyfunc", "py_func")  # functions in those of functools, NumPy, Numba


def identity(function: Callable[..., Any]) -> str:
    """Text that differs between functions of different code, or that use different values.

    It has the instructions, without lines, file names and comments; the values of defaults, and of
    the names of enclosing functions and of the module: numbers, texts, arrays, buffers, containers
    and dataclasses of these, and functions of the same module, by their own identities, also where
    they are cached or vectorized. Of other objects it has the type, of modules nothing.
    """
    outside = tuple(_outside(function, function.__module__, ()))
    return repr(_instructions(function.__code__)) + (repr(outside) if outside else "")


def _instructions(code: CodeType) -> tuple:
    constants = tuple(_constant(one) for one in code.co_consts)
    return code.co_code, code.co_names, code.co_varnames, constants


def _constant(value: Any) -> Any:
    if isinstance(value, CodeType):
        return _instructions(value)
    if isinstance(value, frozenset):  # whose order differs from process to process
        return f"frozenset({sorted(map(repr, value))})"
    if isinstance(value, tuple) and any(isinstance(one, tuple | frozenset) for one in value):
        return repr(tuple(map(_constant, value)))
    return repr(value)


def _outside(function: Any, module: str, path: tuple[int, ...]) -> Iterator[tuple[str, str]]:
    """Names that a function finds outside itself, and texts of their values.

    `path` has the objects of which this one is a part.
    """
    path = (*path, id(function))
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            value = cell.cell_contents
        except ValueError:  # it has no value yet
            continue
        yield name, _text(value, module, path)
    for k, value in enumerate(function.__defaults__ or ()):
        yield f"default {k}", _text(value, module, path)
    for name, value in (function.__kwdefaults__ or {}).items():
        yield name, _text(value, module, path)
    for name in sorted(_names(function.__code__)):
        if name in function.__globals__ and (
            text := _text(function.__globals__[name], module, path)
        ):
            yield name, text


def _names(code: CodeType) -> set[str]:
    """Names of the module that a function's code loads, and that of functions within it."""
    found = {one.argval for one in dis.get_instructions(code) if one.opname in _OUTER}
    return found.union(*(_names(one) for one in code.co_consts if isinstance(one, CodeType)))


def _text(value: Any, module: str, path: tuple[int, ...]) -> str:
    """Text of a value; "" if it is a module."""
    if isinstance(value, ModuleType):
        return ""
    if isinstance(value, _PLAIN):
        return repr(value)
    if id(value) in path:  # it is within itself
        return "..."
    if (items := _array(value)) is not None:
        digest = hashlib.sha256(np.ascontiguousarray(items).tobytes()).hexdigest()
        return f"array {items.dtype} {items.shape} {digest}"
    if isinstance(value, FunctionType) and value.__module__ == module:
        return repr((_instructions(value.__code__), tuple(_outside(value, module, path))))
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    parts = _parts(value)
    if parts is None:
        return f"{kind} {getattr(value, '__name__', '')}"
    texts = [_text(one, module, (*path, id(value))) for one in parts]
    return f"{kind}({', '.join(sorted(texts) if isinstance(value, set | frozenset) else texts)})"


def _array(value: Any) -> np.ndarray | None:
    """Array of an object that is one of plain items, or of a buffer; None of others."""
    if isinstance(value, bytearray | memoryview | array.array):
        value = np.asarray(value)
    elif isinstance(value, cubc.Array):
        value = value.numpy()
    is_plain = isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray)
    return value if is_plain and not value.dtype.hasobject else None


def _parts(value: Any) -> list[Any] | None:
    """Values that an object consists of; None if they are not known."""
    if isinstance(value, np.ma.MaskedArray):
        return [value.data, np.ma.getmaskarray(value)]
    if isinstance(value, np.ndarray):
        return [value.shape, value.ravel().tolist()]
    if isinstance(value, tuple | list | set | frozenset | deque):
        return [*value]
    if isinstance(value, Mapping):
        return [part for item in value.items() for part in item]
    if isinstance(value, SimpleNamespace):
        return [vars(value)]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    wrapped = [found for name in _WRAPPED if (found := getattr(value, name, None)) is not None]
    if wrapped and isinstance(wrapped[0], FunctionType):
        return wrapped[:1]
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in fields(value)]
    return None
