"""for_each: statements of C and Python functions, for what they write."""

import math

import inputs
import numpy as np
import pytest
from inputs import on, same

import cubc

N = 10_001
POINT = np.dtype([("m", "f4"), ("n", "i8")], align=True)


@pytest.mark.parametrize("type", inputs.SOME)
def test_every_type(device, type):
    x = inputs.random(type, N)
    out = on(device, np.zeros(N, x.dtype))
    cubc.for_each("out[n - 1 - i] = x[i]", N, x=on(device, x), out=out, n=N)
    same(out, x[::-1])
    cubc.for_each(lambda out, x, i: out.__setitem__(i, x[i]), N, x=on(device, x), out=out)
    same(out, x)


@pytest.mark.parametrize("type", ["f2", "bfloat16"])
def test_short_floats_are_rounded_where_they_are_stored(device, type):
    x = cubc.asarray(np.arange(9.0), dtype=type, device=device)
    out = cubc.empty(9, type, device=device)
    cubc.for_each(
        "out[i] = x[i] / 3; out[i] += 1; out[i] *= x[i]; out[i] -= 0.5; out[i] /= 2",
        9,
        x=x,
        out=out,
    )
    expected = x
    for text in ("x / 3", "x + 1", "x * y", "x - 0.5", "x / 2"):
        more = {"y": x} if "y" in text else {}
        expected = cubc.transform(text, x=expected, **more, dtype=type)
    same(
        cubc.transform("x", x=out, dtype="f4"), cubc.transform("x", x=expected, dtype="f4").numpy()
    )


class OfHost:
    """A tensor of PyTorch's in host memory, as far as it says what it is."""

    def __init__(self, x):
        self.x, self.dtype, self.shape = x, x.dtype, x.shape

    def __dlpack__(self, **keywords):
        return self.x.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


@pytest.mark.parametrize("type", ["f4", "bfloat16"])
def test_memory_of_the_host_by_dlpack(type):
    x = cubc.asarray(np.arange(4.0), dtype=type, device="cpu")
    out = np.zeros(4)
    cubc.for_each("out[i] = x[i]; x[i] *= 2", 4, x=OfHost(x), out=out)
    same(out, np.arange(4.0))
    same(x.astype("f8").numpy(), 2 * out)


@pytest.mark.parametrize("n", [0, 1, 2, 255, 256, 257, 4095, 4096, 4097, 8193, N])
def test_sizes(device, n):
    out = on(device, np.full(n + 1, -1))
    cubc.for_each("out[i] += i + 1", n, out=out)
    same(out, np.append(np.arange(n), -1))


def test_several_statements_and_atomics(device):
    x = inputs.random("I32", N)
    count, total = on(device, np.zeros(2, "u8")), on(device, np.zeros(1, "i4"))
    cubc.for_each(
        """
        const bool odd = x[i] & 1;
        atomicAdd(reinterpret_cast<unsigned long long*>(&count[odd]), 1ull);
        if (odd) atomicMax(&total[0], x[i]);
        """,
        N,
        x=on(device, x),
        count=count,
        total=total,
    )
    same(count, np.bincount(x & 1).astype("u8"))
    same(total, x[x & 1 == 1].max(keepdims=True))


def test_numbers(device):
    out = on(device, np.zeros(4))
    given = {"a": 2, "b": 0.5, "c": np.float32(3), "d": True, "e": 2**63 + 1, "f": np.float16(4)}
    cubc.for_each("out[i] = d ? a * b * c * f + (e >> 62) : 0", 4, out=out, **given)
    same(out, np.full(4, 14.0))
    z = on(device, np.zeros(3, "c8"))
    cubc.for_each("z[i] = w * static_cast<f32>(i)", 3, z=z, w=np.complex64(1 + 2j))
    same(z, (np.arange(3) * (1 + 2j)).astype("c8"))


