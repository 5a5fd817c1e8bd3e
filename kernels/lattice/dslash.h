// Shared part of the kernels of Wilson-like operators: the order of sites and the hopping term
// (wilson.h), for one parity or both.
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
// %RANGE% TUNE_SOURCE_GROUPS sg 1:4:1 cpu=1:1:1
// %RANGE% TUNE_KEEP_LINKS kl 0:1:1 cpu=0:0:1
// %RANGE% TUNE_BRICK_X_LOG2 bx 0:6:1 cpu=6:6:1
// %RANGE% TUNE_BRICK_Y_LOG2 by 0:6:1 cpu=6:6:1
// %RANGE% TUNE_BRICK_Z_LOG2 bz 0:6:1 cpu=0:6:1
// %RANGE% TUNE_BRICK_T_LOG2 bt 0:6:1 cpu=0:6:1
// %RANGE% TUNE_SWEEP_Z_LOG2 sz 0:7:1 cpu=7:7:1
// %RANGE% TUNE_LOAD ld 0:1:1 cpu=0:0:1
// %RANGE% TUNE_LINK_LOAD ll 0:2:1 cpu=0:0:1
// %RANGE% TUNE_CONVERT cv 0:2:1 cpu=0:0:1
// %RANGE% TUNE_SHARED_KIB sh 0:96:8 cpu=0:0:1
//
// spt   right-hand sides a thread
// sg    adjacent warps that take the same sites for different sources and so share links in the L1
//       cache; the other sources go to other blocks
// kl    0: loops over hops, and inside over the sources of the thread, with one link in registers;
//       1: loops over sources with all eight links kept, but not reconstructed, which uses more
//       registers and less of the L1 cache at a time
// bx..bt   sites of one parity of a brick along x, and along y, z, t; less if that does not divide
//          the lattice
// sz    bricks along z in a sweep through t
// cv    fixed-point spinors: halves of the spinor whose reals are converted by two fast
// instructions
//       instead of one slow one (0: none, 1: the lower half, 2: both)
// sh    shared memory that a block reserves without using it: fewer blocks share a cache
//
// Workload: that of lattice.h, and
//     TUNE_T            type of stored reals: f64, f32, or i16 for fixed point
//     TUNE_RECONSTRUCT  reals a link: 18, 12 or 8
//     TUNE_PARITY       parity of the output; 2: both, in fields that have parity 0 first
//     TUNE_DAGGER       1: the adjoint
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
#include "wilson.h"

enum {
    RECONSTRUCT = TUNE_RECONSTRUCT,
    SPT = TUNE_SOURCES_PER_THREAD,
    GROUPS = TUNE_SOURCE_GROUPS,
    BOTH = TUNE_PARITY == 2,
    ETA = TUNE_DAGGER ? -1 : 1 // hops from x + mu have 1 - ETA gamma_mu
};

// First kernel argument of every such operator.
struct dslash_fields {
    const link_storage<stored_t>::type* links;
    const stored_t* in;
    const f32* in_norms; // NULL unless fixed point
    f64 spatial;         // factor of spatial hops
    u64 sources;
};

// ---- the order of sites -------------------------------------------------------------------------
FUNCTION constexpr u32 common_divisor(u32 a, u32 b) { return b ? common_divisor(b, a % b) : a; }

constexpr u32 BRICK_X = common_divisor(HALF_X, 1u << TUNE_BRICK_X_LOG2);
constexpr u32 BRICK_Y = common_divisor(TUNE_LY, 1u << TUNE_BRICK_Y_LOG2);
constexpr u32 BRICK_Z = common_divisor(TUNE_LZ, 1u << TUNE_BRICK_Z_LOG2);
constexpr u32 BRICK_T = common_divisor(TUNE_LT, 1u << TUNE_BRICK_T_LOG2);
constexpr u32 BRICK = BRICK_X * BRICK_Y * BRICK_Z * BRICK_T;
constexpr u32 ROWS_X = HALF_X / BRICK_X, ROWS_Y = TUNE_LY / BRICK_Y;
constexpr u32 SWEEP = common_divisor(TUNE_LZ / BRICK_Z, 1u << TUNE_SWEEP_Z_LOG2);

