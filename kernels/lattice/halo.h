// Faces of a lattice that is a part of a larger one. The neighbours of a site on a cut face are on
// another rank (ranks.h), or on the far side of this one if it is its own neighbour.
//
// A hop of spinors is two launches. The first sends the faces, projected to half spinors; those of
// hops forwards, from x to x + mu, are multiplied by their link, which the sender has. The second
// computes the sites off the faces, and then, in blocks that wait for the neighbours, those on
// them, each as a whole: sums are in the order of a lattice that is not cut. It begins while the
// first one runs, of which blocks without sites on faces need nothing.
//
// A face in a window has the half spinors of all fields in turn, in f64 or f32 as they are
// calculated: chunk k of 16 bytes of all sites before chunk k + 1 of any. Norms of fixed-point
// fields follow.
//
// The workload's macro: TUNE_CUT, with bit d set if direction d is cut; x never is.
#pragma once
#include "lattice.h"
#include "ranks.h"

static_assert(TUNE_CUT < 16 && TUNE_CUT % 2 == 0, "x is not cut");

template <int MU>
FUNCTION constexpr bool is_cut()
{
    return TUNE_CUT >> MU & 1;
}

// Returns the sites of one parity of a face.
template <int MU>
FUNCTION constexpr u32 face_sites()
{
    return HALF_X * (MU == 1 ? 1 : TUNE_LY) * (MU == 2 ? 1 : TUNE_LZ) * (MU == 3 ? 1 : TUNE_LT);
}

// Returns a site's place on the faces of a direction, and the other way round.
template <int MU>
FUNCTION u32 face_place(const site& s)
{
    const u32 row = MU == 1 ? s.z + TUNE_LZ * s.t : s.y + TUNE_LY * (MU == 2 ? s.t : s.z);
    return s.x / 2 + HALF_X * row;
}
template <int MU>
FUNCTION site face_site(u32 place, bool upper, u32 parity)
{
    const u32 half_x = place % HALF_X, row = place / HALF_X;
    if constexpr (MU == 1)
        return site_at(half_x, upper ? TUNE_LY - 1 : 0, row % TUNE_LZ, row / TUNE_LZ, parity);
    else if constexpr (MU == 2)
        return site_at(half_x, row % TUNE_LY, upper ? TUNE_LZ - 1 : 0, row / TUNE_LY, parity);
    else
        return site_at(half_x, row % TUNE_LY, row / TUNE_LY, upper ? TUNE_LT - 1 : 0, parity);
}

// ---- the order of sites -------------------------------------------------------------------------
// Extents of the sites off the faces, and the first of them in each direction.
template <int MU>
FUNCTION constexpr u32 inner_extent(u32 extent)
{
    return is_cut<MU>() ? extent - 2 : extent;
}
enum : u32 {
    INNER_Y = inner_extent<1>(TUNE_LY),
    INNER_Z = inner_extent<2>(TUNE_LZ),
    INNER_T = inner_extent<3>(TUNE_LT),
    INNER_SITES = HALF_X * INNER_Y * INNER_Z * INNER_T, // of one parity
    FIRST_Y = is_cut<1>(),
    FIRST_Z = is_cut<2>(),
    FIRST_T = is_cut<3>(),
};

// Returns one of the sites on the faces: those of t, then those of z that are left, then of y.
FUNCTION site outer_site(u32 place, u32 parity)
{
    constexpr u32 of_t = HALF_X * TUNE_LY * TUNE_LZ, of_z = HALF_X * TUNE_LY * INNER_T,
                  of_y = HALF_X * INNER_Z * INNER_T;
    const u32 half_x = place % HALF_X;
    if constexpr (is_cut<3>()) {
        if (place < 2 * of_t) return face_site<3>(place % of_t, place >= of_t, parity);
        place -= 2 * of_t;
    }
    if constexpr (is_cut<2>() && of_z > 0) {
        const u32 row = place % of_z / HALF_X;
        if (place < 2 * of_z)
            return site_at(half_x, row % TUNE_LY, place < of_z ? 0 : TUNE_LZ - 1,
                           FIRST_T + row / TUNE_LY, parity);
        place -= 2 * of_z;
    }
    if constexpr (is_cut<1>() && of_y > 0) {
        const u32 row = place % of_y / HALF_X;
        return site_at(half_x, place < of_y ? 0 : TUNE_LY - 1, FIRST_Z + row % INNER_Z,
                       FIRST_T + row / INNER_Z, parity);
    }
    return site{};
}

// ---- faces in memory ----------------------------------------------------------------------------
// A face in a window that holds fields of half spinors of 12 reals. Norms are where they are behind
// the most fields that there is room for.
template <class Real>
struct face_memory {
    u8* begin;
    u64 sites, norms_at;

    FUNCTION_MEMBER u8* chunk(u64 field, u32 place, u32 k) const
    {
        return begin + ((field * (12 * sizeof(Real) / 16) + k) * sites + place) * 16;
    }
    FUNCTION_MEMBER f32* norm(u64 field, u32 place) const
    {
        return reinterpret_cast<f32*>(begin + norms_at) + field * sites + place;
    }
};

// Returns a face of an exchange in a window, that of this rank or of the neighbour who gets it.
template <class Real, int MU>
FUNCTION face_memory<Real> face_in(const rank_table& t, u8* window, u32 face, u64 exchange)
{
    enum : u64 { HALF_SPINOR = 12 * sizeof(Real), WITH_NORM = HALF_SPINOR + sizeof(f32) };
    const u64 slot = exchange % 2 * RANK_SLOTS + face - 2; // x has none
    return face_memory<Real>{window + t.slots_at + slot * t.slot_bytes, face_sites<MU>(),
                             t.slot_bytes / WITH_NORM * HALF_SPINOR};
}

// Waits for all faces of the exchange of this hop, which the launch that sent this rank's own ones
// has counted. All threads of a block call this.
FUNCTION void wait_for_faces(const rank_table& t)
{
    if (thread_id() == 0) {
        const u64 exchange = t.sent;
        UNROLL
        for (u32 face = 2; face < RANK_FACES; face++)
            if (TUNE_CUT >> face / 2 & 1)
                wait_for_rank(t, face_flag(t.mine, face), exchange, MESSAGE_FACE, face);
    }
    block_sync();
}

// Tells the neighbours that their faces are there, once all blocks have stored theirs and if there
// are any. All threads of all blocks call this.
FUNCTION void faces_stored(rank_table& t, bool any)
{
    block_sync(); // thread 0 publishes what all threads of the block have stored
    if (thread_id() != 0) return;
    system_fence();
    if (atomic_add(&t.arrived, 1) + 1 != block_count()) return;
    t.arrived = 0;
    if (!any) return;
    system_fence();
    const u64 exchange = ++t.sent;
    UNROLL
    for (u32 face = 2; face < RANK_FACES; face++) // the upper one is a lower one there
        if (TUNE_CUT >> face / 2 & 1)
            store_release_system(face_flag(t.neighbour[face], face ^ 1), exchange);
}
