// Plain CUDA C on the CPU: defines CUDA's names in terms of simt.h, so that a user's CUDA kernel
// runs, and can be debugged, without a GPU. Not included on CUDA.
//
// The threads of a block are fibres of one operating-system thread, so that shared storage is a
// thread_local variable. The names of simt.h stay in a namespace, because a user's source may
// define the same names. A source that uses the collectives, which are written in these names, has
// them globally.
#pragma once
namespace cubc_simt
{
#include "simt.h"
} // namespace cubc_simt
namespace cubc_cuda
{
using namespace cubc_simt;
}
#include "entry.h"
#if defined(SIMT_COLLECTIVES)
using namespace cubc_simt;
#else
#undef FUNCTION
#undef FUNCTION_MEMBER
#undef KERNEL
#undef KERNEL_AHEAD
#undef UNROLL
#undef NO_UNROLL
#undef FULL_WARP
#undef block_sync
#undef warp_sync
#undef warp_shuffle_word
#undef warp_exchange_word
#undef warp_ballot
#undef warp_match
#endif

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static thread_local
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

typedef decltype(sizeof 0) size_t;

// ---- indices ------------------------------------------------------------------------------------
struct uint3 {
    unsigned x, y, z;
};
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct dim3 {
    unsigned x = 1, y = 1, z = 1;
};

namespace cubc_cuda
{
static thread_local uint3 grid_dim, block_dim; // the current launch
static thread_local void* dynamic_shared;

static inline void begin(const cubc_entry::frame* f, void* shared)
{
    grid_dim = {f->grid[0], f->grid[1], f->grid[2]};
    block_dim = {f->block[0], f->block[1], f->block[2]};
    dynamic_shared = shared;
}
static inline uint3 place(u32 index, const uint3& extent)
{
    if (extent.y * extent.z == 1) return {index, 0, 0};
    return {index % extent.x, index / extent.x % extent.y, index / extent.x / extent.y};
}
static inline uint3 thread_place() { return place(simt->thread_id(), block_dim); }
static inline uint3 block_place() { return place(simt->block_id(), grid_dim); }
static inline dim3 of(const uint3& extent) { return {extent.x, extent.y, extent.z}; }
} // namespace cubc_cuda

#define threadIdx (cubc_cuda::thread_place())
#define blockIdx (cubc_cuda::block_place())
#define blockDim (cubc_cuda::of(cubc_cuda::block_dim))
#define gridDim (cubc_cuda::of(cubc_cuda::grid_dim))
#define warpSize 32

// ---- barriers and warps -------------------------------------------------------------------------
#if defined(SIMT_COLLECTIVES)
#define __syncthreads() block_sync()
#else
#define __syncthreads() cubc_cuda::simt->block_sync(__FILE__, __LINE__)
#endif
#define __syncwarp(...) cubc_cuda::warp_barrier{__FILE__, __LINE__}.wait(__VA_ARGS__)
#define __shfl_sync(...) cubc_cuda::shuffle(__FILE__, __LINE__, __VA_ARGS__)
#define __shfl_up_sync(...) cubc_cuda::shuffle_up(__FILE__, __LINE__, __VA_ARGS__)
#define __shfl_down_sync(...) cubc_cuda::shuffle_down(__FILE__, __LINE__, __VA_ARGS__)
#define __shfl_xor_sync(...) cubc_cuda::shuffle_xor(__FILE__, __LINE__, __VA_ARGS__)
#define __ballot_sync(...) cubc_cuda::ballot(__FILE__, __LINE__, __VA_ARGS__)
#define __any_sync(...) (cubc_cuda::ballot(__FILE__, __LINE__, __VA_ARGS__) != 0)
#define __all_sync(mask, vote) (__ballot_sync(mask, !(vote)) == 0)

