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


@pytest.mark.parametrize("name", ["min", "max", "nanmin", "nanmax"])
def test_an_extreme_is_that_of_the_items_whatever_the_outputs_type(device, name):
    x, out = np.array([[-2.0, 3.0], [5.0, -7.5]]), np.zeros(2, "i4")
    function = getattr(cubc, name)
    given, to = on(device, x), on(device, out)
    assert function(given, 0, to) is to
    assert np.asarray(to).tolist() == getattr(np, name)(x, 0).astype("i4").tolist()
    signed, to = on(device, x.astype("i4")), on(device, np.zeros((), "u4"))
    function(signed, out=to)
    assert int(np.asarray(to)) == {"min": 2**32 - 7, "max": 5}[name[-3:]]


@pytest.mark.parametrize("x", [[0.0, -0.0], [-0.0, 0.0], [np.nan, -0.0, 0.0, 2.0, -1.0]])
def test_the_first_of_zeros_is_an_extreme_without_nan(x):
    for name in ("nanmin", "nanmax"):
        x = np.array(x[:3])
        assert np.signbit(getattr(cubc, name)(x)) == np.signbit(getattr(np, name)(x))


@pytest.mark.parametrize(
    "call",
    [
        lambda library, x: library.argmin(x, axis=(0,)),
        lambda library, x: library.argmax(x[:0], axis=(0,)),
        lambda library, x: library.put(read_only(x), [0], 1),
        lambda library, x: library.put(read_only(x), [7], 1000),
        lambda library, x: library.put_along_axis(read_only(x), np.array([0]), 1, 0),
        lambda library, x: library.partition(x, 5),
    ],
)
def test_errors_are_of_numpys_classes(call):
    x = np.array([3, 1, 2], "i1")
    with pytest.raises((TypeError, ValueError)) as raised:
        call(np, x)
    with pytest.raises(raised.type):
        call(cubc, x)


@pytest.mark.parametrize("name", ["argmin", "argmax", "nanargmin", "nanargmax"])
@pytest.mark.parametrize(
    "option", [{"dtype": "i4"}, {"init": 3}, {"initial": 3}, {"where": True}], ids=str
)
def test_an_index_takes_neither_a_type_nor_a_first_operand(name, option):
    (given,) = option
    sentence = rf"^{name}\(\): {given} is not taken: the result is int64$"
    with pytest.raises(TypeError, match=sentence):
        getattr(cubc, name)(np.arange(4.0), **option)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("min", "the result has the type of the items"),
        ("nanmax", "the result has the type of the items"),
        ("any", "the result is bool"),
    ],
)
def test_results_of_one_type_take_no_other(name, sentence):
    with pytest.raises(TypeError, match=rf"^{name}\(\): dtype is not taken: {sentence}$"):
        getattr(cubc, name)(np.arange(4.0), dtype="i4")


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


def test_places_of_no_items(device):
    for shape, kth, axis in (((0,), 3, -1), ((0, 3), 1, 0), ((2, 0, 3), [0, 1], None)):
        x = on(device, np.empty(shape))
        same(cubc.partition(x, kth, axis), np.partition(np.empty(shape), kth, axis))
        same(cubc.argpartition(x, kth, axis), np.argpartition(np.empty(shape), kth, axis))


def test_one_number_of_repeats_is_of_each_item(device):
    x = np.arange(6, dtype="i4").reshape(2, 3)
    for axis in (None, 0, 1):
        same(cubc.repeat(on(device, x), on(device, np.array([2])), axis), np.repeat(x, [2], axis))


@pytest.mark.parametrize("name", ["nanmin", "nanmax"])
def test_complex_numbers_have_no_extreme(device, name):
    with pytest.raises(TypeError, match="needs an order"):
        getattr(cubc, name)(on(device, np.ones(3, "c8")))


def test_complex_numbers_are_not_joined_to_real_ones():
    d = cubc.asarray(np.ones(3, "c8"), device="cpu")
    with pytest.raises(TypeError, match="take the real parts"):
        cubc.concatenate([d, d], dtype="f4", casting="unsafe")
