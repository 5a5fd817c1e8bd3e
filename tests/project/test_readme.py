"""README.md names every function; test_blocks.py runs its examples."""

import re
from pathlib import Path

import pytest

import cubc

README = Path(__file__).resolve().parents[2] / "README.md"


def test_every_function_is_named():
    """In the table of what they compute, or where it is used."""
    text = README.read_text() if README.exists() else pytest.skip("there is no README.md here")
    functions = [name for name in cubc.__all__ if name.islower() and name != "__version__"]
    assert [name for name in functions if not re.search(rf"\b{name}\b", text)] == []
