"""The functions of the array API standard, as `cubc.Array` has them, beside NumPy's, and its users.

The standard's own suite is in no package. NumPy has all names of the standard, and is the reference
here. docs/array_api.md says what of the standard is there, and what is not.
"""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import cubc
from cubc import array_api as xp

DOCS = Path(__file__).parents[2] / "docs" / "array_api.md"
STANDARD = {
    "creation": "arange asarray empty empty_like eye from_dlpack full full_like linspace "
    "meshgrid ones ones_like tril triu zeros zeros_like",
    "types": "astype can_cast finfo iinfo isdtype result_type",
    "elementwise": "abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift "
    "bitwise_invert bitwise_or bitwise_right_shift bitwise_xor ceil clip conj "
    "copysign cos cosh divide equal exp expm1 floor floor_divide greater "
    "greater_equal hypot imag isfinite isinf isnan less less_equal log log1p log2 "
    "log10 logaddexp logical_and logical_not logical_or logical_xor maximum minimum "
    "multiply negative nextafter not_equal positive pow real reciprocal remainder "
    "round sign signbit sin sinh square sqrt subtract tan tanh trunc",
    "indexing": "take take_along_axis",
    "products": "matmul matrix_transpose tensordot vecdot",
    "manipulation": "broadcast_arrays broadcast_to concat expand_dims flip moveaxis permute_dims "
    "repeat reshape roll squeeze stack tile unstack",
    "searching": "argmax argmin count_nonzero nonzero searchsorted where",
    "sets": "unique_all unique_counts unique_inverse unique_values",
    "sorting": "argsort sort",
    "statistics": "cumulative_prod cumulative_sum max mean min prod std sum var",
    "utility": "all any diff",
}
CONSTANTS = {"e", "inf", "nan", "newaxis", "pi"}
QUIET = settings(max_examples=25, deadline=None, derandomize=True)
# One each of the kinds for which a function is, unless it is here.
KINDS = {
    "bitwise_and": "i4 u1 ?", "bitwise_or": "i4 u1 ?", "bitwise_xor": "i4 u1 ?",
    "bitwise_invert": "i4 u1 ?", "bitwise_left_shift": "i4 u1", "bitwise_right_shift": "i4 u1",
    "logical_and": "? f4 c16", "logical_or": "? c16", "logical_xor": "? c16", "logical_not": "? c8",
    "signbit": "f4 f8", "copysign": "f4 f8", "nextafter": "f4 f8", "logaddexp": "f4 f8",
    "hypot": "f4 f8", "atan2": "f4 f8", "floor_divide": "i4 u1 f8", "remainder": "i4 u1 f8",
    "floor": "i4 f8", "ceil": "i4 f8", "trunc": "i4 f8", "round": "i4 f8 c16",
    "maximum": "i4 f8", "minimum": "i4 f8", "divide": "f4 f8 c16",
}  # fmt: skip
KINDS |= dict.fromkeys(("less", "less_equal", "greater", "greater_equal"), "i4 u1 f8")
KINDS |= dict.fromkeys(("acos", "acosh", "asin", "asinh", "atan", "atanh"), "f4 f8")
FLOATING = "exp expm1 log log1p log2 log10 sqrt sin cos tan sinh cosh tanh reciprocal"
KINDS |= dict.fromkeys(FLOATING.split(), "f4 f8 c8 c16")
ELEMENTWISE = sorted(set(STANDARD["elementwise"].split()) - {"clip", "real", "imag", "conj"})
ULPS = {"f4": 4e-6, "c8": 2e-5}  # of the device's own functions


def items(dtype, size, seed):
    """Numbers of both signs, with what is special of the type."""
    draw = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return draw.integers(0, 2, size).astype(bool)
    if kind in "iu":
        return draw.integers(0 if kind == "u" else -9, 10, size).astype(dtype)
    x = draw.normal(size=size) * 3
    if kind == "c":
        return (x + 1j * draw.normal(size=size) * 3).astype(dtype)
    x[:5] = draw.permutation([0.0, -0.0, np.inf, -np.inf, np.nan])
    return x.astype(dtype)


