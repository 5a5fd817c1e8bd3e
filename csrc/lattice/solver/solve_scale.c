// Scales of sources whose squares would not fit the precision: powers of two, by which sources are
// multiplied before a solve, and their solutions divided after it.
#include "lattice/solver/solve.h"

#include <float.h>
#include <math.h>

double solve_epsilon(cubc_type type)
{
    return type == CUBC_F64 ? DBL_EPSILON : type == CUBC_F32 ? FLT_EPSILON : 1.0 / 32768;
}

// The target is somewhat below the tolerance, since the solution is rounded once more at the end.
// The residuals of multishift fall without limit, so its target is at least the precision's
// epsilon.
double solve_first_target(const solver *s, const cubc_solve_params *p)
{
    const double margin = 0.9;
    double target = margin * p->tolerance;
    if (s->shifts) target = fmax(target, solve_epsilon(s->precise) / 4);
    return target * target;
}

// ---- kernels ------------------------------------------------------------------------------------
// Computes |b|^2, in double precision: squares of single ones would underflow.
static cubc_status take_source(solver *s, const cubc_solve_params *p, const whole_fields *w)
{
    static const cubc_site_update all = {
        .sums = {"norm(c128(b.real, b.imag))"},
        .finish = "take_source",
    };
    static const cubc_site_update both_parities = {
        .sums = {"norm(c128(e.real, e.imag)) + norm(c128(o.real, o.imag))"},
        .finish = "take_source",
    };
    if (!by_parity(p)) return solver_pass(s, UPDATE, &all, SITE_FIELDS(READ("b", s->b)));
    return solver_pass(s, UPDATE, &both_parities,
                       SITE_FIELDS(READ("e", w->b_of[0]), READ("o", w->b_of[1])));
}

static const cubc_site_update scale = {
    .scalars = {"alpha_real"},
    .statements = "v = alpha_real * v",
};

static cubc_status multiply(solver *s, const cubc_solve_params *p, const whole_fields *w,
                            solver_phase phase, bool source)
{
    const lattice_field *whole = source ? &s->b : &s->y, *of = source ? w->b_of : w->x_of;
    if (!by_parity(p)) return solver_pass(s, phase, &scale, SITE_FIELDS(WRITE("v", *whole)));
    for (int parity = 0; parity < 2; parity++)
        TRY(solver_pass(s, phase, &scale, SITE_FIELDS(WRITE("v", of[parity]))));
    return CUBC_OK;
}

// ---- scales -------------------------------------------------------------------------------------
// A power of two for numbers whose squares, or those of the final residual, would not fit a type;
// else 1.
static double scale_for(double mean_square, cubc_type precise)
{
    const int usual = 40, most = precise == CUBC_F64 ? 500 : 120; // which fits the type itself
    if (!(mean_square > 0) || isinf(mean_square)) return 1;
    int exponent = ilogb(mean_square);
    if (exponent > -usual && exponent < usual) return 1;
    return ldexp(1, (int)fmax(-most, fmin(most, -exponent / 2)));
}

static bool any_scaled(const solver *s)
{
    for (uint64_t k = 0; k < s->shape.sources; k++)
        if (s->scales[k] != 1) return true;
    return false;
}

// Scales double sources whose squares overflow or underflow, so that their norms can be computed.
// *any: one of them was scaled.
static cubc_status bring_nearer(solver *s, const cubc_solve_params *p, const whole_fields *w,
                                bool *any)
{
    *any = false;
    for (uint64_t k = 0; k < s->shape.sources; k++) {
        solver_state *state = &s->states[k];
        state->alpha_real = state->source < 0x1p-900     ? 0x1p500
                            : !(state->source < 0x1p900) ? 0x1p-500
                                                         : 1;
        s->scales[k] *= state->alpha_real;
        *any = *any || state->alpha_real != 1;
    }
    if (!*any) return CUBC_OK;
    for (uint64_t k = 0; k < s->shape.sources; k++) {
        s->states[k].phase = UPDATE;
        s->states[k].target = solve_first_target(s, p);
    }
    TRY(solver_upload(s));
    TRY(multiply(s, p, w, UPDATE, true));
    if (p->guess) TRY(multiply(s, p, w, UPDATE, false));
    TRY(take_source(s, p, w));
    return solver_download(s);
}

// The least numbers of a double need two steps: the squares of 1e-306 after one are 1e-310.
static cubc_status bring_into_range(solver *s, const cubc_solve_params *p, const whole_fields *w)
{
    bool any = true;
    for (int step = 0; any && step < 2; step++) TRY(bring_nearer(s, p, w, &any));
    return CUBC_OK;
}

cubc_status solve_scale_source(solver *s, const cubc_solve_params *p, const whole_fields *w)
{
    TRY(take_source(s, p, w));
    TRY(solver_download(s));
    if (s->precise == CUBC_F64) TRY(bring_into_range(s, p, w));
    const double most = 0x1p1000; // whose inverse is a double, too
    double reals = (double)p->n / (double)s->shape.sources;
    for (uint64_t k = 0; k < s->shape.sources; k++) {
        solver_state *state = &s->states[k];
        double by = fmin(scale_for(state->source / reals, s->precise), most / s->scales[k]);
        s->scales[k] *= by;
        state->alpha_real = by;
        state->source *= by * by;
        state->target *= by * by;
    }
    if (any_scaled(s)) {
        TRY(solver_upload(s));
        TRY(multiply(s, p, w, UPDATE, true));
        if (p->guess) TRY(multiply(s, p, w, UPDATE, false));
    }
    for (uint64_t k = 0; k < s->shape.sources; k++) s->states[k].alpha_real = 0;
    return solver_upload(s);
}

cubc_status solve_rescale(solver *s, const cubc_solve_params *p, const whole_fields *w,
                          bool for_caller)
{
    if (!any_scaled(s)) return CUBC_OK;
    for (uint64_t k = 0; k < s->shape.sources; k++)
        s->states[k].alpha_real = for_caller ? 1 / s->scales[k] : s->scales[k];
    TRY(solver_upload(s));
    return multiply(s, p, w, ITERATE, false);
}
