"""sort, argsort and sort_pairs against NumPy, bit for bit."""

import inputs
import isolated
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from inputs import TYPES, in_turn, on

import cubc
from cubc import _core
from cubc._core import call

MANTISSA = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}
SOME = ("I8", "U16", "F16", "I32", "F64")
BOTH_WAYS = ("I8", "I32", "F32", "F64")  # types that other tests sort in both directions


def bits(x):
    x = np.ascontiguousarray(x)
    return x.view(f"u{x.dtype.itemsize}")


def ordered(x):
    """Unsigned numbers in the order of the keys: -0 before 0, NaN last, NaNs by their bits."""
    key = bits(x).astype(np.uint64)
    width = np.uint64(8 * x.dtype.itemsize)
    sign, whole = np.uint64(1) << width - np.uint64(1), (1 << int(width)) - 1
    if x.dtype.kind == "i":
        return key ^ sign
    if x.dtype.name not in MANTISSA:
        return key
    negative_nans = np.uint64((1 << MANTISSA[x.dtype.name]) - 1)
    return (np.where(key & sign, ~key, key | sign) - negative_nans) & np.uint64(whole)


def order(x, descending=False):
    """The indices of the stable sort."""
    keys = ~ordered(x) if descending else ordered(x)
    if x.dtype.itemsize > 4:
        return np.argsort(keys, kind="stable")
    numbered = keys << np.uint64(32) | np.arange(x.size, dtype=np.uint64)  # sorted much faster
    return (np.sort(numbered) & np.uint64(0xFFFFFFFF)).astype(np.int64)


def same_bits(result, expected):
    result = np.asarray(result)
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(bits(result), bits(expected))


def keys(type, n, seed=0):
    """Keys of all bit patterns, floats too: infinities, denormals, NaNs of either sign."""
    size = np.dtype(TYPES[type]).itemsize
    draw = np.random.default_rng(seed)
    return draw.integers(0, 256, n * size, dtype=np.uint8).view(TYPES[type])


def check(device, x, **options):
    """Sort, and give the order."""
    by = order(x, options.get("descending", False))
    same_bits(cubc.sort(on(device, x), **options), x[by])
    same_bits(cubc.argsort(on(device, x), **options), by)
    return by


# ---- types and sizes -----------------------------------------------------------------------------
@pytest.mark.parametrize("type", TYPES)
def test_every_type(device, type):
    for n in (0, 1, 2, 3, 1000, 70_001):
        check(device, keys(type, n, seed=n))


@pytest.mark.parametrize(
    ("call", "type"),
    [(call, type) for call in ("sort", "argsort") for type in BOTH_WAYS]
    + in_turn(("sort", "argsort"), [type for type in TYPES if type not in BOTH_WAYS], 4),
)
def test_descending(device, call, type):
    for n in (0, 1, 2, 3, 1000, 70_001):
        x = keys(type, n, seed=n)
        by = order(x, descending=True)
        result = getattr(cubc, call)(on(device, x), descending=True)
        same_bits(result, x[by] if call == "sort" else by)


@pytest.mark.parametrize("type", ["I8", "F32", "U64"])
def test_boundaries_of_the_policy(device, type):
    values = inputs.policy("sort.keys", type, device, Elements=1 << 16)
    tile = values["ipt"] * values["tpb"]
    x = keys(type, 5 * tile + 1)
    for n in {edge + d for edge in (32, tile, 2 * tile, 5 * tile) for d in (-1, 0, 1)}:
        same_bits(cubc.sort(on(device, x[:n])), x[:n][order(x[:n])])


def test_bool(device):
    x = keys("U8", 70_001) > 100
    np.testing.assert_array_equal(np.asarray(cubc.sort(on(device, x))), np.sort(x))


@pytest.mark.parametrize("type", SOME)
def test_as_numpy(device, type):
    x = keys(type, 100_003)
    np.testing.assert_array_equal(np.asarray(cubc.sort(on(device, x))), np.sort(x))


