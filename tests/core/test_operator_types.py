"""The types of results: the one rule of the core, as Python and C callers get it, is NumPy's."""

import numpy as np
import pytest
from inputs import in_turn

import cubc
from cubc import _core

# C's names of all types that NumPy has too.
TYPES = {
    "BOOL": "?",
    **{f"I{8 * size}": f"i{size}" for size in (1, 2, 4, 8)},
    **{f"U{8 * size}": f"u{size}" for size in (1, 2, 4, 8)},
    **{f"F{8 * size}": f"f{size}" for size in (2, 4, 8)},
    **{f"C{8 * size}": f"c{size}" for size in (8, 16)},
}
REDUCTIONS = ("sum", "prod", "min", "max", "any", "all", "argmin", "argmax")
SCANS = ("sum", "prod", "min", "max", "any", "all")
ORDERED = ("min", "max", "argmin", "argmax")


def numpy_type(op, x, **options):
    return getattr(np, op)(x, **options).dtype


@pytest.fixture(scope="module")
def core():
    """The C functions as one of Python: from an operator and a type's name to two names."""
    ffi, lib = cubc.ffi()
    names = {getattr(lib, f"CUBC_{name}"): name for name in TYPES}

    def asked(function, op, type):
        acc, out = ffi.new("cubc_type *"), ffi.new("cubc_type *")
        status = getattr(lib, function)(op.encode(), getattr(lib, f"CUBC_{type}"), acc, out)
        assert status == lib.CUBC_OK
        return names[acc[0]], names[out[0]]

    return asked


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("op", REDUCTIONS)
def test_a_reduction_has_numpys_type(core, op, type):
    x = np.ones(3, TYPES[type])
    acc, out = _core.operator_types(op, x.dtype, widen=True)
    assert np.dtype(out) == numpy_type(op, x)
    assert core("cubc_reduce_types", op, type)[1] == kind_of(out)
    assert core("cubc_reduce_types", op, type)[0] == kind_of(acc)


def kind_of(dtype):
    """C's name of a dtype."""
    return next(name for name, of in TYPES.items() if np.dtype(of) == np.dtype(dtype))


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("op", ["sum", "prod"])
def test_an_accumulator_is_that_of_the_result(op, type):
    """As NumPy accumulates: in the result's type, but float16 in float32."""
    x = np.ones(3, TYPES[type])
    acc, out = _core.operator_types(op, x.dtype, widen=True)
    assert np.dtype(acc) == (np.float32 if x.dtype == np.float16 else np.dtype(out))


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("op", ["sum", "prod"])
def test_a_type_that_is_asked_for(op, type):
    """NumPy's results have it too. A sum of floats is none of integers before it is complete."""
    x = np.ones(3, TYPES[type])
    for asked in map(np.dtype, TYPES.values()):
        if x.dtype.kind == "c" and asked.kind != "c":
            continue  # of a complex number there is no real one
        acc, out = _core.operator_types(op, x.dtype, dtype=asked, widen=True)
        assert np.dtype(out) == numpy_type(op, x, dtype=asked)
        assert _core.operator_types(op, x.dtype, out=asked, widen=True) == (acc, out)
        loses = asked.kind == "b" or (x.dtype.kind == "f" and asked.kind in "iu")
        assert (np.dtype(acc).kind == asked.kind) != loses


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("op", SCANS)
def test_a_scan_keeps_the_type(core, op, type):
    """NumPy's sums widen here too, and ours do not: they are as long as their items."""
    acc, out = _core.operator_types(op, TYPES[type])
    logical = op in ("any", "all")
    expected = "BOOL" if logical else "I64" if type == "BOOL" and op not in ORDERED else type
    assert core("cubc_scan_types", op, type) == (kind_of(acc), kind_of(out))
    assert kind_of(out) == expected


@pytest.mark.parametrize("type", TYPES)
def test_an_expression_keeps_the_type(core, type):
    acc, out = _core.operator_types("a + b", TYPES[type], widen=True)
    assert np.dtype(out) == np.dtype(TYPES[type])
    for function in ("cubc_reduce_types", "cubc_scan_types"):
        assert core(function, "a + b", type) == (kind_of(acc), kind_of(out))


@pytest.mark.parametrize(("op", "type"), in_turn(REDUCTIONS, ["BOOL", "U8", "F16", "C64"], 4))
def test_calls_give_these_types(op, type):
    x = np.ones((2, 3), TYPES[type])
    if x.dtype.kind == "c" and op in ORDERED:
        pytest.skip("complex numbers have no order")
    expected = numpy_type(op, x)
    assert cubc.reduce(x, op).dtype == expected
    assert cubc.reduce(x, op, axis=1).dtype == expected
