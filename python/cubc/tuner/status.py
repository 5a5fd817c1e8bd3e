"""What an exception of the core says about the variant that raised it."""

from __future__ import annotations

from typing import Any

from cubc import _core

STATUS: tuple[tuple[type[Exception], str], ...] = (
    (_core.CompileError, "compile_error"),
    (_core.ResourceError, "resources"),
    (_core.KernelFault, "fault"),
    (_core.DeviceError, "fault"),
    (TimeoutError, "timeout"),
    (MemoryError, "resources"),
)
FAILURES = tuple(kind for kind, _ in STATUS)
MESSAGE = 4000  # characters of a message that are kept


def failure(error: Exception) -> dict[str, Any]:
    """Status and message of a variant that raised one of `FAILURES`."""
    status = next(status for kind, status in STATUS if isinstance(error, kind))
    return {"status": status, "message": explain(error)}


def explain(error: Exception) -> str:
    """Text of an exception with the compiler's log, if it has one."""
    log = getattr(error, "log", None) or ""
    text = str(error) or type(error).__name__
    return (text if log in text else f"{text}\n{log}").strip()[:MESSAGE]
