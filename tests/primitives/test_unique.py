"""unique and diff against NumPy's."""

import inputs
import numpy as np
import pytest
from inputs import TYPES, on, same

import cubc


@pytest.mark.parametrize("type", ["I8", "U16", "I64", "F32", "F16"])
def test_unique(device, type):
    for n in (0, 1, 1000, 50_001):
        x = np.random.default_rng(n).integers(0, 100, n).astype(TYPES[type])
        same(cubc.unique(on(device, x)), np.unique(x))


@pytest.mark.parametrize("type", ["?", "f4", "c8"])
def test_index_inverse_and_counts(device, type):
    for n in (0, 1, 2, 5001):
        x = (inputs.random("I8", n) % 9).astype(type)
        if type in ("f4", "c8"):
            x = x + 1j * (x > 3) if type == "c8" else x
            x = x.astype(type)
            x[x == 2] = np.nan
        for equal_nan in (True, False):
            given = on(device, x)
            same(cubc.unique(given, equal_nan=equal_nan), np.unique(x, equal_nan=equal_nan))
            if type == "c8" and not equal_nan:  # whose order of NaN NumPy does not keep
                continue
            made = cubc.unique(given, True, True, True, equal_nan=equal_nan)
            expected = np.unique(x, True, True, True, equal_nan=equal_nan)
            for one, wanted in zip(made, expected, strict=True):
                same(one, wanted)


def test_unique_of_a_matrix_and_of_a_list():
    x = np.random.default_rng(0).integers(0, 9, (30, 40))
    same(cubc.unique(x, device="cpu"), np.unique(x))
    for items in (x, x.astype("f4"), x.astype("c8")):
        for given in (items, cubc.asarray(items, device="cpu")):
            made = cubc.unique(given, return_inverse=True, device="cpu")
            for one, wanted in zip(made, np.unique(items, return_inverse=True), strict=True):
                same(one, wanted)
    same(cubc.unique([3, 1, 3], device="cpu"), np.array([1, 3]))


def test_lazy_structs_with_their_indices(device):
    pairs = np.array([(1, 2), (0, 5), (1, 2)], [("a", "i4"), ("b", "i4")])
    lazy = cubc.lazy("x", x=on(device, pairs), dtype=pairs.dtype)
    for one, wanted in zip(
        cubc.unique(lazy, True, True, True), np.unique(pairs, True, True, True), strict=True
    ):
        same(one, wanted)


