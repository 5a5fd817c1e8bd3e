// The operators M = A - kappa D as solvers use them, whole or of the even sites:
//     M_e = A_e - kappa^2 D_eo A_o^-1 D_oe,  b_e + kappa D_eo A_o^-1 b_o,
//     x_o = A_o^-1 (b_o + kappa D_oe x_e)
// where the site term A is 1 for Wilson fermions (site_term.c).
#include "lattice/solver/wilson.h"

static const wilson_links *links_of(const solver *s, cubc_type type)
{
    const wilson *w = wilson_of(s);
    return w->links[0].type == type ? &w->links[0] : &w->links[1];
}

typedef struct hop { // out = D in, or x + a D in
    const lattice_field *in, *x, *out;
    int parity;
    double a;
    site_role site;
    const operator_call *call; // the call that it is a part of, or NULL
    bool last;                 // of the call: it has the tail
} hop;

static cubc_status dslash(solver *s, const hop *h)
{
    const wilson *w = wilson_of(s);
    const wilson_links *links = links_of(s, h->in->type);
    const operator_call *call = h->call;
    cubc_guard guard = s->guard;
    cubc_dslash_wilson_params p = w->params;
    const lattice_field none = {0};
    const lattice_field *x = h->x ? h->x : &none;
    const lattice_field *z = call && h->last && call->z ? call->z : &none;
    p.links = links->data;
    p.type = links->type;
    p.links_n = links->n;
    p.n = solver_reals(s);
    p.norms_n = p.type == CUBC_I16 ? p.n / (uint64_t)s->shape.reals : 0;
    p.in = h->in->data, p.in_norms = h->in->norms;
    p.x = x->data, p.x_norms = x->norms;
    p.out = h->out->data, p.out_norms = h->out->norms;
    p.parity = h->parity;
    p.a = h->a;
    p.dagger = call && call->dagger;
    if (call) {
        guard.phase = call->phase;
        guard.step = call->step;
        p.guard = &guard;
        p.tail = h->last ? call->tail : NULL;
        p.z = z->data, p.z_norms = z->norms;
    }
    return site_term_dslash(s, &p, h->site);
}

// ---- the even sites -----------------------------------------------------------------------------
static cubc_status apply_even(solver *s, const operator_call *call)
{
    double kappa = wilson_of(s)->kappa;
    const lattice_field *odd = &s->scratch[call->in->type == s->precise ? 0 : 1];
    TRY(dslash(
        s,
        &(hop){.in = call->in, .out = odd, .parity = 1, .site = SITE_INVERSE_OF_D, .call = call}));
    return dslash(s, &(hop){.in = odd,
                            .x = call->in,
                            .out = call->out,
                            .parity = 0,
                            .a = -kappa * kappa,
                            .site = SITE_OF_X,
                            .call = call,
                            .last = true});
}

static cubc_status even_source(solver *s, const lattice_field b[2], const lattice_field *out)
{
    const lattice_field *odd;
    TRY(site_term_apply_inverse(s, &b[1], &odd));
    return dslash(s, &(hop){.in = odd, .x = &b[0], .out = out, .a = wilson_of(s)->kappa});
}

static cubc_status odd_part(solver *s, const lattice_field b[2], const lattice_field x[2])
{
    const lattice_field *odd;
    TRY(site_term_apply_inverse(s, &b[1], &odd));
    return dslash(s, &(hop){.in = &x[0],
                            .x = odd,
                            .out = &x[1],
                            .parity = 1,
                            .a = wilson_of(s)->kappa,
                            .site = SITE_INVERSE_OF_D});
}

static cubc_status whole(solver *s, const lattice_field x[2], const lattice_field out[2])
{
    double a = -wilson_of(s)->kappa;
    for (int parity = 0; parity < 2; parity++)
        TRY(dslash(s, &(hop){.in = &x[1 - parity],
                             .x = &x[parity],
                             .out = &out[parity],
                             .parity = parity,
                             .a = a,
                             .site = SITE_OF_X}));
    return CUBC_OK;
}

// ---- all sites ----------------------------------------------------------------------------------
static cubc_status apply_all(solver *s, const operator_call *call)
{
    return dslash(s, &(hop){.in = call->in,
                            .x = call->in,
                            .out = call->out,
                            .parity = 2,
                            .a = -wilson_of(s)->kappa,
                            .site = SITE_OF_X,
                            .call = call,
                            .last = true});
}

enum { DSLASH = 1320, WITH_X = 48 }; // flops a site

static const lattice_operator even_operator = {apply_even, even_source, odd_part, whole};
static const lattice_operator all_operator = {.apply = apply_all};

// ---- opening ------------------------------------------------------------------------------------
static cubc_status open_links(solver *s, const cubc_operator *from, cubc_type type,
                              wilson_links *out)
{
    *out = (wilson_links){from->links, type, from->links_n};
    if (type == from->type) return CUBC_OK;
    void *copy;
    TRY(solver_alloc(s, from->links_n * cubc_type_size(type), &copy));
    out->data = copy;
    const cubc_link_copy_params params = {.from = from->links,
                                          .to = copy,
                                          .from_n = from->links_n,
                                          .to_n = from->links_n,
                                          .from_type = from->type,
                                          .to_type = type,
                                          .from_order = CUBC_NATIVE,
                                          .to_order = CUBC_NATIVE,
                                          .from_reals = from->reconstruct,
                                          .to_reals = from->reconstruct,
                                          .lx = from->lx,
                                          .ly = from->ly,
                                          .lz = from->lz,
                                          .lt = from->lt};
    return solver_launch(s, &link_copy_algorithm, &params);
}

cubc_status wilson_open(solver *s, const cubc_operator *from, wilson *out)
{
    if ((int)from->kind < CUBC_WILSON || from->kind > CUBC_CLOVER)
        FAIL(CUBC_INVALID_ARGUMENT, "no operator has the kind %d", (int)from->kind);
    *out = (wilson){.kind = from->kind,
                    .kappa = from->kappa,
                    .params = {.lx = from->lx,
                               .ly = from->ly,
                               .lz = from->lz,
                               .lt = from->lt,
                               .norm_type = CUBC_F32,
                               .reconstruct = from->reconstruct,
                               .antiperiodic = from->antiperiodic,
                               .temporal_gauge = from->temporal_gauge,
                               .anisotropy = from->anisotropy}};
    TRY(open_links(s, from, s->precise, &out->links[0]));
    TRY(open_links(s, from, s->sloppy, &out->links[1]));
    for (int k = 0; k < 2; k++) TRY(solver_field(s, k ? s->sloppy : s->precise, &s->scratch[k]));
    int hops = s->shape.parities == 1 ? 2 : 1;
    s->op = hops == 2 ? &even_operator : &all_operator;
    s->flops = hops * (DSLASH + site_term_flops(from->kind)) + WITH_X;
    s->system = out;
    return site_term_open(s, from, out);
}
