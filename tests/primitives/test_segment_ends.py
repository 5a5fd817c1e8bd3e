"""Segments with beginnings and ends of their own, against loops over NumPy's slices."""

from itertools import pairwise

import inputs
import numpy as np
import pytest
from inputs import SOME, in_turn, on, same

import cubc
from cubc import _core

N = 10_001
APART = np.array([3, 10, 10, 500, 4000, 9000]), np.array([7, 10, 400, 3999, 8000, N])
TOGETHER = np.array([0, 5, 5, 300]), np.array([5, 5, 300, N])
INSIDE = np.array([2, 5, 300]), np.array([5, 300, 900])
TURNED = np.array([9000, 3, 10, 500, 4000]), np.array([N, 7, 10, 3999, 8000])
CROSSING = np.array([0, 0, 5000, 100, 7]), np.array([N, 10, 5001, 9000, 7])
ALIKE = [APART, TOGETHER, INSIDE, TURNED]
NAMES = ["apart", "together", "inside", "turned", "crossing"]


def bounds_on(device, bounds, type="i8"):
    return tuple(on(device, one.astype(type)) for one in bounds)


def slices(bounds):
    return [slice(b, e) for b, e in zip(*bounds, strict=True)]


@pytest.mark.parametrize("bounds", [*ALIKE, CROSSING], ids=NAMES)
def test_reductions(device, bounds):
    x = inputs.random("F64", N)
    b, e = bounds_on(device, bounds)
    for given in (on(device, x), cubc.lazy("x", x=on(device, x))):
        made = cubc.segmented_reduce(given, b, ends=e)
        same(made, np.array([x[one].sum() for one in slices(bounds)]))
    made = cubc.segmented_reduce(on(device, x), b, "argmax", ends=e)
    same(made, np.array([x[s].argmax() if x[s].size else -1 for s in slices(bounds)]))
    made = cubc.segmented_reduce(
        on(device, x), b, lambda a, b: a + b, ends=e, init=3, deterministic=True
    )
    same(made, np.array([x[one].sum() + 3 for one in slices(bounds)]))


LABELS = [
    "ipt_4.tpb_64.mb_1.ipv_0.ld_0.ept_1.wav_4.lb_1",
    "ipt_16.tpb_96.mb_1.ipv_2.ld_1.ept_4.wav_1.lb_3",
]


@pytest.mark.usefixtures("policies")
@pytest.mark.parametrize("label", LABELS)
def test_sections_that_there_is_no_room_for(device, label):
    """Long segments that overlap have more of them; with room or without, the bits are the same."""
    for type in ("F32", "F64"):
        _core.use_policy("segmented_reduce.sum", {"T{ct}": type}, device, label)
    n, length = 200_000, 20_000
    x = np.random.default_rng(0).normal(size=n).astype("f4")
    begins = np.append(np.arange(0, n - length, 1000), [n - 5, 7])
    ends = np.append(begins[:-2] + length, [n, 7])
    d, (b, e) = on(device, x), bounds_on(device, (begins, ends), "i4")
    made = np.asarray(cubc.segmented_reduce(d, b, ends=e))
    np.testing.assert_allclose(
        made, [x[one].sum(dtype="f8") for one in slices((begins, ends))], rtol=1e-4, atol=1e-3
    )
    for some in ([3], [170, 4, 111]):  # with room: the others are empty
        few = begins.copy()
        few[some] = ends[some]
        found = cubc.segmented_reduce(d, b, ends=bounds_on(device, (few,), "i4")[0])
        same(np.asarray(found)[some], made[some])
    text = "value_t{a.k + b.k}"
    whole = on(device, x.astype("i8").astype([("k", "i8")]))
    totals = cubc.segmented_reduce(whole, b, text, ends=e, commutative=True, init=(0,))
    assert np.asarray(totals)["k"].tolist() == [
        int(x[one].astype("i8").sum()) for one in slices((begins, ends))
    ]


