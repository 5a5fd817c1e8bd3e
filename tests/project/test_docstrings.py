"""Examples in docstrings of public functions and classes print what they say, on the cpu."""

import doctest
import inspect

import numpy as np
import pytest

import cubc
from cubc import lattice, tuner

NAMES = {"np": np, "cubc": cubc, "lattice": lattice, "tuner": tuner}
# They compute nothing, take devices, ranks or stores that not everybody has, or change the process.
WITHOUT = {
    "cubc": {
        "Array", "CompileError", "DeviceError", "DeviceMemoryError", "KernelFault", "Lazy",
        "NoDeviceError",
        "ResourceError", "StoreError", "autotune", "clear_policies", "device_info", "devices",
        "empty", "ffi", "get_include", "get_library", "synchronize", "use_policies",
    },
    "cubc.lattice": {"Grid", "propagator"},
    "cubc.tuner": set(),
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
def test_examples(one, request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write files
    if "lattice" in one.__module__:
        request.getfixturevalue("optimised")  # they share kernels with the lattice's tests
    text = inspect.cleandoc(one.__doc__)
    examples = doctest.DocTestParser().get_doctest(text, dict(NAMES), one.__name__, None, 0)
    told = []
    with cubc.device("cpu"):
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        assert runner.run(examples, out=told.append).failed == 0, "".join(told)


@pytest.mark.parametrize("package", [cubc, lattice, tuner], ids=lambda one: one.__name__)
def test_each_function_and_class_has_one(package):
    names = [name for name, _ in members(package) if "." not in name]
    without = {name for name in names if ">>>" not in (getattr(package, name).__doc__ or "")}
    assert without - WITHOUT[package.__name__] == set()