def close(made, wanted, rtol):
    made = made.numpy()
    assert made.dtype == wanted.dtype
    assert made.shape == wanted.shape
    np.testing.assert_allclose(made, wanted, rtol=rtol, atol=0 if rtol < 1e-12 else 1e-12)


def alike(made, wanted):
    """Compare types, shapes and items, of a tuple's too."""
    if isinstance(wanted, tuple | list):
        assert len(made) == len(wanted)
        for one, other in zip(made, wanted, strict=True):
            alike(one, other)
        return
    assert isinstance(made, cubc.Array)
    close(made, np.asarray(wanted), 1e-14)


# ---- the namespace -------------------------------------------------------------------------------
def test_the_namespace_is_the_standards(device):
    d = cubc.asarray(np.arange(3.0), device=device)
    assert d.__array_namespace__() is (d + 1).__array_namespace__(api_version="2023.12") is xp
    with pytest.raises(ValueError, match=r"'2019\.12' is not there"):
        d.__array_namespace__(api_version="2019.12")
    names = {name for section in STANDARD.values() for name in section.split()}
    assert names - set(dir(xp)) == set()
    extra = set(xp.__all__) - names - CONSTANTS - set(xp._DTYPES)
    assert {name for name in extra if name[0] != "_"} == {"eager", "broadcast_shapes"}
    assert [name for name in xp.__all__ if not hasattr(xp, name)] == []
    said = int(re.search(r"all (\d+) functions", DOCS.read_text())[1])
    assert said == len(names)


def test_the_namespace_says_what_it_can(device):
    info = xp.__array_namespace_info__()
    assert device in info.devices()
    assert info.default_device() in info.devices()
    reals = info.dtypes(kind="real floating")
    assert reals == {"float32": np.dtype("f4"), "float64": np.dtype("f8")}
    assert info.dtypes(kind=("bool", "integral")).keys() == {"bool"} | {
        f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
    }
    assert set(info.dtypes()) == set(xp._DTYPES)
    assert info.default_dtypes(device=device)["real floating"] == xp.float64
    assert info.capabilities()["boolean indexing"]


def test_types(device):
    d = cubc.asarray(np.arange(3, dtype="i4"), device=device)
    assert xp.result_type(d, xp.float32) == np.result_type("i4", "f4")
    assert xp.result_type(d, 1) == xp.int32
    assert xp.can_cast(d, xp.int64)
    assert not xp.can_cast(xp.float64, xp.float32)
    assert xp.isdtype(d.dtype, ("bool", "integral"))
    assert xp.isdtype(d.dtype, xp.int32)
    assert not xp.isdtype(d.dtype, "real floating")
    with pytest.raises(ValueError, match="'floats': expected one of"):
        xp.isdtype(d.dtype, "floats")
    assert xp.iinfo(d).max == 2**31 - 1
    assert xp.finfo(xp.complex64).eps == np.finfo("f4").eps
    assert xp.broadcast_shapes((3, 1), (4,)) == (3, 4)
    alike(xp.astype(d, xp.float32), np.arange(3, dtype="f4"))
    assert xp.astype(d, xp.int32, copy=False) is d
    assert xp.astype(d, xp.int32).ptr != d.ptr
    assert d.to_device(device) is d
    with pytest.raises(TypeError, match="complex128 do not become float32"):
        xp.astype(xp.asarray([1j], device=device), xp.float32)


