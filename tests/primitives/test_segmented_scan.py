"""cubc.segmented_scan against NumPy's accumulations of slices."""

from itertools import pairwise

import inputs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs import SOME, TYPES, in_turn, on, same

import cubc
from cubc import _core

FUNCTIONS = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}


def offsets_of(n, count, seed=0):
    """Rising, some of them equal; items are left out at both ends."""
    return np.sort(np.random.default_rng(seed).integers(0, n + 1, count + 1))


def data(type, op, n):
    """Prefixes stay exact in two bytes."""
    x = inputs.random(type, n)
    if type not in inputs.FLOATS:
        return x
    if op == "sum":
        return np.diff(x.clip(-1, 1).astype(np.float64), prepend=0).astype(x.dtype)
    return np.where(x > 0, 1, -1).astype(x.dtype) if op == "prod" else x


def reference(x, offsets, prefixes):
    """Prefixes of each segment, and of the items before and behind them, by `prefixes`."""
    wide = inputs.exact(x)
    parts = [prefixes(wide[b:e]) for b, e in pairwise([0, *offsets, x.size])]
    return np.concatenate(parts).astype(x.dtype)


def prefixes_of(op, dtype):
    return lambda part: FUNCTIONS[op].accumulate(part, dtype=part.dtype).astype(dtype)


def sums(x, offsets):
    """Inclusive sums of integers, of any number of segments."""
    total = np.cumsum(x)
    begin = np.searchsorted(offsets, np.arange(x.size), side="right")
    first = np.concatenate([[0], offsets])[begin]
    return total - np.where(first > 0, total[first - 1], 0)


@pytest.mark.parametrize(("type", "op"), in_turn(SOME, FUNCTIONS, 4))
def test_every_type_and_operator(device, type, op):
    x = data(type, op, 20_000)
    kind = np.int32 if op in ("min", "max") else np.int64
    for count in (500, 7):
        offsets = offsets_of(x.size, count).astype(kind)
        result = cubc.segmented_scan(on(device, x), on(device, offsets), op)
        same(result, reference(x, offsets, prefixes_of(op, x.dtype)))


