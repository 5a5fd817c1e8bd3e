"""CUDA's mathematical functions and intrinsics in kernels of users, on every device."""

import math

import numpy as np
import pytest
from nvrtc import why_no_nvrtc

import cubc
from cubc import _core
from cubc._source import Source

# Expressions and what Python says of them: x is around 0, y above it, u and v are unsigned.
FLOATS = {
    "acosh(1 + y)": lambda x, y: math.acosh(1 + y),
    "asinh(x) + atanh(x / 8)": lambda x, y: math.asinh(x) + math.atanh(x / 8),
    "erfc(x)": lambda x, y: math.erfc(x),
    "lgamma(y)": lambda x, y: math.lgamma(y),
    "tgamma(y)": lambda x, y: math.gamma(y),
    "round(x) + round(-2.5)": lambda x, y: np.round(x) - 3,
    "nearbyint(x)": lambda x, y: round(x),
    "logb(y) + ilogb(y)": lambda x, y: 2 * math.floor(math.log2(y)),
    "exp10(x)": lambda x, y: 10**x,
    "copysign(y, x)": lambda x, y: math.copysign(y, x),
    "fdim(x, y)": lambda x, y: max(x - y, 0),
    "remainder(x, y)": lambda x, y: math.remainder(x, y),
    "ldexp(x, 3) + scalbn(x, -1)": lambda x, y: 8.5 * x,
    "lround(x) + llrint(x)": lambda x, y: 2 * round(x),
    "sinpi(x) + cospi(y)": lambda x, y: math.sin(math.pi * x) + math.cos(math.pi * y),
    "sinpi(1e9) + cospi(0.5)": lambda x, y: 0,
    "rcbrt(y) + rhypot(x, y)": lambda x, y: y ** (-1 / 3) + 1 / math.hypot(x, y),
    "norm3d(x, y, 2.0)": lambda x, y: math.hypot(x, y, 2),
    "isfinite(x) + 2 * signbit(x)": lambda x, y: 1 + 2 * (x < 0),
    "abs(x) + abs(-3) + llabs(-4)": lambda x, y: abs(x) + 7,
    "fma(x, y, 1.0) + __fma_rn(x, y, 1.0)": lambda x, y: 2 * (x * y + 1),
    "__ddiv_rn(x, y) + __dsqrt_rn(y)": lambda x, y: x / y + math.sqrt(y),
    "max(3, 4u) + min(2.5f, y)": lambda x, y: 4 + min(2.5, y),
    "__longlong_as_double(__double_as_longlong(x))": lambda x, y: x,
    "__hiloint2double(__double2hiint(x), __double2loint(x))": lambda x, y: x,
    "__double2int_rn(x) + __double2int_rd(x)": lambda x, y: round(x) + math.floor(x),
    "__double2uint_rz(-y) + __double2int_ru(1e300)": lambda x, y: 2**31 - 1,
    "__double2ll_ru(x)": lambda x, y: math.ceil(x),
    "__saturatef(2.0f) + __saturatef(-1.0f)": lambda x, y: 1,
    "__fmul_rn(0.5f, 3.0f) + __frcp_rn(4.0f)": lambda x, y: 1.75,
}
INTEGERS = {
    "__brev(u)": lambda u, v: int(f"{u:032b}"[::-1], 2),
    "__brevll(u)": lambda u, v: int(f"{u:064b}"[::-1], 2),
    "__byte_perm(u, v, 0x7310)": lambda u, v: (
        (v & 0xFF000000) | (u >> 24 << 16 & 0xFF0000) | (u & 0xFFFF)
    ),
    "__umulhi(u, v)": lambda u, v: u * v >> 32,
    "__umul64hi((unsigned long long)u << 32, v)": lambda u, v: u * v >> 32,
    "__umul24(u, v)": lambda u, v: (u & 0xFFFFFF) * (v & 0xFFFFFF) & 0xFFFFFFFF,
    "__usad(u, v, 7u)": lambda u, v: abs(u - v) + 7 & 0xFFFFFFFF,
    "__funnelshift_l(u, v, 5)": lambda u, v: (v << 32 | u) << 5 >> 32 & 0xFFFFFFFF,
    "__funnelshift_r(u, v, 5)": lambda u, v: (v << 32 | u) >> 5 & 0xFFFFFFFF,
    "__sad(-3, 4, u & 1023) + __hadd(-3, 8) + __rhadd(-3, 8)": lambda u, v: (u & 1023) + 12,
    "__mulhi(1 << 30, 12) + __mul24(-3, -5)": lambda u, v: 18,
}


def source():
    floats = "".join(f"f[{k}] = {text}; " for k, text in enumerate(FLOATS))
    integers = "".join(f"n[{k}] = {text}; " for k, text in enumerate(INTEGERS))
    return f"""
__global__ void every(double* f, unsigned long long* n, const double* x, const unsigned* w)
{{
    const double y = x[1 + threadIdx.x * 2];
    const unsigned u = w[threadIdx.x * 2], v = w[threadIdx.x * 2 + 1];
    f += {len(FLOATS)} * threadIdx.x, n += {len(INTEGERS)} * threadIdx.x;
    x += 2 * threadIdx.x;
    with_x(f, x[0], y);
    {integers}
}}
""".replace(
        "__global__",
        f"""
__device__ void with_x(double* f, double x, double y)
{{
    {floats}
}}
__global__""",
        1,
    )


def test_every_function(device):
    rng = np.random.default_rng(3)
    x = np.stack([rng.uniform(-4, 4, 32), rng.uniform(0.3, 5, 32)], 1)
    w = rng.integers(0, 2**32, (32, 2), np.uint32)
    given = [np.zeros((32, len(FLOATS))), np.zeros((32, len(INTEGERS)), np.uint64), x, w]
    arrays = [cubc.asarray(one, device=device) for one in given]
    cubc.Kernel(source(), device=device)(*arrays, grid=1, block=32)
    floats, integers = (one.numpy() for one in arrays[:2])
    for k, (text, expected) in enumerate(FLOATS.items()):
        wanted = [expected(*map(float, pair)) for pair in x]
        np.testing.assert_allclose(floats[:, k], wanted, rtol=1e-12, atol=1e-12, err_msg=text)
    for k, (text, expected) in enumerate(INTEGERS.items()):
        wanted = [expected(*map(int, pair)) for pair in w]
        assert [int(one) for one in integers[:, k]] == wanted, text


def test_expressions_have_them_too(device):
    """But for intrinsics: NVRTC knows those, and the cpu in kernels alone."""
    rng = np.random.default_rng(3)
    x, y = rng.uniform(-4, 4, 32), rng.uniform(0.3, 5, 32)
    texts = [text for text in FLOATS if "__" not in text]
    for begin in range(0, len(texts), 8):  # as many as one pass makes
        some = texts[begin : begin + 8]
        for text, got in zip(some, cubc.transform(some, x=x, y=y, device=device), strict=True):
            wanted = [FLOATS[text](*pair) for pair in zip(x.tolist(), y.tolist(), strict=True)]
            np.testing.assert_allclose(got, wanted, 1e-12, 1e-12, err_msg=text)


@pytest.mark.skipif(bool(why_no_nvrtc()), reason=why_no_nvrtc() or "-")
def test_cuda_has_each_of_them():
    text = Source(source(), "every").compiled("sm_75", {})
    _core.source_compile(text, "sm_75", "every", 60.0, b"")
