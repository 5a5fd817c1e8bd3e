// Faces of a lattice that is a part of a larger one. The neighbours of a site on a cut face are on
// another rank (ranks.h), or on the far side of this one if it is its own neighbour. A face is as
// deep as hops are long: HALO_DEPTH slices of sites, 1 unless the operator says otherwise.
//
// A hop is two launches. The first sends the faces: spinors projected to half spinors, colour
// vectors as they are; those of hops forwards, from x to x + mu, are multiplied by their link,
// which the sender has. The second computes the sites off the faces, and then, in blocks that wait
// for the neighbours, those on them, each as a whole: sums are in the order of a lattice that is
// not cut. It begins while the first one runs, of which blocks without sites on faces need nothing.
// Staged faces (ranks.h) are moved before a third launch, which has the sites on them.
//
// A face in a window has the reals of all fields in turn, in f64 or f32 as they are calculated:
// chunk k of 16 bytes of all sites before chunk k + 1 of any; the last may be shorter. Norms of
// fixed-point fields follow.
//
// The workload's macro: TUNE_CUT, with bit d set if direction d is cut; x never is.
#pragma once
#include "lattice.h"
#include "ranks.h"

#ifndef HALO_DEPTH
#define HALO_DEPTH 1
#endif

enum : u32 { FACE_DEPTH = HALO_DEPTH };
static_assert(TUNE_CUT < 16 && TUNE_CUT % 2 == 0, "x is not cut");

template <int MU>
FUNCTION constexpr bool is_cut()
{
    return TUNE_CUT >> MU & 1;
}

// Returns the sites of one parity of a slice of a face.
template <int MU>
FUNCTION constexpr u32 face_sites()
{
    return HALF_X * (MU == 1 ? 1 : TUNE_LY) * (MU == 2 ? 1 : TUNE_LZ) * (MU == 3 ? 1 : TUNE_LT);
}

template <int MU>
FUNCTION constexpr u32 extent_of()
{
    return MU == 1 ? TUNE_LY : MU == 2 ? TUNE_LZ : TUNE_LT;
}

// Returns a site's place in its slice of a direction, and the site of a place in slice `at`.
template <int MU>
FUNCTION u32 face_place(const site& s)
{
    const u32 row = MU == 1 ? s.z + TUNE_LZ * s.t : s.y + TUNE_LY * (MU == 2 ? s.t : s.z);
    return s.x / 2 + HALF_X * row;
}
template <int MU>
FUNCTION site face_site(u32 place, u32 at, u32 parity)
{
    const u32 half_x = place % HALF_X, row = place / HALF_X;
    if constexpr (MU == 1)
        return site_at(half_x, at, row % TUNE_LZ, row / TUNE_LZ, parity);
    else if constexpr (MU == 2)
        return site_at(half_x, row % TUNE_LY, at, row / TUNE_LY, parity);
    else
        return site_at(half_x, row % TUNE_LY, row / TUNE_LY, at, parity);
}

// ---- the order of sites -------------------------------------------------------------------------
// Slices on either face of a direction: all of them where the faces meet.
template <int MU>
FUNCTION constexpr u32 exterior_slices()
{
    constexpr u32 extent = extent_of<MU>(), both = 2 * FACE_DEPTH;
    return !is_cut<MU>() ? 0 : extent < both ? extent : both;
}
// Extents of the sites off the faces, and the first of them in each direction.
enum : u32 {
    INTERIOR_Y = TUNE_LY - exterior_slices<1>(),
    INTERIOR_Z = TUNE_LZ - exterior_slices<2>(),
    INTERIOR_T = TUNE_LT - exterior_slices<3>(),
    INTERIOR_SITES = HALF_X * INTERIOR_Y * INTERIOR_Z * INTERIOR_T, // of one parity
    FIRST_Y = exterior_slices<1>() / 2,
    FIRST_Z = exterior_slices<2>() / 2,
    FIRST_T = exterior_slices<3>() / 2,
};

// Returns the coordinate of one of the slices on faces.
template <int MU>
FUNCTION u32 exterior_slice(u32 k)
{
    constexpr u32 slices = exterior_slices<MU>();
    return k < slices / 2 ? k : k + (extent_of<MU>() - slices);
}

