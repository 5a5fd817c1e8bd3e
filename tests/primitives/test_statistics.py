"""Means, variances, counts, and functions that leave NaN out, against NumPy's."""

import warnings
from contextlib import nullcontext

import inputs
import numpy as np
import pytest
from inputs import in_turn, on

import cubc
from cubc import _core, _moments

SHAPE = (6, 7, 50)
NANS = ["sum", "prod", "min", "max", "argmin", "argmax", "cumsum", "cumprod", "mean", "var", "std"]


def close(result, expected, dtype=None):
    result, expected = np.asarray(result), np.asarray(expected)
    assert result.dtype == (dtype or expected.dtype)
    assert result.shape == expected.shape
    digits = {"float16": 2e-3, "float32": 2e-5, "complex64": 2e-5}.get(result.dtype.name, 1e-12)
    np.testing.assert_allclose(inputs.exact(result), inputs.exact(expected), digits, digits)


KINDS = ["?", "u8", "f2", "f4", "c8"]


# A variance is of means too; its square root is one operation more.
@pytest.mark.parametrize(
    ("type", "name"), [(type, "var") for type in KINDS] + in_turn(KINDS, ["mean", "std"], 2)
)
def test_every_type(device, type, name):
    x = (inputs.random("I8", 2100) % 16).reshape(SHAPE).astype(type)
    x = x * x.dtype.type(1 - 2j) if type == "c8" else x
    given, dtype = on(device, x), np.dtype(type) if type in ("f2", "f4") else None
    for axis in (None, -1):
        close(getattr(cubc, name)(given, axis), getattr(np, name)(inputs.exact(x), axis), dtype)


@pytest.mark.parametrize("name", ["mean", "var", "std"])
def test_options(device, name):
    x = inputs.random("I8", 2100).reshape(SHAPE).astype(np.int64)
    given, mask = on(device, x), x % 3 > 0
    function, numpys = getattr(cubc, name), getattr(np, name)
    where = on(device, mask)
    for axis in {"mean": (None, 1, (0, 2)), "var": (None, (0, 2)), "std": (1,)}[name]:
        close(function(given, axis, keepdims=True), numpys(x, axis, keepdims=True))
        close(function(given, axis, where=where), numpys(x, axis, where=mask))
    close(function(given, 1, np.float32), numpys(x, 1, np.float32))
    out = on(device, np.zeros(numpys(x, 0).shape))
    assert function(given, 0, None, out) is out
    close(out, numpys(x, 0))
    close(function(on(device, x[0, 0, 0])), numpys(x[0, 0, 0]))


def test_degrees_of_freedom(device):
    x = inputs.random("I8", 2100).astype(np.float64)
    close(cubc.var(on(device, x), ddof=1), np.var(x, ddof=1))
    close(cubc.std(on(device, x), correction=1.5), np.std(x, ddof=1.5))
    close(cubc.var(on(device, x), mean=on(device, np.zeros(1))), np.var(x, mean=np.zeros(1)))
    with pytest.raises(ValueError, match="provided simultaneously"):
        cubc.var(x, ddof=1, correction=1)


def test_a_variance_far_from_zero(device):
    """The sum of squares less the square of the sum would have no digit of it."""
    x = 1e9 + inputs.random("F64", 100_003)
    close(cubc.var(on(device, x)), np.var(x))


@pytest.mark.parametrize("way", ["one_pass", "device"])
@pytest.mark.parametrize("type", ["f4", "c8"])
def test_short_floats_far_from_zero(request, device, way, type):
    """Rounded sums of exact squares, and sums and means in float32, would have few digits of it."""
    request.getfixturevalue(way)
    x = (2**20 + np.random.default_rng(1).standard_normal((20_000, 10))).astype("f4")
    x = (x - 1j * x).astype(type) if type == "c8" else x
    wide, mask = x.astype("c16" if type == "c8" else "f8"), x.real > 2**20
    for axis, options in ((None, {}), (0, {}), (1, {}), (None, {"where": mask})):
        expected = wide.var(axis, **options)
        options = {name: on(device, value) for name, value in options.items()}
        for function in (cubc.var, cubc.nanvar):
            found = np.asarray(function(on(device, x), axis, **options))
            np.testing.assert_allclose(found, expected, rtol=3e-7)
        np.testing.assert_allclose(
            np.asarray(cubc.std(on(device, x), axis, **options)), np.sqrt(expected), rtol=3e-7
        )


def test_bound_variances_less_the_first_item_of_their_time(device):
    """A first item of before would leave the mean in all squares."""
    items = 2**24 + 2 * np.random.default_rng(1).integers(0, 2, (100_000, 1))
    places = [lambda x: cubc.asarray(x, device=device)] + [np.asarray] * (device == "cpu")
    for place in places:
        x, out = place(np.zeros((100_000, 1), "f4")), place(np.zeros(1, "f4"))
        variance = cubc.bind(cubc.var, x, 0, out=out)
        x[:] = place(items)
        assert float(np.asarray(variance())[0]) == pytest.approx(items.var(), rel=3e-7)


@pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 2), (0, 1, 2), -1])
def test_one_pass_along_axes(device, axis):
    """Items are read once, and cancel to no more than float32's own last digits."""
    x = (1000 + np.random.default_rng(1).standard_normal((60, 70, 50))).astype("f4")
    given, expected = on(device, x), x.astype("f8").var(axis)
    for found in (cubc.var(given, axis), cubc.std(given, axis) ** 2):
        np.testing.assert_allclose(np.asarray(found), expected.astype("f4"), rtol=1e-6)
    kept = cubc.var(given, axis, keepdims=True, ddof=1, dtype="f4")
    np.testing.assert_allclose(
        np.asarray(kept), x.astype("f8").var(axis, keepdims=True, ddof=1), 1e-6
    )


def exactly(x, axis=None, **options):
    """Variance in the digits of long double, of items that are integers or float64."""
    return np.asarray(x.astype(np.longdouble).var(axis, **options), "f8")


@pytest.fixture
def one_pass(monkeypatch):
    """The way of GPUs, on every device."""
    monkeypatch.setattr(_moments, "is_on_cpu", lambda x, device: False)


@pytest.mark.some
@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("type", ["f8", "i8", "u1"])
@pytest.mark.usefixtures("one_pass")
def test_one_pass_of_twice_the_digits(device, type, axis):
    """Far from zero the squares cancel to the last digits of what NumPy gives."""
    far = {"f8": 1e9, "i8": 10**10, "u1": 0}[type]
    spread = np.random.default_rng(1).standard_normal((40, 30, 50)) * (1 if type == "f8" else 30)
    x = (spread + far).astype(type) if type != "u1" else spread.astype("i8").astype("u1")
    for found in (cubc.var(on(device, x), axis), cubc.std(x, axis, device=device) ** 2):
        np.testing.assert_allclose(np.asarray(found), exactly(x, axis), rtol=4e-12)
    kept = cubc.var(on(device, x), axis, keepdims=True, ddof=1)
    close(kept, exactly(x, axis, keepdims=True, ddof=1))


@pytest.mark.some
@pytest.mark.parametrize("way", ["one_pass", "device"])
@pytest.mark.parametrize(("type", "error"), [("f4", 3e-7), ("f8", 1e-12)])
def test_one_pass_of_items_that_take_part(request, device, way, type, error):
    """The first item of all is left out, and one column of all."""
    request.getfixturevalue(way)
    rng = np.random.default_rng(1)
    x = (100 + 20 * rng.standard_normal((6, 70, 5))).astype(type)
    mask = rng.random(x.shape) < 0.5
    x[rng.random(x.shape) < 0.2] = x[:, 3, 2] = x[0, 0, 0] = np.nan
    for axis in (None, 0, (0, 2), 1):
        for options in ({}, {"where": mask}, {"ddof": 1, "keepdims": True}):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = np.nanvar(x.astype("f8"), axis, **options)
                masks = {k: on(device, v) for k, v in options.items() if k == "where"}
                found = cubc.nanvar(on(device, x), axis, **{**options, **masks})
                host = cubc.nanvar(x, axis, device=device, **options)
            for one in (found, host):
                np.testing.assert_allclose(np.asarray(one), expected, rtol=error)


@pytest.mark.usefixtures("one_pass")
def test_one_pass_without_a_finite_variance(device):
    x = np.full((300, 5), 0.1)
    x[7, 1], x[9, 2], x[:, 3], x[:, 4] = np.nan, np.inf, 1e150, np.arange(300) % 7
    found = np.asarray(cubc.var(on(device, x), 0))
    assert 0 <= found[0] < 1e-30 and np.isnan(found[1:3]).all() and 0 <= found[3] < 1e280
    np.testing.assert_allclose(found[4], np.var(np.arange(300) % 7), rtol=1e-14)
    assert cubc.var(on(device, np.full(9, 1e200))) == 0  # all items: less the first of them
    assert np.isnan(float(cubc.var(on(device, x))))
    out = on(device, np.zeros(5))
    assert cubc.std(on(device, x), 0, out=out) is out
    assert float(np.asarray(out)[4]) == pytest.approx(np.std(np.arange(300) % 7), rel=1e-14)


