"""Items of a cubc.Array: indices, assignments, axes in another order, iteration; on its device."""

import inputs
import numpy as np
import pytest
from inputs import in_turn, same

import cubc
import cubc.array_api

X = inputs.random("I32", 4 * 6 * 5).reshape(4, 6, 5)
FULL = slice(None)
PARTS = [
    0,
    -1,
    (1, 2),
    (1, 2, 3, ...),
    slice(1, 3),
    ...,
    (..., None),
    (2, slice(1, 4)),
    (slice(4, 2), 0),
]
APART = [
    slice(None, None, 2),
    slice(None, None, -1),
    (FULL, 3),
    (..., -2),
    (0, FULL, slice(0, 4, 3)),
]
APART += [(None, FULL, slice(5, 1, -2), None, slice(1, 4)), (slice(1, 3), slice(2, 5), slice(1, 3))]


@pytest.fixture
def given(device):
    return cubc.asarray(X, device=device)


@pytest.mark.parametrize("index", PARTS, ids=str)
def test_parts_share_the_memory(given, index):
    part = given[index]
    same(part, X[index])
    if part.size:
        first = np.arange(X.size).reshape(X.shape)[index].flat[0]
        assert part.ptr == given.ptr + 4 * first


@pytest.mark.parametrize("index", APART, ids=str)
def test_items_apart_are_gathered(given, index):
    same(given[index], X[index])


def test_arrays_of_indices(given, device):
    places, rows = np.array([3, -1, 0]), np.array([[1, -2], [0, 5]])
    p, r = cubc.asarray(places, device=device), cubc.asarray(rows, device=device)
    same(given[p], X[places])
    same(given[:, r], X[:, rows])
    same(given[..., [0, -1]], X[..., [0, -1]])
    same(given[[0, 3, 1], p], X[[0, 3, 1], places])
    same(given[:, r, r - 1], X[:, rows, rows - 1])
    same(given[[]], X[[]])


def test_masks(given):
    same(given[given > 0], X[X > 0])
    same(given[(given > 0).array()], X[X > 0])
    rows = [True, False, False, True]
    same(given[rows], X[rows])
    same(given[given[:, :, 0] > 0], X[X[:, :, 0] > 0])


@pytest.mark.parametrize(
    ("index", "words"),
    [
        (4, "index 4 is out of bounds for axis 0 with size 4"),
        ((0, 0, 0, 0), "too many indices"),
        ((..., ...), "a single ellipsis"),
        ("x", "expected ints, slices"),
        (1.5, "expected ints, slices"),
        (True, "give a mask"),
        ([0, 4], "out of bounds"),
        ([[0.5]], "the dtype float64"),
        ([True, False], r"a mask has the shape \(2,\)"),
        (np.array([0, 1]), r"cubc\.asarray\(index"),
        ((slice(1, 2), [0, 1]), r"d\[1:\]\[places\]"),
        (([True] * 4, 0), r"write d\[mask\]"),
        (([0], FULL, [0]), "axes side by side"),
    ],
    ids=str,
)
def test_what_is_no_index(given, index, words):
    with pytest.raises(IndexError, match=words):
        given[index]


def test_assignments(device):
    x, d = X.copy(), cubc.asarray(X, device=device)
    row = np.arange(5, dtype=np.int32)
    for index, value in [
        (0, 7),
        (slice(1, 3), 2.5),
        ((3, 2), row),
        ((3, 4, 1), -1),
        ((1, ...), row),
    ]:
        x[index] = value
        d[index] = value if np.ndim(value) == 0 else cubc.asarray(value, device=device)
        same(d, x)
    x[x > 100], d[d > 100] = 0, 0
    same(d, x)
    d[2], x[2] = [1, 2, 3, 4, 5], [1, 2, 3, 4, 5]
    same(d, x)
    x[1:], d[1:] = x[:-1].copy(), d[:-1]
    same(d, x)
    for index, value in [
        (slice(None, None, 2), 0),
        ((FULL, 3), [[1, 2, 3, 4, 5]]),
        ((0, FULL, slice(None, None, -3)), [[7, 8]]),
    ]:
        x[index], d[index] = value, value
        same(d, x)
    x[::2], d[::2] = x[1::2].copy(), d[1::2] + 0
    same(d, x)
    with pytest.raises(ValueError, match="do not broadcast"):
        d[::2] = [1, 2, 3]


def test_assignments_by_arrays(device):
    x, d = X.copy(), cubc.asarray(X, device=device)
    mask = X[:, :, 0] % 2 == 0
    for index, value in [
        ([0, -1], 7),
        ((FULL, [2, 0]), [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]]),
        (([0, 3], [1, 5], [-1, 0]), [50, 60]),
        ((..., [[0], [4]]), 3),
        (mask.tolist(), 5),
        (mask.tolist(), [9, 8, 7, 6, 5]),
    ]:
        x[index] = value
        d[index] = value
        same(d, x)
    many = x < 20
    values = np.arange(np.count_nonzero(many), dtype="i4")
    x[many], d[d < 20] = values, cubc.asarray(values, device=device)
    same(d, x)
    with pytest.raises(IndexError, match="out of bounds"):
        d[[0, 4]] = 0
    with pytest.raises(ValueError, match=r"do not go into|broadcast"):
        d[[0, 1]] = [1, 2]


