"""Packages that ``pip install cubc`` leaves out, and the extras that have them."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

EXTRAS = {
    "cffi": "ffi",
    "cloudpickle": "tune",
    "matplotlib": "plot",
    "nvtx": "trace",
    "pandas": "tune",
    "scipy": "tune",
    "sklearn": "tune",
    "tqdm": "tune",
}


def require(package: str) -> None:
    """Raise ModuleNotFoundError as `need` if a package is not there; it is not imported."""
    if importlib.util.find_spec(package) is None:
        need(package)


def need(module: str, package: str | None = None) -> Any:
    """Import a module of an extra, or a module of `package` that imports one.

    Raises
    ------
    ModuleNotFoundError
        If the package is not there; the message says how it comes there.
    """
    try:
        return importlib.import_module(module, package)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in EXTRAS:
            raise
        pip = {"sklearn": "scikit-learn"}.get(missing, missing)
        raise ModuleNotFoundError(
            f'this needs {pip}, which is not installed: pip install "cubc[{EXTRAS[missing]}]"',
            name=missing,
        ) from None
