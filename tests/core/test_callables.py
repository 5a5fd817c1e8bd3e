"""Python functions in place of texts: operators, conditions, orders and expressions."""

import math
import operator
from math import hypot

import inputs
import numpy as np
import pytest
from inputs import on, same

import cubc
from cubc._callables import expression_of, operator_of

X = inputs.random("F32", 1000) * np.float32(2.5)
LEVEL = 2


def clamp(v, low, high):
    if v < low:
        return low
    return high if v > high else v


def farthest(a, b):
    return a if abs(a) > abs(b) else b


def test_reductions_and_scans(device):
    x = on(device, X)
    assert abs(inputs.value(cubc.reduce(x, farthest))) == abs(X).max()
    assert inputs.value(cubc.reduce(x, lambda a, b: max(a, b))) == X.max()
    same(cubc.scan(x, lambda a, b: max(a, b)), np.maximum.accumulate(X))


def test_operators_that_are_built_in():
    known = {np.add: "sum", operator.mul: "prod", max: "max", np.minimum: "min"}
    for function, op in known.items():
        assert operator_of(function, X) == op
    assert operator_of(np.hypot, X) == "(hypot(a, b))"


def test_conditions(device):
    x, level = on(device, X), 2.5
    found = X[(level / 3 < X) & (np.arange(1000) % 2 == 0)]
    same(cubc.select(x, lambda v, i: level / 3 < v and i % 2 == 0), found)
    at = cubc.find_if(x, lambda v: v > level)
    assert inputs.value(at) == np.argmax(level < X)
    yes, no = cubc.partition_if(x, lambda v: 0 < v < 4)
    same(yes, X[(X > 0) & (X < 4)])
    same(no, X[~((X > 0) & (X < 4))])


def test_orders(device):
    x = inputs.random("I32", 500)
    made = cubc.merge_sort(on(device, x), lambda a, b: a % 8 < b % 8)
    same(made, x[np.argsort(x % 8, kind="stable")])


def test_expressions(device):
    x, y = on(device, X), on(device, X[::-1].copy())
    low = -1

    def both(x, y, s):
        return clamp(math.sqrt(abs(x)) + s * y, low, LEVEL) if y != 0 else np.where(x > 0, 1, x)

    far = np.clip(np.sqrt(abs(X)) + np.float32(0.5) * X[::-1], -1, 2)
    expected = np.where(X[::-1] != 0, far, np.where(X > 0, 1, X))
    same(cubc.transform(both, x=x, y=y, s=0.5), expected.astype("f4"))
    made = cubc.lazy(both, x=x, y=y, s=0.5)
    assert sorted(made.operands) == ["LEVEL_", "low_", "s_", "x", "y"]


def test_another_number_of_the_closure_is_no_other_kernel():
    def of(k):
        return expression_of(lambda x: k * x if x > k + 1 else LEVEL, {"x": X})

    assert of(1.5).expression == of(2.5).expression
    numbers = {name: float(k) for name, k in of(1.5).operands.items() if name != "x"}
    assert numbers == {"k_": 2.5, "k_1": 1.5, "LEVEL_": 2}
    assert operator_of((lambda k: lambda a, b: a * k + b)(3), X) == "((a * (3.0f)) + b)"


def test_types_are_those_of_numpy():
    one = np.ones(3, np.int8)
    functions = [lambda x: x / 2, lambda x: x // 2, lambda x: x * 2.5, lambda x: x > 1]
    functions += [lambda x: -x, lambda x: x**3, lambda x: (x, x * 1j)[1], lambda x: x << 1]
    for function in functions:
        assert expression_of(function, {"x": one}).dtype == function(one).dtype


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 5])
def test_powers_of_bools_are_integers(device, exponent):
    x = np.array([True, False])
    made = cubc.transform(lambda x: x**exponent + x**exponent, x=on(device, x))
    same(made, 2 * x.astype("i8") ** exponent)


