"""Machine code of the shipped policies: shows without a device which policies a change affects.

A manifest is taken before a change and another after it; `changed` names the policies whose code
differs. Two files may differ although no instruction does. So if a disassembler is present,
nvdisasm or objdump, the instructions are compared as well, and can be listed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from cubc import _core
from cubc import _outputs as outputs
from cubc._progress import bar

from ._limits import cores
from ._policy_text import ARCH
from ._warning import warn
from ._workload import CompileTimeWorkload, compile_time_workloads

# Names of the hashes of an entry; the second may be missing.
CODE, INSTRUCTIONS = "code", "instructions"
Manifest = dict[str, dict[str, str]]


def manifest(
    archs: Sequence[str] | None = None,
    benchmark: str = ".*",
    axes: Mapping[str, Any] | None = None,
    *,
    listings: str | Path | None = None,
    progress: bool | None = None,
) -> Manifest:
    """Hashes of the machine code of every shipped policy; needs compilers and no device.

    Only hashes of code that one version of the compiler made can be the same.

    Parameters
    ----------
    archs
        As ``["sm_80", "sm_90"]``; all that have policies by default.
    benchmark
        Name or regular expression.
    axes
        Restricts the compile-time workloads.
    listings
        Folder, made if it is not there, that gets a file of instructions for each policy. If
        `archs` is None, those without a disassembler here are left out, with a warning.
    progress
        Show a line of progress; None shows it in terminals and notebooks. Elsewhere True prints a
        line every half minute.

    Returns
    -------
    dict of str to dict
        By architecture, benchmark and compile-time workload, as ``"sm_90 reduce.sum F32"``:
        SHA-256 of the code, as ``"code"``, and of its listing, as ``"instructions"``, if there is a
        disassembler for it.

    Raises
    ------
    LookupError, ValueError
        As `search`.
    CompileError
        If a policy does not compile.
    FileNotFoundError
        If listings are asked for and there is no disassembler, or none for a named architecture.
    OSError
        If a listing cannot be written.
    """
    for arch in archs or ():
        if not ARCH.fullmatch(arch):
            raise ValueError(f"{arch!r} is no architecture, as sm_90 or cpu")
    every = [
        policy
        for arch in (_core.archs() if archs is None else archs)
        for workload in compile_time_workloads(benchmark, axes, arch)
        for policy in _policies(workload)
    ]
    if listings is not None:
        if archs is None:
            listable()
        for arch in archs or ():
            _need_disassembler(arch)
        Path(listings).mkdir(parents=True, exist_ok=True)
    with (
        ThreadPoolExecutor(cores()) as threads,
        bar(len(every), progress, "compiling") as shown,
    ):
        found = {}
        abandon = bytearray(1)
        translated = threads.map(partial(_translated, abandon=abandon), every)
        try:
            for policy, (code, text) in zip(every, translated, strict=True):
                name = str(policy)
                found[name] = {CODE: hashlib.sha256(code).hexdigest()}
                if text is not None:
                    found[name][INSTRUCTIONS] = hashlib.sha256(text).hexdigest()
                if listings is not None and text is not None:
                    (Path(listings) / f"{name.replace(' ', '_')}.txt").write_bytes(text)
                shown()
        except BaseException:
            abandon[0] = 1
            threads.shutdown(cancel_futures=True)
            raise
    return found


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Names in two manifests whose instructions differ, or which only one of them has.

    Where one of them does not know the instructions, the code decides.
    """
    names = dict.fromkeys([*before, *after])
    return [name for name in names if not _same(before.get(name), after.get(name))]


def _same(one: Mapping[str, str] | None, other: Mapping[str, str] | None) -> bool:
    if one is None or other is None:
        return False
    known = INSTRUCTIONS in one and INSTRUCTIONS in other
    return one[CODE] == other[CODE] or (known and one[INSTRUCTIONS] == other[INSTRUCTIONS])