# ---- creation ------------------------------------------------------------------------------------
CREATED = [
    ("arange", (5,), {}), ("arange", (2, 9, 3), {}), ("arange", (5, 0, -2), {}),
    ("arange", (3, 3), {}), ("arange", (0, 1, 0.25), {}), ("arange", (4,), {"dtype": "f4"}),
    ("arange", (2**63, 2**63 + 3), {"dtype": "u8"}), ("arange", (5, -4, -3), {}),
    ("arange", (2**63 + 3, 2**63 - 4, -2), {"dtype": "u8"}),
    ("arange", (-(2**63), -(2**63) + 5, 2), {}), ("arange", (2**63 - 3, 2**63 - 1), {}),
    ("arange", (1.5, 4), {}), ("linspace", (0, 1, 5), {}),
    ("linspace", (2, -1, 4), {"endpoint": False}), ("linspace", (0, 1, 0), {}),
    ("linspace", (3, 4, 1), {}), ("linspace", (0, 1j, 3), {}),
    ("linspace", (-3, 3, 5), {"dtype": "i4"}), ("linspace", (0, 9, 5), {"dtype": "u1"}),
    ("linspace", (0, 9, 4), {"dtype": "f4"}), ("eye", (3,), {}),
    ("eye", (2, 4), {"k": 1, "dtype": "i4"}), ("eye", (4, 2), {"k": -1}), ("zeros", (3,), {}),
    ("zeros", ((2, 0),), {}), ("ones", ((2, 3),), {"dtype": "c8"}), ("full", ((2, 2), 7), {}),
    ("full", (3, 2**60 + 1), {}), ("full", (2, True), {}), ("full", ((), 1.5), {}),
    ("full", (2, 2**64 - 1), {"dtype": "u8"}), ("full", (2, (1+2j)), {}),
    ("full", (2, 3), {"dtype": "u1"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "options"), CREATED)
def test_creation(device, name, args, options):
    wanted = getattr(np, name)(*args, **options)
    made = getattr(xp, name)(*args, **options, device=device)
    alike(made, wanted)
    assert made.device == device


def test_arange_beyond_int64_is_of_uint64(device):
    alike(xp.arange(2**63, 2**63 + 2, device=device), np.array([2**63, 2**63 + 1], "u8"))
    assert xp.arange(2**63, 2**63, device=device).shape == (0,)
    with pytest.raises(OverflowError, match="-1 out of bounds for uint64"):
        xp.arange(-1, 2**64, 2**63, device=device)


def test_creation_like_others(device):
    x = np.arange(6, dtype="f4").reshape(2, 3)
    d = cubc.asarray(x, device=device)
    alike(xp.zeros_like(d), np.zeros_like(x))
    alike(xp.ones_like(d + 1, dtype=xp.int8), np.ones_like(x, dtype="i1"))
    alike(xp.full_like(d, 4), np.full_like(x, 4))
    assert xp.empty_like(d).shape == d.shape
    assert xp.empty((2, 3), dtype=xp.bool, device=device).dtype == bool
    for k in (-1, 0, 2):
        alike(xp.tril(d, k=k), np.tril(x, k))
        alike(xp.triu(d, k=k), np.triu(x, k))
    for indexing in ("xy", "ij"):
        parts = [x[0], x[1, :2], x[:, 0]]
        made = xp.meshgrid(*(cubc.asarray(p, device=device) for p in parts), indexing=indexing)
        alike(made, np.meshgrid(*parts, indexing=indexing))
    with pytest.raises(ValueError, match="step is 0"):
        xp.arange(0, 3, 0)


def test_asarray_copies_when_it_is_told(device):
    x = np.arange(3.0)
    d = xp.asarray(x, device=device)
    assert xp.asarray(d) is d
    assert xp.asarray(d, copy=False) is d
    assert xp.asarray(d, copy=True).ptr != d.ptr
    alike(
        xp.asarray([[1, 2], [3, 4]], dtype=xp.float32, device=device),
        np.array([[1, 2], [3, 4]], "f4"),
    )
    for function in (xp.asarray, xp.from_dlpack):
        with pytest.raises(ValueError, match="copy=False, but the items"):
            function(x, copy=False, device=device)
    assert xp.from_dlpack(d).ptr == d.ptr
    with pytest.raises(TypeError, match="int has no __dlpack__"):
        xp.from_dlpack(3)
    alike(xp.from_dlpack(x, device=device), x)


# ---- elementwise ---------------------------------------------------------------------------------
@pytest.mark.some(14)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(device, name):
    """Arrays, and a number beside an array."""
    function, numpys = getattr(xp, name), getattr(np, name)
    for dtype in KINDS.get(name, "i4 f8 c16").split():
        x, y = items(dtype, 60, 1), items(dtype, 60, 2)
        if name in ("bitwise_left_shift", "bitwise_right_shift", "pow") and dtype[0] in "iu":
            y = abs(y)
        binary = getattr(numpys, "nin", 1) == 2
        with np.errstate(all="ignore"):
            wanted = numpys(x, y) if binary else numpys(x)
        a, b = (cubc.asarray(z, device=device) for z in (x, y))
        made = function(a, b) if binary else function(a)
        rtol = ULPS.get(dtype, 1e-12)
        close(made, wanted, rtol)
        assert made.device == device
    with pytest.raises(TypeError, match="is no array of cubc"):
        function(*[x[:2]] * (1 + binary))


def test_elementwise_with_numbers(device):
    x = np.arange(4, dtype="f4")
    d = cubc.asarray(x, device=device)
    alike(xp.add(d, 1), x + 1)
    alike(xp.subtract(2.5, d), np.float32(2.5) - x)
    alike(xp.multiply(d[:, None], d), x[:, None] * x)
    alike(xp.clip(d, 1, 2.5), np.clip(x, 1, np.float32(2.5)))
    alike(xp.clip(d, max=d[::-1]), np.clip(x, None, x[::-1]))
    alike(xp.clip(d), x)
    z = x + 2j * x.astype("c8")
    e = cubc.asarray(z, device=device)
    for name in ("real", "imag", "conj"):
        alike(getattr(xp, name)(e), getattr(np, name)(z))
    alike(xp.real(d), x)
    with pytest.raises(TypeError, match="complex numbers"):
        xp.imag(d)


@pytest.mark.parametrize(
    ("low", "high"), [(-1000, 1000), (-1000, 50), (-5, 2**70), (-(2**70), None), (None, 255)]
)
def test_a_limit_that_no_item_is_beyond_limits_nothing(device, low, high):
    for x in (np.array([-100, 0, 100], "i1"), np.array([0, 60, 200], "u1")):
        d = cubc.asarray(x, device=device)
        alike(xp.clip(d, low, high), np.clip(x, low, high))
        made = cubc.transform(lambda x: np.clip(x, low, high), x=d)
        alike(made, np.clip(x, low, high))
        for ends in ((1000, None), (None, -1000)):
            with pytest.raises(OverflowError, match=r"out of bounds for u?int8"):
                xp.clip(d, *ends)


def test_powers_of_integers(device):
    x = np.array([0, 0, 1, -1, -1, 2, 3, -2, 7], "i8")
    y = np.array([0, 5, 99, 98, 99, 62, 39, 63, 0], "i8")
    a, b = (cubc.asarray(z, device=device) for z in (x, y))
    alike(xp.pow(a, b), x**y)
    few, by = x[x >= 0].astype("u1"), y[x >= 0].astype("u1")
    alike(xp.pow(xp.asarray(few, device=device), xp.asarray(by, device=device)), few**by)
    alike(xp.pow(a, xp.asarray(-3, device=device)), np.array([0, 0, 1, -1, -1, 0, 0, 0, 0]))


# ---- shapes --------------------------------------------------------------------------------------
ARRAYS = hnp.arrays(np.int64, hnp.array_shapes(min_dims=1, max_dims=3, max_side=4))


@QUIET
@given(x=ARRAYS, data=st.data())
def test_manipulation(device, x, data):
    d = cubc.asarray(x, device=device)
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1), "axis")
    alike(xp.flip(d), np.flip(x))
    alike(xp.flip(d, axis=axis), np.flip(x, axis))
    shift = data.draw(st.integers(-5, 5), "shift")
    alike(xp.roll(d, shift), np.roll(x, shift))
    alike(xp.roll(d, shift, axis=axis), np.roll(x, shift, axis))
    alike(xp.roll(d, (1, shift), axis=(axis, 0)), np.roll(x, (1, shift), (axis, 0)))
    to = data.draw(st.integers(-x.ndim, x.ndim - 1), "to")
    alike(xp.moveaxis(d, axis, to), np.moveaxis(x, axis, to))
    order = tuple(data.draw(st.permutations(range(x.ndim)), "order"))
    alike(xp.permute_dims(d, order), np.permute_dims(x, order))
    times = tuple(data.draw(st.lists(st.integers(0, 3), min_size=0, max_size=4), "times"))
    alike(xp.tile(d, times), np.tile(x, times))
    alike(xp.repeat(d, 2, axis=axis), np.repeat(x, 2, axis))
    alike(xp.repeat(d, xp.asarray(2, device=device)), np.repeat(x, 2))
    alike(xp.expand_dims(d, axis), np.expand_dims(x, axis))
    alike(xp.squeeze(xp.expand_dims(d, axis), axis), np.squeeze(np.expand_dims(x, axis), axis))
    alike(xp.stack([d, d + 1], axis=axis), np.stack([x, x + 1], axis=axis))
    alike(xp.concat([d, d], axis=axis), np.concat([x, x], axis=axis))
    alike(xp.concat([d, d], axis=None), np.concat([x, x], axis=None))
    alike(xp.unstack(d, axis=axis), np.unstack(x, axis=axis))
    alike(xp.broadcast_to(d, (2, *x.shape)), np.broadcast_to(x, (2, *x.shape)))
    alike(xp.broadcast_arrays(d, d[:1]), np.broadcast_arrays(x, x[:1]))
    alike(xp.reshape(d, (-1,)), np.reshape(x, (-1,)))
    assert xp.reshape(d, (-1,), copy=True).ptr != d.ptr


