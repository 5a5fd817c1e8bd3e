// Common part of the kernels of all operators, without their hops: the order of sites, a thread's
// work, several sources, the guard and the tail of a solver (tail.h). At each site an operator
// computes its hopping term, for one parity or both, then its site term, then the tail.
//
// A thread computes a site of the output for some of the sources. Links are read and reconstructed
// once for all of them, or for those of a block, whose threads share them in shared memory.
// Neighbouring sites share their spinors through the caches, so that the order of the sites is what
// can be tuned. A block takes bricks of sites, as many as it has threads for, so that neighbours in
// all directions are in the L1 cache.
// Bricks are ordered x first, then y, then `sz` of z, then t, then the rest of z, so that sites
// read again one time slice later are still in the L2 cache.
//
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 32:1024:32 cpu=1:1:1
// %RANGE% TUNE_MIN_BLOCKS mb 1:16:1 cpu=1:1:1
// %RANGE% TUNE_SOURCES_PER_THREAD spt 1:16:1 cpu=1:4:1
// %RANGE% TUNE_SOURCE_GROUPS sg 1:8:1 cpu=1:1:1
// %RANGE% TUNE_SOURCES_FIRST sf 0:1:1 cpu=0:1:1
// %RANGE% TUNE_KEEP_LINKS kl 0:1:1 cpu=0:0:1
// %RANGE% TUNE_BRICK_X_LOG2 bx 0:6:1 cpu=6:6:1
// %RANGE% TUNE_BRICK_Y_LOG2 by 0:6:1 cpu=6:6:1
// %RANGE% TUNE_BRICK_Z_LOG2 bz 0:6:1 cpu=0:6:1
// %RANGE% TUNE_BRICK_T_LOG2 bt 0:6:1 cpu=0:6:1
// %RANGE% TUNE_SWEEP_Z_LOG2 sz 0:7:1 cpu=7:7:1
// %RANGE% TUNE_LOAD ld 0:1:1 cpu=0:0:1
// %RANGE% TUNE_LINK_LOAD ll 0:2:1 cpu=0:0:1
// %RANGE% TUNE_CONVERT cv 0:2:1 cpu=0:0:1
// %GONE% sh 0
//
// spt   right-hand sides a thread; the others go to other threads and blocks. More than four are
//       for colour vectors and for kl 1
// sg    groups of threads of a block, which have spt sources each at the same sites; more than one
//       with kl 1 alone
// sf    0: blocks of other sources come after those of all sites; 1: those of the same sites follow
//       each other, so that the L2 cache has their links. Spinors of all sources then have to stay
//       there for the next time slice, for which sz is smaller
// kl    0: loops over hops, and inside over the sources of the thread, with one link in registers;
//       1: puts the links of the block's sites into shared memory, reconstructed, and loops over
//       sources, and inside over hops
// bx..bt  sites of one parity of a brick along x, and along y, z, t; the nearest divisor where that
//       does not divide the lattice
// sz    bricks along z in a sweep through t
// cv    fixed-point spinors: halves whose reals two fast instructions convert instead of one slow
//       one (0: none, 1: the lower half, 2: both)
//
// Workload: that of lattice.h, and
//     TUNE_T            type of stored reals: f64, f32, or i16 for fixed point
//     TUNE_PARITY       parity of the output; 2: both, in fields that have parity 0 first
//     TUNE_XPAY         1: there is x
//     TUNE_INNER        fields that follow each other and belong to the same state of a solver: the
//                       sites of an inner dimension, each of which is a source here; 1: none
//     TUNE_GUARDED      1: part of a solver, with the macros of tail.h
//     TUNE_CUT          that of halo.h; 0: the lattice is whole, and periodic. HALO_DEPTH comes
//                       before the include
//     TUNE_STAGED       that of face_memory.h
//     TUNE_OPEN         bit d: the lattice is open in direction d, hops across its edges are left
//                       out; those of a rank's own block in a preconditioner
//
// An operator defines
//     Fields            its first argument: members `in`, `in_norms` and `sources`; REALS, those of
//                       a site; and `sum`, the type of the hopping term at a site
//     add_hops<MU>(fields, work, sums)
//                       adds the hops of direction MU to the hopping terms at the thread's site,
//                       one for each of the thread's sources
//     keep_links(fields, work, direction)
//                       with TUNE_KEEP_LINKS: puts the links of a direction into the column of the
//                       thread's site; and dslash_at, which takes them from there
//     flatten(sum, reals)
//     Term              the numbers and fields of its site term
//     apply_site_term(a, start, index, hops, x, out)
//                       calls load_x and computes the output at a site from x and D in there
#pragma once
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#include "integer.h"
#include "lattice.h"
#include "types.h" // here, as an include under a condition counts for all
#if TUNE_CUT || TUNE_GUARDED
#include "ranks.h" // of faces, and of sums of launches without them
#endif
#if TUNE_CUT
#include "launch_parts.h"
#else // there are no faces
enum : u32 {
    INTERIOR_Y = TUNE_LY,
    INTERIOR_Z = TUNE_LZ,
    INTERIOR_T = TUNE_LT,
    INTERIOR_SITES = SITES,
    FIRST_Y = 0,
    FIRST_Z = 0,
    FIRST_T = 0,
};
#endif
typedef TUNE_T stored_t;
typedef real_of<stored_t> real_t;