@pytest.mark.parametrize("bounds", ALIKE, ids=NAMES[:-1])
@pytest.mark.parametrize("type", ["i4", "i8"])
def test_what_lies_where_items_lie(device, bounds, type):
    """Scans and sorts; what is outside of the segments stays as it is."""
    x = inputs.random("F32", N) + np.arange(N, dtype="f4") % 7
    values, d = np.arange(N) * 3, on(device, x)
    b, e = bounds_on(device, bounds, type)
    scanned, ordered, index = x.copy(), x.copy(), np.arange(N)
    for s in slices(bounds):
        scanned[s] = np.cumsum(x[s], dtype="f4")
        index[s] = np.arange(N)[s][np.argsort(x[s], kind="stable")]
    ordered = x[index]
    same(cubc.segmented_scan(d, b, ends=e), scanned)
    same(cubc.segmented_sort(d, b, ends=e), ordered)
    same(cubc.segmented_argsort(d, b, ends=e), index)
    keys, moved = cubc.segmented_sort_pairs(d, on(device, values), b, ends=e)
    same(keys, ordered)
    same(moved, values[index])
    rows = np.stack([values, values + 1, values + 2], 1)
    _, moved = cubc.segmented_sort_pairs(d, on(device, rows), b, ends=e)
    same(moved, rows[index])


def test_outputs_and_in_place(device):
    x = inputs.random("F32", N)
    b, e = bounds_on(device, APART)
    expected = x.copy()
    for s in slices(APART):
        expected[s] = np.sort(x[s])[::-1]
    out, d = on(device, np.zeros(N, "f4")), on(device, x.copy())
    assert cubc.segmented_sort(d, b, ends=e, descending=True, out=out) is out
    same(out, expected)
    assert cubc.segmented_sort(d, b, ends=e, descending=True, out=d) is d
    same(d, expected)
    wide = on(device, np.zeros(N))
    made = cubc.segmented_scan(on(device, x), b, "max", ends=e, out=wide, dtype="f8")
    assert made is wide
    for s in slices(APART):
        same(np.asarray(wide)[s], np.maximum.accumulate(x[s]).astype("f8"))
    indices = on(device, np.zeros(N, "i8"))
    assert cubc.segmented_argsort(on(device, x), b, ends=e, out=indices) is indices
    assert (x[np.asarray(indices)][:3] == x[:3]).all()


@pytest.mark.parametrize("bounds", [*ALIKE, CROSSING], ids=NAMES)
def test_the_largest(device, bounds):
    x = np.random.default_rng(0).permutation(N).astype("f4")
    b, e = bounds_on(device, bounds)
    keys, indices = cubc.segmented_topk(on(device, x), 3, b, ends=e)
    for k, s in enumerate(slices(bounds)):
        order = np.argsort(-x[s])[:3]
        assert np.asarray(indices)[k, : order.size].tolist() == order.tolist()
        assert np.asarray(keys)[k, : order.size].tolist() == x[s][order].tolist()


@pytest.mark.parametrize(("type", "call"), in_turn(SOME, ["max", "sort"], 2))
def test_every_type(device, type, call):
    x = inputs.random(type, N)
    b, e = bounds_on(device, TURNED)
    exact = inputs.exact(x)
    if call == "max":
        made = cubc.segmented_reduce(on(device, x), b, "max", ends=e)
        low = -np.inf if type in inputs.FLOATS else np.iinfo(x.dtype).min
        expected = [exact[s].max() if exact[s].size else low for s in slices(TURNED)]
        same(made, np.array(expected, exact.dtype).astype(x.dtype))
        return
    ordered = cubc.segmented_sort(on(device, x), b, ends=e)
    for s in slices(TURNED):
        same(np.asarray(ordered)[s], np.sort(exact[s]).astype(x.dtype))


def test_none_and_empty(device):
    x, none = on(device, inputs.random("F32", 99)), on(device, np.zeros(0, "i8"))
    assert cubc.segmented_reduce(x, none, ends=none).shape == (0,)
    same(cubc.segmented_sort(x, none, ends=none), np.asarray(x))
    same(cubc.segmented_argsort(x, none, ends=none), np.arange(99))
    three = on(device, np.array([5, 3, 99]))
    same(cubc.segmented_reduce(x, three, ends=three), np.zeros(3, "f4"))
    same(cubc.segmented_scan(x, three, ends=three), np.asarray(x))
    zeros = on(device, np.zeros(2, "i8"))
    same(cubc.segmented_reduce(x[:0], zeros, ends=zeros), np.zeros(2, "f4"))


