"""Arguments that look right and are not, and right ones that look odd."""

import numpy as np
import pytest
from inputs import on
from of_dlpack import OfDlpack

import cubc
import cubc.lattice

X = np.arange(6.0)
FALLING = [0, 4, 2, 6]
SEGMENTED = {
    "reduce": cubc.segmented_reduce,
    "scan": cubc.segmented_scan,
    "sort": cubc.segmented_sort,
    "argsort": cubc.segmented_argsort,
    "sort_pairs": lambda x, offsets: cubc.segmented_sort_pairs(x, x, offsets),
    "topk": lambda x, offsets: cubc.segmented_topk(x, 1, offsets),
}


@pytest.mark.parametrize("name", SEGMENTED)
@pytest.mark.parametrize("offsets", [FALLING, np.array(FALLING, "i4"), OfDlpack(np.array(FALLING))])
def test_offsets_of_the_host_do_not_fall(name, offsets):
    with pytest.raises(ValueError, match=r"must not fall: 4 is before 2"):
        SEGMENTED[name](X, offsets)


@pytest.mark.parametrize("name", [1, b"in", ("in",)])
def test_names_of_parameters_are_texts(name):
    with pytest.raises(TypeError, match="sort has no parameter"):
        cubc._core.call("sort", {name: X}, device="cpu")


@pytest.mark.parametrize("out", [None, np.empty(4)])
def test_repeats_are_not_negative(out):
    with pytest.raises(ValueError, match=r"repeats\[1\] is -1"):
        cubc.repeat(X[:3], [1, -1, 2], out=out)


@pytest.mark.parametrize("out", [None, np.empty(4)])
@pytest.mark.parametrize(
    "repeats", [[1 << 62] * 4, [1 << 62] * 2, np.array([1 << 63, 1 << 63], "u8"), [1 << 60]]
)
def test_repeats_have_a_sum(repeats, out):
    """Their sum modulo 2^64 is 0, or negative though none of them is."""
    with pytest.raises(ValueError, match=r"add up to .*, expected less than 2\^60"):
        cubc.repeat(X[: len(repeats)], repeats, out=out)


def test_bincount_of_no_items(device):
    """An empty list has no type yet; NumPy takes it, and refuses an array of float64."""
    for call in (cubc.bincount, np.bincount):
        assert call([]).tolist() == [] and call([]).dtype == np.int64
        assert call([], minlength=2).tolist() == [0, 0]
        with pytest.raises(TypeError):
            call(np.empty(0))
    none = cubc.bincount(cubc.empty(0, "i4", device=device))
    assert (none.device, none.dtype, none.shape) == (device, np.int64, (0,))
    none, _ = cubc.histogram(cubc.empty(3, "f4", device=device), [1.0])
    assert (none.device, none.dtype, none.shape) == (device, np.int64, (0,))


@pytest.mark.parametrize("axis", [True, False, np.True_])
def test_a_truth_is_no_axis(axis):
    x = X.reshape(2, 3)
    for call in (cubc.sum, cubc.sort, cubc.argsort, cubc.scan, cubc.cumsum):
        with pytest.raises(TypeError, match="expected an int"):
            call(x, axis=axis)


def test_copies_are_apart():
    a, b = np.arange(8.0), np.zeros(8)
    overlapping = [
        ([a[:4]], [a[2:6]]),
        ([a[:4], a[4:]], [b[:4], a[:4]]),
        ([a[:4], a[4:]], [b[:4], b[2:6]]),
        ([a], [a]),
        ([a[:1], a[:8]], [b[4:5], b]),
    ]
    for sources, destinations in overlapping:
        with pytest.raises(ValueError, match="overlaps"):
            cubc.copy_batch(sources, destinations)
    assert not b.any()
    cubc.copy_batch([a[:3], a[:3], a[3:3]], [b[:3], b[3:6], b[1:1]])  # one source twice
    assert b.tolist() == [0, 1, 2, 0, 1, 2, 0, 0]
    cubc.copy_batch([a[4:]], [a[:4]])
    assert a.tolist() == [4, 5, 6, 7] * 2


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "u1", "u4", "f2", "i8", "u8", "f4", "f8", "?"])
def test_edges_of_any_type_on_the_device(device, dtype):
    edges = np.array([0, 1] if dtype == "?" else [0, 2, 4], dtype)
    for x in (X, X.astype("i4")):
        found, same = cubc.histogram(
            cubc.asarray(x, device=device), cubc.asarray(edges, device=device)
        )
        known = edges.astype("u1") if dtype == "?" else edges
        assert found.numpy().tolist() == np.histogram(x, known)[0].tolist()
        assert same.dtype == edges.dtype