# ---- parts along an axis ----------------------------------------------------------------------
@pytest.mark.parametrize("type", ["?", "u1", "i8", "f2", "f4", "c8"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_parts_along_an_axis(device, type, axis):
    rng = np.random.default_rng(11)
    for shape in ((301, 3), (3, 50), (40, 2, 3), (5, 1), (4, 0), (0, 4), (17,)):
        x = rng.integers(0, 2, shape).astype(type)
        if axis < len(shape):
            expected = np.unique(x, True, True, True, axis)
            made = cubc.unique(on(device, x), True, True, True, axis)
            for one, wanted in zip(made, expected, strict=True):
                same(one, wanted)
            same(cubc.unique(on(device, x), axis=axis), expected[0])


def test_parts_with_nan_and_zeros_of_both_signs(device):
    x = np.array([[1, np.nan], [0.0, 1], [-0.0, 1], [1, np.nan], [np.nan, 0]])
    for one, wanted in zip(
        cubc.unique(on(device, x), True, True, True, 0),
        np.unique(x, True, True, True, 0),
        strict=True,
    ):
        same(one, wanted)
    lazy = cubc.lazy("x + 1", x=on(device, x), dtype="f8")
    same(cubc.unique(lazy, axis=0), np.unique(x + 1, axis=0))


def test_axes_that_are_refused(device):
    with pytest.raises(np.exceptions.AxisError):
        cubc.unique(on(device, np.zeros((2, 3))), axis=2)
    pairs = np.zeros((2, 3), [("a", "i4"), ("b", "i4")])
    with pytest.raises(TypeError, match="axis="):
        cubc.unique(on(device, pairs), axis=0)


# ---- diff ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("type", ["I8", "U16", "I64", "F16", "BF16", "F32", "?"])
def test_diff(device, type):
    x = inputs.random(type, 10_001) if type != "?" else inputs.random("I8", 10_001) > 0
    expected = np.diff(x) if type != "BF16" else (x[1:] - x[:-1])
    same(cubc.diff(on(device, x)), expected)
    assert cubc.diff(on(device, x[:1])).shape == (0,)


def test_no_differences_are_the_array(device):
    x = on(device, np.arange(5.0))
    out = on(device, np.zeros(5))
    assert cubc.diff(x, 0) is x
    assert cubc.diff(x, 0, out=out) is out
    same(out, np.arange(5.0))


@pytest.mark.parametrize(
    ("shape", "axis", "n"),
    [((1,), 0, 1), ((2,), 0, 3), ((2, 1), 1, 1), ((3, 0), 0, 1), ((2, 0), 1, 2), ((0, 2, 2), 1, 1)],
)
def test_a_result_without_differences_is_as_any_other(device, shape, axis, n):
    x = np.zeros(shape)
    d, expected = cubc.asarray(x, device=device), np.diff(x, n, axis)
    same(cubc.diff(d, n, axis), expected)
    same(cubc.diff(d, n, axis, op="b > a"), expected > 0)
    out = cubc.asarray(np.zeros_like(expected), device=device)
    assert cubc.diff(d, n, axis, out=out) is out
    with pytest.raises(ValueError, match="out has the shape"):
        cubc.diff(d, n, axis, out=cubc.empty(7, device=device))


@pytest.mark.parametrize("axis", [0, 1])
def test_differences_go_into_another_type(device, axis):
    x = np.arange(6.0).reshape(2, 3) ** 2
    expected = np.diff(x, axis=axis).astype("f4")
    out = cubc.asarray(np.zeros_like(expected), device=device)
    assert cubc.diff(cubc.asarray(x, device=device), axis=axis, out=out) is out
    same(out, expected)


def test_differences_of_lazy_arrays_of_the_host():
    x = np.array([3.0, 1.0, 2.0])
    lazy = cubc.lazy("x", x=x, dtype="f8")
    for how in ({}, {"prepend": np.array([0.0])}, {"axis": 0}):
        made = cubc.diff(lazy, device="cpu", **how)
        assert isinstance(made, np.ndarray)
        same(made, np.diff(x, **how))
    same(cubc.concatenate([lazy, x]), np.concatenate([x, x]))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("n", [0, 1, 2, 9])
def test_diff_along_an_axis(device, axis, n):
    x = inputs.random("I64", 5 * 6 * 7).reshape(5, 6, 7)
    more = x.take([2, 0], axis)
    given = on(device, x)
    same(cubc.diff(given, n, axis), np.diff(x, n, axis))
    same(cubc.diff(given, n, axis, prepend=3), np.diff(x, n, axis, prepend=3))
    longer = np.diff(x, n, axis, prepend=-1, append=more)
    same(cubc.diff(given, n, axis, prepend=-1, append=on(device, more)), longer)
    if n in (1, 2):
        out = on(device, np.zeros_like(longer))
        made = cubc.diff(given, n, axis, -1, on(device, more), out=out)
        assert made is out
        same(out, longer)


@pytest.mark.parametrize("axis", [0, 1])
def test_diff_takes_ends_without_dimensions(device, axis):
    x, end = np.arange(6).reshape(2, 3) ** 2, np.array(7.5)
    d, one = (cubc.asarray(z, device=device) for z in (x, end))
    for given in (end, one, cubc.lazy("z", z=one)):
        same(cubc.diff(d, axis=axis, append=given), np.diff(x, axis=axis, append=end))
        same(cubc.diff(d[0], 2, prepend=given), np.diff(x[0], 2, prepend=end))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: cubc.diff(x[0, 0]), ValueError, "at least one dimension"),
        (lambda x: cubc.diff(x, -1), ValueError, "order must be non-negative but got -1"),
        (lambda x: cubc.diff(x, 0.5), TypeError, r"diff\(\): n is 0.5: expected an int"),
        (lambda x: cubc.diff(x, axis=2), ValueError, "axis 2 is out of bounds"),
        (lambda x: cubc.diff(x, append=x[:2]), ValueError, "dimension"),
    ],
)
def test_wrong_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call(np.arange(12).reshape(3, 4))


def test_diff_in_place_is_refused(device):
    """An item is read for two differences: what is written must not be read again."""
    x = on(device, np.arange(10.0))
    for out in (x[:-1], x[1:]):
        with pytest.raises(ValueError, match="input and output overlap: an output lies apart"):
            cubc.diff(x, out=out)
    same(x, np.arange(10.0))