COUNTED = {
    "sum": lambda k: (k > 0) + (k > 2),
    "sum beside an item": lambda k: k + ((k > 0) + (k > 2)),
    "sign": lambda k: (k > 0) - (k < 0),
    "product": lambda k: (k > 0) * (k > 2),
    "quotient": lambda k: (k > 0) // (k >= 0),
    "rest": lambda k: divmod(k > 0, k >= 0)[1],
    "power": lambda k: (k > 0) ** (k > 2),
    "square": lambda k: (k > 0) ** 2,
    "shifts": lambda k: ((k > 0) << (k > 2)) + (True << (k > 0)) + ((k > 0) >> np.True_),
    "alone": lambda k: -(k > 0) - +(k > 2) - abs(k > 2),
    "number": lambda k: True + (k > 0),
    "rounded": lambda k: round(k > 0) + math.trunc(k > 0) + math.floor(k > 0) + math.ceil(k > 0),
}


@pytest.mark.parametrize("name", COUNTED)
def test_arithmetic_of_bools_is_of_int64_as_in_python(device, name):
    k = np.array([0, 1, 3, 9], "i1")
    function = COUNTED[name]
    made = cubc.transform(function, k=on(device, k.astype("i8")))
    same(made, np.array([int(function(x)) for x in k.tolist()]))
    assert expression_of(function, {"k": k}).dtype == np.int64


def test_masks_of_bools_are_bools_as_numpys(device):
    """A value of them is 0 or 1 beside an item, too: NumPy's sum of two bools is true or false."""
    k = np.array([0, 1, 3, 9])
    for function in (
        lambda k: ~(k > 0),
        lambda k: (k > 0) ^ (k > 2) | (k == 3) & (k > 0),
        lambda k: np.add(k > 0, k > 2),
        lambda k: k + np.add(k > 0, k > 2),
        lambda k: k + np.multiply(k > 0, k > 2),
    ):
        same(cubc.transform(function, k=on(device, k)), function(k))


def test_a_condition_of_numbers_of_numpy(device):
    x = np.arange(3.0)
    for condition in (np.float32(1.5) > 1, np.False_, np.array(0), 2):
        made = cubc.transform(lambda x, c=condition: np.where(c, x, -x), x=on(device, x))
        same(made, np.where(condition, x, -x))


def test_structs(device):
    p = np.zeros(300, [("m", "f4"), ("k", "i4")])
    p["m"], p["k"] = X[:300], np.arange(300)
    d = on(device, p)
    best = np.asarray(cubc.reduce(d, lambda a, b: a if a.m > b.m else b))[()]
    assert best["m"] == p["m"].max()
    same(
        cubc.select(d, lambda v: v.k % 7 == 3)["k"] if device == "cpu" else p["k"][3::7],
        p["k"][3::7],
    )
    pair = np.asarray(cubc.reduce(d, lambda a, b: (max(a.m, b.m), a.k + b["k"])))[()]
    assert (pair["m"], pair["k"]) == (p["m"].max(), p["k"].sum())


def endless(a, b):
    while a > b:
        a = a - 1
    return a


def many(a, b):
    return sum(1 for k in range(9) if a > k * b)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda a, b: float(a), r"test_callables\.py:\d+: float\(\) of an item.*write x \* 1\.0"),
        (lambda a, b: int(a), "write math.trunc"),
        (lambda a, b: [1, 2][a], r"'table\[k\]' of cubc\.lazy"),
        (lambda a, b: {1: 2}[a], r"no key of a dict: .*'table\[k\]' of cubc\.lazy"),
        (lambda a, b: np.sinc(a), "numpy.sinc has no expression"),
        (lambda a, b: np.heaviside(a, b), "numpy.heaviside has no expression"),
        (lambda a, b: a.mass, "an item of float32 has no 'mass'"),
        (lambda a, b: "x", "the result is 'x'"),
        (lambda a, b: None, "returns nothing"),
        (lambda a: a, "has 1 parameters: expected 2"),
        (lambda a, b: (a, b), "returns 2 values"),
        (lambda a, b: round(a, 2), "to digits"),
        (endless, "a loop of a fixed length"),
    ],
)
def test_what_is_refused(function, words):
    with pytest.raises(TypeError, match=words):
        cubc.reduce(X, function)


def test_more():
    with pytest.raises(
        ValueError, match=r"many \(.*test_callables\.py:\d+\) has more than 64 ends"
    ):
        cubc.reduce(X, many)
    with pytest.raises(TypeError, match=r"the parameters u, and the operands are x"):
        cubc.transform(lambda u: u, x=X)
    assert operator_of(lambda a, b: hypot(a, b), X) == "(hypot(a, b))"
    assert "nan" not in operator_of(lambda a, b: a * math.nan, X)