def test_structs(device):
    p, q = on(device, np.zeros(5, POINT)), on(device, np.zeros(5, POINT))
    cubc.for_each("p[i].m = 0.5f * i; p[i].n = i; q[4 - i] = p[i]", 5, p=p, q=q)
    assert np.asarray(q).tolist() == [(0.5 * k, k) for k in range(5)][::-1]

    def move(p, q, i):
        if p[i].n > 2:
            q[i] = p[i]

    cubc.for_each(move, 5, p=p, q=q)
    assert np.asarray(q)["n"].tolist() == [4, 3, 2, 3, 4]


def test_masks_lists_and_lazy_objects(device):
    out = on(device, np.zeros(4, bool))
    x = on(device, np.arange(4))
    square = cubc.lazy("x * x", x=x)
    cubc.for_each("out[i] = square[i] > 3", 4, square=square, out=out)
    same(out, np.arange(4) > 1)
    host = np.zeros(3)
    cubc.for_each("host[k[i]] = i", 3, host=host, k=[2, 0, 1])
    same(host, np.array([1.0, 2, 0]))


# ---- functions -----------------------------------------------------------------------------------
def sort_pair(x, y, i):
    if x[i] > y[i]:
        x[i], y[i] = y[i], x[i]


def test_a_function_that_swaps(device):
    """A loaded value stays when its item is written."""
    x, y = inputs.random("F32", N), inputs.random("F32", N, seed=1)
    a, b = on(device, x.copy()), on(device, y.copy())
    cubc.for_each(sort_pair, N, x=a, y=b)
    same(a, np.minimum(x, y))
    same(b, np.maximum(x, y))


def test_a_function_with_conditions(device):
    limit = 2

    def f(x, k, out, s, i):
        for step in range(3):
            out[3 * i + step] = x[i] * step + s
        if x[i] > limit and i % 2 == 0:
            out[3 * i] = math.sqrt(x[i])
            if k[i] == 0:
                out[3 * i + 1] += 100
        elif x[i] < 0:
            out[3 * i + 2] = k[i]

    def expected(x, k, s):
        out = np.zeros(3 * x.size)
        for i in range(x.size):
            f(x, k, out, s, i)
        return out

    x, k = np.arange(-50, 51) / 4, np.arange(101) % 3
    out = on(device, np.zeros(303))
    cubc.for_each(f, 101, x=on(device, x), k=on(device, k), out=out, s=0.25)
    same(out, expected(x, k, 0.25))
    limit = 5  # another value needs no other kernel
    cubc.for_each(f, 101, x=on(device, x), k=on(device, k), out=out, s=0.5)
    same(out, expected(x, k, 0.5))


# ---- what is outside -----------------------------------------------------------------------------
@pytest.mark.parametrize("body", ["y[i + 2] = x[i]", "y[i] = x[i - 2]", "y[i] = x[i << 40]"])
def test_an_index_outside_is_found(device, body):
    whole = np.zeros(12)
    x, y = on(device, np.ones(9)), on(device, whole[:9])
    with pytest.raises(IndexError, match=r"for_each.*[xy]\[-?\d+\] is outside of the 9 items"):
        cubc.for_each(body, 9, x=x, y=y, check=True)
    assert not whole[9:].any()
    cubc.for_each("y[i] = x[8 - i]", 9, x=x, y=y, check=True)
    same(y, np.ones(9))


def test_the_other_checked_kinds(device):
    p, b = on(device, np.zeros(3, POINT)), on(device, np.zeros(3, bool))
    with pytest.raises(IndexError, match=r"p\[3\] is outside of the 3"):
        cubc.for_each("p[i + 1].n = 1; b[i] = true", 3, p=p, b=b, check=True)
    assert np.asarray(p)["n"].tolist() == [0, 1, 1]
    assert np.asarray(b).all()


