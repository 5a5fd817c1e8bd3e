"""Statuses of variants, and the status that each exception of the core stands for."""

from __future__ import annotations

from typing import Any

from cubc import _core

OK, WRONG, FAULT, TIMEOUT = "ok", "wrong", "fault", "timeout"
COMPILE_ERROR = "compile_error"
RESOURCES = "resources"  # it needs more than there is, or than a variant may have
LOST = "lost"  # not run at this workload: it had lost at others already
PRUNED = "pruned"  # not run: the compiled variant breaks a constraint
RECORDED = "recorded"  # no measurement: calls that a program made
_OF_EXCEPTION: tuple[tuple[type[Exception], str], ...] = (
    (_core.CompileError, COMPILE_ERROR),
    (_core.ResourceError, RESOURCES),
    (_core.KernelFault, FAULT),
    (_core.DeviceError, FAULT),
    (TimeoutError, TIMEOUT),
    (MemoryError, RESOURCES),
)
FAILURES = tuple(kind for kind, _ in _OF_EXCEPTION)
STATUSES = frozenset({OK, WRONG, LOST, PRUNED, *(status for _, status in _OF_EXCEPTION)})
# Parts of the messages of compile errors that are the machine's, and not the variant's. The store
# renews such rows (csrc/store/store_schema.c).
OF_MACHINE = "the compiler was killed by signal", "o space left on device", "annot allocate memory"
# End of a CompileError's text. A stored message goes without it, since the output follows there.
ELSEWHERE = " (the whole output is in .log)"
MESSAGE = 4000  # characters of a message that are kept


def weight(status: str, message: str) -> int:
    """Rank of a variant's row among those of one key, whichever comes first.

    A variant that is wrong or faults now and then is so for good, and one that was not worth a
    measurement may be measured after all. A store has the same order (csrc/store/store_schema.c).
    """
    unknown = status in (LOST, PRUNED) or (
        status == COMPILE_ERROR and any(text in message for text in OF_MACHINE)
    )
    return {WRONG: 3, FAULT: 2}.get(status, 0 if unknown else 1)


def failure(error: Exception) -> dict[str, Any]:
    """Status and message of a variant that raised one of `FAILURES`."""
    status = next(status for kind, status in _OF_EXCEPTION if isinstance(error, kind))
    return {"status": status, "message": explain(error)}


def explain(error: Exception) -> str:
    """Text of an exception with the compiler's log, if it has one."""
    log = getattr(error, "log", None) or ""
    text = str(error).removesuffix(ELSEWHERE) or type(error).__name__
    return (text if log in text else f"{text}\n{log}").strip()[:MESSAGE]
