"""Arrays that are known by DLPack alone, where calls write to them or take them as indices."""

import operator

import ml_dtypes
import numpy as np
import pytest
from of_dlpack import OfDlpack

import cubc
from cubc import lattice

X = np.array([3.0, 1.0, 2.0, 2.0, 4.0, 4.0])
ROWS = X.reshape(2, 3)
KEYS = np.array([1, 1, 2, 2, 2, 5])
PLACES = np.array([5, 0, 3])
RISING = np.sort(X)
LINKS = lattice.Gauge.random((2, 2, 2, 2), seed=1, device="cpu")
SPINOR = np.ones((2,) * 4 + (4, 3), np.complex128)

# Calls whose results go into arrays of these types and shapes.
CALLS = {
    "adjacent_difference": (lambda x, **o: cubc.adjacent_difference(x(X), **o), ["f8", 6]),
    "all": (lambda x, **o: cubc.all(x(ROWS), 1, **o), ["?", 2]),
    "any": (lambda x, **o: cubc.any(x(ROWS), 1, **o), ["?", 2]),
    "argmax": (lambda x, **o: cubc.argmax(x(ROWS), 0, **o), ["i8", 3]),
    "argmin": (lambda x, **o: cubc.argmin(x(-ROWS), 0, **o), ["i8", 3]),
    "argsort": (lambda x, **o: cubc.argsort(x(X), **o), ["i8", 6]),
    "bincount": (lambda x, **o: cubc.bincount(x(KEYS), **o), ["i8", 6]),
    "concatenate": (lambda x, **o: cubc.concatenate([x(X), x(X)], **o), ["f8", 12]),
    "cumprod": (lambda x, **o: cubc.cumprod(x(ROWS), 0, **o), ["f8", (2, 3)]),
    "cumsum": (lambda x, **o: cubc.cumsum(x(ROWS), 1, **o), ["f4", (2, 3)]),
    "diff": (lambda x, **o: cubc.diff(x(ROWS), **o), ["f8", (2, 2)]),
    "find_if": (lambda x, **o: cubc.find_if(x(X), "x > 3", **o), ["i8", ()]),
    "flatnonzero": (lambda x, **o: cubc.flatnonzero(x(X), **o), ["i8", 6]),
    "histogram": (lambda x, **o: cubc.histogram(x(X), 3, (0, 5), **o)[0], ["i8", 3]),
    "max": (lambda x, **o: cubc.max(x(ROWS), 1, **o), ["f8", 2]),
    "mean": (lambda x, **o: cubc.mean(x(ROWS), 1, **o), ["f4", 2]),
    "median": (lambda x, **o: cubc.median(x(ROWS), 1, **o), ["f8", 2]),
    "merge": (lambda x, **o: cubc.merge(x(RISING), x(RISING), **o), ["f8", 12]),
    "merge_sort": (lambda x, **o: cubc.merge_sort(x(X), **o), ["f8", 6]),
    "min": (lambda x, **o: cubc.min(x(ROWS), 1, **o), ["f4", 2]),
    "nanargmax": (lambda x, **o: cubc.nanargmax(x(ROWS), 1, **o), ["i8", 2]),
    "nancumsum": (lambda x, **o: cubc.nancumsum(x(ROWS), 1, **o), ["f8", (2, 3)]),
    "nanmax": (lambda x, **o: cubc.nanmax(x(ROWS), 1, **o), ["f8", 2]),
    "nanmean": (lambda x, **o: cubc.nanmean(x(ROWS), 1, **o), ["f8", 2]),
    "nansum": (lambda x, **o: cubc.nansum(x(ROWS), 1, **o), ["f8", 2]),
    "nanvar": (lambda x, **o: cubc.nanvar(x(ROWS), 1, **o), ["f8", 2]),
    "prod": (lambda x, **o: cubc.prod(x(ROWS), 1, **o), ["f4", 2]),
    "quantile": (lambda x, **o: cubc.quantile(x(ROWS), [0.3, 0.5], 1, **o), ["f4", (2, 2)]),
    "reduce": (lambda x, **o: cubc.reduce(x(ROWS), "a + b", axis=0, **o), ["f8", 3]),
    "repeat": (lambda x, **o: cubc.repeat(x(X), 2, **o), ["f8", 12]),
    "scan": (lambda x, **o: cubc.scan(x(X), **o), ["f8", 6]),
    "scan an axis": (lambda x, **o: cubc.scan(x(ROWS), "max", axis=0, **o), ["f8", (2, 3)]),
    "scan_by_key": (lambda x, **o: cubc.scan_by_key(x(KEYS), x(X), **o), ["f8", 6]),
    "scatter": (lambda x, **o: cubc.scatter(x(X), x(PLACES), 9.0, **o), ["f8", 6]),
    "searchsorted": (lambda x, **o: cubc.searchsorted(x(RISING), x(X), **o), ["i8", 6]),
    "segmented_argsort": (
        lambda x, **o: cubc.segmented_argsort(x(X), segment_size=3, **o),
        ["i8", 6],
    ),
    "segmented_reduce": (
        lambda x, **o: cubc.segmented_reduce(x(X), segment_size=3, **o),
        ["f8", 2],
    ),
    "segmented_scan": (lambda x, **o: cubc.segmented_scan(x(X), segment_size=3, **o), ["f8", 6]),
    "segmented_sort": (lambda x, **o: cubc.segmented_sort(x(X), segment_size=3, **o), ["f8", 6]),
    "select": (lambda x, **o: cubc.select(x(X), x(X > 2), **o), ["f8", 6]),
    "select rows": (lambda x, **o: cubc.select(x(ROWS), x(X[:2] > 2), axis=0, **o), ["f8", (1, 3)]),
    "sort": (lambda x, **o: cubc.sort(x(X), **o), ["f8", 6]),
    "sort an axis": (lambda x, **o: cubc.sort(x(ROWS), 0, **o), ["f8", (2, 3)]),
    "std": (lambda x, **o: cubc.std(x(ROWS), 0, **o), ["f8", 3]),
    "sum": (lambda x, **o: cubc.sum(x(ROWS), 0, **o), ["f4", 3]),
    "sum without dimensions": (lambda x, **o: cubc.sum(x(X), **o), ["f8", ()]),
    "take": (lambda x, **o: cubc.take(x(X), x(PLACES), **o), ["f8", 3]),
    "transform": (lambda x, **o: cubc.transform("x * 2", x=x(X), **o), ["f4", 6]),
    "transform of functions": (
        lambda x, **o: cubc.transform(lambda x: x * 2, x=x(X), **o),
        ["f8", 6],
    ),
    "unique_consecutive": (lambda x, **o: cubc.unique_consecutive(x(X), **o), ["f8", 6]),
    "var": (lambda x, **o: cubc.var(x(ROWS), 0, **o), ["f8", 3]),
}
PAIRS = {
    "topk": (lambda x, **o: cubc.topk(x(X), 2, **o), [("f8", 2), ("i8", 2)]),
    "sort_pairs": (lambda x, **o: cubc.sort_pairs(x(X), x(KEYS), **o), [("f8", 6), ("i8", 6)]),
    "segmented_sort_pairs": (
        lambda x, **o: cubc.segmented_sort_pairs(x(X), x(KEYS), segment_size=3, **o),
        [("f8", 6), ("i8", 6)],
    ),
    "segmented_topk": (
        lambda x, **o: cubc.segmented_topk(x(X), 2, segment_size=3, **o),
        [("f8", (2, 2)), ("i8", (2, 2))],
    ),
    "merge pairs": (
        lambda x, **o: cubc.merge(x(RISING), x(RISING), values=(x(X), x(X)), **o),
        [("f8", 12), ("f8", 12)],
    ),
    "reduce_by_key": (
        lambda x, **o: cubc.reduce_by_key(x(KEYS), x(X), **o),
        [("i8", 6), ("f8", 6)],
    ),
    "run_length_encode": (
        lambda x, **o: cubc.run_length_encode(x(X), **o),
        [("f8", 6), ("i8", 6)],
    ),
    "unique_by_key": (
        lambda x, **o: cubc.unique_by_key(x(KEYS), x(X), **o),
        [("i8", 6), ("f8", 6)],
    ),
    "several results": (
        lambda x, **o: cubc.transform(["x + 1", "x > 1"], x=x(X), casting="unsafe", **o),
        [("f4", 6), ("?", 6)],
    ),
}


