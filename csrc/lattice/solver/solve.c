// cubc_solve: from fields of any order to a system, its solution by one of the methods, and back.
//
// The way of a call: solve_steps runs twice, first as a dry run (dry_run.c), which compiles all
// kernels. It takes the caller's fields (solve_fields.c), opens the operator by its row
// (operator_row.c) and runs rounds (solver.c) of the method (cg.c, block_cg.c, ca_cg.c, bicgstab.c,
// gcr.c, multishift.c), each launch of which is an operator's (schur.c, wilson.c) or a pass over
// fields (solver_pass).
#include "lattice/solver/solve.h"
#include "base/integer.h"
#include "base/name.h"
#include "lattice/grid/ranks.h"
#include "lattice/operators/lattice_problem.h"
#include "lattice/solver/dry_run.h"
#include "lattice/solver/operator_row.h"

#include <math.h>
#include <string.h>

static const solver_method *const methods[] = {
    &solver_cg, &solver_block_cg, &solver_ca_cg, &solver_bicgstab, &solver_gcr, &solver_multishift};

static const uint64_t most_iterations = UINT64_C(1) << 48; // longer than anybody waits

// ---- checks -------------------------------------------------------------------------------------
static cubc_status find_method(const char *name, const solver_method **out)
{
    const char *names[COUNT_OF(methods)];
    for (size_t k = 0; k < COUNT_OF(methods); k++) {
        names[k] = methods[k]->name;
        *out = methods[k];
        if (name && strcmp(name, names[k]) == 0) return CUBC_OK;
    }
    const char *near = nearest_name(name ? name : "", names, COUNT_OF(names));
    text list = {0};
    for (size_t k = 0; k < COUNT_OF(names); k++)
        text_printf(&list, "%s%s", k ? ", " : "", names[k]);
    cubc_status st = text_done(&list);
    if (!st)
        st = error_set(__FILE__, __LINE__, CUBC_INVALID_ARGUMENT,
                       "no solver '%.30s'%s%s%s; there are %s", name ? name : "",
                       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "",
                       list.data);
    text_free(&list);
    return st;
}

static cubc_status check_numbers(const cubc_solve_params *p)
{
    if (!(p->tolerance >= 0) || isinf(p->tolerance))
        FAIL(CUBC_INVALID_ARGUMENT, "a tolerance of %g: it is a number of 0 and more",
             p->tolerance);
    if (!p->iterations)
        FAIL(CUBC_INVALID_ARGUMENT, "a solve of no iterations: at least one is expected");
    if (!(p->delta >= 0 && p->delta < 1))
        FAIL(CUBC_INVALID_ARGUMENT, "a delta of %g: it is a number from 0 to 1", p->delta);
    if (p->type != CUBC_F64 && p->type != CUBC_F32)
        FAIL(CUBC_INVALID_TYPE, "b and x of a solve are F64 or F32, not %s",
             cubc_type_name(p->type));
    if (p->precise != CUBC_F64 && p->precise != CUBC_F32)
        FAIL(CUBC_INVALID_TYPE, "residuals are F64 or F32, not %s", cubc_type_name(p->precise));
    TRY(lattice_precision("the fields of an iteration", p->sloppy));
    if (cubc_type_size(p->sloppy) > cubc_type_size(p->precise))
        FAIL(CUBC_INVALID_TYPE, "an iteration in %s is more precise than its residual in %s",
             cubc_type_name(p->sloppy), cubc_type_name(p->precise));
    return CUBC_OK;
}

// Checks that a system from which odd sites do not follow (M^+ M, shifts) is one of all sites, or
// of the even sites alone.
static cubc_status check_sites(const cubc_solve_params *p)
{
    if ((int)p->sites < CUBC_ALL_SITES || p->sites > CUBC_EVEN_SITES)
        FAIL(CUBC_INVALID_ARGUMENT, "a solve of unknown sites (%d)", (int)p->sites);
    if (p->sites == CUBC_EVEN_SITES && p->order == CUBC_PLAIN)
        FAIL(CUBC_INVALID_ARGUMENT, "fields of the even sites are in even-odd or native order");
    if (by_parity(p) && p->normal)
        FAIL(CUBC_INVALID_ARGUMENT, "M^+ M is solved on all sites or on the even sites alone");
    if (by_parity(p) && shifts_of(p))
        FAIL(CUBC_INVALID_ARGUMENT, "multishift solves on all sites or on the even sites alone");
    return CUBC_OK;
}