namespace cubc_cuda
{
static inline int lane() { return static_cast<int>(simt->thread_id() % 32); }
static inline int first_lane(int width) { return lane() & ~(width - 1); }

struct warp_barrier {
    const char* file;
    int line;
    void wait(u32 mask = 0xffffffffu) const
    {
        u8 mine = 0, all[32];
        simt->warp_exchange(mask, &mine, 1, all, file, line);
    }
};
template <class T>
T exchange(const char* file, int line, u32 mask, T value, int from)
{
    alignas(T) unsigned char all[32 * sizeof(T)];
    simt->warp_exchange(mask, &value, sizeof(T), all, file, line);
    return reinterpret_cast<T*>(all)[from];
}
template <class T>
T shuffle(const char* file, int line, u32 mask, T value, int from, int width = 32)
{
    return exchange(file, line, mask, value, first_lane(width) + (from & (width - 1)));
}
template <class T>
T shuffle_up(const char* file, int line, u32 mask, T value, u32 by, int width = 32)
{
    const int from = lane() - static_cast<int>(by);
    return exchange(file, line, mask, value, from < first_lane(width) ? lane() : from);
}
template <class T>
T shuffle_down(const char* file, int line, u32 mask, T value, u32 by, int width = 32)
{
    const int from = lane() + static_cast<int>(by);
    return exchange(file, line, mask, value, from >= first_lane(width) + width ? lane() : from);
}
template <class T>
T shuffle_xor(const char* file, int line, u32 mask, T value, int bits, int width = 32)
{
    const int from = lane() ^ bits;
    return exchange(file, line, mask, value, from >= first_lane(width) + width ? lane() : from);
}
static inline u32 ballot(const char* file, int line, u32 mask, bool vote)
{
    u8 mine = vote, all[32];
    u32 votes = 0;
    simt->warp_exchange(mask, &mine, 1, all, file, line);
    for (u32 i = 0; i < 32; i++)
        if (mask >> i & 1u) votes |= static_cast<u32>(all[i] & 1u) << i;
    return votes;
}
} // namespace cubc_cuda

// ---- atomics and fences -------------------------------------------------------------------------
namespace cubc_cuda
{
template <class T, class F>
T update(T* p, F next)
{
    T old, wanted;
    __atomic_load(p, &old, __ATOMIC_RELAXED);
    do wanted = next(old);
    while (!__atomic_compare_exchange(p, &old, &wanted, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}
template <class T>
struct same { // keeps an argument from taking part in the deduction of T
    typedef T type;
};
} // namespace cubc_cuda
#define ATOMIC(name, expression)                                                      \
    template <class T>                                                                \
    static inline T name(T* p, typename cubc_cuda::same<T>::type b)                   \
    {                                                                                 \
        return cubc_cuda::update(p, [b](T a) { return static_cast<T>(expression); }); \
    }
ATOMIC(atomicAdd, a + b)
ATOMIC(atomicSub, a - b)
ATOMIC(atomicExch, (void(a), b))
ATOMIC(atomicMin, b < a ? b : a)
ATOMIC(atomicMax, a < b ? b : a)
ATOMIC(atomicAnd, a& b)
ATOMIC(atomicOr, a | b)
ATOMIC(atomicXor, a ^ b)
ATOMIC(atomicInc, a >= b ? T(0) : a + 1)
ATOMIC(atomicDec, a == 0 || a > b ? b : a - 1)
#undef ATOMIC
template <class T>
static inline T atomicCAS(T* p, typename cubc_cuda::same<T>::type expected,
                          typename cubc_cuda::same<T>::type wanted)
{
    return cubc_cuda::update(p, [=](T a) { return a == expected ? wanted : a; });
}
static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() { __threadfence(); }
static inline void __nanosleep(unsigned) { cubc_cuda::simt->spin_pause(); }
template <class T>
static inline T __ldg(const T* p)
{
    return *p;
}

// ---- vectors ------------------------------------------------------------------------------------
#define VECTORS(type, name)                                                                     \
    struct alignas(2 * sizeof(type)) name##2 { type x, y; };                                    \
    struct name##3 { type x, y, z; };                                                           \
    struct alignas(4 * sizeof(type) < 16 ? 4 * sizeof(type) : 16) name##4 { type x, y, z, w; }; \
    static inline name##2 make_##name##2(type x, type y) { return {x, y}; }                     \
    static inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }          \
    static inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
VECTORS(signed char, char)
VECTORS(unsigned char, uchar)
VECTORS(short, short)
VECTORS(unsigned short, ushort)
VECTORS(int, int)
VECTORS(long long, longlong)
VECTORS(unsigned long long, ulonglong)
VECTORS(float, float)
VECTORS(double, double)
#undef VECTORS
static inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
static inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return {x, y, z, w};
}

