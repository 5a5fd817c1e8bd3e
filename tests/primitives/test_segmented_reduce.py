"""segmented_reduce against loops over NumPy's slices, and numpy.add.reduceat."""

from itertools import pairwise

import inputs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs import SOME, in_turn, on, same
from segment_sums import reference

import cubc
from cubc import _core

OPERATORS = ("sum", "prod", "min", "max", "argmin", "argmax")


def offsets_of(kind, n, count, seed=0):
    """Offsets of `count` segments in n items."""
    draw = np.random.default_rng(seed)
    inner = np.sort(draw.integers(0, n + 1, count + 1))
    if kind == "whole":  # they cover the array; the others leave items out at both ends
        inner[0], inner[-1] = 0, n
    elif kind == "piled":  # most are empty, all in one place
        inner = np.sort(np.where(draw.random(count + 1) < 0.9, n // 3, inner))
    elif kind == "one":  # all but one are empty
        inner = np.where(np.arange(count + 1) > count // 2, n, 0)
    return inner


def data(type, op, n, seed=0):
    x = inputs.random(type, n, seed)
    return np.where(x > 0, 1, -1).astype(x.dtype) if op == "prod" and type in inputs.FLOATS else x


@pytest.mark.parametrize(("type", "op"), in_turn(SOME, OPERATORS, 6))
def test_every_type_and_operator(device, type, op):
    x = data(type, op, 20_000)
    for count in (500, 7):
        offsets = offsets_of("uniform", x.size, count).astype("i4" if type[0] in "IB" else "i8")
        result = cubc.segmented_reduce(on(device, x), on(device, offsets), op)
        same(result, reference(x, offsets, op))


@pytest.mark.parametrize("kind", ["uniform", "whole", "piled", "one"])
@pytest.mark.parametrize("n", [1, 2, 100, 5000, 40_001])
def test_offsets_of_every_kind(device, kind, n):
    x = inputs.random("I32", n, seed=n)
    given = on(device, x)
    for count in (1, 2, 33, 2000):
        offsets = offsets_of(kind, n, count, seed=count)
        for op in ("sum", "argmax"):
            result = cubc.segmented_reduce(given, on(device, offsets), op)
            same(result, reference(x, offsets, op))


@pytest.mark.parametrize("length", [8, 300, 70_000])
@pytest.mark.parametrize("type", ["F32", "I8", "U64"])
def test_boundaries_of_the_policy(device, type, length):
    x = inputs.random(type, 1_000_000)
    for n in inputs.sizes("segmented_reduce.sum", type, device, SegmentSize=length):
        if not n or n > x.size:
            continue
        offsets = np.minimum(np.arange(n // length + 2) * length, n)
        result = cubc.segmented_reduce(on(device, x[:n]), on(device, offsets))
        dtype = np.asarray(result).dtype
        sums = np.cumsum(inputs.exact(x[:n]), dtype=None if type == "F32" else dtype)
        sums = np.concatenate([np.zeros(1, sums.dtype), sums])
        same(result, np.diff(sums[offsets]).astype(dtype))


def test_many_small_segments(device):
    lengths = np.random.default_rng(1).integers(1, 17, 300_000)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    x = inputs.random("I32", offsets[-1])
    result = cubc.segmented_reduce(on(device, x), on(device, offsets))
    same(result, np.add.reduceat(x, offsets[:-1], dtype=np.int64))


def test_a_huge_segment_among_small_ones(device):
    lengths = np.array([3, 1, 0, 3_000_000, 2, 0, 7])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    x = inputs.random("F32", offsets[-1])
    for op in ("sum", "max", "argmin"):
        result = cubc.segmented_reduce(on(device, x), on(device, offsets), op)
        same(result, reference(x, offsets, op))


@pytest.mark.parametrize("mean", [40, 300, 1000, 5000])
@pytest.mark.parametrize("type", ["F64", "I32", "U8"])
def test_lengths_as_a_power_of_their_rank(device, type, mean):
    """A few segments hold most items, and many have none."""
    n = 400_000
    shares = np.random.default_rng(mean).permutation(np.arange(1, n // mean + 1) ** -1.3)
    offsets = np.concatenate([[0], np.cumsum(shares)])
    offsets = (offsets / offsets[-1] * n).astype(np.int64)
    x = inputs.random(type, n)
    for first in (0, 1):  # aligned and not
        given = on(device, x)[first:]
        result = cubc.segmented_reduce(given, on(device, np.maximum(offsets - first, 0)))
        same(result, reference(x[first:], np.maximum(offsets - first, 0), "sum"))


@pytest.mark.usefixtures("policies")
@pytest.mark.parametrize(("threads", "vector"), [(64, 0), (1024, 1)])
def test_sections_of_long_segments_by_threads_of_a_gpu(threads, vector):
    """A segment of more sections than a warp combines at once, one of few, and one of one."""
    label = f"ipt_8.tpb_{threads}.mb_1.ipv_{vector}.ld_0.ept_1.wav_1.lb_1"
    for op in ("sum", "argmin"):
        _core.use_policy(f"segmented_reduce.{op}", {"T{ct}": "I64"}, "cpu", label)
    x = inputs.random("I64", 250_001)
    ends = [*range(20, 30_001, 20), 180_003, 190_000, 191_000, 193_100, x.size - 5, x.size]
    offsets = np.array([0, *ends])
    for _ in range(2):  # the second call finds the numbers of the first
        for op in ("sum", "argmin"):
            same(cubc.segmented_reduce(x, offsets, op), reference(x, offsets, op))


@pytest.mark.usefixtures("policies")
@pytest.mark.parametrize("threads", [64, 1024])
def test_segments_by_blocks_of_a_gpu(threads):
    """Two segments, each a block's: in one launch where all items are few, else in two."""
    label = f"ipt_8.tpb_{threads}.mb_1.ipv_1.ld_0.ept_1.wav_1.lb_1"
    for op in ("sum", "argmin"):
        _core.use_policy(f"segmented_reduce.{op}", {"T{ct}": "I64"}, "cpu", label)
    for ends in ((3000, 6001), (1, 6001), (6001, 6001), (40_000, 90_001), (3, 90_001)):
        x, offsets = inputs.random("I64", ends[-1] + 2), np.array([0, *ends]) + 1
        for op in ("sum", "argmin"):
            same(cubc.segmented_reduce(x, offsets, op), reference(x, offsets, op))


@pytest.mark.parametrize("count", [1, 3, 60, 200])
@pytest.mark.parametrize("type", ["I8", "F64"])
def test_few_segments_of_many_items(device, type, count):
    """Around the numbers of bytes at which blocks take segments, and sections become necessary."""
    for n in (50_000, 65_536, 65_537, 524_289, 700_001):
        x = inputs.random(type, n)
        for kind in ("whole", "one"):
            offsets = offsets_of(kind, n, count)
            for op in ("sum", "argmax"):
                result = cubc.segmented_reduce(on(device, x), on(device, offsets), op)
                same(result, reference(x, offsets, op))


# ---- operators -----------------------------------------------------------------------------------
def test_operands_keep_their_order(device):
    maps = inputs.affine(30_000)
    offsets = offsets_of("uniform", maps.size, 50)
    one = np.uint64(1 << 32)
    result = cubc.segmented_reduce(
        on(device, maps), on(device, offsets), inputs.AFFINE, init=int(one)
    )
    parts = pairwise(offsets)
    same(result, np.array([inputs.compose([one, *maps[b:e]])[-1] for b, e in parts], np.uint64))


def test_operators_of_ones_own(device):
    x = inputs.random("I32", 10_000)
    offsets = on(device, np.array([0, 3, 3, 9000, 10_000]))
    longest = "a * a > b * b ? a : b"
    for options in ({}, {"commutative": True}):
        result = cubc.segmented_reduce(on(device, x % 1000), offsets, longest, init=0, **options)
        expected = [max(map(int, x[b:e] % 1000), default=0) for b, e in ((0, 3), (3, 3))]
        assert np.asarray(result)[:2].tolist() == expected
    with pytest.raises(ValueError, match="segments may be empty; give an initial value"):
        cubc.segmented_reduce(on(device, x), offsets, longest)
    rows = cubc.segmented_reduce(on(device, x % 1000), op=longest, segment_size=1)
    same(rows, x % 1000)  # none is empty, and none needs an initial value


def test_any_and_all(device):
    x = inputs.random("U8", 5000) % 3
    offsets = offsets_of("whole", x.size, 900)
    parts = [x[b:e] for b, e in pairwise(offsets)]
    for op in ("any", "all"):
        result = cubc.segmented_reduce(on(device, x), on(device, offsets), op)
        same(result, np.array([getattr(np, op)(part) for part in parts]))


def test_an_initial_value_comes_before_each_segment(device):
    x = inputs.random("I32", 1000)
    offsets = np.array([0, 0, 10, 1000, 1000])
    result = cubc.segmented_reduce(on(device, x), on(device, offsets), init=7)
    same(result, reference(x, offsets, "sum") + 7)
    result = cubc.segmented_reduce(on(device, x), on(device, offsets), "max", init=4)
    assert np.asarray(result)[[0, 3]].tolist() == [4, 4]


# ---- special values ------------------------------------------------------------------------------
@pytest.mark.parametrize("type", inputs.FLOATS)
def test_special_values_stay_in_their_segments(device, type):
    x = inputs.random(type, 4000)
    x[[5, 1005, 2005]] = np.nan, np.inf, -np.inf
    offsets = np.arange(0, 4001, 1000)
    sums = inputs.exact(np.asarray(cubc.segmented_reduce(on(device, x), on(device, offsets))))
    assert np.isnan(sums[0])
    assert sums[1:3].tolist() == [np.inf, -np.inf]
    assert sums[3] == inputs.exact(x[3000:]).sum()
    for op in ("argmin", "argmax"):
        result = np.asarray(cubc.segmented_reduce(on(device, x), on(device, offsets), op))
        assert result[0] == 5
    assert np.asarray(cubc.segmented_reduce(on(device, x), on(device, offsets), "argmax"))[1] == 5


def test_half_precision_accumulates_in_single(device):
    x = np.ones(30_000, np.float16)
    assert (
        float(np.asarray(cubc.segmented_reduce(on(device, x), on(device, [0, 30_000])))[0])
        == 30_000
    )


# ---- offsets that are not to be trusted ----------------------------------------------------------
@pytest.mark.parametrize("kind", ["falling", "outside", "noise"])
def test_wrong_offsets_read_nothing_outside(device, kind):
    """Results of wrong segments are undefined; there is no fault, and right ones stay right."""
    x = np.ones(50_000, np.int32)
    draw = np.random.default_rng(3)
    offsets = {
        "falling": np.arange(50_000, -1, -10),
        "outside": np.array([-(2**62), -5, 10, 20_000, 2**40, 2**62]),
        "noise": draw.integers(-(2**63), 2**63 - 1, 3000),
    }[kind]
    arrays = (cubc.asarray(a, device=device) for a in (x, offsets))  # NumPy's would be refused
    result = np.asarray(cubc.segmented_reduce(*arrays))
    assert result.shape == (offsets.size - 1,)
    if kind == "outside":
        assert result.tolist() == [0, 10, 19_990, 30_000, 0]


@pytest.mark.gpu
def test_more_chunks_than_32_bits_count():
    """Half a million segments that are all of the array, and as many that fall."""
    x = cubc.asarray(np.ones(2**27, np.int8), device="cuda:0")
    offsets = np.zeros(2**19, np.int64)
    offsets[1::2] = x.size
    for _ in range(2):
        cubc.segmented_reduce(x, cubc.asarray(offsets, device="cuda:0"))
        whole = cubc.segmented_reduce(x, cubc.asarray(offsets[:2], device="cuda:0"))
        assert np.asarray(whole).tolist() == [x.size]


# ---- arguments -----------------------------------------------------------------------------------
def test_no_segments(device):
    x = on(device, np.ones(10, np.float32))
    empty = cubc.segmented_reduce(x, on(device, np.zeros(1, np.int64)))
    assert np.asarray(empty).shape == (0,)
    nothing = on(device, np.empty(0, np.float32))
    same(cubc.segmented_reduce(nothing, on(device, np.zeros(4, np.int32))), np.zeros(3, np.float32))
    assert np.asarray(cubc.segmented_reduce(nothing, segment_size=4)).shape == (0,)


def test_out_dtype_and_lists(device):
    x = cubc.asarray(inputs.random("I32", 100), device=device)
    out = cubc.empty(2, "int32", device=device)
    offsets = cubc.asarray(np.array([0, 40, 100], np.int32), device=device)
    assert cubc.segmented_reduce(x, offsets, out=out) is out
    wide = cubc.segmented_reduce(x, offsets, dtype="float64")
    assert np.asarray(wide).dtype == np.float64
    same(np.asarray(out), np.asarray(wide).astype(np.int64).astype(np.int32))
    same(cubc.segmented_reduce([1, 2, 3], [0, 2, 3], device="cpu"), np.array([3, 3]))


def test_unaligned_arrays(device):
    x = cubc.asarray(np.arange(10_003, dtype=np.int32), device=device)[1:]
    offsets = cubc.asarray(np.arange(0, 10_002, 7), device=device)[1:]
    result = cubc.segmented_reduce(x, offsets)
    same(result, reference(np.asarray(x), np.asarray(offsets), "sum"))


@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "u8"])
def test_offsets_of_any_integers(device, dtype):
    x, offsets = inputs.random("I64", 200), np.array([0, 3, 3, 50, 200], dtype)
    given, at = on(device, x), on(device, offsets)
    parts = np.split(x, offsets[1:-1].astype(int))
    same(cubc.segmented_reduce(given, at), np.array([part.sum() for part in parts]))
    if dtype in ("u1", "u8"):
        same(cubc.segmented_scan(given, at), np.concatenate([part.cumsum() for part in parts]))
    else:
        same(cubc.segmented_sort(given, at), np.concatenate([np.sort(part) for part in parts]))
    if dtype == "u8":  # behind all items, and beyond what has a sign
        offsets[-1] = 2**63 + 5
        same(cubc.segmented_reduce(given, on(device, offsets))[-1:], x[50:].sum(keepdims=True))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: cubc.segmented_reduce(x), ValueError, "one of the two"),
        (lambda x: cubc.segmented_reduce(x, [0, 1], segment_size=1), ValueError, "one of the two"),
        (lambda x: cubc.segmented_reduce(x, segment_size=3), ValueError, "no multiple"),
        (lambda x: cubc.segmented_reduce(x, segment_size=0), ValueError, "no multiple"),
        (lambda x: cubc.segmented_reduce(x, []), ValueError, "one dimension"),
        (lambda x: cubc.segmented_reduce(x, [[0, 1]]), ValueError, "one dimension"),
        (lambda x: cubc.segmented_reduce(x, [0.0, 1.0]), TypeError, "offsets are integers"),
        (lambda x: cubc.segmented_reduce(x, [0, 1], "smu"), LookupError, "did you mean 'sum'"),
        (lambda x: cubc.segmented_reduce(x, [0, 1], ofsets=1), TypeError, "no argument"),
        (lambda x: cubc.segmented_reduce(x, [0, 1], out=np.empty(2, "i8")), ValueError, "shape"),
        (lambda x: cubc.segmented_reduce(x, [0, 9], out=x[:1]), ValueError, "apart"),
        (lambda x: cubc.segmented_reduce(x, [0, 1], "argmin", init=1), ValueError, "initial"),
        (lambda x: cubc.segmented_reduce(x, [0, 1], "argmin", dtype="i4"), TypeError, "int64"),
    ],
)
def test_wrong_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call(np.arange(10))


# ---- properties ----------------------------------------------------------------------------------
@settings(max_examples=60)
@given(st.lists(st.integers(0, 40), max_size=400), st.integers(0, 2**32 - 1))
def test_sums_of_any_lengths(lengths, seed):
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    x = np.random.default_rng(seed).integers(-9, 9, offsets[-1])
    sums = np.concatenate([[0], np.cumsum(x)])
    result = cubc.segmented_reduce(x, offsets, device="cpu")
    same(result, sums[offsets[1:]] - sums[offsets[:-1]])
