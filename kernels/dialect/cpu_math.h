// Mathematical functions that NVRTC knows without a header, for the CPU: those of expressions, and
// of users' kernels (cuda.h), which have more. f32 arguments stay f32. Part of simt_cpu.h.
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
FUNCTION double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
FUNCTION float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
FUNCTION double ldexp(double x, int n) { return __builtin_ldexp(x, n); }
FUNCTION float ldexp(float x, int n) { return __builtin_ldexpf(x, n); }
FUNCTION float ldexpf(float x, int n) { return __builtin_ldexpf(x, n); }
FUNCTION double scalbn(double x, int n) { return __builtin_scalbn(x, n); }
FUNCTION float scalbnf(float x, int n) { return __builtin_scalbnf(x, n); }
FUNCTION int ilogb(double x) { return __builtin_ilogb(x); }
FUNCTION int ilogbf(float x) { return __builtin_ilogbf(x); }
FUNCTION long lround(double x) { return __builtin_lround(x); }
FUNCTION long lroundf(float x) { return __builtin_lroundf(x); }
FUNCTION long lrint(double x) { return __builtin_lrint(x); }
FUNCTION long lrintf(float x) { return __builtin_lrintf(x); }
FUNCTION long long llround(double x) { return __builtin_llround(x); }
FUNCTION long long llroundf(float x) { return __builtin_llroundf(x); }
FUNCTION long long llrint(double x) { return __builtin_llrint(x); }
FUNCTION long long llrintf(float x) { return __builtin_llrintf(x); }
// Sine and cosine of multiples of pi, exact at multiples of 1/2.
FUNCTION double sinpi(double x)
{
    const double turn = __builtin_remainder(x, 2.0), half = __builtin_rint(2 * turn);
    const double rest = 3.14159265358979323846 * (turn - half / 2);
    switch (static_cast<int>(half) & 3) {
    case 0: return __builtin_sin(rest);
    case 1: return __builtin_cos(rest);
    case 2: return -__builtin_sin(rest);
    default: return -__builtin_cos(rest);
    }
}
FUNCTION double cospi(double x) { return sinpi(__builtin_remainder(x, 2.0) + 0.5); }
FUNCTION float sinpif(float x) { return static_cast<float>(sinpi(static_cast<double>(x))); }
FUNCTION float cospif(float x) { return static_cast<float>(cospi(static_cast<double>(x))); }
FUNCTION double rcbrt(double x) { return 1 / __builtin_cbrt(x); }
FUNCTION float rcbrtf(float x) { return 1 / __builtin_cbrtf(x); }
FUNCTION double rhypot(double x, double y) { return 1 / __builtin_hypot(x, y); }
FUNCTION float rhypotf(float x, float y) { return 1 / __builtin_hypotf(x, y); }
FUNCTION double norm3d(double x, double y, double z)
{
    return __builtin_hypot(__builtin_hypot(x, y), z);
}
FUNCTION float norm3df(float x, float y, float z)
{
    return __builtin_hypotf(__builtin_hypotf(x, y), z);
}
FUNCTION bool isnan(float x) { return x != x; }
FUNCTION bool isinf(float x) { return __builtin_isinf(x); }
FUNCTION bool isfinite(double x) { return __builtin_isfinite(x); }
FUNCTION bool isfinite(float x) { return __builtin_isfinite(x); }
FUNCTION bool signbit(double x) { return __builtin_signbit(x); }
FUNCTION bool signbit(float x) { return __builtin_signbit(x); }
FUNCTION long labs(long x) { return x < 0 ? -x : x; }
FUNCTION long long llabs(long long x) { return x < 0 ? -x : x; }
FUNCTION long abs(long x) { return x < 0 ? -x : x; }
FUNCTION long long abs(long long x) { return x < 0 ? -x : x; }
FUNCTION float abs(float x) { return __builtin_fabsf(x); }
FUNCTION double abs(double x) { return __builtin_fabs(x); }
FUNCTION float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
FUNCTION float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
FUNCTION double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
FUNCTION bool isnan(double x) { return x != x; }
FUNCTION bool isinf(double x) { return __builtin_isinf(x); }
FUNCTION int abs(int x) { return x < 0 ? -x : x; }
// As CUDA has them: also of a signed and an unsigned number, as the unsigned type.
#define SMALLEST(type, a_type, b_type)                                          \
    FUNCTION type min(a_type a, b_type b) { return (type)b < (type)a ? b : a; } \
    FUNCTION type max(a_type a, b_type b) { return (type)a < (type)b ? b : a; }
#define SMALLEST_OF(type)                                 \
    SMALLEST(type, type, type)                            \
    SMALLEST(unsigned type, unsigned type, unsigned type) \
    SMALLEST(unsigned type, type, unsigned type)          \
    SMALLEST(unsigned type, unsigned type, type)
SMALLEST_OF(int)
SMALLEST_OF(long)
SMALLEST_OF(long long)
#undef SMALLEST_OF
#undef SMALLEST
FUNCTION float min(float a, float b) { return __builtin_fminf(a, b); }
FUNCTION float max(float a, float b) { return __builtin_fmaxf(a, b); }
FUNCTION double min(double a, double b) { return __builtin_fmin(a, b); }
FUNCTION double max(double a, double b) { return __builtin_fmax(a, b); }
FUNCTION double min(float a, double b) { return __builtin_fmin(a, b); }
FUNCTION double max(float a, double b) { return __builtin_fmax(a, b); }
FUNCTION double min(double a, float b) { return __builtin_fmin(a, b); }
FUNCTION double max(double a, float b) { return __builtin_fmax(a, b); }
