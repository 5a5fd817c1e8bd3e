// Communication-avoiding conjugate gradients: CA_STEPS iterations at a time, with one sum over
// ranks. Of Hermitian positive M, or on the normal equations of any other.
//
// A. T. Chronopoulos and C. W. Gear, "s-step iterative methods for symmetric linear systems"
// (1989); M. Hoemmen, "Communication-avoiding Krylov subspace methods" (2010), for the basis of
// Newton's polynomials, whose nodes are spread over the eigenvalues: powers of the operator would
// be nearly parallel. kernels/lattice/solver/ca_cg.h has the steps, and their scalars.
//
// Vectors of the basis need no sums, so that those of all directions, old and new, are taken
// together. In exact arithmetic the iterates are every fourth one of cg.c and cg_positive.c. Four
// iterations move the operator four times, of the normal equations eight times, and 50 fields.
//
// The largest eigenvalue is estimated before the first iteration, from the source.
#include "lattice/solver/solver.h"

// Among work: correction since the last update, M of a vector of the basis, the basis, of which the
// first is the residual, directions, and their products with the operator.
enum { X, V, S, P = S + CA_STEPS + 1, W = P + CA_STEPS, FIELDS = W + CA_STEPS };
enum { APPLICATIONS = 8 }; // of the estimate

// The texts below name the vectors one by one, and so do the combinations of ca_cg.h.
_Static_assert(CA_STEPS == 4, "updates and lists of fields are written for four steps");
#define FOUR(access, name, fields)                                                               \
    access(name "0", (fields)[0]), access(name "1", (fields)[1]), access(name "2", (fields)[2]), \
        access(name "3", (fields)[3])

// ---- the steps ---------------------------------------------------------------------------------
static const cubc_site_update first_size = {
    .sums = {"norm(out)", "norm(z)"},
    .finish = "ca_first_bound",
};
static const cubc_site_update next_size = {
    .scalars = {"node_scale"},
    .statements = "out = node_scale * m",
};
static const cubc_site_update last_size = {
    .scalars = {"node_scale"},
    .statements = "out = node_scale * m",
    .sums = {"norm(out)", "norm(z)"},
    .finish = "ca_bound",
};
static const cubc_site_update add_correction = {
    .statements = "y = y + x; x = complex<real_t>(0)",
};
#define RESTART                                                                  \
    .sums = {"norm(s)", "dot_real(p0, s)", "dot_real(p1, s)", "dot_real(p2, s)", \
             "dot_real(p3, s)"},                                                 \
    .finish = "ca_restart"
static const cubc_site_update restart = {RESTART};
static const cubc_site_update restart_of_positive = {.statements = "s = r", RESTART};
static const cubc_site_update next_vector = {
    .scalars = {"node_scale"},
    .statements = "out = node_scale * (m - SHIFTED(node) * z)",
};
#define GRAM                                                                                 \
    .sums = {"norm(s0)",         "dot_real(s0, s1)", "dot_real(s0, s2)", "dot_real(s0, s3)", \
             "dot_real(s0, s4)", "norm(s1)",         "dot_real(s1, s2)", "dot_real(s1, s3)", \
             "dot_real(s1, s4)", "norm(s2)",         "dot_real(s2, s3)", "dot_real(s2, s4)", \
             "norm(s3)",         "dot_real(s3, s4)", "dot_real(w0, s0)", "dot_real(w0, s1)", \
             "dot_real(w0, s2)", "dot_real(w0, s3)", "dot_real(w1, s0)", "dot_real(w1, s1)", \
             "dot_real(w1, s2)", "dot_real(w1, s3)", "dot_real(w2, s0)", "dot_real(w2, s1)", \
             "dot_real(w2, s2)", "dot_real(w2, s3)", "dot_real(w3, s0)", "dot_real(w3, s1)", \
             "dot_real(w3, s2)", "dot_real(w3, s3)"}
// Products of the basis but for the last vector's square, each once, and those of W with S.
enum { GRAM_SUMS = (CA_STEPS + 1) * (CA_STEPS + 2) / 2 - 1 + CA_STEPS * CA_STEPS };
static const cubc_site_update gram = {GRAM, .finish = "ca_gram"};
static const cubc_site_update gram_of_positive = {GRAM, .finish = "ca_gram_of_positive"};
static const cubc_site_update directions = {
    .statements = "ca_directions(*state, s0, s1, s2, s3, p0, p1, p2, p3)",
};
static const cubc_site_update products = {
    .statements = "ca_products(*state, s0, s1, s2, s3, s4, w0, w1, w2, w3)",
};
// The sum is none: it only finds the last block, which says that the step is taken.
static const cubc_site_update step = {
    .statements = "x = x + ALONG(0) * p0 + ALONG(1) * p1 + ALONG(2) * p2 + ALONG(3) * p3; "
                  "s = s - (ALONG(0) * w0 + ALONG(1) * w1 + ALONG(2) * w2 + ALONG(3) * w3)",
    .sums = {"0"},
    .finish = "ca_stepped",
};

