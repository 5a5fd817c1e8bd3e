// Descriptor of runs: kernels/primitives/runs.cu.
#include "base/integer.h"
#include "primitives/runs_shared.h"

enum { KEYS = RUNS_KEYS, VALUES = RUNS_VALUES };
enum { HEADS = RUNS_HEADS, RESULTS = RUNS_RESULTS, TOTAL = RUNS_COUNT };

typedef enum mode { REDUCTIONS, LENGTHS, LONG_RUNS, FIRST_VALUES } mode; // TUNE_RUNS

static mode mode_of(const problem *p)
{
    if (p->op || p->expression) return REDUCTIONS;
    if (p->input_count > VALUES) return FIRST_VALUES;
    return p->outputs[HEADS].name ? LONG_RUNS : LENGTHS;
}

static const char *benchmark_of(const problem *p)
{
    static const char *const names[] = {"runs.reduce", "runs.encode", "runs.nontrivial",
                                        "runs.unique"};
    return names[mode_of(p)];
}

// ---- problems -----------------------------------------------------------------------------------
static void runs_complete(const void *call, problem *p)
{
    (void)call;
    problem_set_benchmark(p, "", benchmark_of(p));
}

static cubc_status runs_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                 problem *out)
{
    const cubc_runs_params call = runs_call(b, type, at);
    return runs_problem(&call, out);
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
    if (m == REDUCTIONS)
        problem_define(&values, out);
    else
        text_printf(out, "#define TUNE_ALIGNED %d\n#define TUNE_T %s\n#define TUNE_O %s\n",
                    p->aligned, m == FIRST_VALUES ? word_type(&p->inputs[VALUES]) : "u8",
                    m == FIRST_VALUES ? word_type(&p->inputs[VALUES])
                                      : type_table[p->outputs[RESULTS].type].dialect);
    problem_define_input(p, KEYS, "TUNE_KEYS", out);
    problem_define_equal(p, out);
    problem_define_input(p, m == REDUCTIONS || m == FIRST_VALUES ? VALUES : -1, "TUNE_IN", out);
    bool wide = p->wide || (m == REDUCTIONS && cubc_type_size((cubc_type)p->acc_type) == 8);
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
    const int value = m == REDUCTIONS     ? (int)cubc_type_size((cubc_type)p->acc_type)
                      : m == FIRST_VALUES ? (int)operand_item_bytes(&p->inputs[VALUES])
                                          : 2;
    if (items > 65536) return "a block has more than 2^16 items";
    if (!device_is_cpu(kind) && items * (key + value) > 96 * 1024)
        return "the items of a block do not fit its shared memory";
    return problem_invalid(p, kind, s, v, key + (m == REDUCTIONS || m == FIRST_VALUES ? value : 0));
}

static cubc_status runs_plan(const problem *p, const instance *i, plan *out)
{
    enum { KEYS_ARG, VALUES_ARG, KEYS_OUT, OUT, OFFSETS, COUNT, N, MESSAGES, ARGS };
    const device_kernel *kernel = &i->kernels[0];
    const mode m = mode_of(p);
    uint64_t tile = instance_tile(i, kernel);
    uint64_t tiles = p->n / tile + 1; // of the items and one more
    TRY(problem_check_blocks(p, tiles));
    cubc_type carry = m == REDUCTIONS ? (cubc_type)p->acc_type : p->wide ? CUBC_U64 : CUBC_U32;
    uint64_t bytes = (uint64_t)problem_pair_bytes(carry, p->wide ? 8 : 4); // of struct tally
    out->message_bytes = 8 * (1 + tiles * ceil_div(bytes, 4));
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
    TRY(problem_place_input(p, m == REDUCTIONS || m == FIRST_VALUES ? VALUES : -1,
                            &out->launches[0], VALUES_ARG));
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
                                  .complete = runs_complete,
                                  .define = runs_define,
                                  .invalid = runs_invalid,
                                  .plan = runs_plan,
                                  .traffic = runs_traffic,
                                  .random = runs_random};
