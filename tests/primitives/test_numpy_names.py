"""Functions by NumPy's names that are calls of the primitives."""

import inputs
import numpy as np
import pytest
from inputs import TYPES, on, same

import cubc


def test_cumulative(device):
    x = inputs.random("I32", 10_001)
    same(cubc.cumsum(on(device, x)), np.cumsum(x))
    same(cubc.cumsum(on(device, x), dtype=np.int32), np.cumsum(x, dtype=np.int32))
    same(cubc.cumprod(on(device, x)), np.cumprod(x))


@pytest.mark.parametrize("type", ["I8", "U16", "I64", "F32", "F16"])
def test_unique(device, type):
    for n in (0, 1, 1000, 50_001):
        x = np.random.default_rng(n).integers(0, 100, n).astype(TYPES[type])
        same(cubc.unique(on(device, x)), np.unique(x))


def test_unique_of_a_matrix_and_of_a_list():
    x = np.random.default_rng(0).integers(0, 9, (30, 40))
    same(cubc.unique(x, device="cpu"), np.unique(x))
    same(cubc.unique([3, 1, 3], device="cpu"), np.array([1, 3]))


@pytest.mark.parametrize("type", TYPES)
def test_diff(device, type):
    x = inputs.random(type, 10_001)
    expected = np.diff(x) if type != "BF16" else (x[1:] - x[:-1])
    same(cubc.diff(on(device, x)), expected)
    assert cubc.diff(on(device, x[:1])).shape == (0,)


@pytest.mark.parametrize("x", [np.zeros((2, 2)), np.zeros(0), np.float32(1)])
def test_diff_of_what_has_none(x):
    with pytest.raises(ValueError, match=r"diff\(\) takes one dimension"):
        cubc.diff(x)


def test_diff_in_place_is_refused(device):
    """An item is read for two differences: what is written must not be read again."""
    x = on(device, np.arange(10.0))
    for out in (x[:-1], x[1:]):
        with pytest.raises(ValueError, match="input and output overlap: an output lies apart"):
            cubc.diff(x, out=out)
    same(x, np.arange(10.0))


def test_diff_of_bool():
    with pytest.raises(TypeError, match="of bool has no meaning"):
        cubc.diff(np.array([True, False]))
