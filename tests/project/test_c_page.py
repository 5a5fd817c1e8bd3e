"""The page of the C interface: its headers, and the variables that C programs do not have."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEADERS = ROOT / "csrc/include/cubc"


@pytest.fixture(scope="module")
def page():
    path = ROOT / "docs/c_api.md"
    return path.read_text() if path.exists() else pytest.skip("there are no docs here")


def test_it_has_every_header(page):
    shown = re.findall(r"\{literalinclude\} \.\./csrc/include/cubc/(\S+)", page)
    there = [str(path.relative_to(HEADERS)) for path in HEADERS.rglob("*.h")]
    assert sorted(shown) == sorted(there)


def test_it_names_the_variables_of_python_alone(page):
    table = (ROOT / "README.md").read_text().partition("## Environment")[2]
    variables = set(re.findall(r"CUBC_[A-Z_]+", table))
    assert variables
    sources = "".join(path.read_text() for path in (ROOT / "csrc").rglob("*.[ch]"))
    of_python = {name for name in variables if f'"{name}"' not in sources}
    named = re.search(r"Those of Python alone are ([^.]*)\.", " ".join(page.split()))
    assert named and set(re.findall(r"CUBC_[A-Z_]+", named[1])) == of_python
