"""Examples in docstrings of public functions and classes print what they say, on the cpu."""

import doctest
import inspect
import os

import numpy as np
import pytest

import cubc
from cubc import array_api, lattice, tuner

NAMES = {"np": np, "os": os, "cubc": cubc, "lattice": lattice, "tuner": tuner}
# Functions without errors of their own.
SAFE = {"clear_policies", "devices", "effective_mass", "example_db", "get_include", "get_library"}


def is_error(one):
    """An exception says by its name what it is."""
    return inspect.isclass(one) and issubclass(one, BaseException)


def members(package):
    """Public functions and classes, and the methods and properties of these."""
    for name in package.__all__:
        one = getattr(package, name)
        if not callable(one):
            continue
        yield name, one
        if inspect.isclass(one):
            for key in vars(one):
                found = getattr(one, key)
                if not key.startswith("_") and (callable(found) or isinstance(found, property)):
                    yield f"{name}.{key}", found


WITH = [
    pytest.param(one, id=f"{package.__name__}.{name}")
    for package in (cubc, array_api, lattice, tuner)
    for name, one in members(package)
    if ">>>" in (one.__doc__ or "")
]


@pytest.mark.parametrize("one", WITH)
def test_examples(one, request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write files
    if "lattice" in (getattr(one, "__module__", None) or ""):
        request.getfixturevalue("optimised")  # they share kernels with the lattice's tests
    text = inspect.cleandoc(one.__doc__)
    examples = doctest.DocTestParser().get_doctest(text, dict(NAMES), str(one), None, 0)
    told = []
    with cubc.device("cpu"):
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        assert runner.run(examples, out=told.append).failed == 0, "".join(told)


@pytest.mark.parametrize("package", [cubc, lattice, tuner], ids=lambda one: one.__name__)
def test_each_function_and_class_has_one(package):
    found = {name: one for name, one in members(package) if "." not in name and not is_error(one)}
    assert [name for name, one in found.items() if ">>>" not in (one.__doc__ or "")] == []


@pytest.mark.parametrize("package", [cubc, lattice, tuner], ids=lambda one: one.__name__)
def test_each_function_says_what_it_raises(package):
    functions = [name for name, one in members(package) if "." not in name]
    functions = {name for name in functions if not inspect.isclass(getattr(package, name))}
    silent = {name for name in functions if "Raises\n" not in getattr(package, name).__doc__}
    assert silent - SAFE == set()
