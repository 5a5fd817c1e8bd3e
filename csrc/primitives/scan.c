// Descriptor of scan: kernels/primitives/scan.cu.
#include "primitives/scan.h"
#include "base/integer.h"
#include "primitives/routes.h"

#include <string.h>

enum { ITEMS = SCAN_ITEMS, KEYS = SCAN_KEYS, OFFSETS = SCAN_KEYS }; // places of the inputs

typedef struct scan_traits {
    scan_kind kind;
} scan_traits;

typedef struct scan_numbers {
    uint64_t segments;
} scan_numbers;

PROBLEM_TRAITS(scan_traits);
PROBLEM_NUMBERS(scan_numbers);

scan_kind scan_kind_of(const problem *p)
{
    return scan_traits_of(p).kind;
}

static bool in_segments(const problem *p)
{
    return scan_kind_of(p) >= SCAN_BY_OFFSETS;
}

// The input that has the offsets; -1 without them.
static int offsets_of(const problem *p)
{
    return scan_kind_of(p) == SCAN_BY_OFFSETS ? OFFSETS : -1;
}

void scan_set_kind(problem *p, scan_kind kind)
{
    scan_traits_set(p, (scan_traits){kind});
}

static void name_benchmark(problem *p)
{
    if (scan_kind_of(p) != SCAN_WHOLE) { // one for all operators
        strcpy(p->benchmark, in_segments(p) ? "scan.segmented" : "scan.by_key");
        return;
    }
    problem_set_benchmark(p, p->inclusive ? "scan.inclusive." : "scan.exclusive.",
                          problem_operator_name(p));
}

// An exclusive scan begins with the operator's identity unless a value is given.
static cubc_status begin_exclusive(problem *p)
{
    if (p->inclusive || p->has_init) return CUBC_OK;
    if (!p->op || !p->op->identity)
        FAIL(CUBC_INVALID_ARGUMENT,
             "an exclusive scan with %s needs an initial value (init=): it has no identity",
             p->op ? p->op->name : "a user's operator");
    bool one = strcmp(p->op->identity, "1") == 0;
    p->has_init = true;
    p->init = one ? type_one((cubc_type)p->acc_type) : (type_value){0};
    return CUBC_OK;
}

static cubc_status add_offsets(const cubc_scan_params *params, problem *p)
{
    scan_set_kind(p, SCAN_BY_OFFSETS);
    return problem_offsets(p, "the offsets of scan", params->offsets, params->segments,
                           params->offset_type);
}

// Adds the keys or offsets at which the scan begins anew.
static cubc_status add_runs(const cubc_scan_params *params, problem *p)
{
    bool segments = params->offsets || params->segments;
    if (segments && params->keys)
        FAIL(CUBC_INVALID_ARGUMENT, "scan takes keys or segments, not both");
    scan_numbers_set(p, (scan_numbers){params->segments});
    if (params->offsets) return add_offsets(params, p);
    if (segments && params->n % params->segments)
        FAIL(CUBC_INVALID_ARGUMENT,
             "scan: %llu items do not make %llu segments of one size; give offsets",
             (unsigned long long)params->n, (unsigned long long)params->segments);
    if (segments) scan_set_kind(p, SCAN_OF_EQUAL_SIZE);
    if (params->equal && !params->keys)
        FAIL(CUBC_INVALID_ARGUMENT,
             "scan takes an equality of keys, and there are none: give keys");
    if (!params->keys) return CUBC_OK;
    scan_set_kind(p, SCAN_BY_KEY);
    TRY(problem_take_equal(p, params->equal));
    return problem_input(p, "the keys of scan", params->keys, params->n, params->key_type);
}

cubc_status scan_operands(const cubc_scan_params *params, const algorithm *a, problem *out)
{
    *out = (problem){.algorithm = a,
                     .n = params->n,
                     .type = (uint8_t)problem_input_type(params->in, params->type),
                     .acc_type = (uint8_t)params->acc_type,
                     .inclusive = params->inclusive != 0,
                     .aligned = true};
    TRY(problem_lazy_input(out, "the input of scan", params->in, params->n, params->type));
    TRY(add_runs(params, out));
    TRY(problem_output(out, "the output of scan", params->out, params->n, params->out_type));
    if (!type_valid(params->acc_type))
        FAIL(CUBC_INVALID_TYPE, "acc_type is %d: expected a cubc_type such as CUBC_F32",
             (int)params->acc_type);
    TRY(problem_overlap(out, INPUT_OF_SAME_NUMBER));
    TRY(problem_operator(out, "scan", params->op, params->init_in_memory ? NULL : params->init));
    if (out->op && out->op->arg)
        FAIL(CUBC_INVALID_ARGUMENT, "scan does not take %s; use min or max", params->op);
    if (params->init && params->init_in_memory)
        TRY(problem_init_in_memory(out, "scan", params->init));
    return begin_exclusive(out);
}

