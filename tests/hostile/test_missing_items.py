"""Items that are missing: in lists, and beside arrays on a device. NumPy reads both unmasked."""

import operator
from collections import deque

import numpy as np
import pytest

import cubc
import cubc.array_api as xp
from cubc import lazy

X = np.arange(6.0)
MASKED = np.ma.masked_array(X, X > 3)
WHOLE = np.ma.masked_array(np.arange(6), X > 3)
ONE = [*X[:5].tolist(), np.ma.masked]
REFUSED = r" is a masked array, whose mask cubc does not know: pass x\.filled\(value\)"
LISTS = {
    "arrays": [MASKED, MASKED],
    "a tuple": (X, MASKED),
    "deep": [[[X], [X]], [[X], [MASKED]]],
    "a number": ONE,
    "a queue": deque(ONE),
}
CALLS = {
    "sum": cubc.sum,
    "scan": cubc.scan,
    "sort": cubc.sort,
    "mean": cubc.mean,
    "nanmax": cubc.nanmax,
    "unique": cubc.unique,
    "take": lambda x: cubc.take(X, x),
    "take from": lambda x: cubc.take(x, [0]),
    "scatter": lambda x: cubc.scatter(X, [0], x),
    "values of integers": lambda x: cubc.scatter(np.arange(6), [0], x),
    "put": lambda x: cubc.put(X.copy(), [0], x),
    "where": lambda x: cubc.where(x, X, X),
    "histogram": lambda x: cubc.histogram(X, x),
    "channels": lambda x: cubc.histogram_channels(X.reshape(3, 2), [x, 2], [(0, 3)] * 2),
    "bincount": cubc.bincount,
    "asarray": lambda x: cubc.asarray(x, device="cpu"),
    "of a type": lambda x: cubc.asarray(x, "float32", device="cpu"),
    "transform": lambda x: cubc.transform("x", x=x),
    "lazy": lambda x: lazy("x", x=x),
    "concatenate": lambda x: cubc.concatenate([X, x]),
    "kth": lambda x: cubc.partition(X, x),
    "for_each": lambda x: cubc.for_each("y[i] = x[0];", 1, x=x, y=X.copy()),
    "array_api": lambda x: xp.asarray(x, device="cpu"),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", LISTS)
def test_masked_items_in_lists_are_refused(name, kind):
    with pytest.raises(TypeError, match=REFUSED):
        CALLS[name](LISTS[kind])


def test_masked_items_in_lists_for_arrays_of_a_device(device):
    for dtype in ("f8", "i4", "c16"):
        d = cubc.asarray(np.zeros(6, dtype), device=device)
        for call in (
            lambda d=d: d[[0, np.ma.masked]],
            lambda d=d: operator.setitem(d, slice(1, 3), [MASKED[:2]]),
            lambda d=d: operator.setitem(d, slice(0, 6), ONE),
            lambda d=d: operator.setitem(d, 0, np.ma.masked),
            lambda d=d: operator.setitem(d, [0], [np.ma.masked]),
            lambda d=d: d + np.ma.masked,
            lambda d=d: cubc.put(d, [0], [np.ma.masked]),
        ):
            with pytest.raises(TypeError, match=REFUSED):
                call()
        assert not d.numpy().any()


def test_lists_without_missing_items():
    inside = [1.0]
    inside.append(inside)
    with pytest.raises((TypeError, ValueError)):
        cubc.sum(inside)
    assert cubc.sum([X, [*X], tuple(X)]) == 45
    assert cubc.sum([MASKED.filled(0), X]) == 21
    assert cubc.sum([np.float32(1), True, 2, 3.5]) == 7.5


OF_MASKED = ["add", "sub", "mul", "truediv", "floordiv", "pow", "eq", "ne", "lt", "le", "gt", "ge"]
OF_ARRAYS = ["mod", "and_", "or_", "xor", "lshift", "rshift"]  # numpy.ma has none of its own


@pytest.mark.parametrize("name", OF_MASKED + OF_ARRAYS)
def test_masked_operands(device, name):
    """They are refused, but for operators of numpy.ma itself, which computes on the host."""
    masked = MASKED if name in OF_MASKED else WHOLE
    items = np.arange(6, dtype=masked.dtype)
    d = cubc.asarray(items, device=device)
    sign = getattr(operator, name)
    for left in (d, +d):
        with pytest.raises(TypeError, match=REFUSED):
            sign(left, masked)
    if name in OF_ARRAYS:
        with pytest.raises(TypeError, match=REFUSED):
            sign(masked, d)
    else:
        with np.errstate(all="ignore"):
            assert sign(masked, d).tolist() == sign(masked, items).tolist()


@pytest.mark.parametrize("masked", [MASKED, np.ma.masked])
def test_masked_numbers_of_a_closure_are_refused(masked):
    for function in (lambda x: x + masked, lambda x: x < masked):
        with pytest.raises(TypeError, match=REFUSED):
            cubc.transform(function, x=X)
    with pytest.raises(TypeError, match="numpy/ma/"):  # which asks for what only its arrays have
        cubc.transform(lambda x: masked + x, x=X)


def test_numpy_ma_of_arrays_without_a_mask(device):
    """Functions of numpy.ma read the items of a device by a copy, as they do of any array."""
    d = cubc.asarray(X, device=device)
    assert np.ma.masked_greater(d, 3).tolist() == [0, 1, 2, 3, None, None]
    assert np.ma.add(d, X).tolist() == (X + X).tolist()
    assert not hasattr(d, "_data")
    assert not hasattr(d + 1, "_data")


def test_nulls_in_lists_are_refused():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    nulls = pandas.Series([1, None, 3], dtype="Int64")
    d = cubc.asarray(X[:3], device="cpu")
    for call in (
        lambda: cubc.sum([nulls, nulls]),
        lambda: cubc.asarray((X[:3], nulls), device="cpu"),
        lambda: cubc.transform("x", x=[nulls]),
        lambda: d + nulls,
        lambda: operator.setitem(d, slice(None), nulls),
    ):
        with pytest.raises(TypeError, match="is a pandas Series with nulls"):
            call()
    assert cubc.sum([nulls.dropna(), nulls.dropna()]) == 8
