// The generalised conjugate residual method, restarted, on M itself.
//
// S. C. Eisenstat, H. C. Elman and M. H. Schultz, "Variational iterative methods for nonsymmetric
// systems of linear equations" (1983). kernels/lattice/solver/gcr.h has the iteration step by step,
// and its scalars.
//
// Direction k of a cycle is the residual p of that step; v = M p is made orthogonal to the earlier
// ones (Gram-Schmidt, all of them at once, which few directions allow) and the residual of the next
// step is p - alpha v, the least that there is. An iteration has three sums over ranks. With a
// preconditioner (schwarz.c) p is what that makes of the residual, and any p will do: none has to
// follow from the one before. A cycle is a round of launches and ends with an update, which adds
// the directions to the solution, with coefficients that undo the orthogonalisation.
#include "lattice/solver/solver.h"

// Among work: each direction's; the residual, where that is another field; the preconditioner's.
enum { P, RESIDUAL = MOST_BASIS, V = MOST_BASIS + 1, FIELDS = V + MOST_BASIS };
enum { FEW = 3, MOST_SUMS = 2 * (MOST_BASIS - 1) };

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
// Against up to three earlier directions, or up to seven.
static const cubc_site_update project_few = {
    .sums = {"dot_real(v0, v)", "dot_imag(v0, v)", "dot_real(v1, v)", "dot_imag(v1, v)",
             "dot_real(v2, v)", "dot_imag(v2, v)"},
    .finish = "gcr_project",
};
static const cubc_site_update project_all = {
    .sums = {"dot_real(v0, v)", "dot_imag(v0, v)", "dot_real(v1, v)", "dot_imag(v1, v)",
             "dot_real(v2, v)", "dot_imag(v2, v)", "dot_real(v3, v)", "dot_imag(v3, v)",
             "dot_real(v4, v)", "dot_imag(v4, v)", "dot_real(v5, v)", "dot_imag(v5, v)",
             "dot_real(v6, v)", "dot_imag(v6, v)"},
    .finish = "gcr_project",
};
static const cubc_site_update length_of_only = {
    .sums = {"norm(out)", "dot_real(out, z)", "dot_imag(out, z)"},
    .finish = "gcr_length",
};
#define LENGTH .sums = {"norm(v)", "dot_real(v, r)", "dot_imag(v, r)"}, .finish = "gcr_length"
static const cubc_site_update length_few = {
    .statements = "v = v - OMEGA(0) * v0 - OMEGA(1) * v1 - OMEGA(2) * v2", LENGTH};
static const cubc_site_update length_all = {
    .statements = "v = v - OMEGA(0) * v0 - OMEGA(1) * v1 - OMEGA(2) * v2 - OMEGA(3) * v3 - "
                  "OMEGA(4) * v4 - OMEGA(5) * v5 - OMEGA(6) * v6",
    LENGTH};
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

// Earlier directions that there are not have the first one in their place, and a component of 0.
static cubc_status orthogonalise(solver *s, int k)
{
    const lattice_field *v = s->work + V, *of[MOST_BASIS - 1];
    for (int j = 0; j < MOST_BASIS - 1; j++) of[j] = &v[j < k ? j : 0];
    s->guard.step = (uint64_t)k;
    if (k <= FEW) {
        TRY(solver_pass(s, ITERATE, &project_few,
                        SITE_FIELDS(READ("v", v[k]), READ("v0", *of[0]), READ("v1", *of[1]),
                                    READ("v2", *of[2]))));
        return solver_pass(s, ITERATE, &length_few,
                           SITE_FIELDS(WRITE("v", v[k]), READ("v0", *of[0]), READ("v1", *of[1]),
                                       READ("v2", *of[2]), READ("r", *residual_of(s, k))));
    }
    TRY(solver_pass(s, ITERATE, &project_all,
                    SITE_FIELDS(READ("v", v[k]), READ("v0", *of[0]), READ("v1", *of[1]),
                                READ("v2", *of[2]), READ("v3", *of[3]), READ("v4", *of[4]),
                                READ("v5", *of[5]), READ("v6", *of[6]))));
    return solver_pass(s, ITERATE, &length_all,
                       SITE_FIELDS(WRITE("v", v[k]), READ("v0", *of[0]), READ("v1", *of[1]),
                                   READ("v2", *of[2]), READ("v3", *of[3]), READ("v4", *of[4]),
                                   READ("v5", *of[5]), READ("v6", *of[6]),
                                   READ("r", *residual_of(s, k))));
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
                                         .z = k ? NULL : residual_of(s, 0),
                                         .tail = k ? NULL : &length_of_only,
                                         .phase = ITERATE}));
    if (k) TRY(orthogonalise(s, k));
    s->guard.step = last_of_round;
    return step(s, k);
}

const solver_method solver_gcr = {
    .name = "gcr",
    .open = open,
    .update = update,
    .iterate = iterate,
    .iteration_applies = 1,
    .update_applies = 1,
    .compacts = true,
    .sums = MOST_SUMS,
};
