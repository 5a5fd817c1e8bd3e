// Spinors as the reals of a site, and what acts on one without its neighbours.
//
// A spinor is 24 reals: spin slowest, then colour, then real and imaginary part. The including
// kernel defines real_t, the type of the calculation.
#pragma once
#include "simt.h"

enum { SPINOR = 24 };

// Changes between the DeGrand-Rossi basis and that of wilson.h: multiplies by (tau_1 + tau_3) /
// sqrt(2), which is its own inverse.
FUNCTION void change_basis(real_t (&v)[SPINOR])
{
    const real_t root = static_cast<real_t>(0.70710678118654752440);
    for (int j = 0; j < SPINOR / 2; j++) {
        const real_t upper = v[j], lower = v[j + SPINOR / 2];
        v[j] = root * (upper + lower);
        v[j + SPINOR / 2] = root * (upper - lower);
    }
}

// Adds (a + i b gamma_5) v to `sum`, the site term of twisted-mass fermions: R. Frezzotti, P. A.
// Grassi, S. Sint and P. Weisz, "Lattice QCD with a chirally twisted mass term" (2001). In the
// basis of wilson.h gamma_5 swaps the halves of a spinor.
FUNCTION void add_twisted(real_t (&sum)[SPINOR], real_t a, real_t b, const real_t (&v)[SPINOR])
{
    UNROLL
    for (int j = 0; j < SPINOR; j += 2) {
        const int other = (j + SPINOR / 2) % SPINOR;
        sum[j] = multiply_add(sum[j], a, v[j]);
        sum[j + 1] = multiply_add(sum[j + 1], a, v[j + 1]);
        sum[j] = multiply_subtract(sum[j], b, v[other + 1]);
        sum[j + 1] = multiply_add(sum[j + 1], b, v[other]);
    }
}
