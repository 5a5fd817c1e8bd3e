// Descriptor of deterministic_scan: kernels/primitives/deterministic_scan.cu. It has no call of its
// own: deterministic scans and reductions by key come here (routes.c).
#include "base/integer.h"
#include "primitives/runs_shared.h"
#include "primitives/scan_shared.h"

#include <stdio.h>
#include <string.h>

enum { REDUCED, HEADS }; // outputs of a reduction of runs, before how many there are

static bool reduces(const problem *p)
{
    enum { OF_RUNS = 3 }; // results, keys, how many
    return p->output_count == OF_RUNS;
}

// ---- problems -----------------------------------------------------------------------------------
// Reorders the operands of runs, which have the keys first: here the values and their result are.
static void scan_runs(problem *p)
{
    const operand keys = p->inputs[RUNS_KEYS], heads = p->outputs[RUNS_HEADS];
    p->inputs[SCAN_ITEMS] = p->inputs[RUNS_VALUES];
    p->inputs[SCAN_KEYS] = keys;
    p->outputs[REDUCED] = p->outputs[RUNS_RESULTS];
    p->outputs[HEADS] = heads;
    p->type = p->inputs[SCAN_ITEMS].type;
    p->inclusive = true;
    scan_set_kind(p, SCAN_BY_KEY);
}

// One benchmark for all operators.
static void deterministic_scan_complete(const void *call, problem *p)
{
    static const char *const names[] = {[SCAN_WHOLE] = "deterministic_scan.sum",
                                        [SCAN_BY_KEY] = "deterministic_scan.by_key",
                                        [SCAN_BY_OFFSETS] = "deterministic_scan.segmented",
                                        [SCAN_OF_EQUAL_SIZE] = "deterministic_scan.segmented"};
    (void)call;
    if (reduces(p)) scan_runs(p);
    strcpy(p->benchmark, reduces(p) ? "deterministic_scan.runs" : names[scan_kind_of(p)]);
}

static const cubc_runs_params reduced_runs = {RUNS_REDUCE_CALL, .deterministic = 1};

static cubc_status deterministic_scan_workload(const benchmark *b, cubc_type type,
                                               const uint64_t *at, problem *out)
{
    if (b->call == &reduced_runs) {
        cubc_runs_params call = runs_call(b, type, at);
        call.op = operator_in_order(type);
        return runs_problem(&call, out);
    }
    cubc_scan_params call = scan_call(b, type, at);
    call.op = operator_in_order(type);
    call.deterministic = 1;
    return scan_problem(&call, out);
}

// ---- variants -----------------------------------------------------------------------------------
// TILE of the kernel.
static uint64_t tile_items(const problem *p)
{
    uint64_t item = cubc_type_size((cubc_type)p->type);
    uint64_t value = cubc_type_size((cubc_type)p->acc_type);
    uint64_t larger = item > value ? item : value;
    return problem_deterministic_tile(larger > 4 ? larger : 4);
}

static void deterministic_scan_define(const problem *p, text *out)
{
    problem_define_rounding(out);
    scan_define(p, out);
    text_printf(out, "#define TUNE_TILE %llu\n#define TUNE_REDUCE_RUNS %d\n",
                (unsigned long long)tile_items(p), reduces(p));
    if (!reduces(p)) return;
    text_printf(out, "#define TUNE_COUNT %s\n", p->wide ? "u64" : "u32");
    problem_define_input(p, SCAN_KEYS, "TUNE_KEYS", out);
}

static const char *deterministic_scan_invalid(const problem *p, const char *kind, const space *s,
                                              const variant *v)
{
    enum { MOST_WARPS = 8 }; // parts of a tile
    uint64_t threads = (uint64_t)variant_value(s, v, "tpb", 1);
    if (device_is_cpu(kind)) return NULL;
    if (MOST_WARPS % (threads / 32)) return "the parts of a tile do not fill the warps of a block";
    if (tile_items(p) / threads * scan_sum_bytes(p) > 512)
        return "the items of a thread do not fit its registers";
    return NULL;
}

static cubc_status deterministic_scan_plan(const problem *p, const instance *i, plan *out)
{
    uint64_t tile = tile_items(p), tiles = ceil_div(p->n, tile);
    if (reduces(p) && tiles == 0) tiles = 1; // which says that there are no runs
    // See kernels/grid/deterministic_look.h.
    uint64_t slots = tiles + (tiles / 32 + 1) + (tiles / 1024 + 1);
    return scan_launch(p, &i->kernels[0], tiles, slots, out);
}

// The number of runs is known for the benchmark only.
static double deterministic_scan_traffic(const problem *p)
{
    if (!reduces(p)) return problem_array_bytes(p);
    double run =
        (double)(operand_item_bytes(&p->outputs[REDUCED]) + operand_item_bytes(&p->outputs[HEADS]));
    return problem_input_bytes(p, SCAN_ITEMS) + problem_input_bytes(p, SCAN_KEYS) +
           (double)p->n / 8 * run;
}

static const int lengths[] = {256};
static const benchmark deterministic_scan_benchmarks[] = {
    BENCHMARK_OF("deterministic_scan.sum", SCAN_CALL(.op = "sum", .inclusive = 1)),
    BENCHMARK_OF("deterministic_scan.by_key", SCAN_CALL_BY_KEY),
    BENCHMARK_OF("deterministic_scan.segmented", .axes[SEGMENT_SIZE] = AXIS(lengths),
                 SCAN_CALL_SEGMENTED),
    BENCHMARK_OF("deterministic_scan.runs", .call = &reduced_runs)};

const algorithm deterministic_scan_algorithm = {.name = "deterministic_scan",
                                                .source = "deterministic_scan.cu",
                                                .kernels = {"deterministic_scan_tiles"},
                                                .axes = {"Elements", "SegmentSize"},
                                                .benchmarks = deterministic_scan_benchmarks,
                                                .benchmark_count =
                                                    COUNT_OF(deterministic_scan_benchmarks),
                                                .workload = deterministic_scan_workload,
                                                .complete = deterministic_scan_complete,
                                                .axis_values = scan_axis_values,
                                                .define = deterministic_scan_define,
                                                .invalid = deterministic_scan_invalid,
                                                .plan = deterministic_scan_plan,
                                                .traffic = deterministic_scan_traffic,
                                                .random = scan_random};
