// Block conjugate gradients: sources of one operator share their Krylov space, so that each needs
// fewer iterations than alone. Of Hermitian positive M, or of M^+ M by both factors.
//
// D. P. O'Leary, "The block conjugate gradient algorithm and related methods" (1980); A. A.
// Dubrulle, "Retooling the method of block conjugate gradients" (2001), whose variant with
// orthonormal residuals (BCGrQ) does not break down where residuals become dependent; M. A. Clark
// et al., "Accelerating lattice QCD multigrid on GPUs using fine-grained parallelization" and
// "Pushing memory bandwidth limitations through efficient implementations of block-Krylov space
// solvers" (2017). kernels/lattice/solver/block_cg.h has the iteration and its matrices.
//
// Sources are divided into blocks of up to 12. A pass over fields makes combinations of all vectors
// of a block (kernels/lattice/block_update.cu). An iteration applies the operator, and moves eleven
// fields of each source: p and w to their products; q and w read, q written; q, x and p read and
// written. A source is judged, and may stop, at updates; the others go on without it.
#include "base/integer.h"
#include "lattice/operators/block_update.h"
#include "lattice/solver/solver.h"

// Among work: correction since the last update, direction, M p, residual, M^+ M p.
enum { X, P, W, Q, V };

// ---- the steps ----------------------------------------------------------------------------------
static const cubc_site_update add_correction = {
    .statements = "y = y + x; x = complex<real_t>(0)",
};

static bool of_normal(const solver *s)
{
    return !s->op->positive;
}

static cubc_status step(solver *s, block_step which, solver_phase phase)
{
    const lattice_field *f = s->work;
    block_update_params params = {.step = which,
                                  .normal = of_normal(s),
                                  .block = block_of(s->shape.sources),
                                  .type = s->sloppy,
                                  .q = f[Q].data,
                                  .p = f[P].data,
                                  .x = f[X].data,
                                  .w = f[of_normal(s) && which != BLOCK_LENGTH ? V : W].data,
                                  .n = solver_reals(s),
                                  .sources = s->shape.sources,
                                  .guard = s->guard,
                                  .matrices = s->matrices};
    problem p;
    for (int d = 0; d < 4; d++) params.extents[d] = s->shape.extents[d];
    params.guard.phase = phase;
    params.guard.parts = s->block_parts;
    params.guard.parts_n = s->block_parts_n;
    TRY(block_update_problem(&params, &p));
    return s->actions->launch(s, &p);
}

// ---- the method ---------------------------------------------------------------------------------
static cubc_status open(solver *s)
{
    const int block = block_of(s->shape.sources);
    uint64_t blocks = ceil_div(s->shape.sources, (uint64_t)block);
    void *parts;
    for (int k = X; k <= (of_normal(s) ? V : Q); k++)
        TRY(solver_zero_field(s, s->sloppy, &s->work[k]));
    TRY(solver_alloc(s, blocks * block_matrices_bytes(block), &s->matrices));
    TRY(solver_zero(s, s->matrices, blocks * block_matrices_bytes(block)));
    s->block_parts_n = blocks * block_parts(block);
    TRY(solver_alloc(s, s->block_parts_n * sizeof(double), &parts));
    s->block_parts = parts;
    return CUBC_OK;
}

static cubc_status update(solver *s)
{
    const lattice_field *f = s->work;
    TRY(solver_pass(s, UPDATE, &add_correction, SITE_FIELDS(WRITE("y", s->y), WRITE("x", f[X]))));
    TRY(solver_residual(s));
    TRY(solver_assign(s, UPDATE, &f[W], &s->r));
    if (of_normal(s))
        TRY(s->op->apply(
            s, &(operator_call){.in = &f[W], .out = &f[V], .dagger = true, .phase = UPDATE}));
    TRY(step(s, BLOCK_FACTOR, UPDATE));
    TRY(step(s, BLOCK_REFACTOR, UPDATE));
    return step(s, BLOCK_BEGIN, UPDATE);
}

static cubc_status iterate(solver *s, uint64_t last_of_round)
{
    const lattice_field *f = s->work;
    (void)last_of_round;
    TRY(s->op->apply(s, &(operator_call){.in = &f[P], .out = &f[W], .phase = ITERATE}));
    TRY(step(s, BLOCK_LENGTH, ITERATE));
    if (of_normal(s))
        TRY(s->op->apply(
            s, &(operator_call){.in = &f[W], .out = &f[V], .dagger = true, .phase = ITERATE}));
    TRY(step(s, BLOCK_RESIDUAL, ITERATE));
    return step(s, BLOCK_DIRECTION, ITERATE);
}

static const solver_method of_positive = {
    .name = "block_cg",
    .open = open,
    .update = update,
    .iterate = iterate,
    .iteration_applies = 1,
    .update_applies = 1,
};
const solver_method solver_block_cg = {
    .name = "block_cg",
    .open = open,
    .update = update,
    .iterate = iterate,
    .iteration_applies = 2,
    .update_applies = 2,
    .of_positive = &of_positive,
};
