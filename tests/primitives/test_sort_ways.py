"""The ways that sort goes by the number of items and by what the keys are.

Few items are sorted by one block or by the blocks of a cluster. More are split into bins, which
blocks sort one by one, if the keys do not crowd in some of them; else there is a pass for each
digit that not all keys share. Tiles are small here, so that few keys take every way; the cpu, which
has no clusters, runs the same variants with blocks of threads.
"""

import numpy as np
import pytest
from every_case import EVERY_CASE

import cubc
from cubc import _core

TILE, MOST = 512, 16  # items; tiles of a cluster
LABEL = "ipt_4.tpb_128.mb_1.lb_2.hc_1.la_0.ord_{order}.shr_{share}.bin_{bin}"
SIZES = {
    "cpu": (1, TILE + 1, 1500),
    "cuda:0": (1, 31, TILE, TILE + 1, 3000, MOST * TILE - 1, MOST * TILE, MOST * TILE + 1, 30_000),
}
TYPES = {"u1": "U8", "i2": "I16", "i4": "I32", "f4": "F32", "u8": "U64", "f8": "F64"}


@pytest.fixture(params=["cpu", pytest.param("cuda:0", marks=pytest.mark.gpu)])
def variant(request, policies):
    """A device, and a function that has the sorts of a type run a variant there."""
    device = request.param
    arch = cubc.device_info(device)["arch"]

    def use(dtype, order=1, share=1, bin=8):
        for benchmark in ("sort.keys", "sort.pairs"):
            label = LABEL.format(order=order, share=share, bin=bin)
            _core.use_policy(benchmark, {"T{ct}": (TYPES | {"f2": "F16"})[dtype]}, arch, label)

    return device, use