def test_numbers_that_are_equal_and_not_the_same(device):
    """The result of a function of one is not taken for that of the other."""
    x = on(device, np.arange(1, 4))
    numbers = [
        (lambda x: x * 1, "i8"),
        (lambda x: x * 1.0, "f8"),
        (lambda x: x * True, "i8"),
        (lambda x: x * -0.0, "f8"),
        (lambda x: x * 0.0, "f8"),
    ]
    for function, dtype in numbers:
        made, wanted = cubc.transform(function, x=x), function(np.arange(1, 4))
        assert np.asarray(made).dtype == wanted.dtype == dtype
        same(np.signbit(np.asarray(made)), np.signbit(wanted))


def test_numbers_of_branches_that_are_never_taken():
    x, low, high = np.arange(5.0), 1.5, 2
    found = cubc.transform(lambda x: np.where(high > low, x + low, x * high), x=x)
    assert found.tolist() == (x + 1.5).tolist()
    assert cubc.sum(cubc.lazy(lambda x: x if high else x * low, x=x)) == 10
    assert cubc.select(x, lambda x: x > low if high == 2 else x < high).tolist() == [2, 3, 4]


def test_numbers_of_numpy_beside_items():
    x = np.arange(5.0)
    for function in (
        lambda x: np.sqrt(4.0) <= x,
        lambda x: np.float64(2) - x,
        lambda x: np.clip(3.5, 1, x),
        lambda x: np.clip(1, 0, 3) + x,
    ):
        expected = [function(one) for one in x]
        assert cubc.transform(function, x=x).tolist() == expected


def test_a_ufunc_without_the_type_names_the_line():
    with pytest.raises(TypeError, match=r"test_callables.py:\d+: .*positive"):
        cubc.transform(lambda x: np.positive(x > 1), x=np.arange(5.0))


@pytest.mark.parametrize("kind", ["f4", "f8", "i4", "f2"])
def test_functions_of_math_alone(device, kind):
    """NumPy has no ufunc for most of these; integers give float64, as they do to numpy.sqrt."""
    x = np.array([0.5, 1, 2.25, 5]).astype(kind) + np.array(0, kind)
    x = np.maximum(x, 1)
    d = cubc.asarray(x, device=device)
    functions = (
        *(lambda v: math.erf(v), lambda v: math.erfc(v), lambda v: math.gamma(v)),
        *(
            lambda v: math.lgamma(v + 1),
            lambda v: math.remainder(v, 1.5),
            lambda v: math.degrees(v),
        ),
        *(lambda v: math.radians(v), lambda v: np.degrees(v), lambda v: np.deg2rad(v)),
    )
    for function in functions:
        found = cubc.transform(function, v=d).numpy()
        assert found.dtype == np.sqrt(x).dtype
        few = {2: 2e-3, 4: 2e-6, 8: 1e-13}[found.dtype.itemsize]
        wanted = [function(float(v)) for v in x]
        np.testing.assert_allclose(found, wanted, rtol=few, atol=few if kind == "f2" else 0)
    with pytest.raises(TypeError, match=r"math.erf takes real items"):
        cubc.transform(lambda v: math.erf(v), v=cubc.asarray(np.ones(2, "c8"), device=device))


@pytest.mark.parametrize("kind", ["f4", "f8", "i4"])
def test_copysign_of_math(device, kind):
    x = np.array([3, -2, 0, 5]).astype(kind)
    d = cubc.asarray(x, device=device)
    found = cubc.transform(lambda v: math.copysign(v, -v), v=d)
    np.testing.assert_array_equal(found.numpy(), np.copysign(x, -x))