// ---- numbers ------------------------------------------------------------------------------------
extern "C" int printf(const char*, ...);
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
static inline int __clzll(long long x)
{
    return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64;
}
static inline int __float_as_int(float x) { return static_cast<int>(cubc_cuda::bits_of(x)); }
static inline unsigned __float_as_uint(float x) { return cubc_cuda::bits_of(x); }
static inline float __int_as_float(int x) { return cubc_cuda::f32_of(static_cast<unsigned>(x)); }
static inline float __uint_as_float(unsigned x) { return cubc_cuda::f32_of(x); }
static inline float __expf(float x) { return __builtin_expf(x); }
static inline float __logf(float x) { return __builtin_logf(x); }
static inline float __sinf(float x) { return __builtin_sinf(x); }
static inline float __cosf(float x) { return __builtin_cosf(x); }
static inline float __fdividef(float x, float y) { return x / y; }
#define BOTH(name)         \
    using cubc_cuda::name; \
    using cubc_cuda::name##f;
BOTH(sqrt)
BOTH(cbrt)
BOTH(exp)
BOTH(exp2)
BOTH(expm1)
BOTH(log)
BOTH(log2)
BOTH(log10)
BOTH(log1p)
BOTH(sin)
BOTH(cos)
BOTH(tan)
BOTH(asin)
BOTH(acos)
BOTH(atan)
BOTH(sinh)
BOTH(cosh)
BOTH(tanh)
BOTH(asinh)
BOTH(acosh)
BOTH(atanh)
BOTH(erf)
BOTH(erfc)
BOTH(lgamma)
BOTH(tgamma)
BOTH(exp10)
BOTH(logb)
BOTH(fabs)
BOTH(floor)
BOTH(ceil)
BOTH(trunc)
BOTH(rint)
BOTH(round)
BOTH(nearbyint)
BOTH(pow)
BOTH(atan2)
BOTH(hypot)
BOTH(fmin)
BOTH(fmax)
BOTH(fmod)
BOTH(fdim)
BOTH(remainder)
BOTH(copysign)
BOTH(nextafter)
#undef BOTH
using cubc_cuda::abs;
using cubc_cuda::cospi;
using cubc_cuda::cospif;
using cubc_cuda::fma;
using cubc_cuda::fmaf;
using cubc_cuda::ilogb;
using cubc_cuda::ilogbf;
using cubc_cuda::isfinite;
using cubc_cuda::isinf;
using cubc_cuda::isnan;
using cubc_cuda::labs;
using cubc_cuda::ldexp;
using cubc_cuda::ldexpf;
using cubc_cuda::llabs;
using cubc_cuda::llrint;
using cubc_cuda::llrintf;
using cubc_cuda::llround;
using cubc_cuda::llroundf;
using cubc_cuda::lrint;
using cubc_cuda::lrintf;
using cubc_cuda::lround;
using cubc_cuda::lroundf;
using cubc_cuda::max;
using cubc_cuda::min;
using cubc_cuda::norm3d;
using cubc_cuda::norm3df;
using cubc_cuda::rcbrt;
using cubc_cuda::rcbrtf;
using cubc_cuda::rhypot;
using cubc_cuda::rhypotf;
using cubc_cuda::rsqrt;
using cubc_cuda::rsqrtf;
using cubc_cuda::scalbn;
using cubc_cuda::scalbnf;
using cubc_cuda::signbit;
using cubc_cuda::sinpi;
using cubc_cuda::sinpif;
#include "plain_math.h"
