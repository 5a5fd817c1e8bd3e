// Conjugate gradients on M x = b for Hermitian positive M.
//
// M. R. Hestenes and E. Stiefel, "Methods of conjugate gradients for solving linear systems"
// (1952), section 3. kernels/lattice/solver/cg.h has the scalars of an iteration, most of which are
// those of the normal equations (cg.c) with r in the place of M^+ r: so are updates, and the
// solution along p, which is added with the next direction.
//
// Updates are rarer than those of the normal equations, as one costs as much as three or four
// iterations in fixed point: HISQ at 32^4, mass 0.01, half inside double, took 257 iterations with
// 15 updates, and as many with 11 (H100, 2026-11-26).
//
// An iteration moves the operator once, and nine fields: p again to the operator's sum; w and r
// read, r written; r, x and p read, x and p written.
#include "lattice/solver/solver.h"

enum { X, P, W, R }; // among work: correction since the last update, direction, M p, residual

// ---- the steps ---------------------------------------------------------------------------------
static const cubc_site_update add_correction = {
    .scalars = {"alpha_real"},
    .statements = "y = y + x + alpha_real * p; x = complex<real_t>(0)",
};
static const cubc_site_update restart = {
    .statements = "r = z",
    .sums = {"norm(r)", "dot_real(r, p)", "dot_imag(r, p)"},
    .finish = "cg_restart",
};
static const cubc_site_update next_direction = {
    .scalars = {"alpha_real", "beta_real", "sigma"},
    .statements = "x = x + alpha_real * p; p = sigma * s + beta_real * p", // as in cg.c
};
static const cubc_site_update length = {
    .sums = {"dot_real(z, out)"},
    .finish = "cg_length",
};
static const cubc_site_update next_residual = {
    .scalars = {"alpha_real"},
    .statements = "r = r - alpha_real * w",
    .sums = {"norm(r)"},
    .finish = "cg_positive_next_residual",
};

// ---- the method --------------------------------------------------------------------------------
static cubc_status open(solver *s)
{
    TRY(solver_zero_field(s, s->sloppy, &s->work[X]));
    TRY(solver_zero_field(s, s->sloppy, &s->work[P]));
    TRY(solver_field(s, s->sloppy, &s->work[W]));
    return solver_zero_field(s, s->sloppy, &s->work[R]);
}

static cubc_status update(solver *s)
{
    const lattice_field *f = s->work;
    TRY(solver_pass(s, UPDATE, &add_correction,
                    SITE_FIELDS(WRITE("y", s->y), WRITE("x", f[X]), READ("p", f[P]))));
    TRY(solver_residual(s));
    return solver_pass(s, UPDATE, &restart,
                       SITE_FIELDS(WRITE("r", f[R]), READ("z", s->r), READ("p", f[P])));
}

static cubc_status iterate(solver *s, uint64_t last_of_round)
{
    const lattice_field *f = s->work;
    TRY(solver_pass(s, ITERATE, &next_direction,
                    SITE_FIELDS(WRITE("x", f[X]), WRITE("p", f[P]), READ("s", f[R]))));
    TRY(s->op->apply(
        s, &(operator_call){
               .in = &f[P], .out = &f[W], .z = &f[P], .tail = &length, .phase = ITERATE}));
    s->guard.step = last_of_round;
    return solver_pass(s, ITERATE, &next_residual, SITE_FIELDS(WRITE("r", f[R]), READ("w", f[W])));
}

const solver_method solver_cg_positive = {
    .name = "cg",
    .open = open,
    .update = update,
    .iterate = iterate,
    .iteration_applies = 1,
    .update_applies = 1,
    .compacts = true,
    .delta = 0.1,
};
