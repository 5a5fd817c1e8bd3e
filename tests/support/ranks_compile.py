"""Compiles kernels of lattices over ranks for a GPU. Needs NVRTC, but no GPU.

The benchmarks, by which all other kernels are compiled, are of lattices that are not cut.
"""

import ctypes
import importlib.util
import re
import struct
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("dialect", "block", "grid", "shared", "lattice/solver", "lattice")
INVALID_OPTION = 5  # of NVRTC
# The core's list has members as WORD(name, bounds), REAL(...), COMPLEX(...).
TYPES = {"WORD": "u64", "REAL": "f64", "COMPLEX": "c128"}


def state():
    """The members of a solver's state in the language of the kernels, and its size."""
    text = (ROOT / "csrc/lattice/operators/solver_state.h").read_text()
    members = re.findall(r"^    (WORD|REAL|COMPLEX)\((\w+), ([^)]*)\)", text, re.MULTILINE)
    size = re.search(
        r"CUBC_STATE_BYTES = (\d+)", (ROOT / "csrc/include/cubc/lattice/operators.h").read_text()
    )[1]
    listed = "; ".join(f"{TYPES[kind]} {name}{bounds}" for kind, name, bounds in members)
    return {"TUNE_STATE": listed + ";", "TUNE_STATE_BYTES": size}


def sums_of_ca_cg():
    """The sums of the largest pass over fields: of communication-avoiding conjugate gradients."""
    text = (ROOT / "csrc/lattice/solver/ca_cg.c").read_text()
    return re.findall(
        r'"([a-z_]+\([^"]*\))"', re.search(r"#define GRAM(.*?)enum", text, re.DOTALL)[1]
    )


def library():
    """NVRTC of the environment, or None."""
    spec = importlib.util.find_spec("nvidia")
    for folder in spec.submodule_search_locations if spec else ():
        for path in sorted(Path(folder).glob("*/lib/libnvrtc.so.*")):
            return ctypes.CDLL(str(path))
    return None


def flat(name, seen):
    """The text of a kernel file with all that it includes, each once."""
    if name in seen:
        return ""
    seen.add(name)
    path = next(p for f in FOLDERS if (p := ROOT / "kernels" / f / name).exists())
    lines = []
    for line in path.read_text().splitlines():
        if match := re.match(r'#include "([\w.]+)"', line):
            lines.append(flat(match[1], seen))
        elif not line.startswith("#pragma once"):
            lines.append(line)
    return "\n".join(lines)


def compiled(nvrtc, name, macros, *options):
    """A program of NVRTC, which has compiled a kernel file or failed to, and its log."""
    macros = {"SIMT_CUDA": 1, "SIMT_THREADS": macros["TUNE_THREADS_PER_BLOCK"], "SIMT_WARP": 32} | (
        state() | macros
    )
    text = "".join(f"#define {key} {value}\n" for key, value in macros.items()) + flat(name, set())
    program = ctypes.c_void_p()
    source = text.encode()
    options = ["--std=c++17", "--diag-suppress=177", *options]
    given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    for count in (len(options), len(options) - 1):  # NVRTC before 12.8 has no --Ofast-compile
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
        assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, name.encode(), 0, 0, 0) == 0
        failed = nvrtc.nvrtcCompileProgram(program, count, given)
        if failed != INVALID_OPTION:
            break
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    return program, (log.value.decode() or "failed" if failed else "")


def compile_for(nvrtc, name, macros, arch="sm_90"):
    """Compile a kernel file; returns why that failed, or nothing."""
    options = [f"--gpu-architecture={arch}", "--Ofast-compile=max"]
    program, why = compiled(nvrtc, name, macros, *options)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return why


def sections(elf):
    """The sections of an ELF file of 64 bits, by name."""
    (at,) = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<3H", elf, 58)
    headers = [struct.unpack_from("<2I4Q", elf, at + k * size) for k in range(count)]
    bytes_of = [elf[offset : offset + length] for *_, offset, length in headers]
    texts = bytes_of[names]
    return {
        texts[name : texts.index(b"\0", name)].decode(): found
        for (name, *_), found in zip(headers, bytes_of, strict=True)
    }


def code_of(nvrtc, name, macros, *options):
    """The instructions of the kernels of a file, by the names of the kernels."""
    program, why = compiled(nvrtc, name, macros, "--gpu-architecture=sm_90", *options)
    assert not why, why
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetCUBIN(program, cubin)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    found = sections(cubin.raw).items()
    return {key.removeprefix(".text."): code for key, code in found if key.startswith(".text.")}
