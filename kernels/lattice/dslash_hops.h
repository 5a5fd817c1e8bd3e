// Hopping term D in (wilson.h) at the sites of a thread: the order of sites, and the hops to a site
// for some of the sources. The parameters and macros are those of dslash.h, which includes this.
#pragma once
#include "wilson.h"

enum {
    RECONSTRUCT = TUNE_RECONSTRUCT,
    SPT = TUNE_SOURCES_PER_THREAD,
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

// Returns the divisor of an extent that is nearest to `wanted` by ratio, among the multiples of
// `unit`, which divides both.
FUNCTION constexpr u32 nearest_divisor(u32 extent, u32 wanted, u32 unit)
{
    u32 best = unit;
    for (u32 d = unit; d <= extent; d += unit)
        if (extent % d == 0 && (d <= wanted || d * best < wanted * wanted)) best = d;
    return best;
}

// A brick is as long along x as makes whole sectors of memory, of two sites.
constexpr u32 BRICK_X =
    nearest_divisor(HALF_X, 1u << TUNE_BRICK_X_LOG2,
                    common_divisor(common_divisor(HALF_X, 1u << TUNE_BRICK_X_LOG2), 2));
constexpr u32 BRICK_Y = nearest_divisor(TUNE_LY, 1u << TUNE_BRICK_Y_LOG2, 1);
constexpr u32 BRICK_Z = nearest_divisor(TUNE_LZ, 1u << TUNE_BRICK_Z_LOG2, 1);
constexpr u32 BRICK_T = nearest_divisor(TUNE_LT, 1u << TUNE_BRICK_T_LOG2, 1);
constexpr u32 BRICK = BRICK_X * BRICK_Y * BRICK_Z * BRICK_T;
constexpr u32 ROWS_X = HALF_X / BRICK_X, ROWS_Y = TUNE_LY / BRICK_Y;
constexpr u32 SWEEP = nearest_divisor(TUNE_LZ / BRICK_Z, 1u << TUNE_SWEEP_Z_LOG2, 1);

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
constexpr u32 DSLASH_TILE = SIMT_THREADS;
constexpr u32 DSLASH_BLOCKS = (DSLASH_PLACES + DSLASH_TILE - 1) / DSLASH_TILE;

struct dslash_work {
    site at;
    u32 parity;
    u32 source; // the first of SPT sources
};

// Sets the thread's work. Returns false if it has none.
FUNCTION bool dslash_work_of(dslash_work& w)
{
    const u32 place = block_id() % DSLASH_BLOCKS * DSLASH_TILE + thread_id();
    w.source = block_id() / DSLASH_BLOCKS * SPT;
    if (place >= DSLASH_PLACES) return false;
    w.at = site_in_order(place, w.parity);
    return true;
}

FUNCTION bool has_source(const dslash_fields& a, const dslash_work& w, u32 k)
{
    return SPT == 1 || w.source + k < a.sources;
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
    real_t scale = hop_factor<MU>(a, is_across<FORWARD>(w.at)) * projected_scale<stored_t>();
    if (!is_unity<MU, FORWARD>(w.at)) {
        UNROLL
        for (int spin = 0; spin < 2; spin++)
            h.spin[spin] = FORWARD ? u * h.spin[spin] : adjoint_times(u, h.spin[spin]);
        scale *= link_scale<stored_t>();
    }
    if constexpr (storage<stored_t>::fixed) scale *= load_norm<stored_t>(a.in_norms + start, from);
    add_projected<MU, eta>(sum, scale, h);
}

#if TUNE_KEEP_LINKS
// Hides the values of these registers from the compiler, so that reconstructed links are recomputed
// for each source and not kept.
FUNCTION void hide_values(real_t (&v)[RECONSTRUCT])
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
    hide_values(links.forward[MU].value);
    add_hop<MU, true>(a, w, k, unpacked<stored_t>(links.forward[MU]), sum);
    hide_values(links.backward[MU].value);
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
