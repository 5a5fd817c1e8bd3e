// Descriptor of merge_sort: kernels/primitives/merge_sort.cu, and kernels/cpu/cpu_merge_sort.cu on
// the CPU.
#include "base/integer.h"
#include "primitives/order.h"

#include <string.h>

// Places of the kernels in the descriptor.
enum { TILES_KERNEL, ROUND_KERNEL };

// ---- problems -----------------------------------------------------------------------------------
static cubc_status add_values(const cubc_merge_sort_params *params, problem *p)
{
    if (!params->value_bytes) return CUBC_OK;
    TRY(problem_value_input(p, "the values of merge_sort", params->values_in, params->n,
                            params->value_bytes));
    return problem_value_output(p, params->values_out, params->n, params->value_bytes);
}

cubc_status merge_sort_problem(const cubc_merge_sort_params *params, problem *out)
{
    *out = (problem){.algorithm = &merge_sort_algorithm,
                     .n = params->n,
                     .type = (uint8_t)params->type,
                     .acc_type = (uint8_t)params->type,
                     .aligned = true};
    TRY(problem_input(out, "the keys of merge_sort", params->keys_in, params->n, params->type));
    TRY(problem_output(out, "the output of merge_sort", params->keys_out, params->n, params->type));
    TRY(order_take(out, params->less));
    TRY(add_values(params, out));
    strcpy(out->benchmark, out->output_count > 1 ? "merge_sort.pairs" : "merge_sort.keys");
    out->aligned = true; // nothing is read in vectors
    return problem_check_overlap(out, INPUT_OF_SAME_NUMBER);
}

static cubc_status merge_sort_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                       problem *out)
{
    cubc_merge_sort_params call = *(const cubc_merge_sort_params *)b->call;
    call.n = at[0];
    call.type = type;
    return merge_sort_problem(&call, out);
}

static void merge_sort_define(const problem *p, text *out)
{
    order_define_merge(p, out);
    text_printf(out, "#define TUNE_IN_PLACE %d\n", p->in_place);
}

// ---- plans --------------------------------------------------------------------------------------
typedef struct memory { // where keys and values are
    uint64_t keys, values;
    bool scratch; // these are offsets there
} memory;

static launch make_launch(const problem *p, const device_kernel *kernel, uint64_t tiles,
                          memory from, memory to, uint64_t run)
{
    enum { KEYS_IN, VALUES_IN, N, KEYS_OUT, VALUES_OUT, RUN, ARGS };
    return (launch){.kernel = kernel,
                    .shape.grid = (unsigned)tiles,
                    .scratch_args = (from.scratch ? 1u << KEYS_IN | 1u << VALUES_IN : 0) |
                                    (to.scratch ? 1u << KEYS_OUT | 1u << VALUES_OUT : 0),
                    .args_count = ARGS,
                    .args = {[KEYS_IN] = from.keys,
                             [VALUES_IN] = from.values,
                             [N] = p->n,
                             [KEYS_OUT] = to.keys,
                             [VALUES_OUT] = to.values,
                             [RUN] = run}};
}

static cubc_status merge_sort_plan(const problem *p, const instance *i, plan *out)
{
    const device_kernel *kernels = i->kernels;
    uint64_t tile = instance_tile(i, &kernels[TILES_KERNEL]);
    uint64_t tiles = ceil_div(p->n, tile);
    TRY(problem_check_blocks(p, tiles));
    if (tiles == 0) return CUBC_OK;
    int rounds = 0;
    for (uint64_t run = tile; run < p->n; run *= 2) rounds++;

    memory in = {.keys = (uintptr_t)p->inputs[0].data, .values = (uintptr_t)p->inputs[1].data};
    memory done = {.keys = (uintptr_t)p->outputs[0].data, .values = (uintptr_t)p->outputs[1].data};
    memory spare = {.values = round_up(p->n * operand_item_bytes(&p->inputs[0]), 256),
                    .scratch = true};
    if (rounds) out->scratch_bytes = spare.values;
    if (rounds && p->output_count > 1)
        out->scratch_bytes += p->n * operand_item_bytes(&p->outputs[1]);
    memory to = rounds % 2 ? spare : done; // the last round goes to the output
    out->launches[0] = make_launch(p, &kernels[TILES_KERNEL], tiles, in, to, 0);
    for (int r = 0; r < rounds; r++) {
        memory from = to;
        to = from.scratch ? done : spare;
        out->launches[1 + r] = make_launch(p, &kernels[ROUND_KERNEL], tiles, from, to, 1ull << r);
    }
    out->launch_count = 1 + rounds;
    return CUBC_OK;
}

#define ARRAY(name, kind) FIELD_ARRAY(cubc_merge_sort_params, name, kind, type, n)
#define VALUES(name, kind)                   \
    {#name,                                  \
     kind,                                   \
     offsetof(cubc_merge_sort_params, name), \
     0,                                      \
     offsetof(cubc_merge_sort_params, n),    \
     offsetof(cubc_merge_sort_params, value_bytes)}
static const field merge_sort_fields[] = {
    ARRAY(keys_in, FIELD_INPUT),
    VALUES(values_in, FIELD_INPUT),
    FIELD(cubc_merge_sort_params, less, FIELD_TEXT),
    ARRAY(keys_out, FIELD_OUTPUT),
    VALUES(values_out, FIELD_OUTPUT),
};

#define KEYS .keys_in = BENCHMARK_ARRAY(0), .keys_out = BENCHMARK_ARRAY(1)
static const cubc_merge_sort_params keys = {KEYS},
                                    pairs = {KEYS, .values_in = BENCHMARK_ARRAY(2),
                                             .values_out = BENCHMARK_ARRAY(3), .value_bytes = 4};
static const benchmark merge_sort_benchmarks[] = {BENCHMARK_OF("merge_sort.keys", .call = &keys),
                                                  BENCHMARK_OF("merge_sort.pairs", .call = &pairs)};

const algorithm merge_sort_algorithm = {.name = "merge_sort",
                                        .keys = 1,
                                        .source = "merge_sort.cu",
                                        .kernels = {"merge_sort_tiles", "merge_sort_round"},
                                        .cpu_source = "cpu_merge_sort.cu",
                                        .cpu_kernels = {"merge_sort_tiles", "merge_sort_round"},
                                        .cpu_unused = {"TUNE_IN_PLACE"},
                                        .benchmarks = merge_sort_benchmarks,
                                        .benchmark_count = COUNT_OF(merge_sort_benchmarks),
                                        FIELDS(merge_sort_fields),
                                        .workload = merge_sort_workload,
                                        .define = merge_sort_define,
                                        .invalid = order_invalid_merge,
                                        .plan = merge_sort_plan,
                                        .traffic = problem_array_bytes,
                                        .random = problem_random_bits};