// Returns the site at a place of that order. With both parities, a brick of odd sites follows that
// of even sites.
FUNCTION site site_in_order(u32 place, u32& parity)
{
    parity = TUNE_PARITY;
    u32 brick = place / BRICK;
    const u32 in = place % BRICK;
    if constexpr (BOTH) {
        parity = brick % 2;
        brick /= 2;
    }
    const u32 in_row = in / BRICK_X, in_slab = in_row / BRICK_Y;
    const u32 row = brick / ROWS_X, slab = row / ROWS_Y, sweep = slab / SWEEP;
    const u32 z = slab % SWEEP + sweep / (TUNE_LT / BRICK_T) * SWEEP;
    return site_at(brick % ROWS_X * BRICK_X + in % BRICK_X,
                   row % ROWS_Y * BRICK_Y + in_row % BRICK_Y, z * BRICK_Z + in_slab % BRICK_Z,
                   sweep % (TUNE_LT / BRICK_T) * BRICK_T + in_slab / BRICK_Z, parity);
}

// ---- a thread's work ----------------------------------------------------------------------------
// Places of all sites, places a block, and blocks for the same sources.
constexpr u32 DSLASH_PLACES = BOTH ? 2 * SITES : SITES;
constexpr u32 DSLASH_TILE = SIMT_THREADS / GROUPS;
constexpr u32 DSLASH_BLOCKS = (DSLASH_PLACES + DSLASH_TILE - 1) / DSLASH_TILE;

struct dslash_work {
    site at;
    u32 parity;
    u32 source; // the first of SPT sources
};

// Sets the thread's work. Returns false if it has none.
FUNCTION bool dslash_work_of(dslash_work& w)
{
    const u32 group = warp_id() % GROUPS;
    const u32 place =
        block_id() % DSLASH_BLOCKS * DSLASH_TILE + warp_id() / GROUPS * SIMT_WARP + lane_id();
    w.source = (block_id() / DSLASH_BLOCKS * GROUPS + group) * SPT;
    if (place >= DSLASH_PLACES) return false;
    w.at = site_in_order(place, w.parity);
    return true;
}

FUNCTION bool has_source(const dslash_fields& a, const dslash_work& w, u32 k)
{
    return SPT * GROUPS == 1 || w.source + k < a.sources;
}

// ---- hops ---------------------------------------------------------------------------------------
// Returns the first site of a source's field. With both parities the fields follow each other.
FUNCTION u64 source_sites(u32 source, u32 parity)
{
    return BOTH ? static_cast<u64>(2 * source + parity) * SITES : static_cast<u64>(source) * SITES;
}

// Returns the factor of a hop besides its link: anisotropy, or the boundary's sign.
template <int MU>
FUNCTION real_t hop_factor(const dslash_fields& a, bool across)
{
    if constexpr (MU != TIME) return TUNE_ANISOTROPIC ? static_cast<real_t>(a.spatial) : 1;
    return TUNE_ANTIPERIODIC && across ? -1 : 1;
}

// Returns the neighbour that a hop comes from: x + mu (FORWARD) or x - mu.
template <int MU, bool FORWARD>
FUNCTION u32 hop_from(const site& s)
{
    return FORWARD ? site_after<MU>(s) : site_before<MU>(s);
}

template <bool FORWARD>
FUNCTION bool is_across(const site& s) // true if the hop crosses the boundary in time
{
    return FORWARD ? s.t + 1 == TUNE_LT : s.t == 0;
}

template <int MU, bool FORWARD>
FUNCTION bool is_unity(const site& s)
{
    return TUNE_TEMPORAL && MU == TIME && !is_across<FORWARD>(s);
}

typedef packed_link<RECONSTRUCT> hop_link;

