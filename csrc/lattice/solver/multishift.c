// Conjugate gradients on several systems (M^+ M + shift) x = b at once, or (M + shift) x = b for
// Hermitian positive M.
//
// B. Jegerlehner, "Krylov space solvers for shifted linear systems" (1996).
// kernels/lattice/solver/multishift.h has the iteration step by step, and its scalars.
//
// The systems share their Krylov space, so that those with a shift follow from the one without:
// their residuals are zeta times that of the latter. All solutions and directions are in full
// precision, since nothing could renew more than one of the residuals. A system whose residual is
// small enough is left as it is: its kernels do nothing from the next iteration on.
#include "lattice/solver/solver.h"

enum { P, W, R, M, FIRST }; // among work; then solution and direction of each shift

// ---- the steps ---------------------------------------------------------------------------------
static const cubc_site_update begin = {
    .statements = "p = b; r = b",
    .sums = {"norm(b)"},
    .finish = "multishift_begin",
};
static const cubc_site_update length = {
    .sums = {"norm(out)"},
    .finish = "multishift_length",
};
static const cubc_site_update next_residual = {
    .scalars = {"alpha_real"},
    .statements = "out = z - alpha_real * m",
    .sums = {"norm(out)"},
    .finish = "multishift_next_residual",
};
static const cubc_site_update length_of_positive = {
    .sums = {"dot_real(z, out)"},
    .finish = "multishift_length",
};
static const cubc_site_update next_residual_of_positive = {
    .scalars = {"alpha_real"},
    .statements = "r = r - alpha_real * w",
    .sums = {"norm(r)"},
    .finish = "multishift_next_residual",
};
static const cubc_site_update step_of_shift = {
    .statements = "x = x + SHIFTED(shift_alpha) * p; "
                  "p = SHIFTED(zeta) * r + SHIFTED(shift_beta) * p",
};
static const cubc_site_update next_direction = {
    .scalars = {"beta_real"},
    .statements = "p = r + beta_real * p",
    .sums = {"norm(p)"},
    .finish = "multishift_next_direction",
};
static const cubc_site_update true_residual = {
    .sums = {"norm(b - m - SHIFTED(shift) * x)"},
    .finish = "keep_residual",
};

// ---- the method --------------------------------------------------------------------------------
const lattice_field *multishift_solution(solver *s, int shift)
{
    return &s->work[FIRST + 2 * shift];
}

static cubc_status open(solver *s)
{
    for (int k = P; k < FIRST + 2 * s->shifts; k++)
        TRY(solver_zero_field(s, s->precise, &s->work[k]));
    return CUBC_OK;
}

static cubc_status update(solver *s)
{
    const lattice_field *f = s->work;
    for (int k = 0; k < s->shifts; k++) TRY(solver_assign(s, UPDATE, &f[FIRST + 2 * k + 1], &s->b));
    return solver_pass(s, UPDATE, &begin,
                       SITE_FIELDS(READ("b", s->b), WRITE("p", f[P]), WRITE("r", f[R])));
}

static cubc_status steps_of_shifts(solver *s)
{
    const lattice_field *f = s->work;
    for (int k = 0; k < s->shifts; k++) {
        s->guard.step = (uint64_t)k;
        TRY(solver_pass(s, ITERATE_SHIFT, &step_of_shift,
                        SITE_FIELDS(WRITE("x", f[FIRST + 2 * k]), READ("r", f[R]),
                                    WRITE("p", f[FIRST + 2 * k + 1]))));
    }
    return solver_pass(s, ITERATE, &next_direction, SITE_FIELDS(WRITE("p", f[P]), READ("r", f[R])));
}

static cubc_status iterate(solver *s, uint64_t last_of_round)
{
    const lattice_field *f = s->work;
    (void)last_of_round;
    TRY(s->op->apply(
        s, &(operator_call){.in = &f[P], .out = &f[W], .tail = &length, .phase = ITERATE}));
    TRY(s->op->apply(s, &(operator_call){.in = &f[W],
                                         .out = &f[R],
                                         .z = &f[R],
                                         .tail = &next_residual,
                                         .dagger = true,
                                         .phase = ITERATE}));
    return steps_of_shifts(s);
}

static cubc_status iterate_positive(solver *s, uint64_t last_of_round)
{
    const lattice_field *f = s->work;
    (void)last_of_round;
    TRY(s->op->apply(
        s,
        &(operator_call){
            .in = &f[P], .out = &f[W], .z = &f[P], .tail = &length_of_positive, .phase = ITERATE}));
    TRY(solver_pass(s, ITERATE, &next_residual_of_positive,
                    SITE_FIELDS(WRITE("r", f[R]), READ("w", f[W]))));
    return steps_of_shifts(s);
}

cubc_status multishift_residual(solver *s, int shift)
{
    const lattice_field *f = s->work, *x = multishift_solution(s, shift);
    const lattice_field *first = s->op->positive ? &f[M] : &f[W];
    TRY(s->op->apply(s, &(operator_call){.in = x, .out = first, .phase = ITERATE}));
    if (!s->op->positive)
        TRY(s->op->apply(
            s, &(operator_call){.in = &f[W], .out = &f[M], .dagger = true, .phase = ITERATE}));
    s->guard.step = (uint64_t)shift;
    return solver_pass(s, ITERATE, &true_residual,
                       SITE_FIELDS(READ("b", s->b), READ("m", f[M]), READ("x", *x)));
}

const solver_method solver_multishift_positive = {
    .name = "multishift",
    .open = open,
    .update = update,
    .iterate = iterate_positive,
    .iteration_applies = 1,
};
const solver_method solver_multishift = {
    .name = "multishift",
    .open = open,
    .update = update,
    .iterate = iterate,
    .iteration_applies = 2,
    .of_positive = &solver_multishift_positive,
};
