"""histogram, bincount and histogram_channels against NumPy."""

import ctypes
import re

import inputs
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs import TYPES, in_turn, on, pairs_of, same

import cubc
from cubc import _core

LABEL = "ipt_4.tpb_128.mb_1.ipv_1.ld_0.pc_2.sb_12.cmb_0.wav_2"  # of a GPU


def spread(type, n, seed=0):
    """All integers of the type, or floats around 0."""
    if type in inputs.FLOATS:
        return np.random.default_rng(seed).normal(size=n).astype(TYPES[type])
    return inputs.random(type, n, seed)


def known(x):
    """The items as a type that numpy.histogram takes."""
    return x.astype(np.float32) if x.dtype == ml_dtypes.bfloat16 else x


def agree(device, x, bins=10, range=None, weights=None):
    """The same histogram, or the same refusal."""
    try:
        hist, edges = np.histogram(known(x), bins, range, weights=weights)
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error))):
            cubc.histogram(on(device, x), bins, range)
        return
    given = None if weights is None else on(device, weights)
    ours, our_edges = cubc.histogram(on(device, x), bins, range, weights=given)
    same(ours, hist)
    same(our_edges, edges)


@pytest.mark.parametrize(
    ("type", "edges"),
    in_turn(TYPES, ["their own", "between integers", "given", "between floats"], 4),
)
def test_every_type(device, type, edges):
    for n in (1, 2, 1000, 70_001):
        x = spread(type, n, seed=n)
        if edges == "between integers":
            agree(device, x, [-2, -1, 0, 0, 1, 100])
        elif edges == "between floats":
            agree(device, x, np.array([-2.5, -1, 0.25, 1.5]))
        else:
            for bins in (1, 10, 200, 256):
                agree(device, x, bins, (-1.25, 2.5) if edges == "given" else None)


@pytest.mark.parametrize(
    ("type", "name"),
    in_turn(["F32", "I8", "I64"], ["even.256", "even.2048", "even.2097152", "range.256"], 2),
)
def test_boundaries_of_the_policy(device, type, name):
    kind, bins = name.split(".")
    x = spread(type, 1_000_000)
    low, high = (-2, 2) if type == "F32" else (float(np.iinfo(TYPES[type]).min), 2.0**63)
    high = 128.0 if type == "I8" else high
    for n in inputs.sizes(f"histogram.{kind}", type, device, Bins=int(bins)):
        if n <= x.size and (n % 3 == 0 or int(bins) < 3000):
            edges = np.linspace(low, high, int(bins) + 1) if kind == "range" else int(bins)
            agree(device, x[:n], edges, None if kind == "range" else (low, high))


@pytest.mark.parametrize("bins", [2, 33, 2048, 30_000, 1 << 20])
def test_numbers_of_bins(device, bins):
    x = np.random.default_rng(bins).random(100_003)
    for items in (x, x.astype(np.float32)):
        agree(device, items, bins, (0, 1))
        agree(device, items, bins, (0.1, 0.7))
    agree(device, x, np.sort(np.random.default_rng(1).random(bins + 1)))


@pytest.mark.some
@pytest.mark.parametrize("range", [(0, 256), (0, 255), (0, 100.0), (-3, 7), (10, 20), (0.5, 2.5)])
@pytest.mark.parametrize("type", ["U8", "U64", "F16", "F64"])
def test_items_on_the_edges(device, type, range):
    x = np.random.default_rng(3).integers(0, 256, 20_001).astype(TYPES[type])
    for bins in (1, 7, 100, 256):
        agree(device, x, bins, range)
    agree(device, x, np.arange(0, 200, 7))


def test_ranges_of_numpy_scalars(device):
    """The type of the range decides what the edges are rounded to."""
    x = np.random.default_rng(4).random(50_000, np.float32)
    for scalar in (np.float32, np.float64, float):
        agree(device, x, 200, (scalar(0.1), scalar(0.9)))


