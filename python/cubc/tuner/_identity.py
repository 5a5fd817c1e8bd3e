"""Identity of a user's function: its instructions and the values that it finds outside itself.

A measurement counts for what was measured. A function that is made in a loop has the same
instructions each time, and other values of the names around it.
"""

from __future__ import annotations

import dis
import hashlib
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

_OUTER = ("LOAD_GLOBAL", "LOAD_NAME")
_PLAIN = (type(None), bool, int, float, complex, str, bytes, np.generic, np.dtype, range, slice)


def identity(function: Callable[..., Any]) -> str:
    """Text that is the same for functions that compute the same.

    It has the instructions, without lines, file names and comments; the values of defaults, and of
    the names of enclosing functions and of the module: numbers, texts, arrays of NumPy, containers
    of these, and functions of the same module, by their own identities. Of other objects it has the
    type, of modules nothing.
    """
    seen: set[int] = set()
    outside = tuple(_outside(function, function.__module__, seen))
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


def _outside(function: Any, module: str, seen: set[int]) -> Iterator[tuple[str, str]]:
    """Names that a function finds outside itself, and texts of their values."""
    if id(function) in seen:
        return
    seen.add(id(function))
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, _text(cell.cell_contents, module, seen)
        except ValueError:  # it has no value yet
            continue
    for k, value in enumerate(function.__defaults__ or ()):
        yield f"default {k}", _text(value, module, seen)
    for name, value in (function.__kwdefaults__ or {}).items():
        yield name, _text(value, module, seen)
    for name in sorted(_names(function.__code__)):
        if name in function.__globals__ and (
            text := _text(function.__globals__[name], module, seen)
        ):
            yield name, text


def _names(code: CodeType) -> set[str]:
    """Names of the module that a function's code loads, and that of functions within it."""
    found = {one.argval for one in dis.get_instructions(code) if one.opname in _OUTER}
    return found.union(*(_names(one) for one in code.co_consts if isinstance(one, CodeType)))


def _text(value: Any, module: str, seen: set[int]) -> str:
    """Text of a value; "" if it is a module."""
    if isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"array {value.dtype} {value.shape} {digest}"
    if isinstance(value, tuple | list | set | frozenset | dict):
        if id(value) in seen:  # or it is within itself
            return "..."
        seen.add(id(value))
    if isinstance(value, tuple | list):
        return f"[{', '.join(_text(one, module, seen) for one in value)}]"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(_text(one, module, seen) for one in value))}}}"
    if isinstance(value, dict):
        items = (f"{_text(k, module, seen)}: {_text(v, module, seen)}" for k, v in value.items())
        return f"{{{', '.join(items)}}}"
    if isinstance(value, FunctionType) and value.__module__ == module:
        return repr((_instructions(value.__code__), tuple(_outside(value, module, seen))))
    if isinstance(value, ModuleType):
        return ""
    return f"{type(value).__module__}.{type(value).__qualname__} {getattr(value, '__name__', '')}"
