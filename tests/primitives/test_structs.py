"""Structured dtypes in every primitive that takes them, against NumPy."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs import on, value

import cubc
import cubc.array_api as xp

PARTICLE = np.dtype([("x", "f4"), ("m", "f4"), ("k", "i4")])
COMBINE = "value_t{a.x + b.x, a.m > b.m ? a.m : b.m, a.k ^ b.k}"
WHOLE_NAMES = [f"{sign}{bits}" for sign in "iu" for bits in (8, 16, 32, 64)]
TYPE_NAMES = ["bool8", *WHOLE_NAMES, "f16", "bf16", "f32", "f64", "c64", "c128"]
# Packed, with gaps, with arrays and structs inside, of every kind of number: the fields, an
# associative operator and which fields it sums.
INNER = np.dtype([("p", "f4"), ("q", "f4")])
LAYOUTS = {
    "3 bytes": ([("x", "u1"), ("y", "i2")], "value_t{a.x + b.x, a.y + b.y}", "xy"),
    "6 bytes": (
        [("x", "f2"), ("y", "i2", (2,))],
        "value_t{a.x < b.x ? b.x : a.x, {b.y[0], b.y[1]}}",
        "",
    ),
    "9 bytes": ([("b", "?"), ("x", "f8")], "value_t{a.b || b.b, a.x + b.x}", "x"),
    "12 bytes": (PARTICLE, COMBINE, "x"),
    "16 bytes": ([("x", "f8"), ("y", "i8")], "value_t{a.x + b.x, a.y + b.y}", "xy"),
    "20 bytes": (
        [("h", ml_dtypes.bfloat16), ("u", "u2"), ("z", "c8"), ("d", "f8")],
        "value_t{a.h < b.h ? b.h : a.h, a.u + b.u, a.z + b.z, a.d + b.d}",
        "uzd",
    ),
    "24 bytes": (
        np.dtype([("x", "f4"), ("y", "f8"), ("s", INNER)], align=True),
        "value_t{a.x + b.x, a.y + b.y, decltype(a.s){a.s.p + b.s.p, b.s.q}}",
        "xy",
    ),
    "64 bytes": ([("v", "f8", (7,)), ("n", "i8")], "value_t{a.v, a.n + b.n}", "n"),
}


def random(dtype, n, seed=0):
    """Small integers in every field."""
    x = np.zeros(n, dtype)
    draw = np.random.default_rng(seed)
    for name in x.dtype.names:
        field = x[name]
        if field.dtype.names:
            x[name] = random(field.dtype, n, seed + 1)
        else:
            x[name] = draw.integers(0, 5, field.shape).astype(field.dtype)
    return x


def same(result, expected):
    """Compare type, shape and fields; what lies between these does not count."""
    result, expected = np.asarray(result), np.asarray(expected)
    assert result.dtype == expected.dtype
    assert result.shape == expected.shape
    for name in expected.dtype.names or ():
        if expected.dtype[name].names:
            same(result[name], expected[name])
        else:
            np.testing.assert_array_equal(result[name], expected[name])
    if not expected.dtype.names:
        np.testing.assert_array_equal(result, expected)


def combined(x):
    """All prefixes under COMBINE."""
    prefix = np.zeros_like(x)
    prefix["x"] = np.cumsum(x["x"])
    prefix["m"] = np.maximum.accumulate(x["m"])
    prefix["k"] = np.bitwise_xor.accumulate(x["k"])
    return prefix


# ---- primitives ----------------------------------------------------------------------------------
@pytest.mark.parametrize("commutative", [False, True])
def test_reduce(device, commutative):
    x = random(PARTICLE, 300_001)
    for n in (1, 2, 33, 1000, 300_001):
        result = cubc.reduce(on(device, x[:n]), COMBINE, commutative=commutative)
        same(value(result), combined(x[:n])[-1])
    init = np.array((100, 7, 1), PARTICLE)[()]
    expected = combined(np.concatenate([[init], x]))[-1]
    for first in (init, (100, 7, 1), init.item()):
        same(value(cubc.reduce(on(device, x), COMBINE, init=first)), expected)
    same(value(cubc.reduce(on(device, x[:0]), COMBINE, init=init)), init)


def test_scan(device):
    x = random(PARTICLE, 100_001)
    given = on(device, x)
    same(cubc.scan(given, COMBINE), combined(x))
    expected = np.concatenate([np.zeros(1, PARTICLE), combined(x)[:-1]])
    same(cubc.scan(given, COMBINE, inclusive=False, init=0), expected)
    out = cubc.asarray(x.copy(), device=device)
    same(cubc.scan(out, COMBINE, out=out), combined(x))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(device, layout):
    """The number of bytes is right, and no field gets another's."""
    fields, op, sums = LAYOUTS[layout]
    dtype = np.dtype(fields)
    assert dtype.itemsize == int(layout.split()[0])
    x = random(dtype, 5001)
    total = value(cubc.reduce(on(device, x), op))
    prefixes = np.asarray(cubc.scan(on(device, x), op))
    same(total, prefixes[-1])
    same(prefixes[0], x[0])
    for name in sums:
        np.testing.assert_array_equal(prefixes[name], x[name].cumsum(dtype=x[name].dtype))
    if list(LAYOUTS).index(layout) % 2:
        same(cubc.select(on(device, x), "i % 3 == 0"), x[::3])
    else:
        same(cubc.transform("x", x=on(device, x), dtype=dtype), x)
    same(cubc.asarray(x, device=device).numpy(), x)


