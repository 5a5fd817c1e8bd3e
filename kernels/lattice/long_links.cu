// Long links of improved staggered fermions, L_mu(x) = factor U_mu(x) U_mu(x + mu) U_mu(x + 2 mu):
// S. Naik, "On-shell improved lattice action for QCD with Susskind fermions" (1989).
//
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 32:512:32 cpu=1:1:1
// %RANGE% TUNE_SITES_PER_THREAD spt 1:1:1 cpu=64:64:1
//
// Workload: that of lattice.h, and
//     TUNE_T  type of stored reals: f64, f32
// Traffic: the links are read once, where the caches keep neighbours, and as many written.
#include "lattice.h"
typedef TUNE_T stored_t;
typedef real_of<stored_t> real_t;
#include "loops.h"

struct long_links_args {
    const stored_t* links;
    stored_t* out;
    f64 factor;
};

KERNEL(long_links, long_links_args, no_shared)
{
    (void)s;
    for (u32 k = 0; k < TUNE_SITES_PER_THREAD; k++) {
        const u64 number = thread_site<TUNE_SITES_PER_THREAD>(k);
        if (number >= 2 * static_cast<u64>(SITES)) return;
        const full_site here = full_site_of(number);
        for (int mu = 0; mu < DIRECTIONS; mu++) {
            const full_site next = moved(here, mu, true);
            matrix path = link_at(a.links, here, mu) * link_at(a.links, next, mu) *
                          link_at(a.links, moved(next, mu, true), mu);
            UNROLL
            for (int i = 0; i < 3; i++) {
                UNROLL
                for (int j = 0; j < 3; j++)
                    path.element[i][j] = scaled(static_cast<real_t>(a.factor), path.element[i][j]);
            }
            store_link<LINK>(links_of<LINK>(a.out, here.parity, mu), here.at.index, path);
        }
    }
}
