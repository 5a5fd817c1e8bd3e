"""scatter, put and put_along_axis against NumPy's ufunc.at and put."""

from itertools import product

import inputs
import numpy as np
import pytest
from inputs import TYPES, in_turn, on, same

import cubc

MODES = ["raise", "wrap", "clip"]
AT = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}


def small(type, n, seed=0):
    """Items whose sums and products are exact, in any order."""
    draw = np.random.default_rng(seed).integers(-1, 2, n)
    return draw.astype({"C64": "c8", "C128": "c16", "BOOL": "?"}.get(type) or TYPES[type])


def at(op, x, places, values):
    """NumPy's result: float32 stands for bfloat16, which its loops do not take."""
    made = x.astype("f4") if str(x.dtype) == "bfloat16" else x.copy()
    AT[op].at(made, places, values.astype(made.dtype))
    return made.astype(x.dtype)


ALL = [*TYPES, "BOOL", "C64", "C128"]
SOME = ["I8", "F16", "U32", "F64"]  # of each size that is exchanged


@pytest.mark.parametrize(
    ("type", "op"),
    [*in_turn(ALL, [None, "sum"], 2), *product(SOME[:3], ["sum"]),
     *in_turn(SOME, ["prod", "min", "max"], 3), ("C128", "prod")],
)  # fmt: skip
def test_every_type(device, type, op):
    x, values = small(type, 301), small(type, 999, 1)
    places = inputs.random("I64", 999) % 602 - 301
    given = on(device, x), on(device, places), on(device, values), op
    if op is None:
        places = np.unique(places % 301)
        expected = x.copy()
        expected[places] = values[: places.size]
        given = on(device, x), on(device, places), on(device, values[: places.size])
    else:
        expected = at(op, x, places, values)
    same(cubc.scatter(*given), expected)


@pytest.mark.parametrize("type", ["I8", "BF16", "C128"])
@pytest.mark.parametrize("op", [None, "sum"])
def test_deterministic(device, type, op):
    x, values = small(type, 50), small(type, 700, 1)
    places = inputs.random("I64", 700) % 100 - 50
    expected = x.copy()
    if op is None:
        expected[places] = values  # NumPy's last one stays
    else:
        expected = at(op, x, places, values)
    given = on(device, x), on(device, places), on(device, values), op
    same(cubc.scatter(*given, deterministic=True), expected)
    out = on(device, x.copy())
    assert cubc.scatter(out, *given[1:], out=out, deterministic=True) is out
    same(out, expected)


def test_bits_of_deterministic_sums(device):
    values = np.random.default_rng(0).normal(size=3000).astype("f4")
    places = inputs.random("I64", 3000) % 7
    first, *others = (
        np.asarray(cubc.scatter(on(device, np.zeros(7, "f4")), on(device, places),
                                on(device, values), "sum", deterministic=True))
        for _ in range(3)
    )  # fmt: skip
    assert all((first == other).all() for other in others)
    apart = [cubc.reduce(values[places == k], deterministic=True, device="cpu") for k in range(7)]
    np.testing.assert_allclose(first, apart, rtol=1e-5)


def test_own_operators_keep_their_order(device):
    x, values = inputs.affine(5), inputs.affine(400, 1)
    places = inputs.random("I64", 400) % 5
    expected = [inputs.compose([x[k], *values[places == k]])[-1] for k in range(5)]
    given = on(device, x), on(device, places), on(device, values)
    same(cubc.scatter(*given, inputs.AFFINE), np.array(expected))
    x, values = x.astype("u2"), values.astype("u2")
    np.bitwise_xor.at(x, places, values)
    given = on(device, inputs.affine(5).astype("u2")), given[1], on(device, values)
    same(cubc.scatter(*given, "a ^ b", commutative=True), x)
    same(cubc.scatter(*given, lambda a, b: a ^ b), x)


def test_structs(device):
    x = np.zeros(40, [("n", "i4"), ("v", "f8"), ("k", "u1")])
    values = np.zeros(90, x.dtype)
    values["n"] = np.arange(90)
    places = np.arange(90) * 7 % 40
    made = cubc.scatter(on(device, x), on(device, places), on(device, values), deterministic=True)
    x[places] = values
    assert (np.asarray(made) == x).all()
    op = "value_t{a.n + b.n, a.v, a.k}"
    made = cubc.scatter(on(device, x), on(device, places), on(device, values), op)
    n = x["n"].copy()
    np.add.at(n, places, values["n"])
    assert (np.asarray(made)["n"] == n).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_axes_and_modes(device, axis, mode):
    x = inputs.random("I32", 6 * 7 * 5).reshape(6, 7, 5)
    places = inputs.random("I64", 12).reshape(3, 4) % (10 if mode == "raise" else 40) - 5
    like = np.take(x, places, axis, mode=mode)
    values = inputs.random("I32", like.size, 1).reshape(like.shape)
    number = np.arange(x.size).reshape(x.shape)
    flat = np.take(number, places, axis, mode=mode)
    expected = x.copy()
    np.add.at(expected.reshape(-1), flat, values)
    given = on(device, x), on(device, places)
    same(cubc.scatter(*given, on(device, values), "sum", axis, mode=mode), expected)
    same(cubc.scatter(*given, on(device, values), "a + b", axis, mode=mode), expected)
    out = on(device, x.copy())
    cubc.scatter(out, given[1], on(device, values[:1]), "sum", axis, mode=mode, out=out)
    expected = x.copy()
    np.add.at(expected.reshape(-1), flat, np.broadcast_to(values[:1], like.shape))
    same(out, expected)


