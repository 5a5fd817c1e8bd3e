"""Runs code in a Python of its own: for what is read once a process, and for what may end one."""

import os
import subprocess
import sys
from pathlib import Path


def environment(**changes):
    """The environment with variables changed; None takes one away."""
    changed = os.environ | {name: str(value) for name, value in changes.items()}
    return {name: value for name, value in changed.items() if changes.get(name, "") is not None}


def run(code, *arguments, timeout=None, **changes):
    """Run code with warnings as errors, for `timeout` seconds; `changes` are of the environment."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *map(str, arguments)],
        env=environment(**changes),
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def output(code, *arguments, **options):
    """Text that code prints; it must succeed."""
    result = run(code, *arguments, **options)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()
