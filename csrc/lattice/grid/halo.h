// Numbers of sites on the faces of a lattice that is cut, for launches and messages. Kernels have
// the same as constants in kernels/lattice/halo.h and faces.h, which explain the faces;
// tests/lattice/test_halo_sites.py compares the two.
#ifndef CUBC_LATTICE_HALO_H
#define CUBC_LATTICE_HALO_H

#include "base/integer.h"

typedef struct halo_shape {
    int extents[4]; // x first, which is never cut
    int cut;        // bit d: direction d
    int depth;      // slices of a face
} halo_shape;

// Sites of one parity of a slice across direction d.
static inline uint64_t halo_slice_sites(const int extents[4], int d)
{
    uint64_t sites = 1;
    for (int e = 0; e < 4; e++)
        if (e != d) sites *= (uint64_t)extents[e];
    return sites / 2;
}

// Sites of one parity on all faces, two of each cut direction. A site on several faces counts once
// for each.
static inline uint64_t halo_face_sites(halo_shape s)
{
    uint64_t sites = 0;
    for (int d = 1; d < 4; d++)
        if (s.cut >> d & 1) sites += 2 * (uint64_t)s.depth * halo_slice_sites(s.extents, d);
    return sites;
}

// Sites of one parity that are on no face: none where the faces of a direction meet.
static inline uint64_t halo_interior_sites(halo_shape s)
{
    uint64_t sites = 1;
    for (int d = 0; d < 4; d++) {
        const int left = s.extents[d] - (s.cut >> d & 1 ? 2 * s.depth : 0);
        sites *= (uint64_t)(left > 0 ? left : 0);
    }
    return sites / 2;
}

#endif
