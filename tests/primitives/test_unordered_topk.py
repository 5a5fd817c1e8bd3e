"""segmented_topk and topk along an axis with sorted=False: the items of the result in order."""

import isolated
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs import TYPES, in_turn, on, same
from test_segmented_topk import KINDS, MANY, any_segments, best, edges, order_of, ordered

import cubc
from cubc import _core


def arranged(keys, indices):
    """Put the items of each row in the order of their indices."""
    keys, indices = np.asarray(keys), np.asarray(indices)
    order = np.argsort(indices, axis=-1, kind="stable")
    return np.take_along_axis(keys, order, -1), np.take_along_axis(indices, order, -1)


def check(x, k, offsets, device, largest=True):
    found = cubc.segmented_topk(
        on(device, x), k, on(device, offsets), largest=largest, sorted=False
    )
    expected = arranged(*best(x, k, offsets, largest))
    for part, items in zip(arranged(*found), expected, strict=True):
        same(part, items)


def check_rows(x, k, device, largest=True):
    found = cubc.topk(on(device, x), k, largest=largest, sorted=False)
    order = np.sort(order_of(x, largest)[:, :k])
    keys, indices = arranged(*found)
    same(indices, order)
    same(keys, np.take_along_axis(x, order, 1))


def use_variant(type, label):
    """Run segments and rows of the cpu by a variant, such as one for a GPU."""
    for benchmark in ("segmented_topk.segments.unordered", "segmented_topk.rows.unordered"):
        _core.use_policy(benchmark, {"T{ct}": type}, "cpu", label)


