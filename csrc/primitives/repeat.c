// Descriptor of repeat: kernels/primitives/repeat.cu.
#include "base/integer.h"
#include "run/instance.h"
#include "run/problem.h"

enum { ITEMS = 0, ENDS = 1 }; // places of the inputs

cubc_status repeat_problem(const cubc_repeat_params *params, problem *out)
{
    cubc_type type;
    uint8_t width;
    if (!problem_opaque(params->item_bytes, &type, &width))
        FAIL(CUBC_INVALID_TYPE, "repeat takes items of 1, 2, 4, 8 or 16 bytes, not of %d",
             params->item_bytes);
    if (params->total && !params->n)
        FAIL(CUBC_INVALID_ARGUMENT, "repeat has no items to fill %llu places with",
             (unsigned long long)params->total);
    *out = (problem){.algorithm = &repeat_algorithm,
                     .n = params->total,
                     .type = (uint8_t)type,
                     .acc_type = (uint8_t)type,
                     .aligned = true};
    TRY(problem_input(out, "the items of repeat", params->in, params->n, type));
    TRY(problem_input(out, "the ends of repeat", params->ends, params->n, CUBC_I64));
    TRY(problem_output(out, "the output of repeat", params->out, params->total, type));
    out->inputs[ITEMS].width = out->outputs[0].width = width;
    problem_set_benchmark(out, "", "repeat.runs");
    TRY(problem_check_overlap(out, INPUT_OF_SAME_NUMBER));
    if (out->in_place)
        FAIL(CUBC_INVALID_ARGUMENT, "repeat cannot write to where its items are: give another out");
    return CUBC_OK;
}

// Every item eight times.
static cubc_status repeat_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                   problem *out)
{
    cubc_repeat_params call = *(const cubc_repeat_params *)b->call;
    call.total = at[0];
    call.n = larger(at[0] / 8, 1);
    call.item_bytes = (int)cubc_type_size(type);
    return repeat_problem(&call, out);
}

// Ends of items of 1 to 15 repeats, which add up to eight each.
static const char *repeat_random(const problem *p, int k)
{
    (void)p;
    return k == ENDS ? "8 * i + 8 - (random_u64(seed, i) >> 61)" : NULL;
}

static void repeat_define(const problem *p, text *out)
{
    static const char *const by_size[] = {
        [1] = "u8", [2] = "u16", [4] = "u32", [8] = "u64", [16] = "words16"};
    text_printf(out, "#define TUNE_T %s\n#define TUNE_ALIGNED %d\n",
                by_size[operand_item_bytes(&p->inputs[ITEMS])], p->aligned);
}

static const char *repeat_invalid(const problem *p, const char *kind, const space *s,
                                  const variant *v)
{
    const int items = variant_value(s, v, "ipt", 1) * variant_value(s, v, "tpb", 1);
    if (!device_is_cpu(kind) && items * 4 > 96 * 1024)
        return "the marks of a block do not fit its shared memory";
    return problem_invalid(p, kind, s, v, 4);
}

static cubc_status repeat_plan(const problem *p, const instance *i, plan *out)
{
    enum { IN, ENDS_ARG, OUT, N, TOTAL, ARGS };
    launch *l = &out->launches[0];
    TRY(plan_tiles(p, i, out));
    l->args_count = ARGS;
    l->args[IN] = (uintptr_t)p->inputs[ITEMS].data;
    l->args[ENDS_ARG] = (uintptr_t)p->inputs[ENDS].data;
    l->args[OUT] = (uintptr_t)p->outputs[0].data;
    l->args[N] = p->inputs[ITEMS].n;
    l->args[TOTAL] = p->n;
    return CUBC_OK;
}

static const field repeat_fields[] = {
    {"in", FIELD_INPUT, offsetof(cubc_repeat_params, in), 0, offsetof(cubc_repeat_params, n),
     offsetof(cubc_repeat_params, item_bytes)},
    FIELD_UNTYPED(cubc_repeat_params, ends, FIELD_INPUT, n),
    FIELD_UNTYPED(cubc_repeat_params, out, FIELD_OUTPUT, total),
};

static const cubc_repeat_params apart = {
    .in = BENCHMARK_ARRAY(0), .ends = BENCHMARK_ARRAY(1), .out = BENCHMARK_ARRAY(2)};
// Only the size of an item matters.
static const cubc_type types_by_size[] = {CUBC_U8, CUBC_U16, CUBC_U32, CUBC_U64};
static const benchmark repeat_benchmarks[] = {{.name = "repeat.runs",
                                               .types = types_by_size,
                                               .type_count = COUNT_OF(types_by_size),
                                               .axes = {AXIS(problem_elements)},
                                               .call = &apart}};

const algorithm repeat_algorithm = {.name = "repeat",
                                    .source = "repeat.cu",
                                    .kernels = {"repeat_tiles"},
                                    .benchmarks = repeat_benchmarks,
                                    .benchmark_count = COUNT_OF(repeat_benchmarks),
                                    FIELDS(repeat_fields),
                                    .workload = repeat_workload,
                                    .define = repeat_define,
                                    .invalid = repeat_invalid,
                                    .plan = repeat_plan,
                                    .traffic = problem_array_bytes,
                                    .random = repeat_random};
