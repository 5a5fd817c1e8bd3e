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


def test_distinct_structs(device):
    x = structs(DTYPES["8 bytes"], 300)
    made = cubc.unique(place(x, device), True, True, True)
    for one, wanted in zip(made, np.unique(x, True, True, True), strict=True):
        same(one, wanted)
    same(cubc.unique(place(x, device)), np.unique(x))


COMPLEX = np.zeros(3, [("a", "c8")])


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
    ],
)
def test_what_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call(structs(DTYPES["8 bytes"], 10))