def test_an_axis_is_named_once(device):
    """But by roll, which adds the shifts up, as NumPy's."""
    x = np.arange(6).reshape(1, 2, 3)
    d = cubc.asarray(x, device=device)
    for axes in ((0, 0), (0, -3)):
        for call in (
            lambda axes=axes: xp.flip(d, axis=axes),
            lambda axes=axes: xp.squeeze(d, axes),
            lambda axes=axes: d.squeeze(axes),
            lambda axes=axes: xp.moveaxis(d, axes, (0, 1)),
            lambda axes=axes: xp.moveaxis(d, (0, 1), axes),
        ):
            with pytest.raises(ValueError, match="repeated axis"):
                call()
    alike(xp.roll(d, 1, axis=(1, 2, 2)), np.roll(x, 1, (1, 2, 2)))


# ---- the rest ------------------------------------------------------------------------------------
@settings(QUIET, max_examples=12)  # each compiles what is new to it
@given(x=ARRAYS, data=st.data())
def test_statistics_order_and_sets(device, x, data):
    d = cubc.asarray(x, device=device)
    axis = data.draw(st.none() | st.integers(-x.ndim, x.ndim - 1), "axis")
    keepdims = data.draw(st.booleans(), "keepdims")
    with np.errstate(all="ignore"):
        for name in [
            "sum",
            "prod",
            "max",
            "min",
            "mean",
            "var",
            "std",
            "all",
            "any",
            "count_nonzero",
        ]:
            options = {"axis": axis, "keepdims": keepdims}
            made = getattr(xp, name)(d, **options)
            close(made, np.asarray(getattr(np, name)(x, **options)), 1e-6)
    for name in ("argmax", "argmin"):
        alike(getattr(xp, name)(d, axis=axis), getattr(np, name)(x, axis=axis))
    number = -1 if axis is None else axis
    for name in ("cumulative_sum", "cumulative_prod"):
        for initial in (False, True):
            options = {"axis": number, "include_initial": initial}
            alike(getattr(xp, name)(d, **options), getattr(np, name)(x, **options))
    alike(xp.diff(d, axis=number), np.diff(x, axis=number))
    alike(xp.sort(d, axis=number), np.sort(x, axis=number))
    alike(xp.sort(d, axis=number, descending=True), np.flip(np.sort(x, axis=number), number))
    alike(xp.argsort(d, axis=number), np.argsort(x, axis=number, stable=True))
    alike(xp.nonzero(d), np.nonzero(x))
    alike(xp.where(d > 0, d, 0), np.where(x > 0, x, 0))
    for name in ("unique_all", "unique_counts", "unique_inverse"):
        alike(getattr(xp, name)(d), getattr(np, name)(x))
    alike(xp.unique_values(d), np.unique(x))
    places = np.zeros(2, np.int64)
    at = cubc.asarray(places, device=device)
    alike(xp.take(d, at, axis=number), np.take(x, places, axis=number))
    order = np.argsort(x, axis=number, stable=True)
    along = cubc.asarray(order, device=device)
    alike(xp.take_along_axis(d, along, axis=number), np.take_along_axis(x, order, axis=number))
    known = np.unique(x)
    alike(xp.searchsorted(cubc.asarray(known, device=device), d), np.searchsorted(known, x))


