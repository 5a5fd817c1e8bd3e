// Faces of staggered operators (faces.h): colour vectors of the slices that hops reach from another
// rank. Those for hops forwards from here are multiplied by their links, fat and long.
#pragma once
#include "faces.h"
#include "staggered_hops.h"

template <bool IS_LONG>
FUNCTION matrix link_from(const staggered_fields& a, const face_work& w, int direction)
{
    constexpr int REALS = link_reals(IS_LONG);
    return unpacked<stored_t>(load_packed<REALS, TUNE_LINK_LOAD>(
        links_of<REALS>(IS_LONG ? a.long_links : a.fat_links, w.parity, direction), w.at.index));
}

// Sends a source's colour vector at a site as one of a slice.
template <int MU, bool UPPER>
FUNCTION void send_vector(const staggered_fields& a, const face_work& w, u32 source, u32 slice,
                          const colour_vector& v)
{
    const face_memory<real_t, 6> to = face_to<real_t, 6, MU>(*a.ranks, UPPER, w.exchange);
    const u64 at = face_slice(source, w.parity, slice);
    real_t raw[6];
    flatten(v, raw);
    to.store(at, w.place, raw);
    if constexpr (storage<stored_t>::fixed)
        to.store_norm(at, w.place,
                      load_norm<stored_t>(a.in_norms + source_sites(source, w.parity), w.at.index));
}

template <int MU, bool UPPER>
FUNCTION void send_site(const staggered_fields& a, face<MU, UPPER>, const face_work& w)
{
    constexpr bool is_long = UPPER && LONG_REALS > 0;
    const bool fat = UPPER && w.depth == 0;
    matrix u{}, l{};
    if (fat) u = link_from<false>(a, w, MU);
    if constexpr (is_long) l = link_from<true>(a, w, MU);
    UNROLL
    for (u32 k = 0; k < SPT; k++) {
        const u32 source = w.source + k;
        if (source >= a.sources) break;
        real_t raw[6];
        load_reals<6, 0, 6, TUNE_LOAD>(a.in + source_sites(source, w.parity) * 6, w.at.index, raw);
        const colour_vector v = vector_of(raw);
        if (!UPPER) send_vector<MU, UPPER>(a, w, source, w.depth, v);
        if (fat) send_vector<MU, UPPER>(a, w, source, 0, adjoint_times(u, v));
        if constexpr (is_long)
            send_vector<MU, UPPER>(a, w, source, FACE_DEPTH - w.depth, adjoint_times(l, v));
    }
}
