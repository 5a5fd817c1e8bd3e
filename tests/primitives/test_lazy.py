"""Lazy inputs of every primitive against NumPy."""

import inputs
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs import in_turn, on, same

import cubc
from cubc import _core

N = 70_001


def wide(type, n=N):
    """Two arrays of a type and their sum, in which nothing is lost."""
    x, y = inputs.random(type, n), inputs.random(type, n, seed=1)
    return x, y, (inputs.exact(x) + inputs.exact(y)).astype(x.dtype)


# ---- the object ----------------------------------------------------------------------------------
def test_what_it_says(device):
    x, y = inputs.random("F32", 60).reshape(3, 20), inputs.random("I16", 20)
    z = cubc.lazy("x * y + s", x=on(device, x), y=on(device, y), s=2)
    assert isinstance(z, cubc.Lazy)
    assert (z.dtype, z.shape, z.ndim, z.size) == (np.float32, (3, 20), 2, 60)
    assert z.expression == "x * y + s"
    assert list(z.operands) == ["x", "y", "s"]
    assert repr(z) == "<cubc.Lazy 'x * y + s' of (x, y, s=2), float32 (3, 20)>"
    with pytest.raises(TypeError):
        z.operands["x"] = y


def test_evaluated(device):
    x = inputs.random("F32", N)
    z = cubc.lazy("2 * x", x=on(device, x))
    same(z.array(), 2 * x)
    same(cubc.asarray(z), 2 * x)
    same(np.asarray(z), 2 * x)
    same(cubc.transform(z), 2 * x)
    same(cubc.asarray(z, dtype="float64"), (2 * x).astype(np.float64))
    out = on(device, np.zeros(N, np.int64))
    assert cubc.transform(z, out=out, casting="unsafe") is out
    same(out, (2 * x).astype(np.int64))
    assert isinstance(cubc.asarray(z), cubc.Array)


def test_it_is_read_when_it_is_used():
    x = np.ones(100)
    z = cubc.lazy("x + 1", x=x)
    x[:] = 5
    assert cubc.sum(z, device="cpu") == 600


def test_types(device):
    x = on(device, inputs.random("I16", 100))
    assert cubc.lazy("x", x=x).dtype == np.int16
    assert cubc.lazy("x + y", x=x, y=on(device, np.zeros(100, np.float32))).dtype == np.float32
    assert cubc.lazy("x > 0", x=x, dtype=bool).dtype == bool
    assert cubc.lazy("i", size=5).dtype == np.int64


# ---- primitives ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("type", "op"), in_turn(["I8", "U16", "I64", "F16", "F32"], ["sum", "argmax"], 2)
)
def test_reduce(device, type, op):
    x, y, total = wide(type)
    z = cubc.lazy("x + y", x=on(device, x), y=on(device, y))
    wanted = getattr(np, op)(inputs.exact(total))
    found = inputs.value(cubc.reduce(z, op))
    assert found == (wanted.astype(found.dtype) if op == "sum" else wanted)


@pytest.mark.parametrize(
    ("type", "what"),
    in_turn(["I8", "U16", "I64", "BF16", "F32", "F64"], ["keys", "indices"], 2),
)
def test_sort(device, type, what):
    x, y, total = wide(type)
    z = cubc.lazy("x + y", x=on(device, x), y=on(device, y))
    if what == "keys":
        same(cubc.sort(z), np.sort(total))
    else:
        same(cubc.argsort(z), np.argsort(total, kind="stable"))


@pytest.mark.parametrize("type", ["I8", "BF16", "F64"])
def test_scan(device, type):
    x, y, total = wide(type, 30_001)
    z = cubc.lazy("x + y", x=on(device, x), y=on(device, y))
    same(cubc.scan(z, "max"), np.maximum.accumulate(total))


