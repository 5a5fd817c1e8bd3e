"""Functions by NumPy's names that are calls of the primitives."""

import inputs
import numpy as np
from inputs import on, same

import cubc


def test_cumulative(device):
    x = inputs.random("I32", 10_001)
    same(cubc.cumsum(on(device, x)), np.cumsum(x))
    same(cubc.cumsum(on(device, x), dtype=np.int32), np.cumsum(x, dtype=np.int32))
    same(cubc.cumprod(on(device, x)), np.cumprod(x))
