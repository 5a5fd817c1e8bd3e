// The dialect on a GPU: names of simt.h, which includes this, as CUDA's functions and PTX.
#pragma once

#define FUNCTION static __device__ __forceinline__
#define FUNCTION_MEMBER __device__ __forceinline__
#define SLOW_FUNCTION static __device__ __noinline__
#define SIMT_VECTOR_BYTES 16      // widest access of a thread
#define SIMT_BLOCKS_IN_ORDER 1    // a block starts after all blocks of lower index
#define SIMT_ACCUMULATOR_BYTES 64 // most bytes of independent accumulators a thread
// Shared memory that a block of any device of the architecture may have.
#define SIMT_SHARED_BYTES                                      \
    (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200 ? 227 * 1024 \
     : __CUDA_ARCH__ >= 800                       ? 99 * 1024  \
                                                  : 64 * 1024)
#define UNROLL _Pragma("unroll")
#define NO_UNROLL _Pragma("unroll 1")
#ifndef SIMT_MIN_BLOCKS
#define SIMT_MIN_BLOCKS 1
#endif

// Lets the next launch of the call begin as soon as all blocks of this one run (programmatic
// dependent launch). That launch calls wait_for_launch_before() where it depends on the end of this
// one.
FUNCTION void let_next_launch_begin()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}
FUNCTION void wait_for_launch_before()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

#define KERNEL_BEGINNING_WITH(begin, name, args_t, shared_t)                              \
    FUNCTION void name##_body(const args_t& a, shared_t& s);                              \
    extern "C" {                                                                          \
    __device__ u32 name##_layout[2] = {sizeof(args_t), sizeof(shared_t)};                 \
    __global__ void __launch_bounds__(SIMT_THREADS, SIMT_MIN_BLOCKS) name(const args_t a) \
    {                                                                                     \
        extern __shared__ __align__(16) u8 simt_shared[];                                 \
        begin;                                                                            \
        name##_body(a, *reinterpret_cast<shared_t*>(simt_shared));                        \
    }                                                                                     \
    }                                                                                     \
    FUNCTION void name##_body(const args_t& a, shared_t& s)
#define KERNEL(name, args_t, shared_t)                                                       \
    KERNEL_BEGINNING_WITH((let_next_launch_begin(), wait_for_launch_before()), name, args_t, \
                          shared_t)
#define KERNEL_AHEAD(name, args_t, shared_t) \
    KERNEL_BEGINNING_WITH(let_next_launch_begin(), name, args_t, shared_t)
#define KERNEL_BETWEEN(name, args_t, shared_t) \
    KERNEL_BEGINNING_WITH((void)0, name, args_t, shared_t)

FUNCTION u32 thread_id() { return threadIdx.x; }
FUNCTION u32 block_id() { return blockIdx.x; }
FUNCTION u32 block_count() { return gridDim.x; }

#define block_sync() __syncthreads()
// A barrier that returns for how many threads of the block `yes` is true. A CPU counts in
// SIMT_WARPS words of shared memory that nothing else uses meanwhile.
#define block_sync_count(yes, words) ((void)(words), static_cast<u32>(__syncthreads_count(yes)))
#define warp_sync(mask) __syncwarp(mask)
FUNCTION void spin_pause() { __nanosleep(20); }
FUNCTION void spin_pause_for(u32 nanoseconds) { __nanosleep(nanoseconds); }

FUNCTION u32 warp_shuffle_word(u32 mask, u32 word, u32 lane)
{
    return __shfl_sync(mask, word, static_cast<int>(lane));
}
// Returns the word of the lane whose number differs in the bits of `bits`, by an instruction that
// needs no lane's number.
FUNCTION u32 warp_exchange_word(u32 mask, u32 word, u32 bits)
{
    return __shfl_xor_sync(mask, word, static_cast<int>(bits));
}
FUNCTION u32 warp_ballot(u32 mask, bool vote) { return __ballot_sync(mask, vote); }
FUNCTION u32 warp_match(u32 mask, u32 value) { return __match_any_sync(mask, value); }
// Returns the sum of the lanes' words, and the bits that are set in one of them, in each lane.
FUNCTION u32 warp_sum_word(u32 mask, u32 word)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(mask, word);
#else
    for (u32 d = 1; d < SIMT_WARP; d *= 2) word += warp_exchange_word(mask, word, d);
    return word;
