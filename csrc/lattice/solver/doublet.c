// A doublet of twisted mass fermions with a difference of masses. With tau the Pauli matrices of
// flavour the site term is 1 + i t gamma_5 tau_3 + e tau_1, t = 2 kappa mu and e = 2 kappa epsilon;
// its inverse is (1 - i t gamma_5 tau_3 - e tau_1) / (1 + t^2 - e^2). A source has two fields, its
// flavours.
#include "lattice/operators/flops.h"
#include "lattice/operators/lattice_problem.h"
#include "lattice/solver/wilson.h"

enum { FLAVOURS = 2 };

typedef struct doublet {
    wilson w;
    double t, e;
} doublet;

static const doublet *doublet_of(const solver *s)
{
    return s->system;
}

static double squared_modulus(double t, double e)
{
    return 1 + t * t - e * e;
}

static cubc_status dslash(solver *s, const cubc_dslash_wilson_params *p, site_role role)
{
    const double t = p->dagger ? -doublet_of(s)->t : doublet_of(s)->t, e = doublet_of(s)->e,
                 inverse = 1 / squared_modulus(t, e);
    cubc_dslash_doublet_params params = {.wilson = *p, .b = 1};
    if (role == SITE_INVERSE_OF_D) {
        params.wilson.a = (p->sites.x ? p->a : 1) * inverse;
        params.a5 = -t * params.wilson.a;
        params.a1 = -e * params.wilson.a;
    } else if (role == SITE_OWN_OF_X) {
        params.b = inverse;
        params.b5 = -t * inverse;
        params.b1 = -e * inverse;
    } else {
        params.b5 = t;
        params.b1 = e;
    }
    return solver_launch(s, &dslash_doublet_algorithm, &params);
}

// The inverse on x, to which a hop with a = 0 adds nothing.
static cubc_status site_inverse(solver *s, const lattice_field *in, const lattice_field **out)
{
    *out = &s->scratch[0];
    return wilson_hop(s,
                      &(hop){.in = in, .x = in, .out = *out, .parity = 1, .site = SITE_OWN_OF_X});
}

static cubc_status open(solver *s, const cubc_operator *from)
{
    doublet *d = s->system;
    d->t = 2 * d->w.kappa * from->of.doublet.mu;
    d->e = 2 * d->w.kappa * from->of.doublet.epsilon;
    return CUBC_OK;
}

static cubc_status check(const cubc_operator *op)
{
    TRY(wilson_check(op));
    TRY(wilson_check_number("mu", op->of.doublet.mu));
    return wilson_check_number("epsilon", op->of.doublet.epsilon);
}

static cubc_status check_even(const cubc_operator *op)
{
    const double twice = 2 * op->of.wilson.kappa, t = twice * op->of.doublet.mu,
                 e = twice * op->of.doublet.epsilon;
    if (squared_modulus(t, e) != 0) return CUBC_OK;
    FAIL(CUBC_INVALID_ARGUMENT,
         "the site term of a doublet with 2 kappa mu = %g and 2 kappa epsilon = %g has no inverse; "
         "even_odd=False solves for all sites",
         t, e);
}

static cubc_status flavours(const cubc_operator *op, int *out)
{
    (void)op;
    *out = FLAVOURS;
    return CUBC_OK;
}

static const wilson_term term = {.flops = DOUBLET_FLOPS, .dslash = dslash, .open = open};
static const field fields[] = {WILSON_FIELDS, FIELD(cubc_doublet_operator, mu, FIELD_REAL),
                               FIELD(cubc_doublet_operator, epsilon, FIELD_REAL)};

const operator_row doublet_row =
    WILSON_ROW(.name = "doublet", .state_bytes = sizeof(doublet), .inner = flavours,
               .site_inverse = site_inverse, .check = check, .check_even = check_even,
               .details = &term, FIELDS(fields));
