// Projects the links of a gauge field back to SU(3), or any matrices to U(3).
//
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 32:512:32 cpu=1:1:1
// %RANGE% TUNE_SITES_PER_THREAD spt 1:1:1 cpu=64:64:1
//
// Workload: that of lattice.h, and
//     TUNE_T           type of stored reals: f64, f32
//     TUNE_PROJECTION  0: Gram-Schmidt, row 0 first; 1: the nearest matrix of SU(3); 2: that of
//                      U(3); see unitary.h
// Traffic: the links are read once and written once.
#include "lattice.h"
typedef TUNE_T stored_t;
typedef real_of<stored_t> real_t;
#include "unitary.h"

enum { ROWS, NEAREST, UNITARY };

struct gauge_project_args {
    const stored_t* links;
    stored_t* out; // may be the same as links
};

FUNCTION matrix projected(matrix u)
{
    if constexpr (TUNE_PROJECTION == NEAREST) return nearest(u);
    if constexpr (TUNE_PROJECTION == UNITARY) return nearest_unitary(u);
    orthonormalise(u);
    return u;
}

KERNEL(gauge_project, gauge_project_args, no_shared)
{
    (void)s;
    for (u32 k = 0; k < TUNE_SITES_PER_THREAD; k++) {
        const u64 number = thread_site<TUNE_SITES_PER_THREAD>(k);
        const u32 parity = number >= SITES, index = static_cast<u32>(number - parity * SITES);
        if (number >= 2 * static_cast<u64>(SITES)) return;
        for (int d = 0; d < DIRECTIONS; d++)
            store_link<LINK>(links_of<LINK>(a.out, parity, d), index,
                             projected(load_matrix(links_of<LINK>(a.links, parity, d), index)));
    }
}