# ---- distributions -------------------------------------------------------------------------------
@pytest.mark.parametrize("type", SOME)
def test_distributions(device, type):
    draw = np.random.default_rng(1)
    n = 150_001
    ascending = np.sort(keys(type, n))
    few = np.array([3, -1, 0, 100, 7]).astype(TYPES[type])
    for x in (ascending, ascending[::-1].copy(), few[draw.integers(0, 5, n)], few[:1].repeat(n)):
        check(device, x)


@pytest.mark.parametrize("type", ["I8", "U16", "I32", "F32"])
def test_many_items_of_few_keys(device, type):
    """On the cpu a bin may then be a key, and its items are not moved."""
    draw = np.random.default_rng(5)
    for high in (1, 2, 30):
        x = (draw.integers(0, high, 300_001) + (type != "U16") * -7).astype(TYPES[type])
        for descending in (False, True):
            expected = np.sort(x)[::-1] if descending else np.sort(x)
            same_bits(cubc.sort(on(device, x), descending=descending), expected)


@pytest.mark.parametrize("n", [60_000, 300_000])  # within a tile of the cpu, and in bins
@pytest.mark.parametrize(("type", "spread"), in_turn(["I64", "U32"], [1, 100, 2**16, 2**40], 2))
def test_keys_that_agree_in_their_high_bits(device, type, spread, n):
    """Clusters of clusters of keys, far from each other, of small or of large numbers."""
    draw = np.random.default_rng(n)
    dtype, bits = np.dtype(TYPES[type]), 8 * np.dtype(TYPES[type]).itemsize
    clusters = (draw.integers(0, 3, n) << bits - 4) + (draw.integers(0, 3, n) << bits - 14)
    x = (clusters + draw.integers(0, min(spread, 2 ** (bits - 15)), n)).astype(dtype)
    x[n // 2] = np.iinfo(dtype).max
    check(device, x)


def spreads(dtype, n):
    """Floats that bins by value or by the highest bits share out well, badly, or not at all."""
    draw, real = np.random.default_rng(n), np.finfo(dtype)
    even, normal = draw.random(n), draw.standard_normal(n)
    yield even
    yield normal
    with np.errstate(over="ignore"):
        yield normal * np.exp(20 * draw.standard_normal(n))  # of every size
    yield np.where(np.arange(n) == n // 3, 1e30, even)  # one far away
    yield np.where(even < 0.5, real.min, real.max) * even  # to the ends of the range
    yield 1 + draw.integers(0, 1000, n) * real.eps  # neighbours
    yield draw.integers(-1000, 1000, n) * real.smallest_subnormal
    yield np.where(even < 0.1, np.inf, np.where(even > 0.9, -np.inf, normal))
    yield np.where(even < 0.1, np.nan, normal)


@pytest.mark.parametrize(("type", "descending"), in_turn(["F32", "F64"], [False, True], 2))
def test_floats_of_any_spread(device, type, descending):
    dtype = np.dtype(TYPES[type])
    for x in spreads(dtype, 90_001):
        x = x.astype(dtype)
        expected = x[check(device, x, descending=descending)]
        in_place = on(device, x)
        cubc.sort(in_place, out=in_place, descending=descending)
        same_bits(in_place, expected)


@pytest.mark.some(1)
@pytest.mark.parametrize(("call", "dtype"), [("sort", "f4"), ("argsort", "f8")])
def test_products(device, as_users_have, call, dtype):
    """A pass in which a lazy product is fused with what is done to it finds other bins."""
    draw = np.random.default_rng(4)
    x, y = draw.random(1_000_000).astype(dtype), (draw.random(1_000_000) + 0.3).astype(dtype)
    lazy = cubc.lazy("x * y", x=on(device, x), y=on(device, y))
    by = np.argsort(x * y, kind="stable")
    same_bits(getattr(cubc, call)(lazy), (x * y)[by] if call == "sort" else by)


@pytest.mark.parametrize("type", inputs.FLOATS)
def test_special_values(device, type):
    dtype = np.dtype(TYPES[type])
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1, -1], dtype)
    tiny = np.array([1, 2], f"u{dtype.itemsize}").view(dtype)  # denormals
    x = np.random.default_rng(2).choice(np.concatenate([special, tiny, -tiny]), 50_000)
    check(device, x)
    result = np.asarray(cubc.sort(on(device, x))).astype(np.float64)
    nans = np.isnan(x.astype(np.float64)).sum()
    assert np.isnan(result[-nans:]).all()
    assert not np.isnan(result[:-nans]).any()
    zeros = np.signbit(result[result == 0])
    assert (np.diff(zeros.astype(int)) <= 0).all()


