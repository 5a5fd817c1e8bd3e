// Descriptor of transpose: kernels/primitives/transpose.cu, and kernels/cpu/cpu_transpose.cu on the
// CPU.
#include "base/integer.h"
#include "run/instance.h"
#include "run/problem.h"

#include <string.h>

typedef struct transpose_numbers {
    uint64_t rows, columns;
} transpose_numbers;

PROBLEM_NUMBERS(transpose_numbers);

enum { ROW_AXIS = 1, COLUMN_AXIS = 2 }; // among the run-time axes

static void transpose_axis_values(const problem *p, uint64_t *values)
{
    const transpose_numbers matrix = transpose_numbers_of(p);
    values[0] = p->n;
    values[ROW_AXIS] = matrix.rows;
    values[COLUMN_AXIS] = matrix.columns;
}

cubc_status transpose_problem(const cubc_transpose_params *params, problem *out)
{
    *out = (problem){.algorithm = &transpose_algorithm,
                     .n = params->n,
                     .type = (uint8_t)params->type,
                     .acc_type = (uint8_t)params->type};
    transpose_numbers_set(out, (transpose_numbers){params->rows, params->columns});
    TRY(problem_input(out, "the input of transpose", params->in, params->n, params->type));
    TRY(problem_output(out, "the output of transpose", params->out, params->n, params->type));
    bool fits = params->rows && params->columns && params->n % params->rows == 0 &&
                params->n / params->rows % params->columns == 0;
    if (params->n && !fits)
        FAIL(CUBC_INVALID_ARGUMENT,
             "transpose: %llu items are no multiple of a matrix of %llu rows and %llu columns",
             (unsigned long long)params->n, (unsigned long long)params->rows,
             (unsigned long long)params->columns);
    TRY(problem_check_overlap(out, ANY_INPUT));
    if (out->in_place)
        FAIL(CUBC_INVALID_ARGUMENT, "transpose: the output must be apart from the input");
    strcpy(out->benchmark, "transpose.matrix");
    out->aligned = true; // nothing is read in vectors
    return CUBC_OK;
}

static cubc_status transpose_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                      problem *out)
{
    cubc_transpose_params call = *(const cubc_transpose_params *)b->call;
    call.type = type;
    call.columns = smaller(at[0], at[COLUMN_AXIS]);
    call.rows = at[0] / call.columns;
    call.n = call.rows * call.columns;
    return transpose_problem(&call, out);
}

static void transpose_define(const problem *p, text *out)
{
    text_printf(out, "#define TUNE_T %s\n", type_table[p->type].dialect);
}

static const char *transpose_invalid(const problem *p, const char *kind, const space *s,
                                     const variant *v)
{
    int size = (int)cubc_type_size((cubc_type)p->type);
    int tile = variant_value(s, v, "ipt", 1) * variant_value(s, v, "tpb", 1);
    if (!device_is_cpu(kind) && (tile + tile / 16) * size > 200 * 1024)
        return "the tile does not fit the shared memory of a multiprocessor";
    return problem_invalid(p, kind, s, v, size);
}

// The greatest length of a tile that is `across` items wide: it has `tile` items at most, and a
// sixteenth more with the odd distance between its rows.
static uint64_t length_for(uint64_t across, uint64_t tile)
{
    return smaller(tile / across, (tile + tile / 16) / (across | 1));
}

// Square, or as long as it may be where the matrix is narrower than that.
static void choose_tile(transpose_numbers matrix, uint64_t tile, uint64_t *rows, uint64_t *columns)
{
    uint64_t side = 1;
    while (4 * side * side <= tile) side *= 2;
    *columns = smaller(side, matrix.columns);
    *rows = smaller(length_for(*columns, tile), matrix.rows);
    while (*columns < matrix.columns && *rows <= length_for(*columns + 1, tile)) ++*columns;
}

static cubc_status transpose_plan(const problem *p, const instance *i, plan *out)
{
    enum { IN, OUT, ROWS, COLUMNS, TILE_ROWS, TILE_COLUMNS, ARGS };
    const device_kernel *kernel = &i->kernels[0];
    uint64_t tile = instance_tile(i, kernel);
    const transpose_numbers matrix = transpose_numbers_of(p);
    uint64_t rows = matrix.rows, columns = matrix.columns, tile_rows, tile_columns;
    if (p->n == 0) return CUBC_OK;
    choose_tile(matrix, tile, &tile_rows, &tile_columns);
    uint64_t blocks =
        p->n / rows / columns * ceil_div(rows, tile_rows) * ceil_div(columns, tile_columns);
    if (blocks > INT32_MAX)
        FAIL(CUBC_INVALID_ARGUMENT,
             "transpose of %llu items in matrices of %llu rows and %llu columns needs more than "
             "2^31 blocks",
             (unsigned long long)p->n, (unsigned long long)rows, (unsigned long long)columns);
    out->launch_count = 1;
    out->launches[0] = (launch){.kernel = kernel,
                                .shape.grid = (unsigned)blocks,
                                .args_count = ARGS,
                                .args = {[IN] = (uintptr_t)p->inputs[0].data,
                                         [OUT] = (uintptr_t)p->outputs[0].data,
                                         [ROWS] = rows,
                                         [COLUMNS] = columns,
                                         [TILE_ROWS] = tile_rows,
                                         [TILE_COLUMNS] = tile_columns}};
    return CUBC_OK;
}

static const field transpose_fields[] = {
    FIELD_ARRAY(cubc_transpose_params, in, FIELD_INPUT, type, n),
    FIELD(cubc_transpose_params, rows, FIELD_COUNT),
    FIELD(cubc_transpose_params, columns, FIELD_COUNT),
    FIELD_ARRAY(cubc_transpose_params, out, FIELD_OUTPUT, type, n),
};

static const int columns[] = {3, 4096};
static const cubc_transpose_params apart = {.in = BENCHMARK_ARRAY(0), .out = BENCHMARK_ARRAY(1)};
static const benchmark transpose_benchmarks[] = {
    BENCHMARK_OF("transpose.matrix", .axes[COLUMN_AXIS] = AXIS(columns), .call = &apart)};

const algorithm transpose_algorithm = {.name = "transpose",
                                       .source = "transpose.cu",
                                       .kernels = {"transpose_tiles"},
                                       .cpu_source = "cpu_transpose.cu",
                                       .cpu_kernels = {"transpose_tiles"},
                                       .axes = {"Elements", "Rows", "Columns"},
                                       .benchmarks = transpose_benchmarks,
                                       .benchmark_count = COUNT_OF(transpose_benchmarks),
                                       FIELDS(transpose_fields),
                                       .workload = transpose_workload,
                                       .axis_values = transpose_axis_values,
                                       .define = transpose_define,
                                       .invalid = transpose_invalid,
                                       .plan = transpose_plan,
                                       .traffic = problem_array_bytes};
