"""Texts, pickles, copies, operators and methods of a cubc.Array."""

import copy
import operator
import pickle
import re

import inputs
import ml_dtypes
import numpy as np
import pytest
from inputs import same

import cubc
from cubc import _arithmetic
from cubc._lazy import dialect


# ---- texts, copies -------------------------------------------------------------------------------
def test_texts(device):
    x = np.arange(3, dtype=np.int32)
    a = cubc.asarray(x, device=device)
    assert repr(a) == f"cubc.Array([0 1 2], dtype=int32, device='{device}')"
    assert f"{a}" == str(a)
    assert f"{a[1]:03d} {a[2]:.1f}" == "001 2.0"
    assert f"{a[1] * 3:03d}" == "003"
    with pytest.raises(TypeError, match="for one number"):
        format(a, ".1f")
    page = a._repr_html_()
    assert f"cubc.Array (3,), int32, {device}" in page
    assert "[0 1 2]" in page
    assert "&lt;cubc.Lazy" in (a + 1)._repr_html_()


def test_of_many_items_only_the_edges_are_shown(device):
    for shape in [(2000,), (50, 3, 40), (7, 200), (2, 2, 7, 99)]:
        x = np.arange(np.prod(shape), dtype=np.int64).reshape(shape)
        a = cubc.asarray(x, device=device)
        with np.printoptions(threshold=1000):
            assert repr(a) == f"cubc.Array({x}, dtype=int64, device='{device}')"


def test_pickles_and_copies(device):
    x = inputs.random("I32", 120).reshape(4, 30)
    a = cubc.asarray(x, device=device)
    for made in (pickle.loads(pickle.dumps(a)), copy.copy(a), copy.deepcopy([a])[0]):
        same(made, x)
        assert (made.device, made.ptr != a.ptr) == (device, True)
    half = cubc.asarray(np.ones(3, ml_dtypes.bfloat16), device=device)
    assert pickle.loads(pickle.dumps(half)).dtype == half.dtype
    elsewhere = pickle.dumps(a).replace(
        device.encode(), b"cuda:9" if device == "cuda:0" else b"abc"
    )
    if device != "cpu":
        same(pickle.loads(elsewhere), x)


# ---- operators -----------------------------------------------------------------------------------
def test_an_operator_computes_nothing(device):
    x = inputs.random("F32", 60).reshape(3, 20)
    d = cubc.asarray(x, device=device)
    made = d * d + 1
    assert isinstance(made, cubc.Lazy)
    assert repr(made) == "<cubc.Lazy 'convert<f32>((x * x)) + k' of (k=1.0, x), float32 (3, 20)>"
    same(made, x * x + 1)
    same(cubc.sum(d * d + 1, axis=0), (x * x + 1).sum(0))
    d += 1
    same(made, (x + 1) * (x + 1) + 1)  # it reads what is there now
    assert float((d * 0 + 2).max()) == 2
    assert bool((d == d).all())
    assert int((d == d).sum()) == 60