cubc_status scan_build(const cubc_scan_params *params, problem *out)
{
    TRY(scan_operands(params, &scan_algorithm, out));
    name_benchmark(out);
    return CUBC_OK;
}

void scan_place(const problem *p, uint64_t *place)
{
    uint64_t count = scan_numbers_of(p).segments;
    place[0] = p->n;
    place[SEGMENT_SIZE] = count ? p->n / count : 0;
}

cubc_scan_params scan_call(const benchmark *b, cubc_type type, const uint64_t *at)
{
    cubc_scan_params call = *(const cubc_scan_params *)b->call;
    call.n = at[0];
    call.type = call.key_type = type;
    if (call.offsets) call.segments = call.n / smaller(call.n, at[SEGMENT_SIZE]);
    operator_types(operator_find(call.op), type, false, NULL, &call.acc_type, &call.out_type);
    return call;
}

static cubc_status scan_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                 problem *out)
{
    const cubc_scan_params call = scan_call(b, type, at);
    return scan_build(&call, out);
}

void scan_define(const problem *p, text *out)
{
    problem_define(p, out);
    problem_define_input(p, 0, "TUNE_IN", out);
    text_printf(out, "#define TUNE_INCLUSIVE %d\n#define TUNE_IN_PLACE %d\n", p->inclusive,
                p->in_place);
    if (scan_kind_of(p) == SCAN_BY_KEY)
        text_printf(out, "#define TUNE_K %s\n", type_table[p->inputs[KEYS].type].dialect);
    problem_define_equal(p, out);
    if (in_segments(p)) problem_define_offsets(p, offsets_of(p), out);
    problem_define_plain_loads(p, out);
}

uint64_t scan_sum_bytes(const problem *p)
{
    cubc_type value = (cubc_type)p->acc_type;
    if (scan_kind_of(p) == SCAN_WHOLE) return cubc_type_size(value);
    return (uint64_t)problem_bytes_with(value, p->wide ? 8 : 4);
}

static const char *scan_invalid(const problem *p, const char *kind, const space *s,
                                const variant *v)
{
    const char *reason = problem_invalid(p, kind, s, v, (int)scan_sum_bytes(p));
    int rows = variant_value(s, v, "ipt", 1) >> variant_value(s, v, "ipv", 0);
    if (!reason && variant_value(s, v, "pk", 0) >= rows)
        reason = "no row is left to wait in registers";
    return reason;
}

cubc_status scan_launch(const problem *p, const device_kernel *kernel, uint64_t tiles,
                        uint64_t slots, plan *out)
{
    enum { IN, RUNS, BEHIND_RUNS }; // then as many as the problem has, counted as they are added
    TRY(problem_blocks(p, tiles));
    out->message_bytes = 8 * (1 + slots * ((scan_sum_bytes(p) + 3) / 4));
    out->launch_count = tiles > 0;
    launch *l = &out->launches[0];
    *l = (launch){.kernel = kernel,
                  .shape.grid = (unsigned)tiles,
                  .args_count = BEHIND_RUNS,
                  .args = {[RUNS] = (uintptr_t)p->inputs[KEYS].data}};
    if (in_segments(p)) { // arguments of segments.h behind the offsets
        uint64_t count = scan_numbers_of(p).segments;
        l->args[l->args_count++] = count ? p->n / count : 0;
        l->args[l->args_count++] = count;
        l->args[l->args_count++] = p->n;
    }
    for (int k = 0; k < p->output_count; k++)
        l->args[l->args_count++] = (uintptr_t)p->outputs[k].data;
    l->args[l->args_count++] = p->n;
    l->message_args = 1u << l->args_count++;
    problem_append_init(p, l);
    if (scan_kind_of(p) == SCAN_BY_KEY) TRY(problem_place_input(p, KEYS, l, RUNS));
    if (in_segments(p)) TRY(problem_place_input(p, offsets_of(p), l, RUNS));
    return problem_place_input(p, ITEMS, l, IN);
}

enum { TILES_KERNEL, SEGMENTS_KERNEL };

