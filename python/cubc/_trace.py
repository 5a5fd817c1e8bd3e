"""NVTX ranges, which NVIDIA's profilers show: public calls, variants of a search, a solve's phases.

Off by default, and then free: when it begins, public functions and methods are replaced by ones
with a range.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from ._extras import need

# They compute nothing.
QUIET = {"device", "device_info", "devices", "eager", "ffi", "get_include", "get_library", "trace"}
PACKAGES = ("cubc", "cubc.array_api", "cubc.lattice")
PHASES = {"_prepare": "solve: prepare", "_iterate": "solve: iterate"}  # of cubc.lattice._solve

_domain: Any = None  # of NVTX while tracing is on
_plain: list[tuple[Any, str, Any]] = []  # owners, names, and what was there; None: inherited


class _Nothing:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


class _Range:
    def __init__(self, domain: Any, name: str):
        self._domain = domain
        self._attributes = domain.get_event_attributes(message=name)

    def __enter__(self) -> None:
        self._domain.push_range(self._attributes)

    def __exit__(self, *_: object) -> None:
        self._domain.pop_range()


_NOTHING = _Nothing()


def variant_range(name: str) -> AbstractContextManager[None]:
    """Context of the range of a variant, by its name; of nothing while tracing is off."""
    return _NOTHING if _domain is None else _Range(_domain, name)


def trace(on: bool = True) -> None:
    """Mark calls by NVTX ranges, which NVIDIA's profilers show, or end that.

    Functions of `cubc`, `cubc.array_api` and `cubc.lattice`, methods of their classes, and calls of
    a `Kernel` and of an operator get a range of their name, in the domain ``cubc``; so do the
    variants of a search, in the process that measures them, and the phases of a solve. Names that
    were imported before, as by ``from cubc import sum``, and calls that `bind` returned have no
    ranges. ``CUBC_TRACE=1`` in the environment traces from the import on.

    >>> import cubc
    >>> cubc.trace(False)

    Parameters
    ----------
    on
        False ends it.

    Raises
    ------
    ModuleNotFoundError
        If the package nvtx is not there: ``pip install "cubc[trace]"``.
    """
    global _domain
    if on and _domain is None:
        _domain = need("nvtx").get_domain("cubc")
        os.environ["CUBC_TRACE"] = "1"  # for the processes of a search
        for package in map(importlib.import_module, PACKAGES):
            for name in package.__all__:
                one = getattr(package, name)
                if inspect.isclass(one):
                    _replace_methods(one, f"{package.__name__}.{name}")
                elif callable(one) and name not in QUIET:
                    _replace(package, name, one, f"{package.__name__}.{name}")
        solves = importlib.import_module("cubc.lattice._solve")
        for name, text in PHASES.items():
            _replace(solves, name, getattr(solves, name), text)
    elif not on and _domain is not None:
        _domain = None
        os.environ.pop("CUBC_TRACE", None)
        for owner, name, plain in _plain:
            if plain is None:
                delattr(owner, name)
            else:
                setattr(owner, name, plain)
        _plain.clear()


def _replace_methods(owner: type, text: str) -> None:
    for name in dir(owner):
        found = inspect.getattr_static(owner, name)
        if inspect.isfunction(found) and (name == "__call__" or not name.startswith("_")):
            _replace(owner, name, found, text if name == "__call__" else f"{text}.{name}")


def _replace(owner: Any, name: str, function: Callable[..., Any], text: str) -> None:
    _plain.append((owner, name, vars(owner).get(name)))
    setattr(owner, name, _traced(function, text))


def _traced(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    domain = _domain
    attributes = domain.get_event_attributes(message=name)

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        domain.push_range(attributes)
        try:
            return function(*args, **options)
        finally:
            domain.pop_range()

    return call