@pytest.mark.parametrize(
    ("type", "what"),
    in_turn(
        ["I8", "U64", "BF16", "F32", "F64"],
        ["by a condition", "runs", "by a mask", "both parts", "indices"],
        5,
    ),
)
def test_select(device, type, what):
    x, y, total = wide(type)
    a, b = on(device, x), on(device, y)
    z, mask = cubc.lazy("x + y", x=a, y=b), cubc.lazy("y > 1", y=b, dtype=bool)
    if what == "by a condition":
        same(cubc.select(z, "x > 1"), total[total > 1])
    elif what == "runs":
        same(cubc.unique_consecutive(z), total[np.append(True, total[1:] != total[:-1])])
    elif what == "by a mask":
        same(cubc.select(a, mask), x[y > 1])
    elif what == "both parts":
        selected, rest = cubc.partition_if(z, mask)
        same(selected, total[y > 1])
        same(rest, total[~(y > 1)])
    else:
        same(cubc.flatnonzero(mask), np.flatnonzero(y > 1))


def test_values_are_evaluated_before(device):
    keys = inputs.random("I32", N)
    values = cubc.lazy("2 * i", size=N, dtype="int64")
    order = np.argsort(keys, kind="stable")
    k, v = cubc.sort_pairs(on(device, keys), values if device == "cpu" else cubc.asarray(values))
    same(k, keys[order])
    same(v, 2 * order)


def test_names_of_numpy(device):
    x = inputs.random("I32", 1000)
    z = cubc.lazy("x & 15", x=on(device, x))
    same(cubc.unique(z), np.unique(x & 15))
    same(cubc.cumsum(z), np.cumsum(x & 15, dtype=np.int64).astype(np.asarray(cubc.cumsum(z)).dtype))


# ---- operands ------------------------------------------------------------------------------------
def test_types_mixed(device):
    """The narrow result of wide operands runs a policy of the wide ones."""
    named = {
        "a": np.arange(N, dtype=np.uint8),
        "b": np.arange(N, dtype=np.int64),
        "c": np.linspace(0, 1, N),
        "d": (np.arange(N) % 5).astype(np.float16),
    }
    moved = {name: on(device, x) for name, x in named.items()}
    expression = "(a + b * 3 + d) > 1000 * c"
    expected = eval(expression.replace("a", "a.astype('f8')"), named)
    z = cubc.lazy(expression, **moved, dtype=bool)
    same(z.array(), expected)
    assert inputs.value(cubc.reduce(z)) == expected.sum()
    same(cubc.scan(z, "sum"), np.cumsum(expected))


def test_eight_wide_operands(device):
    named = {f"x{k}": np.arange(N, dtype=np.float64) + k for k in range(8)}
    moved = {name: on(device, x) for name, x in named.items()}
    expected = sum(named.values()).astype(np.int64).astype(np.int8)
    z = cubc.lazy("static_cast<i64>(" + " + ".join(named) + ")", **moved, dtype="int8")
    same(z.array(), expected)
    assert inputs.value(cubc.sum(z)) == expected.sum(dtype=np.int64)
    same(cubc.sort(z), np.sort(expected))


@pytest.mark.parametrize("first", [1, 3])
def test_misaligned(first):
    x, y = inputs.random("I32", N + first), inputs.random("I32", N)
    z = cubc.lazy("x ^ y", x=x[first:], y=y)
    same(cubc.sort(z, device="cpu"), np.sort(x[first:] ^ y))
    assert cubc.sum(z, device="cpu") == (x[first:] ^ y).sum(dtype=np.int64)


def test_the_index(device):
    x = inputs.random("I64", N)
    z = cubc.lazy("x & i", x=on(device, x))
    assert inputs.value(cubc.sum(z)) == (x & np.arange(N)).sum()
    same(cubc.sort(z), np.sort(x & np.arange(N)))


