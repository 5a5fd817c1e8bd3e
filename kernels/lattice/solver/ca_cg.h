// Scalar steps of communication-avoiding conjugate gradients. The launches, and the papers, are
// those of csrc/lattice/solver/ca_cg.c; a function takes the sums of the step that has its name
// there.
//
// With A the operator, and r the residual of A x = b, CA_STEPS iterations at a time are
//     next_vector  s_0 = r,  s_(k+1) = node_scale (A - node_k) s_k
//     gram         M = S^+ S,  C = W^+ S  with W = A P of the old directions P
//     directions   P = S + P mix,  mix = -inverse C
//     products     W = A S + W mix
//     step         x += P along,  r -= W along,  along = inverse P^+ r  with the new inverse
// where inverse is that of P^+ A P, and A s_k follows from s_k and s_(k+1). Numbers are real: A is
// symmetric in the real inner product, Re <v, w>, too.
#pragma once
#include "solver.h"

static_assert(CA_STEPS == 4, "nodes and combinations are written for four steps");
enum { CA_VECTORS = CA_STEPS + 1, CA_GRAM = CA_VECTORS * (CA_VECTORS + 1) / 2 - 1 };

// ---- the basis ----------------------------------------------------------------------------------
// Takes a first idea of the size of A, by which the vectors of ca_bound stay in range. sum: |A
// v|^2, |v|^2.
FUNCTION void ca_first_bound(solver_state& s, const f64* sum, u64)
{
    const f64 ratio = sqrt(sum[0] / sum[1]);
    s.node_scale = ratio > 0 && is_finite(ratio) ? 1 / ratio : 1;
}

// Takes a bound of the eigenvalues of A, from the growth of a vector in the last of several
// applications, and makes the nodes of the basis: those of Chebyshev's polynomial from 0 to the
// bound, each far from those before it (F. Leja, 1957). A growth is no more than the largest
// eigenvalue, and 8 applications find most of it. sum: |node_scale A v|^2, |v|^2.
FUNCTION void ca_bound(solver_state& s, const f64* sum, u64)
{
    const f64 margin = 1.2, at[CA_STEPS] = {0.96193976625564337, 0.03806023374435663,
                                            0.69134171618254492, 0.30865828381745508};
    const f64 ratio = sqrt(sum[0] / sum[1]) / s.node_scale,
              bound = ratio > 0 && is_finite(ratio) ? margin * ratio : 1;
    for (int k = 0; k < CA_STEPS; k++) s.node[k] = at[k] * bound;
    s.node_scale = 2 / bound;
}

// ---- four by four -------------------------------------------------------------------------------
// Replaces a symmetric positive matrix by its inverse, by sweeps (J. H. Goodnight, "A tutorial on
// the SWEEP operator", 1979). A direction whose pivot is rounding, relative to its diagonal of
// before, has none. Returns false if that is so of all.
FUNCTION bool ca_invert(f64 (&m)[CA_STEPS][CA_STEPS], const f64 (&diagonal)[CA_STEPS], f64 least)
{
    bool taken[CA_STEPS], any = false;
    for (int k = 0; k < CA_STEPS; k++) {
        const f64 pivot = m[k][k];
        taken[k] = pivot > least * diagonal[k];
        if (!taken[k]) continue;
        any = true;
        const f64 d = 1 / pivot;
        for (int i = 0; i < CA_STEPS; i++) {
            if (i == k) continue;
            for (int j = 0; j < CA_STEPS; j++)
                if (j != k) m[i][j] -= d * m[i][k] * m[k][j];
        }
        for (int i = 0; i < CA_STEPS; i++)
            if (i != k) m[i][k] *= d, m[k][i] *= d;
        m[k][k] = -d;
    }
    for (int i = 0; i < CA_STEPS; i++)
        for (int j = 0; j < CA_STEPS; j++) m[i][j] = taken[i] && taken[j] ? -m[i][j] : 0;
    return any;
}

// The sums of `gram`: M[i][j] of i <= j but for the last, row by row, then C.
struct ca_sums {
    f64 m[CA_VECTORS][CA_VECTORS];
    f64 c[CA_STEPS][CA_STEPS];
};
FUNCTION ca_sums ca_take(const f64* sum)
{
    ca_sums of{};
    for (int i = 0, n = 0; i < CA_STEPS; i++)
        for (int j = i; j < CA_VECTORS; j++) of.m[i][j] = of.m[j][i] = sum[n++];
    for (int i = 0; i < CA_STEPS; i++)
        for (int j = 0; j < CA_STEPS; j++) of.c[i][j] = sum[CA_GRAM + i * CA_STEPS + j];
    return of;
}

// ---- the steps ----------------------------------------------------------------------------------
// Handles vectors that are all in the space of the old directions but for rounding, as where the
// Krylov space is exhausted: an update begins anew without those, unless there are none.
FUNCTION void ca_break_down(solver_state& s, f64 divisor)
{
    bool kept = false;
    for (int i = 0; i < CA_STEPS; i++) kept = kept || s.inverse[i][i] != 0;
    break_down(s, divisor);
    if (!kept || !is_finite(divisor)) return;
    s.verdict = 0;
    s.gamma = 0;
}

