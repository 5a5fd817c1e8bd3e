// Sums over the sites of a field, added up by the kernel that goes through them anyway.
//
// Each block leaves its part; the last to arrive adds all parts in an order that depends on their
// number alone, so that results are the same from run to run. Nothing waits. What is added up and
// what follows is the caller's text (csrc/algo/fused.h):
//     TUNE_STATE_BYTES  of the state
//     TUNE_SCALARS(X)   X(name) for each of the state's scalars that the text reads
//     TUNE_SUMS         how many
//     TUNE_ADD(X)       X(k, expression) for each
//     TUNE_FINISH       the name of a function of solver.h that is called with the sums
#pragma once
#include "block.h"
#include "solver.h"

template <int N>
struct sums_of {
    f64 value[N];
};
struct add_sums {
    template <int N>
    FUNCTION_MEMBER sums_of<N> operator()(sums_of<N> a, const sums_of<N>& b) const
    {
        UNROLL
        for (int k = 0; k < N; k++) a.value[k] += b.value[k];
        return a;
    }
};

union sum_word {
    f64 value;
    u64 word;
};

template <int N>
struct sums_storage {
    block_reduce_storage<sums_of<N>> reduce;
    u32 is_last;
};

// All threads of `blocks` blocks call this, block `block` of them, with their own sums.
//   Result    true in one thread of all: `mine` has the sums of all threads there
//   Storage   may be used again after the next block_sync
// parts: N * blocks numbers; arrived: 0 before and after.
template <int N>
FUNCTION bool sum_of_blocks(sums_of<N>& mine, u32 block, u32 blocks, f64* parts, u64* arrived,
                            sums_storage<N>& s)
{
    enum { AT_ONCE = 8 }; // loads in flight
    u64* const words = reinterpret_cast<u64*>(parts);
    mine = block_reduce(mine, add_sums(), s.reduce);
    if (blocks == 1) return thread_id() == 0;
    if (thread_id() == 0) {
        UNROLL
        for (u32 k = 0; k < N; k++)
            store_relaxed(words + static_cast<u64>(k) * blocks + block,
                          sum_word{mine.value[k]}.word);
        device_fence();
        s.is_last = atomic_add(arrived, 1) + 1 == blocks;
    }
    block_sync();
    if (!s.is_last) return false; // all of the block
    device_fence();
    UNROLL
    for (u32 k = 0; k < N; k++) {
        f64 sum = 0;
        for (u32 b = thread_id(); b < blocks; b += AT_ONCE * SIMT_THREADS) {
            u64 part[AT_ONCE];
            UNROLL
            for (u32 j = 0; j < AT_ONCE; j++) {
                const u32 from = b + j * SIMT_THREADS;
                part[j] =
                    from < blocks ? load_relaxed(words + static_cast<u64>(k) * blocks + from) : 0;
            }
            UNROLL
            for (u32 j = 0; j < AT_ONCE; j++) sum += f64_of(part[j]);
        }
        mine.value[k] = sum;
    }
    mine = block_reduce(mine, add_sums(), s.reduce);
    if (thread_id() == 0) *arrived = 0;
    return thread_id() == 0;
}

// ---- kernels with a state -----------------------------------------------------------------------
struct guard_args {
    solver_state* states; // one a source
    f64* parts;           // of all blocks of all sources
    u64 phase;            // of sources that something is done for
    u64 step;             // for TUNE_FINISH
};
#if TUNE_SUMS
typedef sums_of<TUNE_SUMS> kernel_sums;
typedef sums_storage<TUNE_SUMS> kernel_sums_storage;
#else
struct kernel_sums {
};
struct kernel_sums_storage {
    u64 none;
};
#endif

FUNCTION bool is_at_work(const guard_args& a, u32 source)
{
    return a.states[source].phase == a.phase;
}

// All threads of all blocks of a source call this last; again, of another source, only after a
// block_sync.
FUNCTION void end_of_source(const guard_args& a, u32 source, kernel_sums& sums, u32 block,
                            u32 blocks, kernel_sums_storage& s)
{
#if TUNE_SUMS
    solver_state& state = a.states[source];
    if (sum_of_blocks(sums, block, blocks, a.parts + static_cast<u64>(source) * TUNE_SUMS * blocks,
                      &state.arrived, s))
        TUNE_FINISH(state, sums.value, a.step);
#else
    (void)a, (void)source, (void)sums, (void)block, (void)blocks, (void)s;
#endif
}

// A scalar of the state in the precision of a field.
template <class F>
FUNCTION F narrowed(f64 v)
{
    return static_cast<F>(v);
}
template <class F>
FUNCTION complex<F> narrowed(c128 z)
{
    return complex<F>(z);
}
#define TAKE_SCALAR(name) const auto name = narrowed<real_t>(state->name);
#define TAKE_SUM(k, term) sums.value[k] += static_cast<f64>(term);

// ---- the terms of sums --------------------------------------------------------------------------
template <class F>
FUNCTION complex<F> operator*(F a, complex<F> z)
{
    return complex<F>(a * z.real, a * z.imag);
}
template <class F>
FUNCTION F norm(complex<F> z)
{
    return z.real * z.real + z.imag * z.imag;
}
// Of conj(a) * b.
template <class F>
FUNCTION F dot_real(complex<F> a, complex<F> b)
{
    return a.real * b.real + a.imag * b.imag;
}
template <class F>
FUNCTION F dot_imag(complex<F> a, complex<F> b)
{
    return a.real * b.imag - a.imag * b.real;
}
