// Hopping term D in of Wilson fermions (wilson.h) at the sites of a thread, for some of the
// sources, from projected spinors of two spins. The order of sites and the sources are those of
// dslash_sites.h.
//
// Workload: that of dslash_sites.h, and
//     TUNE_RECONSTRUCT  reals a link: 18, 12 or 8
//     TUNE_DAGGER       1: the adjoint
//     TUNE_ANISOTROPIC  1: spatial hops have a factor
//     TUNE_ANTIPERIODIC 1: hops across the boundary in time change sign
//     TUNE_TEMPORAL     1: temporal gauge, links in time are 1 except for those of the last slice
//     TUNE_PHASES       bit d: hops across the boundary of direction d have a phase
#pragma once
#include "dslash_sites.h"
#include "wilson.h"

enum {
    RECONSTRUCT = TUNE_RECONSTRUCT,
    ETA = TUNE_DAGGER ? -1 : 1 // hops from x + mu have 1 - ETA gamma_mu
};

struct dslash_fields {
    enum { REALS = SPINOR };
    typedef spinor sum;
    const link_storage<stored_t>::type* links;
    const stored_t* in;
    const f32* in_norms; // NULL unless fixed point
    f64 spatial;         // factor of spatial hops
    u64 sources;
#if TUNE_PHASES
    f64 phases[8]; // of a direction: real and imaginary part of that of a hop forwards
#endif
#if TUNE_CUT
    rank_table* ranks;
    launch_part part;
#endif
};

// ---- hops ---------------------------------------------------------------------------------------
// Returns the factor of a hop besides its link: anisotropy, or the boundary's sign and the 2 of
// hops in time. Norms come later: twice a product of theirs is a sum that a compiler may fuse.
template <int MU>
FUNCTION real_t hop_factor(const dslash_fields& a, bool across)
{
    if constexpr (MU != TIME) return TUNE_ANISOTROPIC ? static_cast<real_t>(a.spatial) : 1;
    return TUNE_ANTIPERIODIC && across ? -2 : 2;
}

// Returns the neighbour that a hop comes from: x + mu (FORWARD) or x - mu.
template <int MU, bool FORWARD>
FUNCTION u32 hop_from(const site& s)
{
    return FORWARD ? site_after<MU>(s) : site_before<MU>(s);
}

// True if the hop leaves this rank's lattice.
template <int MU, bool FORWARD>
FUNCTION bool leaves(const site& s)
{
#if TUNE_CUT
    if (is_cut<MU>() && s.off_faces) return false;
#endif
    const u32 extents[] = {TUNE_LX, TUNE_LY, TUNE_LZ, TUNE_LT}, at[] = {s.x, s.y, s.z, s.t};
    return at[MU] == (FORWARD ? extents[MU] - 1 : 0);
}

// True if the hop crosses the boundary of the whole lattice.
template <int MU, bool FORWARD>
FUNCTION bool is_across(const dslash_fields& a, const site& s)
{
#if TUNE_CUT
    if constexpr (is_cut<MU>())
        return leaves<MU, FORWARD>(s) && (a.part.edges >> (2 * MU + FORWARD) & 1);
#endif
    (void)a;
    return leaves<MU, FORWARD>(s);
}

// True if the hop comes from another rank.
template <int MU, bool FORWARD>
FUNCTION bool is_sent(const site& s)
{
#if TUNE_CUT
    if constexpr (is_cut<MU>()) return leaves<MU, FORWARD>(s);
#endif
    (void)s;
    return false;
}

// True if the hop is left out, as it crosses an edge of the lattice.
template <int MU, bool FORWARD>
FUNCTION bool is_left_out(const site& s)
{
    if constexpr (TUNE_OPEN >> MU & 1) return leaves<MU, FORWARD>(s);
    (void)s;
    return false;
}

template <int MU, bool FORWARD>
FUNCTION bool is_unity(const dslash_fields& a, const site& s)
{
    return TUNE_TEMPORAL && MU == TIME && !is_across<MU, FORWARD>(a, s);
}

