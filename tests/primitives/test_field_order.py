"""Structs sorted by their fields."""

import ml_dtypes
import numpy as np
import pytest
from inputs import same

import cubc

DTYPES = {
    "8 bytes": [("a", "i4"), ("b", "f4")],
    "5 bytes": [("a", "?"), ("b", "f2"), ("c", "i1"), ("d", "u1")],
    "24 bytes": [("a", "f8"), ("b", "i8"), ("c", "u2")],
    "nested": [("a", "i2"), ("b", [("x", "f4"), ("y", "u1")]), ("c", "i1", (2,))],
}


def few(dtype, size, seed):
    """Numbers of which many are equal."""
    draw = np.random.default_rng(seed).integers(-3, 4, size)
    return (draw / 2 if dtype.kind == "f" else abs(draw) if dtype.kind == "u" else draw).astype(
        dtype
    )


def structs(fields, size=700):
    x = np.zeros(size, np.dtype(fields, align=True))
    for k, (name, (of, *_)) in enumerate(x.dtype.fields.items()):
        if of.fields:
            for j, inner in enumerate(of.names):
                x[name][inner] = few(of[inner], size, 10 * k + j)
        else:
            x[name] = few(of.base, (size, *of.shape), k)
    return x


def place(x, device):
    return cubc.asarray(x, device=device)


@pytest.mark.parametrize("name", list(DTYPES)[:3])
def test_as_numpys(device, name):
    x = structs(DTYPES[name])
    d = place(x, device)
    same(cubc.sort(d), np.sort(x))
    same(x[cubc.argsort(d, order="b").numpy()], np.sort(x, order="b"))
    assert cubc.sort(d, out=d) is d
    same(d, np.sort(x))


@pytest.mark.parametrize("name", ["5 bytes"])
def test_some_fields_before_the_others(device, name):
    x = structs(DTYPES[name])
    d, names = place(x, device), list(x.dtype.names)
    same(cubc.sort(d, order=names[::-1]), np.sort(x, order=names[::-1]))
    out = cubc.empty(x.size, x.dtype, device=device)
    assert cubc.sort(d, order=names[1:], out=out) is out
    same(out, np.sort(x, order=names[1:]))


@pytest.mark.parametrize("name", ["8 bytes", "5 bytes", "nested"])
def test_the_fields_of_a_key_alone(device, name):
    """Equal ones keep their order, also descending ones."""
    x = structs(DTYPES[name])
    d = place(x, device)
    by = x["b"] if name != "nested" else x["b"]["x"]
    field = "b" if name != "nested" else "b.x"
    same(cubc.argsort(d, key=field), np.argsort(by, kind="stable"))
    falling = np.lexsort((by, -x["a"].astype("f8")))
    if name in ("8 bytes", "nested"):
        same(cubc.argsort(d, key=["a", field], descending=[True, False]), falling)
    else:
        same(cubc.sort(d, key=["a", field], descending=[True, False]), x[falling])
    same(cubc.sort(d, key=field, descending=True), x[np.lexsort((-by.astype("f8"),))])


def test_parts_of_fields(device):
    x = structs(DTYPES["nested"])
    d = place(x, device)
    by_b = np.lexsort((x["b"]["y"], x["b"]["x"]))
    same(cubc.argsort(d, key="b"), by_b)
    same(cubc.argsort(d, key="c"), np.lexsort((x["c"][:, 1], x["c"][:, 0])))
    same(cubc.argsort(d, key="c[1]"), np.argsort(x["c"][:, 1], kind="stable"))


def test_floats_have_the_order_of_sort(device):
    """-0.0 comes before 0.0, and every NaN is last, as among floats alone."""
    for dtype in ("f2", ml_dtypes.bfloat16, "f4", "f8"):
        special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.0], dtype)
        values = np.concatenate([special, -special[:1], special[::-1]])
        x = np.zeros(values.size, np.dtype([("v", dtype), ("k", "i4")], align=True))
        x["v"] = values
        places = cubc.argsort(values, device="cpu")
        same(cubc.argsort(place(x, device), key="v"), places)


def test_many_structs(device):
    """More than one tile, in several turns, and of no struct at all."""
    x = structs(DTYPES["24 bytes"], 60_001)
    same(cubc.argsort(place(x, device)), np.argsort(x, kind="stable"))
    same(cubc.sort(place(x[:0], device)), x[:0])
    y = structs(DTYPES["8 bytes"], 6000).reshape(60, 100)
    same(
        cubc.sort(place(y, device), axis=None, key="b"),
        y.ravel()[np.argsort(y["b"], axis=None, kind="stable")],
    )
    host = cubc.sort(y[0], order="b")
    assert isinstance(host, np.ndarray)
    same(host, np.sort(y[0], order="b"))


