// Multiplies spinors by a Hermitian matrix at each site (clover.h): the clover term or its inverse.
//
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 32:512:32 cpu=1:1:1
// %RANGE% TUNE_SITES_PER_THREAD spt 1:1:1 cpu=64:64:1
//
// Workload: that of lattice.h, and
//     TUNE_T       type of stored reals: f64, f32, or i16 for fixed point
// Traffic a site and source: the matrices and a spinor are read, a spinor is written.
#include "lattice.h"
typedef TUNE_T stored_t;
typedef real_of<stored_t> real_t;
#include "clover.h"

struct clover_apply_args {
    const stored_t* clover;
    const f32* clover_norms;
    const stored_t* x;
    const f32* x_norms;
    stored_t* out;
    f32* out_norms;
    u64 fields; // spinor fields of one parity, over all sources
    u64 parity; // 0 or 1; 2: fields of parity 0 and 1 alternate
};

KERNEL(clover_apply_sites, clover_apply_args, no_shared)
{
    (void)s;
    for (u32 k = 0; k < TUNE_SITES_PER_THREAD; k++) {
        const u64 place = thread_site<TUNE_SITES_PER_THREAD>(k);
        const u64 field = place / SITES, start = field * SITES;
        const u32 index = static_cast<u32>(place % SITES);
        if (field >= a.fields) return;
        const u64 first = (a.parity == 2 ? field % 2 : a.parity) * SITES;
        real_t x[SPINOR], out[SPINOR] = {};
        load_site(a.x + start * SPINOR, a.x_norms + start, index, x);
        add_clover_times(a.clover + first * CLOVER, a.clover_norms + first, index, 1, x, out);
        store_site(a.out + start * SPINOR, a.out_norms + start, index, out);
    }
}
