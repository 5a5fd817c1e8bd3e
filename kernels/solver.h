// The scalars of an iterative solver, in the device's memory, and the steps between its kernels.
//
// A solver is a list of launches that is queued again and again without a look at its results: its
// state says what is to be done, and a kernel does nothing unless the state's phase is the one that
// the kernel is for. The kernel that ends a step adds up the sums that the step needs (sums.h), and
// its last block calls the function below that the step has.
//
// Iterations work in whatever precision their fields have. An update adds what they found to the
// solution, in full precision, calculates the residual anew from it and starts from there: G. L. G.
// Sleijpen and H. A. van der Vorst, "Reliable updated residuals in hybrid Bi-CG methods" (1996). A
// solve begins with one and ends after one, so the residual that it ends with is a true one.
#pragma once
#include "types.h"

// The first two are at work; after the others nothing more is done.
enum solver_phase : u64 {
    ITERATE,
    UPDATE,
    CONVERGED,
    AT_LIMIT,   // of iterations
    BROKEN,     // a step would divide by zero
    NOT_FINITE, // NaN or infinity
    STAGNANT,   // updates do not lower the residual
    NO_SOURCE,  // which is zero, and so is the solution
    // Of kernels alone: ITERATE, of the shift whose number is the step, while that is open.
    ITERATE_SHIFT
};

enum {
    MOST_SHIFTS = 16,
    MOST_BASIS = 8,
    MOST_STALLS = 8,
    MOST_ITERATIONS = 256 // without an update: else what rounding does would stay unseen
};

// One a right-hand side; the same struct as in csrc/lattice/solver.h.
struct solver_state {
    u64 phase, iterations, updates;
    u64 limit;       // of iterations
    u64 verdict;     // the phase after the next update; 0: to iterate
    u64 due;         // an update is, when the round of launches ends
    u64 last_update; // iterations before it
    u64 stalls;      // updates that did not lower the residual
    u64 arrived;     // blocks that have left their sums
    f64 source;      // |b|^2
    f64 target;      // |r|^2 to reach; before the source is known relative to it
    f64 drop;        // |r|^2 since its largest value that makes an update due,
    f64 most_drop;   // and that makes one at once: fields of the precision hold no more
    f64 residual, least, largest; // |r|^2: now, of all updates, since the last one
    f64 gamma;                    // CG: |M^+ r|^2
    f64 alpha_real, beta_real;
    c128 alpha, beta, omega, sigma, rho;
    c128 basis[MOST_BASIS];                  // GCR: what is taken of each direction,
    c128 step[MOST_BASIS];                   // of each that was made orthogonal,
    c128 projection[MOST_BASIS][MOST_BASIS]; // [k][j]: what direction k had of j before that,
    f64 length[MOST_BASIS];                  // and |v|^2 then
    u64 shifts;
    u64 open_shifts;                              // a bit for each that has not converged
    f64 shift[MOST_SHIFTS];                       // of several systems (M^+ M + shift) x = b
    f64 zeta[MOST_SHIFTS], zeta_old[MOST_SHIFTS]; // their residuals over that without a shift
    f64 shift_alpha[MOST_SHIFTS], shift_beta[MOST_SHIFTS];
};
static_assert(sizeof(solver_state) == TUNE_STATE_BYTES, "the core has this struct too");

FUNCTION bool is_finite(f64 v) { return v - v == 0; }

FUNCTION void stop(solver_state& s, solver_phase why) { s.phase = why; }

// ---- common steps -------------------------------------------------------------------------------
// sum: |b|^2.
FUNCTION void take_source(solver_state& s, const f64* sum, u64)
{
    s.source = sum[0];
    s.target *= sum[0];
    if (!is_finite(sum[0]))
        stop(s, NOT_FINITE);
    else if (sum[0] == 0)
        stop(s, NO_SOURCE);
}

// After an update has calculated the residual; sum: |r|^2.
FUNCTION void take_residual(solver_state& s, const f64* sum, u64)
{
    const bool lower = sum[0] < 0.81 * s.least;
    s.updates++;
    s.last_update = s.iterations;
    s.residual = s.largest = sum[0];
    s.due = 0;
    if (!is_finite(sum[0])) return stop(s, NOT_FINITE);
    if (sum[0] <= s.target) return stop(s, CONVERGED);
    if (s.verdict) return stop(s, static_cast<solver_phase>(s.verdict));
    s.stalls = lower ? 0 : s.stalls + 1;
    if (lower) s.least = sum[0];
    if (s.stalls > MOST_STALLS) stop(s, STAGNANT);
}

// At the very end; sum: |r|^2.
FUNCTION void keep_residual(solver_state& s, const f64* sum, u64) { s.residual = sum[0]; }

// After an iteration whose residual is |r|^2 = s.residual, and v what it is judged by for updates.
// One that is due because v has dropped waits for the end of the round, and iterations go on: a few
// more cost less than launches that do nothing, as long as they still gain something.
FUNCTION void end_iteration(solver_state& s, f64 v, u64 last_of_round)
{
    s.iterations++;
    s.largest = fmax(s.largest, v);
    if (!is_finite(v)) return stop(s, NOT_FINITE);
    if (v < s.drop * s.largest || s.iterations - s.last_update >= MOST_ITERATIONS) s.due = 1;
    if (s.iterations >= s.limit) s.verdict = AT_LIMIT;
    if (s.verdict || s.residual <= s.target || v < s.most_drop * s.largest ||
        (s.due && last_of_round))
        s.phase = UPDATE;
}

// A step cannot be taken: what was found is added up, and if that is not enough it ends.
FUNCTION void break_down(solver_state& s, f64 divisor)
{
    if (!is_finite(divisor)) return stop(s, NOT_FINITE);
    s.verdict = BROKEN;
    s.phase = UPDATE;
}
