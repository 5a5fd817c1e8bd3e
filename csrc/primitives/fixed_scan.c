// Descriptor of fixed_scan: kernels/primitives/fixed_scan.cu. It has no call of its own:
// deterministic scans come from the problems of scan, and reductions by key from those of runs.
#include "base/integer.h"
#include "primitives/scan.h"

#include <stdio.h>
#include <string.h>

static const struct { // benchmarks here, and those of scan with the same problems
    const char *name, *of_scan;
} names[] = {{"fixed_scan.sum", "scan.inclusive.sum"},
             {"fixed_scan.by_key", "scan.by_key"},
             {"fixed_scan.segmented", "scan.segmented"}};

// One for all operators.
void problem_fix_scan(problem *p)
{
    size_t k = COUNT_OF(names) - 1;
    while (k > 0 && strcmp(p->benchmark, names[k].of_scan) != 0) k--;
    p->algorithm = &fixed_scan_algorithm;
    snprintf(p->benchmark, sizeof p->benchmark, "%s", names[k].name);
}

enum { REDUCED, HEADS, COUNT, REDUCTION_OUTPUTS }; // of runs: results, keys, how many

static bool reduces(const problem *p)
{
    return p->output_count == REDUCTION_OUTPUTS;
}

// The scanned array and its result come first here, after the keys in runs.
void problem_fix_runs(problem *p)
{
    const operand keys = p->inputs[0], heads = p->outputs[0];
    p->inputs[SCAN_ITEMS] = p->inputs[1];
    p->inputs[SCAN_KEYS] = keys;
    p->outputs[REDUCED] = p->outputs[1];
    p->outputs[HEADS] = heads;
    p->type = p->inputs[SCAN_ITEMS].type;
    p->inclusive = true;
    p->algorithm = &fixed_scan_algorithm;
    scan_by_keys(p);
    strcpy(p->benchmark, "fixed_scan.runs");
}

static cubc_status fixed_scan_workload(const benchmark *b, cubc_type type, uint64_t n, problem *out)
{
    size_t k = 0;
    if (strcmp(b->name, "fixed_scan.runs") == 0) {
        const benchmark runs = {.name = "runs.reduce"};
        TRY(runs_algorithm.workload(&runs, type, n, out));
        problem_fix_runs(out);
        return CUBC_OK;
    }
    while (strcmp(names[k].name, b->name) != 0) k++;
    const benchmark same = {.name = names[k].of_scan};
    return scan_algorithm.workload(&same, type, n, out);
}

static const char *fixed_scan_random(const problem *p, int k)
{
    return scan_algorithm.random(p, k);
}

// TILE of the kernel.
static uint64_t tile_items(const problem *p)
{
    uint64_t item = cubc_type_size((cubc_type)p->type);
    uint64_t value = cubc_type_size((cubc_type)p->acc_type);
    uint64_t larger = item > value ? item : value;
    return problem_fixed_tile(larger > 4 ? larger : 4);
}

static void fixed_scan_define(const problem *p, text *out)
{
    problem_define_rounding(out);
    scan_algorithm.define(p, out);
    text_printf(out, "#define TUNE_TILE %llu\n#define TUNE_REDUCE_RUNS %d\n",
                (unsigned long long)tile_items(p), reduces(p));
    if (!reduces(p)) return;
    text_printf(out, "#define TUNE_COUNT %s\n", p->wide ? "u64" : "u32");
    problem_define_input(p, SCAN_KEYS, "TUNE_KEYS", out);
}

static const char *fixed_scan_invalid(const problem *p, const char *kind, const space *s,
                                      const variant *v)
{
    enum { MOST_WARPS = 8 }; // parts of a tile
    uint64_t threads = (uint64_t)variant_value(s, v, "tpb", 1);
    if (strcmp(kind, "cpu") == 0) return NULL;
    if (MOST_WARPS % (threads / 32)) return "the parts of a tile do not fill the warps of a block";
    if (tile_items(p) / threads * scan_sum_bytes(p) > 512)
        return "the items of a thread do not fit its registers";
    return NULL;
}

static cubc_status fixed_scan_plan(const problem *p, const instance *i, plan *out)
{
    uint64_t tile = tile_items(p), tiles = ceil_div(p->n, tile);
    if (reduces(p) && tiles == 0) tiles = 1; // which says that there are no runs
    uint64_t slots = tiles + (tiles / 32 + 1) + (tiles / 1024 + 1); // see kernels/grid/fixed_look.h
    return scan_launch(p, &i->kernels[0], tiles, slots, out);
}

// The number of runs is known for the benchmark only.
static double fixed_scan_traffic(const problem *p)
{
    if (!reduces(p)) return problem_array_bytes(p);
    double run =
        (double)(operand_item_bytes(&p->outputs[REDUCED]) + operand_item_bytes(&p->outputs[HEADS]));
    return problem_input_bytes(p, SCAN_ITEMS) + problem_input_bytes(p, SCAN_KEYS) +
           (double)p->n / 8 * run;
}

#define BENCHMARK(name) \
    {"fixed_scan." name, problem_all_types, PROBLEM_ALL_TYPES, problem_elements, 4}
static const benchmark fixed_scan_benchmarks[] = {BENCHMARK("sum"), BENCHMARK("by_key"),
                                                  BENCHMARK("segmented"), BENCHMARK("runs")};

const algorithm fixed_scan_algorithm = {.name = "fixed_scan",
                                        .source = "fixed_scan.cu",
                                        .kernels = {"fixed_scan_tiles"},
                                        .benchmarks = fixed_scan_benchmarks,
                                        .benchmark_count = COUNT_OF(fixed_scan_benchmarks),
                                        .workload = fixed_scan_workload,
                                        .define = fixed_scan_define,
                                        .invalid = fixed_scan_invalid,
                                        .plan = fixed_scan_plan,
                                        .traffic = fixed_scan_traffic,
                                        .random = fixed_scan_random};
