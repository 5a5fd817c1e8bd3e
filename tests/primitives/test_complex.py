"""Complex numbers in every primitive that takes them, against NumPy."""

import inputs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs import in_turn, on, same, value

import cubc
from cubc import _core

DTYPES = {"C64": np.complex64, "C128": np.complex128}


def random(type, n, seed=0):
    """Small integers in both parts: sums are exact in any order."""
    draw = np.random.default_rng(seed)
    return (draw.integers(-2, 3, n) + 1j * draw.integers(-2, 3, n)).astype(DTYPES[type])


# ---- primitives ----------------------------------------------------------------------------------
@pytest.mark.parametrize("type", DTYPES)
def test_reduce(device, type):
    x = random(type, 2_000_000)
    for n in inputs.sizes("reduce.sum", type, device):
        same(value(cubc.sum(on(device, x[:n]))), x[:n].sum())
    units = np.array([1, -1, 1j, -1j], x.dtype)[np.random.default_rng(1).integers(0, 4, 1001)]
    same(value(cubc.prod(on(device, units))), units.prod())
    assert value(cubc.any(on(device, x)))
    assert not value(cubc.all(on(device, x)))
    same(value(cubc.reduce(on(device, x[:9]), init=1 + 1j)), x[:9].sum() + x.dtype.type(1 + 1j))


@pytest.mark.parametrize("type", DTYPES)
def test_scan(device, type):
    x = random(type, 300_000)
    for n in inputs.sizes("scan.inclusive.sum", type, device)[:12]:
        same(cubc.cumsum(on(device, x[:n])), x[:n].cumsum())
    exclusive = np.concatenate([[0], x.cumsum()[:-1]]).astype(x.dtype)
    same(cubc.scan(on(device, x), inclusive=False), exclusive)
    units = np.array([1, -1, 1j, -1j], x.dtype)[np.random.default_rng(1).integers(0, 4, 1001)]
    products = np.concatenate([[1], units.cumprod()[:-1]]).astype(x.dtype)
    same(cubc.scan(on(device, units), "prod", inclusive=False), products)


@pytest.mark.parametrize("type", ["C128"])
def test_selections(device, type):
    x = np.repeat(random(type, 30_000), 3)
    given = on(device, x)
    same(cubc.select(given, "imag(x) > 0"), x[x.imag > 0])
    same(cubc.select(given, given), x[x != 0])
    same(cubc.flatnonzero(given), np.flatnonzero(x))
    same(cubc.unique_consecutive(given), x[np.concatenate([[True], x[1:] != x[:-1]])])
    for part, expected in zip(
        cubc.partition_if(given, "x.real == 1"), (x[x.real == 1], x[x.real != 1]), strict=True
    ):
        same(part, expected)


def test_nan_differs_from_everything(device):
    x = np.array([complex(np.nan, 0), complex(np.nan, 0), -0.0, 0.0, 1j, 1j])
    assert np.asarray(cubc.unique_consecutive(on(device, x))).size == 4


@pytest.mark.parametrize("type", ["C64"])
def test_by_key_by_segment_and_along_an_axis(device, type):
    x, keys = random(type, 30_000), np.sort(np.random.default_rng(3).integers(0, 3000, 30_000))
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    sums = np.add.reduceat(x, starts)
    given = on(device, x)
    same(cubc.reduce_by_key(on(device, keys), given)[1], sums)
    same(np.asarray(cubc.scan_by_key(on(device, keys), given))[starts[1:] - 1], sums[:-1])
    offsets = np.concatenate([starts, [x.size]])
    same(cubc.segmented_reduce(given, on(device, offsets)), sums)
    cube = x.reshape(30, 100, 10)
    for axis in range(3):
        same(cubc.sum(on(device, cube), axis=axis), cube.sum(axis))
    doubled = np.repeat(np.arange(100) + 1j, 2).astype(x.dtype)
    same(cubc.run_length_encode(on(device, doubled))[0], doubled[::2])


def test_an_order_of_ones_own(device):
    x = random("C128", 10_000)
    result = cubc.merge_sort(on(device, x), "a.real < b.real")
    same(result, x[np.argsort(x.real, kind="stable")])
    first = cubc.find_if(on(device, x), "imag(x) > 1")
    assert int(first) == np.argmax(x.imag > 1)


@pytest.mark.parametrize("type", DTYPES)
def test_sort_pairs_moves_them(device, type):
    x, keys = random(type, 5000), np.random.default_rng(2).permutation(5000)
    same(cubc.sort_pairs(on(device, keys), on(device, x))[1], x[np.argsort(keys)])


