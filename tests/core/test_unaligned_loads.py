"""Loads of chunks from any address: every byte in its place, and none read beyond the last one.

What GPUs run is compiled for the host, under AddressSanitizer.
"""

import subprocess
from pathlib import Path

from cubc import _core

PROGRAM = r"""
#include "memory.h" // alone: it has functions of the C library's names

template <class T, int N>
static void check()
{
    enum { BYTES = N * sizeof(T) };
    for (int first = 0; first < 32; first += alignof(T)) {
        u8* const all = static_cast<u8*>(__builtin_malloc(first + BYTES)); // begins on 16 bytes
        for (int i = 0; i < first + BYTES; i++) all[i] = static_cast<u8>(7 * i + 3);
        bytes16 chunk[BYTES / 16];
        load_shifted<0, alignof(T)>(all + first, chunk);
        if (__builtin_memcmp(chunk, all + first, BYTES)) __builtin_exit(first + 1);
        __builtin_free(all);
    }
}

int main()
{
    check<u8, 16>();
    check<u8, 48>();
    check<u16, 8>();
    check<u16, 32>();
    check<u32, 4>();
    check<u32, 16>();
    check<u64, 2>();
    check<u64, 8>();
}
"""


def test_every_offset(tmp_path):
    (tmp_path / "loads.cpp").write_text(PROGRAM)
    folders = {path.parent for path in Path(_core.source_folder()).rglob("*.h")}
    macros = ("SIMT_CPU", "SIMT_WARP=1", "SIMT_THREADS=1", "TUNE_ALIGNED=0")
    flags = ["-std=c++17", "-O1", "-g", "-fsanitize=address", "-static-libasan"]
    command = ["g++", *flags, *(f"-D{m}" for m in macros), *(f"-I{f}" for f in sorted(folders))]
    program = tmp_path / "loads"
    subprocess.run([*command, "-o", program, tmp_path / "loads.cpp"], check=True)
    subprocess.run([program], check=True)
