// Descriptor of merge: kernels/primitives/merge.cu, and kernels/cpu/cpu_merge.cu on the CPU.
#include "base/integer.h"
#include "primitives/order.h"

#include <string.h>

// Places of the inputs: the values follow the keys.
enum { A, B, A_VALUES, B_VALUES };
// Places of the kernels in the descriptor; single threads have the first one.
enum { TILES_KERNEL, CROSSINGS_KERNEL };
// Number of tiles from which a launch of its own finds their crossings: blocks that search read up
// to 20 KB a tile beside its items, and the launch takes 20 us.
enum { MANY_TILES = 4096 };

static cubc_status add_values(const cubc_merge_params *params, problem *p)
{
    if (!params->value_bytes) return CUBC_OK;
    TRY(problem_value_input(p, "the values of a", params->a_values, params->a_n,
                            params->value_bytes));
    TRY(problem_value_input(p, "the values of b", params->b_values, params->b_n,
                            params->value_bytes));
    return problem_value_output(p, params->values_out, params->a_n + params->b_n,
                                params->value_bytes);
}

// The output may be no input: an item's place is taken before it has been read.
static cubc_status check_apart(const problem *p)
{
    if (p->in_place)
        FAIL(CUBC_INVALID_ARGUMENT, "input and output overlap: a merge needs them to be apart");
    return CUBC_OK;
}

cubc_status merge_problem(const cubc_merge_params *params, problem *out)
{
    *out = (problem){.algorithm = &merge_algorithm,
                     .n = params->a_n + params->b_n,
                     .type = (uint8_t)params->type,
                     .acc_type = (uint8_t)params->type,
                     .aligned = true};
    TRY(problem_input(out, "a", params->a, params->a_n, params->type));
    TRY(problem_input(out, "b", params->b, params->b_n, params->type));
    TRY(problem_output(out, "the output of merge", params->out, out->n, params->type));
    TRY(order_take(out, params->less));
    TRY(add_values(params, out));
    strcpy(out->benchmark, out->output_count > 1 ? "merge.pairs" : "merge.keys");
    TRY(problem_check_overlap(out, INPUT_OF_SAME_NUMBER));
    out->aligned = true; // nothing is read in vectors
    return check_apart(out);
}

static cubc_status merge_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                  problem *out)
{
    cubc_merge_params call = *(const cubc_merge_params *)b->call;
    call.type = type;
    call.a_n = at[0] / 2;
    call.b_n = at[0] - call.a_n;
    TRY(merge_problem(&call, out));
    out->inputs[A].sorted = out->inputs[B].sorted = true;
    return CUBC_OK;
}

enum { // the arguments; single threads do not have the last one
    A_KEYS,
    A_VALUES_ARG,
    A_N,
    B_KEYS,
    B_VALUES_ARG,
    B_N,
    OUT,
    VALUES_OUT,
    CROSSINGS,
    ARGS
};

static cubc_status merge_plan(const problem *p, const instance *i, plan *out)
{
    const device_kernel *kernel = &i->kernels[TILES_KERNEL];
    const bool single = kernel->threads == 1;
    uint64_t tile = instance_tile(i, kernel);
    uint64_t tiles = ceil_div(p->n, tile);
    const operand *in = p->inputs;
    TRY(problem_check_blocks(p, tiles));
    launch *l = out->launches;
    l[0] = (launch){.kernel = kernel,
                    .shape.grid = (unsigned)tiles,
                    .args_count = single ? CROSSINGS : ARGS,
                    .args = {[A_KEYS] = (uintptr_t)in[A].data,
                             [A_VALUES_ARG] = (uintptr_t)in[A_VALUES].data,
                             [A_N] = in[A].n,
                             [B_KEYS] = (uintptr_t)in[B].data,
                             [B_VALUES_ARG] = (uintptr_t)in[B_VALUES].data,
                             [B_N] = in[B].n,
                             [OUT] = (uintptr_t)p->outputs[0].data,
                             [VALUES_OUT] = (uintptr_t)p->outputs[1].data}};
    out->launch_count = tiles > 0;
    if (single || tiles < MANY_TILES) return CUBC_OK;
    l[0].scratch_args = 1u << CROSSINGS;
    l[1] = l[0];
    l[0].kernel = &i->kernels[CROSSINGS_KERNEL];
    l[0].shape.grid = (unsigned)ceil_div(tiles, l[0].kernel->threads);
    out->scratch_bytes = tiles * sizeof(uint64_t);
    out->launch_count = 2;
    return CUBC_OK;
}

#define VALUES(name, kind, count)                     \
    {#name, kind,  offsetof(cubc_merge_params, name), \
     0,     count, offsetof(cubc_merge_params, value_bytes)}
static const field merge_fields[] = {
    FIELD_ARRAY(cubc_merge_params, a, FIELD_INPUT, type, a_n),
    FIELD_ARRAY(cubc_merge_params, b, FIELD_INPUT, type, b_n),
    VALUES(a_values, FIELD_INPUT, offsetof(cubc_merge_params, a_n)),
    VALUES(b_values, FIELD_INPUT, offsetof(cubc_merge_params, b_n)),
    FIELD(cubc_merge_params, less, FIELD_TEXT),
    {"out", FIELD_OUTPUT, offsetof(cubc_merge_params, out), offsetof(cubc_merge_params, type), 0,
     0},
    VALUES(values_out, FIELD_OUTPUT, 0),
};

#define KEYS .a = BENCHMARK_ARRAY(0), .b = BENCHMARK_ARRAY(1), .out = BENCHMARK_ARRAY(2)
static const cubc_merge_params keys = {KEYS},
                               pairs = {KEYS, .a_values = BENCHMARK_ARRAY(3),
                                        .b_values = BENCHMARK_ARRAY(4),
                                        .values_out = BENCHMARK_ARRAY(5), .value_bytes = 4};
static const benchmark merge_benchmarks[] = {BENCHMARK_OF("merge.keys", .call = &keys),
                                             BENCHMARK_OF("merge.pairs", .call = &pairs)};

const algorithm merge_algorithm = {.name = "merge",
                                   .source = "merge.cu",
                                   .kernels = {"merge_tiles", "merge_crossings"},
                                   .cpu_source = "cpu_merge.cu",
                                   .cpu_kernels = {"merge_tiles"},
                                   .benchmarks = merge_benchmarks,
                                   .benchmark_count = COUNT_OF(merge_benchmarks),
                                   FIELDS(merge_fields),
                                   .workload = merge_workload,
                                   .define = order_define_merge,
                                   .invalid = order_invalid_merge,
                                   .plan = merge_plan,
                                   .traffic = problem_array_bytes,
                                   .random = problem_random_bits};