@pytest.mark.parametrize("kinds", [("i8", "i8"), ("i4", "i2"), ("u8", "u4"), ("i1", "i1")])
def test_gcd(device, kinds):
    draw = np.random.default_rng(0)
    x, y = (draw.integers(0, 256, 8 * 999, dtype="u1").view(kind)[:999].copy() for kind in kinds)
    x[:2], y[:3] = [np.iinfo(x.dtype).min, 0], [np.iinfo(y.dtype).min, 0, 0]
    d, e = on(device, x), on(device, y)
    for function in (lambda x, y: math.gcd(x, y), lambda x, y: np.gcd(x, y)):
        same(cubc.transform(function, x=d, y=e), np.gcd(x, y))
    same(np.gcd(*(cubc.asarray(z, device=device) for z in (x, y))).array(), np.gcd(x, y))
    same(cubc.transform(lambda x: math.gcd(x, 12, 30), x=d), np.gcd(x, np.array(6, x.dtype)))
    same(cubc.transform(lambda x: math.gcd(x), x=d), np.abs(x))
    low = (x[2:] % 60).astype("i8") * 6
    assert inputs.value(cubc.reduce(on(device, low), math.gcd)) == np.gcd.reduce(low)
    out = on(device, np.zeros_like(np.gcd(x, y)))

    def each(out, x, y, i):
        out[i] = math.gcd(x[i], y[i])

    cubc.for_each(each, 999, out=out, x=d, y=e)
    same(out, np.gcd(x, y))


@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "i4"])
def test_ldexp(device, kind):
    x = np.array([0, 1, -2, 5, 3, -7], kind)
    powers = np.array([3, -1, 2, 2**31 - 1, -(2**63), 4])
    for function in (lambda x, k: math.ldexp(x, k), lambda x, k: np.ldexp(x, k)):
        made = cubc.transform(function, x=on(device, x), k=on(device, powers))
        with np.errstate(over="ignore"):
            same(made, np.ldexp(x, powers))
    same(cubc.transform(lambda x: math.ldexp(x, 3), x=on(device, x)), np.ldexp(x, 3))


def test_gcd_of_a_text(device):
    x, y = np.array([-4, 9], "i4"), np.array([6, 2**32 - 3], "u4")
    same(cubc.transform("gcd(x, y)", x=on(device, x), y=on(device, y)), np.gcd(x, y))
    for of in ("f2", "f4", "f8"):
        with pytest.raises(cubc.CompileError, match="gcd takes integers"):
            cubc.transform("gcd(x, y)", x=on(device, x.astype(of)), y=on(device, y))


def test_nextafter(device):
    x, y = np.array([0, 1, -1, np.inf, 1, np.nan]), np.array([1, 1, -2, 0, np.inf, 0])
    for of in ("f4", "f8"):
        a, b = x.astype(of), y.astype(of)
        made = cubc.transform(lambda a, b: math.nextafter(a, b), a=on(device, a), b=on(device, b))
        same(made, np.nextafter(a, b))
    d = on(device, x.astype("f2"))
    with pytest.raises(TypeError, match="nextafter of float16 is not there: convert to float32"):
        cubc.transform(lambda a: math.nextafter(a, 0.0), a=d)
    with pytest.raises(TypeError, match="nextafter of float16 is not there: convert to float32"):
        np.nextafter(cubc.asarray(d, device=device), 0)


def test_log_of_a_base_and_wrong_counts(device):
    x = np.array([8.0, 2.0, 0.5])
    made = cubc.transform(lambda x: math.log(x, 2) + math.log(8, x), x=on(device, x))
    assert np.allclose(inputs.value(made), np.log2(x) + np.log(8) / np.log(x), rtol=1e-14)
    for function, words in (
        (lambda v: math.ldexp(v), "math.ldexp of items takes 2 arguments"),
        (lambda v: math.sqrt(v, 2), "math.sqrt of items takes one argument"),
        (lambda v: math.nextafter(v, 0.0, steps=2), "math.nextafter of items takes 2 arguments"),
    ):
        with pytest.raises(TypeError, match=rf"test_callables.py:\d+: {words}"):
            cubc.transform(function, v=x)


def as_bytes(a, b):
    return np.uint8(a < b)


