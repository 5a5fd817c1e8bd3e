"""Work that processes of `compilers` do for a search: they compile for devices of others.

What a process compiles goes back as records of a bundle. The process that measures uses a record
only if it was compiled from the same source, by the same compiler and the same version of cubc as
its own; others are passed over, and it compiles the variant itself.
"""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

import cubc
from cubc import _core

from ._heartbeat import Pulse, beating
from ._status import FAILURES
from ._workload import CompileTimeWorkload

MOST = 64 << 20  # bytes of the kernels of one variant
WORDS = 1000  # characters of a reason


class Wanted(NamedTuple):
    """All that has to be alike for code to be of use where it is measured."""

    version: str
    arch: str
    compiler: str

    def missing(self) -> str:
        """Reason why what is compiled here would be of no use; "" if there is none."""
        if self.version != cubc.__version__:
            return f"it has cubc {cubc.__version__}, the search has {self.version}"
        try:
            found = _core.compiler(self.arch)
        except FAILURES as error:
            return str(error)
        if found == self.compiler:
            return ""
        return (
            f"it compiles by {found}, the devices' processes by {self.compiler}: versions, options "
            "and, on the cpu, processors have to be the same"
        )


class Built(NamedTuple):
    """Kernels of a variant, as a bundle's records; b"" if the process that measures has to do it.

    `missing` says why nothing that is compiled in this process would be of use.
    """

    bundle: bytes = b""
    seconds: float = 0.0
    missing: str = ""


def answer() -> str:
    """Version of cubc, which shows that there is a process and that it has cubc."""
    return cubc.__version__


def build(
    wanted: Wanted,
    workload: CompileTimeWorkload,
    variant: str,
    deadline: float,
    pulse: Pulse | None = None,
) -> Built:
    """Compile a variant. One that fails to is compiled once more where it is measured."""
    with beating(pulse):
        if missing := wanted.missing():
            return Built(missing=missing[:WORDS])
        bundle, begun = bytearray(), time.monotonic()
        try:
            workload.compile(variant, deadline, b"", bundle)
        except FAILURES:
            bundle.clear()
        return Built(bytes(bundle) if len(bundle) <= MOST else b"", time.monotonic() - begun)


def checked(reply: Any) -> Built:
    """Take a reply that has the form that `build` gives it; ValueError for any other."""
    if (
        type(reply) is Built
        and type(reply.bundle) is bytes
        and len(reply.bundle) <= MOST
        and type(reply.seconds) is float
        and math.isfinite(reply.seconds)
        and type(reply.missing) is str
        and len(reply.missing) <= WORDS
    ):
        return reply
    raise ValueError(f"its reply is no compiled variant: a {type(reply).__name__}")
