// The part of a kernel that belongs to a solver: its guard, the state's scalars that its statements
// read, and sums over the sites of a field (added up by grid_sums.h), which the solver's next
// scalar step takes.
//
// A cubc_site_update (csrc/lattice/operators/solver_update.h) defines
//     TUNE_STATE        members of the state
//     TUNE_STATE_BYTES  size of the state
//     TUNE_SCALARS(X)   X(name) for each of the state's scalars that the text reads
//     TUNE_SUMS         number of sums
//     TUNE_ADD(X)       X(k, expression) for each sum
//     TUNE_RANKS        1: sums are of the fields of several ranks (ranks.h)
//     TUNE_FINISH       name of a scalar step that is called with the sums: a function of solver.h,
//     cg.h, ...
#pragma once
#include "bicgstab.h"
#include "ca_cg.h"
#include "cg.h"
#include "gcr.h"
#include "grid_sums.h"
#include "multishift.h"
#if TUNE_RANKS
#include "ranks.h"
#endif

// ---- kernels with a state -----------------------------------------------------------------------
struct guard_args {
    solver_state* states; // one per source
    f64* parts;           // partial sums of all blocks of all sources
    u64 phase;            // phase of the sources to process
    u64 step;             // argument of TUNE_FINISH
#if TUNE_RANKS
    rank_table* ranks;
    u64 count; // of the states
#endif
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

FUNCTION bool is_active(const guard_args& a, u32 source)
{
    const solver_state& s = a.states[source];
    if (a.phase != ITERATE_SHIFT) return s.phase == a.phase;
    return s.phase == ITERATE && (s.open_shifts >> a.step & 1);
}

#if TUNE_RANKS && TUNE_SUMS
// Receives the sums of all sources of a launch, and takes their steps. Called by one thread.
//
// No step comes before the sums of all sources have: until then blocks of this rank may send faces
// of a later source, and they count who is still iterated (exchange.h). One source has no later
// one.
FUNCTION void take_steps(const guard_args& a)
{
    f64 all[TUNE_SUMS];
    for (u32 k = 0; a.count > 1 && k < a.count; k++)
        if (is_active(a, k)) receive_sums(*a.ranks, k, all);
    for (u32 k = 0; k < a.count; k++) {
        if (!is_active(a, k)) continue;
        receive_sums(*a.ranks, k, all);
        a.states[k].sums++;
        TUNE_FINISH(a.states[k], all, a.step);
    }
}

// Sends the sums of a source. The last source of the launch receives those of all of them.
FUNCTION void finish_over_ranks(const guard_args& a, u32 source, const f64 (&value)[TUNE_SUMS])
{
    u64 active = 0;
    for (u32 k = 0; k < a.count; k++) active += is_active(a, k);
    if (send_sums(*a.ranks, source, active, value)) take_steps(a);
}

// The kernel that receives sums which are staged, in a block of its own: name_sums, of the
// arguments and the storage of the kernel that has sent them.
#define SUMS_KERNEL(name, args, storage, guard)  \
    KERNEL(name##_sums, args, storage)           \
    {                                            \
        (void)s;                                 \
        if (thread_id() == 0) take_steps(guard); \
    }
#else
#define SUMS_KERNEL(name, args, storage, guard)
#endif

#if TUNE_SUMS
// Returns where the parts of a source's sums are, of `blocks` blocks.
FUNCTION f64* parts_of(const guard_args& a, u32 source, u32 blocks)
{
    return a.parts + static_cast<u64>(source) * TUNE_SUMS * blocks;
}

// Takes the step of a source, whose sums are complete. Called by one thread.
FUNCTION void take_step(const guard_args& a, u32 source, const kernel_sums& sums)
{
#if TUNE_RANKS
    finish_over_ranks(a, source, sums.value);
#else
    TUNE_FINISH(a.states[source], sums.value, a.step);
#endif
}
#endif

// Finishes the sums of a source. All threads of all its blocks call this last.
FUNCTION void end_of_source(const guard_args& a, u32 source, kernel_sums& sums, u32 block,
                            u32 blocks, kernel_sums_storage& s)
{
#if TUNE_SUMS
    if (sum_of_blocks(sums, block, blocks, parts_of(a, source, blocks), &a.states[source].arrived,
                      s))
        take_step(a, source, sums);
#else
    (void)a, (void)source, (void)sums, (void)block, (void)blocks, (void)s;
#endif
}

// Converts a scalar of the state to the precision of a field.
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
#define BASIS(k) narrowed<real_t>(state->basis[k])
#define OMEGA(j) narrowed<real_t>(state->projection[a.guard.step][j])
#define ALONG(k) narrowed<real_t>(state->along[k])
#define SHIFTED(name) narrowed<real_t>(state->name[a.guard.step])
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
// Real and imaginary part of conj(a) * b.
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
