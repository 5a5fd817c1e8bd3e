"""NumPy's own tests, of which those that call a function that cubc has too call cubc's.

NumPy's wheel has its tests. Its modules are rewritten (numpy_rewriting), run in processes of their
own, and only the tests that reached cubc count: all pass, but for those that
numpy_differences.toml lists with a reason. Some of a test's many cases run, two where they are
types, and few tests that go through all types by themselves; CUBC_TESTS=all runs all, which takes
five minutes of a processor.
"""

import os
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import pytest

from suites.numpy_rewriting import rewritten
from suites.runs import rows_of, tally

HERE = Path(__file__).parent
NUMPY = Path(np.__file__).parent
LISTED = tomllib.loads((HERE / "numpy_differences.toml").read_text())
MODULES = LISTED["reached"]
# A third each of what compiles; starting a process takes as long as many of the tests.
GROUPS = [list(MODULES)[:1], list(MODULES)[1:-2], list(MODULES)[-2:]]


def run(modules, folder):
    """Run NumPy's modules of tests; a list of dicts, one per test that reached cubc."""
    copies, log = {folder / Path(module).name: module for module in modules}, folder / "log.jsonl"
    for copy, module in copies.items():
        copy.write_text(rewritten((NUMPY / module).read_text()))
    # pytest's own tracebacks parse the module, of ten thousand lines, again for each failure.
    options = ["--tb=native", "-m", "not slow", "-c", os.devnull, "--rootdir", folder]
    return rows_of([*options, "-p", "suites.numpy_plugin", *copies], folder, [], log, (550, 1800))


def differences(module):
    """The listed tests of a module: {pattern: reason}."""
    return {
        test.partition("::")[2]: group["why"]
        for group in LISTED["difference"]
        for test in group["tests"]
        if test.partition("::")[0] == module
    }


@pytest.mark.slow
@pytest.mark.parametrize("modules", GROUPS, ids=lambda modules: Path(modules[0]).stem)
def test_numpys_own_tests(modules, tmp_path):
    if not np.__version__.startswith(LISTED["numpy"] + "."):
        pytest.skip(f"the differences are of NumPy {LISTED['numpy']}, this is {np.__version__}")
    rows = run(modules, tmp_path)
    for module in modules:
        check(module, [row for row in rows if row["module"] == Path(module).name])


def check(module, rows):
    """As many tests of a module reached cubc as are listed; none failed that is not listed."""
    listed = differences(module)
    assert len(rows) >= MODULES[module], f"fewer tests of {module} than listed reach cubc"
    failed = {row["test"]: row["why"] for row in rows if row["outcome"] == "failed"}
    print(tally(module, rows))
    known = {test: [p for p in listed if fnmatchcase(test, p)] for test in failed}
    news = {test: why for test, why in failed.items() if not known[test]}
    assert not news, "\n".join(f"{module}::{test}: {why}" for test, why in news.items())
    if os.environ.get("CUBC_TESTS") == "all":
        gone = set(listed) - {pattern for patterns in known.values() for pattern in patterns}
        assert not gone, f"numpy_differences.toml lists tests that pass: {sorted(gone)}"