def test_no_arrays():
    z = cubc.lazy("i % 7 * s", size=N, dtype="int64", s=3)
    expected = np.arange(N) % 7 * 3
    assert cubc.sum(z, device="cpu") == expected.sum()
    same(cubc.sort(z, device="cpu"), np.sort(expected))
    same(cubc.scan(z, device="cpu"), np.cumsum(expected))
    assert cubc.sum(cubc.lazy("2", size=10), device="cpu") == 20


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_items(device, n):
    x = inputs.random("I32", n)
    z = cubc.lazy("x / 2 + y", x=on(device, x), y=on(device, np.ones(1, np.int32)))
    expected = (x / 2).astype(np.int32) + 1 if n else x
    assert inputs.value(cubc.sum(z)) == expected.sum()
    same(cubc.sort(z), np.sort(expected))
    same(cubc.scan(z, device=device), np.cumsum(expected, dtype=np.int32))
    same(cubc.select(z, "true", device=device), expected)


def test_special_values(device):
    x = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-42, 3.0], np.float32)
    z = cubc.lazy("x", x=on(device, x))
    same(cubc.sort(z), np.sort(x))
    assert np.isnan(inputs.value(cubc.max(z)))
    same(cubc.select(z, "x == x"), x[x == x])
    assert np.signbit(np.asarray(z.array()))[3]


@pytest.mark.parametrize("name", ["reduce.sum", "scan.inclusive.sum"])
def test_boundaries_of_the_policy(device, name):
    x = inputs.random("I64", 500_000)
    ones = on(device, np.ones(1, np.int64))
    for n in inputs.sizes_of(inputs.policy(name, "I64", device), blocks=(1, 2)):
        z = cubc.lazy("x + 2 * one", x=on(device, x[:n]), one=ones)
        if name == "reduce.sum":
            assert inputs.value(cubc.sum(z)) == (x[:n] + 2).sum()
        else:
            same(cubc.scan(z), np.cumsum(x[:n] + 2))


# ---- broadcasting --------------------------------------------------------------------------------
@pytest.mark.parametrize("columns", [64, 37])
def test_of_a_matrix(device, columns):
    """Rows of whole vectors, and others; a row and a column repeated."""
    x = inputs.random("F32", 501 * columns).reshape(501, columns)
    row, column = x[7].copy(), x[:, :1].copy()
    z = cubc.lazy(
        "(x - row) * (x - column)", x=on(device, x), row=on(device, row), column=on(device, column)
    )
    expected = (x - row) * (x - column)
    same(z.array(), expected)
    assert inputs.value(cubc.sum(z, dtype="float64")) == expected.sum(dtype=np.float64)
    same(cubc.sort(cubc.lazy("x", x=on(device, expected.ravel()))), np.sort(expected.ravel()))
    same(cubc.select(z, "x > 0"), expected[expected > 0])
    same(cubc.scan(z, "max"), np.maximum.accumulate(expected.ravel()))


# ---- in place ------------------------------------------------------------------------------------
def test_the_output_is_an_operand(device):
    x, y = inputs.random("I32", N), inputs.random("I32", N, seed=1)
    b = on(device, y)
    for call, expected in (
        (cubc.scan, np.cumsum(x ^ y, dtype=np.int32)),
        (cubc.sort, np.sort(x ^ y)),
        (cubc.transform, x ^ y),
    ):
        a = on(device, x.copy())
        assert call(cubc.lazy("x ^ y", x=a, y=b), out=a) is a
        same(a, expected)


def test_the_output_is_not_every_operand(device):
    x = on(device, inputs.random("I32", 1000))
    with pytest.raises(ValueError, match="must be apart"):
        cubc.unique_consecutive(cubc.lazy("x / 2", x=x), out=x)
    with pytest.raises(ValueError, match="input and output overlap"):
        wide = on(device, np.zeros(1000, np.int64))
        cubc.scan(cubc.lazy("x", x=wide, dtype="int32"), out=_as_int32(wide))


def _as_int32(x):
    """The first half of the memory of 64-bit items as as many of 32 bits."""
    if isinstance(x, np.ndarray):
        return x.view(np.int32)[: x.size]
    pytest.skip("a view of another type is NumPy's")