def test_numbers_of_types_of_their_own(device):
    """(x // 2) * 0.5: the 2 is of x, the 0.5 of the result."""
    x = np.array([3, -3, 2**30 + 1], np.int32)
    d = cubc.asarray(x, device=device)
    same((d // 2) * 0.5, (x // 2) * 0.5)
    same(d * np.int64(4), x * np.int64(4))
    same(d / cubc.sum(d), x / x.sum())
    assert (d > 10**12).dtype == bool
    assert (d * np.float32(2)).dtype == (x * np.float32(2)).dtype
    with pytest.raises(OverflowError, match="out of bounds for int32"):
        d + 10**12


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_quotients_of_zero_keep_their_sign(device, dtype):
    special = np.array([0.0, -0.0, 1, -1, 0.3, -7, np.inf, -np.inf, np.nan], dtype)
    x, y = np.repeat(special, special.size), np.tile(special, special.size)
    d, e = (cubc.asarray(z, device=device) for z in (x, y))
    with np.errstate(all="ignore"):
        wanted = x // y
    for made in (divmod(d, e)[0], cubc.transform(lambda x, y: x // y, x=d, y=e)):
        same(made, wanted)
        signs = np.signbit(np.asarray(made))
        np.testing.assert_array_equal(signs[wanted == 0], np.signbit(wanted[wanted == 0]))


FUNCTIONS = [*_arithmetic._PLAIN, *_arithmetic._ROUNDED, *_arithmetic._NAMED]
# A member each of a struct, which has 64 bytes at most. The results that are bool are bits of one.
MEMBERS = ["floor_divide", "remainder", "fmod", "left_shift", "right_shift", "absolute", "invert"]
MEMBERS += ["sign", "maximum", "minimum", "fmax", "fmin", "hypot", "arctan2"]
BITS = ["logical_and", "logical_or", "logical_xor", "logical_not", "isnan", "isinf", "isfinite"]
BITS += ["signbit", *_arithmetic._COMPARISONS]


def made_by(names, x, y):
    """Each ufunc with its result; of some types there is none."""
    for name in names:
        ufunc = getattr(np, name)
        try:
            one = ufunc(*(x, y)[: ufunc.nin])
        except TypeError:
            continue
        if name not in ("signbit", "hypot", "arctan2") or x.dtype == np.float32:  # of doubles else
            yield name, one


@pytest.mark.parametrize("dtype", ["i4", "f4"])
def test_every_operator(device, dtype):
    """One kernel makes all of a type."""
    draw = np.random.default_rng(0)
    x, y = draw.integers(-9, 10, (2, 300)).astype(dtype)
    if dtype == "f4":
        x[:5] = y[2:7] = [0, -0.0, np.inf, -np.inf, np.nan]
    else:
        x[:2] = y[1:3] = np.iinfo(dtype).min
    a, b = (cubc.asarray(z, device=device) for z in (x, y))
    with np.errstate(all="ignore"):
        wanted, bits = dict(made_by(MEMBERS, x, y)), dict(made_by(BITS, x, y))
        wanted["bits"] = sum(one.astype("u4") << k for k, one in enumerate(bits.values()))
        texts = {name: one.expression for name, one in made_by(MEMBERS, a, b)}
        words = [f"u32({one.expression}) << {k}" for k, (_, one) in enumerate(made_by(BITS, a, b))]
        texts["bits"] = " | ".join(words)
        if dtype == "f4":
            wanted["functions"] = sum(one for _, one in made_by(FUNCTIONS, abs(x) / 9, y))
            of = [f"{getattr(np, name)(a).expression}" for name in FUNCTIONS]
            texts["functions"] = re.sub(r"\bx\b", "(fabs(x) / 9)", " + ".join(of))
    members = [(name, one.dtype) for name, one in wanted.items()]
    made = [f"convert<{dialect(of)}>({texts[name]})" for name, of in members]
    found = cubc.lazy(f"out_t{{{', '.join(made)}}}", x=a, y=b, dtype=np.dtype(members)).array()
    for name, one in wanted.items():
        np.testing.assert_allclose(found.numpy()[name], one, rtol=5e-6, err_msg=name)


def test_types_are_those_of_numpy():
    """Each pair of types, and of a type and a number of Python or NumPy; nothing is compiled."""
    kinds = [np.bool, np.int8, np.uint8, np.int64, np.uint64, np.float16, np.float32, np.complex64]
    others = [np.ones(3, kind) for kind in kinds] + [True, 3, 2.5, 1j, np.float64(2), np.int8(2)]
    for kind in kinds:
        x = np.ones(3, kind)
        d = cubc.asarray(x, device="cpu")
        for other in others:
            for of in (operator.add, operator.mul, operator.truediv, operator.lt, operator.and_):
                e = cubc.asarray(other, device="cpu") if np.ndim(other) else other
                try:
                    expected = of(x, other).dtype
                except TypeError:
                    with pytest.raises(TypeError):
                        of(d, e)
                    continue
                if of is operator.lt and "complex" in f"{expected}{kind}{other!r}" + str(
                    np.asarray(other).dtype
                ):
                    continue  # they have no order here
                assert of(d, e).dtype == of(e, d).dtype == expected, (kind, other, of)


def test_signed_and_unsigned_are_compared_as_numbers(device):
    x, y = np.array([-1, 1, 2**62]), np.array([2**64 - 1, 1, 3], np.uint64)
    a, b = cubc.asarray(x, device=device), cubc.asarray(y, device=device)
    assert (a < b).tolist() == (x < y).tolist() == [True, False, False]


def test_powers(device):
    x = np.array([3, -2, 7], np.int32)
    d = cubc.asarray(x, device=device)
    same(d**5, x**5)
    assert (d**0).dtype == np.int32
    assert "pow" not in (d.astype("f4") ** 2).expression
    with pytest.raises(ValueError, match="negative integer powers"):
        d**-1
    with pytest.raises(ValueError, match="at most 64"):
        d**65


def test_in_place(device):
    x = np.arange(5, dtype=np.float32)
    d = cubc.asarray(x, device=device)
    address = d.ptr
    d *= 3
    d -= d[0] + 1
    same(d, x * 3 - 1)
    assert d.ptr == address
    whole = cubc.asarray(np.arange(5), device=device)
    with pytest.raises(TypeError, match=r"x = x\.astype\('float64'\)"):
        whole /= 2


def test_what_would_copy_is_refused(device):
    d = cubc.asarray(np.arange(4.0), device=device)
    for call in (
        lambda: np.heaviside(d, 1),
        lambda: np.add(d, 1, out=np.zeros(4)),
        lambda: np.add.at(d, [0], 1),
    ):
        with pytest.raises(TypeError, match=r"copy the items of Array to the host: take x\.numpy"):
            call()
    with pytest.raises(TypeError, match="unsupported operand"):
        d + "x"
    with pytest.raises(TypeError, match="unhashable"):
        hash(d)
    with pytest.raises(ValueError, match="neither true nor false"):
        bool(d == d)
    with pytest.raises(TypeError, match=r"write x = x\.array\(\) before"):
        (d + 1)[0]
    with pytest.raises(ValueError, match="in the host's memory"):
        (d + np.arange(4.0)).array()


def test_reductions_of_ufuncs_take_all_axes(device):
    """NumPy's functions without a method, such as ptp, say axis=None, which is not the first."""
    x = np.arange(12.0).reshape(3, 4) - 5
    d = cubc.asarray(x, device=device)
    for options in ({}, {"axis": None}, {"axis": (0, 1)}, {"axis": None, "keepdims": True}):
        for ufunc in (np.add, np.minimum, np.logical_and):
            found = ufunc.reduce(d, **options)
            assert found.numpy().tolist() == ufunc.reduce(x, **options).tolist()
    assert float(np.ptp(d)) == np.ptp(x) == 11
    out = cubc.asarray(np.zeros(4), device=device)
    assert np.add.reduce(d, out=out) is out
    assert out.tolist() == x.sum(0).tolist()


def test_reductions_of_numpy_stay_on_the_device(device):
    x = inputs.random("I32", 60).reshape(3, 20)
    d = cubc.asarray(x, device=device)
    for of in (np.add.reduce, np.maximum.reduce):
        made = of(d)
        assert isinstance(made, cubc.Array)
        same(made, of(x))
    same(d.max(axis=1), x.max(axis=1))
    same(d.argsort(), x.argsort(kind="stable"))
    assert int(d.sum()) == x.sum()
