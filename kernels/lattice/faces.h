// The first launch of a hop on a lattice that is cut (halo.h): each rank sends the sites of its
// faces to its neighbours. Threads have places on faces as those of dslash_sites.h have sites; a
// thread sends a site for some of the sources.
//
// An operator defines
//     send_site(fields, face<MU, UPPER>{}, work, active)
//                       sends a site on the lower or the upper face of direction MU for the sources
//                       of the thread that are active
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
};

// Places of the faces of a direction, of both sides and of the parities of the input.
enum : u32 { FACE_PARITIES = BOTH ? 2 : 1 };
template <int MU>
FUNCTION constexpr u32 face_places()
{
    return is_cut<MU>() ? 2 * FACE_DEPTH * FACE_PARITIES * face_sites<MU>() : 0;
}
constexpr u32 FACE_PLACES = face_places<1>() + face_places<2>() + face_places<3>();
constexpr u32 FACE_BLOCKS = ceil_div(FACE_PLACES, SIMT_THREADS);

// Sends the site at a place of the faces of direction MU and those below it.
template <int MU, class Fields, class Active>
FUNCTION void send_place(const Fields& a, u32 place, u32 first, Active active)
{
    if constexpr (MU > 0) {
        if (place >= face_places<MU>())
            return send_place<MU - 1>(a, place - face_places<MU>(), first, active);
        if constexpr (is_cut<MU>()) {
            const u32 row = place / face_sites<MU>(), slice = row / FACE_PARITIES;
            const bool upper = slice >= FACE_DEPTH;
            face_work w;
            w.place = place % face_sites<MU>();
            w.depth = slice % FACE_DEPTH;
            w.parity = BOTH ? row % 2 : other_parity(TUNE_PARITY);
            w.source = first;
            w.at =
                face_site<MU>(w.place, upper ? extent_of<MU>() - 1 - w.depth : w.depth, w.parity);
            if (upper)
                send_site(a, face<MU, true>{}, w, active);
            else
                send_site(a, face<MU, false>{}, w, active);
        }
    }
}

// Body of the kernel that sends faces.
template <class Args>
FUNCTION void send_faces(const Args& a)
{
    const auto active = [&](u32 source) {
#if TUNE_GUARDED
        return source < a.d.sources && is_active(a.tail.guard, state_of(source));
#else
        return source < a.d.sources;
#endif
    };
    const u32 place = block_id() % FACE_BLOCKS * SIMT_THREADS + thread_id();
    if (place < FACE_PLACES) send_place<TIME>(a.d, place, block_id() / FACE_BLOCKS * SPT, active);
    bool any = false;
    for (u32 k = 0; k < a.d.sources; k++) any = any || active(k);
    faces_stored(*a.d.ranks, any);
}

// The kernel: it has waited for the launch before, whose results the next one has too.
#define FACES_KERNEL(name, args)              \
    KERNEL_BETWEEN(name, args, dslash_shared) \
    {                                         \
        (void)s;                              \
        wait_for_launch_before();             \
        let_next_launch_begin();              \
        send_faces(a);                        \
    }
