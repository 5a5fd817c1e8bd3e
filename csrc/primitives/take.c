// Descriptor of take: kernels/primitives/take.cu.
#include "base/integer.h"
#include "primitives/indexed.h"
#include "run/instance.h"
#include "run/problem.h"

#include <string.h>

typedef struct take_traits {
    int flat;  // an input of one row of single items
    int along; // an index for each item of the output
} take_traits;

PROBLEM_TRAITS(take_traits);

enum { ITEMS = 0, INDICES = 1 }; // places of the inputs

cubc_status take_problem(const cubc_take_params *params, problem *out)
{
    const indexed_call call = INDEXED_CALL("take", params);
    indexed_numbers numbers;
    cubc_type index;
    if (!type_valid(params->type))
        FAIL(CUBC_INVALID_TYPE, "unknown type (%d) of the items of take", (int)params->type);
    const cubc_type type = indexed_moved_as(params->type);
    TRY(indexed_type("take", params->indices, params->index_type, &index));
    *out = (problem){.algorithm = &take_algorithm,
                     .n = params->total,
                     .type = (uint8_t)type,
                     .acc_type = (uint8_t)index};
    TRY(indexed_shape(&call, &numbers));
    TRY(problem_input(out, "the items of take", params->in, params->n, type));
    TRY(problem_lazy_input(out, "the indices of take", params->indices, params->index_count,
                           params->index_type));
    TRY(problem_output(out, "the output of take", params->out, params->total, type));
    indexed_numbers_set(out, numbers);
    const int flat = indexed_is_flat(&call);
    take_traits_set(out, (take_traits){flat, params->along && !flat});
    strcpy(out->benchmark, flat ? "take.items" : "take.rows");
    TRY(problem_check_overlap(out, ANY_INPUT));
    if (out->in_place)
        FAIL(CUBC_INVALID_ARGUMENT, "take: the output must be apart from the inputs");
    out->aligned = true; // nothing is read in vectors
    return CUBC_OK;
}

// Takes as many items as there are indices, in rows of eight in the second benchmark.
static cubc_status take_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                 problem *out)
{
    cubc_take_params call = *(const cubc_take_params *)b->call;
    call.type = type;
    call.n = call.total = at[0] - at[0] % call.columns;
    call.length = call.index_count = call.n / call.columns;
    return take_problem(&call, out);
}

static void take_define(const problem *p, text *out)
{
    const take_traits traits = take_traits_of(p);
    text_printf(out, "#define TUNE_T %s\n#define TUNE_INDEX %s\n", type_table[p->type].dialect,
                type_table[p->acc_type].dialect);
    text_printf(out, "#define TUNE_FLAT %d\n#define TUNE_ALONG %d\n#define TUNE_ALIGNED 1\n",
                traits.flat, traits.along);
    problem_define_input(p, INDICES, "TUNE_IN", out);
}

static const char *take_invalid(const problem *p, const char *kind, const space *s,
                                const variant *v)
{
    return problem_invalid(p, kind, s, v, (int)cubc_type_size((cubc_type)p->type));
}

static cubc_status take_plan(const problem *p, const instance *i, plan *out)
{
    enum { IN, INDICES_ARG, OUT, N, LENGTH, COLUMNS, COUNT, MODE, ARGS };
    const indexed_numbers numbers = indexed_numbers_of(p);
    launch *l = &out->launches[0];
    TRY(plan_tiles(p, i, out));
    l->args_count = ARGS;
    l->args[IN] = (uintptr_t)p->inputs[ITEMS].data;
    l->args[INDICES_ARG] = (uintptr_t)p->inputs[INDICES].data;
    l->args[OUT] = (uintptr_t)p->outputs[0].data;
    l->args[N] = p->n;
    l->args[LENGTH] = numbers.length;
    l->args[COLUMNS] = numbers.columns;
    l->args[COUNT] = numbers.count;
    l->args[MODE] = numbers.mode;
    return p->n ? problem_place_input(p, INDICES, l, INDICES_ARG) : CUBC_OK;
}

static const field take_fields[] = {
    FIELD_ARRAY(cubc_take_params, in, FIELD_INPUT, type, n),
    FIELD_ARRAY(cubc_take_params, indices, FIELD_LAZY, index_type, index_count),
    FIELD(cubc_take_params, length, FIELD_COUNT),
    FIELD(cubc_take_params, columns, FIELD_COUNT),
    FIELD(cubc_take_params, along, FIELD_INT),
    FIELD(cubc_take_params, mode, FIELD_INT),
    FIELD_ARRAY(cubc_take_params, out, FIELD_OUTPUT, type, total),
};

#define CALL(items)                 \
    {.in = BENCHMARK_ARRAY(0),      \
     .indices = BENCHMARK_ARRAY(1), \
     .out = BENCHMARK_ARRAY(2),     \
     .index_type = CUBC_I64,        \
     .columns = items,              \
     .mode = 1}
static const cubc_take_params single = CALL(1), rows = CALL(8);
// Only the size of an item matters.
static const cubc_type types_by_size[] = {CUBC_U8, CUBC_U16, CUBC_U32, CUBC_U64};
#define BENCHMARK(benchmark_name, params)   \
    {.name = benchmark_name,                \
     .types = types_by_size,                \
     .type_count = COUNT_OF(types_by_size), \
     .axes = {AXIS(problem_elements)},      \
     .call = params}
static const benchmark take_benchmarks[] = {BENCHMARK("take.items", &single),
                                            BENCHMARK("take.rows", &rows)};

const algorithm take_algorithm = {.name = "take",
                                  .source = "take.cu",
                                  .kernels = {"take_items"},
                                  .benchmarks = take_benchmarks,
                                  .benchmark_count = COUNT_OF(take_benchmarks),
                                  FIELDS(take_fields),
                                  .workload = take_workload,
                                  .define = take_define,
                                  .invalid = take_invalid,
                                  .plan = take_plan,
                                  .traffic = problem_array_bytes};
