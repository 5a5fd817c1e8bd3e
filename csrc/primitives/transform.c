// Descriptor of transform: kernels/primitives/transform.cu.
#include "base/integer.h"
#include "run/problem.h"

#include <string.h>

// Benchmarks stand for a number of input arrays, under the names of BabelStream's kernels.
static const char *const names_by_arrays[] = {"transform.fill", "transform.mul", "transform.triad",
                                              "transform.nstream"};

cubc_status transform_problem(const cubc_transform_params *params, problem *out)
{
    cubc_lazy lazy = {.expression = params->expression,
                      .type = params->out_type,
                      .operands = params->operands,
                      .operand_count = params->operand_count,
                      .ndim = params->ndim,
                      .shape = params->shape};
    int arrays = 0;
    *out = (problem){.algorithm = &transform_algorithm,
                     .n = params->n,
                     .type = (uint8_t)params->out_type,
                     .acc_type = (uint8_t)params->out_type,
                     .aligned = true};
    TRY(problem_output(out, "the output of transform", params->out, params->n, params->out_type));
    TRY(problem_lazy_input(out, "transform", &lazy, params->n, CUBC_LAZY));
    TRY(problem_overlap(out, ANY_INPUT));
    for (int k = 0; k < out->operand_count; k++) arrays += !out->operands[k].scalar;
    problem_set_benchmark(out, "",
                          out->lazy[0].rank > 1 ? "transform.broadcast"
                                                : names_by_arrays[arrays < 3 ? arrays : 3]);
    return CUBC_OK;
}

typedef struct matrix { // shapes
    ptrdiff_t whole[2], row[2], column[2];
} matrix;

// Two rows at least: the code is the same for all sizes then.
static matrix matrix_of(uint64_t n)
{
    uint64_t width = n < 1 << 14 ? 16 : 1024;
    const ptrdiff_t columns = (ptrdiff_t)width, rows = (ptrdiff_t)larger(ceil_div(n, width), 2);
    return (matrix){.whole = {rows, columns}, .row = {1, columns}, .column = {rows, 1}};
}

// Shapes of several dimensions: y is a row of the matrix x, and z a column.
static cubc_status transform_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                      problem *out)
{
    cubc_transform_params call = *(const cubc_transform_params *)b->call;
    cubc_operand arrays[] = {{.name = "x", .data = BENCHMARK_ARRAY(1), .type = type},
                             {.name = "y", .data = BENCHMARK_ARRAY(2), .type = type},
                             {.name = "z", .data = BENCHMARK_ARRAY(3), .type = type}};
    const matrix shapes = matrix_of(at[0]);
    call.out = BENCHMARK_ARRAY(0);
    call.out_type = type;
    call.n = at[0];
    call.operands = arrays;
    if (call.ndim) {
        call.n = (uint64_t)(shapes.whole[0] * shapes.whole[1]);
        call.shape = shapes.whole;
        arrays[1].ndim = arrays[2].ndim = call.ndim;
        arrays[1].shape = shapes.row;
        arrays[2].shape = shapes.column;
    }
    return transform_problem(&call, out);
}

static void transform_define(const problem *p, text *out)
{
    text_printf(out, "#define TUNE_O %s\n#define TUNE_ALIGNED %d\n",
                type_table[p->outputs[0].type].dialect, p->aligned);
    problem_define_input(p, 0, "TUNE_IN", out);
    problem_define_plain_loads(p, out);
}

static const char *transform_invalid(const problem *p, const char *kind, const space *s,
                                     const variant *v)
{
    int bytes = 0;
    for (int k = 0; k < p->operand_count; k++)
        if (!p->operands[k].scalar) bytes += (int)operand_item_bytes(&p->operands[k]);
    return problem_invalid(p, kind, s, v, bytes);
}

static cubc_status transform_plan(const problem *p, const instance *i, plan *out)
{
    const device_kernel *kernel = &i->kernels[0];
    uint64_t tile = (uint64_t)variant_value(&i->space, &i->variant, "ipt", 1) * kernel->threads;
    uint64_t tiles = ceil_div(p->n, tile);
    TRY(problem_blocks(p, tiles));
    out->launch_count = tiles > 0;
    out->launches[0] = (launch){.kernel = kernel,
                                .shape.grid = (unsigned)tiles,
                                .args_count = 3,
                                .args = {(uintptr_t)p->outputs[0].data, p->n}};
    return problem_place_input(p, 0, &out->launches[0], 2);
}

#define BENCHMARK(name, text, arrays, axes)              \
    BENCHMARK_OF("transform." name,                      \
                 .call = &(const cubc_transform_params){ \
                     .expression = text, .operand_count = arrays, .ndim = axes})
static const benchmark transform_benchmarks[] = {
    BENCHMARK("fill", "3", 0, 0), BENCHMARK("mul", "3 * x", 1, 0),
    BENCHMARK("triad", "x + 3 * y", 2, 0), BENCHMARK("nstream", "x + y + 3 * z", 3, 0),
    BENCHMARK("broadcast", "x * z + y", 3, 2)};

const algorithm transform_algorithm = {.name = "transform",
                                       .source = "transform.cu",
                                       .kernels = {"transform_tiles"},
                                       .benchmarks = transform_benchmarks,
                                       .benchmark_count = COUNT_OF(transform_benchmarks),
                                       .workload = transform_workload,
                                       .define = transform_define,
                                       .invalid = transform_invalid,
                                       .plan = transform_plan,
                                       .traffic = problem_array_bytes};