@pytest.mark.parametrize(("type", "largest"), in_turn(TYPES, [True, False], 2))
def test_every_type(device, type, largest):
    for n, mean in ((1, 1), (5000, 20), (20_000, 150), (40_000, 9000)):
        for kind in ("random", "few"):
            x = ordered(kind, n, type)
            for k in (1, 10):
                check(x, k, edges(n, mean), device, largest)
                check_rows(x[: n // mean * mean].reshape(-1, mean), min(k, mean), device, largest)


@pytest.mark.some(2)  # in order, test_segmented_topk.py has all of them
@pytest.mark.parametrize(
    ("threads", "type"), [(64, "U8"), (128, "F32"), (192, "I64")], ids=["U8", "F32", "I64"]
)
@pytest.mark.usefixtures("policies")
def test_segments_and_rows_of_a_gpu(threads, type):
    """By lanes with 2, 4 and 8 items each, by warps, and by blocks, among others that are longer.

    The k-th key's range is a crowd, or its items are taken by their indices.
    """
    use_variant(type, f"ipt_4.tpb_{threads}.mb_1")
    for kind in KINDS:
        for size, rows in ((40, 9), (100, MANY), (256, MANY), (300, MANY), (1000, 1)):
            x = ordered(kind, rows * size, type)
            for k in {1, 8, 32, size // 2, size if size < 257 else 256}:
                check_rows(x.reshape(-1, size), k, "cpu", largest=type != "I64")
        for size, k in ((5000, 100), (8192, 2048), (2049, 2049 - 1)):
            check_rows(ordered(kind, size, type).reshape(1, -1), k, "cpu", largest=type != "F32")
    x = ordered("random", 60_000, type)
    for k in (1, 40, 256, 1000):
        check(x, k, np.array([0, 700, 700, 9000, 9010, 59_000, 60_000]), "cpu")
        check(x, k, edges(x.size, 200), "cpu")


@pytest.mark.parametrize(("threads", "type"), in_turn([128, 512], ["I8", "F32", "I64"], 3), ids=str)
@pytest.mark.usefixtures("policies")
def test_one_row_by_a_block_that_halves_the_range(threads, type):
    """Blocks of a key or two a thread; all are one key, or differ in the first or the last bit."""
    use_variant(type, f"ipt_4.tpb_{threads}.mb_1")
    for size in (1, 2, 33, 127, 128, 129, 256, 300, 512, 1000, 2048):
        for kind in KINDS:
            x = ordered(kind, size, type).reshape(1, -1)
            for k in {1, min(8, size), (size + 1) // 2, max(1, size - 1), size}:
                check_rows(x, k, "cpu", largest=k % 2 == 0)
    ends = np.iinfo(TYPES[type]) if type != "F32" else np.finfo("f4")
    for low, high in ((3, 3), (2, 3), (ends.min, ends.max)):
        x = np.where(np.arange(300) % 7 == 3, low, high).astype(TYPES[type]).reshape(1, -1)
        for k in (1, 43, 44, 299):
            check_rows(x, k, "cpu", largest=False)


@pytest.mark.parametrize(("type", "kind"), in_turn(["U8", "F32", "I64"], KINDS, 2))
def test_long_rows(device, type, kind):
    """By clusters where a device has them, and in parts where they are too many."""
    for rows, columns, k in ((1, 131_072, 2048), (3, 50_001, 100), (20, 40_000, 1000)):
        x = ordered(kind, rows * columns, type).reshape(rows, columns)
        check_rows(x, k, device, largest=type != "F32")


@pytest.mark.parametrize("type", ["F16", "BF16", "F32", "F64"])
def test_special_values(device, type):
    """NaN above all numbers, -0.0 below 0.0, of equal keys the first."""
    x = np.array([0.0, np.nan, 1.0, -np.inf, -0.0, np.inf, 1e-40, -1.0, -np.nan], TYPES[type])
    rows = np.concatenate([np.tile(x, 20), np.repeat(x, 20)]).reshape(2, -1)
    for k in (1, 19, 45, 90, 110, 179, 180):
        for largest in (True, False):
            found = cubc.topk(on(device, rows), k, largest=largest, sorted=False)
            whole = cubc.topk(on(device, rows), k, largest=largest)
            for part, items in zip(arranged(*found), arranged(*whole), strict=True):
                same(part, items)


@pytest.mark.parametrize("label", ["base", "ipt_4.tpb_128.mb_1"], ids=["cpu", "gpu"])
def test_the_order_is_the_same_in_each_call(label):
    """Whatever the order of the threads is."""
    said = {
        isolated.output(
            f"""if True:
                import hashlib
                import numpy as np
                import cubc
                from cubc import _core

                for benchmark in ("segments", "rows"):
                    name = "segmented_topk." + benchmark + ".unordered"
                    _core.use_policy(name, {{"T{{ct}}": "I32"}}, "cpu", {label!r})
                x = (np.arange(80_000) * 2654435761 >> 5).astype("i4") % 3000
                for size, k in ((100, 20), (250, 60), (4000, 1000), (16_000, 500)):
                    found = cubc.segmented_topk(x, k, segment_size=size, sorted=False, device="cpu")
                    print(hashlib.md5(found[1].tobytes()).hexdigest())
            """,
            CUBC_SIMT_SEED=seed,
        )
        for seed in ("1", "2", "3")
    }
    assert len(said) == 1
    assert len(set(said.pop().split())) == 4


@pytest.mark.usefixtures("policies")
@pytest.mark.parametrize("benchmark", ["segmented_topk.rows", "segmented_topk.segments"])
def test_variants_are_compared_item_by_item_in_one_order(benchmark):
    rt = {"Elements": 20_000, "SegmentSize": 500, "K": 100}
    work = _core.Workload(benchmark + ".unordered", {"T{ct}": "F32"}, rt, "cpu")
    variants = [work.variant(label) for label in ("base", "ipt_4.tpb_64.mb_1")]
    assert [work.verify(variant) for variant in variants] == [0, 0]
    work.poison()
    assert work.wrong() > 0


def test_policies_of_an_ordered_result_are_those_of_an_unordered_one():
    """Rows of policies.def are for benchmarks of which their name is the first words."""
    for elements, size, k in ((1 << 24, 131_072, 1000), (1 << 24, 300, 100), (50_000, 1500, 10)):
        rt = {"Elements": elements, "SegmentSize": size, "K": k}
        for benchmark in ("segmented_topk.rows", "segmented_topk.segments"):
            labels = {
                _core.policy(benchmark + order, {"T{ct}": "F32"}, "sm_90", rt)
                for order in ("", ".unordered")
            }
            assert len(labels) == 1


@settings(max_examples=30)
@given(any_segments(), st.booleans())
def test_any_segments(segments, largest):
    x, k, offsets = segments
    check(x, k, offsets, "cpu", largest)
    if offsets[1] >= k:
        check_rows(x[: offsets[1]].reshape(1, -1), k, "cpu")