# ---- lazy operands -------------------------------------------------------------------------------
def test_of_lazy_operands(device):
    x, y = inputs.random("F32", N), inputs.random("F32", N, seed=1)
    a, b = on(device, x), on(device, y)
    product = cubc.lazy("x * y", x=a, y=b)
    total = cubc.lazy("product - x + s", product=product, x=a, s=1.5)
    assert sorted(total.operands) == ["s", "x", "y"]  # x is shared
    same(total.array(), x * y - x + np.float32(1.5))
    other = cubc.lazy("x + p", p=product, x=b)  # another x
    assert sorted(other.operands) == ["x", "x_1"]  # its y is this x
    same(other.array(), y + x * y)
    same(cubc.transform("p * 2", p=product), x * y * 2)
    whole = cubc.lazy("p", p=cubc.lazy("x", x=a, dtype="int32"), dtype="float32")
    same(whole.array(), x.astype(np.int32).astype(np.float32))


def test_of_a_lazy_index(device):
    x = inputs.random("I64", 1000)
    ramp = cubc.lazy("i + 1", size=1000, dtype="int64")
    same(cubc.transform("x * r", x=on(device, x), r=ramp), x * np.arange(1, 1001))
    assert cubc.lazy("2 * r", r=ramp).size == 1000
    square = on(device, x.reshape(10, 100))
    with pytest.raises(ValueError, match="index of its own"):
        cubc.lazy("x + r", x=square, r=cubc.lazy("i", size=100))


def test_of_hundreds_of_steps(device):
    """Types are found without a frame of Python for each level of each bracket."""
    x = on(device, np.arange(5.0))
    many = cubc.lazy("x", x=x)
    for _ in range(200):
        many = many + 1
    same(many.array(), np.arange(5.0) + 200)
    same(cubc.transform("(" * 200 + "x" + ")" * 200, x=x), np.arange(5.0))


# ---- errors --------------------------------------------------------------------------------------
def test_errors(device):
    x = on(device, np.arange(100.0))
    with pytest.raises(ValueError, match=r"do not go together: operand 'y' has \(50,\)"):
        cubc.lazy("x + y", x=x, y=on(device, np.zeros(50)))
    with pytest.raises(ValueError, match="needs out= or size="):
        cubc.lazy("i")
    with pytest.raises(ValueError, match="at most 8"):
        cubc.lazy("x0", **{f"x{k}": x for k in range(9)})
    with pytest.raises(ValueError, match="does not use the operand 'y'; did you mean"):
        cubc.sum(cubc.lazy("x + yy", x=x, y=x))
    with pytest.raises(ValueError, match="does not use the operand 'y'"):
        cubc.lazy("x", x=x, y=cubc.lazy("x", x=x))
    with pytest.raises(cubc.CompileError, match="the expression 'x \\+ nothing'"):
        cubc.sum(cubc.lazy("x + nothing", x=x))
    with pytest.raises(cubc.CompileError, match="'a \\+ nothing', or 'x \\+ 1'"):
        cubc.reduce(cubc.lazy("x + 1", x=x), "a + nothing", init=0)
    with pytest.raises(ValueError, match="cannot name an operand"):
        cubc.sum(cubc.lazy("item_t + INPUT_FIELD", item_t=x, INPUT_FIELD=x))
    with pytest.raises(TypeError, match="has its operands already"):
        cubc.transform(cubc.lazy("x", x=x), y=x)
    with pytest.raises(TypeError, match="str"):
        cubc.lazy(x)
    with pytest.raises(ValueError, match="mask of select has 50 items and x 100"):
        cubc.select(x, cubc.lazy("i", size=50))
    with pytest.raises(TypeError):
        cubc.scan(x, out=cubc.lazy("x", x=x))


def test_too_many_operands_together(device):
    named = {f"x{k}": on(device, np.zeros(100, np.int8)) for k in range(5)}
    z = cubc.lazy(" + ".join(named), **named)
    with pytest.raises(ValueError, match="at most 8, not 10"):
        cubc.select(z, z)


def test_an_expression_that_doubles():
    """Its text would outgrow any memory before it were compiled."""
    x = cubc.lazy("x + 1", x=np.ones(4))
    with pytest.raises(ValueError, match="letters, more than the 65536"):
        for _ in range(20):
            x = cubc.lazy("a + b", a=x, b=x)


