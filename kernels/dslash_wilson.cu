// The Wilson Dslash, wilson.h, of one parity or of both: out = D in, or out = x + a D in.
//
// Parameters and workload are those of dslash.h, and
//     TUNE_XPAY  there is x
// Traffic a site and source: the links (eight a site of one parity, four of both), shared by the
// sources of a thread, a spinor read and one written, another read if there is x.
#include "dslash.h"

struct dslash_wilson_args {
    dslash_fields d;
    const stored_t* x;
    const f32* x_norms;
    stored_t* out;
    f32* out_norms;
    f64 a;
};
struct dslash_wilson_shared {
    u64 none;
};

FUNCTION void write_spinor(const dslash_wilson_args& a, u64 start, u32 index, const spinor& sum)
{
    real_t out[SPINOR];
    flatten(sum, out);
    if constexpr (TUNE_XPAY) {
        const real_t factor = static_cast<real_t>(a.a);
        real_t x[SPINOR];
        load_site(a.x + start * SPINOR, a.x_norms + start, index, x);
        UNROLL
        for (int j = 0; j < SPINOR; j++) out[j] = x[j] + factor * out[j];
    }
    store_site(a.out + start * SPINOR, a.out_norms + start, index, out);
}

KERNEL(dslash_wilson, dslash_wilson_args, dslash_wilson_shared)
{
    (void)s;
    dslash_work w;
    spinor sum[SPT];
    if (!dslash_work_of(w)) return;
    dslash_at(a.d, w, sum);
    UNROLL
    for (u32 k = 0; k < SPT; k++)
        if (has_source(a.d, w, k))
            write_spinor(a, source_sites(w.source + k, w.parity), w.at.index, sum[k]);
}