def test_selections(device):
    x = random(PARTICLE, 70_001)
    given = on(device, x)
    heavy = x["m"] > 2
    same(cubc.select(given, "x.m > 2"), x[heavy])
    same(cubc.select(given, on(device, heavy)), x[heavy])
    for part, expected in zip(
        cubc.partition_if(given, "x.m > 2"), (x[heavy], x[~heavy]), strict=True
    ):
        same(part, expected)
    runs = np.repeat(x[:1000], 3)
    differs = np.concatenate([[True], runs[1:] != runs[:-1]])
    same(cubc.unique_consecutive(on(device, runs)), runs[differs])


@pytest.mark.parametrize("layout", ["12 bytes", "64 bytes"])
def test_by_key_by_segment_and_along_an_axis(device, layout):
    """Sums and flags travel together; the larger struct fills what there is room for."""
    fields, op, sums = LAYOUTS[layout]
    x, keys = random(fields, 30_000), np.sort(np.random.default_rng(3).integers(0, 3000, 30_000))
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    given, name = on(device, x), sums[-1]
    expected = np.add.reduceat(x[name], starts)
    same(np.asarray(cubc.reduce_by_key(on(device, keys), given, op)[1])[name], expected)
    prefixes = np.asarray(cubc.scan_by_key(on(device, keys), given, op))
    same(prefixes[name][starts[1:] - 1], expected[:-1])
    offsets = on(device, np.concatenate([starts, [x.size]]))
    total = cubc.segmented_reduce(given, offsets, op, init=np.zeros((), x.dtype)[()])
    same(np.asarray(total)[name], expected)
    cube = x.reshape(30, 100, 10)
    for axis in range(3):
        result = cubc.reduce(on(device, cube), op, axis=axis)
        same(np.asarray(result)[name], cube[name].sum(axis, dtype=x[name].dtype))


def test_an_order_of_ones_own(device):
    for fields, _, _ in (LAYOUTS["12 bytes"], LAYOUTS["64 bytes"]):
        x = random(fields, 10_000)
        name = x.dtype.names[-1]
        result = cubc.merge_sort(on(device, x), f"a.{name} < b.{name}")
        same(result, x[np.argsort(x[name], kind="stable")])
        first = cubc.find_if(on(device, x), f"x.{name} > 3")
        assert int(first) == np.argmax(x[name] > 3)


def test_structs_as_keys(device):
    x = random(PARTICLE, 100)
    x["k"] = np.arange(100)  # neighbours differ
    keys, counts = cubc.run_length_encode(on(device, np.repeat(x, 3)))
    same(keys, x)
    assert (np.asarray(counts) == 3).all()


