// Conjugate gradients on M x = b for Hermitian positive M.
//
// M. R. Hestenes and E. Stiefel, "Methods of conjugate gradients for solving linear systems"
// (1952), section 3. kernels/lattice/solver/cg.h has the scalars of an iteration, most of which are
// those of the normal equations (cg.c) with r in the place of M^+ r. So are the fields, and the
// passes that add to the solution.
//
// Updates are rarer than those of the normal equations, as one costs as much as three or four
// iterations in fixed point: HISQ at 32^4, mass 0.01, half inside double, took 257 iterations with
// 15 updates, and as many with 11 (H100, 2026-11-26).
//
// An iteration applies the operator once, and besides reads or writes nine fields: p for the sum
// that goes with the operator; w and r are read, r written; r, x and p are read, x and p written.
#include "lattice/solver/cg.h"

enum { R = S };

// ---- the steps ---------------------------------------------------------------------------------
static const cubc_site_update restart = {
    .statements = "r = z",
    .sums = {"norm(r)", "dot_real(r, p)", "dot_imag(r, p)"},
    .finish = "cg_restart",
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
static cubc_status update(solver *s)
{
    const lattice_field *f = s->work;
    TRY(cg_add_correction(s));
    TRY(solver_residual(s));
    return solver_pass(s, UPDATE, &restart,
                       SITE_FIELDS(WRITE("r", f[R]), READ("z", s->r), READ("p", f[P])));
}

static cubc_status iterate(solver *s, uint64_t last_of_round)
{
    const lattice_field *f = s->work;
    TRY(cg_next_direction(s));
    TRY(s->op->apply(
        s, &(operator_call){
               .in = &f[P], .out = &f[W], .z = &f[P], .tail = &length, .phase = ITERATE}));
    s->guard.step = last_of_round;
    return solver_pass(s, ITERATE, &next_residual, SITE_FIELDS(WRITE("r", f[R]), READ("w", f[W])));
}

const solver_method solver_cg_positive = {
    .name = "cg",
    .open = cg_open,
    .update = update,
    .iterate = iterate,
    .iteration_applies = 1,
    .update_applies = 1,
    .compacts = true,
    .delta = 0.1,
};
