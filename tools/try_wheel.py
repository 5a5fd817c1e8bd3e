"""Checks of an installed wheel, by the Python that has it: what must hold on every machine.

It needs nothing but the wheel and its dependencies: not the sources, no extra, and no C++ compiler,
without which the kernels that came with it run on the cpu, and others are said to lack.
"""

import os
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import numpy as np

import cubc

IMPORT = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"
MAPS = """
from cubc import tuner
tuner.analyze(tuner.example_db()).best()
print(open("/proc/self/maps").read())
"""


def seconds(module):
    """Least time of importing a module in a process of its own."""
    command = [sys.executable, "-c", IMPORT.format(module)]
    return min(float(subprocess.check_output(command)) for _ in range(9))


def compute():
    """Sum, scan and sort."""
    for name in ("int32", "uint8", "float32", "float64"):
        x = np.random.default_rng(0).integers(0, 100, 100_000).astype(name)
        np.testing.assert_allclose(cubc.sum(x), x.sum())
        np.testing.assert_allclose(cubc.cumsum(x), x.cumsum(), rtol=1e-4)
        np.testing.assert_array_equal(cubc.sort(x), np.sort(x))
        np.testing.assert_array_equal(cubc.argsort(x), np.argsort(x, kind="stable"))


def refuse():
    """Call what did not come compiled."""
    try:
        cubc.transform("x + 1", x=np.ones(3))
    except cubc.CompileError as error:
        assert "did not come compiled with cubc: no C++ compiler" in str(error), error
        print(error)
    else:
        raise AssertionError("an expression was compiled without a compiler")


def main():
    """Check and print."""
    folder = Path(cubc.__file__).parent
    assert "site-packages" in folder.parts, f"{folder} is no installed wheel"
    assert metadata.version("cubc") == cubc.__version__
    assert (folder / "kernels/primitives/reduce.cu").exists()
    assert Path(cubc.get_include(), "cubc.h").exists()
    maps = subprocess.check_output([sys.executable, "-c", MAPS], text=True).splitlines()
    libraries = {line.split()[-1] for line in maps if "libsqlite3" in line}
    assert len(libraries) == 1, f"SQLite is not there once: {libraries}"

    array = cubc.asarray(np.arange(5), device="cpu")
    np.testing.assert_array_equal(array.numpy(), np.arange(5))
    print(subprocess.check_output([sys.executable, "-m", "cubc", "devices"], text=True).strip())
    with tempfile.TemporaryDirectory() as cache:
        os.environ["CUBC_CACHE"] = cache
        with cubc.device("cpu"):
            compute()
            if cubc.device_info("cpu")["compiler"] == "none":
                refuse()
    print(f"import: {seconds('numpy'):.3f} s of numpy, {seconds('cubc'):.3f} s of cubc with it")


if __name__ == "__main__":
    main()
