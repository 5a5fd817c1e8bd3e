// The clover term of a gauge field, B. Sheikholeslami and R. Wohlert, "Improved continuum limit
// lattice action for QCD with Wilson fermions" (1985):
//     A(x) = 1 + kappa c_sw sum over mu < nu of sigma_munu H_munu(x)
//     sigma_munu = i/2 [gamma_mu, gamma_nu],  H_munu = i/8 (Q_munu - Q_munu^+)
// where Q is the sum of the four plaquettes in the plane that begin at x, all with the orientation
//     U_mu(x) U_nu(x + mu) U_mu(x + nu)^+ U_nu(x)^+
// M = A - kappa D is 2 kappa times the operator of M. Luescher et al., "Chiral symmetry and O(a)
// improvement in lattice QCD" (1996), with c_sw i/4 sigma_munu F_munu and F = -i H. The trace of H,
// of order a^4, is kept.
//
// sigma is diagonal in chirality. With s = (1, -1, 1), Pauli matrices sigma_k, B_k = H_ij of cyclic
// i, j, k, and E_k = H_k4, the matrix of a chirality is
//     1 + sum over k of s_k sigma_k x W_k,  W_k = kappa c_sw (B_k -+ E_k), minus for gamma_5 = 1
//
// A thread computes the matrices of a site (clover.h). It keeps the field strength in a part of
// shared memory, because that of all planes is too much for registers.
//
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 32:96:32 cpu=1:1:1
//
// Workload: that of lattice.h, and
//     TUNE_FROM, TUNE_TO  types of links, of 18 reals, and of the clover term
// Traffic: the links are read once, the clover term is written.
#include "lattice.h"

typedef TUNE_FROM from_t;
typedef TUNE_TO to_t;
typedef real_of<TUNE_WIDE> real_t;
#include "clover.h"
#include "loops.h"

enum { HERMITIAN = 9 }; // reals of a Hermitian matrix of colours: diagonal, then below, row by row
enum { MAGNETIC, ELECTRIC };

struct clover_term_args {
    const from_t* links;
    to_t* out;
    f32* out_norms;
    f64 magnetic, electric; // kappa c_sw of the spatial planes, and of the planes with time
};
struct clover_term_shared {
    real_t strength[2][3][HERMITIAN][SIMT_THREADS];
};

// Returns the sum of the four plaquettes of a plane that begin at the site. Each goes along mu, nu
// and back, and has the site at another corner.
FUNCTION matrix leaves_at(const from_t* links, const full_site& here, int mu, int nu)
{
    matrix sum{};
    for (int leaf = 0; leaf < 4; leaf++) {
        matrix path = unity();
        full_site p = here;
        for (int step = leaf; step < leaf + 4; step++) {
            const int direction = step % 2 ? nu : mu;
            const bool forward = step % 4 < 2;
            const full_site next = moved(p, direction, forward);
            const matrix u = link_at(links, forward ? p : next, direction);
            path = path * (forward ? u : adjoint(u));
            p = next;
        }
        add(sum, path);
    }
    return sum;
}

FUNCTION void store_strength(clover_term_shared& s, int kind, int k, real_t factor, const matrix& q)
{
    const u32 thread = thread_id();
    const real_t eighth = factor / 8;
    int at = 3;
    UNROLL
    for (int i = 0; i < 3; i++) {
        s.strength[kind][k][i][thread] = -2 * eighth * q.element[i][i].imag;
        UNROLL
        for (int j = 0; j < i; j++) {
            const complex_t a = q.element[i][j], b = q.element[j][i];
            s.strength[kind][k][at++][thread] = -eighth * (a.imag + b.imag);
            s.strength[kind][k][at++][thread] = eighth * (a.real - b.real);
        }
    }
}

// Returns an element of W_k.
FUNCTION complex_t element_of_w(const clover_term_shared& s, int chirality, int k, int i, int j)
{
    const u32 thread = thread_id();
    const real_t sign = chirality == 0 ? -1 : 1;
    const real_t(&b)[HERMITIAN][SIMT_THREADS] = s.strength[MAGNETIC][k];
    const real_t(&e)[HERMITIAN][SIMT_THREADS] = s.strength[ELECTRIC][k];
    if (i == j) return complex_t{b[i][thread] + sign * e[i][thread], 0};
    const int row = i > j ? i : j, column = i > j ? j : i;
    const int at = 3 + 2 * (row * (row - 1) / 2 + column);
    const real_t imag = b[at + 1][thread] + sign * e[at + 1][thread];
    return complex_t{b[at][thread] + sign * e[at][thread], i > j ? imag : -imag};
}

// Returns an element, on or below the diagonal, of the matrix of a chirality:
//     1 + W_3        .
//     W_1 - i W_2    1 - W_3
FUNCTION complex_t element_of_term(const clover_term_shared& s, int chirality, int row, int column)
{
    const int i = row % 3, j = column % 3;
    if (row >= 3 && column < 3) {
        const complex_t one = element_of_w(s, chirality, 0, i, j);
        const complex_t two = element_of_w(s, chirality, 1, i, j);
        return complex_t{one.real + two.imag, one.imag - two.real};
    }
    const complex_t w = element_of_w(s, chirality, 2, i, j);
    return complex_t{row == column ? real_t(1) : real_t(0), 0} + (row < 3 ? w : -w);
}

FUNCTION void write_term(const clover_term_args& a, const clover_term_shared& s,
                         const full_site& here)
{
    real_of<to_t> out[CLOVER];
    UNROLL
    for (int chirality = 0; chirality < 2; chirality++) {
        UNROLL
        for (int row = 0; row < SIX; row++) {
            const int first = chirality * BLOCK;
            UNROLL
            for (int column = 0; column < row; column++) {
                const complex_t e = element_of_term(s, chirality, row, column);
                const int at = first + place_below(row, column);
                out[at] = static_cast<real_of<to_t>>(e.real);
                out[at + 1] = static_cast<real_of<to_t>>(e.imag);
            }
            out[first + row] =
                static_cast<real_of<to_t>>(element_of_term(s, chirality, row, row).real);
        }
    }
    const u64 start = static_cast<u64>(here.parity) * SITES;
    store_site(a.out + start * CLOVER, a.out_norms + start, here.at.index, out);
}

KERNEL(clover_term, clover_term_args, clover_term_shared)
{
    const u64 number = static_cast<u64>(block_id()) * SIMT_THREADS + thread_id();
    if (number >= 2 * static_cast<u64>(SITES)) return;
    const full_site here = full_site_of(number);
    for (int k = 0; k < 3; k++) {
        store_strength(s, MAGNETIC, k, static_cast<real_t>(a.magnetic),
                       leaves_at(a.links, here, (k + 1) % 3, (k + 2) % 3));
        store_strength(s, ELECTRIC, k, static_cast<real_t>(a.electric),
                       leaves_at(a.links, here, k, TIME));
    }
    write_term(a, s, here);
}