def test_transform(device):
    x = random(PARTICLE, 10_001)
    p = on(device, x)
    same(cubc.transform("p.x * s", p=p, s=0.5, dtype="f4"), x["x"] * np.float32(0.5))
    made = cubc.transform("out_t{p.x + 1, p.k, i}", p=p, dtype=PARTICLE)
    expected = np.empty_like(x)
    expected["x"], expected["m"], expected["k"] = x["x"] + 1, x["k"], np.arange(x.size)
    same(made, expected)
    fields = {name: on(device, x[name].copy()) for name in PARTICLE.names}
    same(cubc.transform("out_t{x, m, k}", **fields, dtype=PARTICLE), x)
    one = x[5]
    same(cubc.transform("p.k - q.k", p=p, q=one, dtype="i4"), x["k"] - one["k"])
    same(cubc.transform("p == q", p=p, q=one, dtype=bool), x == one)
    other = np.dtype([("k", "i8"), ("x", "f8")])
    result = np.asarray(cubc.transform("out_t{p.k, p.x}", p=p, dtype=other))
    np.testing.assert_array_equal(result["x"], x["x"])


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_sort_pairs(device, size):
    dtype = np.dtype([("a", "u1", (size // 2,)), ("b", "u1", (size - size // 2,))][size < 2 :])
    x, keys = random(dtype, 5000), np.random.default_rng(1).permutation(5000)
    same(cubc.sort_pairs(on(device, keys), on(device, x))[1], x[np.argsort(keys)])


def test_two_structs_with_the_same_names(device):
    x, y = random([("v", "f4")], 100), random([("v", "i2"), ("w", "i2")], 100)
    result = cubc.transform("x.v + y.v", x=on(device, x), y=on(device, y), dtype="f4")
    same(result, x["v"] + y["v"])


# ---- arrays --------------------------------------------------------------------------------------
def test_arrays(device):
    x = random(PARTICLE, 60).reshape(3, 20)
    a = cubc.asarray(x, device=device)
    assert (a.dtype, a.itemsize, a.shape) == (PARTICLE, 12, (3, 20))
    same(a.numpy(), x)
    same(a[1:].numpy(), x[1:])
    assert cubc.asarray(x[:1, 0], device=device).item() == x[0, 0].item()
    assert cubc.empty(3, PARTICLE, device=device).dtype == PARTICLE
    assert cubc.empty(3, [("x", "f4")], device=device).dtype == np.dtype([("x", "f4")])
    assert "dtype=[('x', '<f4'), ('m', '<f4'), ('k', '<i4')]" in repr(a)
    with pytest.raises(BufferError, match="DLPack has no structs"):
        a.__dlpack__()


PADDED = np.array([(k % 4, k) for k in range(6)], np.dtype([("a", "f4"), ("c", "i2")], align=True))
JOINED = {
    "concatenate": (lambda x: cubc.concatenate([x, x]), lambda x: np.concatenate([x, x])),
    "where": (lambda x: cubc.where(cubc.lazy("x.a > 1", x=x), x, x), lambda x: x),
    "ternary": (lambda x: cubc.transform("x.a > 1 ? x : y", x=x, y=x), lambda x: x),
    "function": (lambda x: cubc.transform(lambda x, y: x if x.a > 1 else y, x=x, y=x), lambda x: x),
    "union1d": (lambda x: cubc.union1d(x, x), lambda x: np.union1d(x, x)),
    "setxor1d": (lambda x: cubc.setxor1d(x, x[:2]), lambda x: np.setxor1d(x, x[:2])),
    "stack": (lambda x: xp.stack([xp.asarray(x)] * 2), lambda x: np.stack([x, x])),
}


@pytest.mark.parametrize("size", [6, 0])
@pytest.mark.parametrize("name", JOINED)
def test_padding_stays_where_structs_are_joined(device, name, size):
    """NumPy's common type of equal structs has none."""
    of, expected = JOINED[name]
    for x in (cubc.asarray(PADDED[:size], device=device), on(device, PADDED[:size])):
        made = np.asarray(of(x))
        assert made.dtype == PADDED.dtype
        np.testing.assert_array_equal(made, expected(PADDED[:size]))


def test_some_fields(device):
    """A view of some fields has gaps where the others are."""
    x = random(PARTICLE, 1000)
    some = x[["x", "k"]]
    assert some.dtype.itemsize == 12
    result = cubc.reduce(on(device, some), "value_t{a.x + b.x, a.k + b.k}")
    assert value(result).item() == (x["x"].sum(), x["k"].sum())


def test_strided_and_read_only(device):
    x = random(PARTICLE, 1000)
    x.flags.writeable = False
    same(value(cubc.reduce(x[::2], COMBINE, device=device)), combined(x[::2])[-1])


@pytest.mark.parametrize("has_dtype", [False, True])
def test_the_cuda_interface(has_dtype):
    """The dtype or the description tells a struct; here up to the missing device."""
    elsewhere = type("Elsewhere", (), {})()
    interface = {"shape": (3,), "typestr": "|V8", "data": (0, False), "version": 3}
    if has_dtype:
        elsewhere.dtype = np.dtype([("x", "f4"), ("o", "O")])
    else:
        interface["descr"] = [("x", "<f4"), ("", "|V2"), ("o", "<f2"), ("s", "|S4")]
    elsewhere.__cuda_array_interface__ = interface
    with pytest.raises(TypeError, match=r"the field '[os]' is"):
        cubc.reduce(elsewhere, "a")


@pytest.mark.gpu
def test_the_cuda_interface_of_an_array():
    x = random(PARTICLE, 10)
    a = cubc.asarray(x, device="cuda:0")
    interface = a.__cuda_array_interface__
    assert interface["typestr"] == "|V12"
    elsewhere = type("Elsewhere", (), {})()
    elsewhere.__cuda_array_interface__ = interface
    same(cubc.asarray(elsewhere), x)


def test_the_c_interface():
    ffi, lib = cubc.ffi()
    name, out = ffi.new("char[]", b"x"), ffi.new("cubc_type *")
    member = ffi.new("cubc_member *", {"name": name, "type": lib.CUBC_F32, "offset": 4})
    assert lib.cubc_type_struct(member, 1, 8, out) == lib.CUBC_OK
    assert lib.cubc_type_size(out[0]) == 8
    assert ffi.string(lib.cubc_type_name(out[0])).startswith(b"struct_")


@pytest.mark.parametrize(
    "fields",
    [
        list(zip(TYPE_NAMES[:8], ["c16", "f8", "f4", "f2", "u8", "u4", "u2", "u1"], strict=True)),
        list(zip(TYPE_NAMES[8:], ["?", "i1", "i2", "u8", "f4", "f2", "f8"], strict=True)),
        [("f32", "f2", (3,)), ("f16", "f4"), ("u8", "f2"), ("i8", "f4")],
    ],
    ids=["sixteen bytes first", "packed", "an array"],
)
def test_fields_with_the_names_of_types(device, fields):
    """A member's type is another than that of its name, which hides that type; one is packed."""
    align = fields[0][1] != "?"
    dtype = np.dtype(fields, align=align)
    name, x = dtype.names[1], np.zeros(999, dtype)
    x[name] = np.arange(999) % 31
    d = on(device, x)
    made = f"out_t{{{', '.join(f'p.{field}' for field in dtype.names)}}}"
    same(cubc.transform(made, p=d, dtype=dtype), x)
    same(cubc.transform(f"p.{name} + 1", p=d), x[name] + dtype[name].type(1))
    same(cubc.transform(lambda p: getattr(p, name), p=d), x[name])
    same(cubc.select(d, f"x.{name} > 3"), x[x[name] > 3])
    same(value(cubc.reduce(d, f"a.{name} > b.{name} ? a : b"))[name], x[name].max())
    same(np.asarray(cubc.merge_sort(d, f"a.{name} < b.{name}"))[name], np.sort(x[name]))
    if align and not dtype[0].subdtype:
        cubc.for_each(f"p[i].{name} = p[998 - i].{name}", 499, p=d)
        same(np.asarray(d)[name][:499], x[name][:-500:-1])


# ---- what is refused -----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        ([("x", "f4"), ("o", "O")], TypeError, "the field 'o' is object"),
        ([("x", "f4"), ("s", "S4")], TypeError, r"the field 's' is \|S4"),
        ([("x", ">f4")], TypeError, "the field 'x' is >f4"),
        ([("s", [("y", ">f4")])], TypeError, "the field 'y' is >f4"),
        ([("m", "f4", (2, 2))], TypeError, "the field 'm' is .* one dimension"),
        ([("a b", "f4")], ValueError, "'a b' cannot name a member"),
        ([("for", "f4")], ValueError, "'for' cannot name a member"),
        ([("x", "f8", (9,))], ValueError, "72 bytes is too large"),
        ([("b", "?"), ("z", "c8")], ValueError, r"'z' .* align=True"),
        ([(f"x{k}", "u1") for k in range(65)], ValueError, "65 fields is too large"),
        ([], ValueError, "a struct needs a member"),
        (
            {"names": ["x", "y"], "formats": ["f4", "f4"], "offsets": [4, 0]},
            ValueError,
            "'y' begins at byte 0.* in the order of their offsets",
        ),
        (
            {"names": ["x", "y"], "formats": ["f4", "f4"], "offsets": [0, 2]},
            ValueError,
            "do not overlap",
        ),
    ],
)
def test_dtypes_that_are_refused(device, fields, error, words):
    dtype = np.dtype(fields)
    for call in (
        lambda: cubc.reduce(np.zeros(3, dtype), "a", device=device),
        lambda: cubc.empty(3, dtype, device=device),
        lambda: cubc.asarray(np.zeros(3, dtype), device=device),
    ):
        with pytest.raises(error, match=words):
            call()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            cubc.sum,
            TypeError,
            r"sum\(\): 'sum' is for numbers .*\{f32 x; .*value_t\{a.x \+ b.x, ...\}",
        ),
        (cubc.argmax, TypeError, r"argmax\(\): 'argmax' is for numbers"),
        (cubc.any, TypeError, r"any\(\): 'any' is for numbers"),
        (lambda x: cubc.isin(x, x), TypeError, r"isin\(\): items .* are structs"),
        (cubc.cumsum, TypeError, r"cumsum\(\): 'sum' is for numbers"),
        (cubc.flatnonzero, TypeError, "neither 0 nor not"),
        (lambda x: cubc.sort_pairs(x, x["k"]), TypeError, "the keys of sort_pairs are structs"),
        (lambda x: cubc.topk(x, 3), TypeError, "the keys of topk are structs"),
        (cubc.merge_sort, TypeError, "compared with < are structs"),
        (lambda x: cubc.reduce(x, "a + b"), cubc.CompileError, "does not compile"),
        (lambda x: cubc.reduce(x, "a", dtype="f4"), TypeError, "does not become F32"),
        (lambda x: cubc.reduce(np.zeros(3), "a", dtype=PARTICLE), TypeError, "F64 does not become"),
        (lambda x: cubc.scan(x, COMBINE, out=np.zeros(10)), TypeError, "does not become F64"),
        (lambda x: cubc.transform("f(x.x)", x=x), TypeError, "result's type has to be given"),
        (lambda x: cubc.select(x, "x"), cubc.CompileError, "does not compile"),
        (lambda x: cubc.asarray(x, "f4"), TypeError, "take one field"),
        (lambda x: cubc.reduce(x, COMBINE, init="a"), (TypeError, ValueError), "init is 'a'"),
        (
            lambda x: cubc.scan(x, COMBINE, out=np.zeros(10, [("x", "f4"), ("y", "f8")])),
            TypeError,
            r"i32 k; 12 bytes\} does not become \{f32 x; f64 y",
        ),
    ],
)
def test_what_structs_cannot(call, error, words):
    with pytest.raises(error, match=words):
        call(random(PARTICLE, 10))


