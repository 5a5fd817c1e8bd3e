"""A run of another project's tests in a process of its own, and what its log says of them."""

import json
import os
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

PATH = Path(__file__).parent.parent


def rows_of(arguments, folder, path, log, seconds):
    """Run pytest in a folder; a list of dicts, one per test that reached cubc.

    `seconds` are the most that the run takes where some cases of each test run, and all cases.
    """
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env=os.environ
        | {
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONPATH": os.pathsep.join(map(str, (PATH, *path))),
            "CUBC_SUITE_LOG": str(log),
            "CUBC_DEVICE": "cpu",
        },
        capture_output=True,
        text=True,
        timeout=seconds[os.environ.get("CUBC_TESTS") == "all"],
    )
    assert result.returncode in (0, 1), result.stdout[-2000:] + result.stderr[-2000:]
    return [json.loads(line) for line in log.read_text().splitlines()]


def tally(module, rows):
    """The tests of a module that reached cubc, and those of them that pass: for `pytest -s`."""
    passed = sum(row["outcome"] != "failed" for row in rows)
    return f"{module}: {len(rows)} reach cubc, {passed} pass"


def check(module, rows, listed):
    """As many tests of a module reached cubc as are listed, and none failed that is not.

    `listed` is what a file of differences holds; it names the module's file alone.
    """
    least = listed["reached"][module]
    assert len(rows) >= least, f"fewer tests of {module} than the {least} listed reach cubc"
    tests = [test.partition("::") for group in listed["difference"] for test in group["tests"]]
    known = [test for of, _, test in tests if of == Path(module).name]
    news = {
        row["test"]: row["why"]
        for row in rows
        if row["outcome"] == "failed" and not any(fnmatchcase(row["test"], one) for one in known)
    }
    assert not news, "\n".join(f"{module}::{test}: {why}" for test, why in news.items())