// Multiplies a hop across the boundary by its phase.
template <int MU, bool FORWARD>
FUNCTION void turn_across(const dslash_fields& a, const site& s, half_spinor& h)
{
#if TUNE_PHASES
    if constexpr (TUNE_PHASES >> MU & 1) {
        if (!is_across<MU, FORWARD>(a, s)) return;
        const complex_t phase{
            static_cast<real_t>(a.phases[2 * MU]),
            static_cast<real_t>(FORWARD ? a.phases[2 * MU + 1] : -a.phases[2 * MU + 1])};
        UNROLL
        for (int spin = 0; spin < 2; spin++) {
            UNROLL
            for (int c = 0; c < 3; c++) h.spin[spin].c[c] = product(phase, h.spin[spin].c[c]);
        }
    }
#else
    (void)a, (void)s, (void)h;
#endif
}

#if TUNE_CUT
// ---- faces --------------------------------------------------------------------------------------
// Loads the projected spinor of a hop from another rank, which is multiplied by its link if that is
// there, and its norm.
template <int MU, bool FORWARD>
FUNCTION half_spinor load_sent(const dslash_fields& a, const dslash_work& w, u32 k, f32& norm)
{
    const face_memory<real_t, SPINOR / 2> from =
        face_from<real_t, SPINOR / 2, MU>(*a.ranks, FORWARD, w.exchange);
    const u64 field = face_field(source_of(w, k), other_parity(w.parity));
    real_t raw[SPINOR / 2];
    if constexpr (storage<stored_t>::fixed)
        from.load(field, face_place<MU>(w.at), raw, norm);
    else
        from.load(field, face_place<MU>(w.at), raw);
    return half_of(raw);
}
#endif

typedef packed_link<RECONSTRUCT> hop_link;

template <int MU, bool FORWARD>
FUNCTION hop_link link_of_hop(const dslash_fields& a, const dslash_work& w)
{
    if (is_unity<MU, FORWARD>(a, w.at) || (!FORWARD && is_sent<MU, FORWARD>(w.at)) ||
        is_left_out<MU, FORWARD>(w.at))
        return hop_link{};
    return load_packed<RECONSTRUCT, TUNE_LINK_LOAD>(
        links_of<RECONSTRUCT>(a.links, FORWARD ? w.parity : other_parity(w.parity), MU),
        FORWARD ? w.at.index : hop_from<MU, FORWARD>(w.at));
}

// Multiplies a projected spinor by the link of its hop, U or the adjoint of U.
template <bool FORWARD>
FUNCTION void multiply_by(const matrix& u, half_spinor& h)
{
    UNROLL
    for (int spin = 0; spin < 2; spin++)
        h.spin[spin] = FORWARD ? u * h.spin[spin] : adjoint_times(u, h.spin[spin]);
}

// Loads the projected spinor of a hop, and its norm, from the field that begins at site `start` or
// from a face, which gives both at once.
template <int MU, bool FORWARD>
FUNCTION half_spinor load_hop(const dslash_fields& a, const dslash_work& w, u32 k, u64 start,
                              u32 from, f32& sent_norm)
{
#if TUNE_CUT
    if (is_sent<MU, FORWARD>(w.at)) return load_sent<MU, FORWARD>(a, w, k, sent_norm);
#endif
    (void)w, (void)k, (void)sent_norm;
    return load_projected<MU, FORWARD ? ETA : -ETA, TUNE_LOAD>(a.in + start * SPINOR, from);
}
template <int MU, bool FORWARD>
FUNCTION real_t load_hop_norm(const dslash_fields& a, const dslash_work& w, u64 start, u32 from,
                              f32 sent_norm)
{
#if TUNE_CUT
    if (is_sent<MU, FORWARD>(w.at)) return sent_norm;
#endif
    (void)w, (void)sent_norm;
    return load_norm<stored_t>(a.in_norms + start, from);
}

// Adds a hop of the thread's source k, over the link u, to `sum`.
template <int MU, bool FORWARD>
FUNCTION void add_hop(const dslash_fields& a, const dslash_work& w, u32 k, const matrix& u,
                      spinor& sum)
{
    if (is_left_out<MU, FORWARD>(w.at)) return;
    const u32 from = hop_from<MU, FORWARD>(w.at);
    const u64 start = source_sites(source_of(w, k), other_parity(w.parity));
    f32 sent_norm = 0;
    half_spinor h = load_hop<MU, FORWARD>(a, w, k, start, from, sent_norm);
    real_t scale = hop_factor<MU>(a, is_across<MU, FORWARD>(a, w.at)) * projected_scale<stored_t>();
    if (!is_unity<MU, FORWARD>(a, w.at)) {
        if (FORWARD || !is_sent<MU, FORWARD>(w.at)) multiply_by<FORWARD>(u, h);
        scale *= link_scale<stored_t>();
    }
    turn_across<MU, FORWARD>(a, w.at, h);
    if constexpr (storage<stored_t>::fixed)
        scale *= load_hop_norm<MU, FORWARD>(a, w, start, from, sent_norm);
    constexpr bool has_factor = storage<stored_t>::fixed || MU == TIME || TUNE_ANISOTROPIC;
    add_projected<MU, FORWARD ? ETA : -ETA, has_factor>(sum, scale, h);
}