def test_the_environment_checks(device, monkeypatch):
    x, y = on(device, np.ones(9)), on(device, np.zeros(9))
    monkeypatch.setenv("CUBC_CHECK", "1")
    with pytest.raises(IndexError, match=r"x\[9\] is outside of the 9 items of x"):
        cubc.for_each("y[i] = x[i + 1]", 9, x=x, y=y)
    again = cubc.bind(cubc.for_each, "y[i] = 2 * x[i]", 9, x=x, y=y)
    again()
    same(y, np.full(9, 2.0))
    monkeypatch.setenv("CUBC_CHECK", "2")  # as the core says it
    for call in (
        lambda: cubc.for_each("y[i] = x[i]", 9, x=x, y=y),
        lambda: cubc.sum(cubc.lazy("x[i]", x=x, i=on(device, np.arange(9)))),
    ):
        with pytest.raises(ValueError, match='CUBC_CHECK is "2", must be a number from 0 to 1'):
            call()


def test_what_is_read_only():
    x = np.arange(4.0)
    x.flags.writeable = False
    for read in (x, [1.0, 2.0], cubc.lazy("i", size=4)):
        with pytest.raises(cubc.CompileError, match=r"read-only|const"):
            cubc.for_each("x[i] = 1", 2, x=read, device="cpu")


def refused_index(x, i):
    x[i / 2] = 1


def refused_result(x, i):
    return x[i]


X = np.arange(6.0)


@pytest.mark.parametrize(
    ("body", "n", "options", "error", "words"),
    [
        ("x[i] = 1", -1, {}, ValueError, "n is -1: expected 0 or more"),
        ("x[i] = 1", 1.5, {}, TypeError, "n is 1.5: expected an int"),
        (" ", 1, {}, TypeError, "the body is ' '"),
        (3, 1, {}, TypeError, "the body is 3"),
        ("x[i] = y", 1, {}, cubc.CompileError, "'y'"),
        ("x[i] = 1", 1, {"i": 3}, ValueError, "'i' cannot name an operand"),
        ("x[i] = 1", 1, {"cubc_n": 3}, ValueError, "'cubc_n' cannot name an operand"),
        ("x[i] = s[0]", 1, {"s": np.zeros(20)[::2]}, ValueError, "contiguous|C order"),
        ("x[i] = s", 1, {"s": "text"}, TypeError, "dtype <U4"),
        (refused_index, 1, {}, TypeError, r"test_for_each.py:\d+: an index is"),
        (refused_result, 1, {}, TypeError, "returns something"),
        (lambda y, i: None, 1, {}, TypeError, "has the parameters y, i, and the operands are x"),
        ("x[i] = p[i].m", 1, {"p": np.zeros(3, "f4,f8")}, TypeError, "align=True"),
        ("x[i] = 1", 1, {"device": "nosuch"}, ValueError, "the arrays are on cpu"),
    ],
)
def test_wrong_arguments(body, n, options, error, words):
    with pytest.raises(error, match=words):
        cubc.for_each(body, n, x=X.copy(), **options)


def test_a_loop_over_numbers_compiles_once():
    x = np.zeros(3)
    for k in range(100):
        cubc.for_each("x[i] = k", 3, x=x, k=k)
        assert x[2] == k


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        ("y[18446744073709551615ull] = 1", IndexError, r"y\[18446744073709551615\] is outside"),
        ("y[-1] = 1", IndexError, r"y\[-1\] is outside of the 3"),
        ("y[(signed char)-2] = 1", IndexError, r"y\[-2\] is outside of the 3"),
        ("y[1.5] = 1", cubc.CompileError, "ambiguous|more than one operator"),
    ],
)
def test_indices_that_are_checked(device, body, error, message):
    y = cubc.asarray(np.zeros(3), device=device)
    with pytest.raises(error, match=message):
        cubc.for_each(body, 3, y=y, check=True)
    assert (y.numpy() == 0).all()


def test_operands_that_are_refused(device):
    y = cubc.asarray(np.zeros(3), device=device)
    with pytest.raises(TypeError, match="an operand takes another name"):
        cubc.for_each("check[i] = 1", 3, check=y)
    with pytest.raises(OverflowError, match=r"'s' is 1\.845e\+19: an int has 64 bits"):
        cubc.for_each("y[i] = s", 3, y=y, s=2**64)
