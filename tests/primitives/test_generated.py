"""NumPy's names against NumPy, by generated calls: types, shapes, layouts, axes and options.

What differs on purpose (docs/from_numpy.md) is not generated: complex numbers where an order is
needed, float16, floats that an integer type does not hold, and fractional initial values of
integers.
"""

import warnings

import numpy as np
import pytest
from every_case import EVERY_CASE
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cubc

TYPES = ["?", "i1", "u4", "i8", "f4", "f8"]
SHAPES = [(), (0,), (1,), (7,), (3, 4), (2, 0), (0, 3), (2, 3, 5)]
LAYOUTS = ["plain", "strided", "reversed", "read-only", "columns", "repeated", "unaligned"]


def items(type, shape, seed):
    rng = np.random.default_rng(seed)
    if type == "?":
        return np.asarray(rng.random(shape) < 0.5)
    whole = np.asarray(rng.integers(0 if type[0] == "u" else -4, 5, shape))
    if type[0] != "f":
        return np.asarray(whole, type)
    x = np.asarray(whole / 2, type)
    x[rng.random(shape) < 0.1] = np.nan if seed % 2 else np.inf
    return x


def laid_out(x, layout):
    x = np.asarray(x)
    if layout == "strided":
        whole = np.zeros([2 * n for n in x.shape], x.dtype)
        part = whole[(..., *[slice(None, None, 2)] * x.ndim)]
        part[...] = x
        return part
    if layout == "reversed":
        return x[(..., *[slice(None, None, -1)] * x.ndim)]
    if layout == "columns":
        return np.asfortranarray(x)
    if layout == "repeated":
        return np.broadcast_to(x[:1], x.shape) if x.size and x.ndim else x
    if layout == "unaligned" and x.nbytes:
        part = np.zeros(x.nbytes + 1, "u1")[1:].view(x.dtype).reshape(x.shape)
        part[...] = x
        return part
    if layout == "read-only":
        x.flags.writeable = False
    return x


@st.composite
def arrays(draw, types=TYPES, shapes=SHAPES):
    x = items(draw(st.sampled_from(types)), draw(st.sampled_from(shapes)), draw(st.integers(0, 99)))
    return laid_out(x, draw(st.sampled_from(LAYOUTS)))


def one_axis(x):
    return st.one_of(st.none(), st.integers(-x.ndim - 1, x.ndim))


def axes(x):
    several = st.lists(st.integers(-x.ndim, max(x.ndim - 1, 0)), unique=True, max_size=3)
    return st.one_of(one_axis(x), several.map(tuple), st.sampled_from([1.0, "0"]))


def options(draw, **strategies):
    """Options that are given or left out."""
    drawn = {name: draw(st.one_of(st.just(...), of)) for name, of in strategies.items()}
    return {name: value for name, value in drawn.items() if value is not ...}


TRUTH = st.booleans()
REDUCTIONS = ("sum", "prod", "min", "max", "any", "all", "nansum", "nanprod", "nanmin", "nanmax")
MEANS = ("mean", "var", "std", "nanmean", "nanvar", "nanstd")


@st.composite
def reductions(draw):
    name = draw(st.sampled_from([*REDUCTIONS, *MEANS, "count_nonzero", "argmin", "argmax"]))
    x = draw(arrays())
    given = options(draw, axis=one_axis(x) if "arg" in name else axes(x), keepdims=TRUTH)
    two_faults = isinstance(given.get("axis"), float | str)  # whose order is NumPy's own
    if name in REDUCTIONS + MEANS and not two_faults and draw(TRUTH):
        given["where"] = np.random.default_rng(draw(st.integers(0, 9))).random(x.shape) < 0.6
    if name in REDUCTIONS and "any" not in name and name != "all":
        given |= options(draw, initial=st.integers(0, 3))
    if name in ("sum", "prod", "nansum", "nanprod") and x.dtype.kind != "f":
        given |= options(draw, dtype=st.sampled_from(["i4", "i8", "f8"]))
    if name.endswith(("var", "std")):
        given |= options(draw, ddof=st.integers(0, 2))
    return name, (x,), given


@st.composite
def others(draw):
    names = ["cumsum", "cumprod", "sort", "argsort", "diff", "repeat", "take", "unique", "nonzero"]
    names += ["partition", "searchsorted", "where", "isin", "union1d", "intersect1d", "concatenate"]
    name, x = draw(st.sampled_from(names)), draw(arrays())
    y = draw(arrays(shapes=[x.shape]))
    axis = {"axis": one_axis(x)}
    if name in ("cumsum", "cumprod"):
        return name, (x,), options(draw, **axis)
    if name in ("sort", "argsort"):
        given = options(draw, **axis, kind=st.sampled_from(["stable", "mergesort", "other"]))
        return name, (x,), {"kind": "stable", **given}
    if name == "diff":
        return name, (x,), options(draw, **axis, n=st.integers(-1, 3), prepend=st.just(y))
    if name == "repeat":
        return name, (x, draw(st.sampled_from([0, 2, [2], [1, 2], -1]))), options(draw, **axis)
    if name == "take":
        places = draw(st.lists(st.integers(-3, 3), max_size=4))
        places = np.array(places, draw(st.sampled_from(["i4", "i8"])) if places else "i8")
        modes = st.sampled_from(["raise", "wrap", "clip", "other"])
        return name, (x, places), options(draw, **axis, mode=modes)
    if name == "unique":
        flags = {f"return_{of}": TRUTH for of in ("index", "inverse", "counts")}
        return name, (x,), options(draw, **flags, equal_nan=TRUTH)
    if name == "partition":
        return name, (np.sort(x, None), draw(st.integers(-2, 3))), {}
    if name == "searchsorted":
        sides = st.sampled_from(["left", "right", "other"])
        return name, (np.sort(x, None), y), options(draw, side=sides)
    if name == "where":
        return name, (draw(arrays(["?", "f8"], [x.shape])), x, y), {}
    if name == "concatenate":
        return name, ((x, y),), options(draw, **axis)
    return name, (x,) if name == "nonzero" else (x, y), {}


def outcome(library, name, args, given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = getattr(library, name)(*args, **given)
        except Exception as error:  # its class is compared
            return error
    return [np.asarray(one) for one in (found if isinstance(found, tuple) else (found,))]


def check(case):
    name, args, given = case
    expected, found = (outcome(library, name, args, given) for library in (np, cubc))
    if isinstance(expected, Exception) or isinstance(found, Exception):
        alike = isinstance(found, type(expected)) or isinstance(expected, type(found))
        assert alike, f"{expected!r} of NumPy, {found!r}"
        return
    if name == "partition":  # which sorts
        expected = [np.sort(one) for one in expected]
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        digits = {"float32": 1e-5}.get(one.dtype.name, 1e-12)
        np.testing.assert_allclose(one, other, digits, digits)


HOW = {"deadline": None, "derandomize": True, "suppress_health_check": list(HealthCheck)}


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=3000 if EVERY_CASE else 150, **HOW)
@given(reductions())
def test_reductions(case):
    check(case)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=3000 if EVERY_CASE else 150, **HOW)
@given(others())
def test_others(case):
    check(case)
