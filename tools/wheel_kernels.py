"""Adds compiled kernels of the cpu to a wheel, for machines without a C++ compiler.

python tools/wheel_kernels.py WHEEL FOLDER

The wheel is installed in an environment of its own, makes the calls below there, and gets the
bundle of what they loaded as cubc/kernels/cpu.cubc; the result is in FOLDER. It needs the package
wheel. Code is for all processors of this kind. The calls are sums, scans and sorts, and what is
made of them, of the common types; policies for large arrays have kernels of their own.
"""

import os
import subprocess
import sys
import tempfile
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TYPES = (
    *("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float32", "float64"),
)
COMMON = ("int32", "int64", "float32", "float64")
LARGE = 4_200_000  # above what a policy of small arrays is for


def calls(name):
    """Make the calls of a type."""
    import numpy as np

    import cubc

    # Items are 0 or 1: products, and sums of bytes, stay in range.
    x = (np.arange(1000) % 7 == 0).astype(name)
    rows = x.reshape(20, 50)
    for function in (cubc.sum, cubc.prod, cubc.min, cubc.max, cubc.argmin, cubc.argmax, cubc.mean):
        function(x)
        if name in COMMON:
            function(rows, axis=0)
            function(rows, axis=1)
    for function in (cubc.any, cubc.all, cubc.count_nonzero, cubc.cumsum, cubc.sort, cubc.argsort):
        function(x)
    for function in (cubc.scan, cubc.unique, cubc.flatnonzero):
        function(x)
    cubc.scan(x, inclusive=False)
    cubc.sort(x, descending=True)
    cubc.sort(np.resize(x, LARGE))
    cubc.searchsorted(np.sort(x), x)
    cubc.sort_pairs(x, np.arange(1000))
    if name in COMMON:
        cubc.cumprod(x)
        cubc.var(x)
        cubc.sort(rows)
        cubc.cumsum(rows, axis=1)


def load():
    """Make all calls, which a bundle is made of."""
    import cubc

    def of_type(name):
        with cubc.device("cpu"):
            calls(name)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(of_type, ("bool", *TYPES[::-1])))


def add(wheel, folder):
    """Write the wheel with the kernels into the folder."""
    with tempfile.TemporaryDirectory() as scratch:
        venv.create(f"{scratch}/venv", with_pip=True)
        python = f"{scratch}/venv/bin/python"

        def run(*command, **environment):
            subprocess.run(command, check=True, cwd=scratch, env=os.environ | environment)

        wheel = Path(wheel).resolve()
        run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", str(wheel))
        # Symbols that nobody reads and padded pages are most of a small kernel.
        options = "-s -Wl,-z,noseparate-code"
        environment = {"CUBC_CACHE": f"{scratch}/cache", "CUBC_CXXFLAGS": options}
        bundle = [python, "-m", "cubc", "bundle", "--portable", "-o", "cpu.cubc", "--device", "cpu"]
        run(*bundle, "--", python, str(Path(__file__).resolve()), **environment)
        run(sys.executable, "-m", "wheel", "unpack", "-d", "unpacked", str(wheel))
        (unpacked,) = Path(scratch, "unpacked").iterdir()
        Path(scratch, "cpu.cubc").rename(unpacked / "cubc/kernels/cpu.cubc")
        Path(folder).mkdir(parents=True, exist_ok=True)
        run(sys.executable, "-m", "wheel", "pack", "-d", str(Path(folder).resolve()), str(unpacked))


if __name__ == "__main__":
    load() if len(sys.argv) == 1 else add(*sys.argv[1:])
