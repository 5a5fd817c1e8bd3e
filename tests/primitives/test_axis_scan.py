"""Scans along an axis that is not the last, against NumPy's."""

import inputs
import numpy as np
import pytest
from inputs import SOME, in_turn, on, same
from test_axis_reduce import SHAPES

import cubc
from cubc import _axis_scan, _core

OPERATORS = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}


def reference(x, op, axis, inclusive=True, init=None):
    """The scan in the type of x; floats are whole numbers, of which sums are exact."""
    if init is not None:
        shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
        x = np.concatenate([np.full(shape, init, x.dtype), x], axis)
    through = OPERATORS[op].accumulate(x, axis=axis, dtype=x.dtype)
    if init is None:
        return through
    rows = range(1, x.shape[axis]) if inclusive else range(x.shape[axis] - 1)
    return through.take(rows, axis)


def data(type, op, shape, seed=0):
    x = inputs.random(type, int(np.prod(shape)), seed).reshape(shape)
    if type not in inputs.FLOATS:
        return x
    return np.where(x > 0, 1, -1).astype(x.dtype)


@pytest.mark.parametrize(("type", "op"), in_turn(SOME, OPERATORS, 2))
def test_every_type_and_operator(device, type, op):
    x = data(type, op, (60, 35, 16))
    for axis in range(2):
        same(cubc.scan(on(device, x), op, axis=axis, dtype=x.dtype), reference(x, op, axis))


@pytest.mark.parametrize("shape", [*SHAPES, (2_000_000, 1), (0, 3), (3, 0), (2, 0, 3)])
def test_shapes(device, shape):
    x = data("I32", "sum", shape)
    given = on(device, x)
    for axis in range(x.ndim):
        same(cubc.scan(given, axis=axis), reference(x, "sum", axis))
        exclusive = cubc.scan(given, axis=axis - x.ndim, inclusive=False, init=3)
        same(exclusive, reference(x, "sum", axis, False, 3))


@pytest.mark.parametrize("type", ["I8", "F32", "F64"])
@pytest.mark.parametrize("columns", [2, 3, 8, 31, 127, 1024, 1025])
def test_rows_that_begin_anywhere(device, type, columns):
    """Vectors are read and written where each row begins on 16 bytes, items elsewhere."""
    for rows in (1, 2, 77, 3000):
        x = data(type, "sum", (rows, columns))
        same(cubc.scan(on(device, x), axis=0), reference(x, "sum", 0))


def test_unaligned_arrays(device):
    x = np.arange(201 * 124, dtype=np.int32).reshape(201, 124)
    given = on(device, x.reshape(-1))[1 : 1 + 200 * 124].reshape(200, 124)
    same(cubc.scan(given, axis=0), np.asarray(given).cumsum(axis=0, dtype="i4"))


def test_many_tiles(device):
    """A few columns have hundreds of tiles each, which look back at one another."""
    x = data("I64", "sum", (300_000, 5))
    given = on(device, x)
    expected = reference(x, "sum", 0)
    for _ in range(5):  # the messages of the call before are there
        same(cubc.scan(given, axis=0), expected)


def test_operators_that_do_not_commute(device):
    """The last of two items, where it is not zero: every order but the rows' gives another."""
    x = data("I32", "sum", (3000, 3)) % 4
    rows = np.where(x != 0, np.arange(3000)[:, None], 0)
    expected = np.take_along_axis(x, np.maximum.accumulate(rows, axis=0), 0)
    same(cubc.scan(on(device, x), "b ? b : a", axis=0), expected)


def test_in_place_and_out(device):
    x = data("F64", "sum", (1000, 30))
    expected = reference(x, "sum", 0)
    given = on(device, x.copy())
    assert cubc.scan(given, axis=0, out=given) is given
    same(given, expected)
    out = on(device, np.zeros(x.shape, "f4"))
    same(cubc.scan(on(device, x), axis=0, out=out), expected.astype("f4"))


def test_lazy_inputs(device):
    x = data("I32", "sum", (500, 12))
    squares = cubc.lazy("x * x", x=on(device, x))
    same(cubc.scan(squares, axis=0), reference(x * x, "sum", 0))


def test_initial_values(device):
    x = data("I32", "sum", (3000, 7))
    init = on(device, np.array([5], "i4"))
    for inclusive in (False, True):
        expected = reference(x, "sum", 0, inclusive, 5)
        same(cubc.scan(on(device, x), axis=0, init=5, inclusive=inclusive), expected)
        same(cubc.scan(on(device, x), axis=0, init=init, inclusive=inclusive), expected)


