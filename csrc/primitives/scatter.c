// Descriptor of scatter: kernels/primitives/scatter.cu.
#include "base/integer.h"
#include "primitives/indexed.h"
#include "run/instance.h"
#include "run/problem.h"

#include <string.h>

typedef enum update { REPLACE, COMBINE, ATOMIC, ATOMIC_SUM } update; // TUNE_UPDATE

typedef struct scatter_traits {
    int flat;  // an output of one row of single items
    int along; // an index for each value
    update update;
} scatter_traits;

PROBLEM_TRAITS(scatter_traits);

enum { ITEMS, INDICES, VALUES }; // places of the inputs

static cubc_status check_types(const cubc_scatter_params *params)
{
    cubc_type value = problem_input_type(params->values, params->value_type);
    cubc_type index;
    if (!type_valid(params->type) || !type_valid(value))
        FAIL(CUBC_INVALID_TYPE, "unknown type of the items or values of scatter");
    if (value != params->type)
        FAIL(CUBC_INVALID_TYPE,
             "the values of scatter are %s and the items %s: give values of "
             "their type",
             type_table[value].name, type_table[params->type].name);
    return indexed_type("scatter", params->indices, params->index_type, &index);
}

// The ways that values are combined with the items at their places.
static cubc_status choose_update(const cubc_scatter_params *params, const problem *p, update *out)
{
    type_kind kind = type_table[p->type].kind;
    bool sum = p->op && strcmp(p->op->name, "sum") == 0;
    *out = !params->op ? REPLACE : params->distinct ? COMBINE : ATOMIC;
    if (*out != ATOMIC) return CUBC_OK;
    bool added = cubc_type_size((cubc_type)p->type) >= 4 && kind != KIND_STRUCT;
    if (sum && added) *out = ATOMIC_SUM;
    if (*out == ATOMIC && kind >= KIND_COMPLEX)
        FAIL(CUBC_INVALID_TYPE,
             "scatter has no atomic operation for %s: of complex numbers there is the sum; "
             "otherwise no two indices may be the same (distinct)",
             cubc_type_name((cubc_type)p->type));
    return CUBC_OK;
}

static cubc_status add_operator(const cubc_scatter_params *params, problem *p)
{
    if (!params->op) {
        p->expression = "b";
        return CUBC_OK;
    }
    TRY(problem_operator(p, "scatter", params->op, NULL));
    if (p->op && p->op->arg)
        FAIL(CUBC_INVALID_ARGUMENT, "scatter does not take %s; use min or max", params->op);
    return CUBC_OK;
}

cubc_status scatter_problem(const cubc_scatter_params *params, problem *out)
{
    const indexed_call call = INDEXED_CALL("scatter", params);
    indexed_numbers numbers;
    update how;
    TRY(check_types(params));
    TRY(indexed_shape(&call, &numbers));
    bool moved = !params->op && params->value_type != CUBC_LAZY;
    cubc_type type = moved ? indexed_moved_as(params->type) : params->type;
    cubc_type values = params->value_type == CUBC_LAZY ? CUBC_LAZY : type;
    *out = (problem){.algorithm = &scatter_algorithm,
                     .n = params->n,
                     .type = (uint8_t)type,
                     .acc_type = (uint8_t)type_arithmetic(type)};
    TRY(problem_input(out, "the items of scatter", params->in, params->n, type));
    TRY(problem_lazy_input(out, "the indices of scatter", params->indices, params->index_count,
                           params->index_type));
    TRY(problem_lazy_input(out, "the values of scatter", params->values, params->total, values));
    TRY(problem_output(out, "the output of scatter", params->out, params->n, type));
    TRY(add_operator(params, out));
    TRY(choose_update(params, out, &how));
    indexed_numbers_set(out, numbers);
    const int flat = indexed_is_flat(&call);
    scatter_traits_set(out, (scatter_traits){flat, params->along && !flat, how});
    problem_set_benchmark(out, "scatter.", params->op ? "sum" : "set");
    TRY(problem_check_overlap(out, INPUT_OF_SAME_NUMBER));
    if (out->in_place && out->outputs[0].data != out->inputs[ITEMS].data)
        FAIL(CUBC_INVALID_ARGUMENT,
             "scatter: the output is the array of the items, or apart from all inputs");
    out->aligned = true; // nothing is read in vectors
    return CUBC_OK;
}

// Scatters as many values as there are items. Those of one place are alike, and their sums are
// exact in all types.
static cubc_status scatter_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                    problem *out)
{
    cubc_scatter_params call = *(const cubc_scatter_params *)b->call;
    call.type = call.value_type = type;
    call.n = call.total = call.index_count = call.length = at[0];
    return scatter_problem(&call, out);
}

static const char *scatter_random(const problem *p, int k)
{
    // Indices and values have seeds of their own, and yet have to go together.
    if (k == INDICES) return "(void(seed), random_u64(1, i) % Elements)";
    if (p->op) return "random_u64(seed, i) & 7";
    return k == VALUES ? "(void(seed), random_u64(2, random_u64(1, i) % Elements))" : NULL;
}