def test_what_is_outside_is_not_read(device):
    x = np.ones(10)
    b, e = on(device, np.array([-5, 8, 20])), on(device, np.array([3, 2**40, 30]))
    same(cubc.segmented_reduce(on(device, x), b, ends=e), np.array([3.0, 2, 0]))
    beyond = np.array([2**63 + 1], "u8")  # of 64 bits, and not of 63
    same(cubc.segmented_reduce(on(device, x), on(device, beyond), ends=on(device, beyond)), [0.0])
    same(
        cubc.segmented_argsort(on(device, x), on(device, beyond), ends=on(device, beyond + 1)),
        np.arange(10),
    )


def test_lists_lazy_bounds_and_strides(device):
    x = inputs.random("F64", 100)
    same(
        cubc.segmented_reduce(on(device, x), [90, 3], ends=[100, 10]),
        np.array([x[90:].sum(), x[3:10].sum()]),
    )
    b = cubc.lazy("10 * i", size=10, dtype="i4")
    e = cubc.lazy("10 * i + 5", size=10, dtype="i4")
    if device == "cpu":
        same(cubc.segmented_reduce(x, b, ends=e), x.reshape(10, 10)[:, :5].sum(1))
        wide = np.zeros((100, 2))
        wide[:, 1] = x
        made = cubc.segmented_sort(wide[:, 1], [90, 3], ends=[100, 10], out=wide[:, 0])
        same(made[90:], np.sort(x[90:]))
        same(made[:3], x[:3])


def test_a_bound_call_reads_bounds_again():
    """Also those of NumPy whose segments followed each other while the call was bound."""
    x, out = np.arange(10.0), np.zeros(2)
    begins, ends = np.array([0, 3]), np.array([3, 10])
    bound = cubc.bind(cubc.segmented_reduce, x, begins, ends=ends, out=out)
    begins[1], ends[0] = 5, 6
    bound()
    same(out, np.array([x[:6].sum(), x[5:].sum()]))


@pytest.mark.parametrize("type", ["u4", "u8"])
def test_expressions_of_items_and_of_both_bounds(device, type):
    """A call takes two expressions: bounds of these types are converted by one each."""
    x = inputs.random("F64", 100)
    twice = cubc.lazy("2 * x", x=on(device, x))
    b, e = bounds_on(device, (np.array([90, 3, 7]), np.array([100, 10, 7])), type)
    sums = np.array([2 * x[90:].sum(), 2 * x[3:10].sum(), 0])
    same(cubc.segmented_reduce(twice, b, ends=e), sums)
    begins = cubc.lazy("convert<i64>(b)", b=b, dtype="i8")
    same(cubc.segmented_reduce(twice, begins, ends=e), sums)


@pytest.mark.parametrize(("type", "is_lazy"), [("i4", False), ("i4", True)])
def test_offsets_of_four_bytes(device, type, is_lazy):
    """Arrays and expressions, in each of the calls; others are of eight."""
    x, d = inputs.random("F32", 99), on(device, inputs.random("F32", 99))
    offsets = on(device, np.arange(0, 100, 33, dtype=type))
    if is_lazy:
        offsets = cubc.lazy("o", o=offsets, dtype=type)
    rows = x.reshape(3, 33)
    order = np.argsort(rows, axis=1, kind="stable")
    same(cubc.segmented_reduce(d, offsets), rows.sum(1))
    same(cubc.segmented_scan(d, offsets), rows.cumsum(1).ravel())
    same(cubc.segmented_sort(d, offsets), np.sort(rows).ravel())
    same(cubc.segmented_argsort(d, offsets), (order + 33 * np.arange(3)[:, None]).ravel())
    same(cubc.segmented_sort_pairs(d, d, offsets)[1], np.sort(rows).ravel())
    same(cubc.segmented_topk(d, 2, offsets)[0], np.sort(rows)[:, ::-1][:, :2])


