// Descriptor of runs: kernels/primitives/runs.cu.
#include "primitives/runs.h"
#include "primitives/routes.h"

enum { KEYS = RUNS_KEYS, VALUES = RUNS_VALUES };
enum { HEADS = RUNS_HEADS, RESULTS = RUNS_RESULTS, TOTAL = RUNS_COUNT };

typedef enum mode { SUMS, LENGTHS, LONG_RUNS, FIRST_VALUES } mode; // TUNE_RUNS

static const char offsets_name[] = "offsets"; // of the output that only LONG_RUNS has

static mode mode_of(const problem *p)
{
    if (p->op || p->expression) return SUMS;
    if (p->input_count > VALUES) return FIRST_VALUES;
    return p->outputs[HEADS].name ? LONG_RUNS : LENGTHS;
}

static const char *benchmark_of(const problem *p)
{
    static const char *const names[] = {"runs.reduce", "runs.encode", "runs.nontrivial",
                                        "runs.unique"};
    return names[mode_of(p)];
}

// Policies go by the larger of key and value.
static void choose_type(problem *p)
{
    const operand *keys = &p->inputs[KEYS], *values = &p->inputs[VALUES];
    bool larger = p->input_count > VALUES && operand_item_bytes(values) > operand_item_bytes(keys);
    p->type = larger ? values->type : keys->type;
}

// ---- problems -----------------------------------------------------------------------------------
static cubc_status add_reduction(const cubc_runs_params *params, problem *p)
{
    TRY(problem_lazy_input(p, "the values of runs", params->values, params->n, params->value_type));
    TRY(problem_output(p, "the output of runs", params->out, params->n, params->out_type));
    if (!type_valid(params->acc_type))
        FAIL(CUBC_INVALID_TYPE, "acc_type is %d: expected a cubc_type such as CUBC_F32",
             (int)params->acc_type);
    p->type = p->inputs[VALUES].type; // for now: of what is reduced
    TRY(problem_operator(p, "a reduction by key", params->op, NULL));
    if (p->op && p->op->arg)
        FAIL(CUBC_INVALID_ARGUMENT, "a reduction by key does not take %s; use min or max",
             params->op);
    return CUBC_OK;
}

static cubc_status add_first_values(const cubc_runs_params *params, problem *p)
{
    cubc_type type;
    uint8_t width;
    if (params->value_type == CUBC_LAZY)
        FAIL(CUBC_INVALID_TYPE, "values that runs keeps cannot be lazy: evaluate them by "
                                "cubc_transform before");
    if (!problem_opaque(params->value_bytes, &type, &width))
        FAIL(CUBC_INVALID_TYPE, "runs keeps values of 1, 2, 4, 8 or 16 bytes, not of %d",
             params->value_bytes);
    TRY(problem_input(p, "the values of runs", params->values, params->n, type));
    TRY(problem_output(p, "the output of runs", params->out, params->n, type));
    p->inputs[VALUES].width = p->outputs[RESULTS].width = width;
    return CUBC_OK;
}

static cubc_status add_lengths(const cubc_runs_params *params, uint64_t most, problem *p)
{
    cubc_type type = params->out_type;
    TRY(problem_output(p, "the lengths of runs", params->out, most, type));
    if (type != CUBC_I32 && type != CUBC_I64)
        FAIL(CUBC_INVALID_TYPE, "the lengths of runs are I64 or I32, not %s", cubc_type_name(type));
    return CUBC_OK;
}

static cubc_status check(const cubc_runs_params *params)
{
    if (params->op && params->n && !params->values)
        FAIL(CUBC_INVALID_ARGUMENT, "runs reduces values, and there are none: give values");
    if (params->offsets && (params->keys_out || params->values || params->op))
        FAIL(CUBC_INVALID_ARGUMENT,
             "runs gives offsets and lengths alone: leave out keys_out, values and op");
    return CUBC_OK;
}

