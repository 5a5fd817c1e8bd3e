// Shared part of the kernels of Wilson-like operators, for one parity or both: the hopping term at
// each site (dslash_hops.h), then the operator's site term, then the tail of a solver (tail.h).
//
// A thread computes a site of the output for some of the sources; it reads and reconstructs the
// links once for all of them. Threads do not exchange data: neighbouring sites share their reads
// through the caches, so that the order of the sites is what can be tuned. A block takes bricks of
// sites, as many as it has threads for, so that neighbours in all directions are in the L1 cache.
// Bricks are ordered x first, then y, then `sz` of z, then t, then the rest of z, so that sites
// read again one time slice later are still in the L2 cache.
//
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 32:1024:32 cpu=1:1:1
// %RANGE% TUNE_MIN_BLOCKS mb 1:16:1 cpu=1:1:1
// %RANGE% TUNE_SOURCES_PER_THREAD spt 1:4:1 cpu=1:4:1
// %RANGE% TUNE_KEEP_LINKS kl 0:1:1 cpu=0:0:1
// %RANGE% TUNE_BRICK_X_LOG2 bx 0:6:1 cpu=6:6:1
// %RANGE% TUNE_BRICK_Y_LOG2 by 0:6:1 cpu=6:6:1
// %RANGE% TUNE_BRICK_Z_LOG2 bz 0:6:1 cpu=0:6:1
// %RANGE% TUNE_BRICK_T_LOG2 bt 0:6:1 cpu=0:6:1
// %RANGE% TUNE_SWEEP_Z_LOG2 sz 0:7:1 cpu=7:7:1
// %RANGE% TUNE_LOAD ld 0:1:1 cpu=0:0:1
// %RANGE% TUNE_LINK_LOAD ll 0:2:1 cpu=0:0:1
// %RANGE% TUNE_CONVERT cv 0:2:1 cpu=0:0:1
// %GONE% sg 1
// %GONE% sh 0
//
// spt   right-hand sides a thread; the others go to other blocks
// kl    0: loops over hops, and inside over the sources of the thread, with one link in registers;
//       1: loops over sources with all eight links kept, but not reconstructed, which uses more
//       registers and less of the L1 cache at a time
// bx..bt   sites of one parity of a brick along x, and along y, z, t; the nearest divisor where
// that
//          does not divide the lattice
// sz    bricks along z in a sweep through t
// cv    fixed-point spinors: halves whose reals two fast instructions convert instead of one slow
//       one (0: none, 1: the lower half, 2: both)
//
// Workload: that of lattice.h, and
//     TUNE_T            type of stored reals: f64, f32, or i16 for fixed point
//     TUNE_RECONSTRUCT  reals a link: 18, 12 or 8
//     TUNE_PARITY       parity of the output; 2: both, in fields that have parity 0 first
//     TUNE_DAGGER       1: the adjoint
//     TUNE_XPAY         1: there is x
//     TUNE_ANISOTROPIC  1: spatial hops have a factor
//     TUNE_ANTIPERIODIC 1: hops across the boundary in time change sign
//     TUNE_TEMPORAL     1: temporal gauge, links in time are 1 except for those of the last slice
//     TUNE_SEVERAL      1: more than one source
//     TUNE_GUARDED      1: part of a solver, with the macros of tail.h
// Traffic a site and source: the links (eight a site of one parity, four of both) are read, shared
// by the sources of a thread; a spinor is read and one is written.
#pragma once
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#include "lattice.h"
typedef TUNE_T stored_t;
typedef real_of<stored_t> real_t;
#include "dslash_hops.h"

// ---- a kernel -----------------------------------------------------------------------------------
#if TUNE_GUARDED
#include "tail.h"
#else
struct tail_args {
};
struct kernel_sums {
};
#endif