# ---- offsets that are expressions ----------------------------------------------------------------
def lazy_offsets(device, count, n):
    """Offsets of segments of many lengths as a table that is read backwards, and as an array."""
    draw = np.random.default_rng(count)
    offsets = np.sort(draw.integers(0, n + 1, count + 1))
    table = on(device, n - offsets[::-1])
    text = "m - t[c - static_cast<i64>(i)]"
    made = cubc.lazy(text, t=table, m=n, c=count, size=count + 1, dtype="i8")
    return made, offsets


@pytest.mark.parametrize(("count", "n"), [(1, 100), (40, N), (3000, N), (3, 300_001), (7, 0)])
def test_expressions_in_place_of_offsets(device, count, n):
    x = inputs.random("F64", n)
    d, (made, offsets) = on(device, x), lazy_offsets(device, count, n)
    parts = [slice(*pair) for pair in pairwise(offsets)]
    sums = np.array([x[part].sum() for part in parts])
    twice = cubc.lazy("2 * x", x=d)
    for deterministic in (False, True):
        options = {"deterministic": deterministic}
        same(cubc.segmented_reduce(d, made, **options), sums)
        same(cubc.segmented_reduce(twice, made, **options), 2 * sums)
        scanned = np.asarray(cubc.segmented_scan(d, made, **options))
        for part in parts:
            same(scanned[part], x[part].cumsum())
    same(cubc.segmented_reduce(d, made, "a + b", init=0.0), sums)
    order = np.arange(n)
    for part in (slice(0, offsets[0]), *parts, slice(offsets[-1], n)):
        order[part] = order[part][np.argsort(x[part], kind="stable")]
    same(cubc.segmented_sort(d, made), x[order])
    same(cubc.segmented_argsort(d, made), order)
    keys, indices = cubc.segmented_topk(d, 2, made)
    best = cubc.segmented_topk(d, 2, on(device, offsets))
    same(keys, np.asarray(best[0]))
    same(indices, np.asarray(best[1]))


def test_results_of_segments_that_overlap_are_refused():
    """Segments may share items in a reduction, where they have a result each."""
    x = np.ones(10, "i4")
    same(cubc.segmented_reduce(x, [0, 2], ends=[5, 8]), np.array([5, 6]))
    for call in (cubc.segmented_scan, cubc.segmented_sort, cubc.segmented_argsort):
        for begins, ends in (([0, 2], [5, 8]), ([4, 9, 0], [8, 10, 5]), ([3, 3], [4, 4])):
            with pytest.raises(ValueError, match=r"segments . and . overlap"):
                call(x, begins, ends=ends)
        for begins, ends in (([5, 0], [9, 5]), ([2, 1, 2], [2, 2, 6]), ([-5, -3], [-1, 1])):
            call(x, begins, ends=ends)


def test_an_output_is_no_operand_of_the_offsets():
    """They are read while it is written."""
    x, table = inputs.random("I64", 10), np.arange(10)
    made = cubc.lazy("t", t=table, dtype="i8")
    for call in (cubc.segmented_argsort, cubc.segmented_sort, cubc.segmented_scan):
        with pytest.raises(ValueError, match="overlap"):
            call(x, made, out=table, device="cpu")
    with pytest.raises(ValueError, match="overlap"):
        cubc.segmented_reduce(x, made, out=table[:9], device="cpu")


@pytest.mark.parametrize("dtype", ["f8", "u4", "?"])
def test_expressions_of_other_types(dtype):
    made = cubc.lazy("i * 3", size=4, dtype=dtype)
    for call in (cubc.segmented_reduce, cubc.segmented_scan, cubc.segmented_sort):
        with pytest.raises(TypeError, match=r"the offsets of \w+ are I32 or I64, not"):
            call(X, made, device="cpu")
    with pytest.raises(TypeError, match="ends"):
        cubc.segmented_reduce(X, [0, 1, 2, 3], ends=made, device="cpu")