#endif
}
FUNCTION u32 warp_or_word(u32 mask, u32 word)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(mask, word);
#else
    for (u32 d = 1; d < SIMT_WARP; d *= 2) word |= warp_exchange_word(mask, word, d);
    return word;
#endif
}
// Returns the mask of lanes whose value agrees with the caller's in `bit`. Inline assembly, because
// the compiler would compute the predicate twice.
template <u32 bit>
FUNCTION u32 warp_ballot_same(u32 mask, u32 value)
{
    u32 lanes;
    asm volatile("{.reg .pred set;\n"
                 ".reg .b32 one;\n"
                 "and.b32 one, %1, %2;\n"
                 "setp.ne.b32 set, one, 0;\n"
                 "vote.sync.ballot.b32 %0, set, %3;\n"
                 "@!set not.b32 %0, %0;}"
                 : "=r"(lanes)
                 : "r"(value), "n"(bit), "r"(mask));
    return lanes;
}

// Accesses of one word by one instruction, a load or a store with an order and a scope; its operand
// is of a kind (h, r, l: 16, 32, 64 bits).
#define SIMT_LOAD(name, word, instruction, kind)                                  \
    FUNCTION word name(const word* p)                                             \
    {                                                                             \
        word v;                                                                   \
        asm volatile(instruction " %0, [%1];" : "=" kind(v) : "l"(p) : "memory"); \
        return v;                                                                 \
    }
#define SIMT_STORE(name, word, instruction, kind)                            \
    FUNCTION void name(word* p, word v)                                      \
    {                                                                        \
        asm volatile(instruction " [%0], %1;" ::"l"(p), kind(v) : "memory"); \
    }

// Relaxed, device-wide accesses: the word itself is the message, and orders no other access.
SIMT_LOAD(load_relaxed, u64, "ld.relaxed.gpu.global.u64", "l")
SIMT_LOAD(load_relaxed, u32, "ld.relaxed.gpu.global.u32", "r")
SIMT_LOAD(load_relaxed, u16, "ld.relaxed.gpu.global.u16", "h")
SIMT_STORE(store_relaxed, u64, "st.relaxed.gpu.global.u64", "l")
SIMT_STORE(store_relaxed, u32, "st.relaxed.gpu.global.u32", "r")
FUNCTION u64 atomic_add(u64* p, u64 v) { return atomicAdd(p, v); }
FUNCTION u32 atomic_add(u32* p, u32 v) { return atomicAdd(p, v); }
FUNCTION f32 atomic_add(f32* p, f32 v) { return atomicAdd(p, v); }
FUNCTION f64 atomic_add(f64* p, f64 v) { return atomicAdd(p, v); }
// Atomics on the block's shared storage; the first returns the previous value.
FUNCTION u32 shared_add(u32* p, u32 v) { return atomicAdd(p, v); }
FUNCTION void shared_add(u64* p, u64 v) { atomicAdd(p, v); }
FUNCTION void shared_add(f32* p, f32 v) { atomicAdd(p, v); }
FUNCTION void shared_add(f64* p, f64 v) { atomicAdd(p, v); }
FUNCTION void atomic_max(u64* p, u64 v) { atomicMax(p, v); }
FUNCTION void shared_or(u32* p, u32 v) { atomicOr(p, v); }
typedef u16 least_word; // the narrowest that the device exchanges
// Writes `to` where `from` is, and returns what was there.
FUNCTION u16 atomic_exchange_if(u16* p, u16 from, u16 to) { return atomicCAS(p, from, to); }
FUNCTION u32 atomic_exchange_if(u32* p, u32 from, u32 to) { return atomicCAS(p, from, to); }
FUNCTION u64 atomic_exchange_if(u64* p, u64 from, u64 to) { return atomicCAS(p, from, to); }
// Orders the thread's earlier writes before its later ones, for all threads of the device.
FUNCTION void device_fence() { __threadfence(); }
// Prefetches the 128 bytes of memory around p to the L2 cache.
FUNCTION void prefetch_l2(const void* p)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(p)));
}

// Hides a value from the compiler, so that nothing known about it is used later.
FUNCTION void unknown_value(u32& v) { asm volatile("" : "+r"(v)); }
FUNCTION void unknown_value(f32& v) { asm("" : "+f"(v)); }
FUNCTION void unknown_value(f64& v) { asm("" : "+d"(v)); }

