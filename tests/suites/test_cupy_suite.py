"""CuPy's own tests, on the cpu, of which those that call a function that cubc has too call cubc's.

CuPy's package of sources has its tests: `make suites` fetches it, and `make test` runs them then.
They need no GPU, as a stand-in takes CuPy's place (cupy_stand_in). Only the tests that reached cubc
count: all pass, but for those that cupy_differences.toml lists with a reason. Some of a
test's many cases run, at some of the types that it goes through, and none that CuPy marks as slow;
CUBC_TESTS=all runs all, which takes five minutes of a processor and memory for arrays of 2^31
items.
"""

import os
import tomllib
from pathlib import Path

import pytest
from every_case import EVERY_CASE

from suites.runs import check, rows_of, tally

HERE = Path(__file__).parent
LISTED = tomllib.loads((HERE / "cupy_differences.toml").read_text())
SOURCES = Path(os.environ.get("CUBC_CUPY", ""))


def run(modules, log):
    """Run modules of CuPy's tests; a list of dicts, one per test that reached cubc."""
    folder = SOURCES / "tests"
    options = ["--tb=native", "--noconftest", "-c", os.devnull, "-p", "suites.cupy_plugin"]
    if not EVERY_CASE:
        options += ["-m", "not slow"]  # arrays of 2^31 items, for minutes each
    return rows_of([*options, *modules], folder, [folder], log, (550, 3600))


@pytest.mark.slow
@pytest.mark.skipif(not (SOURCES / "cupy").is_dir(), reason="no sources of CuPy: make suites")
@pytest.mark.parametrize("module", LISTED["reached"], ids=lambda module: Path(module).stem)
def test_cupys_own_tests(module, tmp_path):
    rows = run([f"cupy_tests/{module}"], tmp_path / "log.jsonl")
    print(tally(module, rows))
    check(module, rows, LISTED)
