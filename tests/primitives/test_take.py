"""take, take_along_axis, where, nonzero and lexsort against NumPy's."""

import inputs
import numpy as np
import pytest
from inputs import TYPES, on, same

import cubc

MODES = ["raise", "wrap", "clip"]


@pytest.mark.parametrize("type", [*TYPES, "BOOL", "C64", "C128"])
def test_every_type(device, type):
    dtype = {"BOOL": np.bool, "C64": np.complex64, "C128": np.complex128}.get(type)
    x = inputs.random(type, 300) if dtype is None else inputs.random("I8", 300).astype(dtype)
    places = inputs.random("I64", 1001) % 600 - 300
    same(cubc.take(on(device, x), on(device, places)), x[places])


def test_structs(device):
    x = np.zeros(50, [("n", "i4"), ("v", "f8"), ("k", "u1")])
    x["n"] = np.arange(50)
    made = np.asarray(cubc.take(on(device, x), on(device, np.arange(49, -1, -7))))
    assert (made == x[::-7]).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_axes_and_modes(device, axis, mode):
    x = inputs.random("I32", 6 * 7 * 5).reshape(6, 7, 5)
    places = inputs.random("I64", 12).reshape(3, 4) % (10 if mode == "raise" else 40) - 5
    given, indices = on(device, x), on(device, places)
    expected = np.take(x, places, axis, mode=mode)
    same(cubc.take(given, indices, axis, mode=mode), expected)
    out = on(device, np.zeros_like(expected))
    assert cubc.take(given, indices, axis, out, mode) is out
    same(out, expected)


def test_boundaries_of_the_policy(device):
    for n in inputs.sizes("take.items", "I32", device):
        x = np.arange(n, dtype=np.int32)
        same(cubc.take(on(device, x), on(device, x[::-1].copy())), x[::-1])


def test_rows_of_many_items(device):
    x = inputs.random("I32", 300 * 1001).reshape(300, 1001)
    rows = inputs.random("I64", 70) % 300
    same(cubc.take(on(device, x), on(device, rows), 0), x[rows])


def test_no_items_and_no_dimensions(device):
    x = np.arange(5)
    same(cubc.take(on(device, x), on(device, np.zeros(0, int))), x[:0])
    same(
        cubc.take(on(device, x.reshape(5, 1)[:, :0]), on(device, np.zeros(2, int)), 0),
        x[:0][None][[0, 0]],
    )
    same(cubc.take(on(device, x), 3), x[3])
    same(cubc.take(on(device, x[2]), on(device, np.zeros(2, int))), x[[2, 2]])
    same(cubc.take(x[::2], [0, -1], device="cpu"), x[[0, 4]])


def test_lazy_indices(device):
    x = inputs.random("I32", 1000)
    backwards = cubc.lazy("999 - i / r", r=2, size=2000, dtype="int64")
    same(cubc.take(on(device, x), backwards, device=device), np.repeat(x[::-1], 2))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda x, k: cubc.take(x, k + 2),
            IndexError,
            "index 12 .* axis 0 with size 12",
        ),
        (lambda x, k: cubc.take(x, k - 14), IndexError, "out of bounds"),
        (lambda x, k: cubc.take(x[:0], k), IndexError, "without any"),
        (lambda x, k: cubc.take(x, k * 0.5), TypeError, "take are F64, expected integers"),
        (lambda x, k: cubc.take(x, k, mode="keep"), ValueError, "mode is 'keep'"),
        (lambda x, k: cubc.take(x, k, 2), ValueError, "axis 2 is out of bounds"),
        (lambda x, k: cubc.take(x, k, out=np.zeros(9)), ValueError, "out has the shape"),
        (lambda x, k: cubc.take(x, k, out=np.zeros(11)), TypeError, "float64"),
        (lambda x, k: cubc.take(x, k, out=x.ravel()[:11]), ValueError, "apart"),
        (lambda x, k: cubc.take_along_axis(x, k), ValueError, "1 dimensions and the array 2"),
        (lambda x, k: cubc.take_along_axis(x, x * 0.5), IndexError, "no integers"),
        (lambda x, k: cubc.take_along_axis(x, x + 9, 0), IndexError, "axis 0 with size 3"),
        (lambda x, k: cubc.take_along_axis(x, x[:, :3], 0), ValueError, "broadcast"),
        (lambda x, k: cubc.where(x > 3, x), ValueError, "either both or neither"),
        (lambda x, k: cubc.nonzero(3), ValueError, "0d arrays"),
        (lambda x, k: cubc.lexsort([]), TypeError, "a key or more"),
        (lambda x, k: cubc.lexsort([x, k]), ValueError, "same shape"),
    ],
)
def test_wrong_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call(np.arange(12).reshape(3, 4), np.arange(11))


