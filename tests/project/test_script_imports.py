"""Names that benchmarks and tools import of cubc are there: nothing runs them without a GPU."""

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted([*ROOT.glob("benchmarks/*.py"), *ROOT.glob("tools/*.py")])


def missing(text):
    """Names that are imported of cubc and are not there."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "cubc":
            module = importlib.import_module(node.module)
            for name in (alias.name for alias in node.names):
                if not hasattr(module, name):
                    try:
                        importlib.import_module(f"{node.module}.{name}")
                    except ImportError:
                        yield f"{node.module}.{name}"


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_what_scripts_import(path):
    assert list(missing(path.read_text(encoding="utf-8"))) == []


def test_a_name_that_is_not_there_is_seen():
    text = "from cubc._core import call, no_such_name\nfrom cubc import lattice"
    assert list(missing(text)) == ["cubc._core.no_such_name"]