# ---- expressions ---------------------------------------------------------------------------------
@pytest.mark.parametrize("type", DTYPES)
def test_arithmetic(device, type):
    x, y = random(type, 10_000), random(type, 10_000, seed=1)
    y[y == 0] = 1
    given = {"x": on(device, x), "y": on(device, y)}
    for expression in ("x * y + (x - y)", "-x + 2 * y - 1.5", "y - 1.5"):
        same(cubc.transform(expression, **_used(given, expression)), eval(expression))
    real = np.float32 if type == "C64" else np.float64
    result = cubc.transform("real(x) + 8 * imag(x) + 64 * x.imag", x=given["x"], dtype=real)
    same(result, x.real + 72 * x.imag)
    same(cubc.transform("conj(x)", x=given["x"]), x.conj())
    both = cubc.transform("(x == y) + 2 * (x != y)", **given, dtype="uint8")
    same(both, np.where(x == y, 1, 2).astype(np.uint8))
    close = {"rtol": 1e-6 if type == "C64" else 1e-14}
    np.testing.assert_allclose(np.asarray(cubc.transform("x / y", **given)), x / y, **close)
    result = cubc.transform("abs(x)", x=given["x"], dtype=real)
    np.testing.assert_allclose(np.asarray(result), abs(x), **close)


def _used(given, expression):
    return {name: array for name, array in given.items() if name in expression}


def test_division_does_not_overflow(device):
    x = np.array([1e300 + 1e300j, 1e-300 + 1e-300j, 3 + 0j, 0 - 4j])
    result = np.asarray(cubc.transform("x / x", x=on(device, x)))
    np.testing.assert_allclose(result, np.ones(4), rtol=1e-15)


@pytest.mark.parametrize(
    ("dtype", "number", "result"),
    [
        ("float32", 1j, "complex64"),
        ("float64", 1j, "complex128"),
        ("int16", 2 - 1j, "complex128"),
        ("complex64", 2.5, "complex64"),
        ("complex64", 2, "complex64"),
        ("complex128", np.complex64(1j), "complex128"),
    ],
)
def test_numbers_take_their_type_from_the_arrays(device, dtype, number, result):
    x = np.arange(10).astype(dtype)
    product = cubc.transform("x * number", x=on(device, x), number=number)
    same(product, (x * number).astype(result))


def test_types_of_results(device):
    x = on(device, np.arange(10, dtype=np.float32))
    same(value(cubc.sum(x, dtype="complex128")), np.complex128(45))
    z = on(device, random("C64", 1000))
    assert value(cubc.sum(z)).dtype == np.complex64
    same(value(cubc.sum(z, dtype="C128")), random("C64", 1000).sum(dtype=np.complex128))
    mixed = cubc.transform("x * z", x=x, z=on(device, random("C64", 10)))
    assert mixed.dtype == np.complex64


# ---- arrays --------------------------------------------------------------------------------------
@pytest.mark.parametrize("type", DTYPES)
def test_arrays(device, type):
    x = random(type, 60).reshape(3, 20)
    a = cubc.asarray(x, device=device)
    assert (a.dtype, a.itemsize, a.shape) == (x.dtype, x.itemsize, x.shape)
    same(a.numpy(), x)
    same(a[1:].numpy(), x[1:])
    assert complex(cubc.asarray(x.ravel()[:1], device=device)) == x[0, 0]
    assert cubc.empty(3, x.dtype, device=device).dtype == x.dtype
    same(cubc.asarray(np.arange(3), x.dtype, device=device), np.arange(3).astype(x.dtype))
    same(value(cubc.sum([1j, 2], device=device)), np.complex128(2 + 1j))
    same(value(cubc.sum(memoryview(x), device=device)), x.sum())


def test_dlpack(device):
    x = random("C64", 60)
    a = cubc.asarray(x, device=device)
    same(
        cubc.asarray(
            type(
                "Elsewhere",
                (),
                {
                    "__dlpack__": lambda self, **keywords: a.__dlpack__(**keywords),
                    "__dlpack_device__": lambda self: a.__dlpack_device__(),
                },
            )(),
            device=device,
        ),
        x,
    )
    if device == "cpu":
        same(np.from_dlpack(a), x)