template <int MU, bool FORWARD>
FUNCTION hop_link link_of_hop(const dslash_fields& a, const dslash_work& w)
{
    if (is_unity<MU, FORWARD>(w.at)) return hop_link{};
    return load_packed<RECONSTRUCT, TUNE_LINK_LOAD>(
        links_of<RECONSTRUCT>(a.links, FORWARD ? w.parity : other_parity(w.parity), MU),
        FORWARD ? w.at.index : hop_from<MU, FORWARD>(w.at));
}

// Adds a hop of the thread's source k, over the link u, to `sum`.
template <int MU, bool FORWARD>
FUNCTION void add_hop(const dslash_fields& a, const dslash_work& w, u32 k, const matrix& u,
                      spinor& sum)
{
    constexpr int eta = FORWARD ? ETA : -ETA;
    const u32 from = hop_from<MU, FORWARD>(w.at);
    const u64 start = source_sites(w.source + k, other_parity(w.parity));
    half_spinor h = load_projected<MU, eta, TUNE_LOAD>(a.in + start * SPINOR, from);
    real_t scale = hop_factor<MU>(a, is_across<FORWARD>(w.at)) * projected_unit<stored_t>();
    if (!is_unity<MU, FORWARD>(w.at)) {
        UNROLL
        for (int spin = 0; spin < 2; spin++)
            h.spin[spin] = FORWARD ? u * h.spin[spin] : adjoint_times(u, h.spin[spin]);
        scale *= link_unit<stored_t>();
    }
    if constexpr (storage<stored_t>::fixed) scale *= load_norm<stored_t>(a.in_norms + start, from);
    add_projected<MU, eta>(sum, scale, h);
}

#if TUNE_KEEP_LINKS
// Hides the values of these registers from the compiler, so that reconstructed links are recomputed
// for each source and not kept.
FUNCTION void make_again(real_t (&v)[RECONSTRUCT])
{
    UNROLL
    for (int j = 0; j < RECONSTRUCT; j++) unknown_value(v[j]);
}

struct kept_links {
    hop_link forward[4], backward[4];
};

template <int MU>
FUNCTION void keep_links(const dslash_fields& a, const dslash_work& w, kept_links& links)
{
    links.forward[MU] = link_of_hop<MU, true>(a, w);
    links.backward[MU] = link_of_hop<MU, false>(a, w);
}

template <int MU>
FUNCTION void add_hops(const dslash_fields& a, const dslash_work& w, u32 k, kept_links& links,
                       spinor& sum)
{
    make_again(links.forward[MU].value);
    add_hop<MU, true>(a, w, k, unpacked<stored_t>(links.forward[MU]), sum);
    make_again(links.backward[MU].value);
    add_hop<MU, false>(a, w, k, unpacked<stored_t>(links.backward[MU]), sum);
}

// Computes D in at the thread's site and passes it to `each`, source by source.
template <class Each>
FUNCTION void dslash_at(const dslash_fields& a, const dslash_work& w, Each each)
{
    kept_links links;
    keep_links<0>(a, w, links);
    keep_links<1>(a, w, links);
    keep_links<2>(a, w, links);
    keep_links<TIME>(a, w, links);
    for (u32 k = 0; k < SPT; k++) {
        if (!has_source(a, w, k)) break;
        spinor sum{};
        add_hops<0>(a, w, k, links, sum);
        add_hops<1>(a, w, k, links, sum);
        add_hops<2>(a, w, k, links, sum);
        add_hops<TIME>(a, w, k, links, sum);
        each(k, sum);
    }
}
#else
template <int MU, bool FORWARD>
FUNCTION void add_hops_over(const dslash_fields& a, const dslash_work& w, spinor (&sum)[SPT])
{
    matrix u{};
    if (!is_unity<MU, FORWARD>(w.at)) u = unpacked<stored_t>(link_of_hop<MU, FORWARD>(a, w));
    UNROLL
    for (u32 k = 0; k < SPT; k++) {
        if (!has_source(a, w, k)) break;
        add_hop<MU, FORWARD>(a, w, k, u, sum[k]);
    }
}