def test_indices_on_a_device_are_checked(device):
    x = cubc.asarray(np.arange(5), device=device)
    with pytest.raises(IndexError, match="out of bounds"):
        cubc.take(x, cubc.asarray([0, 5], device=device))
    same(cubc.take(x, cubc.asarray([0, 5], device=device), mode="clip"), np.array([0, 4]))


# ---- along an axis -------------------------------------------------------------------------------
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_along_an_axis(device, axis):
    x = inputs.random("I32", 6 * 7 * 5).reshape(6, 7, 5)
    given = on(device, x)
    order = cubc.argsort(given, axis=axis)
    same(cubc.take_along_axis(given, order, axis), np.sort(x, axis))
    first = np.argmax(x, axis, keepdims=True)
    same(cubc.take_along_axis(given, on(device, first), axis), x.max(axis, keepdims=True))
    same(cubc.take_along_axis(given, on(device, first.ravel()), None), x.ravel()[first.ravel()])


def test_along_an_axis_broadcast():
    x = np.arange(12).reshape(3, 4)
    places = np.array([[0, -1]])
    same(cubc.take_along_axis(x, places, 1, device="cpu"), np.take_along_axis(x, places, 1))


# ---- where, nonzero, lexsort ---------------------------------------------------------------------
def test_where(device):
    x, y = inputs.random("I32", 60).reshape(3, 4, 5), inputs.random("F32", 5)
    given, other = on(device, x), on(device, y)
    same(cubc.where(on(device, x > 0), given, 0), np.where(x > 0, x, 0))
    same(cubc.where(given, given, 0.5), np.where(x, x, 0.5))
    same(cubc.where(on(device, x > 0), given, other), np.where(x > 0, x, y))
    same(cubc.where(on(device, x > 0), 1, 0), np.where(x > 0, 1, 0))
    same(cubc.where(on(device, x[0, 0] > 0), other, 1 + 2j), np.where(x[0, 0] > 0, y, 1 + 2j))
    huge = np.full(3, 2**63, np.uint64)
    mixed = cubc.where(on(device, x[0, 0, :3] > 0), on(device, huge), on(device, -np.arange(3)))
    same(mixed, np.where(x[0, 0, :3] > 0, huge, -np.arange(3)))


def test_nonzero(device):
    x = inputs.random("I8", 600).reshape(4, 30, 5) % 3
    for of in (x, x[0, 0], x[:0]):
        made, expected = cubc.nonzero(on(device, of)), np.nonzero(of)
        assert len(made) == of.ndim
        for one, wanted in zip(made, expected, strict=True):
            same(one, wanted)
    for one, wanted in zip(cubc.where(on(device, x > 0)), np.where(x > 0), strict=True):
        same(one, wanted)


def test_lexsort(device):
    keys = inputs.random("I8", 3 * 400).reshape(3, 20, 20) % 4
    given = [on(device, key) for key in keys]
    for axis in (0, -1):
        same(cubc.lexsort(given, axis), np.lexsort(keys, axis))
    zeros = np.array([0.0, -0.0, 1.0, -0.0], np.float32)
    same(cubc.lexsort([on(device, zeros)]), np.lexsort([zeros]))
    same(cubc.lexsort([on(device, zeros)] * 2), np.lexsort([zeros] * 2))


def test_indices_beyond_int64(device):
    """As numbers: no index of 2^63 is a negative one."""
    k = np.array([2**63, 2**64 - 1, 1], np.uint64)
    x, at = on(device, np.arange(3)), on(device, k)
    assert np.asarray(cubc.take(x, at, mode="clip")).tolist() == [2, 2, 1]
    assert np.asarray(cubc.take(x, at, mode="wrap")).tolist() == [int(i) % 3 for i in k.tolist()]
    for mode, expected in (("clip", [0, 1, 9]), ("wrap", [0, 1, 9])):
        x = on(device, np.arange(3))
        cubc.put(x, on(device, k[:1]), 9, mode=mode)
        assert np.asarray(x).tolist() == expected
