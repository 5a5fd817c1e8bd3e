"""cuda.compute's own tests, on the cpu, with a stand-in of its functions over cubc.

They are in CCCL's repository, and in no wheel:

    git clone --filter=blob:none https://github.com/NVIDIA/cccl
    git -C cccl checkout 004ad1986064aaa82892ed00d0dbda88b90fa6e6
    CUBC_CCCL=$PWD/cccl make test

They need no GPU, CuPy or Numba: compute_stand_in takes the place of cuda.compute, compute_arrays
that of the two. Only the tests that reached cubc count: all pass, but for those that
compute_differences.toml lists with a reason. Some of a test's many cases run, and none that CCCL
marks as large; CUBC_TESTS=all runs all.
"""

import os
import tomllib
from pathlib import Path

import pytest

from suites.runs import check, rows_of, tally

HERE = Path(__file__).parent
LISTED = tomllib.loads((HERE / "compute_differences.toml").read_text())
TESTS = Path(os.environ.get("CUBC_CCCL", "")) / "python/cuda_cccl/tests/compute"


def run(module, log):
    """Run a module of cuda.compute's tests; a list of dicts, one per test that reached cubc."""
    options = ["--tb=native", "-c", os.devnull, "-p", "suites.compute_plugin"]
    return rows_of([*options, module], TESTS, [TESTS], log, (550, 3600))


@pytest.mark.slow
@pytest.mark.skipif(not TESTS.is_dir(), reason="CUBC_CCCL names no checkout of CCCL")
@pytest.mark.parametrize("module", LISTED["reached"], ids=lambda module: Path(module).stem)
def test_cuda_computes_own_tests(module, tmp_path):
    rows = run(module, tmp_path / "log.jsonl")
    print(tally(module, rows))
    check(module, rows, LISTED)
