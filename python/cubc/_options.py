"""Options that calls pass on: stream, workspace and device of every primitive, and others'."""

import inspect
import re
from collections.abc import Callable
from typing import Any, TypedDict, TypeVar, get_args

F = TypeVar("F", bound=Callable[..., Any])

_PARAMETERS = """\
stream : optional
    Stream that the work is queued on: one of CuPy, PyTorch, Numba or cuda.core, or a CUstream's
    address as an int. None is the device's default stream.
workspace : array, optional
    Temporary storage on the device, for callers who manage their own{size}.
device : str, optional
    Device that computes; only for inputs in host memory."""
_RAISES = """\
NoDeviceError, DeviceMemoryError, DeviceError, KernelFault
    From the device; of queued work by `synchronize` or a later call."""


class Placement(TypedDict, total=False):
    """Options that a primitive takes as `**placement` and passes to `_core.call`."""

    stream: Any
    workspace: Any
    device: str | None


class Reducing(Placement, total=False):
    """Options that a reduction by NumPy's name takes as `**options` and passes to `reduce`."""

    commutative: bool
    deterministic: bool


class Scanning(Placement, total=False):
    """Options that a scan by NumPy's name takes as `**options` and passes to `scan`."""

    inclusive: bool
    init: Any
    deterministic: bool


class Sorting(Placement, total=False):
    """Options that a partition takes as `**options` and passes to `sort` or `argsort`."""

    out: Any


_DEFAULTS = {"inclusive": True, "commutative": False, "deterministic": False}


def without_workspace(placement: Placement) -> dict[str, Any]:
    """Return the options of a primitive's other calls: the workspace is for its main call."""
    return {"stream": placement.get("stream"), "device": placement.get("device")}


def signature(function: Callable[..., Any]) -> inspect.Signature:
    """Return a signature with each option in place of `**placement` or `**options`.

    They are those of the class in the annotation, its own before those of all primitives.
    """
    written = inspect.signature(function)
    *parameters, last = written.parameters.values()
    if last.kind is not last.VAR_KEYWORD:
        return written
    names = get_args(last.annotation)[0].__annotations__
    placement = Placement.__annotations__
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_DEFAULTS.get(name))
        for name in [*(name for name in names if name not in placement), *placement]
    ]
    return written.replace(parameters=[*parameters, *options])


def listed(function: F) -> F:
    """Decorate a function that passes its `**options` on: its signature lists each of them."""
    function.__signature__ = signature(function)  # type: ignore[attr-defined]
    return function


def documented(function: Callable[..., Any], workspace: str | None) -> str | None:
    """Return a primitive's docstring with entries for these options; None under Python -OO."""
    doc = function.__doc__
    if doc is None or "placement" not in inspect.signature(function).parameters:
        return doc
    size = f", of the size\n    {workspace} (cubc.h)" if workspace else "; none is needed"
    doc = _add(inspect.cleandoc(doc), "Parameters", _PARAMETERS.format(size=size))
    return _add(doc, "Raises", _RAISES)


def _add(doc: str, section: str, entries: str) -> str:
    """Add entries at the end of a section."""
    before, title, _ = doc.partition(f"\n{section}\n{'-' * len(section)}\n")
    if not title:
        raise ValueError(f"the documentation has no section {section}: {doc.splitlines()[0]}")
    begin = len(before) + len(title)
    following = re.compile(r"\n\n\w+\n-+\n").search(doc, begin)
    end = following.start() if following else len(doc)
    return f"{doc[:end]}\n{entries}{doc[end:]}"