#if TUNE_KEEP_LINKS
// ---- links in shared memory ---------------------------------------------------------------------
template <int MU, bool FORWARD>
FUNCTION void flatten_link(const dslash_fields& a, const dslash_work& w, real_t* out)
{
    matrix u{};
    if (!is_unity<MU, FORWARD>(a, w.at)) u = unpacked<stored_t>(link_of_hop<MU, FORWARD>(a, w));
    UNROLL
    for (int j = 0; j < LINK_REALS / 2; j++) {
        out[2 * j] = u.element[j / 3][j % 3].real;
        out[2 * j + 1] = u.element[j / 3][j % 3].imag;
    }
}

template <int MU>
FUNCTION void keep_links_of(const dslash_fields& a, const dslash_work& w)
{
    real_t both[2 * LINK_REALS];
    flatten_link<MU, true>(a, w, both);
    flatten_link<MU, false>(a, w, both + LINK_REALS);
    store_some<COLUMN_REALS, 2 * LINK_REALS * MU>(w.links.reals, w.links.column, both,
                                                  w.links.columns);
}

FUNCTION void keep_links(const dslash_fields& a, const dslash_work& w, u32 direction)
{
    if (direction == 0) keep_links_of<0>(a, w);
    if (direction == 1) keep_links_of<1>(a, w);
    if (direction == 2) keep_links_of<2>(a, w);
    if (direction == TIME) keep_links_of<TIME>(a, w);
}

template <int MU, bool FORWARD>
FUNCTION matrix kept_link(const link_columns& from)
{
    real_t reals[LINK_REALS];
    load_reals<COLUMN_REALS, LINK_REALS * (2 * MU + !FORWARD), LINK_REALS, 0>(
        from.reals, from.column, reals, from.columns);
    matrix u;
    UNROLL
    for (int j = 0; j < LINK_REALS / 2; j++)
        u.element[j / 3][j % 3] = complex_t{reals[2 * j], reals[2 * j + 1]};
    return u;
}

template <int MU>
FUNCTION void add_hops(const dslash_fields& a, const dslash_work& w, u32 k, spinor& sum)
{
    add_hop<MU, true>(a, w, k, kept_link<MU, true>(w.links), sum);
    add_hop<MU, false>(a, w, k, kept_link<MU, false>(w.links), sum);
}

// The same with links that are kept, source by source.
template <class Each>
FUNCTION void dslash_at(const dslash_fields& a, const dslash_work& w, Each each)
{
    dslash_work again = w;
    NO_UNROLL
    for (u32 k = 0; k < SPT; k++) {
        if (!has_source(a.sources, w, k)) break;
        if (!is_iterated(w, k)) continue;
        unknown_value(
            again.links.column); // or a compiler keeps links in registers, and spills them
        spinor sum{};
        add_hops<0>(a, again, k, sum);
        add_hops<1>(a, again, k, sum);
        add_hops<2>(a, again, k, sum);
        add_hops<TIME>(a, again, k, sum);
        each(k, sum);
    }
}
#else
template <int MU, bool FORWARD>
FUNCTION void add_hops_over(const dslash_fields& a, const dslash_work& w, spinor (&sum)[SPT])
{
    matrix u{};
    if (!is_unity<MU, FORWARD>(a, w.at)) u = unpacked<stored_t>(link_of_hop<MU, FORWARD>(a, w));
    UNROLL
    for (u32 k = 0; k < SPT; k++) {
        if (!has_source(a.sources, w, k)) break;
        if (TUNE_CUT && !is_iterated(w, k)) continue;
        add_hop<MU, FORWARD>(a, w, k, u, sum[k]);
    }
}

template <int MU>
FUNCTION void add_hops(const dslash_fields& a, const dslash_work& w, spinor (&sum)[SPT])
{
    add_hops_over<MU, true>(a, w, sum);
    add_hops_over<MU, false>(a, w, sum);
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
