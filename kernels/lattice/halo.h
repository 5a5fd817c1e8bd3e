// Faces of a lattice that is a part of a larger one. The neighbours of a site on a cut face are on
// another rank (face_memory.h), or on the far side of this one if it is its own neighbour. A face
// is as deep as hops are long: HALO_DEPTH slices of sites, 1 unless the operator says otherwise.
//
// The workload's macro: TUNE_CUT, with bit d set if direction d is cut; x never is.
#pragma once
#include "lattice.h"

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