def test_nans_are_distinct_and_corrections(device):
    x = np.array([np.nan, 1.0, np.nan, 1.0])
    d = cubc.asarray(x, device=device)
    alike(xp.unique_values(d), np.array([1.0, np.nan, np.nan]))
    y = np.arange(5.0)
    e = cubc.asarray(y, device=device)
    alike(xp.var(e, correction=1), np.var(y, correction=1))
    alike(xp.std(e, correction=1), np.std(y, correction=1))
    with pytest.raises(ValueError, match="axis is needed for 2 dimensions"):
        xp.cumulative_sum(xp.ones((2, 2), device=device))
    with pytest.raises(ValueError, match="axis is needed for 2 dimensions"):
        xp.take(xp.ones((2, 2), device=device), xp.asarray([0], device=device))


def test_an_array_without_dimensions_needs_no_axis(device):
    x = np.array(3.0)
    d = cubc.asarray(x, device=device)
    for name in ("cumulative_sum", "cumulative_prod"):
        for axis in (None, 0, -1):
            for initial in (False, True):
                options = {"axis": axis, "include_initial": initial}
                alike(getattr(xp, name)(d, **options), getattr(np, name)(x, **options))
    for places in (0, [0, 0]):
        alike(xp.take(d, xp.asarray(places, device=device)), np.take(x, places))


