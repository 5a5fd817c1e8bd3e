// Wilson Dslash (wilson.h), for one parity or both: out = D in, or out = x + a D in.
//
// Parameters and workload are those of dslash.h, and
//     TUNE_XPAY  1: there is x
// Traffic a site and source: the links (eight a site of one parity, four of both) are read, shared
// by the sources of a thread; a spinor is read and one is written, another is read if there is x.
#include "dslash.h"

struct dslash_wilson_args {
    dslash_fields d;
    const stored_t* x;
    const f32* x_norms;
    stored_t* out;
    f32* out_norms;
    f64 a;
#if TUNE_GUARDED
    tail_args tail;
#endif
};

FUNCTION void write_spinor(const dslash_wilson_args& a, u32 source, u64 start, u32 index,
                           const spinor& sum, kernel_sums& sums)
{
    real_t out[SPINOR], x[SPINOR] = {};
    flatten(sum, out);
    if constexpr (TUNE_XPAY) {
        const real_t factor = static_cast<real_t>(a.a);
        load_site(a.x + start * SPINOR, a.x_norms + start, index, x);
        UNROLL
        for (int j = 0; j < SPINOR; j++) out[j] = x[j] + factor * out[j];
    }
#if TUNE_GUARDED
    apply_tail(a.tail, source, start, index, x, out, sums);
#else
    (void)source, (void)sums;
#endif
    store_site(a.out + start * SPINOR, a.out_norms + start, index, out);
}

KERNEL(dslash_wilson, dslash_wilson_args, dslash_shared)
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
