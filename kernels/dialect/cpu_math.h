// Mathematical functions that NVRTC knows without a header, for the CPU. f32 arguments stay f32.
// Part of simt_cpu.h.
#pragma once

#define SIMT_MATH_1(name)                                       \
    FUNCTION f64 name(f64 x) { return __builtin_##name(x); }    \
    FUNCTION f32 name(f32 x) { return __builtin_##name##f(x); } \
    FUNCTION f32 name##f(f32 x) { return __builtin_##name##f(x); }
#define SIMT_MATH_2(name)                                                 \
    FUNCTION f64 name(f64 x, f64 y) { return __builtin_##name(x, y); }    \
    FUNCTION f32 name(f32 x, f32 y) { return __builtin_##name##f(x, y); } \
    FUNCTION f32 name##f(f32 x, f32 y) { return __builtin_##name##f(x, y); }
SIMT_MATH_1(sqrt)
SIMT_MATH_1(cbrt)
SIMT_MATH_1(exp)
SIMT_MATH_1(exp2)
SIMT_MATH_1(expm1)
SIMT_MATH_1(log)
SIMT_MATH_1(log2)
SIMT_MATH_1(log10)
SIMT_MATH_1(log1p)
SIMT_MATH_1(sin)
SIMT_MATH_1(cos)
SIMT_MATH_1(tan)
SIMT_MATH_1(asin)
SIMT_MATH_1(acos)
SIMT_MATH_1(atan)
SIMT_MATH_1(sinh)
SIMT_MATH_1(cosh)
SIMT_MATH_1(tanh)
SIMT_MATH_1(asinh)
SIMT_MATH_1(acosh)
SIMT_MATH_1(atanh)
SIMT_MATH_1(erf)
SIMT_MATH_1(erfc)
SIMT_MATH_1(lgamma)
SIMT_MATH_1(tgamma)
SIMT_MATH_1(logb)
SIMT_MATH_1(fabs)
SIMT_MATH_1(floor)
SIMT_MATH_1(ceil)
SIMT_MATH_1(trunc)
SIMT_MATH_1(rint)
SIMT_MATH_1(round)
SIMT_MATH_1(nearbyint)
SIMT_MATH_2(pow)
SIMT_MATH_2(atan2)
SIMT_MATH_2(hypot)
SIMT_MATH_2(fmin)
SIMT_MATH_2(fmax)
SIMT_MATH_2(fmod)
SIMT_MATH_2(fdim)
SIMT_MATH_2(remainder)
SIMT_MATH_2(copysign)
SIMT_MATH_2(nextafter)
// Not all compilers and C libraries have exp10, and pow is nearer to it: exact at powers of 10.
FUNCTION f64 exp10(f64 x) { return __builtin_pow(10.0, x); }
FUNCTION f32 exp10(f32 x) { return __builtin_powf(10.0f, x); }
FUNCTION f32 exp10f(f32 x) { return __builtin_powf(10.0f, x); }
