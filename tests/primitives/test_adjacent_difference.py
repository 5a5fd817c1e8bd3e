"""Differences of neighbours, by an operator of the caller's own, against NumPy."""

import inputs
import numpy as np
import pytest
from inputs import in_turn, on, same
from of_dlpack import OfDlpack

import cubc

N = 10_001
POINT = np.dtype([("k", "i4"), ("w", "f4")])


def expected(x, op, right):
    if right:
        return np.concatenate([op(x[:-1], x[1:]), x[-1:]])
    return np.concatenate([x[:1], op(x[:-1], x[1:])])


@pytest.mark.parametrize(("type", "right"), in_turn(inputs.SOME, [False, True], 2))
def test_every_type(device, type, right):
    x = inputs.random(type, N)
    for n in (0, 1, 2, 33, N):
        wide = inputs.exact(x[:n])
        made = cubc.adjacent_difference(on(device, x[:n]), right=right)
        difference = expected(wide, lambda a, b: a - b if right else b - a, right)
        same(made, difference.astype(x.dtype))


@pytest.mark.parametrize("right", [False, True])
def test_operators(device, right):
    x = inputs.random("F32", N)
    d = on(device, x)
    for op in ("a * 2 + b", lambda a, b: a * 2 + b):
        made = cubc.adjacent_difference(d, op, right=right)
        same(made, expected(x, lambda a, b: a * 2 + b, right))
    bits = x > 0
    made = cubc.adjacent_difference(on(device, bits), right=right)
    same(made, expected(bits, np.not_equal, right))


def test_types(device):
    x = inputs.random("I32", N)
    d = on(device, x)
    same(cubc.adjacent_difference(d, dtype="f8"), expected(x, lambda a, b: b - a, False) * 1.0)
    out = on(device, np.zeros(N, "i8"))
    assert cubc.adjacent_difference(d, "a & b", out=out) is out
    same(out, expected(x, np.bitwise_and, False).astype("i8"))


def test_structs(device):
    x = np.zeros(99, POINT)
    x["k"], x["w"] = np.arange(99) ** 2, 1
    made = np.asarray(cubc.adjacent_difference(on(device, x), "out_t{b.k - a.k, a.w + b.w}"))
    assert made["k"].tolist() == [0, *np.diff(x["k"])]
    assert made["w"].tolist() == [1] + [2] * 98


def test_in_place_lazy_and_strided(device):
    x = inputs.random("F64", N)
    d = on(device, x.copy())
    difference = expected(x, lambda a, b: b - a, False)
    assert cubc.adjacent_difference(d, out=d) is d
    same(d, difference)
    twice = cubc.lazy("2 * x", x=on(device, x))
    same(cubc.adjacent_difference(twice), 2 * difference)
    if device == "cpu":
        wide = np.zeros((N, 2))
        wide[:, 1] = x
        same(cubc.adjacent_difference(wide[:, 1], out=wide[:, 0]), difference)


def test_diff_by_an_operator(device):
    x = inputs.random("F64", 30 * 41).reshape(30, 41)
    d = on(device, x)
    for axis in (0, 1, -1):
        a, b = (np.take(x, np.arange(x.shape[axis] - 1) + k, axis) for k in (0, 1))
        same(cubc.diff(d, op="a * b + 1", axis=axis), a * b + 1)
        same(cubc.diff(d, op=lambda a, b: a * b, axis=axis), a * b)
        same(cubc.diff(d, op="a < b", axis=axis), a < b)
    twice = x[:, :-1] + x[:, 1:]
    same(cubc.diff(d, 2, op="a + b"), twice[:, :-1] + twice[:, 1:])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: cubc.adjacent_difference(x.reshape(3, 3)), ValueError, "one dimension"),
        (lambda x: cubc.adjacent_difference(x, " "), TypeError, "op is ' '"),
        (lambda x: cubc.adjacent_difference(x, 3), TypeError, "op is 3"),
        (lambda x: cubc.adjacent_difference(x, "c - a + b"), cubc.CompileError, "'c'"),
        (lambda x: cubc.adjacent_difference(x, lambda a: a), TypeError, "1 parameters"),
        (lambda x: cubc.adjacent_difference(x[1:], out=x[:-1]), ValueError, "overlap"),
        (lambda x: cubc.diff(x, op=3), TypeError, "op is 3"),
    ],
)
def test_wrong_arguments(call, error, words):
    with cubc.device("cpu"), pytest.raises(error, match=words):
        call(np.arange(9))


@pytest.mark.parametrize(
    ("op", "error", "shown"),
    [
        ("p - q", ValueError, "the expression 'p - q' does not use 'a' and 'b': expected"),
        ("b - x", ValueError, "the expression 'b - x' does not use 'a': expected"),
        (lambda a, b: b, ValueError, r"<lambda> \(.*\.py:\d+\) does not use 'a'"),
        ("a @ b", cubc.CompileError, "the expression 'a @ b' does not compile"),
        ("b - a - x", cubc.CompileError, "the expression 'b - a - x' does not compile"),
        ("b - a - t[i]", cubc.CompileError, r"the expression 'b - a - t\[i\]' does not compile"),
        ("b - a)", cubc.CompileError, r"the expression 'b - a\)' does not compile"),
        ("b - a + " + "y" * 150, cubc.CompileError, "'b - a [+] y{92}' does not compile"),
    ],
)
@pytest.mark.parametrize("right", [False, True])
def test_errors_name_the_operator_of_the_user(device, op, error, shown, right):
    """Names of the expression that is made of it are none of the user's."""
    with pytest.raises(error, match=shown) as caught:
        cubc.adjacent_difference(np.arange(6.0), op, right=right, device=device)
    assert str(caught.value).startswith("adjacent_difference(): ")
    assert "i >" not in str(caught.value) and "i + 1" not in str(caught.value)


def test_members_of_the_names_of_the_items(device):
    pair = np.dtype([("a", "f4"), ("b", "f4")], align=True)
    x = np.array([(1, 2), (4, 8), (9, 1)], pair)
    made = cubc.adjacent_difference(on(device, x), "out_t{b.a - a.a, b.b - a.b}")
    assert np.asarray(made).tolist() == [(1, 2), (3, 6), (5, -7)]
    most = cubc.reduce(on(device, x), ["a.a > b.a ? a : b", "a.b > b.b ? a : b"])
    assert [np.asarray(one).item() for one in most] == [(9, 1), (4, 8)]


@pytest.mark.parametrize("right", [False, True])
def test_an_output_of_the_items_memory(device, right):
    whole = np.arange(20.0) ** 2
    own = on(device, whole.copy())
    wanted = expected(whole, lambda a, b: b - a if not right else a - b, right)
    cubc.adjacent_difference(own, right=right, out=own[:])
    assert np.asarray(own).tolist() == wanted.tolist()
    with pytest.raises(ValueError, match="input and output overlap"):
        cubc.adjacent_difference(own[:-1], right=right, out=own[1:])
    if device == "cpu":
        items = whole.copy()
        given = OfDlpack(items)
        assert cubc.adjacent_difference(given, out=given) is given
        assert items.tolist() == expected(whole, lambda a, b: b - a, False).tolist()