def test_special_values(device):
    x = np.array([np.nan, -0.0, 0.0, np.inf, -np.inf, 1e-45, 1, 2, 2, 3], np.float32)
    for items in (x, x.astype(np.float64), x.astype(np.float16)):
        agree(device, items, 4, (0, 2))
        agree(device, items, [-np.inf, 0, 2, np.inf])
        agree(device, items, [0, 2, 2])
    big = np.array([-1.7e308, 0, 1e300, 1.7e308])
    agree(device, big, [-1e308, 0, 1.5e308, 1.7e308])
    x = np.array([-3.3e38, -1e38, 0, 1, 3.3e38], np.float32)
    same(cubc.histogram(on(device, x), 3, (-3.4e38, 3.4e38))[0], np.array([1, 3, 1]))
    agree(device, x * np.float32(1e-38), 30, (-4, 4))
    agree(device, np.full(1000, 5), 10)
    agree(device, np.array([2**63 - 1, 2**62, -(2**63)]), 16)
    agree(device, np.arange(100, dtype=np.int8), 20, (-1000, 1000))
    agree(device, np.arange(100, dtype=np.uint32), 20, (-20.0, -10.0))


def test_few_distinct_items(device):
    for n in (100_003, 300_000):
        agree(device, np.zeros(n, np.float32), 256, (0, 1))
        agree(device, np.repeat(np.arange(4, dtype=np.uint8), n // 4), 256, (0, 256))
        agree(device, np.repeat(np.arange(3), n // 3), 1 << 20, (0, 3))


def test_no_items(device):
    empty = np.empty(0, np.float32)
    agree(device, empty, 5)
    agree(device, empty, [0, 1, 2])
    same(cubc.bincount(on(device, np.empty(0, np.int32)), minlength=3), np.zeros(3, np.int64))
    assert cubc.bincount(on(device, np.empty(0, np.int32))).shape == (0,)


# ---- weights -------------------------------------------------------------------------------------
@pytest.mark.some(9)
@pytest.mark.parametrize(
    ("type", "weight", "bins"),
    pairs_of(
        ["F32", "U8", "I64"],
        ["I32", "I64", "U32", "U64", "F32", "F64"],
        ["few", "many", "by edges"],
    ),
)
def test_weights(device, type, weight, bins):
    x = spread(type, 70_001)
    some = np.random.default_rng(5).integers(0, 5, x.size).astype(TYPES[weight])
    if bins == "by edges":
        agree(device, x, np.array([-2.0, 0.0, 1.0, 50.0]), weights=some)
    else:
        agree(device, x, 100 if bins == "few" else 1 << 17, (-3.5, 100), weights=some)


@pytest.mark.parametrize(
    ("weight", "sums"),
    [("I8", "int64"), ("U16", "uint64"), ("F16", "float32"), ("BF16", "float32")],
)
def test_short_weights_are_summed_wider(device, weight, sums):
    x = np.random.default_rng(6).random(10_000)
    some = np.ones(x.size, TYPES[weight])
    ours = cubc.histogram(on(device, x), 4, (0, 1), weights=on(device, some))[0]
    same(ours, np.histogram(x, 4, (0, 1))[0].astype(sums))


# ---- bincount ------------------------------------------------------------------------------------
@pytest.mark.parametrize("type", [t for t in inputs.SOME if t not in inputs.FLOATS])
def test_bincount(device, type):
    for n in (1, 1000, 70_001):
        x = np.random.default_rng(n).integers(0, 100, n).astype(TYPES[type])
        x[0] = 99  # the kernel is that of up to 128 bins
        plain = x.astype(np.int64)
        same(cubc.bincount(on(device, x)), np.bincount(plain))
        same(cubc.bincount(on(device, x), minlength=120), np.bincount(plain, minlength=120))
        if type in ("I8", "U64"):
            some = plain * 0.5
            same(cubc.bincount(on(device, x), on(device, some)), np.bincount(plain, some))
    far = np.array([3, 1_000_000]).astype(TYPES[type])
    if type in ("I32", "U64"):
        same(cubc.bincount(on(device, far)), np.bincount(far.astype(np.int64)))


# ---- channels ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("type", "channels", "even"),
    pairs_of(
        ["U8", "F32", "I64"],
        [(1, 1), (2, 1), (3, 3), (4, 3), (4, 4)],
        [True, False],
    ),
)
def test_channels(device, type, channels, even):
    """Channels, and how many of them are counted."""
    channels, active = channels
    for n in (0, 1, 5, 20_001):
        x = np.random.default_rng(n).integers(0, 200, (n, channels)).astype(TYPES[type])
        bins, ranges = [256, 10, 33, 100][:active], [(0, 256), (0, 99), (-3, 7), (10, 20)][:active]
        edges = [np.array([0, 10, 100 + k]) for k in range(active)]
        wanted, limits = (bins, ranges) if even else (edges, None)
        hists, found = cubc.histogram_channels(on(device, x), wanted, limits)
        assert len(hists) == len(found) == active
        for k in range(active):
            expected = np.histogram(x[:, k], wanted[k], limits and limits[k])
            same(hists[k], expected[0])
            same(found[k], expected[1])


@pytest.mark.parametrize("type", ["F32", "U8"])
def test_channels_and_weights_in_a_gpu_variant(type, policies):
    x = np.random.default_rng(0).integers(0, 9, (1301, 3)).astype(TYPES[type])
    for name in ("even", "range"):
        _core.use_policy(f"histogram.{name}", {"T{ct}": type}, "cpu", LABEL)
    with cubc.device("cpu"):
        for k, hist in enumerate(cubc.histogram_channels(x, [7, 8, 9], [(0, 9)] * 3)[0]):
            same(hist, np.histogram(x[:, k], 7 + k, (0, 9))[0])
        agree("cpu", x, 7, (0, 9), weights=x.astype(np.float32))
        agree("cpu", x, [0, 2, 4, 9], weights=x.astype(np.int64))


# ---- arguments -----------------------------------------------------------------------------------
def test_out_and_dtype(device):
    x = np.arange(1000) % 7
    for dtype in ("int32", "uint32", "int64", "uint64", "float32", "float64"):
        expected = np.histogram(x, 7, (0, 7))[0].astype(dtype)
        same(cubc.histogram(on(device, x), 7, (0, 7), dtype=dtype)[0], expected)
        out = on(device, np.full(7, 99, dtype))
        assert cubc.histogram(on(device, x), 7, (0, 7), out=out)[0] is out
        same(out, expected)


def test_edges_in_the_devices_memory(device):
    x, edges = np.random.default_rng(7).random(10_000), np.array([0, 0.3, 0.5])
    given = cubc.asarray(edges, device=device)
    hist, back = cubc.histogram(cubc.asarray(x, device=device), given)
    same(hist, np.histogram(x, edges)[0])
    assert back is given


def test_bool_and_unaligned(device):
    mask = np.random.default_rng(8).random(10_001) < 0.3
    same(cubc.histogram(on(device, mask), 2)[0], np.histogram(mask.astype(np.uint8), 2)[0])
    x = cubc.asarray(np.arange(10_002, dtype=np.int16), device=device)[1:]
    same(cubc.histogram(x, 10, (0, 10_002))[0], np.histogram(x.numpy(), 10, (0, 10_002))[0])


X = np.arange(10.0)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: cubc.histogram(X, 0), ValueError, "positive"),
        (lambda: cubc.histogram(X, np.ones((2, 2))), ValueError, "two edges or more"),
        (lambda: cubc.histogram(X, [3, 1]), ValueError, "monotonically"),
        (lambda: cubc.histogram(X, 5, (2, 1)), ValueError, "max must be larger"),
        (lambda: cubc.histogram(X, 5, (0, np.inf)), ValueError, "not finite"),
        (lambda: cubc.histogram(X * np.nan), ValueError, "not finite"),
        (lambda: cubc.histogram(X, weights=X[:3]), ValueError, "the same shape as the items"),
        (lambda: cubc.histogram(X, dtype="int8"), TypeError, "counts in I32"),
        (lambda: cubc.histogram(X, weights=X, dtype="int64"), TypeError, "floating weights"),
        (lambda: cubc.histogram(X, out=np.zeros(3)), ValueError, "shape"),
        (lambda: cubc.histogram(X, [0j, 1j]), TypeError, "complex128"),
        (lambda: cubc.histogram(X, out=X), ValueError, "apart"),
        (lambda: cubc.histogram(X, bin=3), TypeError, "did you mean 'bins'"),
        (lambda: cubc.bincount(X), TypeError, "integers, not float64"),
        (lambda: cubc.bincount(np.array([1, -1])), ValueError, "negative"),
        (lambda: cubc.bincount(np.ones((2, 2), int)), ValueError, "one dimension"),
        (lambda: cubc.bincount(np.ones(2, int), minlength=-1), ValueError, "minlength is -1"),
        (lambda: cubc.histogram_channels(np.ones((2, 5)), [3], [(0, 1)]), ValueError, "4 channels"),
        (lambda: cubc.histogram_channels(np.ones((2, 2)), [3]), ValueError, "needs the range"),
        (
            lambda: cubc.histogram_channels(np.ones((2, 2)), [3, [0, 1]], [(0, 1), None]),
            ValueError,
            "all must be one",
        ),
        (
            lambda: cubc.histogram_channels(np.ones((2, 2)), [3], [(0, 1)] * 2),
            ValueError,
            "2 ranges",
        ),
    ],
)
def test_wrong_arguments(call, error, words):
    with cubc.device("cpu"), pytest.raises(error, match=words):
        call()


