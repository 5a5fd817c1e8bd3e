"""Integers in expressions and values that the result's type cannot hold: refused as NumPy does."""

import numpy as np
import pytest
from inputs import on

import cubc
from cubc._expression_types import check_integers, result

BYTES = np.array([100, -100, 5], "i1")


@pytest.mark.parametrize(
    ("type", "text", "value"),
    [
        ("i1", "x + 300", 300),
        ("i1", "300 - x", 300),
        ("i1", "x > 0 ? 300 : x", 300),
        ("i1", "(x > 0 ? x : 300)", 300),
        ("i1", "x & 0xFF", 255),
        ("i1", "x + (100 + 100)", 200),
        ("i1", "x * -(1 << 8)", -256),
        ("i1", "min(x, 300u)", 300),
        ("i1", "x * (true ? 2 : 0400)", 256),
        ("u1", "x + -1", -1),
        ("i4", "x + 3000000000", 3000000000),
        ("i8", "x + 9223372036854775808u", 2**63),
        ("u8", "x + -1", -1),
        ("u1", "x & ~1", -2),
        ("i2", "x + 077777777", 0o77777777),
        ("i1", "x + (99 + 99)", 198),
        ("i1", "x * 1'000", 1000),
    ],
)
def test_an_integer_that_the_result_cannot_hold(device, type, text, value):
    x = on(device, np.ones(3, type))
    for make in (
        lambda: cubc.transform(text, x=x),
        lambda: cubc.transform([text, "x"], x=x),
        lambda: cubc.lazy(text, x=x),
        lambda: cubc.transform(text, x=x, out=on(device, np.zeros(3, type))),
    ):
        with pytest.raises(OverflowError, match=rf" has {value}, which {np.dtype(type)}, the type"):
            make()


@pytest.mark.parametrize(
    ("text", "dtype", "expected"),
    [
        ("x > 300", "?", [0, 0, 0]),
        ("x + 127", "i1", [-29, 27, -124]),
        ("x > 300 ? x : 0", "i1", [0, 0, 0]),
        ("(x + 300) > 5", "?", [1, 1, 1]),
        ("x + static_cast<i32>(300)", "i4", [400, 200, 305]),
        ("x + (int)300", "i4", [400, 200, 305]),
        ("t[i % 300] + x", "i1", [101, -98, 8]),
        ("x * 0.5 + 300", "f8", [350, 250, 302.5]),
        ("x + i", "i8", [100, -99, 7]),
    ],
)
def test_an_integer_that_takes_no_part(device, text, dtype, expected):
    tables = {"t": on(device, np.array([1, 2, 3], "i1"))} if "t[" in text else {}
    found = np.asarray(cubc.transform(text, x=on(device, BYTES), **tables))
    assert found.dtype == dtype and found.tolist() == expected
    assert np.asarray(cubc.transform("x + 300", x=on(device, BYTES), dtype="i2")).tolist() == [
        *(400, 200, 305)
    ]
    cut = on(device, np.zeros(3, "i1"))
    cubc.transform("x + 300", x=on(device, BYTES), out=cut, casting="unsafe")
    assert np.asarray(cut).tolist() == [-112, -56, 49]


@pytest.mark.parametrize(
    "text", ["x + 300", "i + 300 + x", "x + s", "i + s", "(x * 2654435761ull) >> 7"]
)
def test_an_integer_that_the_items_hold_is_cut_into_out(device, text):
    """NumPy computes in the type of the items, and casts its result."""
    x, out = np.arange(3), np.zeros(3, "i1")
    names = {name: of for name, of in {"x": on(device, x), "s": 300}.items() if name in text}
    cubc.transform(text, out=(made := on(device, out)), **names)
    expected = eval(text.replace("ull", ""), {"x": x, "i": x, "s": 300})
    np.testing.assert_array_equal(np.asarray(made), expected.astype("i1"))
    with pytest.raises(OverflowError, match="300, which int8"):
        cubc.transform("x + 300", x=on(device, out), out=made)
    with pytest.raises(OverflowError, match="300, which int8"):
        cubc.transform("x + s", x=on(device, out), s=300, out=made)


@pytest.mark.parametrize(
    ("type", "value", "advice"),
    [
        ("i1", 300, ": give dtype='int16', or items of that type"),
        ("u1", 300, ": give dtype='uint16', or items of that type"),
        ("u1", -1, ": give dtype='int16', or items of that type"),
        ("u8", -1, ""),
    ],
)
def test_text_and_operands_have_one_message(device, type, value, advice):
    x = on(device, np.ones(3, type))
    words = rf"which {np.dtype(type)}, the type of the result, cannot hold{advice}$"
    with pytest.raises(OverflowError, match=rf"'x \+ {value}' has {value}, {words}"):
        cubc.transform(f"x + {value}", x=x)
    with pytest.raises(OverflowError, match=rf"'x \+ s' has s = {value}, {words}"):
        cubc.transform("x + s", x=x, s=value)


@pytest.mark.parametrize(
    ("type", "text", "expected"),
    [
        ("i1", "x + 300 / 100", 3),
        ("i1", "x + -700 / 200", -3),
        ("i1", "x + 1000 % 7", 6),
        ("u4", "x + (~0u >> 31)", 1),
        ("u4", "x - -1u", 1 - 2**32),
    ],
)
def test_integers_are_computed_as_c_does(device, type, text, expected):
    found = np.asarray(cubc.transform(text, x=on(device, np.zeros(2, type))))
    assert (
        found.dtype == type
        and found.tolist() == [expected % 2**32 if type == "u4" else expected] * 2
    )


