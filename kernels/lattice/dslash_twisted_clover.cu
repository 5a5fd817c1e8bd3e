// Dslash of twisted-mass fermions with a clover term, for one parity or both. C is the clover term
// (clover.h) and K the inverse of C^2 + t^2, Hermitian matrices at each site:
//     out = K (C - i t gamma_5) D in, out = x + a K (C - i t gamma_5) D in, or
//     out = (C + i t gamma_5) x + a D in
// K (C - i t gamma_5) is the inverse of C + i t gamma_5, a normal matrix that is not Hermitian: to
// keep it as such would take as many reals as C and K.
//
// Parameters and workload are those of dslash.h, and
//     TUNE_SITE  0: the inverse is applied to the hopping term, 1: C + i t gamma_5 to x
// Traffic a site and source: that of the Wilson Dslash, and the matrices of a site, C and K or C
// alone, which the sources of a thread share through the L1 cache.
#include "dslash.h"

#include "clover.h"

struct twisted_clover_term {
    f64 a, t;
    const stored_t* clover;
    const f32* clover_norms;
    const stored_t* inverse; // K
    const f32* inverse_norms;
};

// Returns (C + i t) h for the matrix C, with its norm, of a site and chirality.
FUNCTION six_vector twisted_times(const stored_t* clover, real_t norm, u32 index, int chirality,
                                  real_t t, const six_vector& h)
{
    real_t block[BLOCK];
    load_chiral(clover, index, chirality, block);
    six_vector r = block * h;
    UNROLL
    for (int j = 0; j < SIX; j++)
        r.c[j] = complex_t{multiply_subtract(norm * r.c[j].real, t, h.c[j].imag),
                           multiply_add(norm * r.c[j].imag, t, h.c[j].real)};
    return r;
}

FUNCTION void apply_site_term(const dslash_args<twisted_clover_term>& a, u64 start, u32 index,
                              const real_t (&hops)[SPINOR], real_t (&x)[SPINOR],
                              real_t (&out)[SPINOR])
{
    // With both parities, the fields of odd sites follow those of the even sites.
    const u64 first = BOTH ? start % (2 * static_cast<u64>(SITES)) : TUNE_PARITY * SITES;
    const real_t norm = load_norm<stored_t>(a.term.clover_norms + first, index);
    const real_t t = static_cast<real_t>(TUNE_SITE ? a.term.t : -a.term.t);
    const real_t factor = TUNE_XPAY ? static_cast<real_t>(a.term.a) : 1;
    real_t half = static_cast<real_t>(0.5); // 1/sqrt(2) of either rotation of the basis
    if constexpr (!TUNE_SITE)
        half *= factor * load_norm<stored_t>(a.term.inverse_norms + first, index);
    real_t units[SPINOR] = {};
    if constexpr (TUNE_SITE) {
        half *= load_x_units(a, start, index, x, units);
    } else {
        load_x(a, start, index, x);
        UNROLL
        for (int j = 0; j < SPINOR; j++) out[j] = x[j];
    }
    UNROLL
    for (int chirality = 0; chirality < 2; chirality++) {
        const real_t sign = chirality == 0 ? 1 : -1;
        six_vector h;
        if constexpr (TUNE_SITE)
            h = chiral_half(units, sign);
        else
            h = chiral_half(hops, sign);
        h = twisted_times(a.term.clover + first * CLOVER, norm, index, chirality, sign * t, h);
        if constexpr (!TUNE_SITE) {
            real_t block[BLOCK];
            load_chiral(a.term.inverse + first * CLOVER, index, chirality, block);
            h = block * h;
        }
        add_chiral_half(out, sign, half, h);
    }
    if constexpr (TUNE_SITE) {
        UNROLL
        for (int j = 0; j < SPINOR; j++) out[j] = multiply_add(out[j], factor, hops[j]);
    }
}

DSLASH_KERNELS(dslash_twisted_clover, twisted_clover_term)
