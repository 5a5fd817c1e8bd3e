"""Several results of one transform against NumPy's of each."""

import inputs
import numpy as np
import pytest
from inputs import on, same

import cubc

N = 10_001


@pytest.mark.parametrize("type", inputs.SOME)
def test_every_type(device, type):
    x, y = inputs.random(type, N), inputs.random("F32", N, seed=1)
    made = cubc.transform(["x", "y > 0", "x + x"], x=on(device, x), y=on(device, y))
    assert isinstance(made, tuple)
    twice = (inputs.exact(x) + inputs.exact(x)).astype(x.dtype)
    for one, expected in zip(made, (x, y > 0, twice), strict=True):
        same(one, expected)


def test_boundaries_of_the_policy(device):
    x = inputs.random("F32", 500_000)
    for n in inputs.sizes("transform.mul", "F64", device):
        outs = np.full(n + 1, 9, "f4"), np.full(n + 1, 9, "f8")
        if device == "cpu":  # and nothing is written past the end
            cubc.transform(["-x", "2 * x"], x=x[:n], out=tuple(out[:n] for out in outs))
            assert outs[0][n] == outs[1][n] == 9
        else:
            outs = cubc.transform(["-x", "2 * x"], x=on(device, x[:n]), dtype=("f4", "f8"))
        same(np.asarray(outs[0])[:n], -x[:n])
        same(np.asarray(outs[1])[:n], 2 * x[:n].astype("f8"))


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("x + 0.5", "f8"),
        ("f * s", "f4"),
        ("f > s", "?"),
        ("x + k", "i8"),
        ("x / 3", "i8"),
        ("z * s", "c8"),
        ("abs(z)", "f4"),
        ("p.m", "f4"),
        ("i", "i8"),
    ],
)
def test_a_result_is_what_it_is_alone(device, text, dtype):
    """Type and every bit, whatever stands beside it."""
    x, f = inputs.random("I64", 99), inputs.random("F32", 99)
    p = np.zeros(99, [("m", "f4"), ("n", "i4")])
    p["m"] = f
    arrays = {"x": x, "f": f, "z": (f * 1j).astype("c8"), "p": p}
    known = {name: on(device, one) for name, one in arrays.items()} | {"s": 0.1, "k": 2**62 + 1}
    used = {name: known[name] for name in known if name in text.replace("abs", "")}
    alone = cubc.transform(text, **used, **({} if used else {"size": 99, "device": device}))
    made = cubc.transform(["f", text, "x"], **{**used, "f": known["f"], "x": known["x"]})
    assert np.asarray(made[1]).dtype == dtype
    same(made[1], alone)
    same(made[0], f)
    same(made[2], x)


def test_dtype_and_out(device):
    x = inputs.random("I32", N)
    d = on(device, x)
    for one in cubc.transform(["x", "x + 1"], x=d, dtype="f8"):
        assert np.asarray(one).dtype == "f8"
    first, second = cubc.transform(["x", "x + 1"], x=d, dtype=("i2", None))
    same(first, x.astype("i2"))
    same(second, x + np.int32(1))
    out = on(device, np.zeros(N)), on(device, np.zeros(N, "i8"))
    made = cubc.transform(["x + 0.5", "x"], x=d, out=out)
    assert made[0] is out[0]
    assert made[1] is out[1]
    same(out[0], x + 0.5)
    same(out[1], x.astype("i8"))
    cubc.transform(["x", "x + 0.5"], x=d, out=out, casting="unsafe")
    same(out[1], (x + 0.5).astype("i8"))
    filled = on(device, np.zeros(7)), on(device, np.zeros(7))
    cubc.transform(["i", "2"], out=filled)
    same(filled[0], np.arange(7.0))
    same(filled[1], np.full(7, 2.0))


def test_in_place(device):
    x, y = inputs.random("F32", N), inputs.random("F32", N, seed=1)
    a, b = on(device, x.copy()), on(device, y.copy())
    cubc.transform(["y", "x"], x=a, y=b, out=(a, b))
    same(a, y)
    same(b, x)


def test_outputs_with_strides():
    x, whole = inputs.random("F64", 33), np.zeros((33, 2))
    cubc.transform(["x", "-x"], x=x, out=(whole[:, 0], whole[:, 1]))
    same(whole, np.stack([x, -x], 1))


def test_shapes(device):
    x, y = inputs.random("F32", 41), inputs.random("F32", 30).reshape(30, 1)
    total, sign = cubc.transform(["x * y", "y < 0"], x=on(device, x), y=on(device, y))
    same(total, x * y)
    same(sign, np.broadcast_to(y < 0, (30, 41)))
    for empty in cubc.transform(["x", "x > 0"], x=on(device, x[:0])):
        assert empty.shape == (0,)
    (one,) = cubc.transform(["2 * x"], x=on(device, x))
    same(one, 2 * x)