@pytest.mark.parametrize("call", [cubc.histogram, lambda x, e: cubc.histogram2d(x, x, [e, 2])])
@pytest.mark.parametrize("edges", [[0, np.nan, 1], [np.nan, 1.0], [0, 1, np.nan], [1, 0]])
def test_edges_that_do_not_rise(call, edges):
    with pytest.raises(ValueError, match="bins must increase monotonically"):
        call(X, np.array(edges))


@pytest.mark.parametrize("index", [True, np.uint64(2**64 - 1), np.int8(-2), np.uint8(200)])
def test_an_index_of_any_type_beyond_the_array(device, index):
    """A truth is 1, which an array of one item has not; the largest of uint64 is not -1."""
    x, places, values = (cubc.asarray(a, device=device) for a in (X[:1], np.array([index]), X[:1]))
    for call in (
        lambda: cubc.take(x, places),
        lambda: cubc.take(X[:1], np.array([index])),
        lambda: cubc.take(cubc.asarray(X.reshape(6, 1), device=device), places, axis=1),
        lambda: cubc.scatter(x, places, values, "sum"),
        lambda: cubc.put(x, places, values),
    ):
        with pytest.raises(IndexError, match="out of bounds"):
            call()
    assert x.item() == X[0]


@pytest.mark.parametrize(
    ("items", "edges"),
    [
        (np.array([-1, 5]), np.array([0, 2**63, 2**64 - 1], "u8")),
        (np.array([0, 2**63, 2**64 - 1], "u8"), np.array([-5, 0, 2**62])),
        (np.array([2.0**53, 2.0**53 + 2]), np.array([2**53, 2**53 + 1, 2**53 + 2])),
        (np.array([16777217, 16777219]), np.array([16777216, 16777218, 16777220], "f4")),
    ],
)
def test_edges_that_the_items_type_does_not_hold(device, items, edges):
    found, _ = cubc.histogram(
        cubc.asarray(items, device=device), cubc.asarray(edges, device=device)
    )
    assert found.numpy().tolist() == np.histogram(items, edges)[0].tolist()
    assert cubc.histogram(items, edges)[0].tolist() == found.numpy().tolist()


LENT = {
    "sum": cubc.sum,
    "axis": lambda x: cubc.sum(x, axis=0),
    "scan": cubc.scan,
    "scan an axis": lambda x: cubc.scan(x, axis=0),
    "sort": cubc.sort,
    "argsort": cubc.argsort,
    "unique": cubc.unique,
    "diff": cubc.diff,
    "select": lambda x: cubc.select(x, x),
    "partition": lambda x: cubc.partition_if(x, "x > 2"),
    "flatnonzero": cubc.flatnonzero,
    "unique_consecutive": cubc.unique_consecutive,
    "find_if": lambda x: cubc.find_if(x, "x > 2"),
    "topk": lambda x: cubc.topk(x, 2),
    "topk values": lambda x: cubc.topk(x, 2, values=x),
    "histogram": lambda x: cubc.histogram(x, 3),
    "histogram weights": lambda x: cubc.histogram(x, x, weights=x),
    "reduce_by_key": lambda x: cubc.reduce_by_key(x, x),
    "scan_by_key": lambda x: cubc.scan_by_key(x, x),
    "unique_by_key": lambda x: cubc.unique_by_key(x, x),
    "run_length_encode": cubc.run_length_encode,
    "nontrivial_runs": cubc.nontrivial_runs,
    "sort_pairs": lambda x: cubc.sort_pairs(x, x),
    "merge_sort": cubc.merge_sort,
    "merge": lambda x: cubc.merge(x, x),
    "searchsorted": lambda x: cubc.searchsorted(x, x),
    "segmented_reduce": lambda x: cubc.segmented_reduce(x, segment_size=2),
    "segmented_sort": lambda x: cubc.segmented_sort(x, segment_size=2),
    "segmented_topk": lambda x: cubc.segmented_topk(x, 2, segment_size=2),
    "transform": lambda x: cubc.transform("x + 1", x=x),
    "lazy": lambda x: cubc.sum(cubc.lazy("x * x", x=x)),
    "asarray": lambda x: np.asarray(cubc.asarray(x, device="cpu")),
    "initial": lambda x: cubc.sum(X, initial=alike(x, X[3:4].reshape(()))),
    "init": lambda x: cubc.scan(X, init=alike(x, X[3:4])),
    "prepend": lambda x: cubc.diff(X, prepend=x, append=x),
    "kth": lambda x: cubc.partition(X, alike(x, np.array([1, 4]))),
    "mask of count_if": lambda x: np.asarray(cubc.count_if(X, alike(x, X > 2))),
    "edges of two dimensions": lambda x: cubc.histogram2d(X, X, [x, x])[0],
    "edges of points": lambda x: cubc.histogramdd([X, x], [3, x])[0],
    "sort by the columns": lambda x: cubc.lexsort((x, x)),
    "keys of lexsort": lambda x: cubc.lexsort(alike(x, X.reshape(2, 3))),
    "several results": lambda x: cubc.transform(["x", "x + 1"], x=x),
    "several results of two": lambda x: cubc.transform(["x", "x + y"], x=X[:1], y=x),
    "a lazy operand beside": lambda x: cubc.transform("x + y", x=x, y=cubc.lazy("z", z=X)),
    "a lazy input of one": lambda x: cubc.transform(
        "x + y", x=x, y=cubc.lazy("z", z=alike(x, X[:1]))
    ),
}


