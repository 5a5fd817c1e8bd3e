"""Examples in docstrings of public functions and classes print what they say, on the cpu."""

import doctest
import inspect
import os
import re
from functools import cached_property

import numpy as np
import pytest

import cubc
from cubc import array_api, lattice, tuner

NAMES = {"np": np, "os": os, "cubc": cubc, "lattice": lattice, "tuner": tuner, "xp": array_api}
PACKAGES = [cubc, array_api, lattice, tuner]
# Functions that cannot raise: they return a name or a list that is there, or clear one.
SAFE = {"clear_policies", "devices", "eager", "example_db", "get_include", "get_library"}


def is_error(one):
    """True for an exception, whose name says what it is: it needs no further docstring."""
    return inspect.isclass(one) and issubclass(one, BaseException)


def members(package):
    """Public functions and classes, and the methods and properties of these."""
    for name in package.__all__:
        one = getattr(package, name)
        if not callable(one):
            continue
        yield name, one
        if inspect.isclass(one) and not is_error(one):
            for key in dir(one):
                found = inspect.getattr_static(one, key)
                if not key.startswith("_") and (is_property(found) or callable(getattr(one, key))):
                    yield f"{name}.{key}", found if is_property(found) else getattr(one, key)


def is_property(one):
    return isinstance(one, property | cached_property) or inspect.isdatadescriptor(one)


def calls(package):
    """Calls of objects of public classes, as of a Kernel."""
    for name in package.__all__:
        one = getattr(package, name)
        if inspect.isclass(one) and hasattr(one.__call__, "__code__"):
            yield f"{name}.__call__", one.__call__


def with_examples():
    """Each example once, under the first name that has it: subclasses inherit methods."""
    seen = {}
    for package in PACKAGES:
        for name, one in [*members(package), *calls(package)]:
            if ">>>" in (one.__doc__ or ""):
                seen.setdefault(inspect.cleandoc(one.__doc__), (one, f"{package.__name__}.{name}"))
    return [pytest.param(one, id=name) for one, name in seen.values()]


WITH = with_examples()


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


@pytest.mark.parametrize("package", PACKAGES, ids=lambda one: one.__name__)
def test_each_function_and_class_has_one(package):
    found = {name: one for name, one in members(package) if "." not in name and not is_error(one)}
    assert [name for name, one in found.items() if ">>>" not in (one.__doc__ or "")] == []


# Properties that the measuring process reads, and methods of classes of Python's own.
INNER = {"State.bytes", "State.outputs", "State.unverified", "Merged.count", "Merged.index"}


@pytest.mark.parametrize("package", PACKAGES, ids=lambda one: one.__name__)
def test_each_method_and_property_is_in_one(package):
    """Properties may be in the example of their class."""
    for name, one in members(package):
        owner, _, key = name.partition(".")
        text = getattr(package, owner).__doc__
        of_class = is_property(one) and re.search(rf">>>.*\.{key}\b", text)
        assert not key or name in INNER or of_class or ">>>" in (one.__doc__ or ""), name


@pytest.mark.parametrize("package", PACKAGES, ids=lambda one: one.__name__)
def test_each_function_says_what_it_raises(package):
    functions = [name for name, one in members(package) if "." not in name]
    functions = {name for name in functions if not inspect.isclass(getattr(package, name))}
    silent = {name for name in functions if "Raises\n" not in getattr(package, name).__doc__}
    assert silent - SAFE == set()


# Methods that cannot raise: they read, make or drop what is in memory.
SAFE_METHODS = {
    "__array_namespace_info__": "capabilities default_device default_dtypes devices",
    "Array": "ravel",
    "Comparison": "markdown",
    "Gauge": "changed from_native",
    "Rotation": "from_native numpy",
}


@pytest.mark.parametrize("package", PACKAGES, ids=lambda one: one.__name__)
def test_each_method_says_what_it_raises(package):
    for name, one in members(package):
        owner, _, key = name.partition(".")
        safe = name in INNER or key in SAFE_METHODS.get(owner, "").split()
        if key and not safe and not is_property(one):
            assert re.search(r"^ *(Raises|Warns)\n", one.__doc__, re.MULTILINE), name


def test_the_lists_of_what_cannot_raise_are_short_and_true():
    """Each name in them is there, and says nothing of errors."""
    for package in PACKAGES:
        for name, one in members(package):
            owner, _, key = name.partition(".")
            if name in SAFE or key in SAFE_METHODS.get(owner, "").split():
                assert not re.search(r"^ *Raises\n", one.__doc__, re.MULTILINE), name
    there = {name for package in PACKAGES for name, _ in members(package)}
    several = {f"{owner}.{key}" for owner, keys in SAFE_METHODS.items() for key in keys.split()}
    assert SAFE | several | INNER <= there
