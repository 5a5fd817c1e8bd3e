"""A user can import from `cubc.tuner` what is documented there, and nothing else."""

import importlib
import pkgutil

from cubc import tuner


def test_the_public_names_are_the_documented_ones():
    for module in pkgutil.walk_packages(tuner.__path__, "cubc.tuner."):
        importlib.import_module(module.name)
    public = [name for name in dir(tuner) if not name.startswith("_")]
    assert public == sorted(tuner.__all__)
    assert all(getattr(tuner, name).__doc__ for name in public)
