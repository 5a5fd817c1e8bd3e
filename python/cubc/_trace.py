"""NVTX ranges, which NVIDIA's profilers show: public calls, variants of a search, a solve's phases.

Off by default, and then free: public functions are replaced by ones with a range when it begins.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from ._extras import need

# They compute nothing.
QUIET = {"device", "device_info", "devices", "ffi", "get_include", "get_library", "trace"}
PACKAGES = ("cubc", "cubc.lattice")

_domain: Any = None  # of NVTX while tracing is on
_plain: dict[tuple[str, str], Callable[..., Any]] = {}  # functions without ranges


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


def phase(name: str) -> AbstractContextManager[None]:
    """Context of a range with this name; of nothing while tracing is off."""
    return _NOTHING if _domain is None else _Range(_domain, name)


def trace(on: bool = True) -> None:
    """Mark calls by NVTX ranges, which NVIDIA's profilers show, or end that.

    Functions of `cubc` and `cubc.lattice` get a range of their name, in the domain ``cubc``; so do
    the variants of a search, in the process that measures them, and the phases of a solve. Names
    that were imported before, as by ``from cubc import sum``, have no ranges. ``CUBC_TRACE=1`` in
    the environment traces from the import on.

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
                function = getattr(package, name)
                if callable(function) and not inspect.isclass(function) and name not in QUIET:
                    _plain[package.__name__, name] = function
                    setattr(package, name, _traced(function, f"{package.__name__}.{name}"))
    elif not on and _domain is not None:
        _domain = None
        os.environ.pop("CUBC_TRACE", None)
        for (package_name, name), function in _plain.items():
            setattr(sys.modules[package_name], name, function)
        _plain.clear()


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
