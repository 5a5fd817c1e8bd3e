"""deterministic=True: the same bits in every run, of every variant and on every device."""

import math
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import deterministic_model
import deterministic_order
import inputs
import isolated
import numpy as np
import pytest
from deterministic_order import CASES, TYPES, bits, edges, numbers
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs import on

import cubc
from cubc import _core, tuner

PROGRAM = Path(deterministic_order.__file__)
CALLS = [(b, name) for b, calls in CASES.items() for name in calls]


def runs(n):
    """Keys in runs of 1 to some hundred items, and some of thousands."""
    draw = np.random.default_rng(n)
    heads = draw.random(n) < np.repeat(draw.choice([0.0001, 0.02, 0.5, 1], n // 500 + 1), 500)[:n]
    return np.cumsum(heads)


def hashes(seed, workers):
    result = subprocess.run(
        [sys.executable, "-W", "error", PROGRAM],
        env=isolated.environment(CUBC_SIMT_SEED=seed, CUBC_CPU_THREADS=workers),
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    lines = [line.split(",") for line in result.stdout.splitlines()]
    return {tuple(line[:3]): line[3:] for line in lines}


def test_every_variant_under_every_scheduler():
    found = hashes(seed=0, workers=1)
    assert len(found) == 4 * len(CALLS) + len(CASES)
    for case, variants in found.items():
        assert len(set(variants)) == 1, case
        assert len(variants) > 1 + (case[0] == "F32")
    assert hashes(seed=1, workers=3) == found


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize(("workload", "name"), CALLS)
def test_the_cpu_has_the_same_bits(device, workload, name, type):
    if device == "cpu":
        pytest.skip("it is the cpu")
    call = CASES[workload][name]
    for n in (1, 129, 8192, 8193, 300_000):
        x = numbers(n, TYPES[type], seed=n)
        expected = bits(call(x, lambda array: array))
        assert bits(np.asarray(call(x, lambda array: on(device, array)))) == expected


def test_policies_of_a_gpu(device):
    arch = cubc.device_info(device)["arch"]
    if arch == "cpu":
        pytest.skip("deterministic_order.py runs them on the cpu")
    x = numbers(300_000)
    try:
        for workload, calls in CASES.items():
            for label in deterministic_order.LABELS[workload]:
                _core.use_policy(workload, {"T{ct}": "F32"}, arch, label)
                for call in calls.values():
                    expected = bits(call(x, lambda array: array))
                    result = call(x, lambda array: on(device, array))
                    assert bits(np.asarray(result)) == expected, (workload, label)
    finally:
        _core.clear_policies()


@pytest.mark.usefixtures("as_users_have")
def test_prefixes_behind_a_stretch_of_tiles(device):
    """More than 1024 tiles, of 4096 items."""
    x = numbers(1024 * 4096 + 9000, "f8")
    result = np.asarray(cubc.scan(on(device, x), deterministic=True))
    np.testing.assert_allclose(result, np.cumsum(x), rtol=0, atol=1e-13 * np.abs(x).sum())
    if device != "cpu":
        assert bits(result) == bits(cubc.scan(x, deterministic=True))
        return
    try:
        _core.use_policy("deterministic_scan.sum", {"T{ct}": "F64"}, "cpu", "tpb_256.ld_0")
        assert bits(cubc.scan(x, deterministic=True)) == bits(result)
    finally:
        _core.clear_policies()


# ---- runs of equal keys --------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n", [1, 129, 8193, 21_000])
def test_the_order_that_is_written_down(device, n, dtype):
    """Within a few tiles: the bits are those of a model that does one operation after another."""
    x, keys = numbers(n, dtype), runs(n)
    expected = deterministic_model.scan_by_key(keys, x)
    scanned = cubc.scan_by_key(on(device, keys), on(device, x), deterministic=True)
    assert bits(np.asarray(scanned)) == bits(expected)
    last = np.append(keys[1:] != keys[:-1], True)
    found = cubc.reduce_by_key(on(device, keys), on(device, x), deterministic=True)
    assert bits(np.asarray(found[0])) == bits(keys[last])
    assert bits(np.asarray(found[1])) == bits(expected[last])


@pytest.mark.parametrize("n", [0, 1, 8191, 8192, 300_000])
def test_runs_in_place(device, n):
    """A tile must not see keys that another one has written by then."""
    x, keys = numbers(n), runs(n)
    ends = np.flatnonzero(np.append(keys[1:] != keys[:-1], True))[:n]
    scanned = np.asarray(cubc.scan_by_key(keys, x, "a + b", deterministic=True, device="cpu"))
    k, v = on(device, keys.copy()), on(device, x.copy())
    count = on(device, np.full((), -1, "i8"))
    cubc.reduce_by_key(k, v, "a + b", out=(k, v), count=count, deterministic=True)
    assert int(np.asarray(count)) == ends.size
    assert bits(np.asarray(k)[: ends.size]) == bits(keys[ends])
    assert bits(np.asarray(v)[: ends.size]) == bits(scanned[ends])


def test_lazy_keys_and_values(device):
    x, keys = numbers(30_000), runs(30_000)
    expected = cubc.reduce_by_key(keys // 2, x * x, deterministic=True, device="cpu")
    k, v = cubc.lazy("k / 2", k=on(device, keys)), cubc.lazy("v * v", v=on(device, x))
    found = cubc.reduce_by_key(k, v, deterministic=True)
    for a, b in zip(found, expected, strict=True):
        assert bits(np.asarray(a)) == bits(b)


def test_errors_of_runs(device):
    x = on(device, numbers(10))
    with pytest.raises(ValueError, match="values of reduce_by_key has 3 items"):
        cubc.reduce_by_key(x, x[:3], deterministic=True)
    with pytest.raises(TypeError, match="did you mean 'deterministic'"):
        cubc.reduce_by_key(x, x, determinist=True)


# ---- segments ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("type", "op"),
    [("F32", "sum"), ("F32", "min"), ("F32", "a + b"), ("F64", "min"), ("F16", "sum")],
)
def test_a_segment_is_as_if_alone(device, type, op):
    x = numbers(60_000, TYPES[type])
    offsets = edges(x.size)
    found = cubc.segmented_reduce(
        on(device, x), on(device, offsets), op, init=7, deterministic=True
    )
    alone = [
        cubc.reduce(x[begin:end], op, init=7, deterministic=True)
        for begin, end in pairwise(offsets)
    ]
    assert bits(np.asarray(found)) == bits(np.array(alone, x.dtype))


def test_rows_are_as_if_alone(device):
    x = numbers(30 * 1111).reshape(30, 1111)
    x[:] = x[0]
    sums = np.asarray(cubc.sum(on(device, x), axis=1, deterministic=True))
    assert np.unique(sums.view("u4")).size == 1
    assert sums[0] == cubc.sum(x[0], deterministic=True)


def test_segments_that_overlap_stay_inside(device):
    """Offsets that go up and down: results are undefined, and nothing else happens."""
    x = numbers(100_000)
    offsets = np.tile([0, x.size], 200)
    arrays = (cubc.asarray(a, device=device) for a in (x, offsets))  # NumPy's would be refused
    found = cubc.segmented_reduce(*arrays, deterministic=True)
    assert found.shape == (399,)


# ---- arithmetic ----------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [100, 8192, 100_000])
def test_products_are_rounded(device, n):
    """A product and a sum do not become one step."""
    v, w = (on(device, numbers(n, seed=k)) for k in (1, 2))
    made = cubc.transform("v * w", v=v, w=w)
    lazy = cubc.lazy("v * w", v=v, w=w)
    for call in (cubc.sum, cubc.scan):
        expected = call(made, deterministic=True)
        assert bits(np.asarray(call(lazy, deterministic=True))) == bits(np.asarray(expected))


def test_an_operator_is_rounded_step_by_step(device):
    """Within four items of float32 the order is plain: the bits are those of NumPy's steps."""
    x = np.random.default_rng(0).standard_normal((5000, 4)).astype("f4")
    expected = x.copy()
    for j in range(1, 4):
        expected[:, j] = expected[:, j - 1] * x[:, j] + x[:, j]
    found = cubc.segmented_scan(
        on(device, x.ravel()), op="a * b + b", segment_size=4, deterministic=True
    )
    assert bits(np.asarray(found)) == bits(expected)


def test_complex_numbers(device):
    x = (numbers(20_000) + 1j * numbers(20_000, seed=5)).astype("c8")
    near = (np.exp(1j * np.arange(20_000))).astype("c8")
    for z, op in ((x, "sum"), (near, "prod")):
        for call in (cubc.reduce, cubc.scan):
            expected = bits(call(z, op, deterministic=True))
            assert bits(np.asarray(call(on(device, z), op, deterministic=True))) == expected


@pytest.mark.parametrize(("dtype", "u"), [("f4", 2.0**-24), ("f8", 2.0**-53)])
def test_the_bound_that_is_documented(device, dtype, u):
    x = numbers(400_000, dtype)
    exact, most = math.fsum(x), math.fsum(np.abs(x))
    assert abs(float(cubc.sum(on(device, x), deterministic=True)) - exact) <= 46 * u * most
    last = np.asarray(cubc.scan(on(device, x), deterministic=True))[-1]
    assert abs(float(last) - exact) <= 48 * u * most


@pytest.mark.parametrize("op", ["sum", "prod", "min", "max"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -0.0, 1e-45])
def test_special_values(device, op, value):
    for n in (1, 100, 9000):
        x = np.ones(n, "f4")
        x[n // 2] = value
        with np.errstate(all="ignore"):
            expected = getattr(np, op)(x.astype("f8"))
        inputs.same(
            inputs.value(cubc.reduce(on(device, x), op, deterministic=True)), np.float32(expected)
        )


@settings(max_examples=25)
@given(n=st.integers(0, 40_000), seed=st.integers(0, 99))
def test_integers_are_as_ever(device, n, seed):
    x = inputs.random("I32", n, seed)
    for call in (cubc.sum, cubc.scan):
        inputs.same(call(on(device, x), deterministic=True), call(on(device, x)))
    k = on(device, runs(n))
    found = cubc.reduce_by_key(k, on(device, x), "a + b", deterministic=True)
    for a, b in zip(found, cubc.reduce_by_key(k, on(device, x), "a + b"), strict=True):
        inputs.same(a, b)
    inputs.same(
        cubc.reduce(on(device, x), "a + b", init=0, deterministic=True), x.sum(dtype=x.dtype)
    )
    if n:
        assert int(cubc.argmax(on(device, x), deterministic=True)) == x.argmax()


def test_min_and_max_of_a_scan_are_the_ordinary_ones(device, tmp_path):
    """Zeros of both signs: the last one of equals, in whatever tiles."""
    draw = np.random.default_rng(3)
    x = np.where(draw.random(40_000) < 0.5, np.float32(0), np.float32(-0.0))
    with tuner.record(tmp_path / "store.db"):
        found = cubc.scan(on(device, x), "min", deterministic=True)
        cubc.scan_by_key(on(device, runs(x.size)), on(device, x), "max", deterministic=True)
        cubc.scan(on(device, x), deterministic=True)
    assert bits(np.asarray(found)) == bits(x)
    names = set(tuner.recorded(tmp_path / "store.db")["benchmark"])
    assert names == {"scan.inclusive.min", "scan.by_key", "deterministic_scan.sum"}


def test_no_items(device):
    none = on(device, np.empty(0, "f4"))
    assert float(cubc.sum(none, deterministic=True)) == 0
    assert float(cubc.reduce(none, "a * b", init=3, deterministic=True)) == 3
    assert cubc.scan(none, deterministic=True).shape == (0,)
    empty = on(device, np.zeros(5, "i8"))
    found = cubc.segmented_reduce(none, empty, "prod", deterministic=True)
    np.testing.assert_array_equal(np.asarray(found), np.ones(4, "f4"))


def test_in_place(device):
    x = numbers(50_000)
    expected = bits(cubc.scan(x, deterministic=True))
    d = on(device, x.copy())
    assert cubc.scan(d, out=d, deterministic=True) is d
    assert bits(np.asarray(d)) == expected


@pytest.mark.parametrize("call", [cubc.reduce, cubc.scan])
def test_it_is_a_truth_value(call):
    class Neither:
        def __bool__(self):
            raise RuntimeError("neither")

    with pytest.raises(RuntimeError, match="neither"):
        call(np.ones(3), deterministic=Neither())