template <int MU>
FUNCTION void add_hops(const dslash_fields& a, const dslash_work& w, spinor (&sum)[SPT])
{
    add_hops_over<MU, true>(a, w, sum);
    add_hops_over<MU, false>(a, w, sum);
}

template <class Each>
FUNCTION void dslash_at(const dslash_fields& a, const dslash_work& w, Each each)
{
    spinor sum[SPT] = {};
    add_hops<0>(a, w, sum);
    add_hops<1>(a, w, sum);
    add_hops<2>(a, w, sum);
    add_hops<TIME>(a, w, sum);
    UNROLL
    for (u32 k = 0; k < SPT; k++) {
        if (!has_source(a, w, k)) break;
        each(k, sum[k]);
    }
}
#endif

FUNCTION void flatten(const spinor& from, real_t (&out)[SPINOR])
{
    UNROLL
    for (int s = 0; s < 4; s++) {
        const half_spinor& half = s < 2 ? from.upper : from.lower;
        UNROLL
        for (int c = 0; c < 3; c++) {
            out[6 * s + 2 * c] = half.spin[s % 2].c[c].real;
            out[6 * s + 2 * c + 1] = half.spin[s % 2].c[c].imag;
        }
    }
}

// ---- all sites, and what a solver adds ----------------------------------------------------------
#if TUNE_GUARDED
#include "tail.h"
#else
struct tail_args {
};
struct kernel_sums {
};
#endif

struct dslash_shared {
#if TUNE_GUARDED
    kernel_sums_storage sums;
#else
    u64 none;
#endif
};

#if TUNE_GUARDED
// Returns true if any source of the block is still iterated. All threads of a block agree.
FUNCTION bool any_at_work(const guard_args& guard, u32 first, u64 sources)
{
    bool any = false;
    UNROLL
    for (u32 k = 0; k < GROUPS * SPT; k++)
        any = any || (first + k < sources && is_at_work(guard, first + k));
    return any;
}

// Adds up the sums of a block whose warps hold the sources from `mine` on.
FUNCTION void end_of_sources(const guard_args& guard, u64 sources, u32 first, u32 mine,
                             kernel_sums (&sums)[SPT], kernel_sums_storage& s)
{
    UNROLL
    for (u32 k = 0; k < GROUPS * SPT; k++) {
        const u32 source = first + k;
        if (source >= sources || !is_at_work(guard, source)) continue;
        kernel_sums all = source - mine < SPT ? sums[k % SPT] : kernel_sums{};
        if (k > 0) block_sync();
        end_of_source(guard, source, all, block_id() % DSLASH_BLOCKS, DSLASH_BLOCKS, s);
    }
}
#endif

// Body of a kernel. For each site and source of the thread it calls write(source, start of its
// fields, index of the site, D in there, sums), then it finishes the sums.
template <class Write>
FUNCTION void dslash_sites(const dslash_fields& d, const tail_args& tail, dslash_shared& s,
                           Write write)
{
    dslash_work w;
    kernel_sums sums[SPT] = {};
    const bool has_site = dslash_work_of(w);
#if TUNE_GUARDED
    const u32 first = block_id() / DSLASH_BLOCKS * (GROUPS * SPT); // first source of the block
    if (!any_at_work(tail.guard, first, d.sources)) return;
#else
    (void)tail, (void)s;
    if (!has_site) return;
#endif
    if (has_site)
        dslash_at(d, w, [&](u32 k, const spinor& sum) {
            const u32 source = w.source + k;
#if TUNE_GUARDED
            if (!is_at_work(tail.guard, source)) return;
#endif
            write(source, source_sites(source, w.parity), w.at.index, sum, sums[k]);
        });
#if TUNE_GUARDED
    end_of_sources(tail.guard, d.sources, first, w.source, sums, s.sums);
#endif
}
