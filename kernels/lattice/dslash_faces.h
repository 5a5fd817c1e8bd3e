// Faces of Wilson-like operators (faces.h): half spinors.
#pragma once
#include "dslash_hops.h"
#include "faces.h"

// Sends a source's half spinor at a site on a face, for the hop from there to another rank: the
// upper face's is for that from x to x + mu, with its link.
template <int MU, bool UPPER>
FUNCTION void send_source(const dslash_fields& a, const face_work& w, u32 source, const matrix& u)
{
    const face_memory<real_t, SPINOR / 2> to =
        face_to<real_t, SPINOR / 2, MU>(*a.ranks, UPPER, w.exchange);
    const u64 start = source_sites(source, w.parity), field = face_field(source, w.parity);
    half_spinor h =
        load_projected<MU, UPPER ? -ETA : ETA, TUNE_LOAD>(a.in + start * SPINOR, w.at.index);
    if (UPPER && !is_unity<MU, true>(a, w.at)) multiply_by<false>(u, h);
    real_t raw[SPINOR / 2];
    UNROLL
    for (int j = 0; j < SPINOR / 2; j++) {
        const complex_t z = h.spin[j / 6].c[j % 6 / 2];
        raw[j] = j % 2 ? z.imag : z.real;
    }
    to.store(field, w.place, raw);
    if constexpr (storage<stored_t>::fixed)
        to.store_norm(field, w.place, load_norm<stored_t>(a.in_norms + start, w.at.index));
}

template <int MU, bool UPPER>
FUNCTION void send_site(const dslash_fields& a, face<MU, UPPER>, const face_work& w)
{
    matrix u{};
    if (UPPER && !is_unity<MU, true>(a, w.at))
        u = unpacked<stored_t>(load_packed<RECONSTRUCT, TUNE_LINK_LOAD>(
            links_of<RECONSTRUCT>(a.links, w.parity, MU), w.at.index));
    EACH_SOURCE
    for (u32 k = 0; k < SPT; k++)
        if (w.source + k < a.sources) send_source<MU, UPPER>(a, w, w.source + k, u);
}