def zeros(of):
    return np.zeros(of[1], of[0])


def of_device(x):
    return cubc.asarray(x, device="cpu")


@pytest.mark.parametrize("lend", [np.asarray, of_device])
@pytest.mark.parametrize("name", CALLS)
def test_outputs_known_by_dlpack_alone(name, lend):
    """Items that a call does not write stay 0 in both."""
    call, of = CALLS[name]
    expected, items = zeros(of), zeros(of)
    given = OfDlpack(items)
    whole = call(np.asarray, out=expected) is expected  # else some of its items
    made = call(lend, out=given)
    assert (made is given) == whole
    assert np.array_equal(items, expected) and expected.any()


@pytest.mark.parametrize("lend", [np.asarray, of_device])
@pytest.mark.parametrize("name", PAIRS)
def test_pairs_of_outputs_known_by_dlpack_alone(name, lend):
    call, of = PAIRS[name]
    expected, items = tuple(map(zeros, of)), tuple(map(zeros, of))
    given = tuple(map(OfDlpack, items))
    known = call(np.asarray, out=expected)
    made = call(lend, out=given)
    for k in range(2):
        assert (made[k] is given[k]) == (known[k] is expected[k])
        assert np.array_equal(items[k], expected[k]) and items[k].any()


def test_outputs_by_place():
    out = np.zeros(3)
    given = OfDlpack(out)
    assert cubc.sum(ROWS, 0, None, given) is given and out.tolist() == ROWS.sum(0).tolist()
    assert cubc.take(X, PLACES, None, given) is given and out.tolist() == X[PLACES].tolist()
    assert cubc.max(OfDlpack(ROWS), 0, given) is given and out.tolist() == ROWS.max(0).tolist()


