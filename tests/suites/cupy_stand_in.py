"""A module that stands in for CuPy in its own tests, so that these test cubc without a GPU.

CuPy's tests run each function twice, with NumPy and with CuPy, and compare. Here "CuPy" is NumPy,
but for the functions and methods that cubc has: numpy_routes sends those there, on the cpu device.
Only `cupy.testing` is CuPy's own.
"""

import importlib
import importlib.machinery
import sys
import types
from unittest import mock

import numpy as np

from . import numpy_routes


class ndarray(np.ndarray):
    """Arrays of "CuPy": their methods are cubc's where it has them."""

    def __array_finalize__(self, of):
        pass

    def get(self, *args, **kwargs):
        return self.view(np.ndarray)


def method(name):
    def of(self, *args, **kwargs):
        args, kwargs = plain((args, kwargs))
        return made(numpy_routes.method(name, self.view(np.ndarray), *args, **kwargs))

    return of


for _name in numpy_routes.METHODS:
    setattr(ndarray, _name, method(_name))


def plain(x):
    """Arguments with NumPy's arrays in place of the stand-in's."""
    if isinstance(x, ndarray):
        return x.view(np.ndarray)
    if type(x) in (tuple, list):
        return type(x)(map(plain, x))
    return {key: plain(value) for key, value in x.items()} if type(x) is dict else x


def made(x):
    """Results with the stand-in's arrays; as CuPy's, a number is an array without dimensions."""
    if isinstance(x, np.ndarray | np.generic) and not isinstance(x, ndarray):
        return np.asarray(x).view(ndarray)
    return type(x)(map(made, x)) if type(x) in (tuple, list) else x


def function(name):
    """NumPy's function, or cubc's where that has it; what writes to out= returns it."""

    def of(*args, **kwargs):
        out = kwargs.get("out")
        args, kwargs = plain((args, kwargs))
        if name in numpy_routes.KEYWORDS:
            found = numpy_routes.call(name, *args, **kwargs)
        else:
            found = getattr(np, name)(*args, **kwargs)
        return out if isinstance(out, ndarray) else made(found)

    of.__name__ = name
    return of


class Stand(types.ModuleType):
    """The module "cupy"."""

    def __getattr__(self, name):
        if name[:2] == "__":
            raise AttributeError(name)
        if name == "cuda" or name[0] == "_":
            return importlib.import_module(f"cupy.{name}")
        found = getattr(np, name)
        is_function = callable(found) and not isinstance(found, type)
        value = function(name) if is_function else found
        setattr(self, name, value)
        return value


class Hollow(types.ModuleType):
    """A module of CuPy's that tests import and that none of what is tested needs."""

    def __getattr__(self, name):
        if name[:2] == "__":
            raise AttributeError(name)
        value = False if name == "is_hip" else mock.MagicMock()
        setattr(self, name, value)
        return value


class Finder:
    """Finds every other module of CuPy as one without contents."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        package = name.partition(".")[0]
        if package not in ("cupy", "cupyx", "cupy_backends") or name.startswith("cupy.testing"):
            return None
        return importlib.machinery.ModuleSpec(name, Finder, is_package=True)

    @staticmethod
    def create_module(spec):
        return Hollow(spec.name)

    @staticmethod
    def exec_module(module):
        pass


def install(folder):
    """Make `import cupy` find the stand-in; `folder` has CuPy's sources."""
    cupy = Stand("cupy")
    cupy.__path__ = [str(folder / "cupy")]
    cupy.__version__ = "14.0.0"
    cupy.ndarray = ndarray
    cupy.asnumpy = lambda x, *args, **kwargs: plain(x)
    cupy.exceptions = np.exceptions
    cupy.poly1d = type("poly1d", (), {})
    sys.modules["cupy"] = cupy
    sys.modules["cupy.exceptions"] = np.exceptions
    sys.meta_path.insert(0, Finder)
    import cupy._core.internal
    import cupyx.scipy.sparse

    cupyx.scipy.sparse.issparse = lambda x: False
    sys.modules["cupy._core.internal"].prod = lambda x: int(np.prod(x))
    importlib.import_module("cupy.testing")
