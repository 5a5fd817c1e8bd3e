"""cubc.repeat, the inverse of run_length_encode, against NumPy."""

import inputs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs import TYPES, on, same

import cubc


def repeats_of(n, most, seed=0):
    return np.random.default_rng(seed).integers(0, most + 1, n)


@pytest.mark.parametrize("type", inputs.SOME)
def test_every_type(device, type):
    for n in (0, 1, 2, 5001):
        x, repeats = inputs.random(type, n), repeats_of(n, 8, seed=n)
        same(cubc.repeat(on(device, x), on(device, repeats)), np.repeat(x, repeats))


@pytest.mark.parametrize("type", ["I8", "I32", "U16", "U64", "BOOL"])
def test_types_of_the_repeats(device, type):
    x = inputs.random("F32", 5001)
    repeats = repeats_of(x.size, 1).astype(TYPES.get(type, bool))
    same(cubc.repeat(on(device, x), on(device, repeats)), np.repeat(x, repeats.astype("i8")))


@pytest.mark.parametrize("type", ["I8", "F32", "F64"])
def test_boundaries_of_the_policy(device, type):
    for n in inputs.sizes("repeat.runs", type, device)[1:]:
        x, repeats = inputs.random(type, n // 5 + 1), np.full(n // 5 + 1, 5)
        repeats[-1] = n % 5
        same(cubc.repeat(on(device, x), on(device, repeats)), np.repeat(x, repeats))


def test_few_long_runs_and_many_empty_ones(device):
    x, repeats = inputs.random("I32", 60_001), np.zeros(60_001, np.int64)
    repeats[[7, 30_000, 60_000]] = 50_000, 1, 100_000
    same(cubc.repeat(on(device, x), on(device, repeats)), np.repeat(x, repeats))
    same(cubc.repeat(on(device, x), on(device, 0 * repeats)), x[:0])
    same(cubc.repeat(on(device, x), np.int64(2)), np.repeat(x, 2))


def test_out(device):
    """Longer than needed it is filled with the last item, shorter it takes what fits."""
    x, repeats = np.arange(1000, dtype=np.float32), repeats_of(1000, 8)
    expected = np.repeat(x, repeats)
    here, times = (cubc.asarray(a, device=device) for a in (x, repeats))
    for size in (expected.size, expected.size + 100, expected.size - 100):
        out = cubc.empty(size, "float32", device=device)
        assert cubc.repeat(here, times, out=out) is out
        padded = np.concatenate([expected, np.full(100, x[-1])])
        same(out, padded[:size])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: cubc.repeat(x, x[:3]), ValueError, "3 repeats for 10 items"),
        (lambda x: cubc.repeat(x, x / 2), TypeError, "the repeats are floats"),
        (lambda x: cubc.repeat(x, -1), ValueError, "none may be negative"),
        (lambda x: cubc.repeat(x, 1.5), TypeError, "the repeats are floats"),
        (lambda x: cubc.repeat(x, 2, 1), ValueError, "axis 1 is out of bounds"),
        (lambda x: cubc.repeat(x.reshape(2, 5), x, 0), ValueError, "10 repeats for 2 items"),
        (lambda x: cubc.repeat(x, x.reshape(2, 5)), ValueError, "a number for each item"),
        (lambda x: cubc.repeat(x, x, out=np.empty(45, "f4")), TypeError, "float32"),
        (lambda x: cubc.repeat(x, x, out=x), ValueError, "cannot write to where its items are"),
        (lambda x: cubc.repeat(x[:0], x[:0], out=x), ValueError, "no items to fill 10 places"),
        (lambda x: cubc.repeat(x[:2], x[:2] - 2), ValueError, "none may be negative"),
    ],
)
def test_wrong_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call(np.arange(10))


@settings(max_examples=40)
@given(st.lists(st.integers(0, 3), max_size=3000), st.integers(1, 20))
def test_it_decodes_what_was_encoded(items, times):
    x = np.repeat(np.array(items, np.int16), times)
    same(cubc.repeat(*cubc.run_length_encode(x, device="cpu"), device="cpu"), x)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_axes_and_one_number_for_all(device, axis):
    x = np.arange(60).reshape(3, 4, 5)
    each = np.arange(x.size if axis is None else x.shape[axis]) % 3
    given = on(device, x)
    for repeats in (0, 1, 3, [2]):
        same(cubc.repeat(given, repeats, axis), np.repeat(x, repeats, axis))
    same(cubc.repeat(given, on(device, each), axis), np.repeat(x, each, axis))
    out = on(device, np.zeros_like(np.repeat(x, 2, axis)))
    assert cubc.repeat(given, 2, axis, out=out) is out
    same(out, np.repeat(x, 2, axis))
    same(cubc.repeat(on(device, x[0, 0, 1]), 3), np.repeat(x[0, 0, 1], 3))


@pytest.mark.parametrize("where", ["host", "device"])
@pytest.mark.parametrize("number", [2, [2]])
def test_one_lazy_number_for_all(device, where, number):
    x, repeats = np.arange(6).reshape(2, 3), np.array(number)
    a, r = (z if where == "host" else cubc.asarray(z, device=device) for z in (x, repeats))
    for axis in (None, 0):
        made = cubc.repeat(a, cubc.lazy("r + 1", r=r), axis)
        assert isinstance(made, np.ndarray) == (where == "host")
        same(made, np.repeat(x, repeats + 1, axis))
    same(cubc.repeat(a[:1, 0], cubc.lazy("r + 1", r=r)), np.repeat(x[:1, 0], repeats + 1))
