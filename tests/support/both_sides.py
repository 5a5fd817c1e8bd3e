"""Assertions about headers of the core and of the kernels, which a C++ compiler checks."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def why_not(text, *folders):
    """Why a text that includes headers of folders of both does not compile, or nothing."""
    options = ["-DSIMT_CPU=1", "-DSIMT_THREADS=1", "-DSIMT_WARP=32", "-Wno-invalid-offsetof"]
    paths = [f"-I{ROOT / folder}" for folder in (*folders, "csrc", "csrc/include")]
    command = ["c++", "-std=c++17", "-x", "c++", "-fsyntax-only", *options, *paths, "-"]
    result = subprocess.run(command, input=text, capture_output=True, text=True)
    return "" if result.returncode == 0 else result.stderr or "failed"
