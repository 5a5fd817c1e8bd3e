// Scalar steps of block conjugate gradients. The launches, and the papers, are those of
// csrc/lattice/solver/block_cg.c. Vectors of a block of N sources are the columns of q, p, w and x;
// the residual is q C, and the columns of q are orthonormal. An iteration is
//     length     w = M p,  G = p^+ w,  alpha = G^-1
//     residual   q -= w alpha,  G = q^+ q = S^+ S with S upper triangular,  C = S C
//     direction  q = q S^-1,  x += p alpha (C of before),  p = q + p S^+
// For M^+ M: w = M p, G = w^+ w, and M^+ w in the place of w. The residual's squares are those
// of the columns of C, since q is orthonormal; or, of M^+ M, they fall by those of C^+ alpha C.
//
// A vector that depends on those before it has a pivot that is rounding alone. It becomes zero, as
// does its row of S, and q S stays what it was. So do sources that have stopped.
//
// All threads of a block call these; N is at most the 32 bits of a mask of sources.
#pragma once
#include "solver.h"

enum { N = TUNE_BLOCK };

struct block_matrices { // of a block of sources; csrc/lattice/operators/block_update.c has its size
    c128 alpha[N * N], alpha_c[N * N];
    c128 factor[N * N], inverse[N * N]; // S and S^-1
    c128 c[N * N];
    u64 arrived; // blocks that have stored their sums
    u64 ends;    // of block_ends
    u64 broken;  // no direction is left
    u64 members; // the sources that were active when the iterations began
    u64 dropped; // a vector that was not zero has become zero
    u64 none;
};
static_assert(sizeof(block_matrices) == 5 * N * N * sizeof(c128) + 6 * sizeof(u64),
              "the core allocates as much");

// An iteration is followed by the next one; by an update from whose residuals the iterations begin
// anew; or by one that only computes the residuals, which C does not have of M^+ M.
enum block_ends : u64 { NOT, ANEW, RESIDUALS };

struct block_scalars {
    c128 g[N * N];     // what the kernel has summed
    c128 right[N * N]; // the matrix that it is eliminated from
    c128 row[2 * N];
    f64 diagonal[N];
    u32 flags;
};

struct block_sources {
    solver_state* states;
    u32 active; // bit k: source k is
};

// Loops of the threads of a block.
#define EACH_ELEMENT(e)  \
    u32 e = thread_id(); \
    e < N* N;            \
    e += SIMT_THREADS
#define EACH_SOURCE(k)   \
    u32 k = thread_id(); \
    k < N;               \
    k += SIMT_THREADS

// Pivots that are nothing but rounding, relative to the diagonal of before. A vector that is kept
// in spite of it is one more direction, and does no harm.
FUNCTION f64 least_pivot() { return sizeof(TUNE_T) == 8 ? 5e-17 : 3e-8; }

FUNCTION c128 conjugate(c128 z) { return c128(z.real, -z.imag); }

// Returns the element of a * b.
FUNCTION c128 product_at(const c128* a, const c128* b, u32 e)
{
    c128 sum(0);
    for (u32 k = 0; k < N; k++) sum = sum + a[e / N * N + k] * b[k * N + e % N];
    return sum;
}

// Makes g Hermitian, as it is but for rounding, and keeps its diagonal. Returns true if all of it
// is finite.
FUNCTION bool take_sums(block_scalars& s)
{
    if (thread_id() == 0) s.flags = 0;
    block_sync();
    for (EACH_ELEMENT(e)) {
        const u32 i = e / N, j = e % N;
        if (j > i) continue;
        const c128 above = s.g[j * N + i], below = s.g[e];
        const c128 mean((above.real + below.real) / 2, (above.imag - below.imag) / 2);
        s.g[j * N + i] = i == j ? c128(mean.real) : mean;
        s.g[e] = i == j ? c128(mean.real) : conjugate(mean);
        if (i == j) s.diagonal[i] = mean.real;
        if (!is_finite(mean.real + mean.imag)) shared_or(&s.flags, 1);
    }
    block_sync();
    return !s.flags;
}

