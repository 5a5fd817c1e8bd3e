// Descriptor of find: kernels/primitives/find.cu.
#include "base/integer.h"
#include "run/instance.h"
#include "run/problem.h"

#include <string.h>

cubc_status find_problem(const cubc_find_params *params, problem *out)
{
    *out = (problem){.algorithm = &find_algorithm,
                     .n = params->n,
                     .type = (uint8_t)problem_input_type(params->in, params->type),
                     .acc_type = (uint8_t)problem_input_type(params->in, params->type),
                     .expression = params->predicate,
                     .aligned = true};
    if (!params->predicate || !*params->predicate)
        FAIL(CUBC_INVALID_ARGUMENT,
             "find needs a predicate: an expression of the item x and its index i");
    strcpy(out->benchmark, "find.if");
    TRY(problem_lazy_input(out, "the input of find", params->in, params->n, params->type));
    TRY(problem_output(out, "the output of find", params->out, 1, CUBC_I64));
    return problem_check_overlap(out, ANY_INPUT);
}

// All items are looked at: the condition holds for none but the last of 2^28.
static cubc_status find_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                 problem *out)
{
    cubc_find_params call = *(const cubc_find_params *)b->call;
    call.n = at[0];
    call.type = type;
    return find_problem(&call, out);
}

static const char *find_random(const problem *p, int k)
{
    (void)p, (void)k;
    return "static_cast<u32>(random_u64(seed, i) >> 63) + (i == 0xfffffff ? 2u : 0u)";
}

static void find_define(const problem *p, text *out)
{
    text_printf(out, "#define TUNE_T %s\n#define TUNE_ALIGNED %d\n", type_table[p->type].dialect,
                p->aligned);
    problem_define_input(p, 0, "TUNE_IN", out);
    problem_define_expression(out, "TUNE_PREDICATE", p->expression);
}

static const char *find_invalid(const problem *p, const char *kind, const space *s,
                                const variant *v)
{
    return problem_invalid(p, kind, s, v, (int)cubc_type_size((cubc_type)p->type));
}

static cubc_status find_plan(const problem *p, const instance *i, plan *out)
{
    enum { IN, OUT, N, MESSAGES, ARGS };
    const device_kernel *kernel = &i->kernels[0];
    uint64_t tile = instance_tile(i, kernel);
    uint64_t warps = ceil_div(kernel->threads, 32);
    uint64_t tiles = ceil_div(p->n, tile);
    uint64_t grid = blocks_in_waves(i, kernel);
    if (grid > tiles) grid = tiles ? tiles : 1; // the result is written in any case
    if ((tiles + grid) * warps > UINT32_MAX)    // of the kernel's count
        FAIL(CUBC_INVALID_ARGUMENT, "find in %llu items needs more than 2^32 stretches",
             (unsigned long long)p->n);
    out->message_bytes = 8 * (1 + 2 * (1 + grid * warps));
    out->launch_count = 1;
    out->launches[0] = (launch){.kernel = kernel,
                                .shape.grid = (unsigned)grid,
                                .message_args = 1u << MESSAGES,
                                .args_count = ARGS,
                                .args = {[OUT] = (uintptr_t)p->outputs[0].data, [N] = p->n}};
    return problem_place_input(p, 0, &out->launches[0], IN);
}

static const field find_fields[] = {
    FIELD_ARRAY(cubc_find_params, in, FIELD_LAZY, type, n),
    FIELD(cubc_find_params, predicate, FIELD_TEXT),
    FIELD(cubc_find_params, out, FIELD_OUTPUT),
};

static const cubc_find_params above_1 = {
    .in = BENCHMARK_ARRAY(0), .out = BENCHMARK_ARRAY(1), .predicate = "x > 1"};
static const benchmark find_benchmarks[] = {BENCHMARK_OF("find.if", .call = &above_1)};

const algorithm find_algorithm = {.name = "find",
                                  .source = "find.cu",
                                  .kernels = {"find_stretches"},
                                  .benchmarks = find_benchmarks,
                                  .benchmark_count = COUNT_OF(find_benchmarks),
                                  FIELDS(find_fields),
                                  .workload = find_workload,
                                  .define = find_define,
                                  .invalid = find_invalid,
                                  .plan = find_plan,
                                  .traffic = problem_array_bytes,
                                  .random = find_random};