cubc_status runs_operands(const cubc_runs_params *params, const algorithm *a, problem *out)
{
    *out = (problem){.algorithm = a,
                     .n = params->n,
                     .acc_type = (uint8_t)(params->op ? params->acc_type : CUBC_I64),
                     .wide = params->n >= UINT32_MAX, // one item more is counted
                     .aligned = true};
    TRY(check(params));
    TRY(problem_take_equal(out, params->equal));
    uint64_t most = params->offsets ? params->n / 2 : params->n;
    TRY(problem_lazy_input(out, "the keys of runs", params->keys, params->n, params->type));
    if (params->offsets) {
        TRY(problem_output(out, "the offsets of runs", params->offsets, most, CUBC_I64));
        out->outputs[HEADS].name = offsets_name;
    } else
        TRY(problem_output(out, "the output of keys", params->keys_out, most,
                           (cubc_type)out->inputs[KEYS].type));
    if (params->op)
        TRY(add_reduction(params, out));
    else if (params->values)
        TRY(add_first_values(params, out));
    else
        TRY(add_lengths(params, most, out));
    TRY(problem_output(out, "the count of runs", params->count, 1, CUBC_I64));
    choose_type(out);
    TRY(problem_overlap(out, INPUT_OF_SAME_NUMBER));
    // A tile looks at the item before it, which the tile before may have written by then.
    if (out->in_place && out->lazy_count)
        FAIL(CUBC_INVALID_ARGUMENT,
             "an output of runs is an operand of a lazy input: they must be apart");
    return CUBC_OK;
}

cubc_status runs_build(const cubc_runs_params *params, problem *out)
{
    TRY(runs_operands(params, &runs_algorithm, out));
    problem_set_benchmark(out, "", benchmark_of(out));
    return CUBC_OK;
}

cubc_runs_params runs_call(const benchmark *b, cubc_type type, const uint64_t *at)
{
    cubc_runs_params call = *(const cubc_runs_params *)b->call;
    call.n = at[0];
    call.type = call.value_type = type;
    call.value_bytes = (int)cubc_type_size(type);
    call.out_type = CUBC_I64;
    if (call.op)
        operator_types(operator_find(call.op), type, true, NULL, &call.acc_type, &call.out_type);
    return call;
}

static cubc_status runs_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                 problem *out)
{
    const cubc_runs_params call = runs_call(b, type, at);
    return runs_build(&call, out);
}

// Runs of eight, as in select.unique.
static const char *runs_random(const problem *p, int k)
{
    (void)p;
    return k == KEYS ? "random_u64(seed, i >> 3) >> 57" : NULL;
}

// ---- variants -----------------------------------------------------------------------------------
static const char *word_type(const operand *o)
{
    static const char *const by_size[] = {
        [1] = "u8", [2] = "u16", [4] = "u32", [8] = "u64", [16] = "words16"};
    return by_size[operand_item_bytes(o)];
}

static void runs_define(const problem *p, text *out)
{
    mode m = mode_of(p);
    problem values = *p; // in whose types the operator works
    values.type = p->inputs[VALUES].type;
    values.outputs[0] = p->outputs[RESULTS];
    if (m == SUMS)
        problem_define(&values, out);
    else
        text_printf(out, "#define TUNE_ALIGNED %d\n#define TUNE_T %s\n#define TUNE_O %s\n",
                    p->aligned, m == FIRST_VALUES ? word_type(&p->inputs[VALUES]) : "u8",
                    m == FIRST_VALUES ? word_type(&p->inputs[VALUES])
                                      : type_table[p->outputs[RESULTS].type].dialect);
    problem_define_input(p, KEYS, "TUNE_KEYS", out);
    problem_define_equal(p, out);
    problem_define_input(p, m == SUMS || m == FIRST_VALUES ? VALUES : -1, "TUNE_IN", out);
    bool wide = p->wide || (m == SUMS && cubc_type_size((cubc_type)p->acc_type) == 8);
    text_printf(out, "#define TUNE_RUNS %d\n#define TUNE_K %s\n#define TUNE_COUNT %s\n", m,
                type_table[p->inputs[KEYS].type].dialect, wide ? "u64" : "u32");
    text_printf(out, "#define TUNE_IN_PLACE %d\n", p->in_place);
    problem_define_plain_loads(p, out);
}

static const char *runs_invalid(const problem *p, const char *kind, const space *s,
                                const variant *v)
{
    const mode m = mode_of(p);
    const int items = variant_value(s, v, "ipt", 1) * variant_value(s, v, "tpb", 1);
    const int key = (int)operand_item_bytes(&p->inputs[KEYS]);
    const int value = m == SUMS           ? (int)cubc_type_size((cubc_type)p->acc_type)
                      : m == FIRST_VALUES ? (int)operand_item_bytes(&p->inputs[VALUES])
                                          : 2;
    if (items > 65536) return "a block has more than 2^16 items";
    if (!device_is_cpu(kind) && items * (key + value) > 96 * 1024)
        return "the items of a block do not fit its shared memory";
    return problem_invalid(p, kind, s, v, key + (m == SUMS || m == FIRST_VALUES ? value : 0));
}