static void scatter_define(const problem *p, text *out)
{
    const scatter_traits traits = scatter_traits_of(p);
    problem_define(p, out);
    text_printf(out, "#define TUNE_INDEX %s\n#define TUNE_FLAT %d\n#define TUNE_ALONG %d\n",
                type_table[p->inputs[INDICES].type].dialect, traits.flat, traits.along);
    text_printf(out, "#define TUNE_UPDATE %d\n", (int)traits.update);
    problem_define_input(p, INDICES, "TUNE_IN", out);
    problem_define_input(p, VALUES, "TUNE_VALUES", out);
}

static const char *scatter_invalid(const problem *p, const char *kind, const space *s,
                                   const variant *v)
{
    return problem_invalid(p, kind, s, v, 8 + (int)cubc_type_size((cubc_type)p->type));
}

static cubc_status scatter_plan(const problem *p, const instance *i, plan *out)
{
    enum { COPY, SCATTER };
    enum { COPY_IN, COPY_OUT, COPY_N, COPY_ARGS };
    enum { INDICES_ARG, VALUES_ARG, OUT, N, LENGTH, COLUMNS, COUNT, MODE, ARGS };
    const device_kernel *copy = &i->kernels[COPY], *scatter = &i->kernels[SCATTER];
    const indexed_numbers numbers = indexed_numbers_of(p);
    uint64_t items = instance_value(i, "ipt", 1);
    uint64_t copies = ceil_div(p->n, items * copy->threads);
    uint64_t tiles = p->n ? ceil_div(numbers.total, items * scatter->threads) : 0;
    TRY(problem_check_blocks(p, copies));
    TRY(problem_check_blocks(p, tiles));
    const void *in = p->inputs[ITEMS].data, *result = p->outputs[0].data;
    if (copies && in != result)
        out->launches[out->launch_count++] = (launch){
            .kernel = copy,
            .shape.grid = (unsigned)copies,
            .args_count = COPY_ARGS,
            .args = {[COPY_IN] = (uintptr_t)in, [COPY_OUT] = (uintptr_t)result, [COPY_N] = p->n}};
    if (!tiles) return CUBC_OK;
    launch *last = &out->launches[out->launch_count++];
    *last = (launch){.kernel = scatter,
                     .shape.grid = (unsigned)tiles,
                     .args_count = ARGS,
                     .args = {[INDICES_ARG] = (uintptr_t)p->inputs[INDICES].data,
                              [VALUES_ARG] = (uintptr_t)p->inputs[VALUES].data,
                              [OUT] = (uintptr_t)result,
                              [N] = numbers.total,
                              [LENGTH] = numbers.length,
                              [COLUMNS] = numbers.columns,
                              [COUNT] = numbers.count,
                              [MODE] = numbers.mode}};
    TRY(problem_place_input(p, VALUES, last, VALUES_ARG));
    return problem_place_input(p, INDICES, last, INDICES_ARG);
}

static const field scatter_fields[] = {
    FIELD_ARRAY(cubc_scatter_params, in, FIELD_INPUT, type, n),
    FIELD_ARRAY(cubc_scatter_params, indices, FIELD_LAZY, index_type, index_count),
    FIELD_ARRAY(cubc_scatter_params, values, FIELD_LAZY, value_type, total),
    FIELD(cubc_scatter_params, length, FIELD_COUNT),
    FIELD(cubc_scatter_params, columns, FIELD_COUNT),
    FIELD(cubc_scatter_params, op, FIELD_TEXT),
    FIELD(cubc_scatter_params, along, FIELD_INT),
    FIELD(cubc_scatter_params, distinct, FIELD_INT),
    FIELD(cubc_scatter_params, mode, FIELD_INT),
    FIELD_ARRAY(cubc_scatter_params, out, FIELD_OUTPUT, type, n),
};

#define CALL(name)                  \
    {.in = BENCHMARK_ARRAY(0),      \
     .indices = BENCHMARK_ARRAY(1), \
     .values = BENCHMARK_ARRAY(2),  \
     .out = BENCHMARK_ARRAY(3),     \
     .index_type = CUBC_I64,        \
     .columns = 1,                  \
     .op = name}
static const cubc_scatter_params set = CALL(NULL), sum = CALL("sum");
// Only the size of an item that moves matters.
static const cubc_type types_by_size[] = {CUBC_U8, CUBC_U16, CUBC_U32, CUBC_U64};
static const benchmark scatter_benchmarks[] = {{.name = "scatter.set",
                                                .types = types_by_size,
                                                .type_count = COUNT_OF(types_by_size),
                                                .axes = {AXIS(problem_elements)},
                                                .call = &set},
                                               BENCHMARK_OF("scatter.sum", .call = &sum)};

const algorithm scatter_algorithm = {.name = "scatter",
                                     .source = "scatter.cu",
                                     .kernels = {"scatter_copy", "scatter_values"},
                                     .benchmarks = scatter_benchmarks,
                                     .benchmark_count = COUNT_OF(scatter_benchmarks),
                                     FIELDS(scatter_fields),
                                     .workload = scatter_workload,
                                     .define = scatter_define,
                                     .invalid = scatter_invalid,
                                     .plan = scatter_plan,
                                     .traffic = problem_array_bytes,
                                     .random = scatter_random};
