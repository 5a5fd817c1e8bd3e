"""Grids of one cluster, whose blocks pass messages through their shared memory
(kernels/grid/cluster.h).

Tiles are small here, so that 2 to 16 of them are a cluster, 17 are not, and the last is not whole.
On the cpu, which has no clusters, the same variants fall back to messages through memory.
"""

import numpy as np
import pytest

import cubc
from cubc import _core

TILE, MOST = 2048, 16  # items; tiles of a cluster
SIZES = {
    "cpu": (1, TILE, TILE + 1, 3 * TILE - 3, MOST * TILE, MOST * TILE + 1),
    "cuda:0": (1, TILE, TILE + 1, *(k * TILE - 3 for k in (3, 4, 7, 8, 9, 12, 15)), MOST * TILE,
               MOST * TILE + 1),
}  # fmt: skip
REDUCE = "ipt_8.tpb_256.ipv_{v}.ld_1.sm_0.wav_6.ms_1.ord_2"
SCAN = "ipt_8.tpb_256.mb_1.pk_0.ipv_{v}.ld_1.la_0.ord_2.lb_1.ns_0.l2w_0"
TILES = "ipt_8.tpb_256.mb_1.ipv_{v}.ld_1.la_0.ord_2.ns_0.l2w_0"
VECTOR = {1: 3, 2: 3, 4: 2, 8: 1, 16: 0}  # log2, by the bytes of an item
TYPES = {"i1": "I8", "i4": "I32", "f4": "F32", "f8": "F64", "c16": "C128"}


@pytest.fixture(params=["cpu", pytest.param("cuda:0", marks=pytest.mark.gpu)])
def clustered(request, policies):
    """A device, and a function that has a benchmark of a type use clusters there."""
    device = request.param
    arch = cubc.device_info(device)["arch"]

    def use(benchmark, dtype, label):
        width = VECTOR[np.dtype(dtype).itemsize]
        _core.use_policy(benchmark, {"T{ct}": TYPES[dtype]}, arch, label.format(v=width))

    return device, use


def numbers(n, dtype, seed=1):
    rng = np.random.default_rng(seed)
    values = rng.integers(-4, 5, n)
    return (values + 1j * rng.integers(-4, 5, n) if dtype == "c16" else values).astype(dtype)


@pytest.mark.some(2)
@pytest.mark.parametrize("dtype", TYPES)
def test_reduce(clustered, dtype):
    device, use = clustered
    use("reduce.sum", dtype, REDUCE)
    for n in SIZES[device]:
        x = numbers(n, dtype)
        d = cubc.asarray(x, device=device)
        for _ in range(3):  # nothing is left behind for the next call
            assert cubc.sum(d).item() == x.sum(), n


def test_argmax(clustered):
    """The first of equals: messages of two values, of the blocks in their order."""
    device, use = clustered
    use("reduce.argmax", "f4", REDUCE)
    for n in SIZES[device]:
        x = numbers(n, "f4")
        assert cubc.argmax(cubc.asarray(x, device=device)).item() == x.argmax(), n


@pytest.mark.some(2)
@pytest.mark.parametrize("dtype", TYPES)
def test_scan(clustered, dtype):
    device, use = clustered
    for kind in ("inclusive", "exclusive"):
        use(f"scan.{kind}.sum", dtype, SCAN)
    for n in SIZES[device]:
        x = numbers(n, dtype)
        d = cubc.asarray(x, device=device)
        through = np.cumsum(x, dtype=dtype)
        for _ in range(2):
            assert (cubc.scan(d).numpy() == through).all(), n
            before = cubc.scan(d, inclusive=False, init=3).numpy()
            assert (before == through - x + np.array(3, dtype)).all(), n


def test_scan_by_key(clustered):
    device, use = clustered
    use("scan.by_key", "f4", SCAN)
    for n in SIZES[device]:
        x = numbers(n, "f4")
        for length in (1, 7, 3000, n):
            keys = np.arange(n) // length
            expected = np.concatenate([np.cumsum(x[i : i + length]) for i in range(0, n, length)])
            d, k = cubc.asarray(x, device=device), cubc.asarray(keys, device=device)
            assert (cubc.scan_by_key(k, d).numpy() == expected).all(), (n, length)


@pytest.mark.some(2)
@pytest.mark.parametrize("dtype", ["i1", "i4", "f8"])
def test_select(clustered, dtype):
    device, use = clustered
    for benchmark in ("select.if", "select.flagged", "select.unique"):
        use(benchmark, dtype, TILES)
    for n in SIZES[device]:
        x = numbers(n, dtype)
        d = cubc.asarray(x, device=device)
        for _ in range(3):
            assert (cubc.select(d, "x > 0").numpy() == x[x > 0]).all(), n
        mask = numbers(n, "i4", seed=2) > 1
        m = cubc.asarray(mask, device=device)
        assert (cubc.select(d, m).numpy() == x[mask]).all(), n
        heads = np.concatenate([[True], x[1:] != x[:-1]])
        assert (cubc.unique_consecutive(d).numpy() == x[heads]).all(), n


@pytest.mark.some(2)
@pytest.mark.parametrize("dtype", ["i1", "i4", "f8"])
def test_runs(clustered, dtype):
    device, use = clustered
    use("runs.encode", dtype, TILES)
    for n in SIZES[device]:
        x = np.repeat(numbers(n, dtype), 3)[:n]
        heads = np.flatnonzero(np.concatenate([[True], x[1:] != x[:-1]]))
        for _ in range(3):
            values, counts = cubc.run_length_encode(cubc.asarray(x, device=device))
            assert (values.numpy() == x[heads]).all(), n
            assert (counts.numpy() == np.diff(np.append(heads, n))).all(), n


