"""Damaged texts of strangers are refused, or read back as they were written: see fuzz_texts.py."""

import subprocess
import sys
from pathlib import Path

HARNESS = Path(__file__).parents[1] / "fuzz/fuzz_texts.py"


def test_some_thousand_texts():
    command = [sys.executable, "-W", "error", HARNESS, "500", "1"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "500 runs of 5 readers" in result.stdout
