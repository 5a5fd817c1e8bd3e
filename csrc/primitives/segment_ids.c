// Descriptor of segment_ids: kernels/primitives/segment_ids.cu, and kernels/cpu/cpu_segment_ids.cu
// on the CPU.
#include "base/integer.h"
#include "run/instance.h"
#include "run/problem.h"

#include <string.h>

cubc_status segment_ids_problem(const cubc_segment_ids_params *params, problem *out)
{
    *out = (problem){.algorithm = &segment_ids_algorithm,
                     .n = params->n,
                     .type = (uint8_t)params->out_type,
                     .acc_type = (uint8_t)params->out_type,
                     .aligned = true};
    strcpy(out->benchmark, "segment_ids.offsets");
    bool small = params->out_type == CUBC_I32;
    if ((!small && params->out_type != CUBC_I64) || (small && params->segments >= INT32_MAX))
        FAIL(CUBC_INVALID_TYPE, "the numbers of %llu segments are I64, or I32 below 2^31, not %s",
             (unsigned long long)params->segments, cubc_type_name(params->out_type));
    TRY(problem_offsets(out, "the offsets of segment_ids", params->offsets, params->segments,
                        params->offset_type));
    TRY(problem_output(out, "the output of segment_ids", params->out, params->n, params->out_type));
    TRY(problem_check_overlap(out, ANY_INPUT));
    if (out->in_place)
        FAIL(CUBC_INVALID_ARGUMENT, "segment_ids: the output must be apart from the offsets");
    return CUBC_OK;
}

enum { SEGMENT_SIZE = 1 }; // among the run-time axes: the mean length of segments

static void segment_ids_axis_values(const problem *p, uint64_t *values)
{
    uint64_t count = p->inputs[0].n - 1;
    values[0] = p->n;
    values[SEGMENT_SIZE] = count ? p->n / count : 0;
}

static const char *segment_ids_random(const problem *p, int k)
{
    (void)p, (void)k;
    return problem_random_offsets;
}

static cubc_status segment_ids_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                        problem *out)
{
    cubc_segment_ids_params call = *(const cubc_segment_ids_params *)b->call;
    call.n = at[0];
    call.segments = at[0] / at[SEGMENT_SIZE];
    call.out_type = type;
    return segment_ids_problem(&call, out);
}

static void segment_ids_define(const problem *p, text *out)
{
    text_printf(out, "#define TUNE_O %s\n#define TUNE_ALIGNED %d\n", type_table[p->type].dialect,
                p->aligned);
    problem_define_offsets(p, 0, out);
}

static const char *segment_ids_invalid(const problem *p, const char *kind, const space *s,
                                       const variant *v)
{
    const int rows = variant_value(s, v, "ipt", 1) >> variant_value(s, v, "ipv", 0);
    if (!device_is_cpu(kind) && rows >= 32) return "a warp has no more than 31 rows";
    return problem_invalid(p, kind, s, v, 4);
}

static cubc_status segment_ids_plan(const problem *p, const instance *i, plan *out)
{
    enum { OFFSETS, SIZE, COUNT, ITEMS, OUT, ARGS };
    launch *l = &out->launches[0];
    TRY(plan_tiles(p, i, out));
    l->args_count = ARGS;
    l->args[COUNT] = p->inputs[0].n - 1;
    l->args[ITEMS] = p->n;
    l->args[OUT] = (uintptr_t)p->outputs[0].data;
    return problem_place_input(p, 0, l, OFFSETS);
}

static const field segment_ids_fields[] = {
    {"offsets", FIELD_LAZY, offsetof(cubc_segment_ids_params, offsets),
     offsetof(cubc_segment_ids_params, offset_type), 0, 0},
    FIELD(cubc_segment_ids_params, segments, FIELD_COUNT),
    FIELD_ARRAY(cubc_segment_ids_params, out, FIELD_OUTPUT, out_type, n),
};

static const int lengths[] = {8, 65536};
static const cubc_type types[] = {CUBC_I32, CUBC_I64}; // that the call gives
static const cubc_segment_ids_params apart = {
    .offsets = BENCHMARK_ARRAY(0), .out = BENCHMARK_ARRAY(1), .offset_type = CUBC_I64};
static const benchmark segment_ids_benchmarks[] = {{.name = "segment_ids.offsets",
                                                    .types = types,
                                                    .type_count = COUNT_OF(types),
                                                    .axes = {AXIS(problem_elements), AXIS(lengths)},
                                                    .call = &apart}};

const algorithm segment_ids_algorithm = {.name = "segment_ids",
                                         .source = "segment_ids.cu",
                                         .kernels = {"segment_ids_rows"},
                                         .cpu_source = "cpu_segment_ids.cu",
                                         .cpu_kernels = {"segment_ids_rows"},
                                         .axes = {"Elements", "SegmentSize"},
                                         .benchmarks = segment_ids_benchmarks,
                                         .benchmark_count = COUNT_OF(segment_ids_benchmarks),
                                         FIELDS(segment_ids_fields),
                                         .workload = segment_ids_workload,
                                         .axis_values = segment_ids_axis_values,
                                         .define = segment_ids_define,
                                         .invalid = segment_ids_invalid,
                                         .plan = segment_ids_plan,
                                         .traffic = problem_array_bytes,
                                         .random = segment_ids_random};
