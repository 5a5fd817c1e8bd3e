"""transform against NumPy."""

import re

import inputs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from inputs import TYPES, in_turn, on, same

import cubc


@pytest.mark.parametrize("type", TYPES)
def test_every_type(device, type):
    x, y = inputs.random(type, 70_001), inputs.random(type, 70_001, seed=1)
    same(cubc.transform("x", x=on(device, x)), x)
    wide = inputs.exact(x) + inputs.exact(y) * inputs.exact(x).dtype.type(3)
    same(cubc.transform("x + 3 * y", x=on(device, x), y=on(device, y)), wide.astype(x.dtype))


@pytest.mark.parametrize("arrays", [0, 1, 2, 3, 8])
def test_operands(device, arrays):
    named = {f"x{k}": inputs.random("I32", 10_001, seed=k) for k in range(arrays)}
    expression = " + ".join(["0", *named])
    moved = {name: on(device, x) for name, x in named.items()}
    out = on(device, np.full(10_001, 9, np.int32))
    cubc.transform(expression, out=out, **moved)
    same(out, sum(named.values(), np.zeros(10_001, np.int32)))


@pytest.mark.parametrize(
    ("type", "name", "expression"),
    [("F32", "transform.mul", "3 * x"), ("U8", "transform.mul", "x + 1")],
)
def test_boundaries_of_the_policy(device, type, name, expression):
    x = inputs.random(type, 500_000)
    expected = eval(expression, {"x": x}).astype(x.dtype)
    for n in inputs.sizes(name, type, device):
        out = np.full(n + 1, 99, x.dtype)
        if device == "cpu":  # and nothing is written past the end
            cubc.transform(expression, x=x[:n], out=out[:n])
            assert out[n] == 99
        else:
            out = cubc.transform(expression, x=on(device, x[:n])).numpy()
        same(out[:n], expected[:n])


def test_the_index(device):
    same(cubc.transform("i", size=100_003, dtype="int64", device=device), np.arange(100_003))
    x = inputs.random("F64", 10_001)
    same(cubc.transform("x * i", x=on(device, x)), x * np.arange(10_001))


def test_scalars(device):
    x = inputs.random("F32", 10_001)
    d = on(device, x)
    same(cubc.transform("a * x + b", x=d, a=0.5, b=2), x * np.float32(0.5) + np.float32(2))
    big = 2**53 + 1  # not a float64
    same(cubc.transform("c", c=big, size=3, dtype="int64", device=device), np.full(3, big))
    flags = cubc.transform("x > c ? t : false", x=d, c=1, t=True, dtype=bool)
    same(flags, x > 1)


def test_scalars_above_int64(device):
    x = inputs.random("U64", 1001)
    for s in (2**63 + 5, np.uint64(2**64 - 1)):
        same(cubc.transform("x + s", x=on(device, x), s=s), x + np.uint64(s))
        flags = cubc.transform("x > s", x=on(device, x), s=s, dtype=bool)
        same(flags, x > np.uint64(s))


@pytest.mark.parametrize(
    "names", [("X", "k", "type", "name", "a"), ("s", "l", "first", "_x", "x_array")]
)
def test_names(device, names):
    """Those that the kernel has for itself are free for operands."""
    x = inputs.random("I32", 1001) >> 3
    moved = {name: on(device, x + k) for k, name in enumerate(names)}
    same(
        cubc.transform(" + ".join(names) + " - 6 * x + i", **moved, x=on(device, x), dtype="int64"),
        10 - x.astype(np.int64) + np.arange(1001),
    )


def test_a_scalar_is_no_part_of_the_code(device):
    """So that a loop over its values compiles once."""
    x = on(device, np.ones(10))
    for k in range(200):
        assert float(np.asarray(cubc.transform("k * x", x=x, k=k))[9]) == k


def test_bool(device):
    x = inputs.random("I32", 10_001)
    same(cubc.transform("x & 4", x=on(device, x), dtype=bool), (x & 4) != 0)
    same(cubc.transform("!x", x=on(device, x > 0)), x <= 0)


