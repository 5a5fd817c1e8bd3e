"""Expressions that index another array, in primitives that read them in different ways."""

import inputs
import numpy as np
import pytest
from gpu_variants import LABELS
from inputs import on, same

import cubc
from cubc import _core

N = 5001
TABLE = inputs.random("F32", 300)
PLACES = inputs.random("I32", N) % 300


def chosen(device, **more):
    return cubc.lazy("table[k]", table=on(device, TABLE), k=on(device, PLACES), **more)


def test_what_it_says(device):
    z = chosen(device)
    assert (z.dtype, z.shape) == (np.float32, (N,))
    assert cubc.lazy("table[k] > 0", table=TABLE, k=PLACES).dtype == bool
    assert cubc.lazy("p[k].m", p=np.zeros(2, [("m", "f4")]), k=PLACES).dtype == np.float32


@pytest.mark.parametrize(
    ("call", "numpy"),
    [
        (lambda z: z.array(), lambda x: x),
        (lambda z: cubc.reduce(z, "max"), np.max),
        (lambda z: cubc.sort(z), np.sort),
        (lambda z: cubc.select(z, "x > 0"), lambda x: x[x > 0]),
    ],
)
def test_primitives(device, call, numpy):
    made = np.asarray(call(chosen(device)))
    expected = np.asarray(numpy(TABLE[np.maximum(PLACES, 0)]))
    np.testing.assert_array_equal(made, expected)


def test_rows_of_a_matrix(device):
    """The table is taken flat; another operand is broadcast."""
    matrix = inputs.random("F32", 60).reshape(20, 3)
    rows = np.abs(PLACES)[:40, None] % 20
    z = cubc.lazy(
        "t[3 * r + c]", t=on(device, matrix), r=on(device, rows), c=on(device, np.arange(3))
    )
    same(z.array(), matrix[rows[:, 0]])
    same(cubc.sum(z, axis=1), matrix[rows[:, 0]].sum(1))


def test_steps_and_the_other_way(device):
    table = on(device, TABLE)
    every = cubc.lazy("x[7 * i + 2]", x=table, size=40)
    same(cubc.asarray(every, device=device), TABLE[2:282:7])
    back = cubc.lazy("x[n - 1 - i]", x=table, n=300, size=300)
    same(cubc.asarray(back, device=device), TABLE[::-1])


def test_an_index_beyond_the_ends(device):
    places = on(device, np.array([-(2**40), -1, 0, 299, 300, 2**40]))
    made = cubc.lazy("table[k]", table=on(device, TABLE), k=places).array()
    same(made, TABLE[[0, 0, 0, 299, 299, 299]])


@pytest.mark.parametrize("where", [0, 4, 17, N - 1])
@pytest.mark.parametrize("index", [-1, 300, 2**40])
def test_a_checked_index_beyond_the_ends(device, monkeypatch, where, index):
    places = np.arange(N) % 300
    places[where] = index
    z = cubc.lazy(
        "t[k] + u[k % 300]", t=on(device, TABLE), u=on(device, TABLE), k=on(device, places)
    )
    cubc.sum(z)
    monkeypatch.setenv("CUBC_CHECK", "1")
    words = rf"t\[{index}\] is outside of the 300 items of t, for item {where}$"
    for call in (cubc.sum, cubc.cumsum, cubc.transform, lambda z: cubc.select(z, "x > 0")):
        with pytest.raises(IndexError, match=words):
            call(z)


def test_only_what_is_read_is_checked(device, monkeypatch):
    """Chosen branches, masks and broadcast operands, with an expression that has no arrays else."""
    monkeypatch.setenv("CUBC_CHECK", "1")
    places = np.arange(-5, 310)
    z = cubc.lazy("k < 0 || k > 299 ? 0 : t[k]", t=on(device, TABLE), k=on(device, places))
    assert inputs.value(cubc.sum(z)) == TABLE.sum()
    rows = cubc.lazy(
        "t[10 * r + c]",
        t=on(device, TABLE),
        r=on(device, np.arange(30)[:, None]),
        c=on(device, np.arange(10)),
    )
    same(rows.array(), TABLE.reshape(30, 10))
    mask = cubc.lazy("t[i] > 0", t=on(device, TABLE), size=301)
    with pytest.raises(IndexError, match=r"select\(\): t\[300\] is .* of t, for item 300"):
        cubc.select(on(device, np.zeros(301)), mask)
    two = cubc.transform(["t[i]", "t[i + 1]"], t=on(device, TABLE), size=299)
    same(two[1], TABLE[1:])
    with pytest.raises(
        IndexError, match=r"t\[300\] is outside of the 300 items of t, for item 29[89]"
    ):
        cubc.transform(["t[i + 1]", "t[i + 2]"], t=on(device, TABLE), size=299)
    monkeypatch.setenv("CUBC_CHECK", "0")
    cubc.transform(["t[i + 1]", "t[i + 2]"], t=on(device, TABLE), size=299)
    monkeypatch.setenv("CUBC_CHECK", "yes")
    with pytest.raises(ValueError, match='CUBC_CHECK is "yes", must be a number from 0 to 1'):
        cubc.transform("t[i]", t=on(device, TABLE), size=3)


@pytest.mark.parametrize("label", LABELS["transform"])
def test_blocks_of_gpus(label):
    """All results of a whole tile precede its stores; the last tile is not whole."""
    x = inputs.random("I64", 5001)
    try:
        for benchmark in ("transform.table", "transform.split"):
            _core.use_policy(benchmark, {"T{ct}": "I64"}, "cpu", label)
        same(cubc.transform("t[i - 1] - x", t=x, x=x), np.append(x[:1], x[:-1]) - x)
        sums = cubc.transform(["t[i + 1] + x", "x"], t=x, x=x)
        same(sums[0], np.append(x[1:], x[-1:]) + x)
        same(sums[1], x)
    finally:
        _core.clear_policies()


def test_with_other_expressions(device):
    z, x = chosen(device), TABLE[np.maximum(PLACES, 0)]
    total = cubc.lazy("z * s + table", z=z, s=2, table=on(device, x))
    assert sorted(total.operands) == ["k", "s", "table", "table_1"]
    same(total.array(), x * 3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda t, k: cubc.lazy("t[k] + t", t=t, k=k).array(), "give the array a second name"),
        (lambda t, k: cubc.lazy("t[k]", t=3, k=k).array(), "'t' is no array to index"),
        (lambda t, k: cubc.lazy("t[k]", t=t[:0], k=k).array(), "indexed and has no items"),
        (lambda t, k: cubc.lazy("t[i]", t=t), "needs out= or size="),
        (lambda t, k: cubc.lazy("t[k]", t=cubc.lazy("x", x=t), k=k), "indexed and lazy"),
        (lambda t, k: cubc.transform("t[k]", t=t, k=k[:300], out=t), "the output overlaps .* 't'"),
    ],
)
def test_what_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call(TABLE.copy(), PLACES)


@pytest.mark.parametrize("blank", ["", " ", "\t", "\n", " \n "])
def test_blanks_before_an_index(device, blank):
    table, k = np.arange(5) * 2, np.array([3, 1])
    made = cubc.lazy(f"t{blank}[k]", t=on(device, table), k=on(device, k), dtype="i8")
    same(made.array(), table[k])