def test_boundaries_of_the_policy(device):
    for n in inputs.sizes("scatter.sum", "I32", device):
        x = np.arange(n, dtype=np.int32)
        same(
            cubc.scatter(on(device, x), on(device, x[::-1].copy()), on(device, x), "sum"),
            x + x[::-1],
        )


def test_bytes_beside_the_array(device):
    """One byte is combined, and neither the one before nor the one behind."""
    whole = np.full(103, 7, np.uint8)
    d = cubc.asarray(whole, device=device)
    for begin, end in ((1, 102), (2, 101), (51, 52)):
        part = d[begin:end]
        zeros = cubc.asarray(np.zeros(500, "i8"), device=device)
        cubc.scatter(
            part, zeros, cubc.asarray(np.full(500, 3, "u1"), device=device), "sum", out=part
        )
        whole[begin] += np.uint8(1500 % 256)
        same(d, whole)


def test_no_items_no_dimensions_and_steps(device):
    x = np.arange(5)
    same(cubc.scatter(on(device, x), on(device, np.zeros(0, int)), on(device, x[:0])), x)
    same(cubc.scatter(on(device, x), 3, 9), np.array([0, 1, 2, 9, 4]))
    same(cubc.scatter(on(device, x[2]), on(device, np.zeros(2, int)), 1, "sum"), np.array(4))
    same(cubc.scatter(x[::2], [0, -1], [7, 8], device="cpu"), np.array([7, 2, 8]))
    with pytest.raises(IndexError, match="without any"):
        cubc.scatter(on(device, x[:0]), on(device, x), on(device, x))


def test_lazy_indices_and_values(device):
    x = inputs.random("I32", 1000)
    backwards = cubc.lazy("999 - i", size=1000, dtype="int64")
    twice = cubc.lazy("2 * v", v=on(device, x))
    same(cubc.scatter(on(device, x), backwards, twice, "sum", device=device), x + 2 * x[::-1])
    same(cubc.scatter(on(device, x), backwards, twice, device=device), 2 * x[::-1])
    ordered = cubc.scatter(on(device, x), backwards, twice, "a + b", device=device)
    same(ordered, x + 2 * x[::-1])
    half = cubc.scatter(on(device, x), backwards, on(device, x / 2), device=device)
    same(half, (x / 2).astype("i4")[::-1])


# ---- put -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("mode", MODES)
def test_put(device, mode):
    x = inputs.random("F32", 35).reshape(5, 7)
    places = np.array([[3, -1, 8], [20, 0, 14]]) + (100 if mode != "raise" else 0)
    for values in (np.arange(6.0), np.arange(2), np.arange(9, dtype="i1"), np.float64(3.5)):
        expected, made = x.copy(), on(device, x.copy())
        np.put(expected, places, values, mode)
        given = values if np.ndim(values) == 0 else on(device, values)
        cubc.put(made, on(device, places), given, mode, deterministic=True)
        same(made, expected)
    made = on(device, x.copy())
    cubc.put(made, on(device, places[:0]), given, mode)
    cubc.put(made, on(device, places), on(device, np.zeros(0)), mode)
    same(made, x)


def test_put_in_place():
    x = np.arange(24).reshape(4, 6)
    part = x[:, ::2]
    cubc.put(part, [0, -1], [70, 80], device="cpu")
    assert x[0, 0] == 70 and x[3, 4] == 80 and x.sum() == 276 + 70 + 80 - 22
    d = cubc.asarray(np.arange(4), device="cpu")
    d.put([1], 9)
    same(d, np.array([0, 9, 2, 3]))


@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_put_along_axis(device, axis):
    x = inputs.random("I32", 6 * 7 * 5).reshape(6, 7, 5)
    places = np.argsort(x, axis)
    values = np.arange(x.size, dtype="i4").reshape(places.shape)
    expected, made = x.copy(), on(device, x.copy())
    np.put_along_axis(expected, places, values, axis)
    cubc.put_along_axis(made, on(device, places), on(device, values), axis)
    same(made, expected)


