// Dslash of twisted-mass fermions (twist.h), for one parity or both:
//     out = (a + i a5 gamma_5) D in, or out = (b + i b5 gamma_5) x + (a + i a5 gamma_5) D in
// The operator, its even-odd forms and their adjoints have this form, because the inverse of a
// twist is a twist. It takes 96 operations a site more than the 1320 of the Wilson Dslash.
//
// Parameters and workload are those of dslash.h, and
//     TUNE_XPAY  1: there is x
// Traffic: that of the Wilson Dslash.
#include "dslash.h"
#include "twist.h"

struct dslash_twisted_args {
    dslash_fields d;
    const stored_t* x;
    const f32* x_norms;
    stored_t* out;
    f32* out_norms;
    f64 a, a5, b, b5;
#if TUNE_GUARDED
    tail_args tail;
#endif
};

FUNCTION void write_spinor(const dslash_twisted_args& a, u32 source, u64 start, u32 index,
                           const spinor& sum, kernel_sums& sums)
{
    real_t hops[SPINOR], x[SPINOR] = {}, out[SPINOR] = {};
    flatten(sum, hops);
    if constexpr (TUNE_XPAY) {
        load_site(a.x + start * SPINOR, a.x_norms + start, index, x);
        add_twisted(out, static_cast<real_t>(a.b), static_cast<real_t>(a.b5), x);
    }
    add_twisted(out, static_cast<real_t>(a.a), static_cast<real_t>(a.a5), hops);
#if TUNE_GUARDED
    apply_tail(a.tail, source, start, index, x, out, sums);
#else
    (void)source, (void)sums;
#endif
    store_site(a.out + start * SPINOR, a.out_norms + start, index, out);
}

KERNEL(dslash_twisted, dslash_twisted_args, dslash_shared)
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