// Computes mix, inverse and along. Returns what the step lowers <r, A^-1 r> by.
FUNCTION f64 ca_solve(solver_state& s, const ca_sums& of)
{
    f64 product[CA_STEPS][CA_STEPS], diagonal[CA_STEPS], right[CA_STEPS], drop = 0;
    for (int i = 0; i < CA_STEPS; i++)
        for (int j = 0; j < CA_STEPS; j++) {
            // <s_i, A s_j>, made symmetric
            const f64 one = of.m[i][j + 1] / s.node_scale + s.node[j] * of.m[i][j],
                      other = of.m[j][i + 1] / s.node_scale + s.node[i] * of.m[j][i];
            product[i][j] = (one + other) / 2;
            s.mix[i][j] = 0;
            for (int k = 0; k < CA_STEPS; k++) s.mix[i][j] -= s.inverse[i][k] * of.c[k][j];
        }
    for (int j = 0; j < CA_STEPS; j++) {
        diagonal[j] = product[j][j];
        right[j] = of.m[j][0];
        for (int i = 0; i < CA_STEPS; i++) right[j] += s.mix[i][j] * s.overlap[i];
    }
    for (int i = 0; i < CA_STEPS; i++)
        for (int j = 0; j < CA_STEPS; j++) {
            f64 sum = 0;
            for (int k = 0; k < CA_STEPS; k++)
                sum += of.c[k][i] * s.mix[k][j] + of.c[k][j] * s.mix[k][i];
            product[i][j] += sum / 2;
        }
    if (!ca_invert(product, diagonal, s.least_pivot)) ca_break_down(s, diagonal[0]);
    for (int j = 0; j < CA_STEPS; j++) {
        s.along[j] = s.overlap[j] = 0;
        for (int k = 0; k < CA_STEPS; k++) {
            s.inverse[j][k] = product[j][k];
            s.along[j] += product[j][k] * right[k];
        }
        drop += s.along[j] * right[j];
    }
    return drop;
}

// Ends CA_STEPS iterations, whose step is still to be taken: the phase is what `next` says after
// it. Updates are judged by |r|^2 of before it.
FUNCTION void ca_end(solver_state& s, f64 square, u64 last_of_round)
{
    if (s.phase != ITERATE) return; // no direction
    s.gamma = square;
    s.iterations += CA_STEPS - 1;
    end_iteration(s, square, last_of_round);
    s.next = s.phase;
    s.phase = ITERATE;
}

// For the normal equations, whose r is M^+ of the residual: that falls by as much as <r, A^-1 r>.
FUNCTION void ca_gram(solver_state& s, const f64* sum, u64 last_of_round)
{
    const ca_sums of = ca_take(sum);
    s.residual -= ca_solve(s, of);
    ca_end(s, of.m[0][0], last_of_round);
}

// For Hermitian positive A: the residual is known when the next sums are.
FUNCTION void ca_gram_of_positive(solver_state& s, const f64* sum, u64 last_of_round)
{
    const ca_sums of = ca_take(sum);
    ca_solve(s, of);
    s.residual = of.m[0][0];
    ca_end(s, of.m[0][0], last_of_round);
}

FUNCTION void ca_stepped(solver_state& s, const f64*, u64) { s.phase = s.next; }

// Restarts after an update, with the directions of before, unless the residual has not fallen: then
// they belong to a system distorted by rounding. sum: |r|^2, P^+ r.
FUNCTION void ca_restart(solver_state& s, const f64* sum, u64)
{
    const bool first = !(s.gamma > 0) || s.stalls;
    for (int i = 0; i < CA_STEPS; i++) {
        s.overlap[i] = first ? 0 : sum[1 + i];
        for (int j = 0; j < CA_STEPS; j++) s.inverse[i][j] = first ? 0 : s.inverse[i][j];
    }
    s.gamma = s.largest = sum[0];
    s.phase = ITERATE;
    if (!(sum[0] > 0) || !is_finite(sum[0])) stop(s, sum[0] == 0 ? BROKEN : NOT_FINITE);
}

// ---- combinations at a site ---------------------------------------------------------------------
// Adds v mix to each of CA_STEPS numbers, and puts the result in the place of v.
template <class Z>
FUNCTION void ca_mix(const solver_state& s, Z (&sum)[CA_STEPS], Z& v0, Z& v1, Z& v2, Z& v3)
{
    typedef decltype(v0.real) F;
    UNROLL
    for (int j = 0; j < CA_STEPS; j++)
        sum[j] = sum[j] + static_cast<F>(s.mix[0][j]) * v0 + static_cast<F>(s.mix[1][j]) * v1 +
                 static_cast<F>(s.mix[2][j]) * v2 + static_cast<F>(s.mix[3][j]) * v3;
    v0 = sum[0];
    v1 = sum[1];
    v2 = sum[2];
    v3 = sum[3];
}

// v = s + v mix
template <class Z>
FUNCTION void ca_directions(const solver_state& s, Z s0, Z s1, Z s2, Z s3, Z& v0, Z& v1, Z& v2,
                            Z& v3)
{
    Z sum[CA_STEPS] = {s0, s1, s2, s3};
    ca_mix(s, sum, v0, v1, v2, v3);
}

// v = A s + v mix
template <class Z>
FUNCTION void ca_products(const solver_state& s, Z s0, Z s1, Z s2, Z s3, Z s4, Z& v0, Z& v1, Z& v2,
                          Z& v3)
{
    typedef decltype(v0.real) F;
    const F scale = static_cast<F>(1 / s.node_scale);
    Z sum[CA_STEPS] = {
        scale * s1 + static_cast<F>(s.node[0]) * s0, scale * s2 + static_cast<F>(s.node[1]) * s1,
        scale * s3 + static_cast<F>(s.node[2]) * s2, scale * s4 + static_cast<F>(s.node[3]) * s3};
    ca_mix(s, sum, v0, v1, v2, v3);
}