# ---- properties ----------------------------------------------------------------------------------
@settings(max_examples=60)
@given(
    st.lists(st.floats(-1e6, 1e6), max_size=300),
    st.integers(1, 400),
    st.tuples(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6)),
)
def test_edges_decide(items, bins, limits):
    """Also for the edges themselves, and for the numbers beside them."""
    low, high = limits[0], limits[0] + limits[1]
    for dtype in (np.float32, np.float64):
        x = np.array(items, dtype)
        try:
            edges = np.histogram_bin_edges(x, bins, (low, high))
        except ValueError:
            continue
        x = np.concatenate([x, edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)])
        x = x.astype(dtype)
        inside = x[(x >= edges[0]) & (x <= edges[-1])]
        expected = np.minimum(np.searchsorted(edges, inside, "right") - 1, bins - 1)
        with cubc.device("cpu"):
            same(
                cubc.histogram(x, bins, (low, high))[0],
                np.bincount(expected, minlength=bins).astype(np.int64),
            )


@pytest.mark.parametrize("type", ["U8", "U16", "I32", "U64", "F32"])
def test_items_of_a_benchmark_lie_between_all_edges(type):
    bins = 64 if type == "U8" else 1000
    work = _core.Workload(
        "histogram.range", {"T{ct}": type}, {"Elements": 50_000, "Bins": bins}, "cpu"
    )
    assert work.verify(work.variant("base")) == 0
    counts = np.ctypeslib.as_array((ctypes.c_int32 * bins).from_address(work.pointers[1][0]))
    assert counts.sum() > 0.95 * 50_000 and counts.min() > 0