@pytest.mark.parametrize("type", ["F32", "I8", "U64"])
def test_boundaries_of_the_policy(device, type):
    x = data(type, "sum", 300_000)
    for n in inputs.sizes("scan.segmented", type, device):
        if n > x.size:
            continue
        offsets = offsets_of(n, n // 70 + 1, seed=n)
        result = cubc.segmented_scan(on(device, x[:n]), on(device, offsets))
        same(result, reference(x[:n], offsets, prefixes_of("sum", x.dtype)))


@pytest.mark.parametrize("count", [0, 1, 2, 33, 2000, 100_000])
@pytest.mark.parametrize("n", [0, 1, 2, 100, 40_001])
def test_numbers_of_segments(device, n, count):
    x, offsets = inputs.random("I64", n), offsets_of(n, count, seed=count)
    same(cubc.segmented_scan(on(device, x), on(device, offsets)), sums(x, offsets))
    result = cubc.segmented_scan(on(device, x), on(device, offsets), inclusive=False)
    same(result, sums(x, offsets) - x)


@pytest.mark.usefixtures("as_users_have")
def test_many_small_segments(device):
    lengths = np.random.default_rng(1).integers(1, 17, 300_000)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    x = inputs.random("I64", offsets[-1])
    same(cubc.segmented_scan(on(device, x), on(device, offsets)), sums(x, offsets))


def test_a_huge_segment_among_small_ones(device):
    offsets = np.concatenate([[0], np.cumsum([3, 1, 0, 3_000_000, 2, 0, 7])])
    x = inputs.random("I64", offsets[-1])
    same(cubc.segmented_scan(on(device, x), on(device, offsets)), sums(x, offsets))


def test_many_empty_segments_in_one_place(device):
    offsets = np.sort(np.where(np.arange(50_000) % 100, 7000, np.arange(50_000) // 3))
    x = inputs.random("I64", 20_000)
    same(cubc.segmented_scan(on(device, x), on(device, offsets)), sums(x, offsets))


LABELS = ("base", "ipt_4.tpb_64.mb_1.pk_0.ipv_0.ld_0.la_0.ord_0.lb_1.ns_0.l2w_0",
          "ipt_8.tpb_96.mb_1.pk_1.ipv_2.ld_1.la_0.ord_0.lb_3.ns_50.l2w_100")  # fmt: skip


@pytest.mark.parametrize("size", [1, 2, 3, 25, 64, 1000, 8000, 24_000])
@pytest.mark.parametrize("label", LABELS)
def test_segments_of_one_size(device, policies, size, label):
    """With variants of the GPU too, as a row's step is another for each."""
    x = inputs.random("I64", 24_000)
    if label != "base":
        arch = cubc.device_info(device)["arch"]
        _core.use_policy("scan.segmented", {"T{ct}": "I64"}, arch, label)
    result = cubc.segmented_scan(on(device, x), segment_size=size)
    same(result, x.reshape(-1, size).cumsum(axis=1).ravel())


TEAMS = ("ipt_8.tpb_64.mb_1.pk_0.ipv_1.ld_0.la_0.ord_0.lb_1.ns_0.l2w_0",
         "ipt_4.tpb_128.mb_1.pk_0.ipv_2.ld_1.la_0.ord_1.lb_1.ns_0.l2w_0",
         "ipt_8.tpb_96.mb_1.pk_1.ipv_2.ld_1.la_0.ord_2.lb_3.ns_50.l2w_100")  # fmt: skip


@pytest.mark.parametrize("lengths", ["alike", "skewed", "one"])
@pytest.mark.parametrize("n", [3000, 30_001, pytest.param(200_003, marks=pytest.mark.gpu)])
@pytest.mark.parametrize("label", TEAMS)
def test_segments_of_middling_length(device, policies, label, n, lengths):
    """A block a segment, or a warp, which leaves the longest to tiles; anywhere and in place."""
    draw, count = np.random.default_rng(n), n // 90
    weight = {
        "alike": draw.random(count) + 0.1,
        "skewed": 1 / np.arange(1, count + 1) ** 1.2,
        "one": np.where(np.arange(count) == count // 2, 10 * count, 1),
    }[lengths]
    offsets = 3 + np.cumsum(weight / weight.sum() * (n - 10)).astype(np.int64)
    _core.use_policy("scan.segmented", {"T{ct}": "I64"}, cubc.device_info(device)["arch"], label)
    x = inputs.random("I64", n)
    given, where = (cubc.asarray(a, device=device) for a in (x.copy(), offsets))
    same(cubc.segmented_scan(given, where), sums(x, offsets))
    same(cubc.segmented_scan(given, where, inclusive=False), sums(x, offsets) - x)
    assert cubc.segmented_scan(given, where, init=5, out=given) is given
    same(given, sums(x, offsets) + 5)


def spread(kind, n):
    """Offsets whose places the mean length tells well, or not at all."""
    draw = np.random.default_rng(n)
    count = n // 60
    even = np.linspace(0, n, count + 1)
    return {
        "near the mean": even + draw.integers(0, 20, count + 1),
        "of two densities": np.concatenate([even[: count // 2] / 8, even[count // 2 :]]),
        "none at the ends": np.linspace(n // 3, n // 2, count + 1),
        "one place": np.full(count + 1, n // 2),
        "longer than a tile": np.linspace(0, n, n // 700 + 2),
    }[kind]


@pytest.mark.parametrize("n", [1000, 20_001])
@pytest.mark.parametrize("order", [0, 1])
def test_where_offsets_are(device, policies, order, n):
    """With a GPU's threads: tiles read what is before them, but not in place."""
    arch = cubc.device_info(device)["arch"]
    label = LABELS[1].replace("ord_0", f"ord_{order}")
    _core.use_policy("scan.segmented", {"T{ct}": "I64"}, arch, label)
    x = inputs.random("I64", n)
    kinds = ("near the mean", "of two densities", "none at the ends", "one place",
             "longer than a tile")  # fmt: skip
    for kind in kinds:
        offsets = np.sort(spread(kind, n).astype(np.int64).clip(0, n))
        given, where = on(device, x.copy()), on(device, offsets)
        same(cubc.segmented_scan(given, where, init=7), sums(x, offsets) + 7)
        if order:
            cubc.segmented_scan(given, where, init=7, out=given)
            same(given, sums(x, offsets) + 7)


def test_initial_values(device):
    x, offsets = inputs.random("I64", 20_001), offsets_of(20_001, 99)
    given, where = on(device, x), on(device, offsets)
    same(cubc.segmented_scan(given, where, init=7), sums(x, offsets) + 7)
    result = cubc.segmented_scan(given, where, "max", inclusive=False, init=3)
    most = reference(
        x, offsets, lambda part: np.maximum.accumulate(np.concatenate([[3], part]))[:-1]
    )
    same(result, most)
    with pytest.raises(ValueError, match="needs an initial value"):
        cubc.segmented_scan(given, where, "max", inclusive=False)


def test_operands_keep_their_order(device):
    maps, offsets = inputs.affine(20_001), offsets_of(20_001, 20)
    result = cubc.segmented_scan(on(device, maps), on(device, offsets), inputs.AFFINE)
    same(result, reference(maps, offsets, inputs.compose))


@pytest.mark.parametrize("type", inputs.FLOATS)
def test_special_values_stay_in_their_segments(device, type):
    x = np.ones(40, TYPES[type])
    x[[5, 15, 25]] = np.nan, np.inf, -0.0
    result = inputs.exact(np.asarray(cubc.segmented_scan(on(device, x), segment_size=10)))
    assert np.isnan(result[5:10]).all()
    assert np.isinf(result[15:20]).all()
    assert np.isfinite(result[[*range(5), *range(10, 15), *range(20, 40)]]).all()
    small = on(device, np.array([1, -0.0, 1e-45], np.float32))
    result = np.asarray(cubc.segmented_scan(small, segment_size=1))
    assert np.signbit(result).tolist() == [False, True, False]
    assert result[2] > 0


@pytest.mark.parametrize("kind", ["falling", "outside", "noise"])
def test_wrong_offsets_do_no_harm(device, kind):
    """Results of wrong segments are undefined; there is no fault, and right ones stay right."""
    x = np.ones(50_000, np.int32)
    offsets = {
        "falling": np.arange(50_000, -1, -10),
        "outside": np.array([-(2**62), -5, 10, 20_000, 2**40, 2**62]),
        "noise": np.random.default_rng(3).integers(-(2**63), 2**63 - 1, 3000),
    }[kind]
    arrays = (cubc.asarray(a, device=device) for a in (x, offsets))  # NumPy's would be refused
    result = np.asarray(cubc.segmented_scan(*arrays))
    assert result.shape == x.shape
    if kind == "outside":
        assert result[[9, 10, 19_999, 20_000, 49_999]].tolist() == [10, 1, 19_990, 1, 30_000]


def test_out_shape_and_place(device):
    x = inputs.random("I32", 60_000).reshape(100, 600)
    given = cubc.asarray(x.copy(), device=device)
    offsets = cubc.asarray(np.array([0, 600, 60_000], np.int32), device=device)
    out = cubc.empty(x.shape, "float64", device=device)
    assert cubc.segmented_scan(given, offsets, out=out) is out
    same(np.asarray(out)[0], x[0].astype("f8").cumsum())
    assert cubc.segmented_scan(given, segment_size=600, out=given) is given
    same(given, x.cumsum(axis=1, dtype=x.dtype))
    unaligned = cubc.asarray(np.arange(1001), device=device)[1:]
    same(cubc.segmented_scan(unaligned, segment_size=1), np.arange(1, 1001))


def test_a_lazy_input(device):
    x = inputs.random("I64", 9000)
    lazy = cubc.lazy("2 * x", x=on(device, x))
    result = cubc.segmented_scan(lazy, segment_size=90)
    same(result, (2 * x).reshape(-1, 90).cumsum(axis=1).ravel())


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: cubc.segmented_scan(x), ValueError, "one of the two"),
        (lambda x: cubc.segmented_scan(x, [0, 1], segment_size=1), ValueError, "one of the two"),
        (lambda x: cubc.segmented_scan(x, segment_size=3), ValueError, "no multiple"),
        (lambda x: cubc.segmented_scan(x, []), ValueError, "one dimension"),
        (lambda x: cubc.segmented_scan(x, [0.0, 1.0]), TypeError, "offsets are integers"),
        (lambda x: cubc.segmented_scan(x, [0, 1], "argmin"), ValueError, "does not take argmin"),
        (lambda x: cubc.segmented_scan(x, [0, 1], ofsets=1), TypeError, "no argument"),
        (lambda x: cubc.segmented_scan(x, [0, 1], out=np.empty(2, "i8")), ValueError, "shape"),
        (lambda x: cubc.segmented_scan(x, x, out=x), ValueError, "overlap"),
        (lambda x: _core.call("scan", {"in": x, "keys": x, "segments": 5, "op": "sum",
            "inclusive": True, "acc_type": "int64", "out": ("in", "in", None)}),
         ValueError, "keys or segments"),
        (lambda x: _core.call("scan", {"in": x, "segments": 3, "op": "sum",
            "inclusive": True, "acc_type": "int64", "out": ("in", "in", None)}),
         ValueError, "10 items do not make 3 segments"),
    ],
)  # fmt: skip
def test_wrong_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call(np.arange(10))


@settings(max_examples=60)
@given(st.lists(st.integers(0, 40), max_size=400), st.integers(0, 2**32 - 1))
def test_a_segment_ends_with_its_sum(lengths, seed):
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    x = np.random.default_rng(seed).integers(-9, 9, offsets[-1])
    scanned = cubc.segmented_scan(x, offsets, device="cpu")
    totals = np.where(np.diff(offsets) > 0, np.append(scanned, 0)[offsets[1:] - 1], 0)
    same(totals, cubc.segmented_reduce(x, offsets, device="cpu"))
