"""A pytest plugin for cuda.compute's tests: the stand-ins, and a log of what reached cubc."""

import os

from . import compute_arrays, compute_stand_in, numpy_plugin
from .numpy_plugin import pytest_runtest_makereport, pytest_runtest_protocol

__all__ = ["pytest_runtest_makereport", "pytest_runtest_protocol"]

numpy_plugin.ALL_TYPES = set()
numpy_plugin.MOST = 6  # types and sizes are cases of one test

compute_arrays.install()
compute_stand_in.install()


def pytest_configure(config):
    for marker in ("large", "no_verify_sass", "no_numba", "serialization", "free_threading"):
        config.addinivalue_line("markers", marker)


def pytest_collection_modifyitems(items):
    if os.environ.get("CUBC_TESTS") != "all":
        items[:] = [item for item in items if item.get_closest_marker("large") is None]
    numpy_plugin.pytest_collection_modifyitems(items)