def test_the_index_is_weak_beside_floats_alone():
    assert result("x * i", ("x",), (np.dtype("f4"),)) == np.float32
    assert result("x + i", ("x",), (np.dtype("u8"),)) == np.uint64
    assert result("i + 1", (), ()) is int
    for text in ("x ? : 300", "09 + x + 300"):  # not understood
        check_integers(text, ("x",), (np.dtype("i1"),), np.dtype("i1"))


OPERATORS = {
    "reduce": lambda x, op: cubc.reduce(x, op, init=0),
    "columns": lambda x, op: cubc.reduce(x.reshape(3, 1), op, axis=0),
    "several": lambda x, op: cubc.reduce(x, ["sum", op]),
    "scan": cubc.scan,
    "scan along": lambda x, op: cubc.scan(x.reshape(3, 1), op, axis=0),
    "segments": lambda x, op: cubc.segmented_reduce(x, np.array([0, 3]), op, init=0),
    "segmented scan": lambda x, op: cubc.segmented_scan(x, np.array([0, 3]), op),
    "by key": lambda x, op: cubc.reduce_by_key(x, x, op),
    "scan by key": lambda x, op: cubc.scan_by_key(x, x, op),
    "scatter": lambda x, op: cubc.scatter(x, np.array([0]), np.array([1], "i1"), op),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name):
    with pytest.raises(OverflowError, match="has 300, which int8, the type of the result"):
        OPERATORS[name](BYTES, "a + b + 300")
    with pytest.raises(OverflowError, match=r"test_literals.py:\d+\)?: Python integer 300 out of"):
        OPERATORS[name](BYTES, lambda a, b: a + b + 300)
    assert cubc.reduce(BYTES, "a + b + 300", dtype="i4") == 605


def test_python_functions_name_the_line_and_what_to_write():
    for function in (
        lambda x: x + 300,
        lambda x: 300 if x > 0 else x,
        lambda x: np.where(x > 0, 300, x),
    ):
        for make in (cubc.transform, cubc.lazy):
            words = (
                r"test_literals.py:\d+\)?: Python integer 300 .* int8: write numpy.uint16\(300\)"
            )
            with pytest.raises(OverflowError, match=words):
                make(function, x=BYTES)
    assert cubc.transform(lambda x: x + np.int16(300), x=BYTES).tolist() == [400, 200, 305]
    d = cubc.asarray(BYTES, device="cpu")
    with pytest.raises(OverflowError, match=r"write numpy.uint16\(300\)"):
        d + 300
    assert (d + np.int16(300)).dtype == np.int16


KEYS = [0, slice(0, 3, 2), slice(None), ..., [0, 1]]


def of_device(device, x):
    return cubc.asarray(x, device=device)


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("value", [300, np.nan, np.inf, 1e10, 1j])
def test_items_refuse_what_numpys_refuse(device, key, value):
    with pytest.raises((ValueError, OverflowError, TypeError)) as raised:
        BYTES.copy()[key] = value
    with pytest.raises(raised.type):
        of_device(device, BYTES)[key] = value


@pytest.mark.parametrize("key", [*KEYS[1:4], [0, 1, 2]], ids=str)
def test_items_take_what_numpys_take(device, key):
    x, d = BYTES.copy(), of_device(device, BYTES)
    for value in (2.7, True, np.float32(9.5), np.int64(-3), [1.5]):
        x[key] = d[key] = value
        assert d.tolist() == x.tolist()
    with pytest.raises((OverflowError, ValueError)):
        d[key] = [1, 2, 300]


def test_masked_complex_numbers_and_structs_are_written(device):
    d = of_device(device, np.array([1, 2, 1], "c8"))
    d[d == 1] = 5
    assert d.tolist() == [5, 2, 5]
    pairs = of_device(device, np.zeros(2, [("n", "i4"), ("m", "f4")]))
    pairs[0] = (7, 8.5)
    assert pairs.tolist() == [(7, 8.5), (0, 0)]
    pairs[:] = [(1, 2), (3, 4)]
    assert pairs.tolist() == [(1, 2), (3, 4)]
    rows = of_device(device, np.zeros((2, 3)))
    rows[0] = [[1, 2, 3]]
    assert rows.tolist() == [[1, 2, 3], [0, 0, 0]]
    for key in (0, slice(0, 2, 2), slice(None)):
        with pytest.raises(ValueError, match=r"write\s+cubc.asarray"):
            rows[key] = np.ones(3)


def test_a_function_with_an_integer_of_no_type(device):
    with pytest.raises(OverflowError, match="beyond 64 bits: give a float"):
        cubc.transform(lambda x: x < 2**64, x=on(device, np.arange(3)))
    found = cubc.transform(lambda x: x < 2.0**64, x=on(device, np.arange(3)))
    assert np.asarray(found).tolist() == [True] * 3


NUMBERS = [0, -1, 2**24 + 1, 2**53 + 1, -(2**63), True]
FLOATS = [0.1, -0.0, 3.4028234663852886e38, np.inf]


@pytest.mark.parametrize("number", NUMBERS + FLOATS)
def test_numbers_are_converted_as_numpy_does(device, number):
    for type in ("f4", "f8") if number in FLOATS else ("f4", "f8", "i8"):
        made = np.asarray(cubc.transform("n", n=number, size=1, dtype=type, device=device))
        assert made.tobytes() == np.array([number], type).tobytes(), type


def test_a_number_that_is_too_large_for_float32_has_numpys_warning(device):
    with pytest.warns(RuntimeWarning, match="overflow encountered in cast"):
        cubc.transform("n", n=1e300, size=1, dtype="f4", device=device)
