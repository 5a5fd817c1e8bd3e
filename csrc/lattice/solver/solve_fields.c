// The caller's fields become those of a solve, and its solution theirs, with a report.
#include "lattice/operators/lattice_problem.h"
#include "lattice/solver/solve.h"

#include <math.h>

// ---- taking -------------------------------------------------------------------------------------
static cubc_status convert(solver *s, const cubc_solve_params *p, const void *from,
                           cubc_type from_type, cubc_field_order from_order, void *to,
                           cubc_type to_type, cubc_field_order to_order)
{
    const cubc_spinor_copy_params copy = {.from = from,
                                          .to = to,
                                          .from_n = p->n,
                                          .to_n = p->n,
                                          .from_type = from_type,
                                          .to_type = to_type,
                                          .norm_type = CUBC_F32,
                                          .from_order = from_order,
                                          .to_order = to_order,
                                          .reals = s->shape.reals,
                                          .lx = p->op->lx,
                                          .ly = p->op->ly,
                                          .lz = p->op->lz,
                                          .lt = p->op->lt};
    return solver_launch(s, &spinor_copy_algorithm, &copy);
}

// Splits a whole field into those of its parities, or joins them.
static cubc_status split(solver *s, const lattice_field *whole, const lattice_field of[2],
                         bool join)
{
    uint64_t fields = s->shape.sources * (uint64_t)s->shape.inner;
    size_t bytes = solver_reals(s) / fields * cubc_type_size(whole->type);
    for (uint64_t k = 0; k < 2 * fields; k++) {
        char *in_whole = (char *)whole->data + k * bytes;
        char *in_part = (char *)of[k % 2].data + k / 2 * bytes;
        TRY(solver_copy(s, join ? in_whole : in_part, join ? in_part : in_whole, bytes));
    }
    return CUBC_OK;
}

static cubc_status whole_field(solver *s, const cubc_solve_params *p, lattice_field *out)
{
    *out = (lattice_field){.type = s->precise};
    return solver_alloc(s, p->n * cubc_type_size(s->precise), &out->data);
}

cubc_status solve_take_fields(solver *s, const cubc_solve_params *p, whole_fields *w)
{
    TRY(whole_field(s, p, &w->b));
    TRY(whole_field(s, p, &w->x));
    TRY(convert(s, p, p->b, p->type, p->order, w->b.data, s->precise, CUBC_NATIVE));
    if (p->guess)
        TRY(convert(s, p, p->x, p->type, p->order, w->x.data, s->precise, CUBC_NATIVE));
    else
        TRY(solver_zero(s, w->x.data, p->n * cubc_type_size(s->precise)));
    TRY(solver_field(s, s->precise, &s->r));
    if (!by_parity(p)) {
        s->b = w->b;
        s->y = w->x;
        return CUBC_OK;
    }
    for (int parity = 0; parity < 2; parity++) {
        TRY(solver_field(s, s->precise, &w->b_of[parity]));
        TRY(solver_field(s, s->precise, &w->x_of[parity]));
    }
    TRY(solver_field(s, s->precise, &s->b));
    TRY(split(s, &w->b, w->b_of, false));
    TRY(split(s, &w->x, w->x_of, false));
    s->y = w->x_of[0];
    return CUBC_OK;
}

// ---- giving -------------------------------------------------------------------------------------
// The residual is that of the numbers that the caller gets: before it is calculated, x is converted
// to the caller's type, order and scale, and back.

const char *solve_reason(uint64_t phase)
{
    static const char *const reasons[] = {
        [CONVERGED] = "converged",
        [AT_LIMIT] = "stopped after the most iterations allowed",
        [BROKEN] = "broke down: a step would have divided by zero",
        [NOT_FINITE] = "met a number that is not finite",
        [STAGNANT] = "stagnated: the residual did not fall any more",
        [NO_SOURCE] = "converged: the right-hand side is zero, and so is the solution"};
    return phase < COUNT_OF(reasons) && reasons[phase] ? reasons[phase] : "did not end";
}

