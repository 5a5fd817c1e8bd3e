// The way of a reduction, a scan or a reduction by key: from its public call to the algorithm that
// computes it. A reader starts here; each descriptor knows its own algorithm alone.
//
//     call                    algorithm                           if it is to be deterministic
//     cubc_reduce             reduce                              deterministic_reduce
//     cubc_segmented_reduce   segmented_reduce                    deterministic_reduce
//       of one size           row_reduce                          deterministic_reduce
//     cubc_axis_reduce        axis_reduce                         axis_reduce
//       of the last axis      row_reduce                          deterministic_reduce
//       of a single row       reduce                              deterministic_reduce
//     cubc_scan               scan                                deterministic_scan
//     cubc_axis_scan          axis_scan                           none: transpose, and cubc_scan
//       of the last axis      scan                                none: cubc_scan with segments
//     cubc_runs               runs                                deterministic_scan
//
// The last column is for a caller who wants a deterministic result. With integers and indices every
// order gives that, with min and max every order of a scan, and the first algorithm computes.
#include "primitives/reduction.h"
#include "primitives/runs_shared.h"
#include "primitives/scan_shared.h"

// True if the caller wants a deterministic result and the order of the operands shows in it.
static bool order_shows(int deterministic, const char *op, cubc_type acc_type)
{
    const operator_info *known = deterministic && op ? operator_find(op) : NULL;
    if (!deterministic || !known) return deterministic;
    return !known->arg && !known->logical && type_valid(acc_type) &&
           type_table[acc_type].kind >= KIND_FLOAT;
}

// The same of scans and runs, which keep the order of the operands: min and max are then exactly
// associative, with the last of 0.0 and -0.0.
static bool order_shows_in_scan(int deterministic, const char *op, cubc_type acc_type)
{
    const operator_info *known = deterministic && op ? operator_find(op) : NULL;
    return !(known && known->ordered) && order_shows(deterministic, op, acc_type);
}

// ---- reductions ---------------------------------------------------------------------------------
static const algorithm *way_of(const reduction *r)
{
    switch (r->shape) {
    case REDUCTION_COLUMNS: return &axis_reduce_algorithm;
    case REDUCTION_SEGMENTS:
        if (r->deterministic) return &deterministic_reduce_algorithm;
        return r->offsets ? &segmented_reduce_algorithm : &row_reduce_algorithm;
    default: return r->deterministic ? &deterministic_reduce_algorithm : &reduce_algorithm;
    }
}

static cubc_status route(const reduction *r, problem *out)
{
    const algorithm *a = way_of(r);
    TRY(reduction_operands(r, a, out));
    a->complete(r, out);
    return CUBC_OK;
}

// The members that the three structs of parameters have in common.
#define REDUCTION(name, params)                                                         \
    .call = (name), .input = "the input of " name, .output = "the output of " name,     \
    .in = (params)->in, .out = (params)->out, .type = (params)->type,                   \
    .acc_type = (params)->acc_type, .out_type = (params)->out_type, .op = (params)->op, \
    .init = (params)->init, .init_in_memory = (params)->init_in_memory != 0,            \
    .commutative = (params)->commutative != 0,                                          \
    .deterministic = order_shows((params)->deterministic, (params)->op, (params)->acc_type)

cubc_status reduce_problem(const cubc_reduce_params *params, problem *out)
{
    const reduction all = {REDUCTION("reduce", params), .shape = REDUCTION_WHOLE, .n = params->n,
                           .outer = 1, .columns = 1};
    return route(&all, out);
}

static cubc_status check_segments(const cubc_segmented_reduce_params *params)
{
    if (!params->offsets)
        TRY(problem_equal_segments("segmented_reduce", params->n, params->segments));
    if (params->ends && !params->offsets)
        FAIL(CUBC_INVALID_ARGUMENT, "ends= goes with offsets, the beginnings of the segments");
    return CUBC_OK;
}

static cubc_status check_order(const reduction *segments, const problem *p)
{
    if (segments->ends && (segments->deterministic || !p->commutative))
        FAIL(CUBC_INVALID_ARGUMENT,
             "segments with ends take operators whose order does not matter: say that an "
             "expression is commutative, and do not ask for a deterministic result of floats; or "
             "gather the items and give offsets");
    return CUBC_OK;
}

cubc_status segmented_reduce_problem(const cubc_segmented_reduce_params *params, problem *out)
{
    const reduction segments = {REDUCTION("segmented_reduce", params),
                                .shape = REDUCTION_SEGMENTS,
                                .n = params->n,
                                .outer = params->segments,
                                .columns = 1,
                                .offsets = params->offsets,
                                .offset_type = params->offset_type,
                                .ends = params->ends,
                                .end_type = params->end_type};
    TRY(check_segments(params));
    TRY(route(&segments, out));
    return check_order(&segments, out);
}

cubc_status axis_reduce_problem(const cubc_axis_reduce_params *params, problem *out)
{
    reduction along = {REDUCTION("axis_reduce", params),
                       .shape = params->columns != 1 ? REDUCTION_COLUMNS
                                : params->outer == 1 ? REDUCTION_WHOLE
                                                     : REDUCTION_SEGMENTS,
                       .n = params->outer, .outer = params->outer, .columns = params->columns};
    uint64_t results = params->outer;
    if (!size_multiply(&results, params->columns) || !size_multiply(&along.n, params->length) ||
        !size_multiply(&along.n, params->columns))
        FAIL(CUBC_INVALID_ARGUMENT, "axis_reduce: the array has too many items");
    return route(&along, out);
}

// ---- scans --------------------------------------------------------------------------------------
cubc_status scan_problem(const cubc_scan_params *params, problem *out)
{
    const bool one = order_shows_in_scan(params->deterministic, params->op, params->acc_type);
    const algorithm *a = one ? &deterministic_scan_algorithm : &scan_algorithm;
    TRY(scan_operands(params, a, out));
    a->complete(params, out);
    return CUBC_OK;
}

cubc_status axis_scan_problem(const cubc_axis_scan_params *params, problem *out)
{
    const algorithm *a = params->columns == 1 ? &scan_algorithm : &axis_scan_algorithm;
    uint64_t rows = params->length;
    const bool fits = size_multiply(&rows, params->columns) && rows && params->n % rows == 0;
    const cubc_scan_params whole = {.in = params->in,
                                    .out = params->out,
                                    .n = params->n,
                                    .type = params->type,
                                    .acc_type = params->acc_type,
                                    .out_type = params->out_type,
                                    .op = params->op,
                                    .inclusive = params->inclusive,
                                    .init = params->init,
                                    .init_in_memory = params->init_in_memory,
                                    .segments =
                                        params->columns == 1 && fits ? params->n / rows : 0};
    TRY(problem_check_size("the input of axis_scan", params->n,
                           problem_input_type(params->in, params->type)));
    if (params->n && !fits)
        FAIL(CUBC_INVALID_ARGUMENT,
             "axis_scan: %llu items are no multiple of length * columns, %llu * %llu, each at "
             "least 1",
             (unsigned long long)params->n, (unsigned long long)params->length,
             (unsigned long long)params->columns);
    TRY(scan_operands(&whole, a, out));
    a->complete(params, out);
    return CUBC_OK;
}

cubc_status runs_problem(const cubc_runs_params *params, problem *out)
{
    const bool one =
        params->op && order_shows_in_scan(params->deterministic, params->op, params->acc_type);
    const algorithm *a = one ? &deterministic_scan_algorithm : &runs_algorithm;
    TRY(runs_operands(params, a, out));
    a->complete(params, out);
    return CUBC_OK;
}
