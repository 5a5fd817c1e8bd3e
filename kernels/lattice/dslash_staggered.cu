// Dslash of staggered fermions (staggered_hops.h), naive or improved, for one parity or both:
// out = a D in, or out = b x + a D in.
//
// Parameters and workload are those of dslash_sites.h and staggered_hops.h.
// Traffic a site and source: the links (8 of a site of one parity, 16 improved, are read, shared by
// the sources of a thread; half as many of both parities); a vector is read and one is written,
// another is read if there is x.
#include "staggered_hops.h"

struct staggered_site_term {
    f64 a, b;
};

FUNCTION void apply_site_term(const operator_args<staggered_fields, staggered_site_term>& a,
                              u64 start, u32 index, const real_t (&hops)[6], real_t (&x)[6],
                              real_t (&out)[6])
{
    const real_t hop = static_cast<real_t>(a.term.a), diagonal = static_cast<real_t>(a.term.b);
    load_x(a, start, index, x);
    UNROLL
    for (int j = 0; j < 6; j++)
        out[j] = TUNE_XPAY ? multiply_add(diagonal * x[j], hop, hops[j]) : hop * hops[j];
}

typedef operator_args<staggered_fields, staggered_site_term> dslash_staggered_args;

#if TUNE_CUT
#include "staggered_faces.h"
#endif

KERNEL(dslash_staggered, dslash_staggered_args, dslash_shared) { dslash(a, s); }
SUMS_KERNEL(dslash_staggered, dslash_staggered_args, dslash_shared, a.tail.guard)
