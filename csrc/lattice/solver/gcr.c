// The generalised conjugate residual method, restarted, on M itself.
//
// S. C. Eisenstat, H. C. Elman and M. H. Schultz, "Variational iterative methods for nonsymmetric
// systems of linear equations" (1983). kernels/lattice/solver/gcr.h has the iteration step by step,
// and its scalars.
//
// Direction k of a cycle is the residual p of that step; v = M p is made orthogonal to the earlier
// ones (modified Gram-Schmidt) and the residual of the next step is p - alpha v, the least that
// there is. With a preconditioner (schwarz.c) p is what that makes of the residual, and any p will
// do: none has to follow from the one before. A cycle is a round of launches and ends with an
// update, which adds the directions to the solution, with coefficients that undo the
// orthogonalisation.
#include "lattice/solver/solver.h"

// Among work: each direction's; the residual, where that is another field; the preconditioner's.
enum { P, RESIDUAL = MOST_BASIS, V = MOST_BASIS + 1, FIELDS = V + MOST_BASIS };

// ---- the steps ---------------------------------------------------------------------------------
static const cubc_site_update add_directions = {
    .statements = "y = y + BASIS(0) * p0 + BASIS(1) * p1 + BASIS(2) * p2 + BASIS(3) * p3 + "
                  "BASIS(4) * p4 + BASIS(5) * p5 + BASIS(6) * p6 + BASIS(7) * p7",
};
static const cubc_site_update restart = {
    .statements = "p = e",
    .sums = {"norm(p)"},
    .finish = "gcr_restart",
};
static const cubc_site_update project_first = {
    .sums = {"dot_real(z, out)", "dot_imag(z, out)"},
    .finish = "gcr_project",
};
static const cubc_site_update project_next = {
    .scalars = {"omega"},
    .statements = "v = v - omega * u",
    .sums = {"dot_real(w, v)", "dot_imag(w, v)"},
    .finish = "gcr_project",
};
static const cubc_site_update length_of_only = {
    .sums = {"norm(out)", "dot_real(out, z)", "dot_imag(out, z)"},
    .finish = "gcr_length",
};
static const cubc_site_update length = {
    .scalars = {"omega"},
    .statements = "v = v - omega * u",
    .sums = {"norm(v)", "dot_real(v, r)", "dot_imag(v, r)"},
    .finish = "gcr_length",
};
static const cubc_site_update next_residual = {
    .scalars = {"alpha"},
    .statements = "n = p - alpha * v",
    .sums = {"norm(n)"},
    .finish = "gcr_next_residual",
};
static const cubc_site_update residual_in_place = {
    .scalars = {"alpha"},
    .statements = "r = r - alpha * v",
    .sums = {"norm(r)"},
    .finish = "gcr_next_residual",
};

// ---- the method --------------------------------------------------------------------------------
static cubc_status open(solver *s)
{
    s->cycle = 0;
    for (int k = 0; k < FIELDS; k++) TRY(solver_zero_field(s, s->sloppy, &s->work[k]));
    return s->schwarz ? schwarz_open(s, s->work + FIELDS) : CUBC_OK;
}

// The residual before step k.
static const lattice_field *residual_of(const solver *s, int k)
{
    return &s->work[s->schwarz ? RESIDUAL : P + k];
}

static cubc_status update(solver *s)
{
    const lattice_field *p = s->work + P;
    s->cycle = 0;
    TRY(solver_pass(s, UPDATE, &add_directions,
                    SITE_FIELDS(WRITE("y", s->y), READ("p0", p[0]), READ("p1", p[1]),
                                READ("p2", p[2]), READ("p3", p[3]), READ("p4", p[4]),
                                READ("p5", p[5]), READ("p6", p[6]), READ("p7", p[7]))));
    TRY(solver_residual(s));
    return solver_pass(s, UPDATE, &restart,
                       SITE_FIELDS(READ("e", s->r), WRITE("p", *residual_of(s, 0))));
}

// The step of a launch: direction k, against direction j.
static uint64_t step_of(int k, int j)
{
    return (uint64_t)(k * MOST_BASIS + j);
}

static cubc_status orthogonalise(solver *s, int k)
{
    const lattice_field *v = s->work + V;
    for (int j = 1; j < k; j++) {
        s->guard.step = step_of(k, j);
        TRY(solver_pass(s, ITERATE, &project_next,
                        SITE_FIELDS(WRITE("v", v[k]), READ("u", v[j - 1]), READ("w", v[j]))));
    }
    s->guard.step = step_of(k, k);
    return solver_pass(
        s, ITERATE, &length,
        SITE_FIELDS(WRITE("v", v[k]), READ("u", v[k - 1]), READ("r", *residual_of(s, k))));
}

static cubc_status step(solver *s, int k)
{
    const lattice_field *v = s->work + V;
    if (s->schwarz)
        return solver_pass(s, ITERATE, &residual_in_place,
                           SITE_FIELDS(WRITE("r", s->work[RESIDUAL]), READ("v", v[k])));
    return solver_pass(s, ITERATE, &next_residual,
                       SITE_FIELDS(WRITE("n", *residual_of(s, k + 1)),
                                   READ("p", *residual_of(s, k)), READ("v", v[k])));
}

static cubc_status iterate(solver *s, uint64_t last_of_round)
{
    const lattice_field *p = s->work + P, *v = s->work + V;
    int k = s->cycle++;
    if (s->schwarz) TRY(schwarz_apply(s, s->work + FIELDS, residual_of(s, k), &p[k]));
    TRY(s->op->apply(s, &(operator_call){.in = &p[k],
                                         .out = &v[k],
                                         .z = k ? &v[0] : residual_of(s, 0),
                                         .tail = k ? &project_first : &length_of_only,
                                         .phase = ITERATE,
                                         .step = step_of(k, 0)}));
    if (k) TRY(orthogonalise(s, k));
    s->guard.step = last_of_round;
    return step(s, k);
}

const solver_method solver_gcr = {"gcr", open, update, iterate, 1, 1, NULL, true, 0, 0};
