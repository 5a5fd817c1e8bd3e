// Conjugate gradients on the normal equations, M^+ M x = M^+ b.
//
// M. R. Hestenes and E. Stiefel, "Methods of conjugate gradients for solving linear systems"
// (1952), section 10. kernels/lattice/solver/cg.h has the iteration step by step, and its scalars.
//
// The residual of the normal equations, s = M^+ r, is iterated, so that an iteration has no more
// passes over fields than one of M^+ M x = b. The other, r = b - M x, is orthogonal to M p after a
// step along p, so that its norm, by which the solve ends, follows from the step. No
// other x in the same space has a smaller |r|.
//
// The solution along p is added at the beginning of the next iteration, in one pass with the new
// direction (cg.h), and the kernel of M p also sums up its length. An iteration applies M and
// M^+, and besides reads or writes eight fields: p as M is applied, s and w as M^+ is; then s, x
// and p are read, x and p written.
//
// An update calculates M^+ r in the precision of iterations: s is no more precise than they are,
// and the next update starts from a residual of full precision again.
#include "lattice/solver/cg.h"

// ---- the steps ---------------------------------------------------------------------------------
static const cubc_site_update add_correction = {
    .scalars = {"alpha_real"},
    .statements = "y = y + x + alpha_real * p; x = complex<real_t>(0)",
};
static const cubc_site_update restart = {
    .sums = {"norm(out)", "dot_real(out, z)", "dot_imag(out, z)"},
    .finish = "cg_restart",
};
static const cubc_site_update next_direction = {
    .scalars = {"alpha_real", "beta_real", "sigma"},
    .statements = "x = x + alpha_real * p; p = sigma * s + beta_real * p",
};
static const cubc_site_update length = {
    .sums = {"norm(out)"},
    .finish = "cg_length",
};
static const cubc_site_update next_residual = {
    .scalars = {"alpha_real"},
    .statements = "out = z - alpha_real * m",
    .sums = {"norm(out)"},
    .finish = "cg_next_residual",
};

// ---- the method --------------------------------------------------------------------------------
cubc_status cg_open(solver *s)
{
    TRY(solver_zero_field(s, s->sloppy, &s->work[X]));
    TRY(solver_zero_field(s, s->sloppy, &s->work[P]));
    TRY(solver_field(s, s->sloppy, &s->work[W]));
    return solver_zero_field(s, s->sloppy, &s->work[S]);
}

cubc_status cg_add_correction(solver *s)
{
    const lattice_field *f = s->work;
    return solver_pass(s, UPDATE, &add_correction,
                       SITE_FIELDS(WRITE("y", s->y), WRITE("x", f[X]), READ("p", f[P])));
}

cubc_status cg_next_direction(solver *s)
{
    const lattice_field *f = s->work;
    return solver_pass(s, ITERATE, &next_direction,
                       SITE_FIELDS(WRITE("x", f[X]), WRITE("p", f[P]), READ("s", f[S])));
}

static cubc_status update(solver *s)
{
    const lattice_field *f = s->work, *residual;
    TRY(cg_add_correction(s));
    TRY(solver_residual(s));
    TRY(solver_sloppy_residual(s, &f[W], &residual));
    return s->op->apply(s, &(operator_call){.in = residual,
                                            .out = &f[S],
                                            .z = &f[P],
                                            .tail = &restart,
                                            .dagger = true,
                                            .phase = UPDATE});
}

static cubc_status iterate(solver *s, uint64_t last_of_round)
{
    const lattice_field *f = s->work;
    TRY(cg_next_direction(s));
    TRY(s->op->apply(
        s, &(operator_call){.in = &f[P], .out = &f[W], .tail = &length, .phase = ITERATE}));
    return s->op->apply(s, &(operator_call){.in = &f[W],
                                            .out = &f[S],
                                            .z = &f[S],
                                            .tail = &next_residual,
                                            .dagger = true,
                                            .phase = ITERATE,
                                            .step = last_of_round});
}

const solver_method solver_cg = {
    .name = "cg",
    .open = cg_open,
    .update = update,
    .iterate = iterate,
    .iteration_applies = 2,
    .update_applies = 2,
    .of_positive = &solver_cg_positive,
    .compacts = true,
};
