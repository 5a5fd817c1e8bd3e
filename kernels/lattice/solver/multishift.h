// Scalar steps of conjugate gradients on (M^+ M + shift) x = b for several shifts. The launches,
// and the paper, are those of csrc/lattice/solver/multishift.c; a function takes the sums of the
// step that has its name there.
//
// The system without a shift is iterated, and the residual of a shift is zeta r. An iteration is
//     length          w = M p,  alpha = |r|^2 / |w|^2, and for each shift
//                     zeta' = zeta zeta_old / (alpha beta / previous alpha (zeta_old - zeta)
//                                              + zeta_old (1 + shift alpha))
//                     shift_alpha = alpha zeta' / zeta
//     next_residual   r -= alpha M^+ w,  beta = |r|^2 / |previous r|^2, and for each shift
//                     shift_beta = beta (zeta' / zeta)^2
//     step_of_shift   x += shift_alpha p,  p = zeta' r + shift_beta p   of each shift
//     next_direction  p = r + beta p
#pragma once
#include "solver.h"

// Begins with r = p = b. sum: |b|^2.
FUNCTION void multishift_begin(solver_state& s, const f64* sum, u64)
{
    s.gamma = s.residual = sum[0];
    s.alpha_real = 1;
    s.beta_real = 0;
    for (u64 k = 0; k < s.shifts; k++) s.zeta[k] = s.zeta_old[k] = 1;
    s.open_shifts = (static_cast<u64>(1) << s.shifts) - 1;
    s.phase = ITERATE;
}

FUNCTION bool is_open(const solver_state& s, u64 shift) { return s.open_shifts >> shift & 1; }

// Computes alpha, and zeta and alpha of each shift. s holds the previous alpha and beta. sum:
// |w|^2.
FUNCTION void multishift_length(solver_state& s, const f64* sum, u64)
{
    if (!(sum[0] > 0) || !is_finite(sum[0])) return stop(s, sum[0] == 0 ? BROKEN : NOT_FINITE);
    const f64 alpha = s.gamma / sum[0], ratio = alpha * s.beta_real / s.alpha_real;
    for (u64 k = 0; k < s.shifts; k++) {
        if (!is_open(s, k)) continue;
        const f64 old = s.zeta_old[k], now = s.zeta[k];
        const f64 divisor = ratio * (old - now) + old * (1 + s.shift[k] * alpha);
        s.zeta_old[k] = now;
        s.zeta[k] = divisor != 0 ? now * old / divisor : 0; // it underflows in the end
        s.shift_alpha[k] = now != 0 ? alpha * s.zeta[k] / now : 0;
    }
    s.alpha_real = alpha;
}

// Computes beta, and that of each shift, and ends the iteration. sum: |r|^2.
FUNCTION void multishift_next_residual(solver_state& s, const f64* sum, u64)
{
    s.iterations++;
    s.beta_real = sum[0] / s.gamma;
    s.gamma = sum[0];
    s.residual = 0;
    for (u64 k = 0; k < s.shifts; k++) {
        if (!is_open(s, k)) continue;
        const f64 ratio = s.zeta_old[k] != 0 ? s.zeta[k] / s.zeta_old[k] : 0;
        s.shift_beta[k] = s.beta_real * ratio * ratio;
        s.residual = fmax(s.residual, s.zeta[k] * s.zeta[k] * sum[0]);
    }
    if (!is_finite(sum[0])) return stop(s, NOT_FINITE);
    if (s.residual <= s.target)
        s.verdict = CONVERGED;
    else if (s.iterations >= s.limit)
        s.verdict = AT_LIMIT;
}

// Closes the shifts that have converged, once their solutions are stored. sum: |p|^2, not used.
FUNCTION void multishift_next_direction(solver_state& s, const f64*, u64)
{
    for (u64 k = 0; k < s.shifts; k++)
        if (s.zeta[k] * s.zeta[k] * s.gamma <= s.target)
            s.open_shifts &= ~(static_cast<u64>(1) << k);
    if (s.verdict) stop(s, static_cast<solver_phase>(s.verdict));
}