def test_structs(device):
    point = np.dtype([("a", "i4"), ("b", "i8")])
    x = np.zeros((700, 6), point)
    x["a"], x["b"] = data("I32", "sum", (700, 6)), data("I64", "sum", (700, 6))
    got = cubc.scan(on(device, x), "value_t{a.a + b.a, a.b + b.b}", axis=0)
    got = got if isinstance(got, np.ndarray) else got.numpy()
    for name in point.names:
        same(np.ascontiguousarray(got[name]), reference(x[name], "sum", 0))


def test_deterministic(device):
    """The rows of the transposed array have the bits of a deterministic scan of each."""
    x = inputs.random("F32", 4000 * 3, 1).reshape(4000, 3)
    got = cubc.scan(on(device, x), axis=0, deterministic=True)
    rows = cubc.segmented_scan(on(device, x.T.copy()), segment_size=4000, deterministic=True)
    same(got, np.asarray(rows).reshape(3, 4000).T)


@pytest.mark.parametrize(
    ("type", "op", "transposed"),
    [
        ("I32", "sum", False),
        ("U8", np.bitwise_or, False),
        ("I64", "a ^ b", False),
        ("I32", "a * 2 + b", True),
        ("F32", "max", False),
        ("F32", "sum", True),
        ("F16", "a + b", True),
    ],
)
def test_deterministic_is_one_pass_where_no_order_shows(monkeypatch, type, op, transposed):
    ways = []
    of_rows = _axis_scan._of_rows
    monkeypatch.setattr(_axis_scan, "_of_rows", lambda *a: ways.append(a) or of_rows(*a))
    x = data(type, "sum", (300, 5))
    got = cubc.scan(x, op, axis=0, deterministic=True, device="cpu")
    assert len(ways) == transposed
    if op != "a * 2 + b":
        same(got, cubc.scan(x, op, axis=0, device="cpu"))


def test_the_registers_of_a_thread_hold_accumulators():
    """Items of a byte that are summed in 8 are judged by these."""
    label, where = "ipt_60.tpb_512.ipv_2.rb_5.ld_1.lb_1.ns_50", "sm_90"
    name = "axis_scan.inclusive.sum"
    assert _core.variant_invalid(name, {"T{ct}": "I8"}, where, label) is None
    why = _core.variant_invalid(name, {"T{ct}": "BOOL"}, where, label)
    assert "do not fit the registers" in why
    assert _core.base(name, {"T{ct}": "BOOL"}, where, {"Elements": 1 << 24}) != label


FEW = [
    "ipt_4.tpb_64.ipv_0.rb_5.ld_0.lb_1.ns_0",
    "ipt_32.tpb_96.mb_1.ipv_1.rb_8.ld_1.ord_1.lb_2.ns_50",  # as in earlier stores
]


ROWS = [("I8", 3), ("I16", 7), ("I32", 3), ("F64", 2)]


@pytest.mark.parametrize(("rows", "label"), in_turn(ROWS, FEW, 2))
def test_threads_of_whole_rows(label, rows):
    """Rows shorter than 32 bytes: whole tiles, a last one, matrices that begin anywhere."""
    type, columns = rows
    try:
        _core.use_policy("axis_scan.inclusive.sum", {"T{ct}": type}, "cpu", label)
        for shape in ((3001, columns), (5, 160, columns), (7, 33, columns), (2000, columns, 1)):
            x, axis = data(type, "sum", shape), len(shape) - 2 - (shape[-1] == 1)
            given = cubc.asarray(x, device="cpu")
            same(cubc.scan(given, axis=axis), reference(x, "sum", axis))
            wide = cubc.scan(given, axis=axis, dtype="f8")
            same(wide, np.cumsum(x, axis, dtype="f8"))
            assert cubc.scan(given, axis=axis, out=given) is given
            same(given, reference(x, "sum", axis))
    finally:
        _core.clear_policies()


def test_cumsum_of_floats(device):
    x = inputs.random("F32", 5000 * 40, 2).reshape(5000, 40)
    got = np.asarray(cubc.cumsum(on(device, x), axis=0))
    expected = np.cumsum(x.astype("f8"), axis=0)
    np.testing.assert_allclose(got, expected, atol=1e-5 * float(abs(x).sum(axis=0).max()))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"axis": 2}, r"scan\(\): axis 2 is out of bounds"),
        ({"axis": 0, "op": "argmin"}, "scan does not take argmin"),
        ({"axis": 0, "foo": 1}, r"scan\(\) has no argument 'foo'"),
        ({"axis": 0, "inclusive": False, "op": "min"}, "needs an initial value"),
        ({"axis": 0, "out": np.zeros((2, 2))}, "expected \\(3, 3\\)"),
        ({"axis": True}, "expected an int"),
    ],
)
def test_errors(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        cubc.scan(np.ones((3, 3)), **options)
