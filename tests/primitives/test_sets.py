"""Arrays as sets, comparisons and joins against NumPy's."""

import inputs
import numpy as np
import pytest
from inputs import on, same

import cubc

X = inputs.random("I32", 700) % 50
Y = inputs.random("I32", 300, seed=1) % 90


@pytest.mark.parametrize("name", ["intersect1d", "union1d", "setdiff1d", "setxor1d"])
def test_sets(device, name):
    made, expected = getattr(cubc, name), getattr(np, name)
    x, y = on(device, X), on(device, Y)
    same(made(x, y), expected(X, Y))
    same(made(x, on(device, Y[:0])), expected(X, Y[:0]))
    if name != "union1d":
        own = np.unique(X), np.unique(Y)
        same(made(*(on(device, one) for one in own), assume_unique=True), expected(*own))


@pytest.mark.parametrize("name", ["intersect1d", "union1d", "setdiff1d", "setxor1d", "isin"])
def test_sets_of_complex_numbers(device, name):
    """Those with NaN are among no others, and the distinct ones are in NumPy's order."""
    z, w = ((part % 5 + 1j * (part // 5)).astype("c8") for part in (X, Y))
    z[:3], w[:2] = np.nan, complex(1, np.nan)
    made, expected = getattr(cubc, name), getattr(np, name)
    for own, other in ((z, w), (z, w.astype("c16")), (z, Y), (z[:0], w)):
        same(made(on(device, own), on(device, other)), expected(own, other))
    if name == "intersect1d":
        found = made(on(device, z), on(device, w), return_indices=True)
        for part, wanted in zip(found, expected(z, w, return_indices=True), strict=True):
            same(part, wanted)


def test_items_twice_in_what_is_taken_for_distinct(device):
    x, y = np.array([3, 4, 9, 1, 5, 4]), np.array([8, 7, 3, 9, 0])
    made = cubc.setxor1d(on(device, x), on(device, y), assume_unique=True)
    same(made, np.setxor1d(x, y, assume_unique=True))


def test_isin(device):
    x = X.reshape(7, 100)
    for invert in (False, True):
        same(cubc.isin(on(device, x), on(device, Y), invert=invert), np.isin(x, Y, invert=invert))
        same(cubc.isin(on(device, x), [], invert=invert), np.isin(x, [], invert=invert))
    same(cubc.isin(on(device, x), [3, 7]), np.isin(x, [3, 7]))


def test_concatenate(device):
    x, y = X.reshape(7, 100), Y.reshape(3, 100).astype("i8")
    a, b = on(device, x), on(device, y)
    same(cubc.concatenate([a, b]), np.concatenate([x, y]))
    same(cubc.concatenate([a, a], -1), np.concatenate([x, x], -1))
    same(cubc.concatenate([a, b], None), np.concatenate([x, y], None))
    with pytest.raises(ValueError, match="at least one array"):
        cubc.concatenate([])
    with pytest.raises(ValueError, match="shapes"):
        cubc.concatenate([cubc.asarray(X, device=device), cubc.asarray(x, device=device)])


def test_arrays_of_the_host_are_not_moved_beside_others(device):
    """Numbers and lists are: they have no place of their own."""
    x = cubc.asarray(X, device=device)
    y = cubc.lazy("x", x=x)
    for one in (x, y):
        for call in (
            lambda one: cubc.concatenate([one, X]),
            lambda one: cubc.concatenate([X, one]),
            lambda one: cubc.union1d(one, X),
            lambda one: cubc.setxor1d(one, X),
            lambda one: cubc.diff(one, prepend=X),
            lambda one: cubc.diff(one, append=X[:1]),
        ):
            with pytest.raises(ValueError, match=r"cubc\.asarray|by asarray"):
                call(one)
        same(cubc.concatenate([[1, 2], one]), np.concatenate([np.array([1, 2]), X]))
        same(cubc.concatenate([one, [1, 2]]), np.concatenate([X, np.array([1, 2])]))
        same(cubc.diff(one, prepend=3, append=[1, 2]), np.diff(X, prepend=3, append=[1, 2]))


def test_comparisons(device):
    x = on(device, X)
    other = X.copy()
    other[123] += 1
    assert cubc.array_equal(x, x)
    assert not cubc.array_equal(x, on(device, other))
    assert not cubc.array_equal(x, x[:-1])
    assert cubc.mismatch(x, on(device, other)) == 123
    assert cubc.mismatch(x, x) == -1
    with pytest.raises(ValueError, match="the shapes"):
        cubc.mismatch(x, x[1:])


def test_an_equality_of_the_callers_own(device):
    x, y = X.astype("f4"), X.astype("f4") + np.float32(0.25)
    y[500] += 1
    a, b = on(device, x), on(device, y)
    for equal in ("fabs(a - b) < 1", lambda a, b: abs(a - b) < 1):
        assert cubc.mismatch(a, b, equal=equal) == 500
        assert not cubc.array_equal(a, b, equal=equal)
        assert cubc.array_equal(a[:500], b[:500], equal=equal)
    point = np.zeros(9, [("k", "i4"), ("w", "f4")])
    other = point.copy()
    other["w"], other["k"][7] = 1, 1
    assert cubc.mismatch(on(device, point), on(device, other), equal="a.k == b.k") == 7
    with pytest.raises(TypeError, match="equal is 3"):
        cubc.mismatch(x, y, equal=3)
    with pytest.raises(TypeError, match="positional argument"):
        cubc.mismatch(x, y, equal=lambda a: a)


def test_counts_and_orders(device):
    x, least = on(device, X), 7
    assert inputs.value(cubc.count_if(x, "x > 7")) == (X > 7).sum()
    assert inputs.value(cubc.count_if(x, lambda v: v > least)) == (X > 7).sum()
    assert cubc.is_sorted(cubc.sort(x))
    assert not cubc.is_sorted(x)
    assert cubc.is_sorted(cubc.merge_sort(x, "a > b"), lambda a, b: a > b)
    assert cubc.is_sorted(on(device, np.array([1, 2, np.nan, np.nan], "f4")))
    assert not cubc.is_sorted(on(device, np.array([1, np.nan, 2], "f4")))
    assert cubc.is_sorted(x[:1])
    with pytest.raises(ValueError, match="one dimension"):
        cubc.is_sorted(x.reshape(7, 100))


@pytest.mark.parametrize("name", ["isin", "intersect1d", "setdiff1d", "setxor1d", "union1d"])
def test_sets_whose_tables_are_checked(device, name, monkeypatch):
    """Items above all of the others are searched at no item."""
    monkeypatch.setenv("CUBC_CHECK", "1")
    x, y = np.array([7, 1, 9]), np.array([1, 2])
    same(getattr(cubc, name)(on(device, x), on(device, y)), getattr(np, name)(x, y))
    same(cubc.isin(on(device, x), on(device, y), invert=True), np.isin(x, y, invert=True))


@pytest.mark.parametrize("invert", [False, True])
def test_integers_beyond_the_exact_floats(device, invert):
    """NumPy compares uint64 and int64 in float64 where it sorts them, and exactly elsewhere."""
    odd = np.arange(2**53 + 1, 2**53 + 2001, 2, dtype="u8")
    x = np.append(odd, np.array([5, 2**64 - 1], "u8"))
    y = np.append(odd.astype("i8") - 1, [5, -1])
    expected = np.array([int(a) in {*map(int, y)} for a in x])
    same(cubc.isin(on(device, x), on(device, y), invert=invert), expected ^ invert)
    expected = np.array([int(a) in {*map(int, x)} for a in y])
    same(cubc.isin(on(device, y), on(device, x), invert=invert), expected ^ invert)