def test_an_output_of_bfloat16(device):
    """NumPy reads no bfloat16 by DLPack; the memory is that of the given array all the same."""
    if device != "cpu":
        pytest.skip("memory of a GPU is read by its own interface")
    half = cubc.asarray(np.zeros(6, ml_dtypes.bfloat16), device="cpu")
    given = OfDlpack(half)
    assert cubc.transform("x", x=X, out=given, casting="unsafe") is given
    assert half.numpy().astype(float).tolist() == X.tolist()
    cubc.put(given, [0, 1], 7)
    assert half.numpy().astype(float).tolist() == [7, 7, *X[2:]]
    cubc.shuffle(given, seed=3)
    assert sorted(half.numpy().astype(float)) == sorted([7, 7, *X[2:]])


class Old(OfDlpack):
    """An array of DLPack 0.8, which says nothing of immutable memory."""

    def __dlpack__(self, stream=None):
        return self.x.__dlpack__()


@pytest.mark.parametrize("lend", [np.asarray, of_device])
def test_outputs_that_are_not_written(lend):
    fixed = np.zeros(6)
    fixed.flags.writeable = False
    for call in (
        lambda out: cubc.scan(lend(X), out=out),
        lambda out: cubc.sort(lend(X), out=out),
        lambda out: cubc.cumsum(lend(X), out=out),
        lambda out: cubc.mean(lend(X.reshape(1, 6)), 0, out=out),
        lambda out: cubc.put(out, [0], 1.0),
        cubc.shuffle,
    ):
        with pytest.raises((ValueError, BufferError), match=r"read-?only"):
            call(OfDlpack(fixed))
        with pytest.raises(TypeError, match=r"DLPack 0\.8, which cannot say"):
            call(Old(np.zeros(6)))
    assert not fixed.any()


def test_copies_are_not_changed_in_place():
    """NumPy makes an array of a table that nobody else sees."""
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    for table in (pandas.Series([1, 2], dtype="Int64"), pandas.DataFrame({"a": [1], "b": [1.5]})):
        for call in (cubc.shuffle, lambda x: cubc.put(x, [0], 5)):
            with pytest.raises(TypeError, match="changes an array in place"):
                call(table)


