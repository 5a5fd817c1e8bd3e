// Descriptor of select: kernels/primitives/select.cu.
#include "base/integer.h"
#include "run/instance.h"
#include "run/problem.h"

#include <string.h>

// Places of the outputs: that of x may be the place of x.
enum { OUT = 0, COUNT = 1, REST = 2, SECOND = 3 };

enum { NO_INPUT = -1 };

// Inputs are found by their names, since any of them may be missing.
static int find_input(const problem *p, const char *name)
{
    for (int k = 0; k < p->input_count; k++)
        if (strcmp(p->inputs[k].name, name) == 0) return k;
    return NO_INPUT;
}

static bool is_unique(const problem *p)
{
    return !p->expression && find_input(p, "mask") == NO_INPUT;
}

static cubc_status add_input(problem *p, const char *name, const char *what, const void *data,
                             uint64_t n, cubc_type type)
{
    TRY(problem_lazy_input(p, what, data, n, type));
    p->inputs[p->input_count - 1].name = name;
    return CUBC_OK;
}

static cubc_status check(const cubc_select_params *params)
{
    if (params->mask && params->predicate)
        FAIL(CUBC_INVALID_ARGUMENT, "select takes a mask or a predicate, not both");
    if (!params->in && !params->mask && !params->predicate && params->n)
        FAIL(CUBC_INVALID_ARGUMENT, "select of indices needs a mask or a predicate");
    if (!params->in && params->type != CUBC_I64)
        FAIL(CUBC_INVALID_TYPE, "indices are I64, not %s", cubc_type_name(params->type));
    if (params->second && (!params->predicate || !params->rest))
        FAIL(CUBC_INVALID_ARGUMENT,
             "a second selection needs a predicate that says for which, and room for the rest");
    if (params->equal && (params->mask || params->predicate))
        FAIL(CUBC_INVALID_ARGUMENT,
             "select takes an equality of consecutive items, a mask or a predicate: one of them");
    if (params->predicate && !*params->predicate)
        FAIL(CUBC_INVALID_ARGUMENT, "the predicate is empty: expected an expression of x and i");
    return CUBC_OK;
}

// Refuses types that have no "is not 0".
static cubc_status check_mask(cubc_type type)
{
    if (type_table[type].kind == KIND_STRUCT)
        FAIL(CUBC_INVALID_TYPE,
             "the mask of select has structs, %.200s, which are neither 0 nor not: select by an "
             "expression of a member, such as \"x.%s > 0\"",
             type_table[type].description, type_table[type].members[0].name);
    return CUBC_OK;
}

cubc_status select_problem(const cubc_select_params *params, problem *out)
{
    const char *name = params->mask        ? "flagged"
                       : params->second    ? "three_way"
                       : params->predicate ? "if"
                                           : "unique";
    cubc_type type = problem_input_type(params->in, params->type);
    *out = (problem){.algorithm = &select_algorithm,
                     .n = params->n,
                     .type = (uint8_t)type,
                     .acc_type = (uint8_t)type,
                     .expression = params->predicate,
                     .wide = params->second && params->n > UINT32_MAX,
                     .aligned = true};
    problem_set_benchmark(out, "select.", name);
    TRY(check(params));
    TRY(problem_take_equal(out, params->equal));
    if (params->in)
        TRY(add_input(out, "x", "the input of select", params->in, params->n, params->type));
    if (params->mask)
        TRY(add_input(out, "mask", "the mask of select", params->mask, params->n,
                      params->mask_type));
    if (params->mask) TRY(check_mask(problem_input_type(params->mask, params->mask_type)));
    TRY(problem_output(out, "the output of select", params->out, params->n, type));
    TRY(problem_output(out, "the count of select", params->count, params->second ? 2 : 1,
                       CUBC_I64));
    if (params->rest) TRY(problem_output(out, "the rest of select", params->rest, params->n, type));
    if (params->second)
        TRY(problem_output(out, "the second output of select", params->second, params->n, type));
    TRY(problem_check_overlap(out, INPUT_OF_SAME_NUMBER));
    // A tile looks at the item before it, which the tile before may have written by then.
    if (out->in_place && out->lazy_count && is_unique(out))
        FAIL(CUBC_INVALID_ARGUMENT, "the output of select is an operand of its lazy input: without "
                                    "a mask or a predicate they must be apart");
    return CUBC_OK;
}

// Half of the items are selected; of unique every eighth on average.
static const char *predicate_of(cubc_type type, bool three_way)
{
    type_kind kind = type_table[type].kind;
    if (three_way)
        return kind == KIND_FLOAT ? "x < 0 ? 1 : x > 2 ? 2 : 0" : "static_cast<u32>(x) & 3";
    return kind == KIND_UNSIGNED ? "x & 1" : "x < 0";
}

static cubc_status select_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                   problem *out)
{
    cubc_select_params call = *(const cubc_select_params *)b->call;
    call.n = at[0];
    call.type = type;
    if (call.predicate) call.predicate = predicate_of(type, call.second);
    return select_problem(&call, out);
}

static const char *select_random(const problem *p, int k)
{
    if (strcmp(p->inputs[k].name, "mask") == 0) return "random_u64(seed, i) >> 63";
    return is_unique(p) ? "random_u64(seed, i >> 3) >> 57" : NULL;
}