def test_broadcast_along_too_many_axes():
    a, b = np.zeros((2, 1, 2, 1, 2, 1)), np.zeros((1, 3, 1, 3, 1, 3))
    with pytest.raises(ValueError, match="along too many axes"):
        cubc.transform("a + b", a=a, b=b, device="cpu")


@pytest.mark.gpu
def test_devices_are_not_mixed():
    with pytest.raises(ValueError, match="in the host's memory"):
        cubc.sum(cubc.lazy("x + y", x=np.zeros(3), y=cubc.asarray(np.zeros(3), device="cuda:0")))


def test_arrays_that_were_equal(device):
    """Literals of one value are one operand; arrays are read when the call reads them."""
    x, j, k = on(device, np.arange(3.0)), np.array(2.0), np.array(2.0)
    nested = cubc.lazy("a + b", a=cubc.lazy("x * j", x=x, j=j), b=cubc.lazy("x * k", x=x, k=k))
    k[...] = 5
    same(cubc.transform(nested), np.arange(3.0) * 7)
    d, whole = cubc.asarray(np.arange(3.0), device="cpu"), np.array(2)
    k[...] = 2
    made, of_integers = (d + 2.0) * k, d * whole
    assert len(((d + 2.0) * 2.0).operands) == 2
    k[...], whole[...] = 5, 3
    same(made.array(), (np.arange(3.0) + 2) * 5)
    same(of_integers.array(), np.arange(3.0) * 3)


def test_a_size_alone_beside_an_axis_of_one(device):
    one, index = on(device, np.ones(1)), cubc.lazy("i", size=4)
    total = cubc.lazy("a + k", a=one, k=index)
    assert total.shape == (4,) and total.dtype == "f8"
    same(cubc.transform(total), np.arange(4.0) + 1)
    made = cubc.transform(["a + k", "k"], a=one, k=index)
    of_function = cubc.transform(lambda a, k: (a + k, k), a=one, k=index)
    for found, expected in zip(
        made + of_function, [np.arange(4) + 1.0, np.arange(4)] * 2, strict=True
    ):
        np.testing.assert_array_equal(np.asarray(found), expected)
    assert [float(np.asarray(x)) for x in cubc.reduce(total, ["sum", "max"])] == [10, 4]
    same(cubc.where(cubc.lazy("i > 2", size=5), one, 2.0), np.array([2, 2, 2, 1, 1.0]))
    column = on(device, np.ones((2, 1)))
    assert cubc.lazy("a + k", a=column, k=cubc.lazy("2", size=5)).shape == (2, 5)
    d = cubc.asarray(np.ones(1), device="cpu")
    with pytest.raises(ValueError, match="out has the shape"):
        d += index


def test_a_size_alone_adds_no_array_of_its_items(device):
    """They would be read for nothing."""
    one, index = on(device, np.ones(1)), cubc.lazy("i", size=1 << 40)
    total = cubc.lazy("a + k", a=one, k=index)
    assert total.shape == (1 << 40,)
    assert [x.shape for x in total.operands.values()] == [()]
    few = cubc.lazy("a + k", a=one, k=cubc.lazy("i", size=3))
    one[...] = 5
    same(few.array(), np.arange(3.0) + 5)
    column = on(device, np.ones((2, 1)))
    wide = cubc.lazy("a + k", a=column, k=cubc.lazy("2", size=5))
    shape = wide.operands["shape"]
    assert shape.shape == (5,) and not np.asarray(shape).any()
    same(wide.array(), np.full((2, 5), 3.0))


