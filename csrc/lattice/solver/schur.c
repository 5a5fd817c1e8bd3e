// Operators M = A - kappa D, D a hopping term between parities and A a site term, whole or of the
// even sites:
//     M_e = A_e - kappa^2 D_eo A_o^-1 D_oe,  b_e + kappa D_eo A_o^-1 b_o,
//     x_o = A_o^-1 (b_o + kappa D_oe x_e)
// Row and state of the operator have kappa, the hops and A.
#include "lattice/grid/ranks.h"
#include "lattice/operators/lattice_problem.h"
#include "lattice/solver/operator_row.h"

static double kappa_of(const solver *s)
{
    return s->row->kappa(s);
}

static void set_guard(const solver *s, const hop *h, cubc_guard *guard, cubc_dslash_sites *sites)
{
    const operator_call *call = h->call;
    *guard = s->guard;
    guard->phase = call->phase;
    guard->step = call->step;
    if (call->block) guard->ranks = NULL; // sums are the block's own
    sites->guard = guard;
    if (!h->last) return;
    sites->tail = call->tail;
    if (call->z) sites->z = call->z->data, sites->z_norms = call->z->norms;
}

cubc_dslash_sites hop_sites(const solver *s, const hop *h, cubc_guard *guard)
{
    cubc_dslash_sites sites = {.in = h->in->data,
                               .in_norms = h->in->norms,
                               .out = h->out->data,
                               .out_norms = h->out->norms,
                               .n = solver_reals(s),
                               .type = h->in->type,
                               .norm_type = CUBC_F32,
                               LATTICE_EXTENT_MEMBERS(s->shape.extents),
                               .parity = h->parity,
                               .ranks = s->guard.ranks,
                               .inner = s->shape.inner};
    if (sites.type == CUBC_I16) sites.norms_n = sites.n / (uint64_t)s->shape.reals;
    if (h->x) sites.x = h->x->data, sites.x_norms = h->x->norms;
    if (h->call && h->call->block && sites.ranks) {
        sites.open = ranks_cut(sites.ranks);
        sites.ranks = NULL;
    }
    if (h->call) set_guard(s, h, guard, &sites);
    return sites;
}

// ---- the even sites -----------------------------------------------------------------------------
static cubc_status apply_even(solver *s, const operator_call *call)
{
    double kappa = kappa_of(s);
    const lattice_field *odd = solver_in_type(s->scratch, call->in->type);
    const hop there = {
        .in = call->in, .out = odd, .parity = 1, .site = SITE_INVERSE_OF_D, .call = call};
    const hop back = {.in = odd,
                      .x = call->in,
                      .out = call->out,
                      .parity = 0,
                      .a = -kappa * kappa,
                      .site = SITE_OF_X,
                      .call = call,
                      .last = true};
    TRY(s->row->hop(s, &there));
    return s->row->hop(s, &back);
}

static cubc_status even_source(solver *s, const lattice_field b[2], const lattice_field *out)
{
    const lattice_field *odd;
    TRY(s->row->site_inverse(s, &b[1], &odd));
    return s->row->hop(s, &(hop){.in = odd, .x = &b[0], .out = out, .a = kappa_of(s)});
}

static cubc_status odd_part(solver *s, const lattice_field b[2], const lattice_field x[2])
{
    const lattice_field *odd;
    TRY(s->row->site_inverse(s, &b[1], &odd));
    return s->row->hop(s, &(hop){.in = &x[0],
                                 .x = odd,
                                 .out = &x[1],
                                 .parity = 1,
                                 .a = kappa_of(s),
                                 .site = SITE_INVERSE_OF_D});
}

static cubc_status whole(solver *s, const lattice_field x[2], const lattice_field out[2])
{
    for (int parity = 0; parity < 2; parity++)
        TRY(s->row->hop(s, &(hop){.in = &x[1 - parity],
                                  .x = &x[parity],
                                  .out = &out[parity],
                                  .parity = parity,
                                  .a = -kappa_of(s),
                                  .site = SITE_OF_X}));
    return CUBC_OK;
}

// ---- all sites ----------------------------------------------------------------------------------
static cubc_status apply_all(solver *s, const operator_call *call)
{
    return s->row->hop(s, &(hop){.in = call->in,
                                 .x = call->in,
                                 .out = call->out,
                                 .parity = 2,
                                 .a = -kappa_of(s),
                                 .site = SITE_OF_X,
                                 .call = call,
                                 .last = true});
}

// ---- opening ------------------------------------------------------------------------------------
static const lattice_operator even_operator = {
    .apply = apply_even, .source = even_source, .odd_part = odd_part, .whole = whole};
static const lattice_operator positive_even_operator = {.positive = true,
                                                        .apply = apply_even,
                                                        .source = even_source,
                                                        .odd_part = odd_part,
                                                        .whole = whole};
static const lattice_operator all_operator = {.apply = apply_all};

void schur_open(solver *s, double hop_flops, double site_flops)
{
    int hops = s->shape.parities == 1 ? 2 : 1;
    s->op = hops == 1               ? &all_operator
            : s->row->even_positive ? &positive_even_operator
                                    : &even_operator;
    s->flops = hops * (hop_flops + site_flops) + 2 * s->shape.reals; // and x + a D in
}
