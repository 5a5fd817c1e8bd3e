// Dslash of twisted-mass fermions (spinor.h), for one parity or both:
//     out = (a + i a5 gamma_5) D in, or out = (b + i b5 gamma_5) x + (a + i a5 gamma_5) D in
// The operator, its even-odd forms and their adjoints have this form, because the inverse of a
// twist is a twist. It takes 96 operations a site more than the 1320 of the Wilson Dslash.
//
// Parameters and workload are those of dslash.h.
// Traffic: that of the Wilson Dslash.
#include "dslash.h"

struct twisted_site_term {
    f64 a, a5, b, b5;
};

FUNCTION void apply_site_term(const dslash_args<twisted_site_term>& a, u64 start, u32 index,
                              const real_t (&hops)[SPINOR], real_t (&x)[SPINOR],
                              real_t (&out)[SPINOR])
{
    load_x(a, start, index, x);
    if constexpr (TUNE_XPAY)
        add_twisted(out, static_cast<real_t>(a.term.b), static_cast<real_t>(a.term.b5), x);
    add_twisted(out, static_cast<real_t>(a.term.a), static_cast<real_t>(a.term.a5), hops);
}

DSLASH_KERNELS(dslash_twisted, twisted_site_term)
