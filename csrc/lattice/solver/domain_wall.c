// Domain-wall fermions. On each site of four dimensions A is a matrix T along the fifth, and D has
// another behind it,
//     A = T - D B / 2,  T = b (4 - M5) + 1 + (c (4 - M5) - 1) H,  B = b + c H
// with D and H of kernels/lattice/dslash_domain_wall.cu. T joins no parities. The system of the
// even sites is for y = T x, so that its residual is that of the whole system,
//     M_e = 1 - D_eo K D_oe K / 4,  K = B T^-1,  b_e + D_eo K b_o / 2,
//     x_o = T^-1 (b_o + D_oe K y / 2)
// An application to y is K, a hop with K behind it, and a hop; the adjoint is two hops, each with
// K^+ behind it.
#include "lattice/operators/flops.h"
#include "lattice/operators/lattice_problem.h"
#include "lattice/solver/wilson.h"

#include <math.h>

typedef struct along { // (same + next H) (1 - step H)^-1
    double same, next, step;
} along;

typedef struct domain_wall {
    wilson w;
    double mass;
    along t, b, inverse, k;    // T, B, T^-1, K
    lattice_field room[TYPES]; // of solver_fields_of_types
} domain_wall;

static const domain_wall *wall_of(const solver *s)
{
    return s->system;
}

// ---- launches -----------------------------------------------------------------------------------
// out = factor S D in, or x + factor S D in; without hops, S in.
static cubc_status launch_along(solver *s, const hop *h, const along *of, double factor, bool hops)
{
    cubc_guard guard;
    cubc_dslash_domain_wall_params p = {.wilson = wilson_hop_params(s, h, &guard),
                                        .hops = hops,
                                        .next = factor * of->next,
                                        .step = of->step,
                                        .mass = wall_of(s)->mass};
    p.wilson.a = factor * of->same;
    return solver_launch(s, &dslash_domain_wall_algorithm, &p);
}

// Sites without hops are alike, so that those of either parity are taken for even ones.
static cubc_status apply_along(solver *s, const along *of, const lattice_field *in,
                               const lattice_field *out, const operator_call *call)
{
    const hop h = {.in = in, .out = out, .parity = s->shape.parities == 2 ? 2 : 0, .call = call};
    return launch_along(s, &h, of, 1, false);
}

static cubc_status hop_alone(solver *s, const hop *h)
{
    return s->row->hop(s, h);
}

// ---- the even sites -----------------------------------------------------------------------------
static cubc_status apply_even(solver *s, const operator_call *call)
{
    const domain_wall *w = wall_of(s);
    const lattice_field *odd = solver_in_type(s->scratch, call->in->type),
                        *in = solver_in_type(w->room, call->in->type);
    const hop there = {.in = call->dagger ? call->in : in, .out = odd, .parity = 1, .call = call};
    const hop back = {.in = odd,
                      .x = call->in,
                      .out = call->out,
                      .parity = 0,
                      .a = -0.25,
                      .call = call,
                      .last = true};
    if (!call->dagger) TRY(apply_along(s, &w->k, call->in, in, call));
    TRY(launch_along(s, &there, &w->k, 1, true));
    return call->dagger ? launch_along(s, &back, &w->k, -0.25, true) : hop_alone(s, &back);
}

static cubc_status replace(solver *s, const along *of, const lattice_field *field)
{
    const lattice_field *room = &wall_of(s)->room[0];
    TRY(apply_along(s, of, field, room, NULL));
    return solver_copy(s, field->data, room->data, solver_reals(s) * cubc_type_size(s->precise));
}

// The first guess becomes y.
static cubc_status even_source(solver *s, const lattice_field b[2], const lattice_field *out)
{
    const domain_wall *w = wall_of(s);
    TRY(replace(s, &w->t, &s->y));
    TRY(apply_along(s, &w->k, &b[1], &s->scratch[0], NULL));
    return hop_alone(s, &(hop){.in = &s->scratch[0], .x = &b[0], .out = out, .a = 0.5});
}

static cubc_status odd_part(solver *s, const lattice_field b[2], const lattice_field x[2])
{
    const domain_wall *w = wall_of(s);
    TRY(apply_along(s, &w->k, &x[0], &w->room[0], NULL));
    TRY(apply_along(s, &w->inverse, &b[1], &s->scratch[0], NULL));
    const hop h = {.in = &w->room[0], .x = &s->scratch[0], .out = &x[1], .parity = 1};
    TRY(launch_along(s, &h, &w->inverse, 0.5, true));
    return replace(s, &w->inverse, &x[0]);
}

