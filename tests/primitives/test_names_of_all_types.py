"""Functions of NumPy's names, with each type, of no items, odd sizes and strides, beside NumPy."""

import numpy as np
import pytest
from inputs import in_turn

import cubc

TYPES = [*"?bhilBHILefdFD"]
SIZES = (0, 1, 2, 33, 1001)
ORDERED = [*"?bhilBHILefd"]  # complex numbers have no order


def of_two(name):
    return lambda m, x: getattr(m, name)(x, x[: x.size // 2])


def of_one(name, *arguments, **options):
    return lambda m, x: getattr(m, name)(x, *arguments, **options)


def order_of(m, x):
    k = np.argsort(np.arange(x.size) % 7, kind="stable")
    return m.take_along_axis(
        x, k if isinstance(x, np.ndarray) else cubc.asarray(k, device=x.device), 0
    )


CALLS = {
    **{
        f"{n}": of_one(n)
        for n in ("nansum", "nanprod", "nancumsum", "nancumprod", "nanmean", "nanvar")
    },
    **{
        n: of_one(n)
        for n in ("nanstd", "mean", "var", "std", "count_nonzero", "cumsum", "diff", "unique")
    },
    "repeat": of_one("repeat", 3),
    "nonzero": of_one("nonzero"),
    "take_along_axis": order_of,
    "array_equal": lambda m, x: np.bool(m.array_equal(x, x)),
    "where": lambda m, x: m.where(x == x, x, x),
    "concatenate": lambda m, x: m.concatenate([x, x]),
}
COMPARED = {
    **{n: of_one(n) for n in ("nanmin", "nanmax", "nanargmin", "nanargmax", "sort")},
    **{n: of_two(n) for n in ("intersect1d", "union1d", "setdiff1d", "setxor1d", "isin")},
    "argsort": of_one("argsort", kind="stable"),
    "lexsort": lambda m, x: m.lexsort((x, x)),
    "partition": lambda m, x: m.partition(x, 0)[:1],
    "count_if": lambda m, x: m.count_nonzero(x > 2) if m is np else cubc.count_if(x, "x > 2"),
    "is_sorted": lambda m, x: (
        np.bool((x[1:] >= x[:-1]).all()) if m is np else np.bool(cubc.is_sorted(x))
    ),
    "searchsorted": lambda m, x: m.searchsorted(m.sort(x), x),
}


# Those that write to an array of the caller's, and those of them that may write over their input.
WRITTEN = (
    "cumsum",
    "cumprod",
    "nancumsum",
    "nancumprod",
    "nansum",
    "nanprod",
    "mean",
    "var",
    "std",
)
WRITTEN_IN_ORDER = ("nanmin", "nanmax", "sort")
OVER = ("cumsum", "cumprod", "nancumsum", "nancumprod", "sort")
SUMS = ("sum", "prod", "nansum", "nanprod", "cumsum", "nancumsum")


def items(letter, n):
    x = np.random.default_rng(7).integers(0, 5, 2 * n)
    return (x if letter != "?" else x > 2).astype(letter)


def outcome(call, m, x):
    try:
        with np.errstate(all="ignore"):
            found = call(m, x)
    except (ValueError, TypeError, IndexError) as error:
        return type(error)
    found = found if isinstance(found, tuple) else (found,)
    return [one.numpy() if isinstance(one, cubc.Array) else np.asarray(one) for one in found]


def alike(found, wanted):
    if isinstance(wanted, type) or isinstance(found, type):
        assert isinstance(found, type) and isinstance(wanted, type) and issubclass(found, wanted)
        return
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        few = {2: 4e-3, 4: 1e-5}.get(other.real.dtype.itemsize, 1e-12)
        if other.dtype.kind in "fc":
            np.testing.assert_allclose(one, other, rtol=few)
        else:
            np.testing.assert_array_equal(one, other)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("name", "letter"),
    [*in_turn(CALLS, TYPES, len(TYPES)), *in_turn(COMPARED, ORDERED, len(ORDERED))],
)
def test_as_numpy(device, name, letter):
    call = (CALLS | COMPARED)[name]
    for n in SIZES:
        x = items(letter, n)
        for one in (x[:n], x[::2], x[:n][::-1]):
            wanted = outcome(call, np, one)
            alike(
                outcome(call, cubc, cubc.asarray(np.ascontiguousarray(one), device=device)), wanted
            )
            with cubc.device(device):
                alike(outcome(call, cubc, one), wanted)


@pytest.mark.parametrize(
    ("name", "letter"),
    [
        *in_turn(WRITTEN, TYPES, len(TYPES)),
        *in_turn(WRITTEN_IN_ORDER, ORDERED, len(ORDERED)),
    ],
)
def test_an_output_of_the_callers(device, name, letter):
    for n in SIZES[1:]:
        x = items(letter, n)[:n]
        wanted = np.asarray(getattr(np, name)(x))
        d = cubc.asarray(x, device=device)
        out = cubc.empty(wanted.shape, wanted.dtype, device=device)
        assert getattr(cubc, name)(d, out=out) is out
        alike([out.numpy()], [wanted])
        if name in OVER and wanted.dtype == x.dtype:
            assert getattr(cubc, name)(d, out=d) is d
            alike([d.numpy()], [wanted])


@pytest.mark.parametrize(("name", "letter"), in_turn(SUMS, [*"efdFD"], 5))
def test_the_same_bits_in_each_run(device, name, letter):
    x = (np.random.default_rng(3).standard_normal(70001) / 8 + 1).astype(letter)
    d = cubc.asarray(x, device=device)
    runs = {
        np.asarray(cubc.asarray(getattr(cubc, name)(d, deterministic=True)).numpy()).tobytes()
        for _ in range(5)
    }
    assert len(runs) == 1