static cubc_status runs_plan(const problem *p, const instance *i, plan *out)
{
    enum { KEYS_ARG, VALUES_ARG, KEYS_OUT, OUT, OFFSETS, COUNT, N, MESSAGES, ARGS };
    const device_kernel *kernel = &i->kernels[0];
    const mode m = mode_of(p);
    uint64_t tile = (uint64_t)variant_value(&i->space, &i->variant, "ipt", 1) * kernel->threads;
    uint64_t tiles = p->n / tile + 1; // of the items and one more
    TRY(problem_blocks(p, tiles));
    cubc_type carry = m == SUMS ? (cubc_type)p->acc_type : p->wide ? CUBC_U64 : CUBC_U32;
    uint64_t bytes = (uint64_t)problem_bytes_with(carry, p->wide ? 8 : 4); // of struct tally
    out->message_bytes = 8 * (1 + tiles * ((bytes + 3) / 4));
    out->launch_count = 1;
    out->launches[0] =
        (launch){.kernel = kernel,
                 .shape = {.grid = (unsigned)tiles, .cluster = problem_cluster(i, tiles)},
                 .message_args = 1u << MESSAGES,
                 .args_count = ARGS,
                 .args = {[OUT] = (uintptr_t)p->outputs[RESULTS].data,
                          [COUNT] = (uintptr_t)p->outputs[TOTAL].data,
                          [N] = p->n}};
    out->launches[0].args[m == LONG_RUNS ? OFFSETS : KEYS_OUT] = (uintptr_t)p->outputs[HEADS].data;
    TRY(problem_place_input(p, m == SUMS || m == FIRST_VALUES ? VALUES : -1, &out->launches[0],
                            VALUES_ARG));
    return problem_place_input(p, KEYS, &out->launches[0], KEYS_ARG);
}

// The number of runs is known for the benchmarks only.
static double runs_traffic(const problem *p)
{
    double read = 0, written = 0;
    for (int k = 0; k < p->input_count; k++) read += problem_input_bytes(p, k);
    for (int k = HEADS; k <= RESULTS; k++)
        written += (double)p->n / 8 * (double)operand_item_bytes(&p->outputs[k]);
    return read + written;
}

static const field runs_fields[] = {
    FIELD_ARRAY(cubc_runs_params, keys, FIELD_LAZY, type, n),
    {"values", FIELD_LAZY, offsetof(cubc_runs_params, values),
     offsetof(cubc_runs_params, value_type), offsetof(cubc_runs_params, n),
     offsetof(cubc_runs_params, value_bytes)},
    FIELD(cubc_runs_params, op, FIELD_TEXT),
    FIELD(cubc_runs_params, equal, FIELD_TEXT),
    FIELD(cubc_runs_params, deterministic, FIELD_INT),
    FIELD(cubc_runs_params, acc_type, FIELD_TYPE),
    FIELD_ARRAY(cubc_runs_params, keys_out, FIELD_OUTPUT, type, n),
    FIELD(cubc_runs_params, offsets, FIELD_OUTPUT),
    {"out", FIELD_OUTPUT, offsetof(cubc_runs_params, out), offsetof(cubc_runs_params, out_type), 0,
     0},
    FIELD(cubc_runs_params, count, FIELD_OUTPUT),
};

#define CALL(...)                     \
    .call = &(const cubc_runs_params) \
    {                                 \
        __VA_ARGS__                   \
    }
static const benchmark runs_benchmarks[] = {
    BENCHMARK_OF("runs.reduce", CALL(RUNS_REDUCE_CALL)),
    BENCHMARK_OF("runs.encode", CALL(RUNS_CALL)),
    BENCHMARK_OF("runs.nontrivial", CALL(.keys = BENCHMARK_ARRAY(0), .offsets = BENCHMARK_ARRAY(1),
                                         .out = BENCHMARK_ARRAY(2), .count = BENCHMARK_ARRAY(3))),
    BENCHMARK_OF("runs.unique", CALL(RUNS_CALL, .values = BENCHMARK_ARRAY(4)))};

const algorithm runs_algorithm = {.name = "runs",
                                  .keys = 1,
                                  .source = "runs.cu",
                                  .kernels = {"runs_tiles"},
                                  .benchmarks = runs_benchmarks,
                                  .benchmark_count = COUNT_OF(runs_benchmarks),
                                  FIELDS(runs_fields),
                                  .workload = runs_workload,
                                  .define = runs_define,
                                  .invalid = runs_invalid,
                                  .plan = runs_plan,
                                  .traffic = runs_traffic,
                                  .random = runs_random};
