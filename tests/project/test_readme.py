"""The examples of README.md are run, on the cpu, and print what it says."""

import doctest
from pathlib import Path

import pytest

import cubc

README = Path(__file__).resolve().parents[2] / "README.md"


def test_examples(tmp_path, monkeypatch):
    if not README.exists():
        pytest.skip("there is no README.md beside the tests")
    text = README.read_text()
    # A fence would be read as part of the output above it.
    plain = "\n".join("" if line.startswith("```") else line for line in text.splitlines())
    examples = doctest.DocTestParser().get_doctest(plain, {}, "README.md", str(README), 0)
    if not examples.examples:
        pytest.skip("README.md has no examples with >>>")
    monkeypatch.chdir(tmp_path)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    with cubc.device("cpu"):
        result = doctest.DocTestRunner(optionflags=flags).run(examples)
    cubc.clear_policies()
    assert result.failed == 0
    assert result.attempted > 3