static cubc_status check_schwarz(const cubc_solve_params *p, const solver_method *method)
{
    if (p->schwarz < 0 || p->schwarz > MOST_SCHWARZ)
        FAIL(CUBC_INVALID_ARGUMENT, "schwarz is %d: it is a number of steps from 0 to %d",
             p->schwarz, MOST_SCHWARZ);
    if (!p->schwarz) return CUBC_OK;
    if (method != &solver_gcr)
        FAIL(CUBC_INVALID_ARGUMENT, "schwarz preconditions gcr, not %s", method->name);
    TRY(lattice_precision("the preconditioner", p->schwarz_type));
    if (cubc_type_size(p->schwarz_type) > cubc_type_size(p->sloppy))
        FAIL(CUBC_INVALID_TYPE, "a preconditioner in %s is more precise than iterations in %s",
             cubc_type_name(p->schwarz_type), cubc_type_name(p->sloppy));
    return CUBC_OK;
}

static cubc_status check_shifts(const cubc_solve_params *p, const solver_method *method)
{
    bool several = method == &solver_multishift;
    if (several != (shifts_of(p) > 0))
        FAIL(CUBC_INVALID_ARGUMENT,
             several ? "multishift needs shifts" : "shifts need the solver multishift, not %s",
             method->name);
    if (!several) return CUBC_OK;
    if (p->shift_count > MOST_SHIFTS)
        FAIL(CUBC_INVALID_ARGUMENT, "%d shifts: at most %d are solved for at once", p->shift_count,
             MOST_SHIFTS);
    if (p->guess) FAIL(CUBC_INVALID_ARGUMENT, "multishift begins at zero: it takes no x0");
    for (int k = 0; k < p->shift_count; k++)
        if (!(p->shifts[k] >= 0) || isinf(p->shifts[k]))
            FAIL(CUBC_INVALID_ARGUMENT, "a shift of %g: they are numbers of 0 and more",
                 p->shifts[k]);
    if (p->sloppy != p->precise)
        FAIL(CUBC_INVALID_TYPE, "multishift iterates in the precise type, %s, not in %s",
             cubc_type_name(p->precise), cubc_type_name(p->sloppy));
    return CUBC_OK;
}

static cubc_status check_params(const cubc_solve_params *p, const solver_method *method)
{
    TRY(check_shifts(p, method));
    if (method == &solver_block_cg && p->sloppy == CUBC_I16)
        FAIL(CUBC_INVALID_TYPE, "block_cg iterates in F64 or F32, not in fixed point");
    TRY(check_numbers(p));
    TRY(check_schwarz(p, method));
    return check_sites(p);
}

static cubc_status find_shape(const cubc_solve_params *p, const operator_row **row,
                              lattice_shape *out)
{
    const cubc_operator *op = p->op;
    problem lattice = {0};
    TRY(operator_row_of(op->kind, row));
    *out = (lattice_shape){.extents = {op->lx, op->ly, op->lz, op->lt},
                           .reals = (*row)->reals,
                           .parities = p->sites == CUBC_ALL_SITES ? 2 : 1,
                           .inner = 1};
    TRY(lattice_extents(&lattice, out->extents));
    if ((*row)->inner) TRY((*row)->inner(op, &out->inner));
    return lattice_fields(&lattice, "the source of a solve", p->n, out->reals * out->inner,
                          p->sites == CUBC_EVEN_SITES ? 1 : 2, &out->sources);
}