def test_types_of_numpy_convert(device):
    x = np.array([0.5, -1.5, 2.25, 300])
    d, of = on(device, x), np.float32
    for function, expected in (
        (lambda v: np.int32(v), x.astype("i4")),
        (lambda v: np.int16(v) + np.int16(1), x.astype("i2") + np.int16(1)),
        (lambda v: of(v) * 2, x.astype("f4") * np.float32(2)),
        (lambda v: np.bool(v > 1), x > 1),
        (lambda v: np.complex64(v), x.astype("c8")),
        (lambda v: np.int8(3) + np.int8(v > 1), (x > 1).astype("i1") + np.int8(3)),
        (lambda v: v + (1 if isinstance(np.int8(3), np.int8) else np.zeros(1, np.int8)), x + 1),
    ):
        same(cubc.transform(function, v=d), expected)
    same(cubc.merge_sort(d, as_bytes), np.sort(x))
    same(cubc.select(d, lambda v: np.uint8(v > 1)), x[x > 1])
    with pytest.raises(
        TypeError, match=r"test_callables.py:\d+: numpy.int32 of complex128: .*x.real"
    ):
        cubc.transform(lambda v: np.int32(v * 1j), v=x)


def test_functions_of_math_that_have_no_expression():
    """They take numbers as ever."""
    x, f = np.arange(5), np.arange(5.0)
    for function, words in (
        (lambda v: math.comb(v, 2), r"math.comb of items .*'table\[k\]'.*math.lgamma"),
        (lambda v: math.fsum([v, 1.5]), "math.fsum of items .*deterministic=True"),
        (lambda v: math.lcm(v, 2), r"math.lcm of items .*x // math.gcd\(x, y\) \* y"),
        (lambda v: math.isclose(v, 2, rel_tol=v), "math.isclose of items .*a text of C"),
        (lambda v: math.gcd(v * 0.5, 2), "math.gcd of float64 where it takes integers"),
        (lambda v: math.ldexp(v, v * 0.5), "math.ldexp of float64 where it takes integers"),
    ):
        with pytest.raises(TypeError, match=rf"test_callables.py:\d+: {words}"):
            cubc.transform(function, v=x)
    made = cubc.transform(lambda v: v * math.comb(4, 2) + math.fsum([1, 2]) + math.gcd(4, 6), v=f)
    same(made, f * 6 + 5)
    from_logs = cubc.transform(
        lambda n: round(math.exp(math.lgamma(n + 1) - math.lgamma(3) - math.lgamma(n - 1))), n=f[2:]
    )
    same(from_logs, np.array([1.0, 3, 6]))


def test_python_that_takes_no_item_names_the_line():
    x = np.arange(5.0)
    for function in (
        lambda v: v + "a",
        lambda v: sum([v, [1]]),
        lambda v: "a".join([v]),
        lambda v: getattr(math, v),
    ):
        with pytest.raises(TypeError, match=r"test_callables.py:\d+: .*functions of math") as told:
            cubc.select(x, function)
        assert "Symbol" not in str(told.value)


def test_what_a_function_returns_is_refused_with_a_line_of_the_users():
    x = np.arange(5)
    for call in (
        lambda: cubc.select(x, lambda v: [v]),
        lambda: cubc.find_if(x, lambda v: "a"),
        lambda: cubc.merge_sort(x, lambda a, b: a[b]),
        lambda: cubc.reduce(x, lambda a, b: [a, b]),
    ):
        with pytest.raises(
            TypeError, match=r"test_callables.py:\d+: (the result is|an item has no)"
        ):
            call()


def test_defaults_of_parameters_are_kept(device):
    x = on(device, np.arange(5.0))
    same(cubc.select(x, lambda v, k=2: v > k), np.array([3.0, 4.0]))
    assert int(cubc.find_if(x, lambda v, k=2: v > k)) == 3
    same(cubc.transform(lambda x, k=2: x * k, x=x), np.arange(5.0) * 2)
    assert float(cubc.reduce(x, lambda a, b, c=1: a + b)) == 10


def test_methods_of_an_object(device):
    class Sum:
        def of(self, a, b):
            return a + b

    assert int(cubc.reduce(on(device, np.arange(4)), Sum().of)) == 6


def test_integers_are_rounded_exactly(device):
    x = np.array([2**53 + 1, 2**53])
    same(cubc.select(on(device, x), lambda v: round(v) == 2**53), x[1:])
    same(cubc.transform(lambda v: round(v), v=on(device, x)), x)
    same(cubc.transform(lambda v: round(v), v=on(device, np.array([1.5, 2.5]))), np.array([2.0, 2]))
