// The clover term as a field: a Hermitian 6x6 matrix of complex numbers for each site and
// chirality.
//
// A matrix is 36 reals: its diagonal, then the elements below it, row by row. Rows are spin
// (slowest) and colour of that chirality in the DeGrand-Rossi basis. A site has 72 reals in native
// order, those of gamma_5 = 1 first; a field has parity 0 first. Fixed-point fields have one norm a
// site. In the basis of wilson.h, with u and l the upper and lower half of a spinor, the chiral
// halves are (u + l) / sqrt(2) and (u - l) / sqrt(2).
#pragma once
#include "spinor.h"
#include "su3.h"

enum { SIX = SPINOR / 4, BLOCK = SIX * SIX, CLOVER = 2 * BLOCK };

// Returns the index of the real part of an element below the diagonal.
FUNCTION constexpr int place_below(int row, int column)
{
    return SIX + 2 * (row * (row - 1) / 2 + column);
}

FUNCTION complex_t element_of(const real_t (&block)[BLOCK], int row, int column)
{
    if (row == column) return complex_t{block[row], 0};
    const int at = row > column ? place_below(row, column) : place_below(column, row);
    return complex_t{block[at], row > column ? block[at + 1] : -block[at + 1]};
}

struct six_vector {
    complex_t c[SIX];
};

FUNCTION six_vector operator*(const real_t (&block)[BLOCK], const six_vector& v)
{
    six_vector r;
    UNROLL
    for (int i = 0; i < SIX; i++) r.c[i] = scaled(block[i], v.c[i]);
    UNROLL
    for (int i = 1; i < SIX; i++) {
        UNROLL
        for (int j = 0; j < i; j++) {
            const complex_t e = element_of(block, i, j);
            r.c[i] = multiply_add(r.c[i], e, v.c[j]);
            r.c[j] = multiply_add_conj(r.c[j], e, v.c[i]);
        }
    }
    return r;
}

// Returns the half of a spinor that has a chirality, gamma_5 = sign, times sqrt(2).
FUNCTION six_vector chiral_half(const real_t (&v)[SPINOR], real_t sign)
{
    six_vector h;
    UNROLL
    for (int j = 0; j < SIX; j++) {
        const int u = 2 * j, l = 2 * j + SPINOR / 2;
        h.c[j] = complex_t{v[u] + sign * v[l], v[u + 1] + sign * v[l + 1]};
    }
    return h;
}

// Adds factor * sqrt(2) * (spinor with this half, and 0 in the other) to `sum`.
FUNCTION void add_chiral_half(real_t (&sum)[SPINOR], real_t sign, real_t factor,
                              const six_vector& h)
{
    UNROLL
    for (int j = 0; j < SIX; j++) {
        const int u = 2 * j, l = 2 * j + SPINOR / 2;
        sum[u] = multiply_add(sum[u], factor, h.c[j].real);
        sum[u + 1] = multiply_add(sum[u + 1], factor, h.c[j].imag);
        sum[l] = multiply_add(sum[l], sign * factor, h.c[j].real);
        sum[l + 1] = multiply_add(sum[l + 1], sign * factor, h.c[j].imag);
    }
}

// Loads the matrix of a site and chirality, without its norm.
template <class S>
FUNCTION void load_chiral(const S* clover, u32 index, int chirality, real_t (&block)[BLOCK])
{
    if (chirality == 0)
        load_reals<CLOVER, 0, BLOCK, 0>(clover, index, block);
    else
        load_reals<CLOVER, BLOCK, BLOCK, 0>(clover, index, block);
}

// Adds factor * (matrices of a site) * (spinor) to `sum`.
template <class S>
FUNCTION void add_clover_times(const S* clover, const f32* norms, u32 index, real_t factor,
                               const real_t (&v)[SPINOR], real_t (&sum)[SPINOR])
{
    // Includes the factors 1/sqrt(2) of the two rotations of the basis.
    const real_t half = factor * load_norm<S>(norms, index) / 2;
    UNROLL
    for (int chirality = 0; chirality < 2; chirality++) {
        const real_t sign = chirality == 0 ? 1 : -1;
        real_t block[BLOCK];
        load_chiral(clover, index, chirality, block);
        six_vector h = chiral_half(v, sign);
        h = block * h;
        add_chiral_half(sum, sign, half, h);
    }
}
