// Dslash of Wilson-clover fermions, for one parity or both. C is a Hermitian matrix at each site
// (clover.h): the clover term or its inverse.
//     out = C D in, out = x + a C D in, or out = C x + a D in
//
// Parameters and workload are those of dslash.h, and
//     TUNE_SITE  0: C is applied to the hopping term, 1: C is applied to x
// Traffic a site and source: that of the Wilson Dslash, and the matrices of a site, which the
// sources of a thread share through the L1 cache.
#include "dslash.h"

#include "clover.h"

struct clover_site_term {
    f64 a;
    const stored_t* clover;
    const f32* clover_norms;
};

FUNCTION void apply_site_term(const dslash_args<clover_site_term>& a, u64 start, u32 index,
                              const real_t (&hops)[SPINOR], real_t (&x)[SPINOR],
                              real_t (&out)[SPINOR])
{
    // With both parities, the fields of odd sites follow those of the even sites.
    const u64 first = BOTH ? start % (2 * static_cast<u64>(SITES)) : TUNE_PARITY * SITES;
    const stored_t* const clover = a.term.clover + first * CLOVER;
    const f32* const norms = a.term.clover_norms + first;
    const real_t factor = TUNE_XPAY ? static_cast<real_t>(a.term.a) : 1;
    if constexpr (TUNE_SITE) {
        real_t units[SPINOR] = {};
        const real_t norm = load_x_units(a, start, index, x, units);
        add_clover_times(clover, norms, index, norm, units, out);
        UNROLL
        for (int j = 0; j < SPINOR; j++) out[j] = multiply_add(out[j], factor, hops[j]);
    } else {
        load_x(a, start, index, x);
        UNROLL
        for (int j = 0; j < SPINOR; j++) out[j] = x[j];
        add_clover_times(clover, norms, index, factor, hops, out);
    }
}

DSLASH_KERNELS(dslash_clover, clover_site_term)