def alike(x, items):
    """Return items as an array of the same kind as x."""
    if isinstance(x, np.ma.MaskedArray):
        return np.ma.masked_array(items, np.ones(items.shape, bool))
    return items if x is X else OfDlpack(items)


@pytest.mark.parametrize("name", LENT)
def test_arrays_known_by_dlpack_alone(name):
    expected, found = LENT[name](X), LENT[name](OfDlpack(X))
    for a, b in zip(
        *((r if isinstance(r, tuple) else (r,)) for r in (expected, found)), strict=True
    ):
        assert np.array_equal(a, b) and np.asarray(a).dtype == np.asarray(b).dtype


@pytest.mark.parametrize("name", LENT)
def test_masked_arrays_are_refused(name):
    """NumPy itself reads one without its mask, in most of its functions."""
    with pytest.raises(TypeError, match="masked array, whose mask cubc does not know"):
        LENT[name](np.ma.masked_array(X, X > 3))


def test_masked_arrays_of_other_places():
    x, places = np.ma.masked_array(X, X > 3), np.ma.masked_array(np.arange(6), X > 3)
    for call in (
        lambda: cubc.bincount(places),
        lambda: cubc.bincount(np.arange(6), x),
        lambda: cubc.histogram(X, 3, weights=x),
        lambda: cubc.histogram_channels(x.reshape(3, 2), [2, 2], [(0, 3)] * 2),
        lambda: cubc.histogramdd(x.reshape(3, 2), 2),
        lambda: cubc.copy_batch([x], [np.zeros(6)]),
        lambda: cubc.segmented_reduce(X, segment_size=3, init=x[:1]),
        lambda: cubc.concatenate([X, x]),
        lambda: cubc.lattice.effective_mass(x),
        lambda: cubc.lattice.write_spinor("never", np.ma.masked_array(np.ones((2,) * 4 + (4, 3)))),
    ):
        with pytest.raises(TypeError, match="masked array, whose mask"):
            call()


def test_integers_known_by_dlpack_alone(device):
    counts = np.array([1, 0, 2])
    assert cubc.bincount(OfDlpack(counts)).tolist() == [1, 1, 1]
    assert cubc.repeat(OfDlpack(X[:3]), OfDlpack(counts)).tolist() == [0, 2, 2]
    x = on(device, X)
    assert np.asarray(cubc.sum(x if isinstance(x, np.ndarray) else OfDlpack(x))) == 15


def test_an_index_of_no_items_has_no_initial_value():
    for shape, axis in (((0,), None), ((0, 3), 0), ((3, 0), 1)):
        with pytest.raises(ValueError, match="argmax of no items") as error:
            cubc.argmax(np.empty(shape), axis=axis)
        assert "init" not in str(error.value)
