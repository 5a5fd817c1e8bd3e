// The dialect on the CPU: names of simt.h, which includes this, in plain C++. Threads of a block
// are fibres, which the core runs by turns; a block of one thread has none.
#pragma once

#define FUNCTION static inline __attribute__((always_inline))
#define FUNCTION_MEMBER inline __attribute__((always_inline))
#define SLOW_FUNCTION static __attribute__((noinline))
#define SIMT_VECTOR_BYTES 0            // plain loops: the compiler vectorises them
#define SIMT_BLOCKS_IN_ORDER 0         // the seeded scheduler shuffles them
#define SIMT_ACCUMULATOR_BYTES 4096    // vector registers, if the loops are vectorised
#define SIMT_SHARED_BYTES (227 * 1024) // SHARED_BYTES of cpu_info.c
#define UNROLL
#define NO_UNROLL

// Functions of the core for a kernel on the CPU; the same struct as simt_api in
// csrc/device/cpu/simt.h. The loader fills in `simt` before the first launch and checks
// `simt_size`.
struct simt_api {
    u64 size;
    u32 (*thread_id)(void);
    u32 (*block_id)(void);
    u32 (*block_count)(void);
    void (*block_sync)(const char* file, int line);
    // Parks the calling lane until every lane of `mask` has called it, then gives it the value of
    // each lane (`bytes` each, lane i at all + i * bytes; lanes outside the mask: undefined).
    void (*warp_exchange)(u32 mask, const void* mine, u32 bytes, void* all, const char* file,
                          int line);
    void (*spin_pause)(void);
};
extern "C" {
__attribute__((visibility("default"))) const simt_api* simt = nullptr;
__attribute__((visibility("default"))) u64 simt_size = sizeof(simt_api);
}

#define KERNEL(name, args_t, shared_t)                                                   \
    static void name##_body(const args_t& a, shared_t& s);                               \
    extern "C" {                                                                         \
    __attribute__((visibility("default"))) u32 name##_layout[2] = {sizeof(args_t),       \
                                                                   sizeof(shared_t)};    \
    __attribute__((visibility("default"))) void name(const void* args, void* shared)     \
    {                                                                                    \
        name##_body(*static_cast<const args_t*>(args), *static_cast<shared_t*>(shared)); \
    }                                                                                    \
    }                                                                                    \
    static void name##_body(const args_t& a, shared_t& s)

#define KERNEL_AHEAD KERNEL
#define KERNEL_BETWEEN KERNEL
FUNCTION void let_next_launch_begin() {}
FUNCTION void wait_for_launch_before() {}

FUNCTION u32 block_id() { return simt->block_id(); }
FUNCTION u32 block_count() { return simt->block_count(); }
FUNCTION void spin_pause() { simt->spin_pause(); }
FUNCTION void spin_pause_for(u32) { simt->spin_pause(); }

// A block of one thread needs no scheduler and is ordinary, vectorisable C++.
#if SIMT_SINGLE_THREAD
FUNCTION u32 thread_id() { return 0; }
#define block_sync() ((void)0)
#define warp_sync(mask) ((void)(mask))
FUNCTION u32 warp_shuffle_word(u32, u32 word, u32) { return word; }
FUNCTION u32 warp_exchange_word(u32, u32 word, u32) { return word; }
FUNCTION u32 warp_ballot(u32, bool vote) { return vote ? 1u : 0u; }
FUNCTION u32 warp_match(u32, u32) { return 1u; }
FUNCTION u32 warp_sum_word(u32, u32 word) { return word; }
FUNCTION u32 warp_or_word(u32, u32 word) { return word; }
FUNCTION u32 block_sync_count(bool yes, u32*) { return yes ? 1u : 0u; }
#else
FUNCTION u32 thread_id() { return simt->thread_id(); }
#define block_sync() simt->block_sync(__FILE__, __LINE__)
#define warp_sync(mask) simt_warp_sync((mask), __FILE__, __LINE__)
#define warp_shuffle_word(mask, word, lane) \
    simt_shuffle_word((mask), (word), (lane), __FILE__, __LINE__)
#define warp_exchange_word(mask, word, bits) \
    simt_shuffle_word((mask), (word), lane_id() ^ (bits), __FILE__, __LINE__)
