// Place of a rank's part in the whole lattice, so that random numbers are those of a site there.
#pragma once
#include "lattice.h"

// csrc/lattice/gauge/part.c fills it in, in this order.
struct part_place {
    u64 y, z, t;      // of the part's first site
    u64 all_y, all_z; // extents of the whole lattice
    u64 all_sites;    // of one parity
};

// Returns the number in the whole lattice, where even sites come first, of a site of the part.
FUNCTION u64 number_in_all(const part_place& p, u32 parity, u32 x, u32 y, u32 z, u32 t)
{
    return parity * p.all_sites + x / 2 +
           HALF_X * (p.y + y + p.all_y * (p.z + z + p.all_z * (p.t + t)));
}