def test_special_values(device):
    x = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 65_520, 1e-7, 65_519.996, 1e-42], np.float32)
    same(cubc.transform("x", x=on(device, x)), x)
    assert np.signbit(np.asarray(cubc.transform("x", x=on(device, x))))[3]
    with np.errstate(over="ignore"):
        expected = x.astype(np.float16)
    same(cubc.transform("x", x=on(device, x), dtype=np.float16), expected)


def test_every_half(device):
    """All values of float16 and bfloat16 to float32 and back."""
    words = np.arange(65_536, dtype=np.uint16)
    for type in ("F16", "BF16"):
        x = words.view(TYPES[type])
        with np.errstate(invalid="ignore"):  # there are signalling NaN among them
            expected = x.astype(np.float32)
        same(cubc.transform("x", x=on(device, x), dtype="float32"), expected)
        same(cubc.transform("x + 0.0f", x=on(device, x)), x)


@pytest.mark.parametrize("type", ["F16", "BF16"])
def test_rounding_to_half(device, type):
    x = np.random.default_rng(0).integers(0, 2**32, 100_000, dtype=np.uint32).view(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        expected = x.astype(TYPES[type])
    same(cubc.transform("x", x=on(device, x), dtype=TYPES[type]), expected)


# ---- types ---------------------------------------------------------------------------------------
def test_result_type_is_numpys(device):
    x, y = inputs.random("I16", 100), inputs.random("F32", 100)
    result = cubc.transform("x + y", x=on(device, x), y=on(device, y))
    assert np.asarray(result).dtype == np.result_type(x, y)
    wide = cubc.transform("x * y", x=on(device, x), y=on(device, x.astype(np.int64)))
    same(wide, x * x.astype(np.int64))


@pytest.mark.parametrize(
    ("expression", "dtype"),
    [
        ("x > 2", bool),
        ("x + 0.5", float),
        ("x * s", float),
        ("x + 1", "i4"),
        ("x / 3", "i4"),
        ("x << 2", "i4"),
        ("-x", "i4"),
        ("f * 0.5 + 1", "f4"),
        ("f > s", bool),
        ("x + f", "f8"),
        ("!x || f != f", bool),
        ("f > 0 ? x : 0", "i4"),
        ("f > 0 ? 1 : 0", "i8"),
        ("f > 0 ? 0.5 : 1", "f4"),
        ("x > 0 ? 0.5 : 1", "f8"),
        ("isnan(f)", bool),
        ("sqrt(f)", "f4"),
        ("sqrt(x + 0.0)", "f8"),
        ("fabs(f) <= 0x7f && x > 1e0f", bool),
        ("(float)x / 2", "f4"),
        ("static_cast<double>(f)", "f8"),
        ("random_u64(7, i) > x", bool),
        ("p.m > 1", bool),
        ("p.m * p.n", "f8"),
        ("abs(z)", "f4"),
        ("z * 2 + x", "c16"),
        ("i % 2 == 0 && x > 0", bool),
    ],
)
def test_result_type_of_the_expression(expression, dtype):
    """Types alone: no kernel is compiled for a lazy object."""
    x, f = np.arange(4, dtype="i4"), np.ones(4, "f4")
    p = np.zeros(4, [("m", "f4"), ("n", "i4")])
    known = {"x": x, "f": f, "s": 0.1, "p": p, "z": f * 1j}
    names = set(re.findall(r"(?<![\w.])[a-z]\b(?!\()", expression)) & known.keys()
    z = cubc.lazy(expression, **{name: known[name] for name in names})
    assert z.dtype == np.dtype(dtype)


def test_what_is_not_understood_has_the_type_of_the_arrays():
    x = np.arange(4, dtype="i4")
    assert cubc.lazy("random_u64(7, x)", x=x).dtype == np.int32
    assert cubc.lazy("[&] { return x + 0.5; }()", x=x).dtype == np.int32
    assert cubc.lazy("random_u64(7, i)", size=4).dtype == np.float64
    with pytest.raises(TypeError, match="result's type has to be given"):
        cubc.lazy("f(p.m)", p=np.zeros(4, [("m", "f4")]))


def test_the_index_is_an_int64(device):
    down = -np.arange(5)
    for of in ("-i", lambda i: -i):
        same(cubc.transform(of, size=5, device=device), down)
        same(cubc.sort(cubc.lazy(of, size=5), device=device), down[::-1])
    same(cubc.transform("x * (i - 1)", x=on(device, np.ones(3))), np.array([-1.0, 0, 1]))
    x = on(device, np.arange(6))
    same(cubc.select(x, "i - 3 < 0"), np.arange(3))
    assert cubc.find_if(x, "x - i - 1 < 0") == 0
    same(cubc.transform("i * n", n=3, size=3, device=device), 3 * np.arange(3))


NUMBERS = [("u1", 256), ("u1", -1), ("i1", 128), ("i1", -129), ("i4", 2**31), ("u8", -1)]


@pytest.mark.parametrize(("type", "n"), [*NUMBERS, ("i8", 2**63)])
def test_a_number_that_the_result_cannot_hold(device, type, n):
    """A text and a function refuse it alike; no kernel is compiled for either."""
    x = on(device, np.arange(3, dtype=type))
    for of in ("x * n", lambda x, n: x * n):
        with pytest.raises(OverflowError, match=f"{n}.*{x.dtype}"):
            cubc.transform(of, x=x, n=n)
        with pytest.raises(OverflowError):
            cubc.lazy(of, x=x, n=n)
    for _ in range(2):  # what is known of other numbers says nothing of this one
        with pytest.raises(OverflowError, match=" has n = "):
            cubc.transform(["x * n", "x"], x=x, n=n)
        cubc.transform(["x * n", "x"], x=x, n=1)
    for text in ("n", "x > 1 ? x : n", "-(x + n) / 2"):
        used = {"x": x} if "x" in text else {}
        with pytest.raises(OverflowError, match=" has n = "):
            cubc.transform(text, **used, n=n, out=on(device, np.zeros(3, type)))


@pytest.mark.parametrize(("type", "n"), NUMBERS)
def test_a_number_that_the_result_need_not_hold(device, type, n):
    x = np.arange(3, dtype=type)
    given = on(device, x)
    assert cubc.lazy("x > n ? x : 0", x=given, n=n).dtype == x.dtype
    assert cubc.lazy("convert<i8>(x + n)", x=given, n=n).dtype == np.int8
    same(cubc.transform("x == n", x=given, n=n), x == n)
    wanted = x.astype("i8") + n
    for how in ({"dtype": type}, {"out": on(device, np.zeros(3, type)), "casting": "unsafe"}):
        same(cubc.transform("x + n", x=given, n=n, **how), wanted.astype(type))
    most = np.iinfo(type).max
    same(cubc.transform("x + n - n", x=given, n=int(most)), x)


def test_where_refuses_numbers_that_are_cut(device):
    x = np.arange(3, dtype="u1")
    mask, given = on(device, x > 1), on(device, x)
    same(cubc.where(mask, given, 255), np.where(x > 1, x, 255))
    same(cubc.where(mask, 1.5, given), np.where(x > 1, 1.5, x))
    for pair in ((given, 256), (-1, given)):
        with pytest.raises(OverflowError, match="out of bounds for uint8"):
            cubc.where(mask, *pair)


def test_a_number_is_compared_in_the_type_of_the_arrays(device):
    x = np.float32([0.1, 0.5])
    same(cubc.transform("x > s", x=on(device, x), s=0.1), x > 0.1)


def test_floats_become_integers_if_asked(device):
    x, out = np.arange(5), np.zeros(5, np.int64)
    given = on(device, x)
    for to in (on(device, out), on(device, out > 0)):
        with pytest.raises(TypeError, match=r"is float64 and out has .* casting='unsafe'"):
            cubc.transform("x + 0.5", x=given, out=to)
    to = on(device, out)
    same(cubc.transform("x + 0.5", x=given, out=to, casting="unsafe"), x)
    same(cubc.transform("x + 0.5", x=given, out=to, dtype=np.int64), x)
    same(cubc.transform("x + 0.5", x=given, dtype=np.int64), x)
    with pytest.raises(ValueError, match="casting is 'safe'"):
        cubc.transform("x + 0.5", x=given, out=to, casting="safe")


def test_modulus_of_floats(device):
    for type in ("f4", "f8", "f2"):
        x = np.arange(-40, 40).astype(type) / 4
        made = cubc.transform("x % 2.5 % s", x=on(device, x), s=1.5)
        same(made, np.fmod(np.fmod(x, x.dtype.type(2.5)), x.dtype.type(1.5)))
    same(cubc.transform("x % -7", x=on(device, np.arange(-9, 9))), np.fmod(np.arange(-9, 9), -7))
    same(cubc.select(on(device, x), "x % 1 == 0.5"), x[np.fmod(x, 1) == 0.5])


def test_out_decides_the_type(device):
    x = inputs.random("F32", 100)
    out = on(device, np.empty(100, np.float64))
    assert cubc.transform("x * 0.1", x=on(device, x), out=out) is out
    same(out, x.astype(np.float64) * 0.1)


# ---- operands ------------------------------------------------------------------------------------
def test_in_place(device):
    x = inputs.random("F32", 100_003)
    d = on(device, x.copy())
    assert cubc.transform("x * 2 + 1", x=d, out=d) is d
    same(d, x * 2 + 1)


def test_in_place_beside_another(device):
    x, y = inputs.random("I64", 100_003), inputs.random("I64", 100_003, seed=1)
    d = on(device, x.copy())
    cubc.transform("x - y", x=d, y=on(device, y), out=d)
    same(d, x - y)


def test_no_items(device):
    result = cubc.transform("x + 1", x=on(device, np.empty((0, 3), np.float32)))
    assert result.shape == (0, 3)
    assert cubc.transform("i", size=0, device=device).shape == (0,)


@pytest.mark.parametrize("first", [1, 2, 3])
def test_misaligned(device, first):
    x = inputs.random("I16", 20_003)
    if device == "cpu":
        out = np.zeros(20_010, np.int16)
        cubc.transform("x + 1", x=x[first:], out=out[7 : 7 + x.size - first])
        same(out[7 : 7 + x.size - first], x[first:] + np.int16(1))
        assert not out[:7].any()
    else:
        same(cubc.transform("x + 1", x=cubc.asarray(x[first:])), x[first:] + np.int16(1))


def test_shapes(device):
    x = inputs.random("I32", 24_000)
    for shape in ((24_000,), (4, 6000), (2, 3, 4, 1000), ()):
        y = x.reshape(shape) if shape else x[0].reshape(())
        same(cubc.transform("x + 1", x=on(device, y)), np.asarray(y + 1))


def test_non_contiguous_numpy(device):
    x = inputs.random("I64", 6000).reshape(60, 100)
    same(cubc.transform("x + y", x=x.T, y=x[::-1].T, device=device), x.T + x[::-1].T)


@settings(max_examples=40)
@given(
    x=hnp.arrays(
        st.sampled_from([np.int8, np.uint16, np.int64, np.float64]),
        hnp.array_shapes(min_dims=0, max_dims=3, max_side=40),
        elements=st.integers(0, 100),
    )
)
def test_random_arrays(device, x):
    same(cubc.transform("x * x + 1", x=x, device=device), (x * x + 1).astype(x.dtype))


def test_mathematical_functions(device):
    x = np.linspace(0.1, 0.9, 1000)
    for name in ("sqrt", "exp", "log", "sin", "tanh", "floor", "fabs", "erf"):
        y = cubc.transform(f"{name}(x)", x=on(device, x))
        assert np.asarray(y).shape == x.shape, name
    y = np.asarray(cubc.transform("pow(x, 2.0) + fmax(x, y)", x=on(device, x), y=on(device, x)))
    assert np.allclose(y, x**2 + x)
    assert np.allclose(np.asarray(cubc.transform("sqrt(x)", x=on(device, x))), np.sqrt(x))


# ---- broadcasting --------------------------------------------------------------------------------
SHAPES = [
    ((300, 48), (48,)),  # rows of whole vectors
    ((300, 47), (47,)),  # and others
    ((300, 48), (300, 1)),
    ((300, 47), (300, 1)),
    ((48,), (300, 1)),
    ((300, 48), (1, 1)),
    ((300, 48), ()),
    ((1, 300, 48), (1,)),
    ((7, 1, 5, 1, 16), (6, 1, 4, 1)),
    ((3, 4, 1, 1, 32), (3, 4, 5, 6, 1)),  # neighbours that are one axis
    ((5, 0), (5, 1)),
    ((0, 1), (1, 7)),
    ((2, 1), (1, 1)),
]


@pytest.mark.parametrize(("type", "shapes"), in_turn(["I8", "F32", "F64"], SHAPES, 3))
def test_broadcast(device, shapes, type):
    a, b = shapes
    x, y = (inputs.random(type, int(np.prod(s)), seed=len(s)).reshape(s) for s in (a, b))
    same(cubc.transform("x - y", x=on(device, x), y=on(device, y)), x - y)
    same(cubc.transform("y - x", x=on(device, x), y=on(device, y)), y - x)


def test_broadcast_of_three(device):
    x, y, z = (inputs.random("F32", n).reshape(s) for n, s in ((40, (40, 1)), (64, 64), (1, 1)))
    z = z.reshape(1, 1, 1)
    d = [on(device, v) for v in (x, y, z)]
    expected = x * y - z * np.float32(2) + np.arange(2560, dtype=np.float32).reshape(1, 40, 64)
    same(cubc.transform("x * y - z * s + i", x=d[0], y=d[1], z=d[2], s=2.0), expected)


def test_broadcast_out(device):
    x, y = inputs.random("I32", 6400).reshape(100, 64), inputs.random("I32", 64)
    d = on(device, x.copy())
    assert cubc.transform("x + y", x=d, y=on(device, y), out=d) is d
    same(d, x + y)
    with pytest.raises(ValueError, match=r"out has the shape \(64,\), expected \(100, 64\)"):
        cubc.transform("x + y", x=d, y=on(device, y), out=on(device, y.copy()))
    if device == "cpu":
        with pytest.raises(ValueError, match="overlap"):
            cubc.transform("x + y", x=x, y=d[3], out=d)


def test_extents_that_divide_badly(device):
    """Primes, whose reciprocals are rounded most."""
    x, y = inputs.random("I32", 65_521), inputs.random("I32", 31)
    expected = x.reshape(-1, 1) ^ y
    same(cubc.transform("x ^ y", x=on(device, x.reshape(-1, 1)), y=on(device, y)), expected)
    same(cubc.transform("x ^ y", x=on(device, x), y=on(device, y.reshape(-1, 1))), expected.T)


def test_division_of_any_index(device):
    """Divisors of broadcasting: the estimate is one too high only for indices above 2^32."""
    draw = np.random.default_rng(0)
    x = draw.integers(0, 2**62, 20_000, dtype=np.uint64)
    y = draw.integers(2, 2**62, 20_000, dtype=np.uint64) >> draw.integers(0, 60, 20_000).astype(
        "u8"
    )
    y = np.maximum(y, 2)
    x[::2] -= x[::2] % y[::2]  # exact multiples, and what is just below one
    x[::4] -= (x[::4] > 0).astype(np.uint64)
    check = (
        "[](u64 x, u64 y) { u64 rest = x; const u64 q = divide_index(rest, y, ~0ull / y + 1);"
        " return q == x / y && rest == x % y; }(x, y)"
    )
    assert np.asarray(cubc.transform(check, x=on(device, x), y=on(device, y), dtype=bool)).all()


def test_bools_of_numpy_are_bools(device):
    mask = np.array([True, False])
    same(cubc.where(on(device, mask), on(device, mask), np.True_), np.array([True, True]))
    made = cubc.transform("x * s", x=on(device, np.array([1, 2], "i4")), s=np.True_)
    same(made, np.array([1, 2], "i4"))
    same(cubc.transform("a & s", a=on(device, mask), s=np.True_), mask)
