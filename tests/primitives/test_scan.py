"""scan against NumPy."""

import inputs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from inputs import TYPES, in_turn, on, same

import cubc

FUNCTIONS = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}


def data(type, op, n, seed=0):
    """Prefix sums of floats stay small enough to be exact in two bytes."""
    x = inputs.random(type, n, seed)
    if type not in inputs.FLOATS:
        return x
    if op == "sum":
        return np.diff(x.clip(-1, 1).astype(np.float64), prepend=0).astype(x.dtype)
    return np.where(x > 0, 1, -1).astype(x.dtype) if op == "prod" else x


def reference(x, op):
    wide = inputs.exact(x)
    return FUNCTIONS[op].accumulate(wide, dtype=wide.dtype).astype(x.dtype)


@pytest.mark.parametrize(("type", "op"), in_turn(TYPES, FUNCTIONS, 4))
def test_every_type_and_operator(device, type, op):
    for n in (1, 2, 1000, 70_001):
        x = data(type, op, n, seed=n)
        same(cubc.scan(on(device, x), op), reference(x, op))


@pytest.mark.parametrize(("type", "op"), in_turn(inputs.SOME, ["sum", "prod"], 2))
def test_exclusive(device, type, op):
    for n in (1, 1000, 70_001):
        x = data(type, op, n, seed=n)
        begin = np.full(1, op == "prod", x.dtype)
        expected = reference(np.concatenate([begin, x[:-1]]), op)
        same(cubc.scan(on(device, x), op, inclusive=False), expected)


@pytest.mark.parametrize("inclusive", [True, False])
@pytest.mark.parametrize("type", ["F32", "I8", "U64"])
def test_boundaries_of_the_policy(device, type, inclusive):
    name = f"scan.{'inclusive' if inclusive else 'exclusive'}.sum"
    sizes = inputs.sizes(name, type, device)
    x = data(type, "sum", sizes[-1])
    sums = np.concatenate([np.zeros(1, x.dtype), reference(x, "sum")])
    for n in sizes:
        result = cubc.scan(on(device, x[:n]), inclusive=inclusive)
        same(result, sums[1 : n + 1] if inclusive else sums[:n])


def test_no_items(device):
    empty = on(device, np.empty(0, np.float32))
    for arguments in ({}, {"inclusive": False}, {"op": "max"}, {"op": "a * b"}):
        result = cubc.scan(empty, **arguments)
        assert result.shape == (0,)
        assert result.dtype == np.float32


def test_bool(device):
    x = inputs.random("U8", 70_001) > 100
    same(cubc.scan(on(device, x)), x.cumsum())
    same(cubc.scan(on(device, x), "max"), np.logical_or.accumulate(x))
    same(cubc.scan(on(device, x), "min"), np.logical_and.accumulate(x))


# ---- special values ------------------------------------------------------------------------------
@pytest.mark.parametrize(("type", "op"), in_turn(inputs.FLOATS, ["sum", "max", "min"], 3))
def test_nan_spreads(device, type, op):
    x = data(type, op, 70_001)
    x[12_345] = np.nan
    result = np.isnan(np.asarray(cubc.scan(on(device, x), op)).astype(np.float64))
    assert not result[:12_345].any()
    assert result[12_345:].all()


def test_infinities(device):
    x = data("F32", "sum", 70_001)
    x[50_000] = np.inf
    same(cubc.scan(on(device, x)), reference(x, "sum"))
    x[60_000] = -np.inf
    assert np.isnan(np.asarray(cubc.scan(on(device, x)))[60_000:]).all()


@pytest.mark.parametrize("type", ["I32", "U16"])
def test_integers_wrap_around(device, type):
    x = np.full(100_000, np.iinfo(TYPES[type]).max, TYPES[type])
    same(cubc.scan(on(device, x)), np.cumsum(x, dtype=x.dtype))


def test_half_precision_accumulates_in_single(device):
    x = np.ones(5000, np.float16)
    same(cubc.scan(on(device, x)), np.arange(1, 5001).astype(np.float16))


# ---- operators of the user -----------------------------------------------------------------------
@pytest.mark.parametrize("n", [1, 33, 4097, 70_001])
def test_order_is_kept(device, n):
    x = inputs.affine(n)
    expected = inputs.compose(x)
    same(cubc.scan(on(device, x), inputs.AFFINE), expected)
    begin = np.uint64(1 << 32)  # the identity
    shifted = np.concatenate([[begin], expected[:-1]])
    same(cubc.scan(on(device, x), inputs.AFFINE, inclusive=False, init=begin), shifted)


def test_first_and_last(device):
    x = inputs.random("I32", 70_001)
    same(cubc.scan(on(device, x), "a"), np.full_like(x, x[0]))
    same(cubc.scan(on(device, x), "b"), x)


