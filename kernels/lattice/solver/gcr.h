// Scalar steps of GCR and of its preconditioner. The launches, and the papers, are those of
// csrc/lattice/solver/gcr.c and schwarz.c; a function takes the sums of the steps whose names begin
// with its own there.
//
// Iteration k of a cycle is
//     project        v_k = M p_k;  omega_j = <v_j, v_k> / |v_j|^2 of all j < k
//     length         v_k -= sum of omega_j v_j;  alpha = <v_k, p_k> / |v_k|^2
//     next_residual  p_{k + 1} = p_k - alpha v_k
// where p_k is also the residual; with a preconditioner it is another field, r in the place of p in
// the last two lines. The update that ends a cycle adds basis[k] p_k to the solution.
#pragma once
#include "solver.h"

// Computes omega_j = <v_j, v_k> / |v_j|^2, the components of v_k along the earlier v_j. step: k.
// sum: <v_j, v_k> of each j.
FUNCTION void gcr_project(solver_state& s, const f64* sum, u64 k)
{
    for (u64 j = 0; j < MOST_BASIS; j++)
        s.projection[k][j] =
            j < k ? c128(sum[2 * j] / s.length[j], sum[2 * j + 1] / s.length[j]) : c128(0);
}

// Converts the steps along the v to coefficients of the p: v_k is M p_k minus its projections.
FUNCTION void gcr_coefficients(solver_state& s, u64 k)
{
    for (u64 j = k + 1; j-- > 0;) {
        s.basis[j] = s.step[j];
        for (u64 i = j + 1; i <= k; i++) s.basis[j] = s.basis[j] - s.projection[i][j] * s.basis[i];
    }
}

// Computes alpha = <v_k, r> / |v_k|^2, the step along direction k. step: k.
// sum: |v_k|^2, <v_k, r>.
FUNCTION void gcr_length(solver_state& s, const f64* sum, u64 k)
{
    if (!(sum[0] > 0) || !is_finite(sum[0])) return break_down(s, sum[0]);
    s.length[k] = sum[0];
    s.alpha = s.step[k] = c128(sum[1] / sum[0], sum[2] / sum[0]);
    gcr_coefficients(s, k);
}

// Ends an iteration. The cycle ends with an update. sum: |r|^2.
FUNCTION void gcr_next_residual(solver_state& s, const f64* sum, u64 last_of_round)
{
    s.residual = sum[0];
    end_iteration(s, sum[0], last_of_round);
    if (last_of_round && s.phase == ITERATE) s.phase = UPDATE;
}

// Restarts after an update.
FUNCTION void gcr_restart(solver_state& s, const f64*, u64)
{
    for (int k = 0; k < MOST_BASIS; k++) s.basis[k] = 0;
    s.phase = ITERATE;
}

// ---- the preconditioner -------------------------------------------------------------------------
// Computes <w, e> / |w|^2, the step along the residual e of a block that leaves the least of it,
// where w = M e. It is none where nothing is left, as in a block that is far from the source. Other
// ranks do not see this step, so that it does not end a solve. sum: |w|^2, <w, e>.
FUNCTION void schwarz_length(solver_state& s, const f64* sum, u64)
{
    s.block_step = sum[0] > 0 ? c128(sum[1] / sum[0], sum[2] / sum[0]) : c128(0);
}
