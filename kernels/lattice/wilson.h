// Hopping term of Wilson fermions:
//     D psi(x) = sum over mu of (1 - gamma_mu) U_mu(x) psi(x + mu)
//                             + (1 + gamma_mu) U_mu(x - mu)^+ psi(x - mu)
// K. G. Wilson, "Quarks and strings on a lattice" (1977). The adjoint has both signs of gamma
// changed.
//
// In the basis of fields in native order gamma_4 is diagonal, so that hops in time need half a
// spinor. With tau the Pauli matrices between the halves,
//     gamma_k = tau_2 x s_k sigma_k, s = (1, -1, 1),  gamma_4 = tau_3 x 1,  gamma_5 = tau_1 x 1.
// It is the DeGrand-Rossi basis rotated by (tau_1 + tau_3) / sqrt(2). A projected spinor has two
// independent spins, h, so that a hop multiplies two colour vectors. With eta = 1 for 1 - gamma and
// -1 for 1 + gamma, u and l the halves and J = i s_k sigma_k (J^2 = -1):
//     space  h = u + eta J l, which adds h to u and -eta J h to l
//     time   eta = 1: 2 l adds to l;  eta = -1: 2 u adds to u
#pragma once
#include "spinor.h"
#include "su3.h"

struct half_spinor {
    colour_vector spin[2];
};
struct spinor {
    half_spinor upper, lower;
};

FUNCTION half_spinor half_of(const real_t* raw)
{
    half_spinor h;
    UNROLL
    for (int s = 0; s < 2; s++)
        for (int c = 0; c < 3; c++)
            h.spin[s].c[c] = complex_t{raw[6 * s + 2 * c], raw[6 * s + 2 * c + 1]};
    return h;
}

FUNCTION complex_t times_i(complex_t z) { return complex_t{-z.imag, z.real}; }

// Returns component s of J h for one colour.
template <int K>
FUNCTION complex_t times_j(const half_spinor& h, int s, int colour)
{
    const complex_t other = h.spin[1 - s].c[colour], same = h.spin[s].c[colour];
    if constexpr (K == 0) return times_i(other);
    if constexpr (K == 1) return s == 0 ? -other : other;
    return s == 0 ? times_i(same) : -times_i(same);
}

// Adds factor * z to `sum`. SCALED is false where the factor is 1 or -1.
template <bool SCALED>
FUNCTION void add_scaled(complex_t& sum, real_t factor, complex_t z)
{
    if constexpr (SCALED) {
        sum.real = multiply_add(sum.real, factor, z.real);
        sum.imag = multiply_add(sum.imag, factor, z.imag);
    } else {
        sum = factor > 0 ? sum + z : sum - z;
    }
}

// Halves of fixed-point spinors that are loaded shifted (lattice.h). projected_scale is the
// resulting factor of projections.
enum { UPPER_SHIFTED = TUNE_CONVERT == 2, LOWER_SHIFTED = TUNE_CONVERT >= 1 };
template <class S>
FUNCTION constexpr real_t projected_scale()
{
    return storage<S>::fixed && UPPER_SHIFTED ? 1 / SHIFTED_ONE : 1;
}

template <int MU, int ETA, int CACHING, class S>
FUNCTION half_spinor load_projected(const S* field, u32 index)
{
    enum { HALF = SPINOR / 2 };
    if constexpr (MU == TIME) {
        real_t raw[HALF];
        load_reals<SPINOR, ETA == 1 ? HALF : 0, HALF, CACHING, UPPER_SHIFTED ? 0 : SPINOR>(
            field, index, raw);
        return half_of(raw);
    } else {
        constexpr bool shifted = storage<S>::fixed && LOWER_SHIFTED && !UPPER_SHIFTED;
        const real_t unit = shifted ? 1 / SHIFTED_ONE : 1;
        const real_t factor = ETA == 1 ? unit : -unit;
        real_t raw[SPINOR];
        load_reals<SPINOR, 0, SPINOR, CACHING,
                   UPPER_SHIFTED   ? 0
                   : LOWER_SHIFTED ? HALF
                                   : SPINOR>(field, index, raw);
        half_spinor h = half_of(raw);
        const half_spinor lower = half_of(raw + HALF);
        UNROLL
        for (int s = 0; s < 2; s++) {
            UNROLL
            for (int c = 0; c < 3; c++)
                add_scaled<shifted>(h.spin[s].c[c], factor, times_j<MU>(lower, s, c));
        }
        return h;
    }
}

// Adds factor times the four spins that h represents to `sum`, in time half of that. SCALED is
// false where the factor is 1.
template <int MU, int ETA, bool SCALED>
FUNCTION void add_projected(spinor& sum, real_t factor, const half_spinor& h)
{
    UNROLL
    for (int s = 0; s < 2; s++) {
        UNROLL
        for (int c = 0; c < 3; c++) {
            if constexpr (MU == TIME) {
                half_spinor& half = ETA == 1 ? sum.lower : sum.upper;
                add_scaled<true>(half.spin[s].c[c], factor, h.spin[s].c[c]);
            } else {
                add_scaled<SCALED>(sum.upper.spin[s].c[c], factor, h.spin[s].c[c]);
                add_scaled<SCALED>(sum.lower.spin[s].c[c], ETA == 1 ? -factor : factor,
                                   times_j<MU>(h, s, c));
            }
        }
    }
}
