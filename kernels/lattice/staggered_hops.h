// Hopping term of staggered fermions at the sites of a thread, for some of the sources:
//     D chi(x) = sum over mu of eta_mu(x) [F_mu(x) chi(x + mu) - F_mu(x - mu)^+ chi(x - mu)
//                                       + L_mu(x) chi(x + 3 mu) - L_mu(x - 3 mu)^+ chi(x - 3 mu)]
// L. Susskind, "Lattice fermions" (1977); long links L: S. Naik (1989). D is anti-Hermitian and
// joins opposite parities. eta_mu does not depend on x_mu, so that a sign serves all four hops of a
// direction. Signs are computed from the coordinates and stored links have none, so that fat links
// F that are in SU(3), and long links, are stored in fewer reals.
//
// Workload: that of dslash_sites.h, and
//     TUNE_FAT_REALS   reals a fat link: 18, 12 or 8
//     TUNE_LONG_REALS  reals a long link: 18 or 13; 0: there are none
//     TUNE_PHASES      bit d: hops across the boundary of direction d have a phase
#pragma once
#define HALO_DEPTH (TUNE_LONG_REALS ? 3 : 1)
#include "dslash_sites.h"
#include "su3.h"

enum { FAT_REALS = TUNE_FAT_REALS, LONG_REALS = TUNE_LONG_REALS };

struct staggered_fields {
    enum { REALS = 6 };
    typedef colour_vector sum;
    const link_storage<stored_t>::type* fat_links;
    const link_storage<stored_t>::type* long_links; // NULL where there are none
    const stored_t* in;
    const f32* in_norms;       // NULL unless fixed point
    f64 fat_scale, long_scale; // factors of the stored links
    u64 sources;
    u64 signs;
#if TUNE_PHASES
    f64 phases[8]; // of a direction: real and imaginary part of that of a hop forwards
#endif
#if TUNE_CUT
    rank_table* ranks;
    launch_part part;
#endif
};

// ---- the boundary and other ranks ---------------------------------------------------------------
// Returns how often a hop crosses the boundary of the whole lattice.
template <int MU, int STEPS>
FUNCTION u32 crossings_of(const staggered_fields& a, const site& s)
{
#if TUNE_CUT
    if constexpr (is_cut<MU>())
        return s.off_faces ? 0 : crossings<MU, STEPS>(s) & a.part.edges >> (2 * MU + (STEPS > 0));
#endif
    (void)a;
    return crossings<MU, STEPS>(s);
}

// True if the hop comes from another rank.
template <int MU, int STEPS>
FUNCTION bool is_sent(const site& s)
{
#if TUNE_CUT
    if constexpr (is_cut<MU>()) return !s.off_faces && crossings<MU, STEPS>(s) > 0;
#endif
    (void)s;
    return false;
}

// True if the hop is left out, as it crosses an edge of the lattice.
template <int MU, int STEPS>
FUNCTION bool is_left_out(const site& s)
{
    if constexpr (TUNE_OPEN >> MU & 1) return crossings<MU, STEPS>(s) > 0;
    (void)s;
    return false;
}

// ---- signs --------------------------------------------------------------------------------------
// `signs` has five bits for each direction mu, which say what eta_mu is minus one to the power of:
// the sum of the coordinates x, y, z, t whose bits are set, and 1 if the last bit is. Bit 20 is set
// if hops across the boundary in time change sign.
FUNCTION u32 is_negative(u64 signs, int mu, const site& s)
{
    const u32 odd = (s.x & 1u) | (s.y & 1u) << 1 | (s.z & 1u) << 2 | (s.t & 1u) << 3 | 1u << 4;
    return count_set(static_cast<u32>(signs >> (5 * mu)) & odd) & 1u;
}

// Multiplies a hop by the phase of the boundary, for each time that it crosses it.
template <int MU, int STEPS>
FUNCTION void turn_across(const staggered_fields& a, const site& s, colour_vector& v)
{
#if TUNE_PHASES
    if constexpr (TUNE_PHASES >> MU & 1) {
        const complex_t phase{
            static_cast<real_t>(a.phases[2 * MU]),
            static_cast<real_t>(STEPS > 0 ? a.phases[2 * MU + 1] : -a.phases[2 * MU + 1])};
        for (u32 k = crossings_of<MU, STEPS>(a, s); k > 0; k--) {
            UNROLL
            for (int c = 0; c < 3; c++) v.c[c] = product(phase, v.c[c]);
        }
    }
#else
    (void)a, (void)s, (void)v;
#endif
}

// ---- hops ---------------------------------------------------------------------------------------
// Returns the neighbour that a hop comes from.
template <int MU, int STEPS>
FUNCTION u32 hop_from(const site& s)
{
    if constexpr (STEPS == 1) return site_after<MU>(s);
    if constexpr (STEPS == -1) return site_before<MU>(s);
    return site_beyond<MU, STEPS>(s);
}

FUNCTION constexpr int link_reals(bool is_long)
{
    return is_long ? int(LONG_REALS) : int(FAT_REALS);
}

template <int MU, bool FORWARD, bool IS_LONG>
FUNCTION matrix link_of_hop(const staggered_fields& a, const dslash_work& w, u32 from)
{
    constexpr int REALS = link_reals(IS_LONG);
    if (!FORWARD && is_sent<MU, IS_LONG ? -3 : -1>(w.at)) return matrix{};
    return unpacked<stored_t>(load_packed<REALS, TUNE_LINK_LOAD>(
        links_of<REALS>(IS_LONG ? a.long_links : a.fat_links,
                        FORWARD ? w.parity : other_parity(w.parity), MU),
        FORWARD ? w.at.index : from));
}

