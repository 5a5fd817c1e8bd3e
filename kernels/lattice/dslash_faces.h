// The first launch of a hop on a lattice that is cut (halo.h): each rank sends the spinors of its
// faces, projected, to its neighbours. Threads have places on faces as those of dslash_sites.h have
// sites; a thread sends a site for some of the sources.
#pragma once
#include "dslash_hops.h"

// Sends a source's half spinor at a site on a face, for the hop from there to another rank: the
// upper face's is for that from x to x + mu, with its link.
template <int MU, bool UPPER>
FUNCTION void send_site(const dslash_fields& a, const site& s, u32 place, u32 parity, u32 source,
                        const matrix& u)
{
    const rank_table& t = *a.ranks;
    const face_memory<real_t> face =
        face_in<real_t, MU>(t, t.neighbour[2 * MU + UPPER], 2 * MU + !UPPER, t.sent + 1);
    const u64 start = source_sites(source, parity), field = face_field(source, parity);
    half_spinor h =
        load_projected<MU, UPPER ? -ETA : ETA, TUNE_LOAD>(a.in + start * SPINOR, s.index);
    if (UPPER && !is_unity<MU, true>(a, s)) multiply_by<false>(u, h);
    UNROLL
    for (u32 c = 0; c < SPINOR / 2; c += 16 / sizeof(real_t)) {
        chunk<real_t> v;
        UNROLL
        for (u32 j = 0; j < 16 / sizeof(real_t); j++) {
            const u32 real = c + j;
            const complex_t z = h.spin[real / 6].c[real % 6 / 2];
            v.item[j] = real % 2 ? z.imag : z.real;
        }
        *reinterpret_cast<bytes16*>(face.chunk(field, place, c * sizeof(real_t) / 16)) = v.bytes;
    }
    if constexpr (storage<stored_t>::fixed)
        *face.norm(field, place) = load_norm<stored_t>(a.in_norms + start, s.index);
}

// Sends a site on a face for the thread's sources that are active.
template <int MU, bool UPPER, class Active>
FUNCTION void send_from(const dslash_fields& a, u32 place, u32 parity, u32 first, Active active)
{
    const site s = face_site<MU>(place, UPPER, parity);
    matrix u{};
    if (UPPER && !is_unity<MU, true>(a, s))
        u = unpacked<stored_t>(load_packed<RECONSTRUCT, TUNE_LINK_LOAD>(
            links_of<RECONSTRUCT>(a.links, parity, MU), s.index));
    UNROLL
    for (u32 k = 0; k < SPT; k++)
        if (first + k < a.sources && active(first + k))
            send_site<MU, UPPER>(a, s, place, parity, first + k, u);
}

// Places of the faces of a direction, of both sides and of the parities of the input.
template <int MU>
FUNCTION constexpr u32 face_places()
{
    return is_cut<MU>() ? 2 * (BOTH ? 2 : 1) * face_sites<MU>() : 0;
}
constexpr u32 FACE_PLACES = face_places<1>() + face_places<2>() + face_places<3>();
constexpr u32 FACE_BLOCKS = (FACE_PLACES + SIMT_THREADS - 1) / SIMT_THREADS;

template <int MU, class Active>
FUNCTION void send_place(const dslash_fields& a, u32 place, u32 first, Active active)
{
    if constexpr (MU > 0) {
        if (place >= face_places<MU>())
            return send_place<MU - 1>(a, place - face_places<MU>(), first, active);
        if constexpr (is_cut<MU>()) {
            const u32 side = place / face_sites<MU>();
            const u32 parity = BOTH ? side % 2 : other_parity(TUNE_PARITY);
            if (side >= (BOTH ? 2 : 1))
                send_from<MU, true>(a, place % face_sites<MU>(), parity, first, active);
            else
                send_from<MU, false>(a, place % face_sites<MU>(), parity, first, active);
        }
    }
}

// Body of the kernel that sends faces; `active` says if a source is to be sent.
template <class Active>
FUNCTION void send_faces(const dslash_fields& a, Active active)
{
    const u32 place = block_id() % FACE_BLOCKS * SIMT_THREADS + thread_id();
    const u32 first = block_id() / FACE_BLOCKS * SPT;
    if (place < FACE_PLACES) send_place<TIME>(a, place, first, active);
    bool any = false;
    for (u32 k = 0; k < a.sources; k++) any = any || active(k);
    faces_stored(*a.ranks, any);
}
