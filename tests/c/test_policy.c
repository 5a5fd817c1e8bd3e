// Which shipped row a workload gets: those for its number of items, and that their labels are
// variants.
#include "check.h"
#include "compile/policy.h"
#include "run/algorithm.h"

#include <stdio.h>
#include <string.h>

static const char *label_of(const char *benchmark, cubc_type type, const char *arch,
                            policy_size size)
{
    const algorithm *a;
    const struct benchmark *b;
    const char *label = "";
    CHECK_STATUS(benchmark_find(benchmark, &a, &b), CUBC_OK);
    const policy_key key = {.arch = arch,
                            .algorithm = a->name,
                            .benchmark = benchmark,
                            .type = cubc_type_name(type),
                            .type_size = cubc_type_size(type),
                            .size = size};
    CHECK_STATUS(policy_base(&key, &label), CUBC_OK);
    return label;
}

static bool differ_at(policy_size size, const char *benchmark, cubc_type type, const char *arch)
{
    return strcmp(label_of(benchmark, type, arch, size),
                  label_of(benchmark, type, arch, POLICY_ANY_SIZE));
}

static bool differ(const char *benchmark, cubc_type type, const char *arch)
{
    return differ_at(POLICY_SMALL, benchmark, type, arch);
}

static void test_few_items(void)
{
    CHECK(differ("scan.exclusive.sum", CUBC_F64, "sm_90"));
    CHECK(differ("scan.inclusive.max", CUBC_F64, "sm_90")); // the algorithm's row
    CHECK(differ("scan.exclusive.sum", CUBC_F64, "sm_100"));
    CHECK(differ("select.if", CUBC_I8, "sm_90"));
    CHECK(!differ("select.three_way", CUBC_I8, "sm_90")); // the row is another benchmark's
    CHECK(!differ("select.if", CUBC_C128, "sm_90"));      // another type's
    CHECK(!differ("scan.exclusive.sum", CUBC_F64, "sm_80"));
    CHECK(!differ("scan.exclusive.sum", CUBC_F64, "cpu"));
}

static void test_sizes(void)
{
    CHECK(policy_size_of(0) == POLICY_TINY);
    CHECK(policy_size_of(1 << 16) == POLICY_TINY);
    CHECK(policy_size_of((1 << 16) + 1) == POLICY_SMALL);
    CHECK(policy_size_of(1 << 20) == POLICY_SMALL);
    CHECK(policy_size_of((1 << 20) + 1) == POLICY_MIDDLE);
    CHECK(policy_size_of(1 << 25) == POLICY_MIDDLE);
    CHECK(policy_size_of((1 << 25) + 1) == POLICY_ANY_SIZE);
    CHECK(policy_size_of(UINT64_MAX) == POLICY_ANY_SIZE);
    CHECK(differ_at(POLICY_MIDDLE, "reduce.sum", CUBC_F32, "sm_90"));
    CHECK(strcmp(label_of("reduce.sum", CUBC_F32, "sm_90", POLICY_MIDDLE),
                 label_of("reduce.sum", CUBC_F32, "sm_90", POLICY_SMALL)));
    CHECK(!differ_at(POLICY_MIDDLE, "reduce.sum", CUBC_F32, "sm_80"));
    CHECK(strcmp(label_of("scan.exclusive.sum", CUBC_I8, "sm_90", POLICY_TINY),
                 label_of("scan.exclusive.sum", CUBC_I8, "sm_90", POLICY_SMALL)));
    CHECK(differ_at(POLICY_TINY, "histogram.even.256", CUBC_F32, "sm_90")); // the row of small ones
}

static void test_labels_are_variants(void)
{
    static const char *const benchmarks[] = {
        "reduce.sum",      "scan.exclusive.sum", "select.if", "histogram.even.256",
        "sort.keys.small", "sort.keys",          "sort.pairs"};
    for (size_t k = 0; k < 3 * COUNT_OF(benchmarks); k++) {
        const char *name = benchmarks[k / 3];
        for (int type = CUBC_I8; type <= CUBC_F64; type++) {
            const algorithm *a;
            const struct benchmark *b;
            space s;
            variant v;
            CHECK_STATUS(benchmark_find(name, &a, &b), CUBC_OK);
            CHECK_STATUS(algorithm_space(a, "sm_90", &s), CUBC_OK);
            const char *label =
                label_of(name, (cubc_type)type, "sm_90", (policy_size)(POLICY_TINY + (int)(k % 3)));
            CHECK_STATUS(variant_parse(&s, label, &v), CUBC_OK);
        }
    }
}

// Accumulators may be wider than the items that a row goes by: another row has to do then.
static void test_wider_accumulators(void)
{
    static const char *const benchmarks[] = {"scan.exclusive.sum", "scan.by_key", "reduce.sum",
                                             "segmented_reduce.sum.small"};
    static const char *const archs[] = {"sm_75", "sm_80", "sm_90", "sm_100", "cpu"};
    static const cubc_type wider[] = {CUBC_I32, CUBC_I64, CUBC_F64, CUBC_C128};
    for (size_t k = 0; k < COUNT_OF(benchmarks) * COUNT_OF(archs) * COUNT_OF(wider); k++) {
        const char *name = benchmarks[k % COUNT_OF(benchmarks)];
        const char *arch = archs[k / COUNT_OF(benchmarks) % COUNT_OF(archs)];
        for (int type = CUBC_BOOL; type <= CUBC_F64; type++) {
            const algorithm *a;
            const struct benchmark *b;
            problem p;
            space s;
            variant v;
            char label[MAX_LABEL];
            CHECK_STATUS(benchmark_find(name, &a, &b), CUBC_OK);
            CHECK_STATUS(a->workload(b, (cubc_type)type, 1 << 22, &p), CUBC_OK);
            p.algorithm = a;
            snprintf(p.benchmark, sizeof p.benchmark, "%s", name);
            p.acc_type = (uint8_t)wider[k / COUNT_OF(benchmarks) / COUNT_OF(archs)];
            for (int size = POLICY_ANY_SIZE; size <= POLICY_MIDDLE; size++) {
                p.size = (policy_size)size;
                CHECK_STATUS(algorithm_variant(&p, arch, "base", &s, &v, label), CUBC_OK);
            }
        }
    }
}

static const check_test tests[] = {
    {"few items", test_few_items},
    {"sizes", test_sizes},
    {"labels are variants", test_labels_are_variants},
    {"wider accumulators", test_wider_accumulators},
};

int main(int argc, char **argv)
{
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