static cubc_status whole(solver *s, const lattice_field x[2], const lattice_field out[2])
{
    const domain_wall *w = wall_of(s);
    for (int parity = 0; parity < 2; parity++) {
        TRY(apply_along(s, &w->b, &x[1 - parity], &w->room[0], NULL));
        TRY(apply_along(s, &w->t, &x[parity], &s->scratch[0], NULL));
        TRY(hop_alone(s, &(hop){.in = &w->room[0],
                                .x = &s->scratch[0],
                                .out = &out[parity],
                                .parity = parity,
                                .a = -0.5}));
    }
    return CUBC_OK;
}

// ---- all sites ----------------------------------------------------------------------------------
// The last launch adds A in - in to `in`, because a tail may ask for `in` as its x.
static cubc_status apply_all(solver *s, const operator_call *call)
{
    const domain_wall *w = wall_of(s);
    const lattice_field *less = solver_in_type(s->scratch, call->in->type),
                        *room = solver_in_type(w->room, call->in->type);
    const along one = {.same = 1}, less_one = {w->t.same - 1, w->t.next, 0};
    const hop hops = {.in = call->dagger ? call->in : less,
                      .x = room,
                      .out = call->dagger ? less : room,
                      .parity = 2,
                      .a = -0.5,
                      .call = call};
    const hop sum = {
        .in = hops.out, .x = call->in, .out = call->out, .parity = 2, .call = call, .last = true};
    TRY(apply_along(s, &less_one, call->in, room, call));
    if (!call->dagger) TRY(apply_along(s, &w->b, call->in, less, call));
    TRY(call->dagger ? launch_along(s, &hops, &w->b, -0.5, true) : hop_alone(s, &hops));
    return launch_along(s, &sum, &one, 1, false);
}

// ---- opening ------------------------------------------------------------------------------------
static const lattice_operator even_operator = {
    .apply = apply_even, .source = even_source, .odd_part = odd_part, .whole = whole};
static const lattice_operator all_operator = {.apply = apply_all};

static cubc_status open(solver *s, const cubc_operator *op)
{
    const cubc_domain_wall_operator *from = &op->of.domain_wall;
    domain_wall *w = s->system;
    const double hopless = 4 - from->m5, same = from->b5 * hopless + 1,
                 next = from->c5 * hopless - 1, step = -next / same;
    w->mass = from->mass;
    w->t = (along){same, next, 0};
    w->b = (along){from->b5, from->c5, 0};
    w->inverse = (along){1 / same, 0, step};
    w->k = (along){from->b5 / same, from->c5 / same, step};
    TRY(solver_fields_of_types(s, w->room));
    const bool even = s->shape.parities == 1;
    s->op = even ? &even_operator : &all_operator;
    s->flops = (even ? 2 : 1) * (HOP_FLOPS + ALONG_FLOPS) + 2 * s->shape.reals;
    return CUBC_OK;
}

static cubc_status check(const cubc_operator *op)
{
    const cubc_domain_wall_operator *of = &op->of.domain_wall;
    if (!isfinite(of->mass) || !isfinite(of->m5) || !isfinite(of->b5) || !isfinite(of->c5))
        FAIL(CUBC_INVALID_ARGUMENT, "mass %g, M5 %g, b5 %g and c5 %g are finite numbers", of->mass,
             of->m5, of->b5, of->c5);
    return CUBC_OK;
}

static cubc_status check_even(const cubc_operator *op)
{
    const cubc_domain_wall_operator *of = &op->of.domain_wall;
    if (of->b5 * (4 - of->m5) + 1 != 0) return CUBC_OK;
    FAIL(
        CUBC_INVALID_ARGUMENT,
        "b5 (4 - M5) + 1 is 0 for b5 %g and M5 %g, by which even sites are divided; even_odd=False "
        "solves for all of them",
        of->b5, of->m5);
}

static cubc_status inner(const cubc_operator *op, int *out)
{
    *out = op->of.domain_wall.ls;
    if (*out >= 1 && *out <= CUBC_MOST_LS) return CUBC_OK;
    FAIL(CUBC_INVALID_ARGUMENT, "a fifth dimension of %d sites: 1 to %d are handled", *out,
         CUBC_MOST_LS);
}

static const wilson_term term = {.open = open};
#define OPERATOR cubc_domain_wall_operator
static const field fields[] = {WILSON_FIELDS,
                               FIELD(OPERATOR, mass, FIELD_REAL),
                               FIELD(OPERATOR, m5, FIELD_REAL),
                               FIELD(OPERATOR, b5, FIELD_REAL),
                               FIELD(OPERATOR, c5, FIELD_REAL),
                               FIELD(OPERATOR, ls, FIELD_INT)};

const operator_row domain_wall_row =
    WILSON_ROW(.name = "domain_wall", .state_bytes = sizeof(domain_wall), .inner = inner,
               .check = check, .check_even = check_even, .details = &term, FIELDS(fields));