enum {
    SPT = TUNE_SOURCES_PER_THREAD,
    BLOCK_SOURCES = SPT * TUNE_SOURCE_GROUPS,
    BOTH = TUNE_PARITY == 2,
};

// ---- the order of sites -------------------------------------------------------------------------
FUNCTION constexpr u32 common_divisor(u32 a, u32 b) { return b ? common_divisor(b, a % b) : a; }

// Returns the divisor of an extent that is nearest to `wanted` by ratio, among the multiples of
// `unit`, which divides both.
FUNCTION constexpr u32 nearest_divisor(u32 extent, u32 wanted, u32 unit)
{
    u32 best = unit;
    for (u32 d = unit; d <= extent; d += unit)
        if (extent % d == 0 && (d <= wanted || d * best < wanted * wanted)) best = d;
    return best;
}

// Extents of the sites in bricks, those off the faces. Where there are none the order is not asked
// for, and any numbers will do.
enum : u32 {
    BRICKS_Y = INTERIOR_Y ? INTERIOR_Y : 1,
    BRICKS_Z = INTERIOR_Z ? INTERIOR_Z : 1,
    BRICKS_T = INTERIOR_T ? INTERIOR_T : 1,
    INTERIOR_PLACES = BOTH ? 2 * INTERIOR_SITES : INTERIOR_SITES, // of these sites
};

// A brick is as long along x as makes whole sectors of memory, of two sites.
constexpr u32 BRICK_X =
    nearest_divisor(HALF_X, 1u << TUNE_BRICK_X_LOG2,
                    common_divisor(common_divisor(HALF_X, 1u << TUNE_BRICK_X_LOG2), 2));
constexpr u32 BRICK_Y = nearest_divisor(BRICKS_Y, 1u << TUNE_BRICK_Y_LOG2, 1);
constexpr u32 BRICK_Z = nearest_divisor(BRICKS_Z, 1u << TUNE_BRICK_Z_LOG2, 1);
constexpr u32 BRICK_T = nearest_divisor(BRICKS_T, 1u << TUNE_BRICK_T_LOG2, 1);
constexpr u32 BRICK = BRICK_X * BRICK_Y * BRICK_Z * BRICK_T;
constexpr u32 ROWS_X = HALF_X / BRICK_X, ROWS_Y = BRICKS_Y / BRICK_Y;
constexpr u32 SWEEP = nearest_divisor(BRICKS_Z / BRICK_Z, 1u << TUNE_SWEEP_Z_LOG2, 1);

// Returns the site at a place of that order. With both parities, a brick of odd sites follows that
// of even sites. Sites on faces come last.
FUNCTION site site_in_order(u32 place, u32& parity)
{
#if TUNE_CUT
    if (place >= INTERIOR_PLACES) {
        const u32 exterior = place - INTERIOR_PLACES;
        parity = BOTH ? exterior / (SITES - INTERIOR_SITES) : TUNE_PARITY;
        return exterior_site(exterior % (SITES - INTERIOR_SITES), parity);
    }
#endif
    parity = TUNE_PARITY;
    u32 brick = place / BRICK;
    const u32 in = place % BRICK;
    if constexpr (BOTH) {
        parity = brick % 2;
        brick /= 2;
    }
    const u32 in_row = in / BRICK_X, in_slab = in_row / BRICK_Y;
    const u32 row = brick / ROWS_X, slab = row / ROWS_Y, sweep = slab / SWEEP;
    const u32 z = slab % SWEEP + sweep / (BRICKS_T / BRICK_T) * SWEEP;
    return site_at(brick % ROWS_X * BRICK_X + in % BRICK_X,
                   FIRST_Y + row % ROWS_Y * BRICK_Y + in_row % BRICK_Y,
                   FIRST_Z + z * BRICK_Z + in_slab % BRICK_Z,
                   FIRST_T + sweep % (BRICKS_T / BRICK_T) * BRICK_T + in_slab / BRICK_Z, parity);
}