#define warp_ballot(mask, vote) simt_ballot((mask), (vote), __FILE__, __LINE__)
#define warp_match(mask, value) simt_match((mask), (value), __FILE__, __LINE__)
#define warp_sum_word(mask, word) simt_sum_word((mask), (word), __FILE__, __LINE__)
#define warp_or_word(mask, word) simt_or_word((mask), (word), __FILE__, __LINE__)
#define block_sync_count(yes, words) simt_sync_count((yes), (words), __FILE__, __LINE__)
static inline void simt_warp_sync(u32 mask, const char* file, int line)
{
    u8 mine = 0, all[SIMT_WARP];
    simt->warp_exchange(mask, &mine, 1, all, file, line);
}
static inline u32 simt_shuffle_word(u32 mask, u32 word, u32 lane, const char* file, int line)
{
    u32 all[SIMT_WARP];
    simt->warp_exchange(mask, &word, 4, all, file, line);
    return all[lane % SIMT_WARP];
}
static inline u32 simt_ballot(u32 mask, bool vote, const char* file, int line)
{
    u8 mine = vote, all[SIMT_WARP];
    simt->warp_exchange(mask, &mine, 1, all, file, line);
    u32 votes = 0;
    for (u32 i = 0; i < SIMT_WARP; i++)
        if (mask >> i & 1u) votes |= static_cast<u32>(all[i] & 1u) << i;
    return votes;
}
static inline u32 simt_match(u32 mask, u32 value, const char* file, int line)
{
    u32 all[SIMT_WARP], same = 0;
    simt->warp_exchange(mask, &value, 4, all, file, line);
    for (u32 i = 0; i < SIMT_WARP; i++)
        if ((mask >> i & 1u) && all[i] == value) same |= 1u << i;
    return same;
}
static inline u32 simt_sum_word(u32 mask, u32 word, const char* file, int line)
{
    u32 all[SIMT_WARP], sum = 0;
    simt->warp_exchange(mask, &word, 4, all, file, line);
    for (u32 i = 0; i < SIMT_WARP; i++)
        if (mask >> i & 1u) sum += all[i];
    return sum;
}
static inline u32 simt_or_word(u32 mask, u32 word, const char* file, int line)
{
    u32 all[SIMT_WARP], bits = 0;
    simt->warp_exchange(mask, &word, 4, all, file, line);
    for (u32 i = 0; i < SIMT_WARP; i++)
        if (mask >> i & 1u) bits |= all[i];
    return bits;
}
static inline u32 simt_sync_count(bool yes, u32* words, const char* file, int line)
{
    const u32 warp = thread_id() / SIMT_WARP, left = SIMT_THREADS - warp * SIMT_WARP;
    const u32 in_warp = simt_sum_word(left < SIMT_WARP ? (1u << left) - 1u : ~0u, yes, file, line);
    if (thread_id() % SIMT_WARP == 0) words[warp] = in_warp;
    (simt->block_sync)(file, line); // with the caller's place
    u32 sum = 0;
    for (u32 w = 0; w * SIMT_WARP < SIMT_THREADS; w++) sum += words[w];
    (simt->block_sync)(file, line);
    return sum;
}
#endif

template <u32 bit>
FUNCTION u32 warp_ballot_same(u32 mask, u32 value)
{
    const bool set = (value & bit) != 0;
    return warp_ballot(mask, set) ^ (set ? 0u : ~0u);
}

#include "cpu_math.h"

