"""NVTX ranges, as a library in place of a profiler sees them."""

import subprocess
from pathlib import Path

import isolated
import pytest

import cubc

SUPPORT = Path(__file__).resolve().parents[1] / "support"

PROGRAM = """
import numpy as np, cubc, sys
from cubc import lattice, tuner
x = np.ones(1 << 16, "f4")
cubc.sum(x)
try:
    cubc.sum(x, op="sum")
except TypeError:
    pass
cubc.trace(False)
cubc.sum(x)
cubc.trace()
options = {"db": sys.argv[1], "variants": 1, "confirm": 0, "strategy": "random"}
tuner.search("reduce.sum", {"T": "F32", "Elements": 16}, **options)
"""


@pytest.fixture(scope="module")
def injected(tmp_path_factory):
    pytest.importorskip("nvtx", reason="nvtx is not installed")
    library = tmp_path_factory.mktemp("nvtx") / "seen.so"
    command = ["cc", "-shared", "-fPIC", "-o", library, SUPPORT / "nvtx_seen.c"]
    subprocess.run(command, check=True)
    return library


def test_ranges_of_calls_and_of_a_search(injected, tmp_path):
    seen = tmp_path / "seen"
    changes = {"NVTX_INJECTION64_PATH": injected, "SEEN": seen, "CUBC_TRACE": "1"}
    isolated.output(PROGRAM, tmp_path / "t.db", CUBC_DEVICE="cpu", **changes)
    lines = seen.read_text().splitlines()
    assert lines[:4] == ["> cubc.sum", "<", "> cubc.sum", "<"]  # one fails, and ends as well
    assert [line for line in lines if line.startswith("> cubc.sum")] == ["> cubc.sum"] * 2
    variants = [line for line in lines if line.startswith("> reduce.sum")]
    assert "> reduce.sum base" in variants and len(set(variants)) == 2
    assert lines.count("<") == sum(line.startswith(">") for line in lines)


CALLS = """
import numpy as np, cubc
from cubc import array_api as xp, lattice
x = cubc.asarray(np.ones(100, "f4"))
one = cubc.Kernel("__global__ void one(float* x) { x[0] = 1; }", "one", block=1)
gauge = lattice.Gauge.unit((2, 2, 2, 2))
wilson = lattice.Wilson(gauge, kappa=0.1)
source = np.ones((2, 2, 2, 2, 4, 3), complex)
plain = vars(cubc.Array)["sum"], lattice.Wilson.solve
def calls():
    xp.sum(x), x.sum(), one(x, grid=1), wilson(source), wilson.solve(source)
cubc.trace()
calls()
cubc.trace(False)
assert plain == (vars(cubc.Array)["sum"], lattice.Wilson.solve)
assert "solve" not in vars(lattice.Wilson)  # inherited, as before
calls()
"""


@pytest.mark.usefixtures("optimised")  # kernels of the lattice's tests
def test_ranges_of_methods_kernels_and_phases_of_a_solve(injected, tmp_path):
    seen = tmp_path / "seen"
    changes = {"NVTX_INJECTION64_PATH": injected, "SEEN": seen, "CUBC_TRACE": None}
    isolated.output(CALLS, CUBC_DEVICE="cpu", **changes)
    lines = seen.read_text().splitlines()
    outer, depth = [], 0
    for line in lines:
        if line.startswith(">") and depth == 0:
            outer.append(line.removeprefix("> cubc."))
        depth += 1 if line.startswith(">") else -1
    assert outer == [
        "array_api.sum",
        "Array.sum",
        "Kernel",
        "lattice.Wilson",
        "lattice.Wilson.solve",
    ]
    solve = lines[lines.index("> cubc.lattice.Wilson.solve") :]
    assert [line for line in solve if ": " in line] == ["> solve: prepare", "> solve: iterate"]


def test_nothing_is_replaced_while_it_is_off():
    assert not hasattr(cubc.sum, "__wrapped__") or cubc.sum.__module__ != "cubc._trace"
    before = cubc.sum
    cubc.trace(False)
    assert cubc.sum is before


def test_a_package_that_is_missing(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "nvtx", None)
    with pytest.raises(ModuleNotFoundError, match=r'needs nvtx.*pip install "cubc\[trace\]"'):
        cubc.trace()
