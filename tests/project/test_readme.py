"""The examples of README.md are run, on the cpu, and print what it says."""

import doctest
import re
from pathlib import Path

import numpy as np
import pytest

import cubc
from cubc import tuner

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


def test_every_function_is_named():
    """In the table of what they compute, or where it is used."""
    text = README.read_text() if README.exists() else pytest.skip("there is no README.md here")
    functions = [name for name in cubc.__all__ if name.islower() and name != "__version__"]
    assert [name for name in functions if not re.search(rf"\b{name}\b", text)] == []


def block(language, word):
    """The one block of a language that has a word in it."""
    if not README.exists():
        pytest.skip("there is no README.md beside the tests")
    blocks = re.findall(rf"^```{language}\n(.*?)^```", README.read_text(), re.DOTALL | re.MULTILINE)
    [found] = [one for one in blocks if word in one]
    return found


def test_a_kernel_of_one_s_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("sums.cu").write_text(block("c", "block_reduce"))
    x = np.arange(5000, dtype="f4")
    totals = np.zeros(5, "f4")
    with cubc.device("cpu"):
        exec(block("python", "sums.cu"), {"cubc": cubc, "x": x, "totals": totals})
    np.testing.assert_allclose(totals, [x[i : i + 1024].sum() for i in range(0, 5000, 1024)])


def test_a_search_of_one_s_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("saxpy.cu").write_text(block("c", "saxpy"))
    example = block("python", "saxpy.cu").partition("\n\n\n")[0]
    found = {"tuner": tuner}
    exec(example, found)
    sizes = {"T": "F32", "Elements": 16}
    tuner.search(found["saxpy"], sizes, device="cpu", variants=1, db="own.db", confirm=0)
    assert len(tuner.analyze("own.db").scores()) == 2