def test_products(device):
    draw = np.random.default_rng(0)
    x, y = draw.integers(-9, 10, (2, 3, 4)), draw.integers(-9, 10, (4, 5))
    a, b = (cubc.asarray(z, device=device) for z in (x, y))
    alike(xp.matmul(a, b), x @ y)
    alike(a @ b, x @ y)
    alike((a + 1) @ b, (x + 1) @ y)
    alike(xp.matmul(a, b[:, 0]), x @ y[:, 0])
    alike(xp.matmul(a[0, 0], b), x[0, 0] @ y)
    alike(xp.matmul(a[0, 0], b[:, 1]), x[0, 0] @ y[:, 1])
    alike(xp.tensordot(a, b, axes=1), np.tensordot(x, y, axes=1))
    alike(xp.tensordot(a, a, axes=([0, 2], [0, 2])), np.tensordot(x, x, axes=([0, 2], [0, 2])))
    alike(xp.vecdot(a, b[:, 0]), np.vecdot(x, y[:, 0]))
    z = x * (1 + 2j)
    c = cubc.asarray(z, device=device)
    alike(xp.vecdot(c, a, axis=-1), np.vecdot(z, x, axis=-1))
    alike(xp.matrix_transpose(a), np.matrix_transpose(x))
    with pytest.raises(ValueError, match="do not go together"):
        xp.matmul(a, a)
    with pytest.raises(TypeError):
        a @ 2


# ---- operators at once, and who uses the namespace -----------------------------------------------
def test_eager_operators(device):
    x = np.arange(6.0).reshape(2, 3)
    d = cubc.asarray(x, device=device)
    with xp.eager():
        alike((d * 2 + 1)[0], (x * 2 + 1)[0])
        alike(np.sqrt(d), np.sqrt(x))
        alike(-d, -x)
        alike(2**d, 2**x)
        alike(divmod(d, 4), divmod(x, 4))
        made = d > 2
        made[0] = True
        alike(made, np.array([[True] * 3, [True] * 3]))
    assert isinstance(d * 2, cubc.Lazy)
    assert (d * 2).device == device
    alike((d * 2).T, (x * 2).T)
    alike((d * 2).mT, (x * 2).mT)