def test_axes_in_another_order(given):
    same(given.T, X.T)
    same(given.mT, X.swapaxes(1, 2))
    same(given[0].T, X[0].T)
    same(given.transpose(1, 0, 2), X.transpose(1, 0, 2))
    same(given.transpose((2, 0, -2)), X.transpose((2, 0, -2)))
    same(given.swapaxes(0, 2), X.swapaxes(0, 2))
    same(given[:1, None].squeeze(), X[:1, None].squeeze())
    same(given[:1].squeeze(0), X[0])
    same(given.ravel(), X.ravel())
    assert given.ravel().ptr == given.ptr != given.flatten().ptr
    with pytest.raises(ValueError, match="axes don't match"):
        given.transpose(0, 0, 1)
    with pytest.raises(ValueError, match="not equal to one"):
        given.squeeze(0)


def test_many_axes_apart(device):
    """More than four of them: their extents are part of the kernel."""
    x = X.reshape(2, 2, 2, 3, 5)
    same(cubc.asarray(x, device=device).T, x.T)


def test_iteration(given):
    for k, row in enumerate(given):
        same(row, X[k])
    assert [int(n) for n in given[0, 0]] == X[0, 0].tolist()
    with pytest.raises(TypeError, match="0-d"):
        iter(given[0, 0, 0])


def test_an_assigned_number_that_the_type_cannot_hold(device):
    d = cubc.asarray(np.arange(6, dtype="u1"), device=device)
    more = (cubc.asarray(one, device=device) for one in (np.array([1, 2]), np.arange(6) > 2))
    for key in (0, slice(1, 3), *more):
        with pytest.raises(OverflowError, match="out of bounds"):
            d[key] = 300
        with pytest.raises(OverflowError, match="out of bounds"):
            d[key] = -1
    assert d.tolist() == list(range(6))
    d[0] = 255
    d[1] = 2.5
    assert d.tolist()[:2] == [255, 2]


@pytest.mark.parametrize("lazy", [False, True])
def test_a_name_that_is_not_there_says_what_to_write(lazy):
    x = cubc.asarray(np.arange(3.0), device="cpu")
    x = x * 2 if lazy else x
    for name, words in {
        "clip": r"has no 'clip': write cubc\.array_api\.clip\(x\)",
        "fill": r"write x\[\.\.\.\] = value",
        "tobytes": r"write x\.numpy\(\)\.tobytes, of a copy",
        "sumx": r"object has no attribute 'sumx'",
    }.items():
        with pytest.raises(AttributeError, match=words):
            getattr(x, name)
    assert not hasattr(x, "__array_interface__")
    with pytest.raises(ValueError, match=r"3 items are neither .* cubc\.any\(x\)"):
        bool(x)


@pytest.mark.parametrize(
    ("dtype", "number"),
    in_turn(["f2", "f8", "u8"], [np.float32(2.5), np.array(2), np.uint64(7), np.True_, True], 3),
)
def test_a_number_of_numpys_is_assigned(device, number, dtype):
    """One that is alone is no array of the host."""
    x = np.arange(6).reshape(2, 3).astype(dtype)
    mask = np.array([[True, False, True], [False, True, False]])
    for index in (None, 0, (slice(None), slice(None, None, 2)), mask):
        wanted, d = x.copy(), cubc.asarray(x, device=device)
        wanted[index] = number
        d[cubc.asarray(mask, device=device) if index is mask else index] = number
        np.testing.assert_array_equal(d.numpy(), wanted)


def test_rare_operators_and_conversions(device):
    d = cubc.asarray(np.array([3, -4]), device=device)
    for made, wanted in zip(divmod(7, d), divmod(7, d.numpy()), strict=True):
        np.testing.assert_array_equal(made.array().numpy(), wanted)
    assert [((d > 0) ** k).dtype for k in (1, 2)] == ["i8", "i1"]
    with pytest.raises(IndexError, match="do not go together"):
        d.reshape(1, 2)[[0, 0, 0], [0, 1]]
    with pytest.raises(TypeError, match=r"astype\(\): items of complex128 do not become int32"):
        d.astype("c16").astype("i4")


def test_arrays_without_dimensions_are_broadcast(device):
    x = cubc.asarray(np.arange(6.0).reshape(2, 3), device=device)
    x[0] = x.sum()
    x[1, ...] = cubc.asarray(3.0, device=device)
    np.testing.assert_array_equal(x.numpy(), [[15.0] * 3, [3.0] * 3])
    x[:] = x.mean() * 2
    np.testing.assert_array_equal(x.numpy(), np.full((2, 3), 18.0))


