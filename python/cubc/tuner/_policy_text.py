"""Policies as a file of text, beside a store or without it: what a program ships.

A line is a policy: architecture, benchmark, compile-time workload, the run-time workload where it
was found, the hash of the kernel source, and the variant, separated by tabs. Such a file may come
from somebody else: each field is parsed, and `use_policies` checks the variant.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from cubc import _core
from cubc import _outputs as outputs

from . import _axes as ax

HEAD = "# cubc policies 1: architecture, benchmark, types, place, hash of the source, variant"
BEGIN = b"# cubc policies "
FILE = outputs.Kind("file of policies", outputs.begins(BEGIN))
MOST = 16 << 20  # bytes of a file
ARCH = re.compile(r"cpu|sm_[1-9]\d{1,2}[a-z]?", re.ASCII)
LABEL = re.compile(r"[\w.+-]{1,4096}", re.ASCII)


class Policy(NamedTuple):
    """A variant for the calls near a place."""

    arch: str
    benchmark: str
    ct: dict[str, str]
    rt: dict[str, int]
    source_hash: str
    label: str

    @property
    def key(self) -> tuple[str, ...]:
        """Values that tell its calls from those of other policies."""
        texts = ax.workload_text(self.ct), ax.workload_text(self.rt)
        return self.arch, self.benchmark, *texts

    @property
    def current(self) -> bool:
        """True if it was found with the kernel source that this cubc has."""
        try:
            return _core.source_hash(self.benchmark, self.ct, self.arch) == self.source_hash
        except (LookupError, ValueError):  # a benchmark or a workload that it does not have
            return False


def is_text(path: str) -> bool:
    """True of a file of policies; it begins as no store does."""
    # A reader of a pipe would wait for its writer.
    return os.path.isfile(path) and _core.read_file(path, len(BEGIN)) == BEGIN


def write(path: str | Path, policies: Iterable[Policy]) -> int:
    """Write policies to a file; their number."""
    lines = ["\t".join((*p.key, p.source_hash, p.label)) for p in policies]
    outputs.write(path, FILE, [("\n".join([HEAD, *lines]) + "\n").encode("ascii")])
    return len(lines)


def read(path: str) -> list[Policy]:
    """Policies of a file; StoreError with the line that is malformed."""
    with open(path, "rb") as file:
        data = file.read(MOST + 1)
    if len(data) > MOST:
        raise _core.StoreError(f"{path} has more than {MOST >> 20} MiB")
    found = []
    for number, line in enumerate(data.decode("ascii", "replace").split("\n"), 1):
        if number == 1 and line.partition(":")[0] != HEAD.partition(":")[0]:
            raise _core.StoreError(f"{path} is of another version: {line!r:.40}")
        if line and not line.startswith("#"):
            try:
                found.append(parse(line))
            except ValueError as error:
                raise _core.StoreError(f"{path}: line {number}: {error}") from None
    return found


def parse(line: str) -> Policy:
    """Policy of a line; ValueError if it is malformed."""
    fields = line.split("\t")
    if len(fields) != 6:
        raise ValueError(f"{len(fields)} fields, a policy has 6")
    arch, benchmark, ct, rt, digest, label = fields
    if not ARCH.fullmatch(arch):
        raise ValueError(f"{arch!r:.40} is no architecture")
    if not LABEL.fullmatch(benchmark) or not LABEL.fullmatch(label):
        raise ValueError(f"{benchmark!r:.40} {label!r:.80} are no benchmark and variant")
    if not re.fullmatch(r"[0-9a-f]{64}", digest):
        raise ValueError(f"{digest!r:.40} is no hash")
    place = ax.parse_workload(rt)
    if not all(re.fullmatch(r"\d{1,18}", value, re.ASCII) for value in place.values()):
        raise ValueError(f"{rt!r:.80} is no place")
    at = {name: int(value) for name, value in place.items()}
    return Policy(arch, benchmark, ax.parse_workload(ct), at, digest, label)
