"""Functions by NumPy's names that are calls of the primitives."""

import inputs
import numpy as np
import pytest
from inputs import on, same

import cubc


def test_cumulative(device):
    x = inputs.random("I32", 10_001)
    same(cubc.cumsum(on(device, x)), np.cumsum(x))
    same(cubc.cumsum(on(device, x), dtype=np.int32), np.cumsum(x, dtype=np.int32))
    same(cubc.cumprod(on(device, x)), np.cumprod(x))


def test_partition(device):
    x = inputs.random("I32", 600).reshape(20, 30)
    for axis in (0, -1, None):
        made = np.asarray(cubc.partition(on(device, x), [3, -2], axis))
        same(made, np.sort(x, axis))
        order = cubc.argpartition(on(device, x), 3, axis)
        same(order, np.argsort(x, axis, kind="stable"))


def test_partition_by_a_condition_has_another_name(device):
    x = inputs.random("I32", 600)
    for condition in ("x > 0", on(device, x > 0)):
        with pytest.warns(DeprecationWarning, match="is partition_if"):
            found, rest = cubc.partition(on(device, x), condition)
        same(found, x[x > 0])
        same(rest, x[x <= 0])
    with pytest.warns(DeprecationWarning, match="is partition_if"):
        assert len(cubc.partition(on(device, x), "x > 0", "x > -9")) == 3


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: cubc.partition(x, 4), ValueError, r"kth\(=4\) out of bounds \(4\)"),
        (lambda x: cubc.argpartition(x, [0, -5]), ValueError, r"kth\(=-5\) out of bounds"),
        (lambda x: cubc.partition(x, 0.5), TypeError, "kth is 0.5"),
        (lambda x: cubc.partition(x, [[1]]), ValueError, "more than one dimension"),
        (lambda x: cubc.partition(x, 1, kind="heap"), ValueError, "kind is 'heap'"),
    ],
)
def test_wrong_places(call, error, words):
    with pytest.raises(error, match=words):
        call(np.arange(12).reshape(3, 4))