// Arguments of an operator's kernel. Term holds the numbers and fields of the operator's site term,
//     apply_site_term(a, start, index, hops, x, out)
// which calls load_x and computes the output at a site from x and D in there.
template <class Term>
struct dslash_args {
    dslash_fields d;
    const stored_t* x;
    const f32* x_norms;
    stored_t* out;
    f32* out_norms;
    Term term;
#if TUNE_GUARDED
    tail_args tail;
#endif
};

struct dslash_shared {
#if TUNE_GUARDED
    kernel_sums_storage sums;
#else
    u64 none;
#endif
};

// Loads x at a site; without TUNE_XPAY it stays 0.
template <class Term>
FUNCTION void load_x(const dslash_args<Term>& a, u64 start, u32 index, real_t (&x)[SPINOR])
{
    if constexpr (TUNE_XPAY) load_site(a.x + start * SPINOR, a.x_norms + start, index, x);
}

// Stores the output at a site. `start` is the first site of the source's field.
template <class Term>
FUNCTION void write_spinor(const dslash_args<Term>& a, u32 source, u64 start, u32 index,
                           const spinor& sum, kernel_sums& sums)
{
    real_t hops[SPINOR], x[SPINOR] = {}, out[SPINOR] = {};
    flatten(sum, hops);
    apply_site_term(a, start, index, hops, x, out);
#if TUNE_GUARDED
    apply_tail(a.tail, source, start, index, x, out, sums);
#else
    (void)source, (void)sums;
#endif
    store_site(a.out + start * SPINOR, a.out_norms + start, index, out);
}

#if TUNE_GUARDED
// Returns true if any source of the block is still iterated. All threads of a block agree.
FUNCTION bool any_active(const guard_args& guard, u32 first, u64 sources)
{
    bool any = false;
    UNROLL
    for (u32 k = 0; k < SPT; k++) any = any || (first + k < sources && is_active(guard, first + k));
    return any;
}

// Adds up the sums of a block for the sources from `first` on.
FUNCTION void end_of_sources(const guard_args& guard, u64 sources, u32 first,
                             kernel_sums (&sums)[SPT], kernel_sums_storage& s)
{
    UNROLL
    for (u32 k = 0; k < SPT; k++) {
        const u32 source = first + k;
        if (source >= sources || !is_active(guard, source)) continue;
        if (k > 0) block_sync();
        end_of_source(guard, source, sums[k], block_id() % DSLASH_BLOCKS, DSLASH_BLOCKS, s);
    }
}
#endif

// Calls write(source, start of its fields, index of the site, D in there, sums) for each site and
// source of the thread, then finishes the sums.
template <class Write>
FUNCTION void dslash_sites(const dslash_fields& d, const tail_args& tail, dslash_shared& s,
                           Write write)
{
    dslash_work w;
    kernel_sums sums[SPT] = {};
    const bool has_site = dslash_work_of(w);
#if TUNE_GUARDED
    if (!any_active(tail.guard, w.source, d.sources)) return;
#else
    (void)tail, (void)s;
    if (!has_site) return;
#endif
    if (has_site)
        dslash_at(d, w, [&](u32 k, const spinor& sum) {
            const u32 source = w.source + k;
#if TUNE_GUARDED
            if (!is_active(tail.guard, source)) return;
#endif
            write(source, source_sites(source, w.parity), w.at.index, sum, sums[k]);
        });
#if TUNE_GUARDED
    end_of_sources(tail.guard, d.sources, w.source, sums, s.sums);
#endif
}

// Body of a kernel.
template <class Term>
FUNCTION void dslash(const dslash_args<Term>& a, dslash_shared& s)
{
#if TUNE_GUARDED
    const tail_args& tail = a.tail;
#else
    const tail_args tail{};
#endif
    dslash_sites(a.d, tail, s,
                 [&](u32 source, u64 start, u32 index, const spinor& sum, kernel_sums& sums) {
                     write_spinor(a, source, start, index, sum, sums);
                 });
}