// Replaces a Hermitian positive g by its inverse, by sweeps (J. H. Goodnight, "A tutorial on the
// SWEEP operator", 1979). Returns false if all pivots were rounding.
FUNCTION bool invert(block_scalars& s)
{
    bool any = false;
    for (u32 k = 0; k < N; k++) {
        const f64 pivot = s.g[k * N + k].real;
        const bool taken = pivot > least_pivot() * s.diagonal[k];
        const f64 d = taken ? 1 / pivot : 0;
        any = any || taken;
        block_sync();
        for (EACH_SOURCE(j)) s.row[j] = s.g[k * N + j];
        block_sync();
        for (EACH_ELEMENT(e)) {
            const u32 i = e / N, j = e % N;
            if (i == k && j == k)
                s.g[e] = c128(-d);
            else if (i == k)
                s.g[e] = c128(d) * s.row[j];
            else if (j == k)
                s.g[e] = c128(d) * conjugate(s.row[i]);
            else
                s.g[e] = s.g[e] - c128(d) * (conjugate(s.row[i]) * s.row[j]);
        }
        block_sync();
    }
    for (EACH_ELEMENT(e)) s.g[e] = -s.g[e];
    block_sync();
    return any;
}

// Replaces a Hermitian positive g by its upper triangular factor, and sets `right` to the adjoint
// of the inverse of that. Returns true if a vector that is not zero has become zero.
FUNCTION bool factorise(block_scalars& s)
{
    bool dropped = false;
    for (EACH_ELEMENT(e)) s.right[e] = c128(e / N == e % N ? 1 : 0);
    block_sync();
    for (u32 k = 0; k < N; k++) {
        const f64 pivot = s.g[k * N + k].real;
        const f64 d = pivot > least_pivot() * s.diagonal[k] ? 1 / sqrt(pivot) : 0;
        dropped = dropped || (d == 0 && s.diagonal[k] > 0);
        block_sync();
        for (EACH_SOURCE(j)) {
            s.g[k * N + j] = j < k ? c128(0) : c128(d) * s.g[k * N + j];
            s.right[k * N + j] = c128(d) * s.right[k * N + j];
        }
        block_sync();
        for (EACH_ELEMENT(e)) {
            const u32 i = e / N, j = e % N;
            if (i <= k) continue;
            const c128 factor = conjugate(s.g[k * N + i]);
            if (j > k) s.g[e] = s.g[e] - factor * s.g[k * N + j];
            s.right[e] = s.right[e] - factor * s.right[k * N + j];
        }
        block_sync();
    }
    return dropped;
}

// Stores S and S^-1, and C = S C, or S to begin with.
FUNCTION void take_factor(block_matrices& m, block_scalars& s, bool first)
{
    const bool dropped = factorise(s);
    if (thread_id() == 0) m.dropped = dropped || (!first && m.dropped);
    for (EACH_ELEMENT(e)) {
        m.factor[e] = s.g[e];
        m.inverse[e] = conjugate(s.right[e % N * N + e / N]);
    }
    block_sync();
    for (EACH_ELEMENT(e)) s.right[e] = first ? s.g[e] : product_at(s.g, m.c, e);
    block_sync();
    for (EACH_ELEMENT(e)) m.c[e] = s.right[e];
    block_sync();
}

// Returns true if an update has not lowered the residual of a source.
FUNCTION bool block_stalls(const block_sources& of)
{
    bool stalls = false;
    for (u32 k = 0; k < N; k++) stalls = stalls || (of.active >> k & 1 && of.states[k].stalls > 0);
    return stalls;
}

// Returns true if the residuals that an update has computed are those of the iterations, and not
// far above the lowest.
FUNCTION bool block_agrees(const block_sources& of)
{
    const f64 most = 4, most_rise = 100; // quotients of squares
    bool agrees = true;
    for (u32 k = 0; k < N; k++) {
        const solver_state& state = of.states[k];
        if (of.active >> k & 1)
            agrees = agrees && state.residual <= most * state.alpha_real &&
                     state.residual <= most_rise * state.least;
    }
    return agrees;
}

// Returns true if iterations go on after an update as if there had been none. Where their own
// residuals are right they do so on a plateau too, from which a new beginning would not lead.
FUNCTION bool block_goes_on(const block_matrices& m, const block_sources& of)
{
    return m.ends == RESIDUALS && m.members == of.active && (!block_stalls(of) || block_agrees(of));
}

// Returns true if the directions of before the update are kept, without the residuals in them:
// those of new residuals differ from those by rounding. Where updates do not lower the residual
// they are not: they belong to a system that rounding has distorted.
FUNCTION bool block_keeps(const block_matrices& m, const block_sources& of)
{
    return m.members == of.active && !m.broken && !m.dropped && !block_stalls(of);
}