def test_lazy_operands_and_tables(device):
    x = inputs.random("I32", 99)
    square = cubc.lazy("x * x", x=on(device, x))
    made = cubc.transform(["q + 1", "t[i / 2]", "q"], q=square, t=on(device, x))
    for one, expected in zip(made, (x * x + 1, x[np.arange(99) // 2], x * x), strict=True):
        same(one, expected.astype("i4"))


def test_structs_are_results(device):
    point = np.dtype([("u", "f4"), ("v", "i4")])
    texts = ["decltype(out_t::m0){x, i}", "i"]
    points, index = cubc.transform(texts, x=on(device, np.ones(5, "f4")), dtype=(point, "i8"))
    assert np.asarray(points).tolist() == [(1.0, k) for k in range(5)]
    same(index, np.arange(5))


def test_structs_of_lazy_items(device):
    x = inputs.random("F32", N)
    d, pair = on(device, x), np.dtype([("p", "f4"), ("q", "f8")], align=True)
    items = {"p": cubc.lazy("x * x", x=d), "q": cubc.lazy("x + 0.5", x=d, dtype="f8")}
    made = np.asarray(cubc.transform("out_t{p, q}", **items, dtype=pair))
    same(made["p"], x * x)
    same(made["q"], x.astype("f8") + 0.5)
    structs, plain = cubc.transform(["decltype(out_t::m0){p, q}", "q"], **items, dtype=(pair, None))
    same(np.asarray(structs), made)
    same(plain, made["q"])


def test_a_function_into_structs(device):
    x, pair = inputs.random("F32", N), np.dtype([("p", "f8"), ("q", "i2")], align=True)
    out = on(device, np.zeros(N, pair))
    assert cubc.transform(lambda x: (x + 0.5, x > 0), x=on(device, x), out=out) is out
    same(np.asarray(out)["p"], (x + np.float32(0.5)).astype("f8"))
    same(np.asarray(out)["q"], (x > 0).astype("i2"))


def test_functions(device):
    x, y, scale = inputs.random("F32", N), inputs.random("F32", N, seed=1), 0.5
    d, e = on(device, x), on(device, y)
    total, more = cubc.transform(lambda x, y: (x + y * scale, x > y), x=d, y=e)
    same(total, x + y * np.float32(scale))
    same(more, x > y)
    low, high = cubc.transform(lambda x, y: (x, y) if x < y else (y, x), x=d, y=e)
    same(low, np.minimum(x, y))
    same(high, np.maximum(x, y))
    whole, real = cubc.transform(lambda i: (i * 3, i / scale), size=9, device=device)
    same(whole, np.arange(9) * 3)
    same(real, np.arange(9) / scale)
    made = cubc.transform(lambda x: (x, x), x=d, dtype=("f8", "f2"))
    assert [np.asarray(one).dtype for one in made] == ["f8", "f2"]
    point = np.dtype([("u", "f4"), ("v", "f4")])
    pairs = cubc.transform(lambda x: (x, -x), x=d, dtype=point)  # one result of structs
    same(np.asarray(pairs)["v"], -x)


def test_an_index_and_a_number_of_the_closure(device):
    scale = 3
    made = cubc.transform(lambda i: i * scale, size=5, device=device)
    same(made, np.arange(5) * 3)


def test_as_many_results_as_there_may_be(device):
    x = inputs.random("I32", N)
    texts = [f"x + {k}" for k in range(8)]
    for k, made in enumerate(cubc.transform(texts, x=on(device, x))):
        same(made, x + np.int32(k))


def test_a_number_is_no_part_of_the_code(device):
    d = on(device, np.ones(10))
    for k in range(100):
        first, second = cubc.transform(["k * x", "x - k"], x=d, k=k)
        assert float(np.asarray(first)[9]) == k
        assert float(np.asarray(second)[0]) == 1 - k


X = np.arange(6)


@pytest.mark.parametrize(
    ("texts", "options", "error", "words"),
    [
        (["x"] * 9, {}, ValueError, "1 to 8 results, not 9"),
        ([], {}, ValueError, "1 to 8 results, not 0"),
        (["x", 3], {}, TypeError, "one of several expressions is 3"),
        (["x", " "], {}, TypeError, "one of several expressions is ' '"),
        (["x", "x"], {"out": X}, TypeError, "a tuple of 2 arrays"),
        (["x", "x"], {"out": (X,)}, TypeError, "a tuple of 2 arrays"),
        (["x", "x"], {"out": (X, None)}, TypeError, "a tuple of 2 arrays"),
        (["x", "x"], {"out": (X + 1, X[:3].copy())}, ValueError, "out has the shape"),
        (["x", "x * 0.5"], {"out": (X + 1, X + 1)}, TypeError, "casting='unsafe'"),
        (
            ["x", "x"],
            {"out": (X + 1, X + 1), "dtype": "f4"},
            TypeError,
            "out has .*, expected float32",
        ),
        (["x", "x"], {"dtype": ("f4",)}, TypeError, "dtype has 1 types for 2 results"),
        (["x", "x"], {"y": X}, ValueError, "does not use the operand 'y'"),
        (["x * 1j", "x"] * 2, {"dtype": [("a", "c16"), ("b", "c16")]}, ValueError, "64 are the"),
        (["x", "x"], {"casting": "safe"}, ValueError, "casting is 'safe'"),
    ],
)
def test_wrong_arguments(texts, options, error, words):
    with pytest.raises(error, match=words):
        cubc.transform(texts, x=X.copy(), device="cpu", **options)


def test_results_that_overlap():
    x, whole = np.arange(6.0), np.zeros(10)
    with pytest.raises(ValueError, match="two outputs overlap"):
        cubc.transform(["x", "-x"], x=x, out=(whole[:6], whole[4:]), device="cpu")
    with pytest.raises(ValueError, match="two outputs overlap"):
        cubc.transform(["x", "-x"], x=x[:3], out=(whole[:6:2], whole[4:9:2]), device="cpu")
    with pytest.raises(ValueError, match="input and output overlap"):
        cubc.transform(["x", "-x"], x=whole[1:7], out=(whole[:6], x), device="cpu")
    interleaved = whole[:6:2], whole[1:6:2]
    cubc.transform(["x", "-x"], x=x[1:4], out=interleaved, device="cpu")
    np.testing.assert_array_equal(whole[:6], [1, -1, 2, -2, 3, -3])


def test_a_call_that_is_bound(device):
    x = cubc.asarray(np.ones(9), device=device)
    a, b = cubc.asarray(x.numpy(), device=device), cubc.asarray(x.numpy(), device=device)
    bound = cubc.bind(cubc.transform, ["x + 1", "x - 1"], x=x, out=(a, b))
    bound()
    same(a, np.full(9, 2.0))
    same(b, np.zeros(9))


# ---- the C interface -----------------------------------------------------------------------------
@pytest.fixture
def parts():
    """A call of two parts in C, of F64 and I32, and what it writes to."""
    ffi, lib = cubc.ffi()
    device = ffi.new("cubc_device **")
    assert lib.cubc_device_open(b"cpu", device) == lib.CUBC_OK
    first, second = np.zeros(9), np.zeros(9, "i4")
    keep = [ffi.new("char[]", text) for text in (b"a", b"b", b"out_t{i * 0.5, i}")]
    members = ffi.new("cubc_member[2]", [(keep[0], lib.CUBC_F64, 0), (keep[1], lib.CUBC_I32, 8)])
    of = ffi.new("cubc_type *")
    assert lib.cubc_type_struct(members, 2, 16, of) == lib.CUBC_OK
    params = ffi.new("cubc_transform_params *")
    arrays = ffi.new("void *[2]", [ffi.from_buffer(first), ffi.from_buffer(second)])
    params.expression, params.out_type, params.n, params.parts = keep[2], of[0], 9, arrays

    def call():
        status = lib.cubc_transform(device[0], params, ffi.NULL, 0, ffi.NULL)
        return "" if status == lib.CUBC_OK else ffi.string(lib.cubc_error_message()).decode()

    yield call, params, first, second, keep
    lib.cubc_device_close(device[0])


def test_parts_in_c(parts):
    call, _params, first, second, _ = parts
    assert not call()
    same(first, np.arange(9) * 0.5)
    same(second, np.arange(9, dtype="i4"))


def test_parts_that_are_refused(parts):
    call, params, first, _, _ = parts
    ffi, lib = cubc.ffi()
    params.out = ffi.from_buffer(first)
    assert "leave one of them NULL" in call()
    params.out = ffi.NULL
    params.out_type = lib.CUBC_F64
    assert "out_type has to be one" in call()
    params.out_type = 77_777
    assert "out_type has to be one" in call()
    letters = [ffi.new("char[]", b"%c" % letter) for letter in b"abcdefghi"]
    members = ffi.new("cubc_member[9]", [(one, lib.CUBC_U8, k) for k, one in enumerate(letters)])
    of = ffi.new("cubc_type *")
    assert lib.cubc_type_struct(members, 9, 9, of) == lib.CUBC_OK
    params.out_type = of[0]
    assert "at most 8 parts, and the struct 9 members" in call()
    members[0].length = 1
    assert lib.cubc_type_struct(members, 1, 1, of) == lib.CUBC_OK
    params.out_type = of[0]
    assert "the member 'a' is an array" in call()
