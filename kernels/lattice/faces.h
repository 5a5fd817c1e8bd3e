// The blocks that send the faces of a lattice that is cut (launch_parts.h): each rank sends the
// sites of its faces to its neighbours, spinors projected to half spinors, colour vectors as they
// are. Those of hops forwards, from x to x + mu, are multiplied by their link, which the sender
// has. Threads have places on faces as those of dslash_sites.h have sites; a thread sends a site
// for some of the sources.
//
// An operator defines
//     send_site(fields, face<MU, UPPER>{}, work)
//                       sends a site on the lower or the upper face of direction MU for the sources
//                       of the thread, of fields.sources in all
#pragma once
#include "dslash_sites.h"

template <int MU, bool UPPER>
struct face {
};

struct face_work {
    site at;
    u32 place;  // in its slice
    u32 depth;  // slices between it and the face
    u32 parity; // of the site
    u32 source; // the first of SPT sources
    u32 exchange;
};

// Sends the site at a place of the faces of direction MU and those below it.
template <int MU, class Fields>
FUNCTION void send_place(const Fields& a, u32 place, u32 first)
{
    if constexpr (MU > 0) {
        if (place >= face_places<MU>())
            return send_place<MU - 1>(a, place - face_places<MU>(), first);
        if constexpr (is_cut<MU>()) {
            const u32 row = place / face_sites<MU>(), slice = row / FACE_PARITIES;
            const bool upper = slice >= FACE_DEPTH;
            face_work w;
            w.place = place % face_sites<MU>();
            w.depth = slice % FACE_DEPTH;
            w.parity = BOTH ? row % 2 : other_parity(TUNE_PARITY);
            w.source = first;
            w.exchange = number_sent_now(*a.ranks);
            w.at =
                face_site<MU>(w.place, upper ? extent_of<MU>() - 1 - w.depth : w.depth, w.parity);
            if (upper)
                send_site(a, face<MU, true>{}, w);
            else
                send_site(a, face<MU, false>{}, w);
        }
    }
}

// Body of the blocks that send faces, of sources of which one at least is wanted (is_wanted). Other
// ranks wait for faces of wanted sources alone, and may have other sources together.
template <class Args, class Tiling>
FUNCTION void send_faces(const Args& a, u32 block, Tiling tiles)
{
    const u32 talking = thread_id() == 0 ? talking_blocks(a, tiles) : 0;
    if constexpr (TUNE_GUARDED) block_sync(); // a step may follow a face, and change the states
    const u32 place = block % FACE_BLOCKS * SIMT_THREADS + thread_id();
    if (place < FACE_PLACES) send_place<TIME>(a.d, place, block / FACE_BLOCKS * SPT);
    block_sync(); // all threads have used the number
    if (thread_id() == 0 && count_block(*a.d.ranks, talking)) set_flags(*a.d.ranks, STAGED_FACES);
}
