"""segmented_topk against NumPy's stable argsort; topk along an axis is in test_topk.py."""

from itertools import pairwise

import inputs
import isolated
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs import SOME, TYPES, exact, in_turn, on, same

import cubc
from cubc import _core


def order_of(x, largest=True):
    """The order of rows along the last axis, of equal keys the lowest index first."""
    key = exact(x)
    if not largest:
        return np.argsort(key, axis=-1, kind="stable")
    return x.shape[-1] - 1 - np.argsort(key[..., ::-1], axis=-1, kind="stable")[..., ::-1]


def best(x, k, offsets, largest=True):
    """Keys and indices of each segment; behind its last item 0 and -1."""
    keys = np.zeros((len(offsets) - 1, k), x.dtype)
    indices = np.full(keys.shape, -1)
    for s, (begin, end) in enumerate(pairwise(offsets)):
        order = order_of(x[begin:end], largest)[:k]
        keys[s, : order.size], indices[s, : order.size] = x[begin:end][order], order
    return keys, indices


def check(x, k, offsets, device, largest=True):
    found = cubc.segmented_topk(on(device, x), k, on(device, offsets), largest=largest)
    for part, expected in zip(found, best(x, k, offsets, largest), strict=True):
        same(part, expected)


def check_rows(x, k, device, largest=True):
    """Rows of one size."""
    keys, indices = cubc.segmented_topk(on(device, x), k, segment_size=x.shape[-1], largest=largest)
    order = order_of(x, largest)[:, :k]
    same(keys, np.take_along_axis(x, order, 1))
    same(indices, order)


def use_variant(type, label):
    """Run segments and rows of the cpu by a variant, such as one for a GPU."""
    for benchmark in ("segmented_topk.segments", "segmented_topk.rows"):
        _core.use_policy(benchmark, {"T{ct}": type}, "cpu", label)