# ---- pairs ---------------------------------------------------------------------------------------
VALUES = {
    1: lambda n: np.arange(n).astype(np.uint8),
    2: lambda n: np.arange(n).astype(np.int16),
    4: lambda n: np.arange(n, dtype=np.float32),
    8: lambda n: np.arange(n, dtype=np.int64),
    16: lambda n: np.arange(2 * n, dtype=np.uint64).reshape(n, 2),
}


@pytest.mark.parametrize(("type", "size"), in_turn(["I8", "BF16", "I32", "F64"], VALUES, 4))
def test_pairs(device, type, size):
    for n in (0, 1, 1000, 200_001):
        x, v = keys(type, n, seed=n) // 3 if type == "I32" else keys(type, n), VALUES[size](n)
        by = order(x)
        sorted_keys, values = cubc.sort_pairs(on(device, x), on(device, v))
        same_bits(sorted_keys, x[by])
        assert np.asarray(values).shape == v.shape
        same_bits(values, v[by])


@pytest.mark.parametrize("size", [16, 8, 4])
def test_arrays_off_the_lines_of_a_cache(size):
    """Items do not start on multiples of their size, or of 64 bytes. Keys of two digits."""
    n, words = 200_001, max(1, size // 8)
    x = (keys("U32", n + 1) >> 16)[1:]
    v = np.arange(words * n + 1, dtype=np.uint64 if size > 4 else np.uint32)[1:].reshape(n, words)
    out = np.empty(n + 3, np.uint32)[3:], np.empty(words * n + 3, v.dtype)[3:].reshape(n, words)
    cubc.sort_pairs(x, v, out=out, device="cpu")
    same_bits(out[0], x[order(x)])
    same_bits(out[1], v[order(x)])


def test_rows_of_small_items_are_values(device):
    x, v = keys("I16", 5000), np.arange(10_000, dtype=np.int16).reshape(5000, 2, 1)
    _, values = cubc.sort_pairs(on(device, x), on(device, v))
    np.testing.assert_array_equal(np.asarray(values), v[order(x)])


@pytest.mark.parametrize("descending", [False, True])
def test_stable(device, descending):
    x = (keys("U32", 300_001) % 7).astype(np.int32) - 3
    check(device, x, descending=descending)


# ---- bits ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("begin", "end"), [(0, 8), (0, 1), (31, 32), (3, 14), (8, 32), (0, 0), (17, 17)]
)
@pytest.mark.parametrize("in_place", [False, True])
def test_bits(device, begin, end, in_place):
    x = keys("U32", 100_001)
    by = np.argsort((x.astype(np.uint64) >> begin) & ((1 << end - begin) - 1), kind="stable")
    d = on(device, x.copy())
    out = d if in_place else None
    same_bits(cubc.sort(d, begin_bit=begin, end_bit=end, out=out), x[by])