FUNCTION colour_vector vector_of(const real_t (&raw)[6])
{
    colour_vector v;
    UNROLL
    for (int c = 0; c < 3; c++) v.c[c] = complex_t{raw[2 * c], raw[2 * c + 1]};
    return v;
}

FUNCTION void flatten(const colour_vector& from, real_t (&out)[6])
{
    UNROLL
    for (int c = 0; c < 3; c++) {
        out[2 * c] = from.c[c].real;
        out[2 * c + 1] = from.c[c].imag;
    }
}

#if TUNE_CUT
// ---- faces --------------------------------------------------------------------------------------
// Slices of a face in a window: of the lower one those next to it, of the upper one that next to it
// times its fat links, then as many times their long links.
enum : u32 { FACE_SLICES = FACE_DEPTH == 1 ? 1 : 1 + FACE_DEPTH };

// Returns the number of a slice among those of all fields.
FUNCTION u64 face_slice(u32 source, u32 parity, u32 slice)
{
    return face_field(source, parity) * FACE_SLICES + slice;
}

// Returns the slice that a hop from another rank comes from.
template <int MU, int STEPS>
FUNCTION u64 slice_of_hop(const dslash_work& w, u32 k)
{
    const u32 at = MU == 1 ? w.at.y : MU == 2 ? w.at.z : w.at.t;
    const u32 slice = STEPS > 0     ? at + static_cast<u32>(STEPS) - extent_of<MU>()
                      : STEPS == -3 ? at + 1
                                    : 0;
    return face_slice(source_of(w, k), other_parity(w.parity), slice);
}
#endif

// Loads the colour vector of a hop, and its norm, from the field that begins at site `start` or
// from a face, which gives both at once.
template <int MU, int STEPS>
FUNCTION colour_vector load_hop(const staggered_fields& a, const dslash_work& w, u32 k, u64 start,
                                u32 from, f32& sent_norm)
{
    real_t raw[6];
#if TUNE_CUT
    if (is_sent<MU, STEPS>(w.at)) {
        const face_memory<real_t, 6> face =
            face_from<real_t, 6, MU>(*a.ranks, STEPS > 0, w.exchange);
        const u64 slice = slice_of_hop<MU, STEPS>(w, k);
        if constexpr (storage<stored_t>::fixed)
            face.load(slice, face_place<MU>(w.at), raw, sent_norm);
        else
            face.load(slice, face_place<MU>(w.at), raw);
        return vector_of(raw);
    }
#endif
    (void)w, (void)k, (void)sent_norm;
    load_reals<6, 0, 6, TUNE_LOAD>(a.in + start * 6, from, raw);
    return vector_of(raw);
}
template <int MU, int STEPS>
FUNCTION real_t load_hop_norm(const staggered_fields& a, const dslash_work& w, u64 start, u32 from,
                              f32 sent_norm)
{
#if TUNE_CUT
    if (is_sent<MU, STEPS>(w.at)) return sent_norm;
#endif
    (void)w, (void)sent_norm;
    return load_norm<stored_t>(a.in_norms + start, from);
}

// ---- sums ---------------------------------------------------------------------------------------
// Adds the hops of all sources over one link. One from another rank has been multiplied by it if it
// goes forwards from there.
template <int MU, bool FORWARD, bool IS_LONG>
FUNCTION void add_hops_over(const staggered_fields& a, const dslash_work& w,
                            colour_vector (&sum)[SPT])
{
    constexpr int STEPS = (FORWARD ? 1 : -1) * (IS_LONG ? 3 : 1);
    if (is_left_out<MU, STEPS>(w.at)) return;
    const u32 from = hop_from<MU, STEPS>(w.at);
    const matrix u = link_of_hop<MU, FORWARD, IS_LONG>(a, w, from);
    u32 negative = is_negative(a.signs, MU, w.at) ^ static_cast<u32>(!FORWARD);
    if constexpr (MU == TIME)
        negative ^= static_cast<u32>(a.signs >> 20) & crossings_of<TIME, STEPS>(a, w.at) & 1u;
    const real_t size =
        link_scale<stored_t>() * static_cast<real_t>(IS_LONG ? a.long_scale : a.fat_scale);
    UNROLL
    for (u32 k = 0; k < SPT; k++) {
        if (!has_source(a.sources, w, k)) break;
        if (TUNE_CUT && !is_iterated(w, k)) continue;
        const u64 start = source_sites(source_of(w, k), other_parity(w.parity));
        f32 sent_norm = 0;
        colour_vector v = load_hop<MU, STEPS>(a, w, k, start, from, sent_norm);
        if (FORWARD)
            v = u * v;
        else if (!is_sent<MU, STEPS>(w.at))
            v = adjoint_times(u, v);
        turn_across<MU, STEPS>(a, w.at, v);
        real_t scale = negative ? -size : size;
        if constexpr (storage<stored_t>::fixed)
            scale *= load_hop_norm<MU, STEPS>(a, w, start, from, sent_norm);
        UNROLL
        for (int c = 0; c < 3; c++) {
            sum[k].c[c].real = multiply_add(sum[k].c[c].real, scale, v.c[c].real);
            sum[k].c[c].imag = multiply_add(sum[k].c[c].imag, scale, v.c[c].imag);
        }
    }
}

template <int MU>
FUNCTION void add_hops(const staggered_fields& a, const dslash_work& w, colour_vector (&sum)[SPT])
{
    add_hops_over<MU, true, false>(a, w, sum);
    add_hops_over<MU, false, false>(a, w, sum);
    if constexpr (LONG_REALS > 0) {
        add_hops_over<MU, true, true>(a, w, sum);
        add_hops_over<MU, false, true>(a, w, sum);
    }
}