cubc_status cubc_solve_reports(const cubc_solve_params *params, uint64_t *count)
{
    const operator_row *row;
    lattice_shape shape;
    if (!params || !params->op || !count)
        FAIL(CUBC_INVALID_ARGUMENT, "cubc_solve_reports: NULL argument");
    TRY(find_shape(params, &row, &shape));
    *count = shape.sources * larger(1, (uint64_t)shifts_of(params));
    return CUBC_OK;
}

// ---- states -------------------------------------------------------------------------------------
// Both in epsilons: the drop of a residual at which roundings outweigh it, and the share of a
// direction's square that is nothing but roundings.
enum { ROUNDINGS = 16, PIVOT_ROUNDINGS = 64 };
static cubc_status open_states(solver *s, const cubc_solve_params *p)
{
    bool on_cpu = device_is_cpu(s->device->info.kind);
    uint64_t sources = s->shape.sources, sites = solver_reals(s) / (uint64_t)s->shape.reals;
    double usual = s->method->delta > 0 ? s->method->delta : 0.2,
           delta = p->delta > 0 ? p->delta : usual,
           least = fmin(delta, ROUNDINGS * solve_epsilon(p->sloppy));
    // A block has one thread on the cpu and whole warps elsewhere.
    s->guard.parts_n = (uint64_t)(s->method->sums ? s->method->sums : USUAL_SUMS) *
                       (on_cpu ? sites : sites / 32 + sources * (uint64_t)s->shape.inner);
    void *memory;
    TRY(solver_alloc(s, s->guard.parts_n * sizeof(double), &memory));
    s->guard.parts = memory;
    TRY(solver_alloc(s, sources * sizeof *s->states, &s->guard.states));
    s->states = mem_zalloc(sources, sizeof *s->states);
    s->scales = mem_alloc(sources, sizeof *s->scales);
    if (!s->states || !s->scales) return CUBC_NO_MEMORY;
    for (uint64_t k = 0; k < sources; k++) s->scales[k] = 1;
    for (uint64_t k = 0; k < sources; k++)
        s->states[k] = (solver_state){.phase = UPDATE,
                                      .source = 1, // until take_source knows it, and in a dry run
                                      .limit = p->iterations,
                                      .target = solve_first_target(s, p),
                                      .drop = delta * delta,
                                      .most_drop = least * least,
                                      .sigma = {1},
                                      .least_pivot = PIVOT_ROUNDINGS * solve_epsilon(p->sloppy),
                                      .least = HUGE_VAL,
                                      .shifts = (uint64_t)s->shifts};
    for (uint64_t k = 0; k < sources && s->shifts; k++)
        memcpy(s->states[k].shift, p->shifts, (size_t)s->shifts * sizeof *p->shifts);
    return solver_upload(s);
}

static uint64_t solutions(const solver *s)
{
    return s->shape.sources * (uint64_t)(s->shifts ? s->shifts : 1);
}

static void describe(const solver *s, cubc_solve_info *info)
{
    for (uint64_t k = 0; k < solutions(s); k++) {
        const solver_state *state = &s->states[k % s->shape.sources];
        info[k] =
            (cubc_solve_info){.converged = state->phase == CONVERGED || state->phase == NO_SOURCE,
                              .reason = solve_reason(state->phase),
                              .iterations = state->iterations,
                              .updates = state->updates,
                              .sums = state->sums};
    }
}

static void measure(const solver *s, double seconds, cubc_solve_info *info)
{
    int grid[4] = {1, 1, 1, 1};
    if (s->guard.ranks) ranks_grid(s->guard.ranks, grid);
    const double of_rank =
        (double)(solver_reals(s) / (uint64_t)s->shape.reals) / (double)s->shape.sources;
    const double sites = of_rank * grid[0] * grid[1] * grid[2] * grid[3];
    double flops = 0;
    for (uint64_t k = 0; k < s->shape.sources; k++)
        flops +=
            s->flops * sites *
            (double)(info[k].iterations * (uint64_t)(s->method->iteration_applies + s->schwarz) +
                     info[k].updates * (uint64_t)s->method->update_applies);
    for (uint64_t k = 0; k < solutions(s); k++) {
        info[k].seconds = seconds;
        info[k].compile_seconds = s->compile_seconds;
        info[k].gflops = seconds > 0 ? 1e-9 * flops / seconds : 0;
    }
}