// ---- the method --------------------------------------------------------------------------------
// Applies the operator of the system: M, or M^+ M.
static cubc_status apply(solver *s, const operator_call *call)
{
    const lattice_field *between = &s->work[V];
    operator_call back = *call;
    if (s->op->positive) return s->op->apply(s, call);
    back.in = between;
    back.dagger = true;
    TRY(s->op->apply(s, &(operator_call){.in = call->in, .out = between, .phase = call->phase}));
    return s->op->apply(s, &back);
}

static cubc_status take_bound(solver *s)
{
    const lattice_field *f = s->work + S;
    TRY(solver_assign(s, UPDATE, &f[0], &s->b));
    for (int k = 0; k < APPLICATIONS; k++) {
        const cubc_site_update *tail = k == 0                  ? &first_size
                                       : k + 1 == APPLICATIONS ? &last_size
                                                               : &next_size;
        TRY(apply(s, &(operator_call){.in = &f[k % 2],
                                      .out = &f[1 - k % 2],
                                      .z = &f[k % 2],
                                      .tail = tail,
                                      .phase = UPDATE}));
    }
    return CUBC_OK;
}

static cubc_status open(solver *s)
{
    s->cycle = 0;
    for (int k = X; k < FIELDS; k++)
        if (k != V || !s->op->positive) TRY(solver_zero_field(s, s->sloppy, &s->work[k]));
    return take_bound(s);
}

static cubc_status begin_again(solver *s)
{
    const lattice_field *f = s->work, *p = f + P, *residual;
    if (s->op->positive)
        return solver_pass(s, UPDATE, &restart_of_positive,
                           SITE_FIELDS(WRITE("s", f[S]), READ("r", s->r), FOUR(READ, "p", p)));
    TRY(solver_sloppy_residual(s, &f[V], &residual));
    TRY(s->op->apply(
        s, &(operator_call){.in = residual, .out = &f[S], .dagger = true, .phase = UPDATE}));
    return solver_pass(s, UPDATE, &restart, SITE_FIELDS(READ("s", f[S]), FOUR(READ, "p", p)));
}

static cubc_status update(solver *s)
{
    const lattice_field *f = s->work;
    s->cycle = 0;
    TRY(solver_pass(s, UPDATE, &add_correction, SITE_FIELDS(WRITE("y", s->y), WRITE("x", f[X]))));
    TRY(solver_residual(s));
    return begin_again(s);
}

static cubc_status take_step(solver *s, uint64_t last_of_round)
{
    const lattice_field *x = &s->work[X], *v = s->work + S, *p = s->work + P, *w = s->work + W;
    s->guard.step = last_of_round;
    TRY(solver_pass(s, ITERATE, s->op->positive ? &gram_of_positive : &gram,
                    SITE_FIELDS(FOUR(READ, "s", v), READ("s4", v[4]), FOUR(READ, "w", w))));
    TRY(solver_pass(s, ITERATE, &directions, SITE_FIELDS(FOUR(READ, "s", v), FOUR(WRITE, "p", p))));
    TRY(solver_pass(s, ITERATE, &products,
                    SITE_FIELDS(FOUR(READ, "s", v), READ("s4", v[4]), FOUR(WRITE, "w", w))));
    // Each rank knows by itself that the step is taken.
    return solver_pass_over(
        s, NULL, ITERATE, &step,
        SITE_FIELDS(WRITE("x", *x), WRITE("s", v[0]), FOUR(READ, "p", p), FOUR(READ, "w", w)));
}

static cubc_status iterate(solver *s, uint64_t last_of_round)
{
    const lattice_field *f = s->work + S;
    const int k = s->cycle++ % CA_STEPS;
    TRY(apply(s, &(operator_call){.in = &f[k],
                                  .out = &f[k + 1],
                                  .z = &f[k],
                                  .tail = &next_vector,
                                  .phase = ITERATE,
                                  .step = (uint64_t)k}));
    return k + 1 == CA_STEPS ? take_step(s, last_of_round) : CUBC_OK;
}

static const solver_method of_positive = {
    .name = "ca_cg",
    .open = open,
    .update = update,
    .iterate = iterate,
    .iteration_applies = 1,
    .update_applies = 1,
    .compacts = true,
    .delta = 0.1,
    .sums = GRAM_SUMS,
};
const solver_method solver_ca_cg = {
    .name = "ca_cg",
    .open = open,
    .update = update,
    .iterate = iterate,
    .iteration_applies = 2,
    .update_applies = 2,
    .of_positive = &of_positive,
    .compacts = true,
    .sums = GRAM_SUMS,
};
