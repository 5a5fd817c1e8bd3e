"""The sign of a sum of zeros: sums of -0.0 alone are -0.0, those of no items 0.0."""

import numpy as np
import pytest
from inputs import on

import cubc
from cubc import _core

TYPES = ["f2", "f4", "f8", "c16"]
EITHER = [False, True]


def zeros(*shape, dtype="f8"):
    x = np.full(shape, -0.0, dtype)
    if np.iscomplexobj(x):
        x.imag = -0.0
    return x


def signs(result):
    """1 where there is a minus; a complex number has two."""
    result = np.asarray(result)
    assert np.all(result == 0)
    parts = result.reshape(-1).view(result.real.dtype)
    return np.signbit(parts).astype(int).tolist()


@pytest.mark.parametrize("deterministic", EITHER)
@pytest.mark.parametrize("dtype", TYPES)
def test_reduce(device, dtype, deterministic):
    parts = 2 if dtype == "c16" else 1
    for n in (1, 2, 33, 100_000):
        x = zeros(n, dtype=dtype)
        assert signs(cubc.sum(on(device, x), deterministic=deterministic)) == [1] * parts
        assert signs(cubc.sum(on(device, x), init=0.0, deterministic=deterministic)) == [0] * parts
        x[n // 2] = 0
        assert signs(cubc.sum(on(device, x), deterministic=deterministic)) == [0] * parts
    assert (
        signs(cubc.sum(on(device, zeros(0, dtype=dtype)), deterministic=deterministic))
        == [0] * parts
    )


def test_an_initial_value_of_no_items(device):
    assert signs(cubc.sum(on(device, zeros(0)), init=-0.0)) == [1]
    assert signs(cubc.sum(on(device, np.empty(0, "i4")), dtype="f8")) == [0]
    assert float(cubc.prod(on(device, zeros(0)))) == 1


@pytest.mark.parametrize("deterministic", EITHER)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_axes(device, axis, deterministic):
    for shape in ((2, 3, 4), (40, 300, 2)):
        sums = cubc.sum(on(device, zeros(*shape)), axis=axis, deterministic=deterministic)
        assert signs(sums) == [1] * np.asarray(sums).size
    none = [2, 3, 4]
    none[axis] = 0
    assert not any(
        signs(cubc.sum(on(device, zeros(*none)), axis=axis, deterministic=deterministic))
    )


@pytest.mark.parametrize("deterministic", EITHER)
def test_segments(device, deterministic):
    """Ends of all kinds: at windows' ends, piled up, of segments that several blocks share."""
    draw = np.random.default_rng(5)
    lengths = [draw.choice([0, 0, 1, 3, 32], 3000), draw.choice([0, 256, 16384], 60), [0, 0], [0]]
    for sizes in lengths:
        offsets = np.append(0, np.cumsum(sizes))
        x = on(device, zeros(offsets[-1]))
        sums = cubc.segmented_reduce(x, on(device, offsets), deterministic=deterministic)
        assert signs(sums) == (np.diff(offsets) > 0).astype(int).tolist()
    begun = on(device, np.array([0, 0, 2, 2]))
    sums = cubc.segmented_reduce(
        on(device, zeros(2)), begun, init=-0.0, deterministic=deterministic
    )
    assert signs(sums) == [1, 1, 1]


@pytest.mark.usefixtures("policies")
def test_segments_by_blocks_of_threads(device):
    """A block of 64 threads that look after two ends each, and hold 512 items."""
    label = "ipt_8.tpb_64.mb_1.ipv_1.ld_0.ept_2.wav_1.lb_1"
    arch = cubc.device_info(device)["arch"]
    _core.use_policy("segmented_reduce.sum", {"T{ct}": "F64"}, arch, label)
    lengths = np.array([0, 1, 511, 0, 0, 512, 1024, 0, 5000, 3, 0, 0, 509, 0] + [0, 2] * 200)
    offsets = np.append(0, np.cumsum(lengths))
    sums = cubc.segmented_reduce(on(device, zeros(offsets[-1])), on(device, offsets))
    assert signs(sums) == (lengths > 0).astype(int).tolist()


@pytest.mark.parametrize("deterministic", EITHER)
def test_as_scans_and_keys(device, deterministic):
    x, keys = on(device, zeros(5000)), on(device, np.arange(5000) // 7)
    assert all(signs(cubc.scan(x, deterministic=deterministic)))
    assert all(signs(cubc.scan_by_key(keys, x, deterministic=deterministic)))
    assert all(signs(cubc.reduce_by_key(keys, x, deterministic=deterministic)[1]))


def test_weights_as_numpy(device):
    """A bin begins with 0.0."""
    values, weights = np.array([0, 2, 2]), zeros(3)
    expected = np.bincount(values, weights)
    assert signs(cubc.bincount(on(device, values), on(device, weights))) == signs(expected)