def test_too_many_values():
    many = np.dtype([("v", "f8", (8,))])
    values = {f"s{k}": np.zeros((), many)[()] for k in range(6)}
    total = " + ".join(f"{name}.v[0]" for name in values)
    with pytest.raises(ValueError, match="take more than the 320 bytes"):
        cubc.transform(total, **values, size=3, dtype="f8", device="cpu")


# ---- properties ----------------------------------------------------------------------------------
KINDS = st.sampled_from(["u1", "i2", "f2", "i4", "f4", "u8", "f8"])


@settings(max_examples=8)
@given(st.lists(KINDS, min_size=1, max_size=5), st.booleans(), st.integers(0, 2**32 - 1))
def test_any_fields_are_read_and_written_where_they_are(kinds, align, seed):
    """Also where C would not put them; a dtype is refused with advice, or it is right."""
    dtype = np.dtype([(f"f{k}", kind) for k, kind in enumerate(kinds)], align=align)
    x = random(dtype, 100, seed)
    try:
        swapped = cubc.transform(
            "out_t{" + ", ".join(f"x.f{k} + 1" for k in range(len(kinds))) + "}",
            x=x,
            dtype=dtype,
            device="cpu",
        )
    except ValueError as error:
        assert "align=True" in str(error) and not align
        return
    for name in dtype.names:
        np.testing.assert_array_equal(swapped[name], x[name] + 1)