def test_more_edges_than_a_block_has_counters(device):
    """Their numbers have more than 16 bits in the table of cells, which few items do without."""
    bins = 70_001
    x = spread("I32", 256 * bins + 5)
    edges = np.sort(np.concatenate([spread("I32", bins - 1, 2), x[:2]])).astype(np.float64)
    counts = np.diff(np.searchsorted(np.sort(x), edges))
    counts[-1] += np.count_nonzero(x == edges[-1])
    same(cubc.histogram(on(device, x), edges)[0], counts)
    agree(device, x[:5000], edges)


RULES = ["auto", "doane", "fd", "rice", "scott", "sqrt", "stone", "sturges"]


@pytest.mark.filterwarnings("ignore:The number of bins estimated")
@pytest.mark.parametrize("rule", RULES)
def test_bins_by_a_rule(device, rule):
    """Rules are cubc's for items of a device, and NumPy's for its own."""
    for type, n, scale in (("f8", 3000, 1), ("i4", 3000, 30), ("i4", 1, 9), ("f8", 0, 1)):
        x = (np.random.default_rng(n).normal(size=n) * scale + 50).astype(type)
        for ends in (None, (20, 60)):
            hist, edges = np.histogram(x, rule, ends)
            for items in (
                on(device, x),
                cubc.asarray(x, device=device),
                cubc.lazy("x", x=on(device, x)),
            ):
                made, limits = cubc.histogram(items, rule, ends)
                same(made, hist)
                same(limits, edges)