@pytest.mark.parametrize("type", ["F16", "I16", "F64"])
def test_an_expression(device, type):
    x = inputs.random(type, 70_001)
    same(cubc.scan(on(device, x), "a > b ? a : b"), reference(x, "max"))


# ---- arguments -----------------------------------------------------------------------------------
@pytest.mark.parametrize("inclusive", [True, False])
@pytest.mark.parametrize(("op", "init"), [("sum", 100), ("prod", 3), ("max", 10), ("min", 10)])
def test_init(device, op, init, inclusive):
    x = inputs.random("I32", 70_001) // 2**20
    expected = reference(np.concatenate([np.array([init], x.dtype), x]), op)
    result = cubc.scan(on(device, x), op, inclusive=inclusive, init=init)
    same(result, expected[1:] if inclusive else expected[:-1])


@pytest.mark.some
@pytest.mark.parametrize("n", [70_001, inputs.MANY])
@pytest.mark.parametrize(
    ("type", "dtype"), in_turn(["I8", "U8", "I16"], ["int32", "int64", "float64", "complex128"], 2)
)
def test_dtype(device, type, dtype, n):
    x = inputs.random(type, n)
    same(cubc.scan(on(device, x), dtype=dtype), x.cumsum(dtype=dtype))
    mask = x > 0
    same(cubc.cumsum(on(device, mask)), mask.cumsum())


def test_out(device):
    x = inputs.random("I32", 6000)
    out = on(device, np.empty(6000, np.int64))
    assert cubc.scan(on(device, x), out=out) is out
    same(out, x.cumsum(dtype=np.int64))
    grid = on(device, np.empty((60, 100), np.int32))
    cubc.scan(on(device, x.reshape(60, 100)), out=grid)
    same(grid, np.cumsum(x, dtype=np.int32).reshape(60, 100))


@pytest.mark.parametrize("inclusive", [True, False])
@pytest.mark.parametrize("type", ["F32", "I64"])
def test_in_place(device, type, inclusive):
    x = data(type, "sum", inputs.MANY)
    d = on(device, x.copy())
    assert cubc.scan(d, out=d, inclusive=inclusive) is d
    expected = reference(x, "sum")
    same(d, expected if inclusive else np.concatenate([x[:1] * 0, expected[:-1]]))


def test_in_place_in_another_type_of_the_same_size(device):
    """The memory of the items and of the results is the same."""
    x = inputs.random("I32", 70_001)
    if device == "cpu":
        cubc.scan(x.view(np.uint32), out=(d := x.copy()), dtype=np.int32)
        same(d, np.cumsum(x, dtype=np.int32))


def test_workspace(device):
    x = inputs.random("I64", 300_001)
    workspace = on(device, np.full(1 << 16, 0xFF, np.uint64))
    for _ in range(3):
        same(cubc.scan(on(device, x), workspace=workspace), x.cumsum())


# ---- operands ------------------------------------------------------------------------------------
@pytest.mark.parametrize("type", ["I8", "F16", "F32"])
def test_misaligned(device, type):
    x = data(type, "sum", 70_003)
    out = np.empty(70_010, x.dtype)
    for first in (1, 3):
        part = out[first + 1 : first + 1 + x.size - first]
        if device == "cpu":
            cubc.scan(x[first:], out=part)
        else:
            part = cubc.scan(cubc.asarray(x[first:], device=device))
        same(part, reference(x[first:], "sum"))


def test_shapes(device):
    """Without an axis the array is flattened, as in numpy.cumsum."""
    x = inputs.random("I32", 24_000)
    for shape in ((4, 6000), (2, 3, 4, 1000), (1, 24_000, 1)):
        same(cubc.scan(on(device, x.reshape(shape))), np.cumsum(x, dtype=np.int32))
    same(cubc.scan(on(device, np.array(7))), np.array([7]))


@pytest.mark.parametrize("view", [lambda x: x.T, lambda x: x[:, ::-2]])
def test_non_contiguous_numpy(device, view):
    x = view(inputs.random("I64", 6000).reshape(60, 100))
    same(cubc.scan(x, device=device), x.cumsum())


def test_many_in_a_row(device):
    """Launches share their messages' memory: none may take another's for its own."""
    x = inputs.random("I32", 30_000)
    d, sums = on(device, x), np.cumsum(x, dtype=np.int32)
    for n in (30_000, 1, 12_289, 30_000, 8192, 4097, 30_000):
        part = d[:n] if device == "cpu" else cubc.asarray(x[:n], device=device)
        for _ in range(20):
            result = cubc.scan(part)
        same(result, sums[:n])


@settings(max_examples=40)
@given(
    x=hnp.arrays(st.sampled_from([np.int8, np.int32]), hnp.array_shapes(max_dims=3, max_side=40)),
    op=st.sampled_from(["sum", "min"]),
)
def test_random_arrays(device, x, op):
    same(cubc.scan(x, op, device=device), FUNCTIONS[op].accumulate(x.ravel(), dtype=x.dtype))