// ---- a thread's work ----------------------------------------------------------------------------
// Sources of a thread are a loop of code where their links are kept, and else unrolled.
#if TUNE_KEEP_LINKS
#define EACH_SOURCE NO_UNROLL
// Links of the sites of a block in shared memory, reconstructed: a column for a site, of two links
// for each direction, that of the hop forwards first. Columns are in the order of a field's sites.
enum { LINK_REALS = 18, COLUMN_REALS = 8 * LINK_REALS };
struct link_columns {
    real_t* reals;
    u32 columns;
    u32 column; // the thread's
};
#else
#define EACH_SOURCE UNROLL
#endif

// Places of all sites, places a block, and blocks for the same sources.
constexpr u32 DSLASH_PLACES = BOTH ? 2 * SITES : SITES;
constexpr u32 DSLASH_TILE = SIMT_THREADS / TUNE_SOURCE_GROUPS;
constexpr u32 DSLASH_BLOCKS = ceil_div(DSLASH_PLACES, DSLASH_TILE);

struct dslash_work {
    site at;
    u32 parity;
    u32 source;   // the first of SPT sources
    u32 iterated; // bit k: a solver still iterates source k of the thread
#if TUNE_KEEP_LINKS
    link_columns links;
#endif
#if TUNE_CUT
    u32 exchange; // the number of that of the faces, for sites on them
#endif
};

#if TUNE_CUT
// Returns how many tiles of `each` sites have none on a face; they come first.
FUNCTION constexpr u32 interior_tiles(u32 each) { return INTERIOR_PLACES / each; }

// True if a thread of a block may have a site on a face. The block's tile has `each` sites and the
// number `tile`; all threads of a block agree.
FUNCTION bool has_exterior_site(u32 tile, u32 each) { return tile >= interior_tiles(each); }
#endif

// Place of a block of a launch in which blocks of the next sources follow those of all sites: its
// tile of sites, and the number of its sources.
struct block_place {
    u32 tile, sources;
};

template <u32 TILES>
FUNCTION block_place place_among(u32 block, u32 first)
{
    return {first + block % TILES, block / TILES};
}

// Returns it of a block, counted without those that send faces, for a lattice of TILES tiles of
// EACH sites, of which the launch has all, or those without sites on faces, or the others.
template <u32 TILES, u32 EACH, class Fields>
FUNCTION block_place place_of_block(const Fields& d, u32 block)
{
#if TUNE_CUT
    constexpr u32 INTERIOR = interior_tiles(EACH);
    if (TUNE_STAGED && d.part.sites == SITES_OFF_FACES)
        return place_among<INTERIOR ? INTERIOR : 1>(block, 0);
    if (TUNE_STAGED && d.part.sites == SITES_ON_FACES)
        return place_among<TILES - INTERIOR>(block, INTERIOR);
#endif
    (void)d;
    return place_among<TILES>(block, 0);
}

// Work of a block: which of the DSLASH_BLOCKS tiles of sites, and the first of its sources.
struct block_work {
    u32 tile, source;
};

template <class Fields>
FUNCTION block_work work_of_block(const Fields& d, u32 block)
{
    if constexpr (!TUNE_SOURCES_FIRST) {
        const block_place at = place_of_block<DSLASH_BLOCKS, DSLASH_TILE>(d, block);
        return {at.tile, at.sources * BLOCK_SOURCES};
    }
    const u32 blocks = ceil_div(static_cast<u32>(d.sources), BLOCK_SOURCES);
    u32 first = 0;
#if TUNE_CUT
    if (TUNE_STAGED && d.part.sites == SITES_ON_FACES) first = interior_tiles(DSLASH_TILE);
#endif
    return {first + block / blocks, block % blocks * BLOCK_SOURCES};
}

// Returns the thread's group of sources, and its column among the block's sites. With one group
// they are not computed: all threads know that they have the same sources.
FUNCTION u32 dslash_thread() { return warp_id() * SIMT_WARP + lane_id(); }
FUNCTION u32 source_group() { return TUNE_SOURCE_GROUPS == 1 ? 0 : dslash_thread() / DSLASH_TILE; }
FUNCTION u32 dslash_column() { return dslash_thread() - source_group() * DSLASH_TILE; }

