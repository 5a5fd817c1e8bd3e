// Scalar steps of conjugate gradients. The launches, and the paper, are those of
// csrc/lattice/solver/cg.c; a function takes the sums of the step that has its name there.
//
// With s = M^+ r, an iteration is
//     next_direction  x += alpha p,  p = sigma s + beta p   with alpha of the previous iteration
//     length          w = M p,       alpha = |s|^2 / |w|^2
//     next_residual   s -= alpha M^+ w,  beta = |s|^2 / |previous s|^2,  sigma = 1
// and lowers |r|^2 by alpha |previous s|^2, because the new r is orthogonal to w.
#pragma once
#include "solver.h"

// Computes alpha = |s|^2 / |w|^2. sum: |w|^2.
FUNCTION void cg_length(solver_state& s, const f64* sum, u64)
{
    s.alpha_real = sum[0] > 0 ? s.gamma / sum[0] : 0;
    if (!(sum[0] > 0) || !is_finite(s.alpha_real)) break_down(s, sum[0]);
}

// Computes beta and ends the iteration. sum: |s|^2.
FUNCTION void cg_next_residual(solver_state& s, const f64* sum, u64 last_of_round)
{
    s.residual -= s.alpha_real * s.gamma;
    s.beta_real = sum[0] / s.gamma;
    s.sigma = 1;
    s.gamma = sum[0];
    end_iteration(s, sum[0], last_of_round);
}

// The same for M x = b with Hermitian positive M (cg_positive.c): s is r, and w = M p enters
// cg_length by <p, w>. sum: |r|^2.
FUNCTION void cg_positive_next_residual(solver_state& s, const f64* sum, u64 last_of_round)
{
    s.residual = sum[0];
    s.beta_real = sum[0] / s.gamma;
    s.sigma = 1;
    s.gamma = sum[0];
    end_iteration(s, sum[0], last_of_round);
}

// Restarts after an update. sum: |s|^2 and <s, p>. The old direction is kept, without its component
// along s, unless the residual has not fallen: then it belongs to a system distorted by rounding
// and would hinder convergence.
FUNCTION void cg_restart(solver_state& s, const f64* sum, u64)
{
    const bool first = !(s.gamma > 0) || s.stalls;
    s.beta_real = first ? 0 : s.beta_real * (sum[0] / s.gamma);
    s.sigma = first ? c128(1) : c128(1) - c128(s.beta_real / sum[0]) * c128(sum[1], sum[2]);
    s.alpha_real = 0;
    s.gamma = s.largest = sum[0];
    s.phase = ITERATE;
    if (!(sum[0] > 0) || !is_finite(sum[0])) stop(s, sum[0] == 0 ? BROKEN : NOT_FINITE);
}