def test_rules_that_are_not_there(device):
    with pytest.raises(ValueError, match="'autp' is not a valid estimator"):
        cubc.histogram(cubc.asarray(X, device=device), "autp")
    with pytest.raises(TypeError, match="Automated estimation"):
        cubc.histogram(on(device, X), "auto", weights=on(device, X))


@pytest.mark.parametrize("type", ["c8", "c16"])
def test_complex_weights(device, type):
    """Their parts are summed apart."""
    x = spread("F32", 1000)
    weights = (inputs.random("I8", 1000) + 1j * inputs.random("I8", 1000, 1)).astype(type)
    for bins in (10, np.array([-1, 0, 0.25, 2])):
        for density in (False, True):
            made, edges = cubc.histogram(on(device, x), bins, None, density, on(device, weights))
            expected, limits = np.histogram(x, bins, None, density, weights)
            np.testing.assert_allclose(np.asarray(made), expected, 1e-6 if type == "c8" else 1e-14)
            same(edges, limits)
    out = on(device, np.empty(10, type))
    assert cubc.histogram(on(device, x), weights=on(device, weights), out=out)[0] is out
    with pytest.raises(TypeError, match="sums of complex weights are complex"):
        cubc.histogram(on(device, x), weights=on(device, weights), dtype="f8")
    with pytest.raises(TypeError, match="weights of more than one axis are real"):
        cubc.histogram2d(on(device, x), on(device, x), weights=on(device, weights))


@pytest.mark.parametrize("range", [None, (0, np.inf), (np.nan, 1)])
@pytest.mark.parametrize("bins", [4, "fd", "doane"])
def test_ranges_that_are_not_finite(device, bins, range):
    with pytest.raises(ValueError, match=r"range of \[.*\] is not finite"):
        cubc.histogram(on(device, np.array([1.0, 2.0, np.inf])), bins, range)


@pytest.mark.parametrize("rule", ["auto", "sqrt", "fd", "doane", "rice", "scott"])
def test_rules_of_bools(device, rule):
    items = np.arange(10) % 2 > 0
    made, edges = cubc.histogram(on(device, items), rule)
    with pytest.warns(RuntimeWarning, match="Converting input from bool"):
        expected = np.histogram(items, rule)
    same(made, expected[0])
    same(edges, expected[1])


def test_outputs_without_bins(device):
    out = on(device, np.full(5, 7))
    for call in (
        lambda: cubc.histogram(on(device, np.ones(2)), [1.0], out=out),
        lambda: cubc.bincount(on(device, np.zeros(0, int)), out=out),
    ):
        with pytest.raises(ValueError, match=r"shape \(5,\), expected \(0,\)"):
            call()


def test_numbers_without_room_for_their_counts(device):
    with pytest.raises(ValueError, match="does not fit"):
        cubc.bincount(on(device, np.array([2**63], "u8")))


def test_density(device):
    x = inputs.random("I32", 1000)
    ends = (-(2**31), 2**31)
    for bins in (10, np.array([-1e9, 0.0, 5.0, 2e9])):
        made, edges = cubc.histogram(on(device, x), bins, ends, density=True)
        expected = np.histogram(x, bins, ends, True)
        np.testing.assert_allclose(np.asarray(made), expected[0], 1e-14)
        same(edges, expected[1])
        assert np.asarray(made).dtype == np.float64
    with pytest.raises(ValueError, match="leave out and dtype"):
        cubc.histogram(x, density=True, dtype="float32")
