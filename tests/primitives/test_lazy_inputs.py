"""Lazy inputs of the calls beyond reduce, scan, select, sort and transform: the same as of arrays.

Broadcast arrays have rows of a multiple of every vector (48 columns), or not (31, 7).
"""

import inputs
import numpy as np
import pytest
from inputs import on

import cubc

SHAPES = ((97, 48), (97, 31), (3000, 7))


def matrix(shape, device):
    """Integers, and a lazy input of as many, which takes one of their rows from each."""
    x = np.random.default_rng(shape[1]).integers(-50, 50, shape).astype("i4")
    return 3 * x - x[:1], cubc.lazy("3 * x - c", x=on(device, x), c=on(device, x[:1].copy()))


def line(device, n=20_011):
    """The same of one dimension, in runs."""
    x = np.sort(np.random.default_rng(n).integers(0, n // 3, n)).astype("i4")
    return x // 2 + 2, cubc.lazy("x / 2 + w", x=on(device, x), w=2)


def same(result, expected):
    result, expected = (r if isinstance(r, tuple) else (r,) for r in (result, expected))
    for got, wanted in zip(result, expected, strict=True):
        np.testing.assert_array_equal(np.asarray(got), np.asarray(wanted))


WHOLE = {  # calls of cubc or of NumPy
    "histogram": lambda x, library: library.histogram(x, 37, (-100, 100))[0],
    "histogram of its own range": lambda x, library: library.histogram(x, 37)[0],
    "histogram between edges": lambda x, library: library.histogram(x, [-100, 0, 3, 50])[0],
    "rows": lambda x, library: library.sum(x, axis=1),
    "columns": lambda x, library: library.sum(x, axis=0),
    "indices": lambda x, library: library.argmax(x, axis=0),
}
IN_ORDER = {
    "columns": lambda x: cubc.reduce(x, "a + b", axis=0),
    "deterministic columns": lambda x: cubc.sum(x, axis=0, dtype="f4", deterministic=True),
    "deterministic rows": lambda x: cubc.sum(x, axis=1, dtype="f4", deterministic=True),
}


@pytest.mark.some
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", WHOLE)
def test_of_any_shape(device, name, shape):
    x, lazy = matrix(shape, device)
    same(WHOLE[name](lazy, cubc), WHOLE[name](x, np))


@pytest.mark.some
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", IN_ORDER)
def test_of_any_shape_in_order(device, name, shape):
    x, lazy = matrix(shape, device)
    same(IN_ORDER[name](lazy), IN_ORDER[name](x))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_first_of_any_shape(device, shape):
    x, lazy = matrix(shape, device)
    places = np.flatnonzero(x == 99)
    assert int(cubc.find_if(lazy, "x == 99")) == (places[0] if places.size else -1)


@pytest.mark.some
@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_segments(device, shape, deterministic):
    x, lazy = matrix(shape, device)
    offsets = np.array([0, 3, 3, 100, 101, x.size])
    for op in ("sum", "a + b"):
        options = {"init": 0.0, "dtype": "f4", "deterministic": deterministic}
        found = cubc.segmented_reduce(lazy, on(device, offsets), op, **options)
        same(found, cubc.segmented_reduce(x, offsets, op, **options))


def largest(x, k):
    """Keys and indices; of equal keys the lowest index comes first."""
    order = (x.size - 1 - np.argsort(x[::-1], kind="stable")[::-1])[:k]
    return x[order], order


def lengths_of(x):
    return np.diff(np.append(inputs.heads(x), x.size))


LINES = {
    "topk": (lambda x: cubc.topk(x, 10), lambda x: largest(x, 10)),
    "reduce_by_key": (
        lambda x: cubc.reduce_by_key(x, x),
        lambda x: (x[inputs.heads(x)], np.add.reduceat(x, inputs.heads(x))),
    ),
    "run_length_encode": (
        cubc.run_length_encode,
        lambda x: (x[inputs.heads(x)], lengths_of(x)),
    ),
    "nontrivial_runs": (cubc.nontrivial_runs, lambda x: tuple(inputs.longer_runs(x))),
    "unique_by_key": (
        lambda x: cubc.unique_by_key(x, x),
        lambda x: (x[inputs.heads(x)], x[inputs.heads(x)]),
    ),
    "bincount": (cubc.bincount, np.bincount),
}


@pytest.mark.parametrize("name", LINES)
def test_of_one_dimension(device, name):
    (call, reference), (x, lazy) = LINES[name], line(device)
    same(call(lazy), reference(x))


def test_two_of_them(device):
    keys, lazy = line(device)
    values = inputs.random("I32", keys.size)
    v = on(device, values)
    found = cubc.reduce_by_key(lazy, cubc.lazy("v ^ i", v=v))
    same(found, cubc.reduce_by_key(keys, values ^ np.arange(keys.size, dtype="i4")))
    found = cubc.histogram(lazy, 50, (0, 5000), weights=cubc.lazy("v & 7", v=v, dtype="f8"))[0]
    same(found, np.histogram(keys, 50, (0, 5000), weights=(values & 7).astype("f8"))[0])


# Calls that evaluate a lazy input; of host memory they do it there, where their lists are.
EVALUATED = {
    "isin": lambda x, v: cubc.isin(x, [3, 5, 7]),
    "isin, of": lambda x, v: cubc.isin(v, x),
    "union1d": lambda x, v: cubc.union1d(x, v),
    "intersect1d": lambda x, v: cubc.intersect1d(v, x),
    "setdiff1d": lambda x, v: cubc.setdiff1d(v, x),
    "setxor1d": lambda x, v: cubc.setxor1d(x, [3, 4]),
    "take": lambda x, v: cubc.take(x, [1, 0]),
    "searchsorted": lambda x, v: cubc.searchsorted(x, 7),
    "permutation": lambda x, v: cubc.permutation(x, seed=1),
    "histogram2d": lambda x, v: cubc.histogram2d(x, x, bins=[3, 4])[0],
    "is_sorted": lambda x, v: np.asarray(cubc.is_sorted(x)),
    "segmented_reduce": lambda x, v: cubc.segmented_reduce(x, [0, 3, 900]),
    "segmented_sort": lambda x, v: cubc.segmented_sort(x, [0, 3, 1000]),
}


@pytest.mark.parametrize("name", EVALUATED)
@pytest.mark.parametrize("host", [True, False])
def test_calls_that_evaluate_it(name, host, device):
    keys = line(device, 1000)[0]
    own = keys - 1 if host else on(device, keys - 1)
    values = np.arange(1000, dtype="i4")
    found = EVALUATED[name](cubc.lazy("x + w", x=own, w=1), values if host else on(device, values))
    same(found, EVALUATED[name](keys, values))


@pytest.mark.parametrize("host", [True, False])
def test_lines_that_are_broadcast_stay_where_they_are(host, device):
    x, k = np.arange(6.0).reshape(2, 3), np.array([[2, 0]])
    expected = np.take_along_axis(x, k, 1)
    a, b = (z if host else cubc.asarray(z, device=device) for z in (x, k))
    items, places = cubc.lazy("x", x=a), cubc.lazy("k", k=b)
    for made in (cubc.take_along_axis(items, places, 1), cubc.take_along_axis(items, b, 1)):
        assert isinstance(made, np.ndarray) == host
        same(made, expected)
    cubc.put_along_axis(a, places, 9, 1)
    np.put_along_axis(x, k, 9, 1)
    same(a, x)


@pytest.mark.parametrize("indices", [[5, 2], cubc.lazy("i * 3", size=2, dtype="i4")])
def test_put_of_it(indices):
    x = np.zeros(9)
    cubc.put(x, indices, cubc.lazy("v * 2", v=np.array([1.0, 2.0])))
    expected = np.zeros(9)
    np.put(expected, np.asarray(indices), [2, 4])
    same(x, expected)


@pytest.mark.parametrize("dtype", ["f4", "i8"])
def test_keys_of_topk(device, dtype):
    """Floats as they compare, negative ones too."""
    x = inputs.random("I32", 9001) // 4  # C has no product beyond an int
    lazy = cubc.lazy("x * -3", x=on(device, x), dtype=dtype)
    same(cubc.topk(lazy, 700), largest((x * -3).astype(dtype), 700))


def test_bool(device):
    x = inputs.random("I8", 9001)
    lazy = cubc.lazy("x > 3", x=on(device, x), dtype=bool)
    same(cubc.histogram(lazy, 2, (0, 2))[0], [(x <= 3).sum(), (x > 3).sum()])


@pytest.mark.usefixtures("as_users_have")
def test_no_array_is_made():
    """An array of 2**33 items would not fit."""
    items = cubc.lazy("i", size=2**33, dtype="int64")
    assert int(cubc.find_if(items, "x == 123456")) == 123456


def test_runs_in_place_are_refused(device):
    """A tile looks at the item before it, which would be another by then."""
    x = on(device, np.arange(10_000, dtype="i4"))
    lengths = on(device, np.empty(10_000, "i8"))
    with pytest.raises(ValueError, match="an operand of a lazy input: they must be apart"):
        cubc.run_length_encode(cubc.lazy("x / 3", x=x), out=(x, lengths))


@pytest.mark.parametrize(
    "call",
    [
        lambda x, _: cubc.histogram(x, 10, (0, 1))[0],
        lambda x, _: cubc.topk(x, 10)[0],
        lambda x, edges: cubc.searchsorted(edges, x),
        lambda x, _: cubc.repeat(x, 2),
        lambda x, _: cubc.find_if(x, "x > 0.5"),
        lambda x, _: cubc.unique_consecutive(x),
    ],
    ids=["histogram", "topk", "searchsorted", "repeat", "find_if", "unique_consecutive"],
)
def test_operands_wider_than_any_item(device, call):
    """Policies are by the widest operand, and GPUs have some for each size."""
    z, edges = np.random.default_rng(1).random(1000) * (1 + 1j), np.linspace(0, 1, 20)
    made = call(cubc.lazy("real(z)", z=on(device, z)), on(device, edges))
    same(made, np.asarray(call(np.ascontiguousarray(z.real), edges)))