def test_bits_with_blocks_of_threads():
    """The first pass lets equal keys change places, but not where bits of them are left out."""
    code = """if True:
        import numpy as np
        import cubc
        from cubc import _core

        label = "ipt_5.tpb_128.mb_1.lb_1.hc_0.la_0.ord_0.shr_4.bin_0"
        _core.use_policy("sort.keys", {"T{ct}": "U32"}, "cpu", label)
        x = np.random.default_rng(0).integers(0, 2**32, 3000, np.uint32) & 0x0F0FFF
        for begin, end in ((0, 32), (8, 32), (0, 12)):
            by = np.argsort(x >> begin & (1 << end - begin) - 1, kind="stable")
            result = cubc.sort(x, begin_bit=begin, end_bit=end, device="cpu")
            print(np.count_nonzero(result != x[by]))
    """
    assert isolated.output(code, CUBC_SIMT_SEED=1).split() == ["0", "0", "0"]


def test_bits_of_signed_keys(device):
    """The sign is the highest bit, and its being set comes first."""
    x = keys("I16", 50_000)
    high = x >> 8
    result = cubc.sort(on(device, x), begin_bit=8, descending=True)
    same_bits(result, x[np.argsort(-high, kind="stable")])


# ---- outputs -------------------------------------------------------------------------------------
@pytest.mark.parametrize("type", ["I8", "I16", "F32", "I64"])  # 1, 2, 4 and 8 passes
@pytest.mark.parametrize("n", [1000, 200_001])
def test_in_place(device, type, n):
    x, v = keys(type, n), np.arange(n, dtype=np.uint32)
    d = on(device, x.copy())
    assert cubc.sort(d, out=d) is d
    same_bits(d, x[order(x)])
    d, w = on(device, x.copy()), on(device, v.copy())
    result = cubc.sort_pairs(d, w, out=(d, w))
    assert result[0] is d
    assert result[1] is w
    same_bits(d, x[order(x)])
    same_bits(w, v[order(x)])


def test_the_input_stays(device):
    x = keys("I64", 100_000)
    d = on(device, x.copy())
    cubc.sort(d)
    cubc.argsort(d)
    same_bits(d, x)


def test_workspace(device):
    x = keys("I32", 300_001)
    workspace = np.full(3 << 18, 0xFF, np.uint64)
    first = -workspace.ctypes.data % 256 // 8
    workspace = on(device, workspace[first:] if device == "cpu" else workspace)
    for _ in range(3):
        same_bits(cubc.sort(on(device, x), workspace=workspace), x[order(x)])
    with pytest.raises(ValueError, match="the workspace has 8 bytes"):
        cubc.sort(on(device, x), workspace=workspace[:1] if device == "cpu" else on(device, x[:2]))