def test_in_place(clustered):
    """Totals are sent late: what they allow to be written has been read."""
    device, use = clustered
    use("select.flagged", "i4", TILES)
    use("runs.unique", "i4", TILES)
    for n in SIZES[device]:
        x, mask = numbers(n, "i4"), numbers(n, "i4", seed=2) > 1
        d = cubc.asarray(x, device=device)
        assert (
            cubc.select(d, cubc.asarray(mask, device=device), out=d).numpy() == x[mask]
        ).all(), n
        keys, values = cubc.asarray(x, device=device), cubc.asarray(x * 10, device=device)
        heads = np.concatenate([[True], x[1:] != x[:-1]])
        k, v = cubc.unique_by_key(keys, values, out=(keys, values))
        assert (k.numpy() == x[heads]).all(), n
        assert (v.numpy() == 10 * x[heads]).all(), n


def test_three_classes(clustered):
    device, use = clustered
    use("select.three_way", "i4", TILES)
    for n in SIZES[device]:
        x = numbers(n, "i4")
        parts = cubc.partition_if(cubc.asarray(x, device=device), "x > 1", "x < -1")
        for part, of in zip(parts, (x > 1, x < -1, abs(x) <= 1), strict=True):
            assert (part.numpy() == x[of]).all(), n


def test_sums_and_places_of_runs(clustered):
    device, use = clustered
    use("runs.reduce", "f4", TILES)
    use("runs.nontrivial", "i4", TILES)
    for n in SIZES[device]:
        x, keys = numbers(n, "f4"), np.repeat(numbers(n, "i4"), 3)[:n]
        heads = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        lengths = np.diff(np.append(heads, n))
        k = cubc.asarray(keys, device=device)
        _, sums = cubc.reduce_by_key(k, cubc.asarray(x, device=device))
        assert (sums.numpy() == np.add.reduceat(x, heads)).all(), n
        offsets, counts = cubc.nontrivial_runs(k)
        assert (offsets.numpy() == heads[lengths > 1]).all(), n
        assert (counts.numpy() == lengths[lengths > 1]).all(), n


def test_segments(clustered):
    device, use = clustered
    use("scan.segmented", "f4", SCAN)
    for n in SIZES[device]:
        x, offsets = numbers(n, "f4"), np.unique(np.r_[0, np.arange(1, n, 700), n])
        parts = [np.cumsum(part) for part in np.split(x, offsets[1:-1])]
        result = cubc.segmented_scan(
            cubc.asarray(x, device=device), cubc.asarray(offsets, device=device)
        )
        assert (result.numpy() == np.concatenate(parts)).all(), n


@pytest.mark.parametrize("n", [9000, 2**16 - 5])  # few tiles of a scan by sm_90's own policy
def test_order(device, n):
    """Operators that do not commute, of structs too. (Reductions with one have no such policy.)"""
    x = numbers(n, "i4")
    d = cubc.asarray(x, device=device)
    assert (cubc.scan(d, "a").numpy() == x[0]).all()
    assert (cubc.scan(d, "b").numpy() == x).all()
    pairs = np.zeros(n, [("first", "i2"), ("last", "i2")])
    pairs["first"], pairs["last"] = x, x[::-1]
    d = cubc.asarray(pairs, device=device)
    prefixes = cubc.scan(d, "value_t{a.first, b.last}").numpy()
    assert (prefixes["first"] == x[0]).all()
    assert (prefixes["last"] == x[::-1]).all()


def test_what_goes_through_memory(clustered):
    """A cluster leaves the workspace as it is; other grids count their launches there."""
    device, use = clustered
    use("reduce.sum", "i4", REDUCE)
    use("scan.inclusive.sum", "i4", SCAN)
    use("select.if", "i4", TILES)
    for n in (2 * TILE, MOST * TILE, MOST * TILE + 1):
        d = cubc.asarray(numbers(n, "i4"), device=device)
        for call in (cubc.sum, cubc.scan, lambda x, **options: cubc.select(x, "x > 0", **options)):
            workspace = cubc.asarray(np.zeros(4096, "u8"), device=device)
            call(d, workspace=workspace)
            in_cluster = device != "cpu" and n <= MOST * TILE and has_clusters(device)
            assert (workspace.numpy()[0] == 0) == in_cluster, n


def has_clusters(device):
    return int(cubc.device_info(device)["arch"].strip("sm_abcdefgh")) >= 90


@pytest.mark.gpu
def test_many_calls_at_once(policies):
    """Clusters of calls on several streams have memory of their own."""
    arch = cubc.device_info("cuda:0")["arch"]
    _core.use_policy("reduce.sum", {"T{ct}": "I32"}, arch, REDUCE.format(v=2))
    cupy = pytest.importorskip("cupy", reason="CuPy makes the streams")
    x = cupy.arange(8 * TILE, dtype="i4")
    cupy.cuda.Device().synchronize()
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(8)]
    results = cupy.zeros((8, 50), dtype="i8")
    for k in range(50):
        for s, stream in enumerate(streams):
            cubc.reduce(x, out=results[s, k : k + 1].reshape(()), stream=stream)
    for stream in streams:
        stream.synchronize()
    assert (results.get() == x.size * (x.size - 1) // 2).all()
