"""merge_sort against NumPy's stable sorts."""

import inputs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs import TYPES, in_turn, on, same

import cubc
from cubc import _core


def order_of(x):
    """Indices that sort by numbers, which sort bfloat16 too; NaN last."""
    return np.argsort(inputs.exact(x), kind="stable")


@pytest.mark.parametrize(("type", "what"), in_turn(inputs.SOME, ["keys", "pairs"], 2))
def test_every_type(device, type, what):
    for n in (0, 1, 2, 1000, 70_001):
        x = inputs.random(type, n, seed=n)
        order = order_of(x)
        if what == "keys":
            same(cubc.merge_sort(on(device, x)), x[order])
            continue
        keys, values = cubc.merge_sort(on(device, x), values=on(device, np.arange(n)))
        same(keys, x[order])
        same(values, order)


@pytest.mark.parametrize("type", ["F32", "I64"])
def test_boundaries_of_the_policy(device, type):
    x = inputs.random(type, 600_000)
    for n in inputs.sizes("merge_sort.keys", type, device):
        same(cubc.merge_sort(on(device, x[:n])), np.sort(x[:n]))


@pytest.mark.parametrize(
    ("less", "key"),
    [
        ("a > b", lambda x: -x),
        ("(a & 255) < (b & 255)", lambda x: x & 255),
        ("(a < 0 ? -a : a) < (b < 0 ? -b : b)", np.abs),
        ("a % 3 > b % 3", lambda x: -np.fmod(x, 3)),
        ("0", np.zeros_like),
    ],
)
def test_a_comparison(device, less, key):
    x = np.random.default_rng(5).integers(-(10**6), 10**6, 100_003)
    order = np.argsort(key(x), kind="stable")
    keys, values = cubc.merge_sort(on(device, x), less, values=on(device, np.arange(x.size)))
    same(keys, x[order])
    same(values, order)


@pytest.mark.parametrize("less", ["true", "a != b", "a <= b", "(a * 7 ^ b * 13) & 1"])
def test_no_order_at_all(device, less):
    """The result is undefined, and nothing beyond it is touched."""
    n = 100_003
    x = cubc.asarray(np.arange(n, dtype=np.int32), device=device)
    room = cubc.asarray(np.full(n + 2, -1, np.int32), device=device)
    cubc.merge_sort(x, less, values=x, out=(room[1:-1], cubc.empty(n, "int32", device=device)))
    room = np.asarray(room)
    assert room[0] == room[-1] == -1
    assert ((room[1:-1] >= 0) & (room[1:-1] < n)).all()


@pytest.mark.parametrize("pattern", ["equal", "few", "sorted", "reversed", "saw", "nearly"])
def test_patterns(device, pattern):
    n = 200_003
    x = {
        "equal": np.zeros(n),
        "few": np.random.default_rng(0).integers(0, 3, n),
        "sorted": np.arange(n),
        "reversed": np.arange(n)[::-1],
        "saw": np.arange(n) % 1000,
        "nearly": np.arange(n) + 50 * (np.arange(n) % 97 == 0),
    }[pattern].astype(np.int32)
    keys, values = cubc.merge_sort(on(device, x), values=on(device, np.arange(n)))
    order = order_of(x)
    same(keys, x[order])
    same(values, order)


@pytest.mark.parametrize("type", inputs.FLOATS)
def test_special_values(device, type):
    special = [np.nan, -np.inf, np.inf, 0.0, -0.0, 1e-7, -1.0, np.nan, 3.0]
    x = np.tile(np.array(special, TYPES[type]), 3000)
    keys, values = cubc.merge_sort(on(device, x), values=on(device, np.arange(x.size)))
    same(keys, x[order_of(x)])
    same(values, order_of(x))


@pytest.mark.parametrize("row", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("n", [1000, 70_001])
def test_values_of_every_size(device, row, n):
    draw = np.random.default_rng(row)
    x = draw.integers(0, 100, n).astype(np.int16)
    values = draw.integers(0, 256, (n, row)).astype(np.uint8)
    keys, moved = cubc.merge_sort(on(device, x), values=on(device, values))
    same(keys, np.sort(x))
    same(moved, values[order_of(x)])


@pytest.mark.parametrize("n", [600, 5000, 70_001])
def test_blocks_of_many_tiles(device, policies, n):
    """In order, so that a run's tiles come from one side only, and drawn; with a GPU's threads."""
    arch = cubc.device_info(device)["arch"]
    for name in ("keys", "pairs"):
        _core.use_policy(f"merge_sort.{name}", {"T{ct}": "I32"}, arch, "ipt_5.tpb_64.mb_1")
    for x in (inputs.random("I32", n), np.arange(n, dtype=np.int32)[::-1] // 3):
        places = np.arange(n, dtype=np.int32)
        keys, values = cubc.merge_sort(on(device, x), values=on(device, places))
        same(keys, np.sort(x))
        same(values, order_of(x).astype(np.int32))
        same(cubc.merge_sort(on(device, x)), np.sort(x))


@pytest.mark.parametrize("n", [1000, 20_000, 40_000, 70_001])
def test_in_place(device, n):
    """With an odd and an even number of rounds."""
    x = inputs.random("I32", n)
    keys = cubc.asarray(x.copy(), device=device)
    values = cubc.asarray(np.arange(n), device=device)
    cubc.merge_sort(keys, values=values, out=(keys, values))
    same(keys, np.sort(x))
    same(values, order_of(x))


def test_out_and_workspace(device):
    x = inputs.random("F32", 100_000)
    given = cubc.asarray(x, device=device)
    out = cubc.empty(x.size, "float32", device=device)
    workspace = cubc.empty(500_000, "uint8", device=device)
    assert cubc.merge_sort(given, "a > b", out=out, workspace=workspace) is out
    same(out, np.sort(x)[::-1])
    with pytest.raises(ValueError, match="workspace has 10 bytes"):
        cubc.merge_sort(given, out=out, workspace=workspace[:10])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: cubc.merge_sort(x, ""), ValueError, "the comparison is empty"),
        (lambda x: cubc.merge_sort(x, "a < c"), cubc.CompileError, "'a < c' does not compile"),
        (lambda x: cubc.merge_sort(x, values=x[:3]), ValueError, "3 items"),
        (lambda x: cubc.merge_sort(x, values=np.zeros((9, 3))), ValueError, "9 values and"),
        (lambda x: cubc.merge_sort(x, out=np.empty(10, "f4")), TypeError, "float32"),
        (lambda x: cubc.merge_sort(x, out=np.empty(9, "i8")), ValueError, "shape"),
        (lambda x: cubc.merge_sort(x, values=x, out=x), TypeError, "a tuple of two"),
        (lambda x: cubc.merge_sort(x.reshape(2, 5)), ValueError, "one dimension"),
        (lambda x: cubc.merge_sort(x[:5], out=x[2:7]), ValueError, "overlap"),
        (lambda x: cubc.merge_sort(x, les="a < b"), TypeError, "did you mean 'less'"),
    ],
)
def test_wrong_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call(np.arange(10))


# ---- properties ----------------------------------------------------------------------------------
@settings(max_examples=40)
@given(st.lists(st.integers(-9, 9), max_size=3000), st.integers(1, 40))
def test_a_stable_permutation(items, repeats):
    x = np.tile(np.array(items, np.int32), repeats)
    keys, values = cubc.merge_sort(x, values=np.arange(x.size), device="cpu")
    same(keys, np.sort(x))
    same(values, np.argsort(x, kind="stable"))
