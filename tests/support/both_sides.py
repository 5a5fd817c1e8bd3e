"""Assertions about headers of the core and of the kernels, which a C++ compiler checks."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def compiler(*folders):
    """The command for a text of standard input that includes headers of folders of both."""
    options = ["-DSIMT_CPU=1", "-DSIMT_THREADS=1", "-DSIMT_WARP=32", "-Wno-invalid-offsetof"]
    paths = [f"-I{ROOT / folder}" for folder in (*folders, "csrc", "csrc/include")]
    return ["c++", "-std=c++17", "-x", "c++", *options, *paths, "-"]


def why_not(text, *folders):
    """Why a text that includes headers of folders of both does not compile, or nothing."""
    command = [*compiler(*folders), "-fsyntax-only"]
    result = subprocess.run(command, input=text, capture_output=True, text=True)
    return "" if result.returncode == 0 else result.stderr or "failed"


def said(text, program, *folders):
    """The output of a program whose text includes such headers."""
    command = [*compiler(*folders), "-O1", "-pthread", "-o", program]
    subprocess.run(command, input=text, text=True, check=True)
    result = subprocess.run([program], capture_output=True, text=True, check=True)
    return result.stdout