def read_manifest(path: str | Path) -> Manifest:
    """Read a manifest that `write_manifest` wrote; ValueError if it is none."""
    if Path(path).exists() and not Path(path).is_file():  # a pipe may never end
        raise ValueError(f"{path} is no manifest: it is not a regular file")
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError(f"{path} is no manifest: it is nested too deeply") from None
    except ValueError as error:  # not UTF-8, not JSON, or a number of thousands of digits
        raise ValueError(f"{path} is no manifest: {error}") from None
    if not isinstance(found, dict) or not all(map(_is_entry, found.values())):
        raise ValueError(
            f"{path} is no manifest: it has to be an object of objects with a {CODE!r}; "
            "cubc verify --write makes one"
        )
    return found


def _is_entry(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get(CODE), str)


def write_manifest(path: str | Path, hashes: Manifest) -> None:
    """Write a manifest as JSON; FileExistsError if a file of another kind is there."""
    outputs.write(path, MANIFEST, [(json.dumps(hashes, indent=1) + "\n").encode()])


def _is_manifest(path: Path) -> bool:
    try:
        read_manifest(path)
    except ValueError:
        return False
    return True


MANIFEST = outputs.Kind("manifest of cubc verify", _is_manifest)


# ---- policies -----------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Policy:
    workload: CompileTimeWorkload
    ranges: str  # of the calls that it is for; "" for all
    label: str

    def __str__(self) -> str:
        workload = self.workload
        parts = [workload.arch, workload.benchmark, *workload.ct.values(), self.ranges]
        return " ".join(filter(None, parts))


def _policies(workload: CompileTimeWorkload) -> list[_Policy]:
    """Policy for all calls, and those for the ranges that declared workloads lie in."""
    found = {"": _core.base(*workload.policy_key)}
    for rt, label in zip(workload.rts, workload.bases, strict=True):
        found[_core.base_range(*workload.policy_key, rt)] = label
    return [_Policy(workload, ranges, label) for ranges, label in found.items()]


# ---- instructions -------------------------------------------------------------------------------
def _translated(policy: _Policy, abandon: bytearray) -> tuple[bytes, bytes | None]:
    """Machine code of a policy and its listing; given up when `abandon` is set."""
    code = _core.code(*policy.workload.policy_key, policy.label, 0.0, abandon)
    return code, disassembled(code, policy.workload.arch)


def disassembled(code: bytes, arch: str) -> bytes | None:
    """Listing of machine code; None if there is no disassembler, or it does not know the code."""
    if (command := _disassembler(arch)) is None:
        return None
    with tempfile.NamedTemporaryFile(prefix="cubc-", suffix=".o") as file:
        file.write(code)
        file.flush()
        done = subprocess.run([*command, file.name], capture_output=True, check=False)
    if done.returncode != 0 or not done.stdout:
        return None
    return done.stdout.replace(os.fsencode(file.name), b"code")  # objdump says what it read


def _disassembler(arch: str) -> list[str] | None:
    """Command, but for the file, that lists the code of an architecture; None if there is none."""
    path, options = (
        (shutil.which("objdump"), ["-d", "--no-show-raw-insn"])
        if arch == "cpu"
        else (_nvdisasm(), ["-c"])
    )
    return [path, *options] if path else None


def listable() -> list[str]:
    """Architectures with policies that a disassembler here knows; a warning names the others."""
    archs = _core.archs()
    found = [arch for arch in archs if _disassembler(arch)]
    left = [arch for arch in archs if arch not in found]
    if not found:
        _need_disassembler(left[0])
    if left:
        warn(f"left out: {_need(left)}")
    return found


def _need_disassembler(arch: str) -> None:
    if _disassembler(arch) is None:
        raise FileNotFoundError(_need([arch]))


def _need(archs: Sequence[str]) -> str:
    how = "objdump (of binutils)" if archs == ["cpu"] else "nvdisasm (pip install cubc[disasm])"
    return f"listings of {', '.join(archs)} need {how}, and it is not there"


@cache
def _nvdisasm() -> str | None:
    """Path of nvdisasm, of the CUDA Toolkit or of its package."""
    try:
        from cuda import pathfinder
    except ImportError:
        return shutil.which("nvdisasm")
    find: Callable[[str], str | None] = getattr(
        pathfinder, "find_nvidia_binary_utility", shutil.which
    )
    return find("nvdisasm") or shutil.which("nvdisasm")