// Says which precision reaches a smaller residual, if one does. `rounded`: the residual of the
// iteration was small enough, that of the stored x is not.
static const char *stagnated(const cubc_solve_params *p, bool rounded)
{
    if (p->precise == CUBC_F32 && shifts_of(p))
        return "stagnated: single precision holds no less; precision='double' does";
    if (p->precise == CUBC_F32)
        return "stagnated: single precision holds no less; precision='double' does, also with "
               "sloppy='single'";
    if (rounded && p->type == CUBC_F32)
        return "stagnated: x is rounded to complex64, as b is; complex128 holds less";
    return rounded ? "stagnated: rounding left x a larger residual than the iteration had"
                   : solve_reason(STAGNANT);
}

static cubc_status give(solver *s, const cubc_solve_params *p, const lattice_field *x, void *to)
{
    TRY(convert(s, p, x->data, s->precise, CUBC_NATIVE, to, p->type, p->order));
    return convert(s, p, to, p->type, p->order, x->data, s->precise, CUBC_NATIVE);
}

// Reports on all right-hand sides. `x` is the caller's, of the first of them.
static cubc_status judge(solver *s, const cubc_solve_params *p, char *x, cubc_solve_info *info)
{
    size_t bytes = p->n / s->shape.sources * cubc_type_size(p->type);
    TRY(solver_download(s));
    for (uint64_t k = 0; k < s->shape.sources; k++, x += bytes) {
        double square = s->states[k].residual, source = s->states[k].source;
        info[k].residual = sqrt(source > 0 ? square / source : square);
        if (!isfinite(info[k].residual)) {
            TRY(s->actions->fill(s, x, 0xff, bytes)); // NaN of either type
            info[k].residual = NAN;
            info[k].reason = solve_reason(NOT_FINITE);
        } else if (info[k].residual <= p->tolerance) {
            if (!info[k].converged) info[k].reason = solve_reason(CONVERGED);
        } else if (info[k].converged || info[k].reason == solve_reason(STAGNANT)) {
            info[k].reason = stagnated(p, info[k].converged);
        }
        info[k].converged = info[k].residual <= p->tolerance;
    }
    return CUBC_OK;
}

static const cubc_site_update residual = {
    .sums = {"norm(b - m)"},
    .finish = "keep_residual",
};
static const cubc_site_update residual_of_parities = {
    .sums = {"norm(be - me) + norm(bo - mo)"},
    .finish = "keep_residual",
};

cubc_status solve_give_fields(solver *s, const cubc_solve_params *p, whole_fields *w,
                              cubc_solve_info *info)
{
    if (by_parity(p)) TRY(s->op->odd_part(s, w->b_of, w->x_of));
    TRY(solve_rescale(s, p, w, true));
    if (by_parity(p)) TRY(split(s, &w->x, w->x_of, true));
    TRY(give(s, p, &w->x, p->x));
    if (by_parity(p)) TRY(split(s, &w->x, w->x_of, false));
    TRY(solve_rescale(s, p, w, false));
    if (by_parity(p)) {
        w->m_of[0] = s->r;
        w->m_of[1] = s->b; // which is no longer needed
        TRY(s->op->whole(s, w->x_of, w->m_of));
        TRY(solver_pass(s, ITERATE, &residual_of_parities,
                        SITE_FIELDS(READ("be", w->b_of[0]), READ("bo", w->b_of[1]),
                                    READ("me", w->m_of[0]), READ("mo", w->m_of[1]))));
    } else {
        TRY(s->op->apply(s, &(operator_call){.in = &s->y, .out = &s->r, .phase = ITERATE}));
        TRY(solver_pass(s, ITERATE, &residual, SITE_FIELDS(READ("b", s->b), READ("m", s->r))));
    }
    return judge(s, p, p->x, info);
}

cubc_status solve_give_shifted(solver *s, const cubc_solve_params *p, const whole_fields *w,
                               cubc_solve_info *info)
{
    size_t bytes = p->n * cubc_type_size(p->type);
    for (int k = 0; k < s->shifts; k++) {
        char *to = (char *)p->x + (size_t)k * bytes;
        s->y = *multishift_solution(s, k);
        TRY(solve_rescale(s, p, w, true));
        TRY(give(s, p, &s->y, to));
        TRY(solve_rescale(s, p, w, false));
        TRY(multishift_residual(s, k));
        TRY(judge(s, p, to, info + (uint64_t)k * s->shape.sources));
    }
    return CUBC_OK;
}
