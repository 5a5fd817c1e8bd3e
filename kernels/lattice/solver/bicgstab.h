// Scalar steps of BiCGStab. The launches, and the paper, are those of
// csrc/lattice/solver/bicgstab.c; a function takes the sums of the step that has its name there.
//
// With q the residual at the beginning and rho = <q, r>, an iteration is
//     project    v = M p,  alpha = rho / <q, v>
//     half_step  r -= alpha v
//     stabilise  t = M r,  omega = <t, r> / <t, t>
//                rho = <q, r> - omega <q, t>,  beta = rho / previous rho * alpha / omega
//     end_step   x += alpha p + omega r,  r -= omega t,  p = r + beta (p - omega v)
#pragma once
#include "solver.h"

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

// Computes alpha = rho / <q, v>. sum: <q, v>.
FUNCTION void bicgstab_project(solver_state& s, const f64* sum, u64)
{
    const c128 divisor(sum[0], sum[1]);
    if (bicgstab_divides(s, divisor)) s.alpha = s.rho / divisor;
}

// Computes omega, the next rho and beta. sum: <t, r>, <t, t>, <q, t>, <q, r>.
FUNCTION void bicgstab_stabilise(solver_state& s, const f64* sum, u64)
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
FUNCTION void bicgstab_end_step(solver_state& s, const f64* sum, u64 last_of_round)
{
    s.residual = sum[0];
    end_iteration(s, sum[0], last_of_round);
}

// Restarts after an update: rho = <q, r>. sum: <q, r>.
FUNCTION void bicgstab_restart(solver_state& s, const f64* sum, u64)
{
    s.rho = c128(sum[0], sum[1]);
    s.sigma = 0;
    s.phase = ITERATE;
}
