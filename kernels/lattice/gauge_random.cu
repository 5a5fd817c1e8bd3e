// Random SU(3) matrices: a gauge field, or a gauge rotation with one matrix a site.
//
// The rows of identity * 1 + noise * G are orthonormalised in their order (unitary.h). All elements
// of G are normal, with real and imaginary parts of variance 1. So (identity, noise) = (1, 0) gives
// unity, (0, 1) gives the Haar measure, and values in between give fields of intermediate
// roughness.
//
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 32:512:32 cpu=1:1:1
// %RANGE% TUNE_SITES_PER_THREAD spt 1:1:1 cpu=64:64:1
//
// Workload: that of lattice.h, and
//     TUNE_T         type of stored reals: f64, f32
//     TUNE_MATRICES  matrices a site: 4 for a gauge field, 1 for a rotation
//     TUNE_PART      1: the lattice is a part of a larger one, whose site numbers it has
// Traffic: all matrices are written.
#include "lattice.h"
typedef TUNE_T stored_t;
typedef real_of<stored_t> real_t;
#include "part_place.h"
#include "unitary.h"

struct gauge_random_args {
    stored_t* out;
    u64 seed;
    f64 identity, noise;
#if TUNE_PART
    part_place place;
#endif
};

FUNCTION matrix random_matrix(u64 seed, u32 number, u32 direction, f64 identity, f64 noise)
{
    random_stream random = random_stream_of(seed, number, 0, direction);
    matrix u;
    UNROLL
    for (int i = 0; i < 3; i++) {
        UNROLL
        for (int j = 0; j < 3; j++) {
            real_t normal[2];
            draw_normal(random, normal);
            u.element[i][j] = scaled(static_cast<real_t>(noise), complex_t{normal[0], normal[1]});
            if (i == j) u.element[i][j].real += static_cast<real_t>(identity);
        }
    }
    orthonormalise(u);
    return u;
}

KERNEL(gauge_random, gauge_random_args, no_shared)
{
    (void)s;
    for (u32 k = 0; k < TUNE_SITES_PER_THREAD; k++) {
        const u64 number = thread_site<TUNE_SITES_PER_THREAD>(k);
        const u32 parity = number >= SITES, index = static_cast<u32>(number - parity * SITES);
        if (number >= 2 * static_cast<u64>(SITES)) return;
        for (u32 d = 0; d < TUNE_MATRICES; d++) {
            stored_t* const field =
                a.out + static_cast<u64>(parity * TUNE_MATRICES + d) * SITES * LINK;
#if TUNE_PART
            const site at = site_of(index, parity);
            const u64 drawn = number_in_all(a.place, parity, at.x, at.y, at.z, at.t);
            store_link<LINK>(
                field, index,
                random_matrix(a.seed, static_cast<u32>(drawn), d, a.identity, a.noise));
#else
            store_link<LINK>(
                field, index,
                random_matrix(a.seed, static_cast<u32>(number), d, a.identity, a.noise));
#endif
        }
    }
}
