// A rank's part of a lattice with sites of its neighbours around it, so that kernels which read
// neighbours need not know of ranks: TUNE_MARGIN sites on each side of the directions that are cut.
// The extents are those of all of it. The margin is even, so that a site's parity is the whole
// lattice's.
//
// The workload's macros: TUNE_CUT, that of halo.h, and TUNE_MARGIN.
#pragma once
#include "face_memory.h"
#include "part_place.h"

static_assert(TUNE_MARGIN % 2 == 0, "parities stay");

template <int MU>
FUNCTION constexpr u32 margin_of()
{
    return is_cut<MU>() ? TUNE_MARGIN : 0;
}

enum : u32 {
    PART_Y = TUNE_LY - 2 * margin_of<1>(),
    PART_Z = TUNE_LZ - 2 * margin_of<2>(),
    PART_T = TUNE_LT - 2 * margin_of<3>(),
    PART_SITES = HALF_X * PART_Y * PART_Z * PART_T, // of one parity
};

// Returns a site of the part; without a cut it is that of site_of.
FUNCTION site part_site(u32 index, u32 parity)
{
    const u32 row = index / HALF_X, slab = row / PART_Y;
    return site_at(index % HALF_X, margin_of<1>() + row % PART_Y, margin_of<2>() + slab % PART_Z,
                   margin_of<3>() + slab / PART_Z, parity);
}

// Returns the number of a site of the part in the whole lattice.
FUNCTION u64 number_in_all(const part_place& p, u32 parity, const site& s)
{
    return number_in_all(p, parity, s.x, s.y - margin_of<1>(), s.z - margin_of<2>(),
                         s.t - margin_of<3>());
}
