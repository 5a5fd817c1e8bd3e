// The site term A of Wilson-like operators M = A - kappa D, as a part of their Dslash kernels: 1
// for Wilson fermions; for twisted mass 1 + i t gamma_5 with t = 2 kappa mu, and the inverse (1 - i
// t gamma_5) / (1 + t^2); for Wilson-clover fermions a Hermitian matrix a site.
#include "lattice/solver/wilson.h"

enum { CLOVER_REALS = 72, TWIST_FLOPS = 96, CLOVER_FLOPS = 552 };

int site_term_flops(cubc_operator_kind kind)
{
    static const int flops[] = {
        [CUBC_WILSON] = 0, [CUBC_TWISTED] = TWIST_FLOPS, [CUBC_CLOVER] = CLOVER_FLOPS};
    return flops[kind];
}

// ---- hops ---------------------------------------------------------------------------------------
static cubc_status twisted_dslash(solver *s, const cubc_dslash_wilson_params *p, site_role role)
{
    double t = p->dagger ? -wilson_of(s)->twist : wilson_of(s)->twist;
    cubc_dslash_twisted_params params = {.wilson = *p, .b = 1};
    if (role == SITE_INVERSE_OF_D) {
        params.wilson.a = (p->x ? p->a : 1) / (1 + t * t);
        params.a5 = -t * params.wilson.a;
    } else {
        params.b5 = t;
    }
    return solver_launch(s, &dslash_twisted_algorithm, &params);
}

static const lattice_field *in_type(const lattice_field fields[2], cubc_type type)
{
    return &fields[fields[0].type == type ? 0 : 1];
}

static cubc_status clover_dslash(solver *s, const cubc_dslash_wilson_params *p, site_role role)
{
    const wilson *w = wilson_of(s);
    const lattice_field *matrices = in_type(role == SITE_OF_X ? w->clover : w->inverse, p->type);
    uint64_t sites = w->clover_sites;
    const cubc_dslash_clover_params params = {.wilson = *p,
                                              .clover = matrices->data,
                                              .clover_norms = matrices->norms,
                                              .clover_n = CLOVER_REALS * sites,
                                              .clover_norms_n = matrices->norms ? sites : 0,
                                              .on_x = role == SITE_OF_X};
    return solver_launch(s, &dslash_clover_algorithm, &params);
}

cubc_status site_term_dslash(solver *s, const cubc_dslash_wilson_params *p, site_role role)
{
    cubc_operator_kind kind = role == SITE_NONE ? CUBC_WILSON : wilson_of(s)->kind;
    if (kind == CUBC_TWISTED) return twisted_dslash(s, p, role);
    if (kind == CUBC_CLOVER) return clover_dslash(s, p, role);
    return solver_launch(s, &dslash_wilson_algorithm, p);
}

// ---- a source -----------------------------------------------------------------------------------
static cubc_status twisted_apply_inverse(solver *s, const lattice_field *in,
                                         const lattice_field *out)
{
    const wilson *w = wilson_of(s);
    double below = 1 + w->twist * w->twist;
    const cubc_spinor_twist_params params = {.x = in->data,
                                             .out = out->data,
                                             .n = solver_reals(s),
                                             .type = in->type,
                                             .norm_type = CUBC_F32,
                                             .lx = w->params.lx,
                                             .ly = w->params.ly,
                                             .lz = w->params.lz,
                                             .lt = w->params.lt,
                                             .a = 1 / below,
                                             .a5 = -w->twist / below};
    return solver_launch(s, &spinor_twist_algorithm, &params);
}

static cubc_status clover_apply_inverse(solver *s, const lattice_field *in,
                                        const lattice_field *out)
{
    const wilson *w = wilson_of(s);
    const cubc_clover_apply_params params = {.clover = w->inverse[0].data,
                                             .x = in->data,
                                             .out = out->data,
                                             .clover_n = CLOVER_REALS * w->clover_sites,
                                             .n = solver_reals(s),
                                             .type = in->type,
                                             .norm_type = CUBC_F32,
                                             .lx = w->params.lx,
                                             .ly = w->params.ly,
                                             .lz = w->params.lz,
                                             .lt = w->params.lt,
                                             .parity = 1};
    return solver_launch(s, &clover_apply_algorithm, &params);
}

cubc_status site_term_apply_inverse(solver *s, const lattice_field *in, const lattice_field **out)
{
    cubc_operator_kind kind = wilson_of(s)->kind;
    *out = kind == CUBC_WILSON ? in : &s->scratch[0];
    if (kind == CUBC_TWISTED) return twisted_apply_inverse(s, in, *out);
    if (kind == CUBC_CLOVER) return clover_apply_inverse(s, in, *out);
    return CUBC_OK;
}

// ---- opening ------------------------------------------------------------------------------------
static cubc_status invert(solver *s, const wilson *w, const lattice_field *from, cubc_type type,
                          double *log_det, lattice_field *out)
{
    uint64_t sites = w->clover_sites, reals = CLOVER_REALS * sites;
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
                                              .lx = w->params.lx,
                                              .ly = w->params.ly,
                                              .lz = w->params.lz,
                                              .lt = w->params.lt};
    return solver_launch(s, &clover_invert_algorithm, &params);
}

// Another precision of the term itself is the inverse of its inverse.
static cubc_status open_clover(solver *s, const cubc_operator *from, wilson *w)
{
    const lattice_field given = {.data = (void *)(uintptr_t)from->clover,
                                 .type = from->clover_type};
    void *log_det;
    if (!from->clover || (given.type != CUBC_F64 && given.type != CUBC_F32))
        FAIL(CUBC_INVALID_ARGUMENT, "the operator has no clover term of F64 or F32");
    w->clover_sites =
        (uint64_t)from->lx * (uint64_t)from->ly * (uint64_t)from->lz * (uint64_t)from->lt;
    if (from->clover_n != CLOVER_REALS * w->clover_sites)
        FAIL(CUBC_INVALID_ARGUMENT, "the clover term has %llu real numbers: it has 72 a site, %llu",
             (unsigned long long)from->clover_n,
             (unsigned long long)(CLOVER_REALS * w->clover_sites));
    TRY(solver_alloc(s, w->clover_sites * sizeof(double), &log_det));
    const cubc_type types[2] = {s->precise, s->sloppy};
    for (int k = 0; k < 2; k++) {
        if (k && types[0] == types[1]) break; // in_type then finds the first
        TRY(invert(s, w, &given, types[k], log_det, &w->inverse[k]));
        w->clover[k] = given;
        if (types[k] != given.type)
            TRY(invert(s, w, &w->inverse[0], types[k], log_det, &w->clover[k]));
    }
    return CUBC_OK;
}

cubc_status site_term_open(solver *s, const cubc_operator *from, wilson *w)
{
    w->twist = 2 * from->kappa * from->mu;
    return from->kind == CUBC_CLOVER ? open_clover(s, from, w) : CUBC_OK;
}
