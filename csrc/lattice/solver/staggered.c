// Staggered fermions, naive and improved: M = 2 m + D with D anti-Hermitian, that is A - kappa D
// with A = 2 m and kappa = -1. The operator of the even sites, 2 m - D_eo D_oe / (2 m), is
// Hermitian and positive; its solves have m > 0.
#include "lattice/operators/flops.h"
#include "lattice/operators/lattice_problem.h"
#include "lattice/solver/operator_row.h"

#include <math.h>

typedef struct staggered {
    stored_links links[TYPES], long_links[TYPES]; // of links_of_types
    double diagonal;                              // 2 m
    cubc_dslash_staggered_params params;          // the part that all hops share
} staggered;

static const staggered *staggered_of(const solver *s)
{
    return s->system;
}

static double kappa(const solver *s)
{
    (void)s;
    return -1;
}

// ---- hops ---------------------------------------------------------------------------------------
// out = b x + a D in; without x out = a D in.
static cubc_status dslash(solver *s, const hop *h, double a, double b)
{
    const staggered *of = staggered_of(s);
    const stored_links *links = links_in_type(of->links, h->in->type);
    cubc_guard guard;
    cubc_dslash_staggered_params p = of->params;
    p.sites = hop_sites(s, h, &guard);
    p.links = links->data;
    p.links_n = links->n;
    if (p.long_reconstruct) {
        const stored_links *long_links = links_in_type(of->long_links, h->in->type);
        p.long_links = long_links->data;
        p.long_n = long_links->n;
    }
    p.a = h->call && h->call->dagger ? -a : a;
    p.b = b;
    return solver_launch(s, &dslash_staggered_algorithm, &p);
}

static cubc_status staggered_hop(solver *s, const hop *h)
{
    const double diagonal = staggered_of(s)->diagonal, a = h->x ? h->a : 1;
    switch (h->site) {
    case SITE_OF_X: return dslash(s, h, a, diagonal);
    case SITE_INVERSE_OF_D: return dslash(s, h, a / diagonal, 1);
    default: return dslash(s, h, a, 1);
    }
}

static cubc_status site_inverse(solver *s, const lattice_field *in, const lattice_field **out)
{
    *out = &s->scratch[0];
    return dslash(s, &(hop){.in = in, .x = in, .out = *out, .parity = 1}, 0,
                  1 / staggered_of(s)->diagonal);
}

// ---- opening ------------------------------------------------------------------------------------
static cubc_status check(const cubc_operator *op)
{
    const double mass = op->of.staggered.mass;
    if (isfinite(mass)) return CUBC_OK;
    FAIL(CUBC_INVALID_ARGUMENT, "a solve with a mass of %g: it is a finite number", mass);
}

static cubc_status check_even(const cubc_operator *op)
{
    const double mass = op->of.staggered.mass;
    if (mass > 0) return CUBC_OK;
    FAIL(
        CUBC_INVALID_ARGUMENT,
        "a solve with a mass of %g: it is a positive number for even sites; for all of them, those "
        "of shifts, of normal=True and of even_odd=False, it may be any",
        mass);
}

static cubc_status open(solver *s, const cubc_operator *op)
{
    const cubc_staggered_operator *from = &op->of.staggered;
    staggered *of = s->system;
    const bool improved = from->long_links;
    const stored_links links = {from->links, from->type, from->links_n},
                       long_links = {from->long_links, from->long_type, from->long_n};
    of->diagonal = 2 * from->mass;
    of->params =
        (cubc_dslash_staggered_params){.reconstruct = from->reconstruct,
                                       .long_reconstruct = improved ? from->long_reconstruct : 0,
                                       .signs = from->signs,
                                       .scale = from->scale,
                                       .long_scale = from->long_scale,
                                       .theta_x = from->theta_x,
                                       .theta_y = from->theta_y,
                                       .theta_z = from->theta_z,
                                       .theta_t = from->theta_t};
    TRY(links_of_types(s, &links, from->reconstruct, of->links));
    if (improved) TRY(links_of_types(s, &long_links, from->long_reconstruct, of->long_links));
    schur_open(s, improved ? IMPROVED_FLOPS : NAIVE_FLOPS, 0);
    return CUBC_OK;
}

#define OPERATOR cubc_staggered_operator
static const field fields[] = {
    FIELD_ARRAY(OPERATOR, links, FIELD_INPUT, type, links_n),
    FIELD_ARRAY(OPERATOR, long_links, FIELD_INPUT, long_type, long_n),
    FIELD(OPERATOR, reconstruct, FIELD_INT),
    FIELD(OPERATOR, long_reconstruct, FIELD_INT),
    FIELD(OPERATOR, signs, FIELD_COUNT),
    FIELD(OPERATOR, scale, FIELD_REAL),
    FIELD(OPERATOR, long_scale, FIELD_REAL),
    FIELD(OPERATOR, theta_x, FIELD_REAL),
    FIELD(OPERATOR, theta_y, FIELD_REAL),
    FIELD(OPERATOR, theta_z, FIELD_REAL),
    FIELD(OPERATOR, theta_t, FIELD_REAL),
    FIELD(OPERATOR, mass, FIELD_REAL),
};

const operator_row staggered_row = {.name = "staggered",
                                    .reals = COLOUR_VECTOR_REALS,
                                    .state_bytes = sizeof(staggered),
                                    .check = check,
                                    .check_even = check_even,
                                    .open = open,
                                    .kappa = kappa,
                                    .even_positive = true,
                                    .hop = staggered_hop,
                                    .site_inverse = site_inverse,
                                    FIELDS(fields)};