def kinds(dtype, n):
    """Keys that are split, that crowd, and that share digits."""
    draw = np.random.default_rng(n)
    whole = draw.integers(0, 256, n * np.dtype(dtype).itemsize, np.uint8).view(dtype)
    small = draw.integers(0, 97, n).astype(dtype)
    if dtype[0] == "f":
        normal = draw.standard_normal(n).astype(dtype)
        normal[: n // 50] = np.array([np.inf, -np.inf, np.nan, 0], dtype)[np.arange(n // 50) % 4]
        yield "normal", normal
        yield "uniform", draw.random(n).astype(dtype)
        yield "negative", -draw.random(n).astype(dtype) - 5
        yield "of every size", np.exp(15 * draw.standard_normal(n)).astype(dtype)
        yield "of any bits", np.where(np.isnan(whole), np.array(0, dtype), whole)
        yield "infinite", np.full(n, np.inf, dtype)
    else:
        yield "random", whole
        yield "within a digit", (whole & np.array(0x0F, dtype)).astype(dtype)
        yield (
            "of two far ranges",
            np.where(small % 2, small, np.array(np.iinfo(dtype).max, dtype) - small),
        )
        yield "in the highest digit", small << np.array(np.dtype(dtype).itemsize * 8 - 7, dtype)
    yield "few", small
    yield "equal", np.full(n, 7)
    one = np.full(n, 2.0 ** (np.dtype(dtype).itemsize * 8 - 2))
    one[n // 3] = 0
    yield "equal but for one", one
    yield "sorted", np.sort(small)
    yield "in two digits", small % 3 + small % 2 * 16


def same(result, expected):
    result = result.numpy()
    kind = f"u{result.dtype.itemsize}"
    return (result.view(kind) == expected.view(kind)).all()


def check(device, x, what, turn):
    """Keys, indices and values, anywhere and in their places; on the cpu some of it in turn."""
    every = device != "cpu"

    def on(array):
        return cubc.asarray(array.copy(), device=device)

    by = np.argsort(x, kind="stable")
    values = np.arange(x.size, dtype="u4")[::-1].copy()
    assert same(cubc.sort(on(x)), x[by]), what
    if every or turn % 2:
        assert (cubc.argsort(on(x)).numpy() == by).all(), what
    if every or not turn % 2:
        d = on(x)
        assert same(cubc.sort(d, out=d), x[by]), what
    for way, (keys_stay, values_stay) in enumerate(((False, False), (True, True), (True, False))):
        if not every and turn % 3 != way:
            continue
        k, v = on(x), on(values)
        out = (k if keys_stay else on(x), v if values_stay else on(values))
        cubc.sort_pairs(k, v, out=out)
        assert same(out[0], x[by]), (what, keys_stay, values_stay)
        assert same(out[1], values[by]), (what, keys_stay, values_stay)


WAYS = [(1, 1, 8), (1, 1, 0), (2, 1, 0), (2, 3, 8)]  # order, share, bin
# A GPU has all types in every way. The cpu, which compiles for them alone, splits some, and has the
# other ways in turn: each with every third type, or with one.
SPLIT = ("u1", "i2", "f4", "u8") if EVERY_CASE else ("u1", "f4")
EVERY = 3 if EVERY_CASE else 6
TURNS = [
    pytest.param(
        dtype,
        *way,
        marks=[] if (dtype in SPLIT if w == 0 else (t + w) % EVERY == 0) else [pytest.mark.gpu],
    )
    for t, dtype in enumerate(TYPES)
    for w, way in enumerate(WAYS)
]


@pytest.mark.parametrize(("dtype", "order", "share", "bin"), TURNS)
def test_every_way(variant, dtype, order, share, bin):
    """Each kind of keys meets everything that check does: each type and way begins elsewhere.

    Of the cases of the cpu each has every second kind, where threads of a block are slow.
    """
    device, use = variant
    use(dtype, order, share, bin)
    sizes = SIZES[device]
    if device == "cpu" and (dtype != "i4" or order == 2):  # where blocks of threads are slow
        sizes = sizes[-1:]
    t, w = list(TYPES).index(dtype), WAYS.index((order, share, bin))
    some = slice((t + w // 2) % 2, None, 2)  # others for the other integers, and floats
    if device != "cpu" or EVERY_CASE:
        some = slice(None)
    for n in sizes:
        for turn, (kind, x) in enumerate(list(kinds(dtype, n))[some], t + w):
            check(device, x.astype(dtype), (n, kind), turn)


@pytest.mark.parametrize("order", [1, 2])
def test_bits(variant, order):
    """Bits that are left out keep their places, in whichever way."""
    device, use = variant
    use("u8", order=order)
    for n in SIZES[device][1:]:
        x = np.random.default_rng(n).integers(0, 2**63, n, "u8")
        for begin, end in ((0, 7), (8, 64), (30, 41), (0, 0), (60, 64)):
            by = np.argsort(x >> begin & ((1 << end - begin) - 1), kind="stable")
            result = cubc.sort(cubc.asarray(x, device=device), begin_bit=begin, end_bit=end)
            assert (result.numpy() == x[by]).all(), (n, begin, end)


@pytest.mark.parametrize(
    ("dtype", "order", "descending"),
    [("f2", 1, False), ("f4", 1, False), ("f4", 2, True), ("f8", 1, True), ("f8", 2, False)],
)
def test_bits_of_floats(variant, dtype, order, descending):
    """Bits are those of codes, of which NaNs with a sign are the lowest."""
    device, use = variant
    use(dtype, order=order)
    most = 8 * np.dtype(dtype).itemsize
    for n in SIZES[device][1:]:
        x = np.random.default_rng(n).integers(0, 256, n * most // 8, np.uint8).view(dtype)
        x[n // 2 :] = np.random.default_rng(n).standard_normal(n - n // 2)
        x[:4] = [np.nan, -np.nan, -0.0, 0.0]
        raw, values = x.view(f"u{most // 8}"), np.arange(n, dtype="u4")[::-1].copy()
        code = np.where(raw >> (most - 1), ~raw, raw | 1 << most - 1)
        for begin, end in ((0, 7), (4, 15), (8, most), (most - 4, most), (3, 3)):
            cut = code >> begin & ((1 << end - begin) - 1)
            by = np.argsort(~cut if descending else cut, kind="stable")
            d = cubc.asarray(x.copy(), device=device)
            options = {"begin_bit": begin, "end_bit": end, "descending": descending}
            made = cubc.sort_pairs(d, cubc.asarray(values, device=device), **options)
            assert same(made[0], x[by]) and same(made[1], values[by]), (n, begin, end)
            assert (cubc.argsort(d, **options).numpy() == by).all(), (n, begin, end)
            assert same(cubc.sort(d, **options), x[by]), (n, begin, end)
            assert same(cubc.sort(d, out=d, **options), x[by]), (n, begin, end)


@pytest.mark.parametrize(("dtype", "order"), [("i4", 1), ("f8", 2)])
def test_descending(variant, dtype, order):
    device, use = variant
    use(dtype, order=order)
    for n in SIZES[device][-1 if device == "cpu" else -2 :]:
        for kind, x in list(kinds(dtype, n))[:: 3 if device == "cpu" else 1]:
            x = x.astype(dtype)
            result = cubc.sort(cubc.asarray(x, device=device), descending=True)
            up = x[np.argsort(x, kind="stable")]
            assert same(result, up[::-1].copy()), (n, kind)
            by = cubc.argsort(cubc.asarray(x, device=device), descending=True).numpy()
            assert same(result, x[by]), (n, kind)
            equal = x[by][1:] == x[by][:-1]
            assert (by[1:] > by[:-1])[
                equal & (np.signbit(x[by][1:]) == np.signbit(x[by][:-1]))
            ].all()


@pytest.mark.parametrize("size", [2, 16])
def test_values_of_any_size(variant, size):
    device, use = variant
    for order in (1, 2):
        use("i4", order=order)
        for n in SIZES[device][-3:]:
            x = np.random.default_rng(n).integers(-(2**31), 2**31, n).astype("i4")
            values = np.random.default_rng(1).integers(0, 256, (n, size), np.uint8)
            rows = values.view([("bytes", "u1", size)]).ravel()
            _, moved = cubc.sort_pairs(
                cubc.asarray(x, device=device), cubc.asarray(rows, device=device)
            )
            by = np.argsort(x, kind="stable")
            assert (np.asarray(moved.numpy()["bytes"]).reshape(n, size) == values[by]).all(), n