@pytest.mark.parametrize(
    ("shape", "indices", "axis"),
    [((1, 3), (2, 1), 1), ((3, 4, 1), (1, 2, 5), 1), ((4, 1), (2, 3), 0), ((5, 2), (1, 2), 0)],
)
def test_several_values_for_one_place_along_an_axis(device, shape, indices, axis):
    """The last one stays there, as in NumPy."""
    rng = np.random.default_rng(8)
    places = rng.integers(-shape[axis], shape[axis], indices)
    values = rng.integers(0, 99, indices)
    expected = np.zeros(shape, int)
    np.put_along_axis(expected, places, values, axis)
    made = on(device, np.zeros(shape, int))
    cubc.put_along_axis(made, on(device, places), on(device, values), axis)
    same(made, expected)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x, k: cubc.scatter(x, k + 2, 0), IndexError, "index 12 .* axis 0 with size 12"),
        (lambda x, k: cubc.scatter(x, k * 0.5, 0), TypeError, "scatter are F64, expected integers"),
        (lambda x, k: cubc.scatter(x, k, 0, mode="keep"), ValueError, "mode is 'keep'"),
        (lambda x, k: cubc.scatter(x, k, 0, axis=2), ValueError, "axis 2 is out of bounds"),
        (lambda x, k: cubc.scatter(x, k, x), ValueError, "broadcast"),
        (lambda x, k: cubc.scatter(x, k[:1], k), ValueError, "do not go into"),
        (lambda x, k: cubc.scatter(x, k, 0, "argmax"), ValueError, "does not take argmax"),
        (lambda x, k: cubc.scatter(x, k, 0, "summ"), LookupError, "did you mean 'sum'"),
        (lambda x, k: cubc.scatter(x, k, 1j), TypeError, "take their real parts"),
        (lambda x, k: cubc.scatter(x, k, 0, out=np.zeros(9)), ValueError, "out has the shape"),
        (lambda x, k: cubc.scatter(x, k, k, out=x.ravel()[1:]), ValueError, "out has the shape"),
        (lambda x, k: cubc.scatter(k, k, k, out=k), ValueError, "overlap"),
        (lambda x, k: cubc.put([1, 2], k, 0), TypeError, "changes an array in place"),
        (lambda x, k: cubc.put(x, k * 0.5, 0), TypeError, "expected integers"),
        (lambda x, k: cubc.put(x, k + 9, 0), IndexError, "out of bounds"),
        (lambda x, k: cubc.put_along_axis(x, k, 0, 0), ValueError, "1 dimensions and the array 2"),
        (lambda x, k: cubc.put_along_axis(x, x * 0.5, 0, 0), IndexError, "no integers"),
    ],
)
def test_wrong_arguments(call, error, words):
    with pytest.raises(error, match=words), cubc.device("cpu"):
        call(np.arange(12).reshape(3, 4), np.arange(11))


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("u1", 300), ("u1", -1), ("i4", 2**40), ("u8", -1), ("u1", [3, 300]), ("i2", 1e10)],
)
def test_numbers_that_the_type_cannot_hold(device, dtype, value):
    """As NumPy 2; the items of an array wrap."""
    x = np.arange(6, dtype=dtype)
    a, places = on(device, x.copy()), [0, 1]
    along = np.array([0, 1])
    calls = (
        lambda: cubc.put(a, places, value),
        lambda: cubc.put_along_axis(a, on(device, along), value, 0),
        lambda: cubc.scatter(a, places, value, out=a),
    )
    for call in calls:
        with pytest.raises(OverflowError, match=r"out of bounds|too large"):
            call()
    with pytest.raises(OverflowError, match=r"out of bounds|too large"):
        np.put(x.copy(), places, value)
    same(a, x)
    wide = np.array([3, 300])
    cubc.put(a, places, on(device, wide), deterministic=True)
    np.put(x, places, wide)
    same(a, x)


def test_what_numpy_refuses_to_put():
    with pytest.raises(IndexError, match="cannot replace elements of an empty array"):
        cubc.put(np.zeros(0), 1, 1, "wrap")
    cubc.put(np.zeros(0), [], 1)
    with pytest.raises(ValueError, match="a single dimension"):
        cubc.put_along_axis(np.zeros((2, 3)), np.zeros((2, 1), int), 1, None)


@pytest.mark.parametrize("op", [None, "sum", "a - b"])
def test_numbers_of_numpy_where_places_are_sorted(device, op):
    given = on(device, np.zeros(3))
    made = cubc.scatter(given, np.int64(1), np.float64(5), op, deterministic=True)
    same(made, np.array([0.0, -5 if op == "a - b" else 5, 0]))


def test_no_values_of_any_type(device):
    for x in (np.ones((2, 3), "c8"), np.ones((2, 3), [("a", "i4"), ("b", "f8")])):
        none, values = on(device, np.zeros(0, int)), on(device, np.zeros((2, 0), x.dtype))
        same(cubc.scatter(on(device, x), none, values, "a", axis=-1), x)