def test_powers_in_place(device):
    for kind in ("f4", "i8"):
        x = cubc.asarray(np.arange(4).astype(kind), device=device)
        same = x
        x **= 2
        assert x is same
        np.testing.assert_array_equal(x.numpy(), np.arange(4).astype(kind) ** 2)


def test_lists_beside_arrays(device):
    x, y = np.array([1, 2]), cubc.asarray(np.array([1, 2]), device=device)
    for made, expected in (
        (y == [1, 3], x == [1, 3]),
        (y != [1, 3], x != [1, 3]),
        (y.__add__([1, 2.5]), np.add(x, [1, 2.5])),
        ([5, 6] - y, [5, 6] - x),
        (y < (2, 2), x < (2, 2)),
        ([1, 2] * cubc.asarray(3, device=device), np.array([3, 6])),
        ((y * 2) * [1, 2], x * [2, 4]),
    ):
        made = made.array().numpy()
        assert made.dtype == expected.dtype
        np.testing.assert_array_equal(made, expected)
    with pytest.raises(TypeError):
        y * "a"


def test_numbers_of_a_device_leave_other_items_alone(device):
    """C's common type of both would round them, and is none of two complex types."""
    d = cubc.asarray(np.array([2**53 + 1, 1, 4]), device=device)
    d[d < 9] = d[1:].mean()
    same(d, np.array([2**53 + 1, 2, 2]))
    d = cubc.asarray(np.array([1 + 1e-12j, 5]), device=device)
    d[d == 5] = cubc.asarray(np.complex64(7), device=device)
    same(d, np.array([1 + 1e-12j, 7]))


def test_values_and_indices_that_read_what_is_written(device):
    d = cubc.asarray(np.arange(4), device=device)
    places = cubc.asarray(np.array([3, 2, 1, 0]), device=device)
    d[places] = d
    same(d, np.array([3, 2, 1, 0]))
    d[places] = d * 2
    same(d, np.array([0, 2, 4, 6]))
    d[::-1] = d
    same(d, np.array([6, 4, 2, 0]))
    d[d > 2] = d[2:]
    same(d, np.array([2, 0, 2, 0]))
    cubc.put(d, places, d)
    same(d, np.array([0, 2, 0, 2]))
    cubc.put_along_axis(places, places, places, 0)
    same(places, np.arange(4))
    places[places] = 7
    same(places, np.full(4, 7))


def test_types_of_ufuncs(device):
    """NumPy converts the operands to the types that are asked for, not the results."""
    x, f = np.array([100, -128], "i1"), np.array([100.0, 2], "f4")
    d, g = cubc.asarray(x, device=device), cubc.asarray(f, device=device)
    for of, *operands, options in (
        (np.add, d, d, {"dtype": "i2"}),
        (np.exp, g, {"dtype": "f8"}),
        (np.add, d, 200, {"dtype": "i2"}),
        (np.add, g, g, {"signature": "dd->d"}),
        (np.add, g, g, {"dtype": "i4", "casting": "unsafe"}),
        (np.power, d, 2, {"dtype": "i4"}),
    ):
        expected = of(*(x if o is d else f if o is g else o for o in operands), **options)
        made = of(*operands, **options).array().numpy()
        assert made.dtype == expected.dtype
        np.testing.assert_array_equal(made, expected)
    with pytest.raises(TypeError, match="casting rule"):
        np.add(g, g, dtype="i4")


def test_comparisons_with_integers_beyond_all_others(device):
    for x in (np.array([1, 2], "i1"), np.array([2**64 - 1, 0], "u8")):
        d = cubc.asarray(x, device=device)
        for number in (2**64, 2**70, -(2**70), 10**400):
            for of in (np.less, np.greater_equal, np.equal, np.not_equal):
                np.testing.assert_array_equal(of(d, number).array().numpy(), of(x, number))


def test_signs_of_nan_and_of_infinite_complex_numbers(device):
    # A GPU's conversion of a float16 loses the sign of NaN.
    for kind in ("f2", "f4", "f8") if device == "cpu" else ("f4", "f8"):
        x = np.array([-np.nan, np.nan, -0.0, 0, -1], kind)
        same(np.signbit(cubc.asarray(x, device=device)).array(), np.signbit(x))
    inf, nan = np.inf, np.nan
    parts = [(inf, 1), (inf, inf), (-inf, 3), (3, -inf), (nan, 1), (inf, nan), (nan, inf), (3, 4)]
    z = np.array([complex(*part) for part in parts])
    found = np.sign(cubc.asarray(z, device=device)).array().numpy()
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(found, np.sign(z))


def test_clip_by_bounds_of_another_type(device):
    x = np.array([1, 300], "i2")
    for low in (np.array([2**40]), 1.5):
        bound = cubc.asarray(low, device=device) if isinstance(low, np.ndarray) else low
        found = cubc.array_api.clip(cubc.asarray(x, device=device), bound).numpy()
        expected = np.clip(x, low, None)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
