// Twisted mass fermions: the site term 1 + i t gamma_5 with t = 2 kappa mu, whose inverse is
// (1 - i t gamma_5) / (1 + t^2).
#include "lattice/operators/flops.h"
#include "lattice/operators/lattice_problem.h"
#include "lattice/solver/wilson.h"

typedef struct twisted {
    wilson w;
    double twist;
} twisted;

static const twisted *twisted_of(const solver *s)
{
    return s->system;
}

static cubc_status dslash(solver *s, const cubc_dslash_wilson_params *p, site_role role)
{
    double t = p->dagger ? -twisted_of(s)->twist : twisted_of(s)->twist;
    cubc_dslash_twisted_params params = {.wilson = *p, .b = 1};
    if (role == SITE_INVERSE_OF_D) {
        params.wilson.a = (p->sites.x ? p->a : 1) / (1 + t * t);
        params.a5 = -t * params.wilson.a;
    } else {
        params.b5 = t;
    }
    return solver_launch(s, &dslash_twisted_algorithm, &params);
}

static cubc_status site_inverse(solver *s, const lattice_field *in, const lattice_field **out)
{
    const twisted *t = twisted_of(s);
    double below = 1 + t->twist * t->twist;
    *out = &s->scratch[0];
    const cubc_spinor_twist_params params = {.x = in->data,
                                             .out = (*out)->data,
                                             .n = solver_reals(s),
                                             .type = in->type,
                                             .norm_type = CUBC_F32,
                                             LATTICE_EXTENT_MEMBERS(s->shape.extents),
                                             .a = 1 / below,
                                             .a5 = -t->twist / below};
    return solver_launch(s, &spinor_twist_algorithm, &params);
}

static cubc_status open(solver *s, const cubc_operator *from)
{
    twisted *t = s->system;
    t->twist = 2 * t->w.kappa * from->of.twisted.mu;
    return CUBC_OK;
}

static cubc_status check(const cubc_operator *op)
{
    TRY(wilson_check(op));
    return wilson_check_number("mu", op->of.twisted.mu);
}

static const wilson_term twist = {.flops = TWIST_FLOPS, .dslash = dslash, .open = open};
static const field fields[] = {WILSON_FIELDS, FIELD(cubc_twisted_operator, mu, FIELD_REAL)};

const operator_row twisted_row =
    WILSON_ROW(.name = "twisted", .state_bytes = sizeof(twisted), .site_inverse = site_inverse,
               .check = check, .details = &twist, FIELDS(fields));
