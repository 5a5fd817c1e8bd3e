// Wilson-clover fermions, and those with a twisted mass. The site term is a Hermitian matrix C a
// site, or C + i t gamma_5 with t = 2 kappa mu, whose inverse is K (C - i t gamma_5) with
// K = (C^2 + t^2)^-1. C and its inverse, or K, are kept in each of the solver's types.
#include "lattice/operators/clover.h"
#include "lattice/operators/flops.h"
#include "lattice/operators/lattice_problem.h"
#include "lattice/solver/wilson.h"

typedef struct clover_operator {
    wilson w;
    uint64_t sites;
    lattice_field term[TYPES], inverse[TYPES]; // in each of the solver's types
    double twist;
} clover_operator;

static const clover_operator *clover_of(const solver *s)
{
    return s->system;
}

// ---- hops ---------------------------------------------------------------------------------------
static cubc_status dslash(solver *s, const cubc_dslash_wilson_params *p, site_role role)
{
    const clover_operator *c = clover_of(s);
    const lattice_field *matrices =
        solver_in_type(role == SITE_OF_X ? c->term : c->inverse, p->sites.type);
    const cubc_dslash_clover_params params = {.wilson = *p,
                                              .clover = matrices->data,
                                              .clover_norms = matrices->norms,
                                              .clover_n = CLOVER_REALS * c->sites,
                                              .clover_norms_n = matrices->norms ? c->sites : 0,
                                              .on_x = role == SITE_OF_X};
    return solver_launch(s, &dslash_clover_algorithm, &params);
}

static cubc_status twisted_dslash(solver *s, const cubc_dslash_wilson_params *p, site_role role)
{
    const clover_operator *c = clover_of(s);
    const lattice_field *term = solver_in_type(c->term, p->sites.type),
                        *inverse = solver_in_type(c->inverse, p->sites.type);
    const bool adjoint = p->dagger || role == SITE_OWN_OF_X; // see twisted_site_inverse
    const cubc_dslash_twisted_clover_params params = {.wilson = *p,
                                                      .clover = term->data,
                                                      .clover_norms = term->norms,
                                                      .inverse = inverse->data,
                                                      .inverse_norms = inverse->norms,
                                                      .clover_n = CLOVER_REALS * c->sites,
                                                      .clover_norms_n = term->norms ? c->sites : 0,
                                                      .on_x = role != SITE_INVERSE_OF_D,
                                                      .t = adjoint ? -c->twist : c->twist};
    return solver_launch(s, &dslash_twisted_clover_algorithm, &params);
}

// out = `inverse` in on odd sites, of the precise type.
static cubc_status apply_inverse(solver *s, const void *in, void *out)
{
    const clover_operator *c = clover_of(s);
    const cubc_clover_apply_params params = {.clover = c->inverse[0].data,
                                             .x = in,
                                             .out = out,
                                             .clover_n = CLOVER_REALS * c->sites,
                                             .n = solver_reals(s),
                                             .type = s->precise,
                                             .norm_type = CUBC_F32,
                                             LATTICE_EXTENT_MEMBERS(s->shape.extents),
                                             .parity = 1};
    return solver_launch(s, &clover_apply_algorithm, &params);
}

static cubc_status site_inverse(solver *s, const lattice_field *in, const lattice_field **out)
{
    *out = &s->scratch[0];
    return apply_inverse(s, in->data, (*out)->data);
}

// The second factor is the adjoint of the term, to which a hop with a = 0 adds nothing.
static cubc_status twisted_site_inverse(solver *s, const lattice_field *in,
                                        const lattice_field **out)
{
    const hop adjoint = {
        .in = in, .x = in, .out = &s->scratch[0], .parity = 1, .site = SITE_OWN_OF_X};
    *out = &s->scratch[0];
    TRY(wilson_hop(s, &adjoint));
    return apply_inverse(s, (*out)->data, (*out)->data);
}

// ---- opening ------------------------------------------------------------------------------------
static cubc_status matrix_field(solver *s, cubc_type type, lattice_field *out)
{
    uint64_t sites = clover_of(s)->sites, reals = CLOVER_REALS * sites;
    uint64_t norms = type == CUBC_I16 ? sites : 0;
    *out = (lattice_field){.type = type};
    TRY(solver_alloc(s, reals * cubc_type_size(type) + norms * sizeof(float), &out->data));
    if (norms) out->norms = (float *)((int16_t *)out->data + reals);
    return CUBC_OK;
}

