"""Stand-ins for CuPy and Numba in the tests of cuda.compute: arrays in host memory, of NumPy.

The tests make their inputs and look at their outputs with them; nothing here computes for cubc.
"""

import ctypes
import sys
import types
from unittest import mock

import numpy as np


class Memory:
    """An array's memory as CuPy describes it."""

    def __init__(self, address):
        self.ptr = address


class ndarray(np.ndarray):
    """Arrays "of the device"."""

    def get(self, *args, **options):
        return np.array(self.view(np.ndarray))

    copy_to_host = get  # Numba's name

    def set(self, items):
        self[...] = items

    @property
    def data(self):
        return Memory(self.ctypes.data)

    def __getitem__(self, index):
        found = super().__getitem__(index)
        whole = isinstance(found, np.ndarray) or (isinstance(index, tuple) and not index)
        return found if whole else np.asarray(found).view(ndarray)


def of_device(x):
    """Results of NumPy's functions as arrays of the device."""
    if isinstance(x, np.ndarray | np.generic) and not isinstance(x, ndarray):
        return np.asarray(x).view(ndarray)
    return type(x)(map(of_device, x)) if type(x) in (tuple, list) else x


class Of:
    """A module or an object of NumPy's, whose functions make arrays of the device."""

    def __init__(self, whole):
        self.__dict__["whole"] = whole

    def __getattr__(self, name):
        found = getattr(self.whole, name)
        if isinstance(found, type) or not callable(found):
            return found
        return lambda *args, **options: of_device(found(*args, **options))


class Random(Of):
    """numpy.random, whose generators are of the device too."""

    def default_rng(self, *args):
        return Of(np.random.default_rng(*args))


class Context:
    """A stream of CuPy's, or another context; work is done at once."""

    ptr = 0

    def __init__(self, *args, **options):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def synchronize(self):
        pass


def copied(x, *args, **options):
    return of_device(np.array(x, *args, **options))


def cupy():
    """Make the module "cupy"."""

    class Module(types.ModuleType):
        def __getattr__(self, name):
            if name[:2] == "__":
                raise AttributeError(name)
            return getattr(Of(np), name)

    made = Module("cupy")
    made.ndarray, made.random = ndarray, Random(np.random)
    made.array = made.asarray = copied
    made.asnumpy = lambda x: np.array(x).view(np.ndarray)
    made.cuda = types.ModuleType("cupy.cuda")
    made.cuda.Stream = made.cuda.ExternalStream = made.cuda.Device = Context
    made.cuda.memory = types.SimpleNamespace(OutOfMemoryError=MemoryError)
    made.cuda.runtime = types.SimpleNamespace(
        memcpy=lambda to, at, size, kind: ctypes.memmove(to, at, size), memcpyHostToDevice=1
    )
    return made


def numba():
    """Make the module "numba", of which the tests use numba.cuda."""
    made, cuda = types.ModuleType("numba"), types.ModuleType("numba.cuda")
    made.cuda, made.types = cuda, mock.MagicMock()
    cuda.to_device = copied
    cuda.device_array = lambda shape, dtype=float: of_device(np.empty(shape, dtype))
    device = types.SimpleNamespace(compute_capability=(8, 0))
    cuda.get_current_device = lambda: device
    return made


def install():
    for made in (cupy(), numba()):
        sys.modules[made.__name__] = made
        sys.modules[f"{made.__name__}.cuda"] = made.cuda
