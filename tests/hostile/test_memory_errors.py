"""Python's memory runs out at each allocation of a call in turn: MemoryError, and nothing else."""

import gc

import numpy as np
import pytest

import cubc
from cubc import _core

testcapi = pytest.importorskip("_testcapi", reason="this Python is without the tests' module")

X = np.arange(10.0)
KEYS = np.arange(10)
STRUCTS = np.zeros(3, [("a", "i4"), ("b", "f4")])


class OfDlpack:
    def __dlpack__(self, **options):
        return X.__dlpack__(**options)

    def __dlpack_device__(self):
        return X.__dlpack_device__()


class OfArray:
    dtype = X.dtype

    def __array__(self, dtype=None, copy=None):
        return X


ON_DEVICE = cubc.asarray(X, device="cpu")
LAZY = cubc.lazy("v * 2", v=X)
# No call whose way is through NumPy's own reductions or printing, which fail with SystemError.
CALLS = {
    "reduce": lambda: cubc.sum(X),
    "reduce an axis": lambda: _core.reduce(X.reshape(2, 5), "sum", axis=0),
    "reduce with init": lambda: cubc.reduce(X, "a*a > b ? a : b", init=2, dtype="f8"),
    "reduce a list": lambda: cubc.sum([1, 2, 3]),
    "reduce __array__": lambda: cubc.sum(OfArray()),
    "reduce __dlpack__": lambda: cubc.sum(OfDlpack()),
    "reduce a device's": lambda: cubc.sum(ON_DEVICE),
    "scan": lambda: cubc.scan(X),
    "transform": lambda: cubc.transform("v + w * i", v=X, w=2.5),
    "transform structs": lambda: cubc.transform("p.a * p.b", p=STRUCTS, dtype="f4"),
    "lazy": lambda: cubc.sum(LAZY),
    "repr of lazy": lambda: repr(LAZY),
    "asarray": lambda: cubc.asarray(X, dtype="f4", device="cpu"),
    "asarray of structs": lambda: cubc.asarray(STRUCTS, device="cpu").numpy(),
    "empty": lambda: cubc.empty((2, 3), dtype="f4", device="cpu"),
    "slice": lambda: ON_DEVICE[1:3],
    "numpy": ON_DEVICE.numpy,
    "item": lambda: ON_DEVICE[:1].item(),
    "dlpack": ON_DEVICE.__dlpack__,
    "shape": lambda: ON_DEVICE.shape,
    "sort": lambda: cubc.sort(X),
    "select": lambda: cubc.select(X, "x > 2"),
    "reduce_by_key": lambda: cubc.reduce_by_key(KEYS, X),
    "types": lambda: _core.operator_types("sum", X.dtype, widen=True),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_every_allocation(name):
    call = CALLS[name]
    call(), call()
    gc.collect()
    gc.disable()
    failures = 0
    try:
        for nth in range(150):
            testcapi.set_nomemory(nth, nth + 1)
            try:
                call()
            except MemoryError:
                failures += 1
            finally:
                testcapi.remove_mem_hooks()
    finally:
        gc.enable()
    assert failures or name == "shape"