static cubc_status copy(solver *s, const lattice_field *from, cubc_type type, lattice_field *out)
{
    const clover_operator *c = clover_of(s);
    TRY(matrix_field(s, type, out));
    const cubc_spinor_copy_params params = {.from = from->data,
                                            .to = out->data,
                                            .to_norms = out->norms,
                                            .from_n = CLOVER_REALS * c->sites,
                                            .to_n = CLOVER_REALS * c->sites,
                                            .from_type = from->type,
                                            .to_type = type,
                                            .norms_n = out->norms ? c->sites : 0,
                                            .norm_type = CUBC_F32,
                                            .from_order = CUBC_NATIVE,
                                            .to_order = CUBC_NATIVE,
                                            .reals = CLOVER_REALS,
                                            LATTICE_EXTENT_MEMBERS(s->shape.extents)};
    return solver_launch(s, &spinor_copy_algorithm, &params);
}

// With a twist the inverse of its square and that of C.
static cubc_status invert(solver *s, const lattice_field *from, cubc_type type, bool twisted,
                          double *log_det, lattice_field *out)
{
    const clover_operator *c = clover_of(s);
    TRY(matrix_field(s, type, out));
    const cubc_clover_invert_params params = {.clover = from->data,
                                              .out = out->data,
                                              .out_norms = out->norms,
                                              .log_det = log_det,
                                              .clover_n = CLOVER_REALS * c->sites,
                                              .n = CLOVER_REALS * c->sites,
                                              .log_det_n = c->sites,
                                              .clover_type = from->type,
                                              .type = type,
                                              .log_det_type = CUBC_F64,
                                              .norms_n = out->norms ? c->sites : 0,
                                              .norm_type = CUBC_F32,
                                              LATTICE_EXTENT_MEMBERS(s->shape.extents),
                                              .squared = twisted,
                                              .shift = c->twist * c->twist};
    return solver_launch(s, &clover_invert_algorithm, &params);
}

static cubc_status open_matrices(solver *s, const cubc_operator *op, bool twisted)
{
    clover_operator *c = s->system;
    const cubc_clover_operator *from = &op->of.clover;
    const lattice_field given = {.data = (void *)(uintptr_t)from->clover,
                                 .type = from->clover_type};
    void *log_det;
    if (!from->clover || (given.type != CUBC_F64 && given.type != CUBC_F32))
        FAIL(CUBC_INVALID_ARGUMENT, "the operator has no clover term of F64 or F32");
    c->sites = (uint64_t)op->lx * (uint64_t)op->ly * (uint64_t)op->lz * (uint64_t)op->lt;
    if (from->clover_n != CLOVER_REALS * c->sites)
        FAIL(CUBC_INVALID_ARGUMENT, "the clover term has %llu real numbers: it has 72 a site, %llu",
             (unsigned long long)from->clover_n, (unsigned long long)(CLOVER_REALS * c->sites));
    TRY(solver_alloc(s, c->sites * sizeof(double), &log_det));
    cubc_type types[TYPES];
    const int count = solver_types(s, types);
    for (int k = 0; k < count; k++) {
        TRY(invert(s, &given, types[k], twisted, log_det, &c->inverse[k]));
        c->term[k] = given;
        if (types[k] != given.type) TRY(copy(s, &given, types[k], &c->term[k]));
    }
    return CUBC_OK;
}

static cubc_status open(solver *s, const cubc_operator *op)
{
    return open_matrices(s, op, false);
}

static cubc_status open_twisted(solver *s, const cubc_operator *op)
{
    clover_operator *c = s->system;
    c->twist = 2 * c->w.kappa * op->of.twisted_clover.mu;
    return open_matrices(s, op, true);
}

static cubc_status check_twisted(const cubc_operator *op)
{
    TRY(wilson_check(op));
    return wilson_check_number("mu", op->of.twisted_clover.mu);
}

#define CLOVER_FIELDS \
    WILSON_FIELDS, FIELD_ARRAY(cubc_clover_operator, clover, FIELD_INPUT, clover_type, clover_n)

static const wilson_term matrices = {.flops = CLOVER_FLOPS, .dslash = dslash, .open = open};
static const field fields[] = {CLOVER_FIELDS};

const operator_row clover_row = WILSON_ROW(.name = "clover", .state_bytes = sizeof(clover_operator),
                                           .site_inverse = site_inverse, .check = wilson_check,
                                           .details = &matrices, FIELDS(fields));

static const wilson_term twisted_matrices = {
    .flops = TWISTED_CLOVER_FLOPS, .dslash = twisted_dslash, .open = open_twisted};
static const field twisted_fields[] = {CLOVER_FIELDS,
                                       FIELD(cubc_twisted_clover_operator, mu, FIELD_REAL)};

const operator_row twisted_clover_row =
    WILSON_ROW(.name = "twisted_clover", .state_bytes = sizeof(clover_operator),
               .site_inverse = twisted_site_inverse, .check = check_twisted,
               .details = &twisted_matrices, FIELDS(twisted_fields));
