// Descriptor of fixed_scan: kernels/fixed_scan.cu. It has no call of its own: deterministic scans
// come from the problems of scan.
#include "scan.h"

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

static cubc_status fixed_scan_workload(const benchmark *b, cubc_type type, uint64_t n, problem *out)
{
    size_t k = 0;
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
    text_printf(out, "#define TUNE_TILE %llu\n", (unsigned long long)tile_items(p));
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
    uint64_t tile = tile_items(p), tiles = p->n / tile + (p->n % tile != 0);
    uint64_t slots = tiles + (tiles / 32 + 1) + (tiles / 1024 + 1); // see kernels/fixed_look.h
    return scan_launch(p, &i->kernels[0], tiles, slots, out);
}

#define BENCHMARK(name) \
    {"fixed_scan." name, problem_all_types, PROBLEM_ALL_TYPES, problem_elements, 4}
static const benchmark fixed_scan_benchmarks[] = {BENCHMARK("sum"), BENCHMARK("by_key"),
                                                  BENCHMARK("segmented")};

const algorithm fixed_scan_algorithm = {.name = "fixed_scan",
                                        .source = "fixed_scan.cu",
                                        .kernels = {"fixed_scan_tiles"},
                                        .benchmarks = fixed_scan_benchmarks,
                                        .benchmark_count = COUNT_OF(fixed_scan_benchmarks),
                                        .workload = fixed_scan_workload,
                                        .define = fixed_scan_define,
                                        .invalid = fixed_scan_invalid,
                                        .plan = fixed_scan_plan,
                                        .traffic = problem_array_bytes,
                                        .random = fixed_scan_random};
