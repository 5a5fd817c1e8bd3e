"""A pytest plugin for CuPy's tests: "cupy" is the stand-in, and what reached cubc is logged."""

import os
from pathlib import Path

from . import cupy_stand_in, numpy_plugin
from .numpy_plugin import pytest_runtest_makereport, pytest_runtest_protocol

__all__ = ["pytest_runtest_makereport", "pytest_runtest_protocol"]

# They ask whether CuPy called a back-end of its own.
OF_BACK_ENDS = ("TestCubReduction", "TestCubHistogram", "TestCuTensorReduction")

numpy_plugin.MOST = 5  # each goes through all types of items by itself
numpy_plugin.ALL_TYPES = set()

cupy_stand_in.install(Path(os.environ["CUBC_CUPY"]))


def pytest_configure(config):
    for marker in ("slow", "multi_gpu", "cudnn", "gpu", "skip_32bit", "thread_unsafe"):
        config.addinivalue_line("markers", marker)


def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if not any(name in item.nodeid for name in OF_BACK_ENDS)]
    numpy_plugin.pytest_collection_modifyitems(items)
