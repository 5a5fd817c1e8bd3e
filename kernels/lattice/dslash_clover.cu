// Dslash of Wilson-clover fermions, for one parity or both. C is a Hermitian matrix at each site
// (clover.h): the clover term or its inverse.
//     out = C D in, out = x + a C D in, or out = C x + a D in
//
// Parameters and workload are those of dslash.h, and
//     TUNE_XPAY  1: there is x
//     TUNE_SITE  0: C is applied to the hopping term, 1: C is applied to x
// Traffic a site and source: that of the Wilson Dslash, and the matrices of a site, which the
// sources of a thread share through the L1 cache.
#include "dslash.h"

#include "clover.h"

struct dslash_clover_args {
    dslash_fields d;
    const stored_t* x;
    const f32* x_norms;
    stored_t* out;
    f32* out_norms;
    f64 a;
    const stored_t* clover;
    const f32* clover_norms;
#if TUNE_GUARDED
    tail_args tail;
#endif
};

FUNCTION void write_spinor(const dslash_clover_args& a, u32 source, u64 start, u32 index,
                           const spinor& sum, kernel_sums& sums)
{
    // With both parities, the fields of odd sites follow those of the even sites.
    const u64 first = BOTH ? start % (2 * static_cast<u64>(SITES)) : TUNE_PARITY * SITES;
    const stored_t* const clover = a.clover + first * CLOVER;
    const f32* const norms = a.clover_norms + first;
    const real_t factor = TUNE_XPAY ? static_cast<real_t>(a.a) : 1;
    real_t hops[SPINOR], x[SPINOR] = {}, out[SPINOR] = {};
    flatten(sum, hops);
    if constexpr (TUNE_XPAY) load_site(a.x + start * SPINOR, a.x_norms + start, index, x);
    UNROLL
    for (int j = 0; j < SPINOR; j++) out[j] = TUNE_SITE ? factor * hops[j] : x[j];
    if constexpr (TUNE_SITE)
        add_clover_times(clover, norms, index, 1, x, out);
    else
        add_clover_times(clover, norms, index, factor, hops, out);
#if TUNE_GUARDED
    apply_tail(a.tail, source, start, index, x, out, sums);
#else
    (void)source, (void)sums;
#endif
    store_site(a.out + start * SPINOR, a.out_norms + start, index, out);
}

KERNEL(dslash_clover, dslash_clover_args, dslash_shared)
{
#if TUNE_GUARDED
    const tail_args& tail = a.tail;
#else
    const tail_args tail{};
#endif
    dslash_sites(a.d, tail, s,
                 [&](u32 source, u64 start, u32 index, const spinor& sum, kernel_sums& sums) {
                     write_spinor(a, source, start, index, sum, sums);
                 });
}