@pytest.mark.usefixtures("one_pass")
@pytest.mark.parametrize("type", ["f4", "f8"])
def test_one_pass_of_a_gpus_variant(type):
    x = (1000 + np.random.default_rng(1).standard_normal((400, 37))).astype(type)
    benchmark, items = {
        "f4": ("axis_reduce.sum", "C128"),
        "f8": ("axis_reduce.several", "F64"),
    }[type]
    try:
        label = _core.base(benchmark, {"T{ct}": items}, "sm_90")
        _core.use_policy(benchmark, {"T{ct}": items}, "cpu", label)
        found = cubc.var(x, 0, device="cpu")
    finally:
        _core.clear_policies()
    np.testing.assert_allclose(
        found, x.astype("f8").var(0).astype(type), rtol=1e-6 if type == "f4" else 1e-12
    )


@pytest.mark.parametrize("type", ["f2", "f4"])
def test_columns_of_one_pass(device, type):
    """Equal items have no variance, no small number is negative, NaN and infinity make NaN."""
    x = np.full((3000, 5), 0.1, type)
    x[:, 1] = np.finfo(type).max / 4
    x[7, 2], x[9, 3], x[:, 4] = np.nan, np.inf, np.arange(3000) % 7
    found = np.asarray(cubc.var(on(device, x), 0))
    assert found.dtype == x.dtype and 0 <= float(found[0]) < 1e-14
    expected = [np.nan, np.nan, np.var(np.arange(3000) % 7)]
    np.testing.assert_allclose(found[2:], expected, rtol=2 * np.finfo(type).eps)
    assert 0 <= float(found[1]) <= 1e-12 * float(x[0, 1]) ** 2
    out = on(device, np.zeros(5, "f8"))
    assert cubc.std(on(device, x), 0, out=out) is out
    assert float(np.asarray(out)[4]) == pytest.approx(np.std(np.arange(3000) % 7), rel=1e-12)


@pytest.mark.parametrize("name", ["mean", "var", "std", "nanmean", "nanvar", "nanstd"])
def test_an_axis_of_an_array_without_dimensions(name):
    x = np.array(3.0)
    for axis in (0, -1, (0,), 1):
        if "nan" in name and axis in (0, -1):
            close(getattr(cubc, name)(x, axis), getattr(np, name)(x, axis))
            continue
        for library in (np, cubc):
            with pytest.raises(np.exceptions.AxisError):
                getattr(library, name)(x, axis)
    close(getattr(cubc, name)(x, ()), getattr(np, name)(x, ()))


@pytest.mark.parametrize("name", ["nanmin", "nanmax"])
def test_no_item_has_no_least(device, name):
    for shape, axis in (((0, 0), 1), ((3, 0), 1), ((0, 0), None)):
        for library in (np, cubc):
            x = np.empty(shape) if library is np else on(device, np.empty(shape))
            with pytest.raises(ValueError, match=f"^{name} of no items|zero-size array"):
                getattr(library, name)(x, axis)
    assert getattr(cubc, name)(on(device, np.empty((0, 3))), 1).shape == (0,)
    assert getattr(cubc, name)(on(device, np.empty((3, 0))), 1, initial=2.0).shape == (3,)


@pytest.mark.parametrize("x", [np.float64(3), np.float32(3), np.complex128(3 + 1j), np.int64(3)])
def test_a_scalar_of_numpy(x):
    for name in ("sum", "prod", "mean", "var", "std", "nansum", "nanmean", "nanvar", "nanstd"):
        close(getattr(cubc, name)(x), getattr(np, name)(x))
        close(getattr(cubc, name)(x, keepdims=True), getattr(np, name)(x, keepdims=True))
    for name in ("nancumsum", "count_nonzero"):
        close(getattr(cubc, name)(x), getattr(np, name)(x), np.asarray(getattr(np, name)(x)).dtype)
    close(cubc.transform("2 * x", x=x), 2 * x)


def test_no_items():
    for call in (
        lambda library: library.mean([]),
        lambda library: library.mean(np.zeros((0, 3)), 0),
        lambda library: library.var([]),
        lambda library: library.std(np.ones(2), ddof=2),
        lambda library: library.nanmean(np.full(3, np.nan)),
        lambda library: library.nanmax(np.full((2, 3), np.nan), 1),
    ):
        texts = []
        for library in (np, cubc):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                texts.append(
                    (np.asarray(call(library)).tolist(), str(caught[0].message).rstrip("."))
                )
        assert str(texts[0]) == str(texts[1])


@pytest.mark.parametrize("type", ["?", "i4", "f2", "f4", "c8"])
def test_count_nonzero(device, type):
    x = (inputs.random("I8", 2100) % 3).reshape(SHAPE).astype(type)
    x[0, 0, 0] = np.nan if type[0] in "fc" else 0
    for axis in (None, 1, (0, 2)) if type in ("?", "f4") else (1,):
        close(cubc.count_nonzero(on(device, x), axis), np.count_nonzero(x, axis))


