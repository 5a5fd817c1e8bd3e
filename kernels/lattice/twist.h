// Multiplication of spinors by a + i b gamma_5, the site term of twisted-mass fermions: R.
// Frezzotti, P. A. Grassi, S. Sint and P. Weisz, "Lattice QCD with a chirally twisted mass term"
// (2001). In the basis of wilson.h gamma_5 swaps the halves of a spinor.
#pragma once
#include "spinor.h"

// The including kernel defines real_t, the type of the calculation.

// Adds (a + i b gamma_5) v to `sum`.
FUNCTION void add_twisted(real_t (&sum)[SPINOR], real_t a, real_t b, const real_t (&v)[SPINOR])
{
    UNROLL
    for (int j = 0; j < SPINOR; j += 2) {
        const int other = (j + SPINOR / 2) % SPINOR;
        sum[j] += a * v[j];
        sum[j + 1] += a * v[j + 1];
        sum[j] -= b * v[other + 1];
        sum[j + 1] += b * v[other];
    }
}
