// Wilson Dslash (wilson.h), for one parity or both: out = D in, or out = x + a D in.
//
// Parameters and workload are those of dslash.h.
// Traffic a site and source: the links (eight a site of one parity, four of both) are read, shared
// by the sources of a thread; a spinor is read and one is written, another is read if there is x.
#include "dslash.h"

struct wilson_site_term {
    f64 a;
};

FUNCTION void apply_site_term(const dslash_args<wilson_site_term>& a, u64 start, u32 index,
                              const real_t (&hops)[SPINOR], real_t (&x)[SPINOR],
                              real_t (&out)[SPINOR])
{
    const real_t factor = static_cast<real_t>(a.term.a);
    load_x(a, start, index, x);
    UNROLL
    for (int j = 0; j < SPINOR; j++)
        out[j] = TUNE_XPAY ? multiply_add(x[j], factor, hops[j]) : hops[j];
}

DSLASH_KERNELS(dslash_wilson, wilson_site_term)