def test_masks_without_dimensions(device):
    d = xp.asarray(3.0, device=device)
    alike(d[d > 2], np.array([3.0]))
    alike(d[d > 4], np.zeros(0))
    d[d > 2] = xp.asarray([5.0], device=device)
    assert float(d) == 5


FUNCTIONS = [one for one in xp.__all__ if inspect.isfunction(getattr(xp, one)) and one != "eager"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_name_the_function_that_was_called(name):
    function = getattr(xp, name)
    takes = inspect.signature(function).parameters.values()
    needed = [p for p in takes if p.default is p.empty and p.kind is not p.KEYWORD_ONLY]
    with pytest.raises((TypeError, ValueError), match=rf"^(ufunc )?'?{name}\b"):
        function(*[object() for _ in needed])


def test_errors_name_no_function_within():
    d = xp.zeros(3, device="cpu")
    for name, call in {
        "zeros": lambda: xp.zeros(-3),
        "ones": lambda: xp.ones(3, device="gpu"),
        "concat": lambda: xp.concat([d, xp.zeros((2, 2), device="cpu")]),
        "linspace": lambda: xp.linspace(0, 1, -1),
        "clip": lambda: xp.clip(d, "a"),
        "pow": lambda: xp.pow(d, "a"),
    }.items():
        with pytest.raises((TypeError, ValueError, cubc.NoDeviceError)) as caught:
            call()
        words = re.findall(r"\b(\w+)\(\)", str(caught.value))
        assert words == [name], caught.value


def test_array_api_compat(device):
    compat = pytest.importorskip("array_api_compat", reason="array-api-compat is not installed")
    d = xp.ones((2, 3), device=device)
    assert compat.array_namespace(d, d + 1) is xp
    assert compat.is_array_api_obj(d)
    assert (compat.device(d), compat.size(d)) == (device, 6)
    assert compat.to_device(d, device) is d


@pytest.mark.some(3)
@pytest.mark.parametrize(
    "name", ["StandardScaler", "MinMaxScaler", "MaxAbsScaler", "Normalizer", "Binarizer"]
)
def test_scikit_learn(device, name, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # scikit-learn asks for it
    sklearn = pytest.importorskip("sklearn", minversion="1.8", reason="scikit-learn is older")
    from sklearn import preprocessing

    x = np.random.default_rng(0).normal(size=(20, 3))
    d = cubc.asarray(x, device=device)
    wanted = getattr(preprocessing, name)().fit_transform(x)
    with sklearn.config_context(array_api_dispatch=True), xp.eager():
        made = getattr(preprocessing, name)().fit_transform(d)
    close(made, wanted, 1e-11)


SCIPY = """
import numpy as np, scipy.special, scipy.stats, cubc
from cubc.array_api import eager
x = np.random.default_rng(0).normal(size=(20, 3))
d = cubc.asarray(x, device="{device}")
def check(function, *numbers, **options):
    made, wanted = function(d, *numbers, **options), function(x, *numbers, **options)
    assert isinstance(made, cubc.Array), type(made)
    np.testing.assert_allclose(made.numpy(), wanted, rtol=1e-11)
with eager():
    check(scipy.stats.zscore, axis=0)
    check(scipy.stats.skew)
    check(scipy.stats.moment, 3)
    check(scipy.stats.sem)
    check(scipy.stats.tmean)
    check(scipy.special.logsumexp, axis=0)
    check(scipy.special.softmax, axis=1)
    made, wanted = scipy.stats.pearsonr(d[:, 0], d[:, 1]), scipy.stats.pearsonr(x[:, 0], x[:, 1])
    np.testing.assert_allclose(float(made.statistic), wanted.statistic, rtol=1e-11)
"""


def test_scipy(device):
    """SciPy reads at its import whether it looks at namespaces."""
    pytest.importorskip("scipy", minversion="1.16", reason="SciPy is older")
    environment = os.environ | {"SCIPY_ARRAY_API": "1"}
    code = SCIPY.replace("{device}", device)
    done = subprocess.run([sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr.decode()