// Returns one of the sites on the faces: those of t, then those of z that are left, then of y.
FUNCTION site exterior_site(u32 place, u32 parity)
{
    constexpr u32 of_t = HALF_X * TUNE_LY * TUNE_LZ, of_z = HALF_X * TUNE_LY * INTERIOR_T,
                  of_y = HALF_X * INTERIOR_Z * INTERIOR_T;
    const u32 half_x = place % HALF_X;
    if constexpr (is_cut<3>()) {
        if (place < exterior_slices<3>() * of_t)
            return face_site<3>(place % of_t, exterior_slice<3>(place / of_t), parity);
        place -= exterior_slices<3>() * of_t;
    }
    if constexpr (is_cut<2>() && of_z > 0) {
        const u32 row = place % of_z / HALF_X;
        if (place < exterior_slices<2>() * of_z)
            return site_at(half_x, row % TUNE_LY, exterior_slice<2>(place / of_z),
                           FIRST_T + row / TUNE_LY, parity);
        place -= exterior_slices<2>() * of_z;
    }
    if constexpr (is_cut<1>() && of_y > 0) {
        const u32 row = place % of_y / HALF_X;
        return site_at(half_x, exterior_slice<1>(place / of_y), FIRST_Z + row % INTERIOR_Z,
                       FIRST_T + row / INTERIOR_Z, parity);
    }
    return site{};
}

// ---- faces in memory ----------------------------------------------------------------------------
// A face in a window that holds slices, of fields of REALS a site. Norms are where they are behind
// the most slices that there is room for.
template <class Real, int REALS>
struct face_memory {
    u8* begin;
    u64 sites, norms_at;

    FUNCTION_MEMBER void load(u64 slice, u32 place, Real (&out)[REALS]) const
    {
        UNROLL
        for (int c = 0; c < REALS; c += WHOLE) {
            const Real* const at = address(slice, place, c);
            chunk<Real> v;
            if (items(c) == WHOLE)
                v.bytes = *reinterpret_cast<const bytes16*>(at);
            else
                v.two_words[0] = *reinterpret_cast<const u64*>(at);
            UNROLL
            for (int j = 0; j < WHOLE; j++)
                if (j < items(c)) out[c + j] = v.item[j];
        }
    }
    FUNCTION_MEMBER void store(u64 slice, u32 place, const Real (&in)[REALS]) const
    {
        UNROLL
        for (int c = 0; c < REALS; c += WHOLE) {
            Real* const at = address(slice, place, c);
            chunk<Real> v;
            UNROLL
            for (int j = 0; j < WHOLE; j++)
                if (j < items(c)) v.item[j] = in[c + j];
            if (items(c) == WHOLE)
                *reinterpret_cast<bytes16*>(at) = v.bytes;
            else
                *reinterpret_cast<u64*>(at) = v.two_words[0];
        }
    }
    FUNCTION_MEMBER f32* norm(u64 slice, u32 place) const
    {
        return reinterpret_cast<f32*>(begin + norms_at) + slice * sites + place;
    }

private:
    enum : int { WHOLE = 16 / sizeof(Real) };
    static_assert(REALS % WHOLE * sizeof(Real) % 8 == 0, "a chunk is 16 bytes or 8");

    FUNCTION_MEMBER static constexpr int items(int first)
    {
        return REALS - first < WHOLE ? REALS - first : WHOLE;
    }
    FUNCTION_MEMBER Real* address(u64 slice, u32 place, int first) const
    {
        return reinterpret_cast<Real*>(begin) + (slice * REALS + static_cast<u64>(first)) * sites +
               static_cast<u64>(place) * static_cast<u64>(items(first));
    }
};

// Returns a face in a window, in one of its places.
template <class Real, int REALS, int MU>
FUNCTION face_memory<Real, REALS> face_in(const rank_table& t, u8* window, u32 face, u64 place)
{
    return face_memory<Real, REALS>{window + t.slots_at + rank_slot(face, place) * t.slot_bytes,
                                    face_sites<MU>(),
                                    rank_norms_at(t.slot_bytes, REALS * sizeof(Real))};
}

// Returns the face that goes to the neighbour on a side (1: upper), whose other side it is, and
// that which has come from there.
template <class Real, int REALS, int MU>
FUNCTION face_memory<Real, REALS> face_to(const rank_table& t, u32 upper)
{
    const u32 face = 2 * MU + upper;
    return face_in<Real, REALS, MU>(t, t.neighbour[face], face ^ 1,
                                    place_in_turn(t, face, t.sent + 1));
}
template <class Real, int REALS, int MU>
FUNCTION face_memory<Real, REALS> face_from(const rank_table& t, u32 upper)
{
    const u32 face = 2 * MU + upper;
    return face_in<Real, REALS, MU>(t, t.mine, face, place_in_turn(t, face, t.sent));
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
