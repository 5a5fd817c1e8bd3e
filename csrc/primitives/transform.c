// Descriptor of transform: kernels/primitives/transform.cu.
#include "base/integer.h"
#include "run/instance.h"
#include "run/problem.h"

#include <string.h>

// Benchmarks stand for a number of input arrays, under the names of BabelStream's kernels.
static const char *const names_by_arrays[] = {"transform.fill", "transform.mul", "transform.triad",
                                              "transform.nstream"};

// Members of the results have arrays of their own.
static bool is_split(const problem *p)
{
    return !p->checked && p->outputs[0].type != p->inputs[0].type;
}

static cubc_status check_parts(const cubc_transform_params *params)
{
    const type_info *type = &type_table[params->out_type];
    if (params->out)
        FAIL(CUBC_INVALID_ARGUMENT, "transform writes to out or to parts: leave one of them NULL");
    if (!type_valid(params->out_type) || type->kind != KIND_STRUCT)
        FAIL(CUBC_INVALID_TYPE, "parts are for the members of a struct: out_type has to be one");
    if (type->member_count > MAX_OUTPUTS)
        FAIL(CUBC_INVALID_TYPE, "transform has at most %d parts, and the struct %d members",
             MAX_OUTPUTS, type->member_count);
    for (int k = 0; k < type->member_count; k++)
        if (type->members[k].length)
            FAIL(CUBC_INVALID_TYPE,
                 "the member '%s' is an array, and parts have one value of each item: take members "
                 "of one value",
                 type->members[k].name);
    return CUBC_OK;
}

// Policies go by the largest part.
static cubc_status add_outputs(const cubc_transform_params *params, problem *p)
{
    if (!params->parts)
        return problem_output(p, "the output of transform", params->out, params->n,
                              params->out_type);
    TRY(check_parts(params));
    const type_info *type = &type_table[params->out_type];
    p->type = (uint8_t)type->members[0].type;
    for (int k = 0; k < type->member_count; k++) {
        cubc_type member = type->members[k].type;
        TRY(problem_output(p, "an output of transform", params->parts[k], params->n, member));
        if (cubc_type_size(member) > cubc_type_size((cubc_type)p->type)) p->type = (uint8_t)member;
    }
    return CUBC_OK;
}

cubc_status transform_problem(const cubc_transform_params *params, problem *out)
{
    cubc_lazy lazy = {.expression = params->expression,
                      .type = params->out_type,
                      .operands = params->operands,
                      .operand_count = params->operand_count,
                      .ndim = params->ndim,
                      .shape = params->shape};
    int arrays = 0, tables = 0;
    *out = (problem){.algorithm = &transform_algorithm,
                     .n = params->n,
                     .type = (uint8_t)params->out_type,
                     .acc_type = (uint8_t)params->out_type,
                     .aligned = true};
    TRY(add_outputs(params, out));
    TRY(problem_lazy_input(out, "transform", &lazy, params->n, CUBC_LAZY));
    TRY(problem_check_overlap(out, ANY_INPUT));
    for (int k = 0; k < out->operand_count; k++) {
        arrays += !out->operands[k].scalar;
        tables += out->operands[k].table;
    }
    problem_set_benchmark(out, "",
                          is_split(out)           ? "transform.split"
                          : out->lazy[0].rank > 1 ? "transform.broadcast"
                          : tables                ? "transform.table"
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

static cubc_status pair_of(cubc_type type, cubc_type *out)
{
    size_t size = cubc_type_size(type);
    const cubc_member members[] = {{.name = "sum", .type = type},
                                   {.name = "difference", .type = type, .offset = size}};
    return cubc_type_struct(members, COUNT_OF(members), 2 * size, out);
}

// A table has a shape. Of several dimensions y is a row of the matrix x, and z a column.
static cubc_status transform_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                      problem *out)
{
    cubc_transform_params call = *(const cubc_transform_params *)b->call;
    cubc_operand arrays[] = {{.name = "x", .data = BENCHMARK_ARRAY(1), .type = type},
                             {.name = "y", .data = BENCHMARK_ARRAY(2), .type = type},
                             {.name = "z", .data = BENCHMARK_ARRAY(3), .type = type}};
    const matrix shapes = matrix_of(at[0]);
    const ptrdiff_t items = (ptrdiff_t)at[0];
    void *const parts[] = {BENCHMARK_ARRAY(0), BENCHMARK_ARRAY(3)};
    if (strcmp(b->name, "transform.split") == 0) {
        call.parts = parts;
        TRY(pair_of(type, &call.out_type));
    } else {
        call.out = BENCHMARK_ARRAY(0);
        call.out_type = type;
    }
    call.n = at[0];
    call.operands = arrays;
    if (strcmp(b->name, "transform.table") == 0) {
        arrays[0].ndim = 1;
        arrays[0].shape = &items;
    }
    if (call.ndim) {
        call.n = (uint64_t)(shapes.whole[0] * shapes.whole[1]);
        call.shape = shapes.whole;
        arrays[1].ndim = arrays[2].ndim = call.ndim;
        arrays[1].shape = shapes.row;
        arrays[2].shape = shapes.column;
    }
    return transform_problem(&call, out);
}

static void define_parts(const problem *p, text *out)
{
    const type_info *type = &type_table[p->inputs[0].type];
    text_puts(out, "#define TUNE_PARTS(TUNE_X)");
    for (int k = 0; k < p->output_count; k++)
        text_printf(out, " TUNE_X(%s, %s)", type_table[p->outputs[k].type].dialect,
                    type->members[k].name);
    text_puts(out, "\n");
}

static void transform_define(const problem *p, text *out)
{
    text_printf(out, "#define TUNE_O %s\n#define TUNE_ALIGNED %d\n",
                type_table[p->inputs[0].type].dialect, p->aligned);
    if (is_split(p)) define_parts(p, out);
    if (p->checked) text_puts(out, "#define TUNE_CHECKED 1\n");
    problem_define_input(p, 0, "TUNE_IN", out);
    problem_define_plain_loads(p, out);
}

static const char *transform_invalid(const problem *p, const char *kind, const space *s,
                                     const variant *v)
{
    int bytes = is_split(p) ? (int)operand_item_bytes(&p->inputs[0]) : 0;
    for (int k = 0; k < p->operand_count; k++)
        if (!p->operands[k].scalar) bytes += (int)operand_item_bytes(&p->operands[k]);
    return problem_invalid(p, kind, s, v, bytes);
}

static cubc_status transform_plan(const problem *p, const instance *i, plan *out)
{
    launch *l = &out->launches[0];
    TRY(plan_tiles(p, i, out));
    for (int k = 0; k < p->output_count; k++) launch_add(l, (uintptr_t)p->outputs[k].data);
    launch_add(l, p->n);
    return problem_place_input(p, 0, l, (int)l->args_count++);
}

#define BENCHMARK(name, text, arrays, axes)              \
    BENCHMARK_OF("transform." name,                      \
                 .call = &(const cubc_transform_params){ \
                     .expression = text, .operand_count = arrays, .ndim = axes})
static const benchmark transform_benchmarks[] = {BENCHMARK("fill", "3", 0, 0),
                                                 BENCHMARK("mul", "3 * x", 1, 0),
                                                 BENCHMARK("triad", "x + 3 * y", 2, 0),
                                                 BENCHMARK("nstream", "x + y + 3 * z", 3, 0),
                                                 BENCHMARK("broadcast", "x * z + y", 3, 2),
                                                 BENCHMARK("table", "x[i - 1] - x[i]", 1, 0),
                                                 BENCHMARK("split", "out_t{x + y, x - y}", 2, 0)};

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
