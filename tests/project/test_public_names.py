"""A user can import what is documented, and nothing else."""

import importlib
import pkgutil

import isolated
import pytest

import cubc
from cubc import lattice, tuner


@pytest.mark.parametrize("package", [cubc, tuner, lattice], ids=lambda package: package.__name__)
def test_the_public_names_are_the_documented_ones(package):
    inside = [module.name for module in pkgutil.iter_modules(package.__path__)]
    for name in inside:
        if name != "__main__":  # which runs the command
            importlib.import_module(f"{package.__name__}.{name}")
    packages = {name for name in inside if not name.startswith("_")}
    assert packages == ({"array_api", "lattice", "tuner"} if package is cubc else set())
    public = {name for name in dir(package) if not name.startswith("_")} - packages
    assert public == {name for name in package.__all__ if not name.startswith("_")}
    assert [name for name in public if not (getattr(package, name).__doc__ or "").strip()] == []


def test_subpackages_are_imported_where_they_are_named():
    code = (
        "import sys, cubc; print('cubc.lattice' in sys.modules); "
        "print(all(getattr(cubc, name).__name__ == 'cubc.' + name and name in dir(cubc) "
        "for name in ('array_api', 'lattice', 'tuner')), hasattr(cubc, 'latice'))"
    )
    assert isolated.output(code).split() == ["False", "True", "False"]
