// Multiplies spinors by a + i a5 gamma_5 (spinor.h).
//
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 32:512:32 cpu=1:1:1
// %RANGE% TUNE_SITES_PER_THREAD spt 1:1:1 cpu=64:64:1
//
// Workload: that of lattice.h, and
//     TUNE_T  type of stored reals: f64, f32, or i16 for fixed point
// Traffic: the field is read once and written once.
#include "lattice.h"
typedef TUNE_T stored_t;
typedef real_of<stored_t> real_t;
#include "spinor.h"

struct spinor_twist_args {
    const stored_t* x;
    const f32* x_norms;
    stored_t* out;
    f32* out_norms;
    u64 fields; // fields of one parity, over all sources
    f64 a, a5;
};

KERNEL(spinor_twist_sites, spinor_twist_args, no_shared)
{
    (void)s;
    for (u32 k = 0; k < TUNE_SITES_PER_THREAD; k++) {
        const u64 place = thread_site<TUNE_SITES_PER_THREAD>(k);
        const u64 field = place / SITES, start = field * SITES;
        const u32 index = static_cast<u32>(place % SITES);
        real_t x[SPINOR], out[SPINOR] = {};
        if (field >= a.fields) return;
        load_site(a.x + start * SPINOR, a.x_norms + start, index, x);
        add_twisted(out, static_cast<real_t>(a.a), static_cast<real_t>(a.a5), x);
        store_site(a.out + start * SPINOR, a.out_norms + start, index, out);
    }
}