// ---- the call -----------------------------------------------------------------------------------
// Reopens all states, for the kernels that follow the iteration. The solution of a zero source is
// zero.
static cubc_status reopen(solver *s)
{
    size_t each = solver_reals(s) / s->shape.sources * cubc_type_size(s->precise);
    for (uint64_t k = 0; k < s->shape.sources; k++) {
        if (s->states[k].phase == NO_SOURCE)
            TRY(solver_zero(s, (char *)s->y.data + k * each, each));
        s->states[k].phase = ITERATE;
    }
    return solver_upload(s);
}

typedef struct solve_context {
    const cubc_solve_params *params;
    cubc_solve_info *info;
} solve_context;

// Goes from the caller's fields to its solution.
static cubc_status solve_steps(solver *s, void *context)
{
    const cubc_solve_params *p = ((solve_context *)context)->params;
    cubc_solve_info *info = ((solve_context *)context)->info;
    whole_fields w = {0};
    TRY(operator_open(s, p->op));
    if (p->normal) TRY(normal_open(s));
    if (s->op->positive && s->method->of_positive) s->method = s->method->of_positive;
    TRY(open_states(s, p));
    TRY(solve_take_fields(s, p, &w));
    TRY(solve_scale_source(s, p, &w));
    if (by_parity(p)) TRY(s->op->source(s, w.b_of, &s->b));
    TRY(s->method->open(s));
    TRY(s->actions->run_rounds(s));
    describe(s, info);
    TRY(reopen(s));
    return s->shifts ? solve_give_shifted(s, p, &w, info) : solve_give_fields(s, p, &w, info);
}

cubc_status cubc_solve(cubc_device *device, const cubc_solve_params *params, cubc_solve_info *info,
                       cubc_stream stream)
{
    if (!device || !params || !params->op || !info)
        FAIL(CUBC_INVALID_ARGUMENT, "cubc_solve: NULL argument");
    double start = now_seconds();
    cubc_solve_params taken = *params;
    if (taken.iterations > most_iterations) taken.iterations = most_iterations;
    const cubc_solve_params *p = &taken;
    solver s = {.device = device, .actions = &solver_run_actions};
    solve_context context = {p, info};
    TRY(find_method(p->solver, &s.method));
    TRY(check_params(p, s.method));
    TRY(find_shape(p, &s.row, &s.shape));
    if (!p->b || !p->x) FAIL(CUBC_INVALID_ARGUMENT, "cubc_solve: b or x is NULL");
    if (s.row->check) TRY(s.row->check(p->op));
    if (s.row->check_even && p->sites != CUBC_ALL_SITES) TRY(s.row->check_even(p->op));
    s.shifts = shifts_of(p);
    s.precise = p->precise;
    s.sloppy = p->sloppy;
    s.schwarz = p->schwarz;
    s.schwarz_type = p->schwarz ? p->schwarz_type : p->sloppy;
    s.guard.ranks = p->op->ranks;
    TRY(device->api->stream_create(device, &s.stream));
    cubc_status st = device->api->order(device, s.stream, stream);
    double compiling = now_seconds();
    if (!st) st = dry_run_compile(&s, solve_steps, &context);
    s.compile_seconds = now_seconds() - compiling;
    if (!st) st = solve_steps(&s, &context);
    if (!st) st = device->api->synchronize(device, s.stream);
    if (!st && s.guard.ranks) st = cubc_ranks_check(s.guard.ranks, s.stream);
    if (!st) measure(&s, now_seconds() - start - s.compile_seconds, info);
    if (st) solver_settle(&s);
    solver_free(&s);
    device->api->stream_destroy(device, s.stream);
    return st;
}