// Computes a & b & c in one instruction; the compiler would use two.
FUNCTION u32 and_of_three(u32 a, u32 b, u32 c)
{
    u32 r;
    asm("lop3.b32 %0, %1, %2, %3, 0x80;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}

// Returns sum + a * b and sum - a * b, rounded once. A compiler chooses which products and sums of
// an expression it fuses, by what is around them. A kernel that has to compute the bits of another
// leaves no choice: its sums with products are these functions.
FUNCTION f32 multiply_add(f32 sum, f32 a, f32 b) { return fmaf(a, b, sum); }
FUNCTION f64 multiply_add(f64 sum, f64 a, f64 b) { return fma(a, b, sum); }
FUNCTION f32 multiply_subtract(f32 sum, f32 a, f32 b) { return fmaf(a, -b, sum); }
FUNCTION f64 multiply_subtract(f64 sum, f64 a, f64 b) { return fma(a, -b, sum); }
// Returns the product rounded to f64, which is never contracted with an addition.
FUNCTION f64 rounded_product(f64 a, f64 b) { return __dmul_rn(a, b); }
// The larger number; NaN if one of them is, which fmaxf passes over.
FUNCTION f32 larger_or_nan(f32 a, f32 b)
{
#if __CUDA_ARCH__ >= 800
    f32 r;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
#else
    return b > a || b != b ? b : a;
#endif
}

// Fast reciprocal and square root, within 2 units in the last place: in f32 as the hardware
// approximates them, in f64 refined by Newton's method. Not for infinities or numbers below 1e-300;
// 0 has no reciprocal.
FUNCTION f32 fast_reciprocal(f32 v)
{
    f32 r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
}
FUNCTION f64 fast_reciprocal(f64 v)
{
    f64 r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(v));
    r = multiply_add(r, r, multiply_subtract(1.0, v, r));
    return multiply_add(r, r, multiply_subtract(1.0, v, r));
}
FUNCTION f32 fast_root(f32 v)
{
    f32 r;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
}
FUNCTION f64 fast_root(f64 v)
{
    f64 r;
    v = v > 1e-300 ? v : 1e-300;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(v));
    r = multiply_add(r, 0.5 * r, multiply_subtract(1.0, v * r, r));
    const f64 root = v * r;
    return multiply_add(root, 0.5 * r, multiply_subtract(v, root, root));
}
// Returns 2^23 plus the unsigned number in the low or high half of a word. It converts 16-bit
// numbers to float without the conversion instruction, whose rate is an eighth of that of others.
template <bool HIGH>
FUNCTION f32 above_two_to_23(u32 word)
{
    return __uint_as_float(__byte_perm(word, 0x4b000000u, HIGH ? 0x7632u : 0x7610u));
}
FUNCTION u32 bits_of(f32 v) { return __float_as_uint(v); }
FUNCTION u64 bits_of(f64 v) { return static_cast<u64>(__double_as_longlong(v)); }
FUNCTION f32 f32_of(u32 v) { return __uint_as_float(v); }
FUNCTION f64 f64_of(u64 v) { return __longlong_as_double(static_cast<i64>(v)); }
FUNCTION u32 first_set(u32 v) { return static_cast<u32>(__ffs(static_cast<int>(v))) - 1u; }
FUNCTION u32 last_set(u32 v) { return 31u - static_cast<u32>(__clz(static_cast<int>(v))); }
FUNCTION u32 count_set(u32 v) { return static_cast<u32>(__popc(static_cast<int>(v))); }
FUNCTION u64 multiply_high(u64 a, u64 b) { return __umul64hi(a, b); }

// Loads sixteen aligned bytes that the kernel does not write. CACHING: 0 as the hardware chooses, 1
// through the read-only path, 2 the same, without allocation in L1 and with a prefetch of the whole
// 128-byte line to L2.
struct alignas(16) bytes16 {
    u32 word[4];
};
template <int CACHING>
FUNCTION bytes16 load_bytes16(const void* p)
{
    bytes16 v;
    if constexpr (CACHING == 0)
        v = *static_cast<const bytes16*>(p);
    else if constexpr (CACHING == 1)
        asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
                     : "l"(p));
    else
        asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
                     : "l"(p));
    return v;
}