static void select_define(const problem *p, text *out)
{
    int x = find_input(p, "x"), mask = find_input(p, "mask");
    text_printf(out, "#define TUNE_T %s\n#define TUNE_ALIGNED %d\n", type_table[p->type].dialect,
                p->aligned);
    text_printf(out, "#define TUNE_INDICES %d\n#define TUNE_REST %d\n", x == NO_INPUT,
                p->output_count > REST);
    text_printf(out, "#define TUNE_CLASSES %d\n#define TUNE_COUNT %s\n",
                1 + (p->output_count > SECOND), p->wide ? "u64" : "u32");
    if (mask != NO_INPUT)
        text_printf(out, "#define TUNE_M %s\n", type_table[p->inputs[mask].type].dialect);
    problem_define_input(p, x, "TUNE_IN", out);
    problem_define_input(p, mask, "TUNE_MASK", out);
    if (p->expression) problem_define_expression(out, "TUNE_PREDICATE", p->expression);
    problem_define_equal(p, out);
    text_printf(out, "#define TUNE_IN_PLACE %d\n", p->in_place);
    problem_define_plain_loads(p, out);
}

static const char *select_invalid(const problem *p, const char *kind, const space *s,
                                  const variant *v)
{
    const int size = (int)cubc_type_size((cubc_type)p->type);
    const int items = variant_value(s, v, "ipt", 1) * variant_value(s, v, "tpb", 1);
    if (!device_is_cpu(kind) && items * size > 96 * 1024)
        return "the items of a block do not fit its shared memory";
    return problem_invalid(p, kind, s, v, size);
}

static cubc_status select_plan(const problem *p, const instance *i, plan *out)
{
    enum { IN, MASK, OUT_ARG, REST_ARG, COUNT_ARG, N, MESSAGES, SECOND_ARG, ARGS };
    const device_kernel *kernel = &i->kernels[0];
    uint64_t tile = instance_tile(i, kernel);
    uint64_t tiles = p->n ? ceil_div(p->n, tile) : 1; // the count is written in any case
    TRY(problem_check_blocks(p, tiles));
    out->message_bytes = 8 * (1 + ((2 * tiles) << p->wide));
    out->launch_count = 1;
    out->launches[0] =
        (launch){.kernel = kernel,
                 .shape = {.grid = (unsigned)tiles, .cluster = problem_cluster(i, tiles)},
                 .message_args = 1u << MESSAGES,
                 .args_count = ARGS,
                 .args = {[OUT_ARG] = (uintptr_t)p->outputs[OUT].data,
                          [REST_ARG] = (uintptr_t)p->outputs[REST].data,
                          [COUNT_ARG] = (uintptr_t)p->outputs[COUNT].data,
                          [N] = p->n,
                          [SECOND_ARG] = (uintptr_t)p->outputs[SECOND].data}};
    TRY(problem_place_input(p, find_input(p, "mask"), &out->launches[0], MASK));
    return problem_place_input(p, find_input(p, "x"), &out->launches[0], IN);
}

// The number of selected items is known for the benchmarks only.
static double select_traffic(const problem *p)
{
    double read = 0, written = (double)p->n * (double)cubc_type_size((cubc_type)p->type);
    for (int k = 0; k < p->input_count; k++) read += problem_input_bytes(p, k);
    if (p->output_count > REST) return read + written;
    return read + (is_unique(p) ? written / 8 : written / 2);
}

static const field select_fields[] = {
    FIELD_ARRAY(cubc_select_params, in, FIELD_LAZY, type, n),
    FIELD_ARRAY(cubc_select_params, mask, FIELD_LAZY, mask_type, n),
    FIELD(cubc_select_params, predicate, FIELD_TEXT),
    FIELD(cubc_select_params, equal, FIELD_TEXT),
    FIELD(cubc_select_params, type, FIELD_TYPE),
    FIELD_ARRAY(cubc_select_params, out, FIELD_OUTPUT, type, n),
    FIELD_ARRAY(cubc_select_params, rest, FIELD_OUTPUT, type, n),
    FIELD_ARRAY(cubc_select_params, second, FIELD_OUTPUT, type, n),
    FIELD(cubc_select_params, count, FIELD_OUTPUT),
};

#define CALL(...)                                                                         \
    .call = &(const cubc_select_params)                                                   \
    {                                                                                     \
        .in = BENCHMARK_ARRAY(0), .out = BENCHMARK_ARRAY(1), .count = BENCHMARK_ARRAY(2), \
        __VA_ARGS__                                                                       \
    }
static const char by_type[] = "by type"; // in place of a predicate
static const benchmark select_benchmarks[] = {
    BENCHMARK_OF("select.if", CALL(.predicate = by_type)),
    BENCHMARK_OF("select.flagged", CALL(.mask = BENCHMARK_ARRAY(3), .mask_type = CUBC_U8)),
    BENCHMARK_OF("select.unique", CALL(.mask = NULL)),
    BENCHMARK_OF("select.three_way", CALL(.predicate = by_type, .rest = BENCHMARK_ARRAY(3),
                                          .second = BENCHMARK_ARRAY(4)))};

const algorithm select_algorithm = {.name = "select",
                                    .keys = 1,
                                    .keyed = "select.unique",
                                    .source = "select.cu",
                                    .kernels = {"select_tiles"},
                                    .benchmarks = select_benchmarks,
                                    .benchmark_count = COUNT_OF(select_benchmarks),
                                    FIELDS(select_fields),
                                    .workload = select_workload,
                                    .define = select_define,
                                    .invalid = select_invalid,
                                    .plan = select_plan,
                                    .traffic = select_traffic,
                                    .random = select_random};