# ---- complex numbers and structs -----------------------------------------------------------------
def test_complex(device):
    x = inputs.random("F32", N) + 1j * inputs.random("F32", N, seed=1)
    x = x.astype(np.complex64)
    z = cubc.lazy("x * conj(x)", x=on(device, x))
    assert z.dtype == np.complex64
    assert inputs.value(cubc.sum(z)) == (x * x.conj()).sum()
    size = cubc.lazy("real(x) + imag(z)", x=on(device, x), z=z, dtype="float32")
    same(cubc.sort(size), np.sort(x.real))
    same(cubc.transform("x * s", x=on(device, x), s=2j), (x * np.complex64(2j)))


def test_structs(device):
    """Taken apart and made; a value of one takes several words of the arguments."""
    kind = np.dtype([("x", "f8"), ("k", "i4"), ("m", "f4")])
    p = np.zeros(N, kind)
    p["x"], p["k"], p["m"] = inputs.random("F64", N), np.arange(N) % 11, 2
    one = np.array((3.0, 5, 7.0), kind)[()]
    z = cubc.lazy("p.x * s.x + p.k", p=on(device, p), s=one, dtype="float64")
    same(z.array(), p["x"] * 3 + p["k"])
    assert inputs.value(cubc.sum(z)) == (p["x"] * 3 + p["k"]).sum()
    made = cubc.lazy("out_t{y, i, 1}", y=on(device, p["x"].copy()), dtype=kind)
    add = "value_t{a.x + b.x, a.k > b.k ? a.k : b.k, a.m + b.m}"
    total = inputs.value(cubc.reduce(made, add))
    assert (total["x"], total["k"], total["m"]) == (p["x"].sum(), N - 1, N)
    expected = np.empty(N, kind)
    expected["x"], expected["k"], expected["m"] = p["x"], np.arange(N), 1
    chosen = cubc.select(made, "x.k % 3 == 1")  # which knows no other out_t
    np.testing.assert_array_equal(np.asarray(chosen), expected[expected["k"] % 3 == 1])
    with pytest.raises(ValueError, match="take more than the 320 bytes"):
        big = np.zeros((), [("v", "f8", 8)])[()]
        many = {f"v{k}": big for k in range(5)}
        cubc.sum(cubc.lazy(" + ".join(f"v{k}.v[0]" for k in range(5)), **many, size=3, dtype="f8"))


def test_structs_are_operands(device):
    """Taken apart, made again and inside of others; their types may be those of no array."""
    inner = np.dtype([("u", "f4"), ("v", "i8")], align=True)
    outer = np.dtype([("h", "f2"), ("s", inner), ("w", "i4", (2,))], align=True)
    x, y = inputs.random("F32", N), inputs.random("I8", N).astype("i8")
    d, e = on(device, x), on(device, y)
    s = cubc.lazy("out_t{x, y}", x=d, y=e, dtype=inner)
    product = cubc.lazy("s.u * s.v", s=s)
    assert product.dtype == "f8"
    same(product.array(), x * y.astype("f8"))
    same(cubc.transform("s.v", s=s), y)
    same(cubc.transform("s.u > 0", s=s), x > 0)
    assert inputs.value(cubc.sum(cubc.lazy("s.v", s=s))) == y.sum()
    same(cubc.transform(lambda s: s.u + 1, s=s), x + np.float32(1))
    chosen = np.asarray(cubc.select(s, cubc.lazy("s.u > 0", s=s)))
    same(chosen["v"], y[x > 0])
    turned = np.dtype([("v", "i8"), ("u", "f4")])
    made = np.asarray(cubc.transform("out_t{s.v, s.u}", s=s, dtype=turned))
    same(made["v"], y)
    same(made["u"], x)
    whole = cubc.lazy("out_t{s.u, s, w.w}", s=s, w=np.zeros((), outer)[()], dtype=outer)
    same(cubc.transform("o.s.v + o.w[1]", o=whole, dtype="i8"), y)
    same(cubc.transform("o.s.u * t.v", o=whole, t=s, dtype="f8"), x * y.astype("f8"))
    first, again, last = cubc.transform(["s.u", "s", "s.v + 1"], s=s)
    same(first, x)
    same(np.asarray(again)["u"], x)
    same(last, y + 1)
    rows = cubc.lazy("out_t{x, x}", x=on(device, x[:3]), dtype=inner)
    same(
        cubc.transform("r.v + c", r=rows, c=on(device, y[:5, None])),
        x[:3].astype("i8") + y[:5, None],
    )