// Sets the thread's work but for `iterated`. Returns false if it has none.
FUNCTION bool dslash_work_of(const block_work& block, dslash_work& w)
{
    const u32 place = block.tile * DSLASH_TILE + dslash_column();
    w.source = block.source + source_group();
    if (place >= DSLASH_PLACES) return false;
    w.at = site_in_order(place, w.parity);
    return true;
}

#if TUNE_CUT
// Returns the number of a source's field of a parity among those of a face.
FUNCTION u64 face_field(u32 source, u32 parity) { return BOTH ? 2 * source + parity : source; }

// Calls `compute` for the thread's site, in code of its own where the block has no site on a face:
// loads that need not ask where a neighbour is are queued ahead of each other.
template <class Compute>
FUNCTION void compute_by_place(dslash_work& w, bool exterior, Compute compute)
{
    if (exterior) return compute(w);
    dslash_work interior = w;
    interior.at.off_faces = true;
    compute(interior);
}
#endif

// Returns the number of the thread's source k: groups take turns, so that few sources are for all.
FUNCTION u32 source_of(const dslash_work& w, u32 k) { return w.source + k * TUNE_SOURCE_GROUPS; }

FUNCTION bool has_source(u64 sources, const dslash_work& w, u32 k)
{
    return BLOCK_SOURCES == 1 || source_of(w, k) < sources;
}

// Returns whether the thread's source k is iterated. No faces may have been sent of one that is
// not. A block whose only source is not has ended.
FUNCTION bool is_iterated(const dslash_work& w, u32 k)
{
    return !TUNE_GUARDED || BLOCK_SOURCES == 1 || (w.iterated >> k & 1);
}

// Returns the first site of a source's field. With both parities the fields follow each other.
FUNCTION u64 source_sites(u32 source, u32 parity)
{
    return BOTH ? static_cast<u64>(2 * source + parity) * SITES : static_cast<u64>(source) * SITES;
}

// Returns the number of the solver's state that a source belongs to.
FUNCTION u32 state_of(u32 source) { return source / TUNE_INNER; }

// ---- the hopping term ---------------------------------------------------------------------------
// Adds the hops of a direction to the terms of the thread's sources: each operator overloads it.
template <int MU, class Fields>
FUNCTION void add_hops(const Fields& a, const dslash_work& w, typename Fields::sum (&sum)[SPT]);

// Computes D in at the thread's site and passes it to `each`, as each(k, sum) for the thread's
// source k if that is iterated. An operator that keeps links overloads it.
template <class Fields, class Each>
FUNCTION void dslash_at(const Fields& a, const dslash_work& w, Each each)
{
    typename Fields::sum sum[SPT] = {};
    add_hops<0>(a, w, sum);
    add_hops<1>(a, w, sum);
    add_hops<2>(a, w, sum);
    add_hops<TIME>(a, w, sum);
    UNROLL
    for (u32 k = 0; k < SPT; k++) {
        if (!has_source(a.sources, w, k)) break;
        if (is_iterated(w, k)) each(k, sum[k]);
    }
}

// ---- a kernel -----------------------------------------------------------------------------------
#if TUNE_GUARDED
#include "tail.h"
#else
#define TUNE_SUMS 0
struct tail_args {
};
struct kernel_sums {
};
#define SUMS_KERNEL(name, args, storage, guard)
#endif

template <class Fields, class Term>
struct operator_args {
    Fields d;
    const stored_t* x;
    const f32* x_norms;
    stored_t* out;
    f32* out_norms;
    Term term;
#if TUNE_GUARDED
    tail_args tail;
#endif
};

// Returns whether there is a source, and a solver still iterates it.
template <class Args>
FUNCTION bool is_wanted(const Args& a, u32 source)
{
    if (source >= a.d.sources) return false;
#if TUNE_GUARDED
    return is_active(a.tail.guard, state_of(source));
#else
    return true;
#endif
}

#if TUNE_CUT
#include "exchange.h"
#endif

#if TUNE_SUMS
#include "source_sums.h"
#endif

struct dslash_shared {
#if TUNE_SUMS
    block_sums_storage sums;
#endif
#if TUNE_KEEP_LINKS
    alignas(16) real_t links[COLUMN_REALS * DSLASH_TILE];
#endif
#if TUNE_CUT
    exchange_shared exchange;
#endif
#if !TUNE_SUMS && !TUNE_KEEP_LINKS && !TUNE_CUT
    u64 none;
#endif
};

