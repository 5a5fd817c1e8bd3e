// Scalar steps of the solvers between their kernels, on the state of one right-hand side
// (solver.h). The methods are described beside their launches, in csrc/lattice.
#pragma once
#include "solver.h"

// ---- conjugate gradients on M^+ M ---------------------------------------------------------------
// With s = M^+ r, an iteration is
//     x += alpha p,  p = sigma s + beta p   with alpha of the previous iteration
//     w = M p                               alpha = |s|^2 / |w|^2
//     s -= alpha M^+ w                      beta = |s|^2 / |previous s|^2, sigma = 1
// and lowers |r|^2 by alpha |previous s|^2, because the new r is orthogonal to w.

// Computes alpha. sum: |w|^2.
FUNCTION void cg_length(solver_state& s, const f64* sum, u64)
{
    s.alpha_real = sum[0] > 0 ? s.gamma / sum[0] : 0;
    if (!(sum[0] > 0) || !is_finite(s.alpha_real)) break_down(s, sum[0]);
}

// Computes beta and ends the iteration. sum: |s|^2.
FUNCTION void cg_direction(solver_state& s, const f64* sum, u64 last_of_round)
{
    s.residual -= s.alpha_real * s.gamma;
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

// ---- BiCGStab -----------------------------------------------------------------------------------
// Returns true if a step can divide by the divisor. If not, the method restarts, or ends if it has
// just restarted.
FUNCTION bool bicgstab_divides(solver_state& s, c128 divisor)
{
    if (!is_finite(divisor.real + divisor.imag)) {
        stop(s, NOT_FINITE);
        return false;
    }
    if (divisor.real != 0 || divisor.imag != 0) return true;
    if (s.residual == s.largest) s.verdict = BROKEN;
    s.sigma = 1;
    s.phase = UPDATE;
    return false;
}

// Computes alpha after v = M p. sum: <q, v>.
FUNCTION void bicgstab_first(solver_state& s, const f64* sum, u64)
{
    const c128 divisor(sum[0], sum[1]);
    if (bicgstab_divides(s, divisor)) s.alpha = s.rho / divisor;
}

// Computes omega, rho and beta after t = M r. sum: <t, r>, <t, t>, <q, t>, <q, r>.
FUNCTION void bicgstab_second(solver_state& s, const f64* sum, u64)
{
    const c128 before = s.rho;
    if (sum[2] == 0) { // r = 0, as M p has solved the system
        s.omega = s.beta = 0;
        return;
    }
    if (!bicgstab_divides(s, before)) return;
    s.omega = c128(sum[0], sum[1]) / c128(sum[2]);
    s.rho = c128(sum[5], sum[6]) - s.omega * c128(sum[3], sum[4]);
    if (bicgstab_divides(s, s.omega)) s.beta = s.rho / before * (s.alpha / s.omega);
}

// Ends the iteration. sum: |r|^2.
FUNCTION void bicgstab_end(solver_state& s, const f64* sum, u64 last_of_round)
{
    s.residual = sum[0];
    end_iteration(s, sum[0], last_of_round);
}

// Restarts after an update. sum: <q, r>.
FUNCTION void bicgstab_restart(solver_state& s, const f64* sum, u64)
{
    s.rho = c128(sum[0], sum[1]);
    s.sigma = 0;
    s.phase = ITERATE;
}

// ---- GCR ----------------------------------------------------------------------------------------
// Computes the component of v_k along v_j, after those along earlier ones were removed from v_k.
// step: k * MOST_BASIS + j. sum: <v_j, v_k>.
FUNCTION void gcr_project(solver_state& s, const f64* sum, u64 step)
{
    const u64 k = step / MOST_BASIS, j = step % MOST_BASIS;
    s.omega = c128(sum[0] / s.length[j], sum[1] / s.length[j]);
    s.projection[k][j] = s.omega;
}

// Converts coefficients of the orthogonalised directions to those of the original ones. v_k is M
// p_k minus its projections.
FUNCTION void gcr_coefficients(solver_state& s, u64 k)
{
    for (u64 j = k + 1; j-- > 0;) {
        s.basis[j] = s.step[j];
        for (u64 i = j + 1; i <= k; i++) s.basis[j] = s.basis[j] - s.projection[i][j] * s.basis[i];
    }
}

// Computes the step along direction k. sum: |v_k|^2, <v_k, p_k>.
FUNCTION void gcr_length(solver_state& s, const f64* sum, u64 step)
{
    const u64 k = step / MOST_BASIS;
    if (!(sum[0] > 0) || !is_finite(sum[0])) return break_down(s, sum[0]);
    s.length[k] = sum[0];
    s.alpha = s.step[k] = c128(sum[1] / sum[0], sum[2] / sum[0]);
    gcr_coefficients(s, k);
}

// Ends an iteration. The cycle ends with an update. sum: |r|^2.
FUNCTION void gcr_end(solver_state& s, const f64* sum, u64 last_of_round)
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

// ---- multishift CG: several systems -------------------------------------------------------------
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

// Computes alpha and the shifted systems' zeta, with w = M p. alpha and beta hold the previous
// step's values. sum: |w|^2.
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

// Computes beta for all systems and ends the iteration. sum: |r|^2 of the system without a shift.
FUNCTION void multishift_end(solver_state& s, const f64* sum, u64)
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

// Closes the shifts that have converged, after the step's solutions are stored.
FUNCTION void multishift_next(solver_state& s, const f64*, u64)
{
    for (u64 k = 0; k < s.shifts; k++)
        if (s.zeta[k] * s.zeta[k] * s.gamma <= s.target)
            s.open_shifts &= ~(static_cast<u64>(1) << k);
    if (s.verdict) stop(s, static_cast<solver_phase>(s.verdict));
}