// Items of a segment that a team scans (scan_segments.h): all, if blocks soon scan whatever there
// is; a few times the mean, if the mean is a warp's and tiles may scan the others again, which is
// not so in place; 0 if there are no teams.
static uint64_t longest_for(const problem *p, const instance *i)
{
    enum { WARP = 32, SOON = 524288, LEAST_MEAN = 32, TIMES = 4, LEAST = 1024 };
    uint64_t count = scan_numbers_of(p).segments, threads = i->kernels[SEGMENTS_KERNEL].threads;
    if (!in_segments(p) || count == 0 || threads == 1) return 0;
    uint64_t mean = p->n / count, size = cubc_type_size((cubc_type)p->type);
    uint64_t ipt = (uint64_t)variant_value(&i->space, &i->variant, "ipt", 1);
    uint64_t resident = resident_blocks(i, &i->kernels[SEGMENTS_KERNEL]);
    if (mean < LEAST_MEAN) return 0;
    if (p->n * size <= SOON && mean <= threads * ipt && count <= 2 * resident) return p->n;
    bool enough = count >= (uint64_t)i->device->info.sm_count;
    if (p->in_place || !enough || mean > 4 * WARP * ipt) return 0;
    return smaller(p->n - 1, larger(TIMES * mean, LEAST));
}

static cubc_status scan_plan(const problem *p, const instance *i, plan *out)
{
    enum { WARP = 32 };
    const device_kernel *kernel = &i->kernels[TILES_KERNEL];
    uint64_t tile = (uint64_t)variant_value(&i->space, &i->variant, "ipt", 1) * kernel->threads;
    uint64_t tiles = ceil_div(p->n, tile), longest = longest_for(p, i);
    // A message behind those of the tiles is that there is a segment for them.
    TRY(scan_launch(p, kernel, tiles, tiles + in_segments(p), out));
    launch *l = &out->launches[0];
    l->args[l->args_count++] = longest;
    l->shape.cluster = problem_cluster(i, tiles);
    if (longest == 0 || tiles == 0) return CUBC_OK;
    uint64_t teams = scan_numbers_of(p).segments + 2, warps = kernel->threads / WARP;
    uint64_t blocks = longest < p->n ? ceil_div(teams, warps) : teams;
    TRY(problem_blocks(p, blocks));
    out->launches[1] = *l;
    out->launch_count = longest < p->n ? 2 : 1;
    l->kernel = &i->kernels[SEGMENTS_KERNEL];
    l->shape.grid = (unsigned)blocks;
    l->shape.cluster = 0;
    return CUBC_OK;
}

// Runs of eight, as in select.unique; segments of 1 to about twice the mean length.
const char *scan_random(const problem *p, int k)
{
    if (k != KEYS) return NULL;
    return in_segments(p) ? problem_random_offsets : "random_u64(seed, i >> 3) >> 57";
}

static const field scan_fields[] = {
    FIELD_ARRAY(cubc_scan_params, in, FIELD_INPUT, type, n),
    FIELD_ARRAY(cubc_scan_params, keys, FIELD_INPUT, key_type, n),
    {"offsets", FIELD_LAZY, offsetof(cubc_scan_params, offsets),
     offsetof(cubc_scan_params, offset_type), 0, 0},
    FIELD(cubc_scan_params, segments, FIELD_COUNT),
    FIELD(cubc_scan_params, op, FIELD_TEXT),
    FIELD(cubc_scan_params, equal, FIELD_TEXT),
    FIELD(cubc_scan_params, inclusive, FIELD_INT),
    FIELD(cubc_scan_params, deterministic, FIELD_INT),
    FIELD(cubc_scan_params, acc_type, FIELD_TYPE),
    {"init", FIELD_VALUE, offsetof(cubc_scan_params, init), offsetof(cubc_scan_params, acc_type), 0,
     offsetof(cubc_scan_params, init_in_memory)},
    FIELD_ARRAY(cubc_scan_params, out, FIELD_OUTPUT, out_type, n),
};

#define BENCHMARK(name, ...) BENCHMARK_OF("scan." name, SCAN_CALL(__VA_ARGS__))
static const int lengths[] = {256};
static const benchmark scan_benchmarks[] = {
    BENCHMARK("exclusive.sum", .op = "sum"),
    BENCHMARK("inclusive.sum", .op = "sum", .inclusive = 1),
    BENCHMARK("inclusive.min", .op = "min", .inclusive = 1),
    BENCHMARK("inclusive.max", .op = "max", .inclusive = 1),
    BENCHMARK_OF("scan.by_key", SCAN_CALL_BY_KEY),
    BENCHMARK_OF("scan.segmented", .axes[SEGMENT_SIZE] = AXIS(lengths), SCAN_CALL_SEGMENTED)};

const algorithm scan_algorithm = {.name = "scan",
                                  .source = "scan.cu",
                                  .kernels = {"scan_tiles", "scan_segments"},
                                  .axes = {"Elements", "SegmentSize"},
                                  .benchmarks = scan_benchmarks,
                                  .benchmark_count = COUNT_OF(scan_benchmarks),
                                  FIELDS(scan_fields),
                                  .workload = scan_workload,
                                  .place = scan_place,
                                  .define = scan_define,
                                  .invalid = scan_invalid,
                                  .plan = scan_plan,
                                  .traffic = problem_array_bytes,
                                  .random = scan_random};
