// Inverse and determinant of the matrices C of a clover term (clover.h), or of C^2 + shift.
//
// A matrix is inverted in place by the sweep operator, one sweep for each row (J. H. Goodnight, "A
// tutorial on the SWEEP operator", 1979). Positive definite matrices need no pivoting. The pivots
// are those of the decomposition L D L^+, so that their product is the determinant.
//
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 32:256:32 cpu=1:1:1
// %RANGE% TUNE_SITES_PER_THREAD spt 1:1:1 cpu=16:16:1
//
// Workload: that of lattice.h, and
//     TUNE_FROM, TUNE_TO  types of the clover term and of its inverse
//     TUNE_SQUARED        1: of C^2 + shift
// Traffic: the clover term is read, the inverse and one f64 a site are written.
#include "lattice.h"

typedef TUNE_FROM from_t;
typedef TUNE_TO to_t;
typedef real_of<TUNE_WIDE> real_t;
#include "clover.h"

struct clover_invert_args {
    const from_t* clover;
    const f32* clover_norms;
    to_t* out;
    f32* out_norms;
    f64* log_det; // log |det| of a site: both matrices
    f64 shift;
};

FUNCTION void put_element(real_t (&block)[BLOCK], int row, int column, complex_t e)
{
    const int at = place_below(row, column);
    block[at] = e.real;
    block[at + 1] = e.imag;
}

// Sweeps row k and returns its pivot. Sweeping all rows leaves the negative of the inverse.
FUNCTION real_t sweep(real_t (&block)[BLOCK], int k)
{
    const real_t pivot = block[k], d = 1 / pivot;
    UNROLL
    for (int i = 0; i < SIX; i++) {
        if (i == k) continue;
        const complex_t from = scaled(-d, element_of(block, i, k));
        block[i] += (from * element_of(block, k, i)).real;
        UNROLL
        for (int j = 0; j < i; j++)
            if (j != k)
                put_element(block, i, j,
                            multiply_add(element_of(block, i, j), from, element_of(block, k, j)));
    }
    UNROLL
    for (int i = 0; i < SIX; i++) {
        if (i < k) put_element(block, k, i, scaled(d, element_of(block, k, i)));
        if (i > k) put_element(block, i, k, scaled(d, element_of(block, i, k)));
    }
    block[k] = -d;
    return pivot;
}

// Replaces C by C^2 + shift.
FUNCTION void square(real_t (&block)[BLOCK], real_t shift)
{
    real_t product[BLOCK];
    UNROLL
    for (int i = 0; i < SIX; i++) {
        UNROLL
        for (int j = 0; j <= i; j++) {
            complex_t sum{i == j ? shift : 0, 0};
            UNROLL
            for (int k = 0; k < SIX; k++)
                sum = multiply_add(sum, element_of(block, i, k), element_of(block, k, j));
            if (i == j)
                product[i] = sum.real;
            else
                put_element(product, i, j, sum);
        }
    }
    UNROLL
    for (int j = 0; j < BLOCK; j++) block[j] = product[j];
}

FUNCTION void invert_site(const clover_invert_args& a, u64 start, u32 index)
{
    real_of<from_t> in[CLOVER];
    real_of<to_t> out[CLOVER];
    f64 determinant = 1;
    load_site(a.clover + start * CLOVER, a.clover_norms + start, index, in);
    UNROLL
    for (int chirality = 0; chirality < 2; chirality++) {
        real_t block[BLOCK];
        UNROLL
        for (int j = 0; j < BLOCK; j++) block[j] = static_cast<real_t>(in[chirality * BLOCK + j]);
        if constexpr (TUNE_SQUARED) square(block, static_cast<real_t>(a.shift));
        UNROLL
        for (int k = 0; k < SIX; k++) determinant *= sweep(block, k);
        UNROLL
        for (int j = 0; j < BLOCK; j++)
            out[chirality * BLOCK + j] = static_cast<real_of<to_t>>(-block[j]);
    }
    store_site(a.out + start * CLOVER, a.out_norms + start, index, out);
    a.log_det[start + index] = log(determinant < 0 ? -determinant : determinant);
}

KERNEL(clover_invert_sites, clover_invert_args, no_shared)
{
    (void)s;
    for (u32 k = 0; k < TUNE_SITES_PER_THREAD; k++) {
        const u64 place = thread_site<TUNE_SITES_PER_THREAD>(k);
        const u64 parity = place / SITES;
        if (parity >= 2) return;
        invert_site(a, parity * SITES, static_cast<u32>(place % SITES));
    }
}