def test_a_workspace_that_overlaps(device):
    storage = np.zeros(1 << 19, np.uint64)
    storage = storage[-storage.ctypes.data % 256 // 8 :]
    workspace = storage if device == "cpu" else on(device, storage)
    x = keys("U64", 100_000)
    for sort in (
        lambda: cubc.sort(workspace[:100_000], workspace=workspace),
        lambda: cubc.sort(on(device, x), out=workspace[:100_000], workspace=workspace),
        lambda: cubc.reduce(cubc.lazy("a * 2", a=workspace[:1000]), workspace=workspace),
    ):
        with pytest.raises(ValueError, match="the workspace overlaps"):
            sort()


def test_many_in_a_row(device):
    """Launches share their messages' memory: none may take another's for its own."""
    x = keys("U16", 200_000)
    for n in (200_000, 1, 100_001, 70_000, 200_000):
        for _ in range(5):
            same_bits(cubc.sort(on(device, x[:n])), x[:n][order(x[:n])])
            assert int(cubc.sum(on(device, x[:n]))) == x[:n].sum()


# ---- errors --------------------------------------------------------------------------------------
def test_errors(device):
    x = on(device, keys("I32", 100))
    with pytest.raises(ValueError, match=r"one dimension, not of the shape \(10, 10\)"):
        cubc.sort_pairs(on(device, keys("I32", 100).reshape(10, 10)), x)
    with pytest.raises(ValueError, match="there are no bits 0 to 33 in keys of I32"):
        cubc.sort(x, end_bit=33)
    with pytest.raises(ValueError, match="there are no bits 9 to 8"):
        cubc.sort(x, begin_bit=9, end_bit=8)
    with pytest.raises(ValueError, match="there are no bits 5 to 0"):
        cubc.sort(x, begin_bit=5, end_bit=0)
    with pytest.raises(ValueError, match="there are no bits 0 to -1"):
        cubc.sort(x, end_bit=-1)
    with pytest.raises(TypeError, match="did you mean 'descending'"):
        cubc.sort(x, decending=True)
    with pytest.raises(ValueError, match="99 values and 100 keys"):
        cubc.sort_pairs(x, on(device, np.zeros((99, 3), np.int32)))
    with pytest.raises(ValueError, match="values of sort_pairs has 99 items and keys 100"):
        cubc.sort_pairs(x, on(device, keys("I8", 99)))
    with pytest.raises(TypeError, match="a tuple of two arrays"):
        cubc.sort_pairs(x, x, out=x)
    with pytest.raises(TypeError, match="int32"):
        cubc.sort(x, out=on(device, keys("F32", 100)))


def test_indices_that_do_not_fit(device):
    """A call of the C interface: Python's are of 8 bytes."""
    x = on(device, keys("I32", 1000))
    of = {"keys_in": x, "keys_out": ("keys_in", (1000,), None)}
    with pytest.raises(TypeError, match="sort gives indices of 1 bytes: those of 1000 items"):
        call("sort", of | {"values_out": ("uint8", (1000,), None)})
    segments = of | {"segments": 1}
    with pytest.raises(TypeError, match="segmented_sort gives indices of 1 bytes"):
        call("segmented_sort", segments | {"values_out": ("uint8", (1000,), None)})
    found = call("sort", of | {"values_out": ("uint16", (1000,), None)})[1]
    np.testing.assert_array_equal(found, np.argsort(np.asarray(x), kind="stable"))


def test_an_output_with_strides_may_lie_on_the_input():
    """It is written after all items were read."""
    x = np.array([[3, 1, 2], [9, 7, 8]])
    cubc.sort(x, out=x[:, ::-1])
    np.testing.assert_array_equal(x, [[3, 2, 1], [9, 8, 7]])
    flat = x.reshape(-1)
    cubc.sort(flat, out=flat[::-1])
    np.testing.assert_array_equal(flat, [9, 8, 7, 3, 2, 1])
    cubc.sort(flat[::-1], out=flat)
    np.testing.assert_array_equal(flat, [1, 2, 3, 7, 8, 9])


def test_overlaps_are_refused():
    x = np.arange(200, dtype=np.int32)
    with pytest.raises(ValueError, match="overlap"):
        cubc.sort(x[:100], out=x[50:150])
    v = np.arange(100, dtype=np.int32)
    with pytest.raises(ValueError, match="overlap"):  # as long, but of the other input
        cubc.sort_pairs(x[:100], v, out=(v, x[100:]))
    with pytest.raises(ValueError, match="two outputs overlap"):
        cubc.sort_pairs(x[:100], v, out=(x[100:], x[100:]))


# ---- any arrays ----------------------------------------------------------------------------------
@settings(max_examples=40)
@given(
    x=hnp.arrays(
        st.sampled_from([TYPES[type] for type in BOTH_WAYS]),
        st.integers(0, 3000),
        elements=None,
        fill=st.nothing(),
    ),
    descending=st.booleans(),
)
def test_random_arrays(device, x, descending):
    check(device, x, descending=descending)


def test_a_benchmark_verifies_keys_and_values():
    workload = _core.Workload("sort.pairs", {"T{ct}": "I16"}, {"Elements{io}[pow2]": 16}, "cpu")
    assert workload.bytes == 2 * (2 + 4) * 2**16
    assert workload.verify(workload.variant("base")) == 0


# ---- memory of the caller's ----------------------------------------------------------------------
@pytest.fixture
def opened(device):
    """CFFI's handle, and the device of a test."""
    ffi, lib = cubc.ffi()
    place = ffi.new("cubc_device **")
    assert lib.cubc_device_open(device.encode(), place) == lib.CUBC_OK
    yield ffi, lib, place[0]
    lib.cubc_device_close(place[0])


def sort_in_pairs(opened, arrays, n, value_bytes, **members):
    """Sort keys (and values) in place, with others to work in; the bytes of temporary storage."""
    ffi, lib, handle = opened
    params = ffi.new("cubc_sort_params *", {"n": n, "type": lib.CUBC_I32, **members})
    params.value_bytes = value_bytes
    for name, array in arrays.items():
        setattr(params, name, ffi.cast("void *", array.ptr))
    needed = ffi.new("size_t *")
    status = lib.cubc_sort_temp_bytes(handle, params, needed)
    if not status:
        status = lib.cubc_sort(handle, params, ffi.NULL, 0, ffi.NULL)
    if not status:
        status = lib.cubc_synchronize(handle, ffi.NULL)
    return status, needed[0]


@pytest.mark.parametrize(
    ("n", "descending"), [(0, 0), (1, 1), (1000, 0), (300_001, 1), (1_000_003, 0)]
)
def test_double_buffers(opened, device, n, descending):
    """The result is where the keys were, and temporary storage a small part of them."""
    x, v = keys("I32", n), np.arange(n, dtype=np.float32)
    order = np.argsort(-x.astype(np.int64) if descending else x, kind="stable")
    a, spare, w, other = (cubc.asarray(one, device=device) for one in (x, x * 0, v, v * 0))
    arrays = {"keys_in": a, "keys_out": a, "keys_spare": spare}
    status, alone = sort_in_pairs(opened, arrays, n, 0, descending=descending)
    assert status == 0
    same_bits(a, x[order])
    assert n < 1_000_000 or alone < x.nbytes / 2
    a = cubc.asarray(x, device=device)
    arrays |= {"keys_in": a, "keys_out": a}
    arrays |= {"values_in": w, "values_out": w, "values_spare": other}
    status, pairs = sort_in_pairs(opened, arrays, n, 4, descending=descending)
    assert status == 0
    same_bits(a, x[order])
    same_bits(w, v[order])
    assert n < 1_000_000 or pairs < x.nbytes / 2
    kept = cubc.asarray(x, device=device)  # what is sorted may stay, too
    status, _ = sort_in_pairs(opened, arrays | {"keys_in": kept}, n, 4, descending=descending)
    assert status == 0
    same_bits(kept, x)


def test_double_buffers_that_are_refused(opened, device):
    ffi, lib, _ = opened
    a, spare = (cubc.asarray(keys("I32", 100), device=device) for _ in range(2))
    arrays = {"keys_in": a, "keys_out": a}
    assert sort_in_pairs(opened, arrays | {"keys_spare": a}, 100, 0)[0] == lib.CUBC_INVALID_ARGUMENT
    assert "the workspace overlaps" in ffi.string(lib.cubc_error_message()).decode()
    arrays |= {"values_out": cubc.asarray(np.zeros(100), device=device), "keys_spare": spare}
    assert sort_in_pairs(opened, arrays, 100, 8)[0] == lib.CUBC_INVALID_ARGUMENT
    assert "values_spare is NULL" in ffi.string(lib.cubc_error_message()).decode()
    arrays |= {"values_spare": spare}
    assert sort_in_pairs(opened, arrays, 100, 4)[0] == lib.CUBC_INVALID_ARGUMENT
    assert "must be apart" in ffi.string(lib.cubc_error_message()).decode()
