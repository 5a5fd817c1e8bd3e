// Rotation to temporal gauge, in which links in time, except for those of the last slice, are 1:
//     g(x, 0) = 1,  g(x, t + 1) = g(x, t) U_4(x, t)
// A thread goes along time. The result of each step is orthonormalised, so that rounding errors do
// not accumulate. See M. Creutz, "Gauge fixing, the transfer matrix, and confinement on a lattice"
// (1977).
//
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 32:512:32 cpu=1:1:1
// %RANGE% TUNE_SITES_PER_THREAD spt 1:1:1 cpu=16:16:1
//
// Workload: that of lattice.h, and
//     TUNE_T     type of stored reals: f64, f32
//     TUNE_PART  1: a part of the lattice, whose first slice has the rotation that is given
// Traffic: the links in time are read once, one matrix a site is written.
#include "lattice.h"
typedef TUNE_T stored_t;
typedef real_of<stored_t> real_t;
#include "unitary.h"

struct gauge_temporal_args {
    const stored_t* links;
    stored_t* rotation;
#if TUNE_PART
    real_t (*edge)[3][3][2]; // of the first slice; then of the slice behind the last
#endif
};

enum { SLICE = SITES / TUNE_LT }; // sites of one parity in a time slice

FUNCTION matrix next_rotation(const matrix& g, const matrix& link)
{
    matrix next = g * link;
    orthonormalise(next);
    return next;
}

#if TUNE_PART
FUNCTION matrix edge_rotation(const real_t (&reals)[3][3][2])
{
    matrix g;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) g.element[i][j] = complex_t{reals[i][j][0], reals[i][j][1]};
    return g;
}

FUNCTION void set_edge(real_t (&reals)[3][3][2], const matrix& g)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            reals[i][j][0] = g.element[i][j].real;
            reals[i][j][1] = g.element[i][j].imag;
        }
}
#endif

// Computes g along the line in time that begins at a site of slice 0. The next site of the line has
// the same place in the next slice.
FUNCTION void walk(const gauge_temporal_args& a, u32 parity, u32 index)
{
#if TUNE_PART
    real_t(&edge)[3][3][2] = a.edge[parity * SLICE + index];
    matrix g = edge_rotation(edge);
#else
    matrix g = unity();
#endif
    for (u32 t = 0; t < TUNE_LT; t++) {
        store_link<LINK>(matrices_of(a.rotation, parity), index, g);
        g = next_rotation(g, load_matrix(links_of<LINK>(a.links, parity, TIME), index));
        parity = other_parity(parity);
        index += SLICE;
    }
#if TUNE_PART
    set_edge(edge, g);
#endif
}

KERNEL(gauge_temporal, gauge_temporal_args, no_shared)
{
    (void)s;
    for (u32 k = 0; k < TUNE_SITES_PER_THREAD; k++) {
        const u32 number = (block_id() * SIMT_THREADS + thread_id()) * TUNE_SITES_PER_THREAD + k;
        const u32 parity = number >= SLICE;
        if (number >= 2 * static_cast<u32>(SLICE)) return;
        walk(a, parity, number - parity * SLICE);
    }
}