#if TUNE_GUARDED
// Returns dslash_work::iterated.
template <class Args>
FUNCTION u32 iterated_sources(const Args& a, const dslash_work& w)
{
    u32 bits = 0;
    UNROLL
    for (u32 k = 0; k < SPT; k++) bits |= static_cast<u32>(is_wanted(a, source_of(w, k))) << k;
    return bits;
}

// Returns true if any source of a block is wanted. All threads of the block agree.
template <class Args>
FUNCTION bool is_any_wanted(const Args& a, const block_work& block)
{
    bool any = false;
    UNROLL
    for (u32 k = 0; k < BLOCK_SOURCES; k++) any = any || is_wanted(a, block.source + k);
    return any;
}
#endif

// Loads x at a site; without TUNE_XPAY it stays 0.
template <class Args, int N>
FUNCTION void load_x(const Args& a, u64 start, u32 index, real_t (&x)[N])
{
    if constexpr (TUNE_XPAY) load_site(a.x + start * N, a.x_norms + start, index, x);
}

// The same, with x in storage units, too. Returns their size. Site terms that add numbers of x to
// others take these: a product with the norm may be fused with the sum.
template <class Args, int N>
FUNCTION real_t load_x_units(const Args& a, u64 start, u32 index, real_t (&x)[N],
                             real_t (&units)[N])
{
    if constexpr (!TUNE_XPAY) return 1;
    load_reals<N, 0, N, 0>(a.x + start * N, index, units);
    const real_t norm = load_norm<stored_t>(a.x_norms + start, index);
    UNROLL
    for (int j = 0; j < N; j++) x[j] = norm * units[j];
    return norm;
}

// Stores the output at a site. `start` is the first site of the source's field.
template <class Fields, class Term>
FUNCTION void write_site(const operator_args<Fields, Term>& a, u32 source, u64 start, u32 index,
                         const typename Fields::sum& sum, kernel_sums& sums)
{
    real_t hops[Fields::REALS], x[Fields::REALS] = {}, out[Fields::REALS] = {};
    flatten(sum, hops);
    apply_site_term(a, start, index, hops, x, out);
#if TUNE_GUARDED
    apply_tail(a.tail, state_of(source), start, index, x, out, sums);
#else
    (void)source, (void)sums;
#endif
    store_site(a.out + start * Fields::REALS, a.out_norms + start, index, out);
}

// Body of a kernel. `write` takes the work, the number of a source in the thread and in all, its
// hopping term and the sums of the thread's sources.
template <class Fields, class Term, class Write>
FUNCTION void dslash_by(const operator_args<Fields, Term>& a, dslash_shared& s, Write write)
{
    dslash_work w;
    kernel_sums sums[SPT] = {};
    u32 number = block_id();
#if TUNE_CUT
    if (!begin_block(a, dslash_tiling{}, s.exchange, number)) return;
#endif
    const block_work block = work_of_block(a.d, number);
    const bool has_site = dslash_work_of(block, w);
#if TUNE_GUARDED
    if (!is_any_wanted(a, block)) return;
    w.iterated = iterated_sources(a, w);
#endif
#if TUNE_CUT
    const bool exterior = has_exterior_site(block.tile, DSLASH_TILE);
    if (exterior) w.exchange = number_of_exchange(a, dslash_tiling{}, s.exchange);
#endif
#if TUNE_KEEP_LINKS
    w.links = {s.links, DSLASH_TILE, dslash_column()};
    for (u32 d = source_group(); has_site && d < 4; d += TUNE_SOURCE_GROUPS) keep_links(a.d, w, d);
    block_sync();
#endif
    const auto compute = [&](const dslash_work& w) {
        dslash_at(a.d, w, [&](u32 k, const typename Fields::sum& sum) {
            write(w, k, source_of(w, k), sum, sums);
        });
    };
#if TUNE_CUT
    if (has_site) compute_by_place(w, exterior, compute);
#else
    if (has_site) compute(w);
#endif
#if TUNE_SUMS
    end_of_sources(a, block, sums, s.sums);
#endif
    (void)s;
}

// Body of a kernel whose site term is of each source by itself.
template <class Fields, class Term>
FUNCTION void dslash(const operator_args<Fields, Term>& a, dslash_shared& s)
{
    dslash_by(a, s,
              [&](const dslash_work& w, u32 k, u32 source, const typename Fields::sum& sum,
                  kernel_sums(&sums)[SPT]) {
                  write_site(a, source, source_sites(source, w.parity), w.at.index, sum, sums[k]);
              });
}
