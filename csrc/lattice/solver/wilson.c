// The operators M = A - kappa D of Wilson's hopping term D: their links and hops, and Wilson
// fermions, where A is 1. The site terms of others are in twisted.c and clover_operator.c.
#include "lattice/solver/wilson.h"
#include "lattice/operators/flops.h"
#include "lattice/operators/lattice_problem.h"

#include <math.h>

// ---- hops ---------------------------------------------------------------------------------------
static const wilson *wilson_of(const solver *s)
{
    return s->system;
}

double wilson_kappa(const solver *s)
{
    return wilson_of(s)->kappa;
}

static cubc_status dslash_alone(solver *s, const cubc_dslash_wilson_params *p, site_role role)
{
    (void)role;
    return solver_launch(s, &dslash_wilson_algorithm, p);
}

static const wilson_term wilson_one = {.dslash = dslash_alone};

cubc_dslash_wilson_params wilson_hop_params(const solver *s, const hop *h, cubc_guard *guard)
{
    const stored_links *links = links_in_type(wilson_of(s)->links, h->in->type);
    cubc_dslash_wilson_params p = wilson_of(s)->params;
    p.sites = hop_sites(s, h, guard);
    p.links = links->data;
    p.links_n = links->n;
    p.a = h->a;
    p.dagger = h->call && h->call->dagger;
    return p;
}

cubc_status wilson_hop(solver *s, const hop *h)
{
    const wilson_term *term = h->site == SITE_NONE ? &wilson_one : s->row->details;
    cubc_guard guard;
    const cubc_dslash_wilson_params p = wilson_hop_params(s, h, &guard);
    return term->dslash(s, &p, h->site);
}

// ---- opening ------------------------------------------------------------------------------------
cubc_status wilson_check_number(const char *name, double number)
{
    if (isfinite(number)) return CUBC_OK;
    FAIL(CUBC_INVALID_ARGUMENT, "%s is %g: it is a finite number", name, number);
}

cubc_status wilson_check(const cubc_operator *op)
{
    return wilson_check_number("kappa", op->of.wilson.kappa);
}

cubc_status wilson_open(solver *s, const cubc_operator *op)
{
    const wilson_term *term = s->row->details;
    const cubc_wilson_operator *from = &op->of.wilson;
    wilson *w = s->system;
    w->kappa = from->kappa;
    w->params = (cubc_dslash_wilson_params){.reconstruct = from->reconstruct,
                                            .antiperiodic = from->antiperiodic,
                                            .temporal_gauge = from->temporal_gauge,
                                            .anisotropy = from->anisotropy,
                                            .theta_x = from->theta_x,
                                            .theta_y = from->theta_y,
                                            .theta_z = from->theta_z,
                                            .theta_t = from->theta_t};
    const stored_links links = {from->links, from->type, from->links_n};
    TRY(links_of_types(s, &links, from->reconstruct, w->links));
    schur_open(s, HOP_FLOPS, term->flops);
    return term->open ? term->open(s, op) : CUBC_OK;
}

// ---- Wilson fermions ----------------------------------------------------------------------------
static cubc_status inverse_of_one(solver *s, const lattice_field *in, const lattice_field **out)
{
    (void)s;
    *out = in;
    return CUBC_OK;
}

static const field fields[] = {WILSON_FIELDS};

const operator_row wilson_row =
    WILSON_ROW(.name = "wilson", .state_bytes = sizeof(wilson), .site_inverse = inverse_of_one,
               .check = wilson_check, .details = &wilson_one, FIELDS(fields));
