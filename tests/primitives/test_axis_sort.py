"""Sorts along an axis that is not the last, against NumPy's."""

import inputs
import numpy as np
import pytest
from inputs import SOME, in_turn, on, same

import cubc
from cubc import _axis_sort, _core

LENGTHS = [1, 2, 4, 5, 8, 15, 16, 31, 33, 64, 65, 128, 129, 257, 1000, 2048, 2049]
LABELS = ["ipt_33.tpb_64.mb_1", "ipt_64.tpb_128.mb_2", "ipt_16.tpb_192.mb_2", "ipt_5.tpb_448.mb_1"]


def order_of(x, axis, descending=False):
    """The indices of a stable sort."""
    keys = inputs.exact(x)
    if descending:  # of equal items the first stays the first
        keys = -np.unique(keys, return_inverse=True)[1].reshape(x.shape)
    return np.argsort(keys, axis=axis, kind="stable")


def check(device, x, axis, **options):
    order = order_of(x, axis, **options)
    given = on(device, x)
    same(cubc.sort(given, axis=axis, **options), np.take_along_axis(x, order, axis))
    same(cubc.argsort(given, axis=axis, **options), order)


@pytest.mark.parametrize(("type", "descending"), in_turn(SOME, [False, True], 2))
def test_every_type(device, type, descending):
    x = inputs.random(type, 6 * 35 * 16).reshape(6, 35, 16)
    check(device, x, 1, descending=descending)


@pytest.mark.parametrize("length", LENGTHS)
def test_lengths(device, length):
    """Each compiled length, several matrices, and keys of which many are equal."""
    for columns in (2, 41):
        x = inputs.random("I8", 3 * length * columns, length).reshape(3, length, columns) % 50
        check(device, x, 1)
    check(device, x.reshape(-1, length), 1)


@pytest.mark.parametrize(("length", "label"), in_turn([3, 10, 16, 37, 45, 300], LABELS, 4))
def test_variants_of_gpus(device, policies, length, label):
    x = inputs.random("F32", length * 700).reshape(length, 700)
    for name in ("keys", "indices", "rows"):
        arch = cubc.device_info(device)["arch"]
        _core.use_policy(f"axis_sort.{name}", {"T{ct}": "F32"}, arch, label)
    check(device, x, 0)
    check(device, x.reshape(1, length, 100, 7), 1, descending=True)
    rows = x.reshape(700, length)
    for indices in (False, True):
        fields = {"in": on(device, rows), "length": length, "columns": 1, "indices": indices}
        fields["out"] = ("int64" if indices else "in", "in", None)
        expected = order_of(rows, 1) if indices else np.sort(rows, axis=1)
        same(_core.call("axis_sort", fields)[0], expected)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 3), (1, 1, 2), (3, 100_000)])
def test_shapes(device, shape):
    x = inputs.random("I32", int(np.prod(shape))).reshape(shape)
    for axis in range(-x.ndim, x.ndim - 1):
        check(device, x, axis)


def test_special_values(device):
    """NaNs come last, -0.0 before 0.0, and what is greatest is no padding of a short axis."""
    column = np.array([np.nan, np.inf, 0.0, -0.0, -np.nan, 3, -np.inf, 1e-45, -1], np.float32)
    x = np.repeat(column[:, None], 70, 1)
    result = np.asarray(cubc.sort(on(device, x), axis=0))
    np.testing.assert_array_equal(result, np.sort(x, axis=0))
    assert np.signbit(result[2:4, 69]).tolist() == [True, False]
    order = np.array([6, 8, 3, 2, 7, 5, 1, 0, 4])
    same(cubc.argsort(on(device, x), axis=0)[:, 3], order)
    largest = np.full((5, 9), 2**64 - 1, np.uint64)
    same(cubc.argsort(on(device, largest), axis=0), np.repeat(np.arange(5)[:, None], 9, 1))
    flags = on(device, np.array([[0, 3], [255, 0], [1, 1]], np.uint8).view(bool))
    same(cubc.sort(flags, axis=0), np.array([[0, 0], [1, 1], [1, 1]], bool))


def test_in_place_and_out(device):
    x = inputs.random("I64", 300 * 30).reshape(300, 30)
    given = cubc.asarray(x.copy(), device=device)
    order = order_of(x, 0)
    index = cubc.empty(x.shape, "int64", device=device)
    assert cubc.argsort(given, axis=0, out=index) is index
    same(index, order)
    assert cubc.sort(given, axis=0, out=given) is given
    same(given, np.sort(x, axis=0))
    out = np.empty_like(x, order="F")
    assert cubc.sort(x, axis=0, out=out, device=device) is out
    same(np.ascontiguousarray(out), np.sort(x, axis=0))
    with pytest.raises(ValueError, match="overlap"):
        cubc.sort(given[1:], axis=0, out=given[:-1])


def test_strides_and_lazy_inputs(device):
    x = inputs.random("U16", 40 * 60).reshape(40, 60)
    given = on(device, x)
    same(cubc.sort(given[::2, 1::3], axis=0), np.sort(x[::2, 1::3], axis=0))
    lazy = cubc.lazy("x ^ y", x=given, y=on(device, x[:1].copy()))
    same(cubc.argsort(lazy, axis=0), order_of(x ^ x[:1], 0))


def test_bound_calls(device):
    x = cubc.asarray(inputs.random("I32", 70 * 20).reshape(70, 20), device=device)
    out = cubc.empty(x.shape, "int32", device=device)
    cubc.bind(cubc.sort, x, axis=0, out=out)()
    same(out, np.sort(np.asarray(x), axis=0))


def test_short_axes_are_one_call(monkeypatch):
    """An axis that is too long takes another way; the last one is shorter for that."""
    called = []
    kept = _axis_sort.call
    monkeypatch.setattr(_axis_sort, "call", lambda *a, **o: called.append(a[0]) or kept(*a, **o))
    for shape, axis in (((2048, 3), 0), ((2049, 3), 0), ((3, 128), 1), ((3, 129), 1)):
        x = np.zeros(shape, "i2")
        cubc.sort(x, axis=axis, device="cpu")
        cubc.argsort(x, axis=axis, device="cpu")
    assert called == ["axis_sort"] * 4


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"length": 4, "columns": 2}, "12 items are no multiple of length . columns, 4 . 2"),
        ({"length": 0, "columns": 2}, "each at least 1"),
        ({"length": 2**62, "columns": 4}, "no multiple"),
        ({"length": 3, "columns": 4, "out": ("in", (11,), None)}, "12"),
    ],
)
def test_errors(fields, message):
    fields = {"in": np.arange(12), "out": ("in", "in", None)} | fields
    with pytest.raises(ValueError, match=message):
        _core.call("axis_sort", fields, device="cpu")


def test_axes_that_are_too_long():
    x = np.zeros((2049, 2))
    fields = {"in": x, "length": 2049, "columns": 2, "out": ("in", "in", None)}
    with pytest.raises(ValueError, match="2049 items, more than 2048: transpose"):
        _core.call("axis_sort", fields, device="cpu")