def edges(n, mean, seed=0):
    """Offsets of segments of many lengths; some are empty, and items are left on both sides."""
    draw = np.random.default_rng(seed)
    return np.sort(draw.integers(n // 100, n - n // 100 + 1, n // mean + 1))


def skewed(n, count):
    """Offsets of segments whose lengths fall as a power of their rank, in random order."""
    weights = 1 / np.arange(1, count + 1) ** 1.2
    np.random.default_rng(count).shuffle(weights)
    ends = np.cumsum(weights)
    return np.concatenate([[0], (ends / ends[-1] * n).astype("i8")])


def ordered(kind, n, type):
    x = inputs.random(type, n, seed=n)
    if kind in ("rising", "falling"):  # each key is before those that a block has kept, or none is
        x = np.sort(x)[:: 1 if kind == "rising" else -1].copy()
    elif kind == "few":
        x = (x % 5).astype(x.dtype)
    elif kind == "equal":
        x = np.full_like(x, 7)
    return x


@pytest.mark.parametrize(("type", "largest"), in_turn(SOME, [True, False], 2))
def test_every_type(device, type, largest):
    """Most are more than a warp has room for, and rows, of every second type."""
    for n, mean in ((1, 1), (5000, 20), (20_000, 150), (40_000, 9000)):
        for kind in ("random", "few"):
            x = ordered(kind, n, type)
            for k in (1, 10, 300) if largest else (1, 10):
                check(x, k, edges(n, mean), device, largest)
            if largest:
                check_rows(x[: n // mean * mean].reshape(-1, mean), min(10, mean), device)


@pytest.mark.parametrize("offset_type", ["i4", "i8"])
def test_lengths_around_those_of_a_warp_and_of_a_pool(device, offset_type):
    lengths = [0, 1, 31, 32, 33, 64, 65, 127, 128, 129, 255, 256, 257, 1023, 2047, 2048, 2049]
    lengths += [3072, 4096, 4097, 8191, 8192, 8193, 20_000]
    for order in (lengths, lengths[::-1], lengths + 500 * [7]):
        offsets = np.concatenate([[0], np.cumsum(order)]).astype(offset_type)
        x = inputs.random("I32", int(offsets[-1]), seed=3)
        for k in (1, 128, 256, 257, 2048):
            check(x, k, offsets, device)


@pytest.mark.parametrize(
    ("type", "label"),
    [("U8", "ipt_4.tpb_64.mb_1"), ("I64", "ipt_8.tpb_128.mb_8")],
)
@pytest.mark.usefixtures("policies")
def test_short_segments_by_warps_of_a_gpu(label, type):
    """A lane has 1, 2, 4 or 8 items, and some segments are left to the block."""
    use_variant(type, label)
    for kind in ("random", "few", "equal"):
        for mean in (20, 50, 100, 200):
            x = ordered(kind, 40 * mean, type)
            for k in (1, 7, 100):
                check(x, k, edges(x.size, mean), "cpu", largest=mean != 50)
            check_rows(x.reshape(-1, mean), min(k, mean), "cpu")


def check_rows_of_sizes(kind, type, rows, sizes, ks):
    for size in sizes:
        x = ordered(kind, rows * size, type)
        for k in ks:
            check_rows(x.reshape(-1, size), k, "cpu", type not in SMALLEST)


SMALLEST = ("I16", "I64")  # types of which the smallest keys are selected; both are more kernels
KINDS = ["random", "rising", "falling", "few", "equal"]
MANY = cubc.device_info("cpu")["sm_count"] + 1  # more rows than the cpu has blocks at once


@pytest.mark.parametrize(("type", "kind"), in_turn(["U8", "I64"], KINDS, 2))
@pytest.mark.usefixtures("policies")
def test_rows_by_warps_of_a_gpu(type, kind):
    """The k-th key's range is found, or that key's ties are cut off by their index."""
    use_variant(type, "ipt_4.tpb_64.mb_1")
    sizes = (257, 300, 512, 513, 1000, 1024, 1025, 2048)
    check_rows_of_sizes(kind, type, MANY, sizes, (1, 32, 100, 255, 256))
    for mean in (300, 1000):  # some segments are a block's, some are short
        x = ordered(kind, MANY * 2 * mean, type)
        for k in (2, 90, 256):
            check(x, k, edges(x.size, mean), "cpu", type not in SMALLEST)


@pytest.mark.parametrize(
    ("threads", "type", "sizes"),
    [
        (64, "U8", (300, 1000)),
        (192, "F32", (257, 2048, 5000)),
        (512, "I64", (65, 513, 8192)),
    ],
)
@pytest.mark.usefixtures("policies")
def test_rows_by_blocks_of_a_gpu(threads, type, sizes):
    """A block has a row, and its threads may be more than ranges and than items."""
    use_variant(type, f"ipt_4.tpb_{threads}.mb_1")
    for kind in KINDS:
        check_rows_of_sizes(kind, type, 1, sizes, (1, 32, 65))
        check_rows_of_sizes(kind, type, 1, sizes[1:], (255, 256))
        check_rows_of_sizes(kind, type, 1, sizes[-1:], (257, min(sizes[-1], 2048)))


@pytest.mark.parametrize("type", ["I16", "I64"])
@pytest.mark.usefixtures("policies")
def test_segments_by_blocks_of_a_gpu(type):
    """Rows beside segments that are empty, or too long for a row."""
    use_variant(type, "ipt_4.tpb_128.mb_1")
    x = ordered("random", 60_000, type)
    for offsets in ([0, 700], [9, 9, 500], [0, 0, 8193], [5, 3000, 12_000], [0, 16_385, 16_385]):
        for k in (1, 40, 256):
            check(x, k, np.array(offsets), "cpu", type not in SMALLEST)


@pytest.mark.parametrize(
    ("rows", "columns", "k"),
    [
        *((1, 131072, 2048), (3, 50_001, 100), (64, 8193, 8), (20, 131072, 1000), (2, 2049, 300)),
        *((1, 500_001, 2048), (9, 151_936, 50), (40, 50_257, 1000), (22, 30_001, 5)),
        (35, 60_000, 300),
    ],
)
def test_few_long_rows(device, rows, columns, k):
    """By clusters where a device has them."""
    for number, kind in enumerate(KINDS):
        type = ("U8", "F32", "I64")[number % 3]
        x = ordered(kind, rows * columns, type).reshape(rows, columns)
        check_rows(x, k, device, largest=number % 2 == 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("type", ["U8", "I32", "F64"])
def test_long_segments(device, type, kind):
    """A block's pool is full many times; few segments are cut into parts."""
    x = ordered(kind, 200_000, type)
    for largest in (True, False) if type == "I32" else (type == "U8",):
        check(x, 1000, np.array([3, 150_001, 150_002, 199_999]), device, largest)
        check_rows(x.reshape(2, -1), 2048, device, largest)
        check_rows(x.reshape(2, -1), 1, device, largest)


@pytest.mark.usefixtures("policies")
@pytest.mark.parametrize(("type", "kind"), [("I32", "random"), ("I32", "falling"), ("U8", "equal")])
def test_parts_of_long_segments_by_threads_of_a_gpu(type, kind):
    """So few segments are cut into parts; one of them is shorter than k."""
    use_variant(type, "ipt_4.tpb_256.mb_1")
    x = ordered(kind, 120_000, type)
    for k in (1, 200, 2048):
        check(x, k, np.array([1, 119_000, 119_005]), "cpu", largest=type == "I32")
        check(x, k, np.array([0, 120_000]), "cpu", largest=type == "I32")


def test_skewed_lengths(device):
    x = inputs.random("F32", 300_000)
    for count in (30, 3000):
        check(x, 50, skewed(x.size, count), device)


@pytest.mark.parametrize("type", ["F16", "BF16", "F32", "F64"])
def test_special_values(device, type):
    x = np.array([0.0, np.nan, 1.0, -np.inf, -0.0, np.inf, 1e-40, -1.0, -np.nan], TYPES[type])
    many = np.concatenate([x, np.repeat(x, 1000)])
    found = cubc.segmented_topk(on(device, many), 9, on(device, np.array([0, 9, many.size])))
    indices = np.asarray(found[1])
    np.testing.assert_array_equal(indices[0], cubc.argsort(x, descending=True))
    np.testing.assert_array_equal(
        indices[1], np.asarray(cubc.argsort(many[9:], descending=True))[:9]
    )


def test_a_kernel_of_the_cpu_is_for_rows_of_any_size(tmp_path):
    """And for any k; a sort in place is a sort."""
    said = isolated.output(
        """if True:
            import logging, sys
            import numpy as np
            import cubc

            logging.basicConfig(level=logging.INFO, stream=sys.stdout)
            x = np.arange(18_000)
            for size in (40, 300, 3000, 9000):
                for k in (1, min(size, 300)):
                    cubc.segmented_topk(x, k, segment_size=size, device="cpu")
            cubc.sort(x, device="cpu")
            cubc.sort(x, out=x, device="cpu")
        """,
        CUBC_CACHE=tmp_path,
    )
    assert said.count(" compiled in ") == 2


def test_bools(device):
    x = inputs.random("I8", 30_000) > 90
    offsets = edges(x.size, 200)
    expected = best(x.astype("i4"), 40, offsets)
    keys, indices = cubc.segmented_topk(on(device, x), 40, on(device, offsets))
    same(keys, expected[0].astype(bool))
    same(indices, expected[1])


def test_lazy_keys(device):
    x = inputs.random("I32", 30_000) // 4
    offsets = on(device, edges(x.size, 700))
    lazy = cubc.lazy("x * -3", x=on(device, x))
    for found, expected in zip(
        cubc.segmented_topk(lazy, 9, offsets),
        cubc.segmented_topk(on(device, x * -3), 9, offsets),
        strict=True,
    ):
        same(found, expected)


@pytest.mark.usefixtures("policies")
@pytest.mark.parametrize("label", ["base", "ipt_4.tpb_256.mb_1"], ids=["cpu", "gpu"])
def test_segments_behind_2_32_items(label):
    _core.use_policy("segmented_topk.segments", {"T{ct}": "I32"}, "cpu", label)
    keys = cubc.lazy("(int)(i * 2654435761ull) >> 8", size=2**32 + 50_000, dtype="int32")
    offsets = 2**32 + np.array([-5, 100, 30_000, 40_000])
    x = (np.arange(2**32 - 5, 2**32 + 40_000) * 2654435761).astype("i4") >> 8
    for part, expected in zip(
        cubc.segmented_topk(keys, 100, offsets), best(x, 100, offsets - offsets[0]), strict=True
    ):
        same(part, expected)


def test_outputs_and_unaligned_keys(device):
    x = cubc.asarray(inputs.random("I16", 10_001), device=device)[1:]
    out = cubc.empty((10, 6), "int16", device=device), cubc.empty((10, 6), "int64", device=device)
    found = cubc.segmented_topk(x, 6, segment_size=1000, out=out)
    assert found[0] is out[0]
    assert found[1] is out[1]
    for part, expected in zip(out, best(x.numpy(), 6, range(0, 10_001, 1000)), strict=True):
        same(part, expected)


def test_nothing(device):
    for x, k, offsets in (
        (np.zeros(5), 0, [0, 2, 5]),
        (np.zeros(5), 3, [2]),
        (np.zeros(0), 2, [0, 0]),
    ):
        check(x, k, np.array(offsets), device)


def test_offsets_that_lie(device):
    """Whatever they are, nothing is read or written outside of the arrays."""
    x = cubc.asarray(inputs.random("I32", 5000), device=device)
    offsets = cubc.asarray(np.array([-9, 4000, 100, 2**62, -(2**62), 5000, 7000]), device=device)
    keys, indices = cubc.segmented_topk(x, 20, offsets)
    assert keys.shape == indices.shape == (6, 20)
    assert np.asarray(indices).max() < 5000
    same(np.asarray(keys)[0], best(np.asarray(x), 20, [0, 4000])[0][0])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: cubc.segmented_topk(x, 2), ValueError, "one of the two"),
        (
            lambda x: cubc.segmented_topk(x, 6, segment_size=5),
            ValueError,
            "k is 6, .* 5 keys",
        ),
        (lambda x: cubc.segmented_topk(x, -1, segment_size=5), ValueError, "out of range"),
        (lambda x: cubc.segmented_topk(x, 1.5, segment_size=5), TypeError, "expected an int"),
        (lambda x: cubc.segmented_topk(x, 2049, [0, 10]), ValueError, "up to 2048 keys"),
        (lambda x: cubc.segmented_topk(x, 2, [0, 5, 3]), ValueError, "must not fall"),
        (lambda x: cubc.segmented_topk(x, 2, [0.0, 5.0]), TypeError, "are integers, not float64"),
        (lambda x: cubc.segmented_topk(x.reshape(2, 5), 2, [0, 5]), ValueError, "one dimension"),
        (lambda x: cubc.segmented_topk(x, 2, segment_size=5, out=x), TypeError, "tuple of two"),
        (
            lambda x: cubc.segmented_topk(x, 5, segment_size=5, out=(x.reshape(2, 5), x)),
            ValueError,
            "out has the shape|shape",
        ),
        (
            lambda x: cubc.segmented_topk(
                x, 5, segment_size=5, out=(x.reshape(2, 5), x.copy().reshape(2, 5))
            ),
            ValueError,
            "where the keys are",
        ),
    ],
)
def test_wrong_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call(np.arange(10))


@st.composite
def any_segments(draw):
    """Keys with a few values or many, k, and offsets."""
    lengths = draw(st.lists(st.integers(0, 3000), min_size=1, max_size=40))
    seed, bits = draw(st.integers(0, 2**32 - 1)), draw(st.integers(0, 63))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    x = np.random.default_rng(seed).integers(0, 2**63, offsets[-1]) >> bits
    return x, draw(st.integers(1, 2048)), offsets


@settings(max_examples=30)
@given(any_segments(), st.booleans())
def test_any_segments(segments, largest):
    check(*segments, "cpu", largest=largest)