FUNCTION u64 load_relaxed(const u64* p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
FUNCTION u32 load_relaxed(const u32* p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
FUNCTION void store_relaxed(u32* p, u32 v) { __atomic_store_n(p, v, __ATOMIC_RELAXED); }
FUNCTION void store_relaxed(u64* p, u64 v) { __atomic_store_n(p, v, __ATOMIC_RELAXED); }
FUNCTION u64 atomic_add(u64* p, u64 v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
FUNCTION u32 atomic_add(u32* p, u32 v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }
template <class V>
FUNCTION V atomic_add_float(V* p, V v)
{
    V old, sum;
    __atomic_load(p, &old, __ATOMIC_RELAXED);
    do sum = old + v;
    while (!__atomic_compare_exchange(p, &old, &sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}
FUNCTION f32 atomic_add(f32* p, f32 v) { return atomic_add_float(p, v); }
FUNCTION f64 atomic_add(f64* p, f64 v) { return atomic_add_float(p, v); }
// Plain accesses suffice, because a block's threads take turns.
FUNCTION u32 shared_add(u32* p, u32 v) { return (*p += v) - v; }
FUNCTION void shared_add(u64* p, u64 v) { *p += v; }
FUNCTION void shared_add(f32* p, f32 v) { *p += v; }
FUNCTION void shared_add(f64* p, f64 v) { *p += v; }
FUNCTION void atomic_max(u64* p, u64 v)
{
    u64 held = load_relaxed(p);
    while (held < v &&
           !__atomic_compare_exchange_n(p, &held, v, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}
FUNCTION void shared_or(u32* p, u32 v) { *p |= v; }
typedef u8 least_word;
FUNCTION u8 load_relaxed(const u8* p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
FUNCTION u16 load_relaxed(const u16* p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
template <class V>
FUNCTION V atomic_exchange_if(V* p, V from, V to)
{
    __atomic_compare_exchange_n(p, &from, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return from;
}
FUNCTION void device_fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
FUNCTION u32 and_of_three(u32 a, u32 b, u32 c) { return a & b & c; }
FUNCTION void prefetch_l2(const void*) {}

template <class V>
FUNCTION void unknown_value(V& v)
{
    __asm__("" : "+m"(v));
}
// Without an instruction there is nothing to fuse, and the function of the C library is slow. Where
// there is one, g++ 12 uses it in vectors even with -ffp-contract=off.
#if defined(__FMA__) || defined(__FP_FAST_FMA) || defined(__ARM_FEATURE_FMA)
FUNCTION f32 multiply_add(f32 sum, f32 a, f32 b) { return __builtin_fmaf(a, b, sum); }
FUNCTION f64 multiply_add(f64 sum, f64 a, f64 b) { return __builtin_fma(a, b, sum); }
#else
FUNCTION f32 multiply_add(f32 sum, f32 a, f32 b) { return sum + a * b; }
FUNCTION f64 multiply_add(f64 sum, f64 a, f64 b) { return sum + a * b; }
#endif
FUNCTION f32 multiply_subtract(f32 sum, f32 a, f32 b) { return multiply_add(sum, -a, b); }
FUNCTION f64 multiply_subtract(f64 sum, f64 a, f64 b) { return multiply_add(sum, -a, b); }
FUNCTION f64 rounded_product(f64 a, f64 b)
{
    f64 product = a * b;
    unknown_value(product); // prevents the contraction to an FMA
    return product;
}

FUNCTION f32 larger_or_nan(f32 a, f32 b) { return b > a || b != b ? b : a; }

template <class V>
FUNCTION V fast_reciprocal(V v)
{
    return 1 / v;
}
template <class V>
FUNCTION V fast_root(V v)
{
    return sqrt(v);
}
FUNCTION u32 bits_of(f32 v)
{
    u32 b;
    __builtin_memcpy(&b, &v, 4);
    return b;
}
FUNCTION u64 bits_of(f64 v)
{
    u64 b;
    __builtin_memcpy(&b, &v, 8);
    return b;
}
FUNCTION f32 f32_of(u32 b)
{
    f32 v;
    __builtin_memcpy(&v, &b, 4);
    return v;
}
template <bool HIGH>
FUNCTION f32 above_two_to_23(u32 word)
{
    return f32_of(0x4b000000u | (HIGH ? word >> 16 : word & 0xffffu));
}
FUNCTION f64 f64_of(u64 b)
{
    f64 v;
    __builtin_memcpy(&v, &b, 8);
    return v;
}
FUNCTION u32 first_set(u32 v) { return static_cast<u32>(__builtin_ctz(v)); }
FUNCTION u32 last_set(u32 v) { return 31u - static_cast<u32>(__builtin_clz(v)); }
FUNCTION u32 count_set(u32 v) { return static_cast<u32>(__builtin_popcount(v)); }
__extension__ typedef unsigned __int128 u128;
FUNCTION u64 multiply_high(u64 a, u64 b)
{
    return static_cast<u64>(static_cast<u128>(a) * b >> 64);
}

struct alignas(16) bytes16 {
    u32 word[4];
};
template <int CACHING>
FUNCTION bytes16 load_bytes16(const void* p)
{
    return *static_cast<const bytes16*>(p);
}