def test_an_expression_in_another_keeps_its_type(device):
    """`out_t` is what each makes, not what the whole does."""
    x = inputs.random("F64", N)
    low = cubc.lazy("static_cast<out_t>(x / 3) * 3", x=on(device, x), dtype="i4")
    same(cubc.transform("low + 0.5", low=low), np.trunc(x / 3) * 3 + 0.5)


# ---- variants ------------------------------------------------------------------------------------
def test_bfloat16(device):
    x = (np.arange(100) % 9).astype(ml_dtypes.bfloat16)
    z = cubc.lazy("x * x", x=on(device, x))
    assert z.dtype == ml_dtypes.bfloat16
    same(cubc.lazy("z + 1", z=z).array(), (x.astype(np.float32) ** 2 + 1).astype(x.dtype))


@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_a_product_takes_no_memory(arch):
    """The loads of both arrays fit the registers of the shipped policies."""
    for type in ("I8", "F32", "F64"):
        assert _core.variant_invalid("reduce.dot", {"T{ct}": type}, arch, "base") is None


@settings(max_examples=8)  # each is two kernels
@given(
    shapes=st.lists(st.lists(st.sampled_from([1, 2, 5, 16]), max_size=4), min_size=2, max_size=2),
    drop=st.lists(st.booleans(), min_size=8, max_size=8),
)
def test_random_shapes(device, shapes, drop):
    whole = max(shapes, key=len)
    a, b = (
        np.arange(np.prod(s, dtype=int), dtype=np.int32).reshape(s)
        for s in (
            [
                1 if drop[4 * k + d] else extent
                for d, extent in enumerate(whole[k and len(whole) // 2 :])
            ]
            for k in (0, 1)
        )
    )
    z = cubc.lazy("a * 3 - b", a=on(device, a), b=on(device, b))
    same(z.array(), a * 3 - b)
    assert inputs.value(cubc.sum(z)) == (a * 3 - b).sum()


@pytest.mark.parametrize("type", ["F16", "BF16"])
def test_a_short_float_beside_an_integer_is_a_float(device, type):
    """C makes an integer of both in `x > 0 ? x : 0`, unless the items are float32 there."""
    x = np.array([2.5, -1.25, 0.75], inputs.TYPES[type])
    d, wanted = on(device, x), np.maximum(x.astype("f4"), 0)
    same(cubc.transform("x > 0 ? x : 0", x=d), wanted.astype(x.dtype))
    same(cubc.transform("t[i] > 0 ? t[i] : 0", t=d, size=3, dtype=x.dtype), wanted.astype(x.dtype))
    assert float(np.asarray(cubc.sum(cubc.lazy("x > 0 ? x : 0", x=d)))) == 3.25
    same(cubc.select(d, "(x > 0 ? x : 0) > 0.5"), x[[0, 2]])
    same(cubc.merge_sort(d, "(a > 0 ? a : 0) < (b > 0 ? b : 0)"), x[[1, 2, 0]])
    rest = (cubc.asarray(x, device=device) % 0.5).array()
    np.testing.assert_array_equal(np.asarray(rest).astype("f4"), [0, 0.25, 0.25])


def test_an_operand_may_hide_the_index(device):
    x, places = np.array([1.5, 2.5, 3.5]), np.array([2, 0, 1])
    operands = {"table": on(device, x), "i": on(device, places)}
    same(cubc.sort(cubc.lazy("table[i]", **operands)), x)
    same(cubc.transform("table[i] * 2", **operands), x[places] * 2)
    within = cubc.lazy("table[i] + j", **operands, j=cubc.lazy("0.5 * i", size=3, dtype="f8"))
    same(cubc.transform(within), x[places] + 0.5 * np.arange(3))
    same(cubc.transform(["i", "i_ + i"], i=operands["i"], i_=1)[1], places + 1)