MANTISSA = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}
WHOLE = {  # without a gap
    "8 of all kinds": [("a", "?"), ("b", "i1"), ("c", "f2"), ("d", "f4")],
    "8 of one": [("a", "f8")],
    "8 of four": [("a", "u2"), ("b", ml_dtypes.bfloat16), ("c", "i2", (2,))],
    "8 of two": [("a", "i4"), ("b", [("x", "f2"), ("y", "u1"), ("z", "?")])],
    "4": [("a", "f2"), ("b", "i2")],
    "2": [("a", "i1"), ("b", "u1")],
    "1": [("a", "?")],
}


def codes(x, falls):
    """Unsigned numbers in the order of a field: every NaN is last, and NaNs go by their bits."""
    most = 8 * x.itemsize
    raw = np.ascontiguousarray(x).view(f"u{x.itemsize}").astype("u8")
    sign, nans = np.uint64(1 << most - 1), (1 << MANTISSA.get(x.dtype.name, 0)) - 1
    if x.dtype.kind == "b":
        raw = (raw != 0).astype("u8")
    elif x.dtype.name in MANTISSA:
        raw = (np.where(raw & sign, ~raw, raw | sign) - np.uint64(nans)) << np.uint64(64 - most)
    elif x.dtype.kind == "i":
        raw = raw ^ sign
    return ~raw if falls else raw


def fields_of(x):
    """Every field of structs, by its own and its parts' names in their order."""
    for name in x.dtype.names:
        if x[name].dtype.names:
            yield name, [one for _, parts in fields_of(x[name]) for one in parts]
        else:
            yield name, list(x[name].reshape(x.size, -1).T)


@pytest.mark.parametrize("name", list(WHOLE))
def test_structs_of_sorted_bytes_alone(device, name):
    """Bits are those that there were, of NaNs too, but for bools, which are written as 1."""
    dtype, draw = np.dtype(WHOLE[name]), np.random.default_rng(len(name))
    count = len(dtype.names)
    turn, mixed = draw.permutation(count), [bool(k % 2) for k in range(count)]
    ways = [(np.arange(count), [False] * count), (np.arange(count), [True] * count), (turn, mixed)]
    for n, (by, falls) in [*((3000, way) for way in ways), (100_001, ways[2])]:
        x = draw.integers(0, 256, n * dtype.itemsize, np.uint8).view(dtype)
        x[: n // 2] = structs(WHOLE[name], n // 2)  # of which many are equal
        fields = [list(fields_of(x))[k] for k in by]
        options = {"order": [field for field, _ in fields], "descending": falls}
        of = [
            codes(part, fall)
            for (_, parts), fall in zip(fields, falls, strict=True)
            for part in parts
        ]
        expected = x[np.lexsort(of[::-1])]
        for _, parts in fields_of(expected):
            for part in parts:
                if part.dtype.kind == "b":
                    part[...] = part.view("u1") != 0
        d = place(x, device)
        same_bytes(cubc.sort(d, **options), expected)
        if n > 3000:
            continue
        same_bytes(cubc.sort(x, **options), expected)
        same_bytes(cubc.sort(cubc.lazy("x", x=d, dtype=dtype), **options), expected)
        if (by == np.arange(count)).all() and len(set(falls)) == 1:
            same_bytes(cubc.sort(d, descending=falls[0]), expected)
        empty = cubc.sort(d[:0], **options)
        assert empty.shape == (0,) and empty.dtype == dtype
        assert cubc.sort(d, out=d, **options) is d
        same_bytes(d, expected)


def same_bytes(result, expected):
    result = np.asarray(result)
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result.view("u1"), expected.view("u1"))


def test_distinct_structs(device):
    x = structs(DTYPES["8 bytes"], 300)
    made = cubc.unique(place(x, device), True, True, True)
    for one, wanted in zip(made, np.unique(x, True, True, True), strict=True):
        same(one, wanted)
    same(cubc.unique(place(x, device)), np.unique(x))


COMPLEX, LARGE = np.zeros(3, [("a", "c8")]), structs(DTYPES["24 bytes"], 10)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: cubc.sort(x, key="z"), ValueError, "there is no field 'z': expected some of a"),
        (lambda x: cubc.sort(x, order="a", key="b"), TypeError, "give one of the two"),
        (lambda x: cubc.sort(x, key="a", descending=[True] * 2), ValueError, "2 items for 1 fie"),
        (lambda x: cubc.sort(x, key=3), TypeError, "key=3: expected the name of a field"),
        (lambda x: cubc.sort(x, key=[]), ValueError, "key has no fields"),
        (lambda x: cubc.sort(x.reshape(2, 5), key="a"), ValueError, "one dimension or axis=None"),
        (lambda x: cubc.sort(x, end_bit=3), ValueError, "leave begin_bit and end_bit away"),
        (lambda x: cubc.sort(np.arange(3), order="a"), ValueError, "x has none"),
        (lambda x: cubc.sort(COMPLEX), TypeError, "without an order"),
        (lambda x: cubc.sort(x, out=np.zeros(10)), TypeError, "out has float64, expected"),
        (lambda x: cubc.sort(LARGE, out=np.zeros(10)), TypeError, "out has float64, expected"),
    ],
)
def test_what_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call(structs(DTYPES["8 bytes"], 10))
