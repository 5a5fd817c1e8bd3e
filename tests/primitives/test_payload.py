"""Values of any size that go where their keys go, against NumPy."""

import inputs
import numpy as np
import pytest
from inputs import on, same

import cubc

N = 5001
SIZES = [3, 5, 12, 24, 100, 260]
STRUCT = np.dtype([("a", "f4"), ("b", "i4"), ("c", "u4")])
LARGE = np.dtype([("name", "S7"), ("row", "f8", 9)])


def values_of(kind, n, seed=2):
    """Rows of some bytes, structs, or types that only host memory has."""
    if isinstance(kind, int):
        return np.random.default_rng(seed).integers(0, 256, (n, kind), np.uint8)
    if kind == "rows":
        return np.random.default_rng(seed).normal(size=(n, 3, 5)).astype("f4")
    made = np.zeros(n, kind)
    made.view(np.uint8)[...] = np.random.default_rng(seed).integers(1, 99, made.nbytes, np.uint8)
    return made


KINDS = [*SIZES, "rows", STRUCT]
HOST = [LARGE, np.dtype("V3"), np.dtype("S12"), np.dtype("U5")]


def check(device, kind):
    keys = inputs.random("I32", N) % 99
    values, order = values_of(kind, N), np.argsort(keys, kind="stable")
    k, v = on(device, keys), on(device, values)
    offsets = np.array([0, 7, 7, 1000, N])
    segments = np.searchsorted(offsets, np.arange(N), side="right")
    first = inputs.heads(keys)
    by_segment = np.lexsort((keys, segments))
    down = np.lexsort((np.arange(N), -keys))
    pairs = [
        (cubc.sort_pairs(k, v), order),
        (cubc.sort_pairs(k, v, descending=True), down),
        (cubc.merge_sort(k, "a < b", values=v), order),
        (cubc.topk(k, 40, values=v), down[:40]),
        (cubc.topk(k, 3000, values=v), down[:3000]),
        (cubc.segmented_sort_pairs(k, v, on(device, offsets)), by_segment),
        (cubc.unique_by_key(k, v), first),
    ]
    for (made, taken), places in pairs:
        assert np.array_equal(np.asarray(made), keys[places])
        taken = np.asarray(taken)
        assert taken.dtype == values.dtype
        assert taken.tobytes() == values[places].tobytes()
        assert taken.shape == values[places].shape
    a, b = np.sort(keys[:1000]), np.sort(keys[1000:])
    made, taken = cubc.merge(
        on(device, a), on(device, b), values=(on(device, values[:1000]), on(device, values[1000:]))
    )
    places = np.argsort(np.concatenate([a, b]), kind="stable")
    assert np.array_equal(np.asarray(made), np.concatenate([a, b])[places])
    assert np.asarray(taken).tobytes() == values[places].tobytes()


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_size(device, kind):
    check(device, kind)


@pytest.mark.parametrize("kind", HOST, ids=str)
def test_what_only_host_memory_has(kind):
    check("cpu", kind)


@pytest.mark.parametrize("kind", [12, STRUCT], ids=str)
def test_outputs_and_in_place(device, kind):
    keys, values = inputs.random("F32", N), values_of(kind, N)
    order = np.argsort(keys, kind="stable")
    k, v = on(device, keys.copy()), on(device, values.copy())
    out = on(device, np.zeros_like(keys)), on(device, np.zeros_like(values))
    made = cubc.sort_pairs(k, v, out=out)
    assert made[0] is out[0]
    assert made[1] is out[1]
    assert np.asarray(out[1]).tobytes() == values[order].tobytes()
    cubc.merge_sort(k, values=v, out=(k, v))
    assert np.array_equal(np.asarray(k), keys[order])
    assert np.asarray(v).tobytes() == values[order].tobytes()
    count = on(device, np.zeros((), "i8"))
    cubc.unique_by_key(k, v, out=out, count=count)
    first = inputs.heads(keys[order])
    assert int(np.asarray(count)) == first.size
    assert np.asarray(out[1])[: first.size].tobytes() == values[order][first].tobytes()


def test_outputs_in_host_memory():
    keys, values = inputs.random("F32", N), values_of(LARGE, N)
    order, out = np.argsort(keys, kind="stable"), np.zeros(N, LARGE)
    assert cubc.sort_pairs(keys, values, out=(keys.copy(), out))[1] is out
    assert out.tobytes() == values[order].tobytes()
    with pytest.raises(TypeError, match="out has float64"):
        cubc.sort_pairs(keys, values, out=(keys.copy(), np.zeros(N)))
    with pytest.raises(ValueError, match="out has the shape"):
        cubc.sort_pairs(keys, values, out=(keys.copy(), np.zeros(3, LARGE)))


def test_lazy_keys_and_values(device):
    x = inputs.random("I32", N)
    k = cubc.lazy("x & 15", x=on(device, x))
    v = cubc.lazy("out_t{0.5 * i, x, 7}", x=on(device, x), dtype=STRUCT)
    _, taken = cubc.sort_pairs(k, v)
    order = np.argsort(x & 15, kind="stable")
    assert np.array_equal(np.asarray(taken)["b"], x[order])


@pytest.mark.parametrize("n", [0, 1])
def test_few_items(device, n):
    keys, values = np.zeros(n, "i4"), values_of(12, n)
    for call in (cubc.sort_pairs, lambda k, v: cubc.merge_sort(k, values=v), cubc.unique_by_key):
        made, taken = call(on(device, keys), on(device, values))
        assert made.shape == (n,)
        assert np.asarray(taken).tobytes() == values.tobytes()


def test_as_many_values_as_keys():
    with pytest.raises(ValueError, match="4 values and 3 keys"):
        cubc.sort_pairs(np.arange(3), values_of(12, 4))
    with pytest.raises(ValueError, match="4 values and 3 keys"):
        cubc.unique_by_key(np.arange(3), values_of(12, 4))
    with pytest.raises(ValueError, match="2 and 4 values for 3 and 4 keys"):
        cubc.merge(np.arange(3), np.arange(4), values=(values_of(12, 2), values_of(12, 4)))
    with pytest.raises(TypeError, match="object"):
        cubc.sort_pairs(np.arange(3), np.array([None] * 3))


def test_lazy_values_that_are_rows(device):
    keys, values = np.array([2, 0, 1]), np.arange(9.0).reshape(3, 3)
    lazy = cubc.lazy("v", v=on(device, values), dtype="f8")
    same(cubc.sort_pairs(on(device, keys), lazy)[1], values[[1, 2, 0]])