// Returns |v|^2 of the vector of source k of the residuals q C.
FUNCTION f64 block_square(const block_matrices& m, u32 k)
{
    f64 sum = 0;
    for (u32 i = 0; i < N; i++) {
        const c128 z = m.c[i * N + k];
        sum += z.real * z.real + z.imag * z.imag;
    }
    return sum;
}

FUNCTION void stop_all(const block_sources& of, solver_phase why)
{
    for (EACH_SOURCE(k))
        if (of.active >> k & 1) stop(of.states[k], why);
}

// ---- the steps ----------------------------------------------------------------------------------
// Factorises the residuals of an update, and once more, since the first factor is as inexact as it
// is large.
FUNCTION void block_factor(const block_sources& of, block_matrices& m, block_scalars& s, bool again)
{
    if (!take_sums(s)) return stop_all(of, NOT_FINITE);
    take_factor(m, s, !again);
}

// Begins the iterations after an update.
FUNCTION void block_begin(const block_sources& of, block_matrices& m, bool goes_on)
{
    block_sync(); // all threads know that
    if (thread_id() == 0) {
        m.ends = NOT;
        m.broken = 0;
        m.members = of.active;
    }
    for (EACH_SOURCE(k)) {
        if (!(of.active >> k & 1)) continue;
        of.states[k].phase = ITERATE;
        // |q C|^2 at the last update, and at the last whose residuals are in q.
        of.states[k].beta_real = block_square(m, k);
        if (!goes_on) of.states[k].gamma = of.states[k].beta_real;
    }
}

// Computes alpha and alpha C.
template <bool NORMAL>
FUNCTION void block_length(const block_sources& of, block_matrices& m, block_scalars& s)
{
    if (!take_sums(s)) return stop_all(of, NOT_FINITE);
    const bool any = invert(s);
    if (thread_id() == 0 && !any) m.broken = 1;
    for (EACH_ELEMENT(e)) {
        m.alpha[e] = s.g[e];
        s.right[e] = m.alpha_c[e] = product_at(s.g, m.c, e);
    }
    block_sync();
    if constexpr (!NORMAL) return;
    for (EACH_SOURCE(k)) {
        f64 drop = 0;
        for (u32 i = 0; i < N; i++) drop += (conjugate(m.c[i * N + k]) * s.right[i * N + k]).real;
        if (of.active >> k & 1) of.states[k].residual -= drop;
    }
}

enum { ABOVE = 1, NOT_DEEP = 2, LIMIT = 4, VAGUE = 8 };
// Fall of squares after which their differences have a few digits left.
const f64 MOST_FALL = sizeof(TUNE_T) == 8 ? 1e-10 : 1e-4;

// Computes S and C, and says what follows: an update if all sources are at their targets, if those
// that are not have lost as much as the precision holds, and at the limit; one of the residuals
// alone if those have lost digits, or have not been computed for MOST_ITERATIONS.
template <bool NORMAL>
FUNCTION void block_residual(const block_sources& of, block_matrices& m, block_scalars& s)
{
    if (!take_sums(s)) return stop_all(of, NOT_FINITE);
    take_factor(m, s, false);
    if (thread_id() == 0) s.flags = 0;
    block_sync();
    for (EACH_SOURCE(k)) {
        if (!(of.active >> k & 1)) continue;
        solver_state& state = of.states[k];
        const f64 square = block_square(m, k);
        if constexpr (!NORMAL) state.residual = square;
        state.iterations++;
        const bool limit = state.iterations >= state.limit;
        if (limit) state.verdict = AT_LIMIT;
        if (m.broken && !limit) state.verdict = BROKEN;
        if (limit || m.broken) shared_or(&s.flags, LIMIT);
        if (state.residual > state.target) {
            shared_or(&s.flags, ABOVE);
            if (!(square <= state.most_drop * state.gamma)) shared_or(&s.flags, NOT_DEEP);
            if ((NORMAL && (state.residual < MOST_FALL * state.largest ||
                            square < MOST_FALL * state.beta_real)) ||
                state.iterations - state.last_update >= MOST_ITERATIONS)
                shared_or(&s.flags, VAGUE);
            state.alpha_real = state.residual;
        }
    }
    block_sync();
    if (thread_id() != 0) return;
    if (s.flags & LIMIT || !(s.flags & ABOVE) || !(s.flags & NOT_DEEP))
        m.ends = ANEW;
    else if (s.flags & VAGUE)
        m.ends = RESIDUALS;
}

// Ends the iteration, with an update if one is due.
FUNCTION void block_end(const block_sources& of, block_matrices& m)
{
    if (m.ends != NOT) stop_all(of, UPDATE);
}
