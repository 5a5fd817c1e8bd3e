// Wilson-clover fermions: the site term is a Hermitian matrix a site, kept with its inverse in the
// precise and in the sloppy type.
#include "lattice/operators/clover.h"
#include "lattice/solver/wilson.h"

enum { CLOVER_FLOPS = 552 };

typedef struct clover_operator {
    wilson w;
    uint64_t sites;
    lattice_field term[2], inverse[2]; // in either type
} clover_operator;

static const clover_operator *clover_of(const solver *s)
{
    return s->system;
}

// ---- hops ---------------------------------------------------------------------------------------
static const lattice_field *in_type(const lattice_field fields[2], cubc_type type)
{
    return &fields[fields[0].type == type ? 0 : 1];
}

static cubc_status dslash(solver *s, const cubc_dslash_wilson_params *p, site_role role)
{
    const clover_operator *c = clover_of(s);
    const lattice_field *matrices =
        in_type(role == SITE_OF_X ? c->term : c->inverse, p->sites.type);
    const cubc_dslash_clover_params params = {.wilson = *p,
                                              .clover = matrices->data,
                                              .clover_norms = matrices->norms,
                                              .clover_n = CLOVER_REALS * c->sites,
                                              .clover_norms_n = matrices->norms ? c->sites : 0,
                                              .on_x = role == SITE_OF_X};
    return solver_launch(s, &dslash_clover_algorithm, &params);
}

static cubc_status site_inverse(solver *s, const lattice_field *in, const lattice_field **out)
{
    const clover_operator *c = clover_of(s);
    *out = &s->scratch[0];
    const cubc_clover_apply_params params = {.clover = c->inverse[0].data,
                                             .x = in->data,
                                             .out = (*out)->data,
                                             .clover_n = CLOVER_REALS * c->sites,
                                             .n = solver_reals(s),
                                             .type = in->type,
                                             .norm_type = CUBC_F32,
                                             .lx = s->shape.extents[0],
                                             .ly = s->shape.extents[1],
                                             .lz = s->shape.extents[2],
                                             .lt = s->shape.extents[3],
                                             .parity = 1};
    return solver_launch(s, &clover_apply_algorithm, &params);
}

// ---- opening ------------------------------------------------------------------------------------
static cubc_status invert(solver *s, const clover_operator *c, const lattice_field *from,
                          cubc_type type, double *log_det, lattice_field *out)
{
    uint64_t sites = c->sites, reals = CLOVER_REALS * sites;
    uint64_t norms = type == CUBC_I16 ? sites : 0;
    *out = (lattice_field){.type = type};
    TRY(solver_alloc(s, reals * cubc_type_size(type) + norms * sizeof(float), &out->data));
    if (norms) out->norms = (float *)((int16_t *)out->data + reals);
    const cubc_clover_invert_params params = {.clover = from->data,
                                              .out = out->data,
                                              .out_norms = out->norms,
                                              .log_det = log_det,
                                              .clover_n = reals,
                                              .n = reals,
                                              .log_det_n = sites,
                                              .clover_type = from->type,
                                              .type = type,
                                              .log_det_type = CUBC_F64,
                                              .norms_n = norms,
                                              .norm_type = CUBC_F32,
                                              .lx = s->shape.extents[0],
                                              .ly = s->shape.extents[1],
                                              .lz = s->shape.extents[2],
                                              .lt = s->shape.extents[3]};
    return solver_launch(s, &clover_invert_algorithm, &params);
}

// Another precision of the term itself is the inverse of its inverse.
static cubc_status open(solver *s, const cubc_operator *op)
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
    const cubc_type types[2] = {s->precise, s->sloppy};
    for (int k = 0; k < 2; k++) {
        if (k && types[0] == types[1]) break; // in_type then finds the first
        TRY(invert(s, c, &given, types[k], log_det, &c->inverse[k]));
        c->term[k] = given;
        if (types[k] != given.type)
            TRY(invert(s, c, &c->inverse[0], types[k], log_det, &c->term[k]));
    }
    return CUBC_OK;
}

static const wilson_term matrices = {.flops = CLOVER_FLOPS, .dslash = dslash, .open = open};
static const field fields[] = {
    WILSON_FIELDS,
    FIELD_ARRAY(cubc_clover_operator, clover, FIELD_INPUT, clover_type, clover_n),
};

const operator_row clover_row = WILSON_ROW(.name = "clover", .state_bytes = sizeof(clover_operator),
                                           .site_inverse = site_inverse, .check = wilson_check,
                                           .details = &matrices, FIELDS(fields));
