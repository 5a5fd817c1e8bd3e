"""find_if against NumPy."""

import inputs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs import TYPES, on, value

import cubc


def found(x, condition, **options):
    """The index, whose type is checked."""
    result = value(cubc.find_if(x, condition, **options))
    assert result.dtype == np.int64
    return result


@pytest.mark.parametrize("type", inputs.SOME)
def test_every_type(device, type):
    x = np.zeros(70_001, TYPES[type])
    for place in (70_000, 69_999, 40_000, 31, 1, 0):
        x[place] = 3
        assert found(on(device, x), "x > 2") == place
    x[x > 2] = 2
    assert found(on(device, x), "x > 2") == -1


@pytest.mark.parametrize("type", ["I8", "F32", "U64"])
def test_boundaries_of_the_policy(device, type):
    """The last item, and the last two: the lower wins."""
    for n in inputs.sizes("find.if", type, device):
        x = np.zeros(n, TYPES[type])
        assert found(on(device, x), "x != 0") == -1
        if n:
            x[-2:] = 1
            assert found(on(device, x), "x != 0") == max(0, n - 2)


def test_the_lowest_of_many(device):
    """Whichever block comes first."""
    for seed, share in enumerate((0.5, 1e-2, 1e-4, 3e-6)):
        x = (np.random.default_rng(seed).random(1_000_003) < share).astype(np.int32)
        expected = x.argmax() if x.any() else -1
        given = on(device, x)
        assert [found(given, "x") for _ in range(5)] == [expected] * 5


def test_calls_do_not_see_each_other(device):
    """A word of an earlier launch is no result, nor are another primitive's messages."""
    x = on(device, np.arange(500_000))
    for k in range(20):
        assert found(on(device, np.arange(500_000) - k * 20_000), "x == 0") == k * 20_000
        assert found(x, "x < 0") == -1
        assert int(cubc.sum(x)) == 124_999_750_000


def test_the_index_in_a_condition(device):
    x = on(device, np.arange(100_000, dtype=np.int32) % 7)
    assert found(x, "x == 3 && i > 50000") == 50_004
    assert found(x, "i == 99999") == 99_999


def test_special_values(device):
    x = np.array([1, 1e-45, -0.0, np.inf, np.nan], np.float32)
    for condition, place in (("x != x", 4), ("x > 1", 3), ("x == 0", 2), ("0 < x && x < 1", 1)):
        assert found(on(device, x), condition) == place


def test_few_items_and_dimensions(device):
    assert found(on(device, np.empty(0, np.float64)), "true") == -1
    assert found(on(device, np.ones((1, 1))), "x") == 0
    assert found(on(device, np.eye(50)[::-1].copy()), "x") == 49
    assert found(cubc.asarray(np.arange(10_002), device=device)[1:], "x == 10001") == 10_000


def test_out(device):
    out = cubc.asarray(np.zeros((), np.int64), device=device)
    x = cubc.asarray(np.arange(1000), device=device)
    assert cubc.find_if(x, "x * x > 500", out=out) is out
    assert int(out) == 23


def test_most_items_are_not_read():
    """The condition counts: what it is asked for is little more than what is before the item."""
    x = np.zeros(50_000_000, np.int8)
    x[1000] = 1
    asked = np.zeros(1, np.uint64)
    counting = (
        f"[](i8 x) {{ __atomic_fetch_add(reinterpret_cast<u64*>({asked.ctypes.data}ull), "
        "1, __ATOMIC_RELAXED); return x; }(x)"
    )
    assert found(x, counting, device="cpu") == 1000
    assert asked[0] < 5_000_000


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: cubc.find_if(x, None), TypeError, "needs condition, which is None"),
        (lambda x: cubc.find_if(x, x > 3), TypeError, "condition is ndarray.*argmax finds"),
        (lambda x: cubc.find_if(x, ""), ValueError, "find_if needs a predicate"),
        (lambda x: cubc.find_if(x, "y"), cubc.CompileError, "'y' does not compile"),
        (lambda x: cubc.find_if(x, "x", out=np.zeros((), "i4")), TypeError, "int32"),
        (lambda x: cubc.find_if(x, "x", out=np.zeros(2, "i8")), ValueError, "shape"),
        (lambda x: cubc.find_if(x, "x", out=x[:1]), ValueError, "overlap"),
        (lambda x: cubc.find_if(x, "x", ouy=x), TypeError, "did you mean 'out'"),
    ],
)
def test_wrong_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call(np.arange(10))


@settings(max_examples=40)
@given(st.integers(0, 40_000), st.sets(st.integers(0, 39_999), max_size=5))
def test_the_first_of_some(n, places):
    x = np.zeros(40_000, np.uint8)
    x[list(places)] = 1
    assert found(x[:n], "x", device="cpu") == min((p for p in places if p < n), default=-1)
