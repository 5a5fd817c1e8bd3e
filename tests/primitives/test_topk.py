"""topk against NumPy's stable argsort."""

import inputs
import isolated
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs import SOME, TYPES, in_turn, on, same

import cubc
from cubc import _core


def best(x, k, largest=True):
    """Keys and indices; of a float, as many NaNs as there may be count as the largest."""
    key = x.astype(np.float64) if x.dtype.itemsize < 8 or x.dtype.kind == "f" else x
    among = np.arange(x.size)
    if 0 < k < x.size and not np.isnan(key).any():  # the others need no order
        last = np.partition(key, x.size - k if largest else k - 1)[x.size - k if largest else k - 1]
        among = np.flatnonzero(key >= last if largest else key <= last)
        key = key[among]
    if largest:  # of equal keys the lowest index comes first here too
        order = key.size - 1 - np.argsort(key[::-1], kind="stable")[::-1]
    else:
        order = np.argsort(key, kind="stable")
    where = among[order[:k]]
    return x[where], where


def check(x, k, device, **options):
    keys, indices = cubc.topk(on(device, x), k, **options)
    expected, where = best(x, k, options.get("largest", True))
    same(keys, expected)
    same(indices, where)


def few(type, n, seed=0):
    """Keys of few values, so that many equal the k-th."""
    return np.random.default_rng(seed).integers(0, 5, n).astype(TYPES[type])


BOTH_WAYS = ("U8", "I32", "F64")  # types of which other tests select the largest and the smallest


@pytest.mark.parametrize(
    ("type", "largest"),
    [(type, largest) for type in BOTH_WAYS for largest in (True, False)]
    + in_turn([type for type in SOME if type not in BOTH_WAYS], [True, False], 2),
)
def test_every_type(device, type, largest):
    """More than 2048, which are sorted afterwards, of the types of which both ends are selected."""
    some = ((1, 1), (1000, 10), (70_001, 1))
    many = ((70_001, 5000), (70_001, 70_001)) if type in BOTH_WAYS else ()
    for n, k in some + many:
        for x in (inputs.random(type, n, seed=n), few(type, n)):
            check(x, k, device, largest=largest)