# ---- NaN -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("type", "name"),
    [("f4", name) for name in NANS] + [("i8", name) for name in ("sum", "argmax", "var")],
)
def test_what_is_nan_is_left_out(device, type, name):
    x = (inputs.random("I8", 2100) % 3).reshape(SHAPE).astype(type)
    if type == "f4":
        x[inputs.random("I8", 2100).reshape(SHAPE) % 4 == 0] = np.nan
    some = ("sum", "argmax", "cumsum", "mean", "std")
    axes = (1,) if type == "i8" else (None, 1) if name in some else (None,)
    name = f"nan{name}"
    for axis in axes:
        close(getattr(cubc, name)(on(device, x), axis), getattr(np, name)(x, axis))


@pytest.mark.parametrize("type", ["f4", "f8", "i4"])
@pytest.mark.parametrize("name", ["mean", "var", "nanmean", "nanstd"])
def test_where_is_a_list(device, name, type):
    x, where = np.arange(12).reshape(3, 4).astype(type), [True, False, True, True]
    found = getattr(cubc, name)(on(device, x), 1, where=where)
    close(found, getattr(np, name)(x, 1, where=where))


def test_where_beside_nan(device):
    x = inputs.random("F32", 2100).reshape(SHAPE)
    x[x == 2], mask = np.nan, inputs.random("I8", 2100).reshape(SHAPE) > 0
    given, where = on(device, x), on(device, mask)
    close(cubc.nanmean(given, (0, 1), where=where), np.nanmean(x, (0, 1), where=mask))
    found = cubc.nanmax(given, 1, initial=-9, where=where)
    close(found, np.nanmax(x, 1, initial=-9, where=mask))
    with pytest.raises(ValueError, match="needs initial="):
        cubc.nanmin(given, where=where)


def test_too_few_that_are_not_nan(device):
    """The variance is a NaN if the divisor is 0, and not an infinity as of `var`."""
    x = np.array([[1, np.nan, np.nan], [1, 2, np.nan], [1, 2, 6]])
    with pytest.warns(RuntimeWarning, match="Degrees") if device == "cpu" else nullcontext():
        made = cubc.nanvar(on(device, x), 1, ddof=2)
    close(made, np.array([np.nan, np.nan, 14]))


def test_nan_alone_has_no_place():
    x = np.array([[np.inf, np.nan], [np.nan, np.nan]])
    assert cubc.nanargmin(x[:1], 1).tolist() == np.nanargmin(x[:1], 1).tolist()
    for name in ("nanargmin", "nanargmax"):
        with pytest.raises(ValueError, match="All-NaN slice encountered"):
            getattr(cubc, name)(x, 1)


@pytest.mark.some
@pytest.mark.parametrize("name", ["var", "std", "mean", "nanvar", "nanstd", "nanmean"])
@pytest.mark.parametrize("type", ["f8", "i4"])
def test_types_of_integers(name, type):
    """A root is no integer but of one number, and nan... takes floats for floats alone."""
    x = np.array([[1, 2], [3, -7]], type)
    for options in (
        {"dtype": "i4"},
        {"dtype": "i4", "axis": (0, 1)},
        {"dtype": "i4", "axis": 0},
        {"dtype": "i4", "keepdims": True},
        {"axis": 0, "out": np.zeros(2, int)},
        {"out": np.zeros((), int)},
    ):
        try:
            expected = getattr(np, name)(x, **options)
        except TypeError:
            with pytest.raises(TypeError, match="give a type of floats"):
                getattr(cubc, name)(x, **options)
        else:
            assert np.asarray(getattr(cubc, name)(x, **options)).tolist() == expected.tolist()


def test_axes_of_one_number():
    """A mask counts without an axis; items without NaN are those of the plain function."""
    for name in ("mean", "var", "std", "nanmean", "nanvar", "nanstd"):
        for x in (np.array(3), np.array(True)):
            with pytest.raises(np.exceptions.AxisError):
                getattr(cubc, name)(x, axis=0)
            mask = np.array(True)
            close(getattr(cubc, name)(x, 0, where=mask), getattr(np, name)(x, 0, where=mask))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NumPy's mean of nothing
@pytest.mark.parametrize("type", ["f2", "f4", "f8", "i4"])
def test_no_items_and_a_divisor_all_the_same(device, type):
    """As a negative `ddof` makes one."""
    x = np.ones((3, 2), type)
    for options in ({}, {"axis": 0}):
        found = cubc.var(on(device, x), where=False, ddof=-1, **options)
        np.testing.assert_array_equal(np.asarray(found), np.var(x, where=False, ddof=-1, **options))
    if type != "i4":
        nothing = on(device, np.full(3, np.nan, type))
        assert float(cubc.nanvar(nothing, ddof=-1)) == 0
