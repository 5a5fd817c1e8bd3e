// CUDA's mathematical functions with pointers, and its intrinsics, on the CPU. The
// rounding modes of the intrinsics are the CPU's own: to nearest. Part of cuda.h.
#pragma once

static inline double frexp(double x, int* n) { return __builtin_frexp(x, n); }
static inline float frexpf(float x, int* n) { return __builtin_frexpf(x, n); }
static inline double modf(double x, double* whole) { return __builtin_modf(x, whole); }
static inline float modff(float x, float* whole) { return __builtin_modff(x, whole); }
static inline void sincos(double x, double* s, double* c)
{
    *s = __builtin_sin(x);
    *c = __builtin_cos(x);
}
static inline void sincosf(float x, float* s, float* c)
{
    *s = __builtin_sinf(x);
    *c = __builtin_cosf(x);
}

// ---- intrinsics ---------------------------------------------------------------------------------
static inline float __powf(float x, float y) { return __builtin_powf(x, y); }
static inline float __log2f(float x) { return __builtin_log2f(x); }
static inline float __log10f(float x) { return __builtin_log10f(x); }
static inline float __exp10f(float x) { return exp10f(x); }
static inline float __tanf(float x) { return __builtin_tanf(x); }
static inline void __sincosf(float x, float* s, float* c) { sincosf(x, s, c); }
static inline float __saturatef(float x) { return x > 0 ? x < 1 ? x : 1.0f : 0.0f; }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fsub_rn(float a, float b) { return a - b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
static inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline float __frcp_rn(float x) { return 1 / x; }
static inline float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
static inline float __frsqrt_rn(float x) { return 1 / __builtin_sqrtf(x); }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
static inline double __drcp_rn(double x) { return 1 / x; }
static inline double __dsqrt_rn(double x) { return __builtin_sqrt(x); }

// Conversions saturate, and give 0 of NaN.
template <class To, class From>
static inline To cubc_cuda_saturated(From x, To low, To high)
{
    if (x != x) return 0;
    if (x <= static_cast<From>(low)) return low;
    return x >= static_cast<From>(high) ? high : static_cast<To>(x);
}
#define CONVERSIONS(name, from, to, low, high)                                                  \
    static inline to name##_rn(from x) { return cubc_cuda_saturated<to>(rint(x), low, high); }  \
    static inline to name##_rz(from x) { return cubc_cuda_saturated<to>(trunc(x), low, high); } \
    static inline to name##_rd(from x) { return cubc_cuda_saturated<to>(floor(x), low, high); } \
    static inline to name##_ru(from x) { return cubc_cuda_saturated<to>(ceil(x), low, high); }
#define CONVERSIONS_OF(from, name)                                                         \
    CONVERSIONS(__##name##2int, from, int, -__INT_MAX__ - 1, __INT_MAX__)                  \
    CONVERSIONS(__##name##2uint, from, unsigned, 0u, 2u * __INT_MAX__ + 1)                 \
    CONVERSIONS(__##name##2ll, from, long long, -__LONG_LONG_MAX__ - 1, __LONG_LONG_MAX__) \
    CONVERSIONS(__##name##2ull, from, unsigned long long, 0ull, 2ull * __LONG_LONG_MAX__ + 1)
CONVERSIONS_OF(float, float)
CONVERSIONS_OF(double, double)
#undef CONVERSIONS_OF
#undef CONVERSIONS
static inline float __int2float_rn(int x) { return static_cast<float>(x); }
static inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
static inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
static inline float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
static inline float __double2float_rn(double x) { return static_cast<float>(x); }
static inline double __int2double_rn(int x) { return x; }
static inline double __uint2double_rn(unsigned x) { return x; }
static inline double __ll2double_rn(long long x) { return static_cast<double>(x); }
static inline double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }
static inline long long __double_as_longlong(double x)
{
    long long bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline double __longlong_as_double(long long bits)
{
    double x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}
static inline double __hiloint2double(int high, int low)
{
    const unsigned long long upper = static_cast<unsigned>(high),
                             lower = static_cast<unsigned>(low);
    return __longlong_as_double(static_cast<long long>(upper << 32 | lower));
}
static inline int __double2hiint(double x)
{
    return static_cast<int>(__double_as_longlong(x) >> 32);
}
static inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }

static inline unsigned __brev(unsigned x)
{
    x = x >> 1 & 0x55555555u | (x & 0x55555555u) << 1;
    x = x >> 2 & 0x33333333u | (x & 0x33333333u) << 2;
    x = x >> 4 & 0x0f0f0f0fu | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
static inline unsigned long long __brevll(unsigned long long x)
{
    const unsigned long long low = __brev(static_cast<unsigned>(x));
    return low << 32 | __brev(static_cast<unsigned>(x >> 32));
}
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector)
{
    const unsigned long long bytes = static_cast<unsigned long long>(y) << 32 | x;
    unsigned found = 0;
    for (int k = 0; k < 4; k++) {
        const unsigned which = selector >> 4 * k & 15u;
        unsigned byte = static_cast<unsigned>(bytes >> 8 * (which & 7u)) & 255u;
        if (which & 8u) byte = byte & 128u ? 255u : 0u;
        found |= byte << 8 * k;
    }
    return found;
}
static inline int __mulhi(int a, int b)
{
    return static_cast<int>(static_cast<long long>(a) * b >> 32);
}
static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
static inline long long __mul64hi(long long a, long long b)
{
    return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
static inline int __mul24(int a, int b)
{
    const long long x = static_cast<int>(static_cast<unsigned>(a) << 8) >> 8;
    return static_cast<int>(x * (static_cast<int>(static_cast<unsigned>(b) << 8) >> 8));
}
static inline unsigned __umul24(unsigned a, unsigned b)
{
    return (a & 0xffffffu) * (b & 0xffffffu);
}
static inline int __hadd(int a, int b)
{
    return static_cast<int>((static_cast<long long>(a) + b) >> 1);
}
static inline int __rhadd(int a, int b)
{
    return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1);
}
static inline unsigned __sad(int a, int b, unsigned c)
{
    return c + (a < b ? static_cast<unsigned>(b) - static_cast<unsigned>(a)
                      : static_cast<unsigned>(a) - static_cast<unsigned>(b));
}
static inline unsigned __usad(unsigned a, unsigned b, unsigned c)
{
    return c + (a < b ? b - a : a - b);
}
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by)
{
    const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
    return static_cast<unsigned>(both << (by & 31u) >> 32);
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by)
{
    const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
    return static_cast<unsigned>(both >> (by & 31u));
}
