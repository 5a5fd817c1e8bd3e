// State of an iterative solver in device memory, and the scalar steps between its kernels.
//
// A solver is a list of launches that is queued repeatedly without reading its results on the host.
// Its state holds the current phase, and a kernel does nothing unless that is the kernel's own
// phase. The kernel that ends a step adds up the sums that the step needs (solver_update.h), and
// its last block calls the step's function, below or in the header of the method, as cg.h.
//
// Iterations run in the precision of their fields. An update adds the accumulated correction to the
// solution in full precision, recomputes the residual from the solution and restarts from there: G.
// L. G. Sleijpen and H. A. van der Vorst, "Reliable updated residuals in hybrid Bi-CG methods"
// (1996). A solve begins and ends with an update, so that its final residual is a true one.
#pragma once
#include "types.h"

// Phases of a solve: the first two are active, the others are final.
enum solver_phase : u64 {
    ITERATE,
    UPDATE,
    CONVERGED,
    AT_LIMIT,   // the limit of iterations
    BROKEN,     // a step would divide by zero
    NOT_FINITE, // NaN or infinity
    STAGNANT,   // updates do not lower the residual
    NO_SOURCE,  // the source is zero, and so is the solution
    // Used by kernels only: ITERATE, for the shift whose number is the step, while that is open.
    ITERATE_SHIFT
};

enum {
    MOST_SHIFTS = 16,
    MOST_BASIS = 8,
    CA_STEPS = 4, // iterations that CA-CG takes at a time
    MOST_STALLS = 8,
    MOST_ITERATIONS = 256 // without an update: bounds unseen rounding errors
};

// State of one right-hand side. The core defines its members, which are explained there
// (csrc/lattice/operators/solver_state.h).
struct solver_state {
    TUNE_STATE
};
static_assert(sizeof(solver_state) == TUNE_STATE_BYTES, "the core has this struct too");

FUNCTION bool is_finite(f64 v) { return v - v == 0; }

FUNCTION void stop(solver_state& s, solver_phase why) { s.phase = why; }

// ---- common steps -------------------------------------------------------------------------------
// Takes the source's norm, and ends the solve if the source is zero or not finite. sum: |b|^2.
FUNCTION void take_source(solver_state& s, const f64* sum, u64)
{
    s.source = sum[0];
    s.target *= sum[0];
    if (!is_finite(sum[0]))
        stop(s, NOT_FINITE);
    else if (sum[0] == 0)
        stop(s, NO_SOURCE);
}

// Judges the residual that an update has computed. sum: |r|^2.
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

// Keeps the residual at the very end. sum: |r|^2.
FUNCTION void keep_residual(solver_state& s, const f64* sum, u64) { s.residual = sum[0]; }

// Ends an iteration with residual |r|^2 = s.residual; v is the quantity that updates are judged by.
// If v has dropped enough for an update, iterations continue to the end of the round, because they
// still gain something and cost little more than launches that do nothing.
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

// Handles a step that cannot be taken: applies the correction so far with an update, and ends the
// solve as BROKEN if that is not enough.
FUNCTION void break_down(solver_state& s, f64 divisor)
{
    if (!is_finite(divisor)) return stop(s, NOT_FINITE);
    s.verdict = BROKEN;
    s.phase = UPDATE;
}
