// Tests which rows a workload gets, which of them a call runs, and that labels are variants.
#include "check.h"
#include "compile/policy.h"
#include "measure/workload.h"
#include "run/algorithm.h"
#include "run/problem.h"

#include <stdio.h>
#include <string.h>

static const char *const benchmarks[] = {"reduce.sum",
                                         "reduce.argmin",
                                         "scan.exclusive.sum",
                                         "scan.by_key",
                                         "select.if",
                                         "histogram.even",
                                         "segmented_reduce.sum",
                                         "axis_reduce.sum",
                                         "segmented_sort.pairs",
                                         "sort.keys",
                                         "sort.pairs"};
static const char *const archs[] = {"sm_75", "sm_80", "sm_90", "sm_100", "cpu"};

static void open_problem(const char *benchmark, cubc_type type, uint64_t elements, problem *out)
{
    const uint64_t at[POLICY_AXES] = {elements, 256, 64};
    CHECK_STATUS(workload_problem_at(benchmark, type, at, out), CUBC_OK);
}

// The label of the row that a call of n elements runs; 0: of no call in particular.
static const char *label_at(const char *benchmark, cubc_type type, const char *arch,
                            uint64_t elements)
{
    static char label[MAX_LABEL];
    uint64_t values[POLICY_AXES];
    problem p;
    policy_list rows;
    open_problem(benchmark, type, elements ? elements : 1 << 20, &p);
    CHECK_STATUS(algorithm_policies(&p, arch, &rows), CUBC_OK);
    problem_axis_values(&p, values);
    int row = policy_choose(&rows, elements ? values : NULL, false);
    CHECK(row >= 0);
    snprintf(label, sizeof label, "%s", row >= 0 ? rows.rows[row].label : "");
    policy_list_free(&rows);
    return label;
}

static bool differ(const char *benchmark, cubc_type type, const char *arch, uint64_t elements)
{
    char any[MAX_LABEL];
    snprintf(any, sizeof any, "%s", label_at(benchmark, type, arch, 0));
    return strcmp(any, label_at(benchmark, type, arch, elements)) != 0;
}

static void test_few_items(void)
{
    const uint64_t few = 1 << 18;
    CHECK(differ("scan.exclusive.sum", CUBC_F64, "sm_90", few));
    CHECK(differ("scan.inclusive.max", CUBC_F64, "sm_90", few)); // the algorithm's row
    CHECK(differ("scan.exclusive.sum", CUBC_F64, "sm_100", few));
    CHECK(!differ("scan.exclusive.sum", CUBC_F64, "sm_120", few)); // blocks have less shared memory
    CHECK(differ("select.if", CUBC_I8, "sm_90", few));
    CHECK(!differ("select.three_way", CUBC_I8, "sm_90", few)); // the row is another benchmark's
    CHECK(!differ("scan.by_key", CUBC_I8, "sm_90", few)); // its own come before the algorithm's
    CHECK(!differ("reduce.argmin", CUBC_I16, "sm_90", few));
    CHECK(!differ("scan.exclusive.sum", CUBC_F64, "sm_80", few));
    CHECK(!differ("scan.exclusive.sum", CUBC_F64, "cpu", few));
}

// Both ends of a range belong to it, and narrower ranges come before wider ones.
static void test_ranges(void)
{
    static const uint64_t ends[] = {1, 1 << 16, (1 << 16) + 1, 1 << 20, (1 << 20) + 1, 1 << 25};
    char labels[COUNT_OF(ends)][MAX_LABEL];
    for (size_t k = 0; k < COUNT_OF(ends); k++)
        snprintf(labels[k], MAX_LABEL, "%s", label_at("reduce.sum", CUBC_F32, "sm_90", ends[k]));
    for (size_t k = 0; k + 1 < COUNT_OF(ends); k += 2) CHECK(!strcmp(labels[k], labels[k + 1]));
    CHECK(strcmp(labels[0], labels[2]) && strcmp(labels[2], labels[4]));
    CHECK(differ("reduce.sum", CUBC_F32, "sm_90", 1 << 25));
    CHECK(!differ("reduce.sum", CUBC_F32, "sm_90", (1 << 25) + 1));
}

static void test_labels_are_variants(void)
{
    for (size_t k = 0; k < COUNT_OF(benchmarks) * COUNT_OF(archs); k++) {
        const char *arch = archs[k / COUNT_OF(benchmarks)];
        for (int type = CUBC_I8; type <= CUBC_F64; type++) {
            problem p;
            policy_list rows;
            space s;
            variant v;
            open_problem(benchmarks[k % COUNT_OF(benchmarks)], (cubc_type)type, 1 << 20, &p);
            CHECK_STATUS(algorithm_space(p.algorithm, arch, &s), CUBC_OK);
            CHECK_STATUS(algorithm_policies(&p, arch, &rows), CUBC_OK);
            for (int row = 0; row < rows.count; row++)
                CHECK_STATUS(variant_parse(&s, rows.rows[row].label, &v), CUBC_OK);
            policy_list_free(&rows);
        }
    }
}