def test_shuffle_of_an_array_known_by_dlpack_alone(device):
    for items in (X.copy(), np.arange(12.0).reshape(6, 2), of_device(X)):
        before = np.asarray(items).copy()
        same = items.copy()
        cubc.shuffle(same, seed=5)
        assert cubc.shuffle(OfDlpack(items), seed=5) is None
        assert np.array_equal(items, same) and not np.array_equal(items, before)
    on_device = cubc.asarray(X, device=device)
    cubc.shuffle(OfDlpack(on_device), seed=5)
    assert sorted(on_device.tolist()) == sorted(X)


@pytest.mark.parametrize("own", [True, False])
def test_indices_known_by_dlpack_alone(device, own):
    """Memory of the host is that of the cpu device, and of no other."""
    d = cubc.asarray(X, device=device)

    def lent(x):
        return OfDlpack(cubc.asarray(x, device=device) if own else np.asarray(x))

    if device != "cpu" and not own:
        with pytest.raises(IndexError, match="in host memory"):
            d[lent(PLACES)]
        with pytest.raises(ValueError, match="in host memory"):
            d[1:3] = lent(X[:2])
        return
    assert d[lent(PLACES)].tolist() == X[PLACES].tolist()
    assert d[lent(X > 2)].tolist() == X[X > 2].tolist()
    rows = cubc.asarray(ROWS, device=device)
    assert rows[:, lent([2, 0])].tolist() == ROWS[:, [2, 0]].tolist()
    assert rows[lent([1, 0]), lent([2, 1])].tolist() == ROWS[[1, 0], [2, 1]].tolist()
    for index, values in (
        (X > 2, np.array([7.0, 8.0, 9.0])),
        (X > 2, np.array(7.0)),
        (PLACES, np.array([7, 8, 9])),
        (slice(1, 3), np.array([7.0, 8.0], "f4")),
        (slice(None, None, 2), np.array([7.0, 8.0, 9.0])),
        (2, np.array(5.0)),
    ):
        key = lent(index) if isinstance(index, np.ndarray) else index
        changed, expected = d.copy(), X.copy()
        changed[key] = lent(values)
        expected[index] = values
        assert changed.tolist() == expected.tolist()
        if values.ndim == 0:
            changed[key] = 3
            expected[index] = 3
            assert changed.tolist() == expected.tolist()
    with pytest.raises(IndexError, match="float64: expected integers"):
        d[lent(X)]
    with pytest.raises(TypeError, match="complex values do not go into real items"):
        operator.setitem(d, slice(0, 1), lent(np.array([1j])))


def test_operands_of_the_host_beside_the_cpu_device():
    d, x = cubc.asarray(X, device="cpu"), OfDlpack(X)
    assert cubc.transform("x * y", x=d, y=x).tolist() == (X * X).tolist()
    with pytest.raises(ValueError, match="in the host's memory"):
        cubc.transform("x * y", x=d, y=X)


def test_outputs_of_operators():
    out = np.zeros_like(SPINOR)
    wilson = lattice.Wilson(LINKS, kappa=0.1)
    given = OfDlpack(out)
    made = wilson(SPINOR, out=given)
    assert made is given and np.array_equal(out, wilson(SPINOR))
    out[...] = 0
    made, _ = wilson.solve(SPINOR, out=given)
    assert made is given and np.array_equal(out, wilson.solve(SPINOR)[0])
    links = np.zeros((2,) * 4 + (4, 3, 3), np.complex128)
    given = OfDlpack(links)
    assert LINKS.links(out=given) is given and np.array_equal(links, LINKS.links())


@pytest.mark.parametrize("lend", [np.asarray, of_device])
def test_an_output_of_the_host_for_arrays_of_a_device(lend):
    """The result would go to a copy of it."""
    d, out = cubc.asarray(X, device="cpu"), lend(np.zeros(12))
    if isinstance(out, np.ndarray):
        with pytest.raises(ValueError, match="out must lie on cpu, as the arrays do"):
            cubc.concatenate([d, d], out=out)
    else:
        assert cubc.concatenate([d, d], out=out) is out and out.tolist() == [*X, *X]
