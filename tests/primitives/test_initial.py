"""Initial values in the memory of a device: what a call has left there begins the next one."""

import numpy as np
import pytest
from inputs import same

import cubc

X = np.arange(1, 241, dtype=np.float64)
ROWS = X.reshape(6, 40)
OFFSETS = np.array([0, 7, 7, 240])


def array(x, device):
    return cubc.asarray(np.asarray(x), device=device)


def calls(x, rows, offsets):
    """A call each of every algorithm that has an initial value, as functions of it."""
    by_key = cubc.asarray(np.repeat(np.arange(4), 60), device=x.device)
    return {
        "reduce": lambda init: cubc.reduce(x, init=init),
        "reduce custom": lambda init: cubc.reduce(x, "a > b ? a : b", init=init),
        "reduce deterministic": lambda init: cubc.reduce(x, init=init, deterministic=True),
        "rows": lambda init: cubc.reduce(rows, axis=1, init=init),
        "columns": lambda init: cubc.reduce(rows, axis=0, init=init),
        "segments": lambda init: cubc.segmented_reduce(x, offsets, init=init),
        "sum of none": lambda init: cubc.sum(x[:0], initial=init),
        "scan": lambda init: cubc.scan(x, init=init),
        "exclusive": lambda init: cubc.scan(x, "min", inclusive=False, init=init),
        "scan deterministic": lambda init: cubc.scan(x, init=init, deterministic=True),
        "segmented scan": lambda init: cubc.segmented_scan(x, offsets, inclusive=False, init=init),
        "by key": lambda init: cubc.scan_by_key(by_key, x, init=init),
        "by key exclusive": lambda init: cubc.scan_by_key(by_key, x, inclusive=False, init=init),
        "along an axis": lambda init: cubc.scan(rows, axis=0, init=init),
    }


@pytest.mark.parametrize("name", calls(cubc.empty(0, device="cpu"), None, None))
def test_an_array_is_as_a_number(device, name):
    x, rows, offsets = (array(one, device) for one in (X, ROWS, OFFSETS))
    call = calls(x, rows, offsets)[name]
    wanted = call(300.5).numpy()
    same(call(array(300.5, device)), wanted)
    same(call(array([300.5], device)), wanted)
    same(call(array(np.float32(300.5), device)), wanted)  # it is converted on the device
    same(call(cubc.lazy("x + 0.5", x=array(300.0, device))), wanted)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float32, np.complex64])
def test_types(device, dtype):
    x = np.ones(100, dtype)
    d = array(x, device)
    one = np.ones((), dtype)
    same(cubc.sum(d, initial=array(one, device)), x.sum() + x.sum().dtype.type(1))
    wanted = cubc.scan(x, "prod", init=one[()], inclusive=False, device="cpu")
    same(cubc.scan(d, "prod", init=array(one, device), inclusive=False), wanted)


def test_it_is_read_when_the_call_runs(device):
    """A sum goes on from where the one before it ended, without the host."""
    d, total = array(X, device), array(0.0, device)
    for _ in range(3):
        cubc.reduce(d, init=total, out=total)
    assert float(total) == 3 * X.sum()
    first, out = array(1.0, device), array(0.0, device)
    bound = cubc.bind(cubc.reduce, d, init=first, out=out)
    first[...] = 10.0
    bound()
    assert float(out) == X.sum() + 10


def test_what_is_refused(device):
    d = array(X, device)
    with pytest.raises(ValueError, match="init has 2 items: expected a number"):
        cubc.reduce(d, init=d[:2])
    with pytest.raises(ValueError, match="argmax takes no initial value"):
        cubc.reduce(d, "argmax", init=d[:1])
    with pytest.raises(ValueError, match="initial value is in the output"):
        cubc.scan(d, init=d[3:4], out=d)
    with pytest.raises(ValueError, match="in the host's memory"):
        cubc.reduce(X, init=d[0])
    with pytest.raises(TypeError, match="items of complex128 do not become float64"):
        cubc.reduce(d, init=array(1j, device))


def test_a_number_of_items_in_memory(device):
    """A number that a call has counted is an operand of the input of the next one."""
    d = array(X, device)
    count = cubc.count_nonzero(d > 100)
    total = cubc.sum(cubc.lazy("i < n ? x : 0", x=d, n=count))
    same(total, X[: int((X > 100).sum())].sum())
