// Dslash of a doublet of two flavours with a twist and a difference of masses, for one parity or
// both. With tau the Pauli matrices of flavour and T(c) = c.one + i c.five gamma_5 tau_3 + c.tau
// tau_1:
//     out = T(a) D in, or out = T(b) x + T(a) D in
// The operator, its even-odd forms and their adjoints have this form, because the inverse of such a
// T is one, too. Flavours are sources that follow each other; a thread has both.
//
// Parameters and workload are those of dslash.h; TUNE_SOURCES_PER_THREAD is even.
// Traffic: that of the Wilson Dslash for two sources.
#include "dslash.h"

struct flavour_matrix {
    f64 one, five, tau;
};
struct doublet_site_term {
    flavour_matrix a, b;
};
typedef dslash_args<doublet_site_term> doublet_args;
static_assert(SPT % 2 == 0, "a thread has both flavours");

// Adds row FLAVOUR of T(c) v to `sum`; `same` is v of that flavour, `other` of the other.
template <int FLAVOUR>
FUNCTION void add_flavour(real_t (&sum)[SPINOR], const flavour_matrix& c,
                          const real_t (&same)[SPINOR], const real_t (&other)[SPINOR])
{
    const real_t five = static_cast<real_t>(c.five), tau = static_cast<real_t>(c.tau);
    add_twisted(sum, static_cast<real_t>(c.one), FLAVOUR ? -five : five, same);
    UNROLL
    for (int j = 0; j < SPINOR; j++) sum[j] = multiply_add(sum[j], tau, other[j]);
}

template <int FLAVOUR>
FUNCTION void write_flavour(const doublet_args& a, u32 source, u64 start, u32 index,
                            const real_t (&hops)[2][SPINOR], const real_t (&x)[2][SPINOR],
                            kernel_sums& sums)
{
    real_t out[SPINOR] = {};
    if constexpr (TUNE_XPAY) add_flavour<FLAVOUR>(out, a.term.b, x[FLAVOUR], x[1 - FLAVOUR]);
    add_flavour<FLAVOUR>(out, a.term.a, hops[FLAVOUR], hops[1 - FLAVOUR]);
#if TUNE_GUARDED
    apply_tail(a.tail, state_of(source), start, index, x[FLAVOUR], out, sums);
#else
    (void)source, (void)sums;
#endif
    store_site(a.out + start * SPINOR, a.out_norms + start, index, out);
}

KERNEL(dslash_doublet, doublet_args, dslash_shared)
{
    real_t hops[2][SPINOR];
    dslash_by(
        a, s,
        [&](const dslash_work& w, u32 k, u32 source, const spinor& sum, kernel_sums(&sums)[SPT]) {
            if (k % 2 == 0) return flatten(sum, hops[0]);
            flatten(sum, hops[1]);
            const u64 first = source_sites(source - 1, w.parity),
                      second = source_sites(source, w.parity);
            real_t x[2][SPINOR] = {};
            load_x(a, first, w.at.index, x[0]);
            load_x(a, second, w.at.index, x[1]);
            write_flavour<0>(a, source - 1, first, w.at.index, hops, x, sums[k - 1]);
            write_flavour<1>(a, source, second, w.at.index, hops, x, sums[k]);
        });
}
SUMS_KERNEL(dslash_doublet, doublet_args, dslash_shared, a.tail.guard)
