"""A pytest plugin for CuPy's tests: "cupy" is the stand-in, and what reached cubc is logged."""

import os
import random
from pathlib import Path

from . import cupy_stand_in, numpy_plugin
from .numpy_plugin import pytest_runtest_makereport, pytest_runtest_protocol

__all__ = ["pytest_runtest_makereport", "pytest_runtest_protocol"]

# They ask whether CuPy called a back-end of its own.
OF_BACK_ENDS = ("TestCubReduction", "TestCubHistogram", "TestCuTensorReduction")

numpy_plugin.MOST = 5
numpy_plugin.ALL_TYPES = set()

cupy_stand_in.install(Path(os.environ["CUBC_CUPY"]))


class Sampler:
    """Chooses some of the types of items that a test goes through by itself, others for each test.

    Each type compiles kernels of its own, and a module has some tests of each function.
    """

    MOST = 3

    def __init__(self):
        self._random = random.Random(0)

    def sample(self, types, _):
        return self._random.sample(list(types), min(self.MOST, len(types)))


def choose_types():
    """Let CuPy's loops over types, and over pairs of them, ask the sampler, as they can."""
    from cupy.testing import _loops

    random.seed(0)  # they shuffle pairs
    _loops._subsample_rng = Sampler()


if os.environ.get("CUBC_TESTS") != "all":
    choose_types()


def pytest_configure(config):
    for marker in ("slow", "multi_gpu", "cudnn", "gpu", "skip_32bit", "thread_unsafe"):
        config.addinivalue_line("markers", marker)


def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if not any(name in item.nodeid for name in OF_BACK_ENDS)]
    numpy_plugin.pytest_collection_modifyitems(items)