// Operands of a lazy input, which may be structs, decide on the size.
static void test_items_of_every_size_have_a_row(void)
{
    static const size_t sizes[] = {1, 2, 4, 8, 12, 16, 64};
    for (const algorithm *const *a = algorithm_list; *a; a++)
        for (size_t k = 0; k < COUNT_OF(archs) * COUNT_OF(sizes); k++)
            for (int b = 0; b < (*a)->benchmark_count; b++) {
                const policy_key key = {.arch = archs[k / COUNT_OF(sizes)],
                                        .algorithm = (*a)->name,
                                        .benchmark = (*a)->benchmarks[b].name,
                                        .type = "a struct",
                                        .type_size = sizes[k % COUNT_OF(sizes)],
                                        .axes = algorithm_axes(*a)};
                policy_list rows;
                space s;
                variant v;
                CHECK_STATUS(algorithm_space(*a, key.arch, &s), CUBC_OK);
                CHECK_STATUS(policy_list_make(&key, &rows), CUBC_OK);
                for (int row = 0; row < rows.count; row++)
                    CHECK_STATUS(variant_parse(&s, rows.rows[row].label, &v), CUBC_OK);
                policy_list_free(&rows);
            }
}

// Accumulators may be wider than the items that a row goes by: another row has to do then.
static void test_wider_accumulators(void)
{
    static const char *const reductions[] = {"scan.exclusive.sum", "scan.by_key", "reduce.sum",
                                             "segmented_reduce.sum"};
    static const cubc_type wider[] = {CUBC_I32, CUBC_I64, CUBC_F64, CUBC_C128};
    static const uint64_t elements[] = {1 << 10, 1 << 18, 1 << 22, 1 << 28};
    for (size_t k = 0; k < COUNT_OF(reductions) * COUNT_OF(archs) * COUNT_OF(wider); k++) {
        const char *name = reductions[k % COUNT_OF(reductions)];
        const char *arch = archs[k / COUNT_OF(reductions) % COUNT_OF(archs)];
        for (int type = CUBC_BOOL; type <= CUBC_F64; type++)
            for (size_t e = 0; e < COUNT_OF(elements); e++) {
                problem p;
                space s;
                variant v;
                char label[MAX_LABEL];
                open_problem(name, (cubc_type)type, elements[e], &p);
                p.acc_type = (uint8_t)wider[k / COUNT_OF(reductions) / COUNT_OF(archs)];
                CHECK_STATUS(algorithm_variant(&p, arch, "base", &s, &v, label), CUBC_OK);
            }
    }
}

// A thread of a scan has a sum for each item; one of a reduction has a few.
static void test_scans_that_widen(void)
{
    static const char *const scans[] = {"scan.inclusive.sum", "scan.by_key"};
    problem p;
    for (size_t k = 0; k < COUNT_OF(scans); k++) {
        open_problem(scans[k], CUBC_I8, 1 << 20, &p);
        CHECK(problem_policy_type(&p) == CUBC_I8);
        p.acc_type = CUBC_I64;
        CHECK(problem_policy_type(&p) == CUBC_I64);
        p.type = CUBC_F64;
        p.acc_type = CUBC_F32;
        CHECK(problem_policy_type(&p) == CUBC_F64);
    }
    open_problem("reduce.sum", CUBC_I8, 1 << 20, &p);
    p.acc_type = CUBC_I64;
    CHECK(problem_policy_type(&p) == CUBC_I8);
}

static void overlay(const uint64_t *elements, const char *label)
{
    const uint64_t values[POLICY_AXES] = {elements ? *elements : 0};
    CHECK_STATUS(policy_overlay("cpu", "transform.fill", "F32", elements ? values : NULL, label),
                 CUBC_OK);
}

static void check_label(uint64_t elements, const char *label)
{
    CHECK(!strcmp(label_at("transform.fill", CUBC_F32, "cpu", elements), label));
}

// Two octaves to either side, and the nearest of several.
static void test_overlaid_rows(void)
{
    const uint64_t at = 1 << 16, near = 1 << 18;
    static const char *const with_ipt[] = {"ipt_1024.tpb_1.ipv_4.ld_0", "ipt_2048.tpb_1.ipv_4.ld_0",
                                           "ipt_3072.tpb_1.ipv_4.ld_0", "ipt_5120.tpb_1.ipv_4.ld_0",
                                           "ipt_6144.tpb_1.ipv_4.ld_0"};
    char shipped[MAX_LABEL];
    snprintf(shipped, sizeof shipped, "%s", label_at("transform.fill", CUBC_F32, "cpu", 0));
    overlay(&at, with_ipt[0]);
    check_label(1 << 14, with_ipt[0]);
    check_label(1 << 18, with_ipt[0]);
    check_label((1 << 14) - 1, shipped);
    check_label((1 << 18) + 1, shipped);
    check_label(0, shipped);
    overlay(&near, with_ipt[1]);
    check_label((1 << 17) - 100, with_ipt[0]);
    check_label((1 << 17) + 100, with_ipt[1]);
    overlay(&at, with_ipt[2]); // in place of the first
    check_label(1 << 14, with_ipt[2]);
    overlay(NULL, with_ipt[3]); // in place of all
    check_label(1 << 16, with_ipt[3]);
    check_label(0, with_ipt[3]);
    overlay(&at, with_ipt[4]);
    check_label(1 << 16, with_ipt[4]);
    check_label(1 << 20, with_ipt[3]);
    policy_clear();
    check_label(1 << 16, shipped);
}

static const check_test tests[] = {
    {"few items", test_few_items},
    {"ranges", test_ranges},
    {"labels are variants", test_labels_are_variants},
    {"items of every size have a row", test_items_of_every_size_have_a_row},
    {"wider accumulators", test_wider_accumulators},
    {"scans that widen", test_scans_that_widen},
    {"overlaid rows", test_overlaid_rows},
};

int main(int argc, char **argv)
{
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
