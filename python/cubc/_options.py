"""The options that every primitive has: where it runs. Their types and their documentation."""

import inspect
import re
from collections.abc import Callable
from typing import Any, TypedDict

_PARAMETERS = """\
stream : optional
    Where the work is queued: a stream of CuPy, PyTorch, Numba or cuda.core, or a CUstream's
    address as an int. None is the device's default stream.
workspace : array, optional
    Temporary storage on the device, for callers who manage their own{size}.
device : str, optional
    Where to compute; only for host memory."""
_RAISES = """\
NoDeviceError, DeviceMemoryError, DeviceError, KernelFault
    From the device; of queued work by `synchronize` or a later call."""


class Where(TypedDict, total=False):
    """Options of `_core.call`, which a primitive takes as `**where` and hands on."""

    stream: Any
    workspace: Any
    device: str | None


def without_workspace(where: Where) -> dict[str, Any]:
    """Options of the other calls that a primitive makes: the workspace is for its main one."""
    return {"stream": where.get("stream"), "device": where.get("device")}


def signature(function: Callable[..., Any]) -> inspect.Signature:
    """That of a primitive, with each of the options in place of `**where`."""
    written = inspect.signature(function)
    *parameters, last = written.parameters.values()
    if last.kind is not last.VAR_KEYWORD:
        return written
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
        for name in Where.__annotations__
    ]
    return written.replace(parameters=[*parameters, *options])


def documented(function: Callable[..., Any], workspace: str | None) -> str | None:
    """A primitive's docstring with the entries of these options. Python -OO leaves none."""
    doc = function.__doc__
    if doc is None or "where" not in inspect.signature(function).parameters:
        return doc
    size = f", of the size\n    {workspace} (cubc.h)" if workspace else "; none is needed"
    doc = _add(inspect.cleandoc(doc), "Parameters", _PARAMETERS.format(size=size))
    return _add(doc, "Raises", _RAISES)


def _add(doc: str, section: str, entries: str) -> str:
    """Entries at the end of a section."""
    title = f"\n{section}\n{'-' * len(section)}\n"
    begin = doc.index(title) + len(title)
    following = re.compile(r"\n\n\w+\n-+\n").search(doc, begin)
    end = following.start() if following else len(doc)
    return f"{doc[:end]}\n{entries}{doc[end:]}"
