"""cubc.copy_batch against what was copied."""

import inputs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs import same

import cubc
from cubc import _core


def arrays(lengths, device, type="U8"):
    """Random sources, and destinations of as many items that are all zero."""
    made = [inputs.random(type, int(n), seed=k) for k, n in enumerate(lengths)]
    if device == "cpu":
        return made, made, [np.zeros_like(x) for x in made]
    moved = [cubc.asarray(x, device=device) for x in made]
    return made, moved, [cubc.asarray(np.zeros_like(x), device=device) for x in made]


def check(lengths, device, type="U8"):
    made, sources, destinations = arrays(lengths, device, type)
    cubc.copy_batch(sources, destinations)
    for x, copy in zip(made, destinations, strict=True):
        same(copy, x)


@pytest.mark.parametrize("type", ["I8", "I16", "F32", "F64"])
def test_lengths_of_every_kind(device, type):
    check([0, 1, 2, 3, 0, 100_000, 7, 4096, 4097, 0, 16, 15, 17, 300_001], device, type)
    check([], device, type)
    check([0, 0], device, type)
    check([5], device, type)


def test_many_small_ones(device):
    check(np.random.default_rng(0).integers(0, 17, 3000), device)


@pytest.mark.parametrize("shift", [0, 1, 4, 8, 12])
@pytest.mark.parametrize("into", [0, 3, 4, 8])
def test_every_alignment(device, shift, into):
    """Bytes around the destinations stay as they are."""
    x = inputs.random("U8", 400_000)
    source, out = cubc.asarray(x, device=device), cubc.asarray(np.zeros_like(x), device=device)
    lengths = [100_000, 33, 1, 70_000, 16, 64, 5]
    begin, pairs, expected = 0, [], np.zeros_like(x)
    for n in lengths:
        a, b = begin + shift, begin + into
        pairs.append((source[a : a + n], out[b : b + n]))
        expected[b : b + n] = x[a : a + n]
        begin += n + 16
    cubc.copy_batch(*zip(*pairs, strict=True))
    same(out, expected)


@pytest.mark.parametrize("label", ["base", "ipt_1.tpb_64", "ipt_3.tpb_192"])
def test_shapes_and_types(device, policies, label):
    if label != "base":
        arch = cubc.device_info(device)["arch"]
        _core.use_policy("copy_batch.buffers", {"T{ct}": "U8"}, arch, label)
    items = [np.arange(12.0).reshape(3, 4), np.ones(9, "i2,f4"), np.array(5j), np.arange(9999)]
    sources = [cubc.asarray(x, device=device) for x in items]
    destinations = [cubc.asarray(np.zeros_like(x), device=device) for x in items]
    assert cubc.copy_batch(iter(sources), destinations) is None
    for x, copy in zip(items, destinations, strict=True):
        np.testing.assert_array_equal(copy.numpy(), x)


def test_places_in_arrays(device):
    """The core's own form: places in two arrays instead of addresses."""
    x = inputs.random("I32", 1000)
    table = np.array([[400, 0, 2000], [0, 2400, 3000], [2400, 2800, 3300]])
    names = ("from", "to", "ends")
    fields = {
        name: cubc.asarray(row, device=device) for name, row in zip(names, table, strict=True)
    }
    out = cubc.asarray(np.zeros_like(x), device=device)
    fields |= {"in": cubc.asarray(x, device=device), "bytes": 3300, "out": ("in", "in", out)}
    _core.call("copy_batch", fields)
    expected = np.zeros_like(x)
    expected[:600], expected[600:700], expected[750:875] = x[100:700], x[:100], x[500:625]
    same(out, expected)
    if device != "cpu":  # a copy of host memory would not have what stays
        fields["out"] = ("in", "in", np.zeros_like(x))
        fields |= {name: fields[name].numpy() for name in ("in", *names)}
        with pytest.raises(ValueError, match="out of copy_batch is changed in place, and host"):
            _core.call("copy_batch", fields, device=device)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: cubc.copy_batch([x], []), ValueError, "1 sources and 0 destinations"),
        (lambda x: cubc.copy_batch([x], [x[1:]]), ValueError, "source 0 has 80 bytes"),
        (lambda x: cubc.copy_batch([x[::2]], [x[:5]]), ValueError, "not contiguous"),
        (lambda x: cubc.copy_batch([x], [np.broadcast_to(x[:1], 10)]), ValueError, "not contig"),
        (lambda x: cubc.copy_batch([[1]], [x]), TypeError, "list is no array"),
        (lambda x: cubc.copy_batch([x], [x], strem=1), TypeError, "did you mean 'stream'"),
    ],
)
def test_wrong_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call(np.arange(10))


@settings(max_examples=30)
@given(st.lists(st.integers(0, 3000), max_size=60))
def test_any_lengths(lengths):
    check(lengths, "cpu")