def test_unaligned_arrays(device):
    """An item of 16 bytes is a vector; alone it need not lie as one."""
    x = random("C128", 1001)
    raw = cubc.asarray(np.concatenate([[0], x.view(np.float64)]), device=device)
    shifted = _as_complex(raw[1:], device)
    for n in (1, 2, 1001):
        same(value(cubc.sum(shifted[:n])), x[:n].sum())
        same(cubc.cumsum(shifted[:n]), x[:n].cumsum())
        same(cubc.transform("z + 1", z=shifted[:n]), x[:n] + 1)


def _as_complex(a, device):
    """A complex view of an array of float64."""
    if device == "cpu":
        return cubc.asarray(_Interface(a), device=device)
    return cubc.asarray(_Interface(a))


class _Interface:
    """The memory of an array of float64 as complex numbers, by NumPy's or CUDA's protocol."""

    def __init__(self, a):
        self.base = a
        data = {"shape": (a.size // 2,), "typestr": "<c16", "data": (a.ptr, False), "version": 3}
        name = "__cuda_array_interface__" if a.device != "cpu" else "__array_interface__"
        setattr(self, name, data)


# ---- functions -----------------------------------------------------------------------------------
def most(dtype):
    return float(np.finfo(dtype).max)


def least(dtype):
    return float(np.finfo(dtype).smallest_subnormal)


def beyond(dtype):
    """Numbers of whose hyperbolic functions one factor of one part overflows, and not the part."""
    x = 1.002 * np.log(most(dtype))
    return [complex(s * x, y) for s in (1, -1) for y in (1.57, 0.01, -1.57)]


FAR = {  # whose results are finite, or infinite in one part alone
    "exp": lambda t: [complex(1.0005 * np.log(most(t)), 1.57), complex(1000, 0)],
    "log": lambda t: [most(t) * (1 + 1j), most(t), 1j],
    "log2": lambda t: [most(t) * (1 - 1j), 8],
    "log10": lambda t: [most(t) * (-1 + 1j), 100],
    "log1p": lambda t: [1e30, complex(0, most(t)), 1e19 + 1e19j, complex(-1, least(t))],
    "sqrt": lambda t: [
        most(t) / 2 * (1 + 1j),
        most(t) * (-1 + 1j),
        complex(0, least(t)),
        -least(t),
    ],
    "sinh": lambda t: [complex(720, 0), complex(-720, -0.0), *beyond(t)],
    "cosh": lambda t: [
        *(complex(x, y) for x in (720, -720, -0.0) for y in (0.0, -0.0)),
        *beyond(t),
    ],
    "sin": lambda t: [complex(0, 720), complex(-0.0, -720), *(1j * z for z in beyond(t))],
    "cos": lambda t: [
        *(complex(x, y) for x in (0.0, -0.0) for y in (720, -720, -0.0)),
        *(1j * z for z in beyond(t)),
    ],
    "tan": lambda t: [complex(np.inf, 0), complex(0, np.inf), complex(1, 720)],
    "tanh": lambda t: [complex(np.inf, 0), complex(-np.inf, 1), complex(-720, 1)],
}


@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize("name", FAR)
def test_functions_far_from_1(device, name, type):
    """Steps of the computation do not overflow where the result does not, and zeros keep signs."""
    x, function = np.array(FAR[name](DTYPES[type]), DTYPES[type]), getattr(np, name)
    with np.errstate(all="ignore"):
        expected = function(x)
    made = np.asarray(function(cubc.asarray(x, device=device)))
    for part in ("real", "imag"):
        a, b = getattr(made, part), getattr(expected, part)
        np.testing.assert_allclose(a, b, rtol=1e-5 if type == "C64" else 1e-13)
        np.testing.assert_array_equal(np.signbit(a) & ~np.isnan(b), np.signbit(b) & ~np.isnan(b))


# ---- variants of GPUs and benchmarks -------------------------------------------------------------
@pytest.mark.parametrize(
    ("type", "variant"),
    in_turn(
        DTYPES,
        [
            ("reduce.sum", "ipt_4.tpb_128.ipv_0.ld_0.sm_0.wav_6.ms_1.ord_0"),
            (
                "scan.exclusive.sum",
                "ipt_8.tpb_96.mb_1.pk_3.ipv_1.ld_1.la_0.ord_0.lb_3.ns_50.l2w_100",
            ),
            ("select.unique", "ipt_12.tpb_96.mb_1.ipv_1.ld_1.la_0.ord_0.ns_50.l2w_100"),
            ("transform.nstream", "ipt_4.tpb_224.ipv_1.ld_1"),
        ],
        2,
    ),
)
def test_gpu_variants(type, variant):
    benchmark, label = variant
    workload = _core.Workload(benchmark, {"T{ct}": type}, {"Elements{io}[pow2]": 13}, "cpu")
    assert workload.verify(workload.variant(label)) == 0


# ---- what is refused -----------------------------------------------------------------------------
@pytest.mark.parametrize("op", ["min", "max", "argmin", "argmax"])
def test_no_order(device, op):
    x = on(device, random("C64", 10))
    with pytest.raises(TypeError, match=rf"{op} needs an order, which complex items .*abs\(a\)"):
        cubc.reduce(x, op)
    if not op.startswith("arg"):
        with pytest.raises(TypeError, match="needs an order"):
            cubc.scan(x, op)
        for call in (cubc.reduce, cubc.scan):  # of real items too
            with pytest.raises(TypeError, match="needs an order, which complex numbers"):
                call(np.ones(3), op, dtype="complex128", device=device)
    result = cubc.reduce(x, "abs(a) < abs(b) ? b : a")
    assert abs(value(result)) == abs(np.asarray(x)).max()


@pytest.mark.parametrize("type", list(DTYPES))
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_sorts(device, type, axis):
    """NumPy's order: real parts first, zeros of both signs alike, NaN behind by its parts."""
    rng = np.random.default_rng(4)
    x = (rng.integers(-2, 3, (7, 40)) + 1j * rng.integers(-2, 3, (7, 40))).astype(DTYPES[type])
    for number in (complex(np.nan, 1), complex(1, np.nan), complex(np.nan, np.nan), -0.0):
        x[rng.random(x.shape) < 0.1] = number
    given = on(device, x)
    same(cubc.sort(given, axis), np.sort(x, axis, kind="stable"))
    same(cubc.argsort(given, axis), np.argsort(x, axis, kind="stable"))
    lazy = cubc.lazy("z * 2", z=given, dtype=x.dtype)
    same(cubc.sort(lazy, axis), np.sort(x * 2, axis, kind="stable"))


def test_falling_sorts_and_outputs(device):
    x = np.array([1 + 1j, 3, 2, 1 - 1j, 3])
    given, out = on(device, x), on(device, np.zeros(5, complex))
    assert cubc.sort(given, descending=True, out=out) is out
    same(out, np.array([3, 3, 2, 1 + 1j, 1 - 1j]))
    same(cubc.argsort(given, descending=True), np.array([1, 4, 2, 0, 3]))
    assert cubc.sort(given, out=given) is given
    same(given, np.sort(x))
    same(cubc.partition(on(device, x), 2), np.sort(x))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda z: cubc.sort_pairs(z, z), TypeError, "the keys of sort_pairs are complex"),
        (lambda z: cubc.sort(z, end_bit=8), ValueError, "no order by some bits"),
        (lambda z: cubc.topk(z, 3), TypeError, "the keys of topk are complex"),
        (cubc.merge_sort, TypeError, "compared with < are complex"),
        (lambda z: cubc.searchsorted(z, z), TypeError, "compared with < are complex"),
        (lambda z: cubc.sum(z, dtype="f8"), TypeError, "complex128 does not become float64"),
        (lambda z: cubc.scan(z, out=np.zeros(10)), TypeError, "do not become real ones"),
        (lambda z: cubc.asarray(z, "f4"), TypeError, "take the real or the imaginary parts"),
        (lambda z: cubc.transform("z", z=z, dtype="f4"), cubc.CompileError, "real, imag or abs"),
        (lambda z: cubc.transform("z < 1", z=z), cubc.CompileError, "does not compile"),
    ],
)
def test_what_complex_numbers_cannot(call, error, words):
    with pytest.raises(error, match=words):
        call(random("C128", 10))


# ---- properties ----------------------------------------------------------------------------------
@settings(max_examples=40)
@given(st.integers(0, 3000), st.integers(0, 2**32 - 1))
def test_a_sum_is_the_sums_of_the_parts(n, seed):
    x = random("C128", n, seed)
    total = cubc.sum(x, device="cpu")
    assert total.real == cubc.sum(x.real.copy(), device="cpu")
    assert total.imag == cubc.sum(x.imag.copy(), device="cpu")


def test_powers_of_zero(device):
    """One, nothing or no number, as NumPy's."""
    powers = np.array([0, 2, 0.5, -1, 1j, -2 + 1j, 1 + 1j])
    with np.errstate(all="ignore"):
        expected = np.zeros(7, complex) ** powers
    zeros, given = on(device, np.zeros(7, complex)), on(device, powers)
    made = value(cubc.transform(lambda z, p: z**p, z=zeros, p=given))
    np.testing.assert_array_equal(made, expected)
