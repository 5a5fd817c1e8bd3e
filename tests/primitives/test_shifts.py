"""Shifts by counts below 0 and beyond a type's bits: NumPy's results, which C leaves undefined."""

import operator

import numpy as np
import pytest
from inputs import same

import cubc
import cubc.array_api as xp

COUNTS = (0, 7, 8, 31, 32, 63, 64, 100)
SIGNS = [operator.lshift, operator.rshift]


def items(dtype):
    return np.array([-128, -3, -1, 0, 1, 5, 100, 127]).astype(dtype)


@pytest.mark.some
@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "u8"])
def test_numbers_and_arrays(device, dtype, sign):
    x = items(dtype)
    d = cubc.asarray(x, device=device)
    for count in (*COUNTS, *((-1, np.int8(-5)) if np.dtype(dtype).kind == "i" else ())):
        same(sign(d, count).array().numpy(), sign(x, count))
    counts = np.array(COUNTS).astype(dtype)
    c = cubc.asarray(counts, device=device)
    same(sign(d, c).array().numpy(), sign(x, counts))
    same(sign(d + d, c).array().numpy(), sign(x + x, counts))
    same(sign(5, c).array().numpy(), sign(5, counts))
    of = xp.bitwise_left_shift if sign is operator.lshift else xp.bitwise_right_shift
    same(np.asarray(of(d, c)), sign(x, counts))
    if np.dtype(dtype).kind == "i":
        same(sign(d, -c).array().numpy(), sign(x, -counts))
    in_place = operator.ilshift if sign is operator.lshift else operator.irshift
    same(in_place(d.copy(), 9).numpy(), sign(x, 9))


@pytest.mark.some
@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("count", [9, 64, -2])
def test_functions(device, count, sign):
    """Counts that are numbers of the function, of the closure, and items."""
    x, counts = items("i1"), np.array([0, 1, 7, 8, 9, 64, -1, -128], "i1")
    places = {"device": device}
    number = {9: lambda x: sign(x, 9), 64: lambda x: sign(x, 64), -2: lambda x: sign(x, -2)}[count]
    same(cubc.transform(number, x=x, **places), sign(x, count))
    same(cubc.transform(lambda x: sign(x, count), x=x, **places), sign(x, count))
    same(cubc.transform(lambda x, y: sign(x, y), x=x, y=counts, **places), sign(x, counts))
    found = cubc.select(x, lambda x: sign(x, count) < 0, **places)
    same(found, x[sign(x, count) < 0])
