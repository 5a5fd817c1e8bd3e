// Descriptor of scan: kernels/primitives/scan.cu.
#include "base/integer.h"
#include "primitives/scan_shared.h"

#include <string.h>

static void scan_complete(const void *call, problem *p)
{
    (void)call;
    if (scan_kind_of(p) != SCAN_WHOLE) { // one for all operators
        strcpy(p->benchmark, scan_in_segments(p) ? "scan.segmented" : "scan.by_key");
        return;
    }
    problem_set_benchmark(p, p->inclusive ? "scan.inclusive." : "scan.exclusive.",
                          problem_operator_name(p));
}

static cubc_status scan_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                 problem *out)
{
    const cubc_scan_params call = scan_call(b, type, at);
    return scan_problem(&call, out);
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

enum { TILES_KERNEL, SEGMENTS_KERNEL };

// Items of a segment that a team scans (scan_segments.h): all, if blocks soon scan whatever there
// is; a few times the mean, if the mean is a warp's and tiles may scan the others again, which is
// not so in place; 0 if there are no teams.
static uint64_t longest_for(const problem *p, const instance *i)
{
    enum { WARP = 32, SOON = 524288, LEAST_MEAN = 32, TIMES = 4, LEAST = 1024 };
    uint64_t count = scan_segments(p), threads = i->kernels[SEGMENTS_KERNEL].threads;
    if (!scan_in_segments(p) || count == 0 || threads == 1) return 0;
    uint64_t mean = p->n / count, size = cubc_type_size((cubc_type)p->type);
    uint64_t ipt = instance_value(i, "ipt", 1);
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
    uint64_t tile = instance_tile(i, kernel);
    uint64_t tiles = ceil_div(p->n, tile), longest = longest_for(p, i);
    // A message behind those of the tiles is that there is a segment for them.
    TRY(scan_launch(p, kernel, tiles, tiles + scan_in_segments(p), out));
    launch *l = &out->launches[0];
    launch_add(l, longest);
    l->shape.cluster = problem_cluster(i, tiles);
    if (longest == 0 || tiles == 0) return CUBC_OK;
    uint64_t teams = scan_segments(p) + 2, warps = kernel->threads / WARP;
    uint64_t blocks = longest < p->n ? ceil_div(teams, warps) : teams;
    TRY(problem_check_blocks(p, blocks));
    out->launches[1] = *l;
    out->launch_count = longest < p->n ? 2 : 1;
    l->kernel = &i->kernels[SEGMENTS_KERNEL];
    l->shape.grid = (unsigned)blocks;
    l->shape.cluster = 0;
    return CUBC_OK;
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
                                  .keeps_sums = true,
                                  .benchmarks = scan_benchmarks,
                                  .benchmark_count = COUNT_OF(scan_benchmarks),
                                  FIELDS(scan_fields),
                                  .workload = scan_workload,
                                  .complete = scan_complete,
                                  .axis_values = scan_axis_values,
                                  .define = scan_define,
                                  .invalid = scan_invalid,
                                  .plan = scan_plan,
                                  .traffic = problem_array_bytes,
                                  .random = scan_random};