@pytest.mark.parametrize("call", [cubc.segmented_reduce, cubc.segmented_scan])
def test_empty_lists_are_no_segments(device, call):
    """NumPy makes floats of them."""
    same(call(on(device, X), [], ends=[]), X[: 0 if call is cubc.segmented_reduce else X.size])


X = np.arange(9.0)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: cubc.segmented_reduce(X, ends=[3]), ValueError, "ends= goes with offsets"),
        (lambda: cubc.segmented_reduce(X, ends=[3], segment_size=3), ValueError, "goes with"),
        (lambda: cubc.segmented_sort(X, [0, 3], ends=[3]), ValueError, "2 offsets and 1 ends"),
        (lambda: cubc.segmented_sort(X, [0, 3], ends=[3, 2]), ValueError, "segment 1 ends at 2"),
        (lambda: cubc.segmented_scan(X, [0.5], ends=[1]), TypeError, "are integers, not float64"),
        (lambda: cubc.segmented_scan(X, 3, ends=4), ValueError, "one dimension"),
        (lambda: cubc.segmented_sort_pairs(X, X[1:], [1, 4], ends=[2, 9]), ValueError, "8 values"),
    ],
)
def test_wrong_arguments(call, error, words):
    with cubc.device("cpu"), pytest.raises(error, match=words):
        call()


def test_pairs_of_every_kind_of_values(device):
    keys, begins, ends = np.array([3, 1, 2, 0]), np.array([0]), np.array([3])
    order = [1, 2, 0, 3]
    kinds = [np.arange(4.0), np.arange(12).reshape(4, 3), np.zeros((4, 0), "S5")]
    if device == "cpu":
        kinds += [np.array(["a", "bb", "c", "d"]), np.array([b"a", b"bb", b"c", b"d"])]
        kinds += [np.zeros(4, [("a", "f8", 9)])]
    for values in kinds:
        if values.dtype.kind == "S" and device != "cpu":
            continue
        given = [on(device, x) for x in (keys, values, begins)]
        made = cubc.segmented_sort_pairs(*given, ends=on(device, ends))
        same(made[0], keys[order])
        same(made[1], values[order])


def test_outputs_of_pairs_that_overlap(device):
    keys, values = on(device, np.array([3, 1, 2, 0])), on(device, np.array([10, 20, 30, 40]))
    begins, ends = on(device, np.array([0])), on(device, np.array([3]))
    for out in ((values, keys), (values, None), (None, keys), (begins, begins)):
        with pytest.raises((TypeError, ValueError), match=r"overlap|out"):
            cubc.segmented_sort_pairs(keys, values, begins, ends=ends, out=out)
    made = cubc.segmented_sort_pairs(keys, values, begins, ends=ends, out=(keys, values))
    assert made[0] is keys and made[1] is values
    same(keys, np.array([1, 2, 3, 0]))
    same(values, np.array([20, 30, 10, 40]))


@pytest.mark.parametrize("name", ["segmented_sort", "segmented_argsort", "segmented_sort_pairs"])
def test_outputs_and_shapes_that_are_refused_with_ends(device, name):
    begins, ends = on(device, np.array([0])), on(device, np.array([3]))
    call, x = getattr(cubc, name), np.array([3, 1, 2, 0])
    more = () if name != "segmented_sort_pairs" else (on(device, x),)
    out = on(device, np.zeros(4, "f4"))
    out = out if not more else (None, out)
    with pytest.raises(TypeError, match="out has float32, expected int64"):
        call(on(device, x), *more, begins, ends=ends, out=out)
    with pytest.raises(ValueError, match="one dimension"):
        call(on(device, x.reshape(2, 2)), *more, begins, ends=ends)


def test_segments_that_follow_but_end_before_they_begin(device):
    """As offsets they would give their items to their neighbours."""
    x, begins, ends = (on(device, np.array(v)) for v in ([5, 3, 9, 1, 7], [3, 1], [1, 4]))
    x, begins, ends = (cubc.asarray(v, device=device) for v in (x, begins, ends))
    same(cubc.segmented_reduce(x, begins, "a + b", init=0, ends=ends), np.array([0, 13]))