@pytest.mark.parametrize("type", ["I8", "F32", "U64"])
def test_boundaries_of_the_policy(device, type):
    x = inputs.random(type, 2_000_000)
    for n in inputs.sizes("topk.pairs", type, device):
        check(x[:n], min(n, 100), device)
        check(x[:n], n // 2, device, largest=False)


def test_candidates_beyond_their_buffer(device):
    """All keys share their first digits: each pass reads the input again, until one tells."""
    n = 1_200_000  # from 2**20 on the buffer is shorter than the input
    small = np.random.default_rng(1).integers(0, 1000, n)
    for x in (small.astype(np.int32), np.full(n, 7, np.uint64), small << 40):
        for k in (1000, n - 1):
            check(x, k, device)


def test_outliers_among_equal_keys(device):
    """Some of a digit apart from all the others, on either side."""
    x = np.full(1_200_000, 1 << 30, np.int32)
    x[::300_000] = np.array([-5, 2**31 - 1, 0, -(2**31)])
    for k in (1, 100):
        for largest in (True, False):
            check(x, k, device, largest=largest)


@pytest.mark.parametrize("type", ["F16", "BF16", "F32", "F64"])
def test_special_values(device, type):
    x = np.array([0.0, np.nan, 1.0, -np.inf, -0.0, np.inf, 1e-40, -1.0, -np.nan], TYPES[type])
    indices = np.asarray(cubc.topk(on(device, x), 9)[1])
    assert set(indices[:2]) == {1, 8}
    assert indices[2] == 5
    assert indices[-2:].tolist() == [7, 3]
    ordered = np.asarray(cubc.argsort(on(device, x), descending=True))
    np.testing.assert_array_equal(indices, ordered)


def ordered(kind, n, type):
    x = inputs.random(type, n, seed=n)
    if kind == "rising":
        x = np.sort(x)
    elif kind == "falling":
        x = np.sort(x)[::-1].copy()
    elif kind == "periodic":  # the best stand far apart, at one distance
        x = np.sort(x).reshape(-1, 16).T.ravel().copy() if n % 16 == 0 else x
    elif kind == "few":
        x = few(type, n)
    elif kind == "two":  # a handful of others among equal keys
        x = np.where(np.arange(n) % (n // 5 + 1) == 7, x, 3).astype(x.dtype)
    return x


KINDS = ["random", "rising", "falling", "periodic", "few", "two"]


@pytest.mark.parametrize(("type", "kind"), in_turn(BOTH_WAYS, KINDS, 3))
def test_up_to_2048_are_in_order(device, type, kind):
    """By one cluster, by a threshold, and by radix selection where that lets too many through."""
    for n, k in ((5000, 2048), (131_072, 1000), (131_073, 2048), (1_200_000, 1000)):
        x = ordered(kind, n, type)
        for largest in (True, False):
            check(x, k, device, largest=largest, sorted=False)
    check(ordered(kind, 131_072, type), 2049, device)


@pytest.mark.parametrize("type", ["U8", "I16", "BF16", "I32", "I64"])
def test_many_of_a_key_before_the_last(device, type):
    """Hundreds of one key come before the k-th, which has its own like."""
    for n, values, k in ((9000, 5, 2048), (200_000, 256, 1000), (400_000, 256, 2048)):
        x = np.random.default_rng(n).integers(0, values, n)
        x = (x if type == "U8" else x - values // 2).astype(TYPES[type])
        for largest in (True, False):
            check(x, k, device, largest=largest)


@pytest.mark.parametrize(("type", "kind"), in_turn(BOTH_WAYS, KINDS, 3))
def test_up_to_7936_of_a_long_list(device, type, kind):
    for n, k in ((7936, 7936), (131_072, 5000), (200_003, 7936), (1_200_000, 2049)):
        for largest in (True, False):
            check(ordered(kind, n, type), k, device, largest=largest)
    check(ordered(kind, 200_003, type), 7937, device)


@pytest.mark.usefixtures("policies")
@pytest.mark.parametrize("type", ["U8", "I32", "F64"])
def test_a_long_list_of_threads_of_a_gpu(type):
    """In order, at once and behind a filter."""
    _core.use_policy("topk.pairs", {"T{ct}": type}, "cpu", "ipt_4.tpb_128.mb_1.ipv_0.ld_0.hc_0")
    for n, k in ((4000, 3000), (150_001, 2500)):
        for x in (inputs.random(type, n, seed=n), few(type, n)):
            check(x, k, "cpu", sorted=False)


@pytest.mark.usefixtures("policies")
@pytest.mark.parametrize("type", ["U8", "F64"])
def test_a_sample_that_misleads_threads_of_a_gpu(type):
    """It has the largest keys alone, so that the filter keeps more than there is room for."""
    _core.use_policy("topk.pairs", {"T{ct}": type}, "cpu", "ipt_4.tpb_128.mb_1.ipv_0.ld_0.hc_0")
    samples, stretch = 8192, 2
    number = np.arange(samples, dtype=np.uint64)
    inside = (number * 0x9E3779B1 % 2**32 * stretch) >> 32
    x = np.random.default_rng(1).integers(0, 50, samples * stretch + 3000)
    x[number * stretch + inside] += 50
    check(x.astype(TYPES[type]), 100, "cpu", largest=False)
    check((100 - x).astype(TYPES[type]), 2048, "cpu")


def test_unsorted_is_the_same_each_time(device):
    x = inputs.random("I32", 1_000_001)
    given = on(device, x)
    first = [np.asarray(part) for part in cubc.topk(given, 5000, sorted=False)]
    assert set(first[1]) == set(best(x, 5000)[1])
    same(first[0], x[first[1]])
    for _ in range(5):
        for part, again in zip(first, cubc.topk(given, 5000, sorted=False), strict=True):
            same(again, part)


@pytest.mark.parametrize("dtype", ["u1", "f2", "i4", "f8", "c16"])
def test_values(device, dtype):
    x = inputs.random("F32", 200_001)
    values = (np.arange(x.size) % 2000).astype(dtype)
    if dtype == "c16":
        values = values.view("f8").reshape(-1, 2)
    k = (
        3000 if dtype in ("u1", "c16") else 1000
    )  # more than 2048 are sorted by a kernel of their own
    keys, found = cubc.topk(on(device, x), k, values=on(device, values))
    expected, where = best(x, k)
    same(keys, expected)
    np.testing.assert_array_equal(np.asarray(found), values[where])


def test_out_and_unaligned(device):
    x = cubc.asarray(inputs.random("I32", 100_002), device=device)[1:]
    keys, indices = (cubc.empty(64, name, device=device) for name in ("int32", "int64"))
    result = cubc.topk(x, 64, out=(keys, indices))
    assert result[0] is keys
    assert result[1] is indices
    expected, where = best(np.asarray(x), 64)
    same(keys, expected)
    same(indices, where)


def test_nothing(device):
    for n in (0, 10):
        keys, indices = cubc.topk(on(device, np.arange(n, dtype=np.float32)), 0)
        assert (keys.shape, indices.shape) == ((0,), (0,))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: cubc.topk(x, 11), ValueError, "k is 11, and there are 10 keys"),
        (lambda x: cubc.topk(x, -1), ValueError, "out of range"),
        (lambda x: cubc.topk(x, 1.5), TypeError, "k is 1.5: expected an int"),
        (lambda x: cubc.topk(x, 6, axis=1), ValueError, "axis 1 is"),
        (lambda x: cubc.topk(x.reshape(2, 5), 6), ValueError, "no 6 of 5 keys along axis 1"),
        (lambda x: cubc.topk(x.reshape(2, 5), 2, values=x), TypeError, "one dimension"),
        (lambda x: cubc.topk(x, 2, values=x[:3]), ValueError, "as many are needed"),
        (lambda x: cubc.topk(x, 2, values=np.zeros((9, 3))), ValueError, "9 values and 10 keys"),
        (lambda x: cubc.topk(x, 2, out=x[:2]), TypeError, "tuple of two arrays"),
        (lambda x: cubc.topk(x, 2, out=(x[:2], x.copy()[:2])), ValueError, "overlap"),
        (lambda x: cubc.topk(x, 10, out=(x, x.copy())), ValueError, "more than once"),
        (lambda x: cubc.topk(x, 2, bigest=True), TypeError, "did you mean 'largest'"),
    ],
)
def test_wrong_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call(np.arange(10))


@settings(max_examples=30)
@given(st.data())
def test_any_keys(data):
    n = data.draw(st.integers(1, 20_000))
    k = data.draw(st.integers(1, n))
    seed, bits = data.draw(st.integers(0, 2**32 - 1)), data.draw(st.integers(0, 63))
    x = np.random.default_rng(seed).integers(0, 2**63, n) >> bits
    check(x, k, "cpu", largest=data.draw(st.booleans()))


@pytest.mark.parametrize(
    "policy", ["base", "ipt_12.tpb_256.mb_3.ipv_2.ld_2.hc_1"], ids=["cpu", "gpu"]
)
def test_an_input_that_changes_meanwhile(policy):
    """Whatever is selected then, it is k items of the input or less, and none past the output."""
    isolated.output(
        """
import random
import sys
import threading
import numpy as np
import cubc
from cubc import _core

_core.use_policy("topk.pairs", {"T{ct}": "U32"}, "cpu", sys.argv[1])
n, k, guard = int(sys.argv[2]), 1000, 1 << 16
low, high = np.zeros(n, np.uint32), np.full(n, 2**32 - 1, np.uint32)
x, values = high.copy(), np.arange(n)
keys, chosen = np.full(k + guard, 7, np.uint32), np.full(k + guard, 7, np.int64)
over = threading.Event()

def change():
    while not over.wait(random.uniform(0.001, 0.012)):
        x[:] = low if x[0] else high

other = threading.Thread(target=change)
other.start()
for _ in range(10):
    options = {"largest": False, "sorted": False, "device": "cpu"}
    cubc.topk(x, k, values=values, out=(keys[:k], chosen[:k]), **options)
over.set()
other.join()
assert (keys[k:] == 7).all() and (chosen[k:] == 7).all()
""",
        policy,
        1 << 20 if policy == "base" else 1 << 16,
    )


# ---- along an axis ------------------------------------------------------------------------------
def order_of(x, largest=True):
    """The order of rows along the last axis, of equal keys the lowest index first."""
    key = inputs.exact(x)
    if not largest:
        return np.argsort(key, axis=-1, kind="stable")
    return x.shape[-1] - 1 - np.argsort(key[..., ::-1], axis=-1, kind="stable")[..., ::-1]


@pytest.mark.parametrize("shape", [(7, 40), (1000, 2), (2, 9001), (40, 50, 3), (3, 1, 4)])
def test_along_each_axis(device, shape):
    x = inputs.random("I32", int(np.prod(shape)), seed=1).reshape(shape)
    for axis in range(-x.ndim, x.ndim):
        k = (x.shape[axis] + 1) // 2  # of the longest k is above 2048
        for largest in (True, False):
            keys, indices = cubc.topk(on(device, x), k, axis=axis, largest=largest)
            order = order_of(np.moveaxis(x, axis, -1), largest)[..., :k]
            order = np.moveaxis(order, -1, axis)
            same(indices, order)
            same(keys, np.take_along_axis(x, order, axis))
            part = np.partition(x, -k if largest else k - 1, axis)
            part = np.take(part, range(-k, 0) if largest else range(k), axis)
            same(np.sort(np.asarray(keys), axis), np.sort(part, axis))


def test_all_items_of_a_matrix(device):
    x = inputs.random("I32", 9000).reshape(90, 100)
    for found, expected in zip(
        cubc.topk(on(device, x), 20, axis=None), cubc.topk(on(device, x.ravel()), 20), strict=True
    ):
        same(found, expected)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("k", [5, 2500])
def test_outputs_along_an_axis(device, axis, k):
    x = inputs.random("F32", 120_000).reshape((3000, 40)[:: 1 - 2 * axis])
    shape = tuple(k if d == axis else n for d, n in enumerate(x.shape))
    out = cubc.empty(shape, "float32", device=device), cubc.empty(shape, "int64", device=device)
    given = cubc.asarray(x, device=device)
    found = cubc.topk(given, k, axis=axis, out=out)
    order = np.moveaxis(order_of(np.moveaxis(x, axis, -1))[..., :k], -1, axis)
    assert found[0] is out[0]
    assert found[1] is out[1]
    same(out[1], order)
    same(out[0], np.take_along_axis(x, order, axis))


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 3000), (2, 0, 4)])
def test_no_rows_along_an_axis(device, shape):
    for axis, length in enumerate(shape):
        keys, indices = cubc.topk(on(device, np.zeros(shape)), length, axis=axis)
        assert keys.shape == indices.shape == shape
