"""Examples in docstrings of public functions and classes print what they say, on the cpu."""

import doctest
import inspect

import numpy as np
import pytest

import cubc
from cubc import lattice, tuner

NAMES = {"np": np, "cubc": cubc, "lattice": lattice, "tuner": tuner}
# They compute nothing, take devices or stores that are not everywhere, or change the process.
WITHOUT = {
    "autotune", "clear_policies", "device_info", "devices", "empty", "ffi", "get_include",
    "get_library", "synchronize", "use_policies",
}  # fmt: skip


def members(package):
    """Public functions and classes, and the methods of these."""
    for name in package.__all__:
        one = getattr(package, name)
        if not callable(one):
            continue
        yield name, one
        if inspect.isclass(one):
            methods = [(key, found) for key, found in vars(one).items() if not key.startswith("_")]
            yield from ((f"{name}.{key}", found) for key, found in methods if callable(found))


WITH = [
    pytest.param(one, id=f"{package.__name__}.{name}")
    for package in (cubc, lattice, tuner)
    for name, one in members(package)
    if ">>>" in (one.__doc__ or "")
]


@pytest.mark.parametrize("one", WITH)
def test_examples(one):
    text = inspect.cleandoc(one.__doc__)
    examples = doctest.DocTestParser().get_doctest(text, dict(NAMES), one.__name__, None, 0)
    told = []
    with cubc.device("cpu"):
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        assert runner.run(examples, out=told.append).failed == 0, "".join(told)


def test_each_function_has_one():
    functions = [
        name for name, one in members(cubc) if not inspect.isclass(one) and "." not in name
    ]
    without = {name for name in functions if ">>>" not in (getattr(cubc, name).__doc__ or "")}
    assert without - WITHOUT == set()
