// Structs of users, in GPU variants: reductions and scans of structs of 6 to 24 bytes with blocks
// of 64 to 256 threads, under a seed each of the random scheduler, instrumented by ASan and UBSan.
// And what a description of a struct may say.
#define _GNU_SOURCE
#include "compile/policy.h"
#include "cpu_fixture.h"
#include "run/algorithm.h"

#include <string.h>

enum { MOST = 2500, MEMBERS = 3 };

// x -> p x + q and how many maps it is made of; first a, then b. It does not commute.
static const char compose[] = "value_t{1u * a.p * b.p, 1u * b.p * a.q + b.q, a.n + b.n}";

typedef struct layout {
    size_t size, offsets[MEMBERS];
    cubc_type types[MEMBERS];
} layout;
static const layout layouts[] = {
    {6, {0, 2, 4}, {CUBC_U16, CUBC_U16, CUBC_U16}},
    {12, {0, 4, 8}, {CUBC_U32, CUBC_U32, CUBC_I32}},
    {16, {0, 4, 8}, {CUBC_U32, CUBC_U32, CUBC_U64}},
    {24, {0, 8, 16}, {CUBC_U32, CUBC_U32, CUBC_U64}}, // with gaps
};
static _Alignas(16) unsigned char maps[24 * MOST], results[24 * (MOST + 1)];
static uint64_t prefixes[MOST][MEMBERS];
static const layout *current;
static cubc_type type;

static void put(unsigned char *item, const uint64_t *values)
{
    for (int k = 0; k < MEMBERS; k++)
        memcpy(item + current->offsets[k], &values[k], cubc_type_size(current->types[k]));
}

static bool holds(const unsigned char *item, const uint64_t *values)
{
    bool same = true;
    for (int k = 0; k < MEMBERS; k++)
        same = same && memcmp(item + current->offsets[k], &values[k],
                              cubc_type_size(current->types[k])) == 0;
    return same;
}

static void use(const layout *l)
{
    static const char *const names[] = {"p", "q", "n"};
    cubc_member members[MEMBERS];
    uint64_t state = 1, *before = NULL;
    current = l;
    for (int k = 0; k < MEMBERS; k++)
        members[k] = (cubc_member){names[k], l->types[k], l->offsets[k], 0};
    CHECK_STATUS(cubc_type_struct(members, MEMBERS, l->size, &type), CUBC_OK);
    CHECK(cubc_type_size(type) == l->size);
    for (uint64_t i = 0; i < MOST; before = prefixes[i++]) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint64_t p = state >> 32 | 1, q = state >> 16; // an odd factor: nothing is forgotten
        put(maps + i * l->size, (uint64_t[]){p, q, 1});
        prefixes[i][0] = before ? before[0] * p : p;
        prefixes[i][1] = before ? p * before[1] + q : q;
        prefixes[i][2] = i + 1;
    }
}

static const uint64_t sizes[] = {1, 33, 257, 1024, MOST};

static void check_reduce(cubc_device *device)
{
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        cubc_reduce_params params = {.in = maps, .out = results, .n = sizes[s], .op = compose};
        params.type = params.acc_type = params.out_type = type;
        memset(results, 0, sizeof results);
        CHECK_STATUS(cubc_reduce(device, &params, NULL, 0, NULL), CUBC_OK);
        CHECK(holds(results, prefixes[sizes[s] - 1]));
    }
}

static void check_scan(cubc_device *device, int inclusive)
{
    static const uint64_t identity[] = {1, 0, 0};
    uint64_t init[3] = {0};
    put((unsigned char *)init, identity);
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        uint64_t n = sizes[s], wrong = 0;
        cubc_scan_params params = {.in = maps,
                                   .out = results,
                                   .n = n,
                                   .op = compose,
                                   .inclusive = inclusive,
                                   .init = inclusive ? NULL : init};
        params.type = params.acc_type = params.out_type = type;
        memset(results, 0xAB, sizeof results);
        CHECK_STATUS(cubc_scan(device, &params, NULL, 0, NULL), CUBC_OK);
        for (uint64_t i = 0; i < n; i++)
            wrong += !holds(results + i * current->size, inclusive ? prefixes[i]
                                                         : i       ? prefixes[i - 1]
                                                                   : identity);
        CHECK(wrong == 0);
        for (size_t b = 0; b < current->size; b++) // nothing is written past the end
            CHECK(results[n * current->size + b] == 0xAB);
    }
}

static void check_inclusive(cubc_device *device)
{
    check_scan(device, 1);
}

static void check_exclusive(cubc_device *device)
{
    check_scan(device, 0);
}

static void under_seed(const char *seed, const char *benchmark, const char *label,
                       void (*check)(cubc_device *device))
{
    cubc_device *device = open_with("2", seed);
    CHECK_STATUS(policy_overlay("cpu", benchmark, cubc_type_name(type), NULL, label), CUBC_OK);
    if (device) check(device);
    cubc_device_close(device);
    policy_clear();
}

static const char *const seeds[] = {"1", "2", "3", "4"};
// Each layout has one variant: instrumented ones take long to compile. Not all fill two of a
// vector.
static const int label_of[] = {0, 1, 1, 0};

static void test_reduce(void)
{
    static const char *const labels[] = {
        "ipt_4.tpb_128.ipv_0.ld_0.sm_0.wav_6.ms_1.ord_0",
        "ipt_8.tpb_256.ipv_1.ld_1.sm_1.wav_1.ms_1.ord_0", // vectors of two
    };
    for (size_t k = 0; k < COUNT_OF(layouts); k++) {
        use(&layouts[k]);
        under_seed(seeds[k], "reduce.custom", labels[label_of[k]], check_reduce);
    }
}

static void test_scan(void)
{
    static const char *const labels[] = {
        "ipt_4.tpb_64.mb_1.pk_0.ipv_0.ld_0.la_0.ord_0.lb_1.ns_0.l2w_0",
        "ipt_8.tpb_96.mb_1.pk_2.ipv_1.ld_1.la_0.ord_0.lb_3.ns_0.l2w_0",
    };
    for (size_t k = 0; k < COUNT_OF(layouts); k++) {
        use(&layouts[k]);
        under_seed(seeds[k], "scan.inclusive.custom", labels[label_of[k]], check_inclusive);
        if (k == 0) under_seed(seeds[k], "scan.exclusive.custom", labels[0], check_exclusive);
    }
}

// ---- descriptions -------------------------------------------------------------------------------
static void test_the_same_description_is_the_same_type(void)
{
    cubc_member members[] = {{"x", CUBC_F32, 0, 0}, {"v", CUBC_I16, 4, 3}};
    cubc_type first, second, other;
    CHECK_STATUS(cubc_type_struct(members, 2, 12, &first), CUBC_OK);
    CHECK_STATUS(cubc_type_struct(members, 2, 12, &second), CUBC_OK);
    CHECK_STATUS(cubc_type_struct(members, 2, 16, &other), CUBC_OK);
    CHECK(first == second && first != other && first >= CUBC_TYPE_COUNT);
    CHECK_CONTAINS(type_table[first].description, "{f32 x; i16 v[3]; 12 bytes}");
}

static void test_wrong_descriptions(void)
{
    static const struct {
        cubc_member members[2];
        size_t size;
        const char *message;
    } wrong[] = {
        {{{"x", CUBC_F32, 0, 0}, {"x", CUBC_F32, 4, 0}}, 8, "two members are called 'x'"},
        {{{"x", CUBC_F32, 0, 0}, {"y", CUBC_F32, 3, 0}}, 8, "do not overlap"},
        {{{"x", CUBC_F32, 0, 0}, {"y", CUBC_F64, 4, 0}}, 8, "'y' ends behind the 8 bytes"},
        {{{"x", CUBC_F32, 0, 0}, {"y", CUBC_F64, SIZE_MAX, 0}}, 8, "'y' ends behind the 8 bytes"},
        {{{"x", CUBC_F32, 0, 0}, {"int", CUBC_F32, 4, 0}}, 8, "'int' cannot name a member"},
        {{{"x", CUBC_F32, 0, 0}, {"", CUBC_F32, 4, 0}}, 8, "'' cannot name a member"},
        {{{"x", CUBC_F32, 0, 0}, {NULL, CUBC_F32, 4, 0}}, 8, "'' cannot name a member"},
        {{{"x", CUBC_F32, 0, 0}, {"y", (cubc_type)254, 4, 0}}, 8, "unknown type (254)"},
        {{{"x", CUBC_F32, 0, -1}, {"y", CUBC_F32, 4, 0}}, 8, "'x' has -1 values"},
        {{{"x", CUBC_U8, 0, 0}, {"z", CUBC_C64, 1, 0}}, 9, "multiple of 4 bytes"},
        {{{"x", CUBC_F64, 0, 8}, {"y", CUBC_F64, 64, 0}}, 72, "72 bytes is too large"},
    };
    cubc_type made;
    for (size_t k = 0; k < COUNT_OF(wrong); k++) {
        CHECK(cubc_type_struct(wrong[k].members, 2, wrong[k].size, &made) != CUBC_OK);
        CHECK_CONTAINS(cubc_error_message(), wrong[k].message);
    }
    CHECK_STATUS(cubc_type_struct(NULL, 0, 8, &made), CUBC_INVALID_ARGUMENT);
    CHECK_CONTAINS(cubc_error_message(), "needs a member");
}

static void test_failing_allocations(void)
{
    cubc_member member = {"only_here", CUBC_F32, 0, 0};
    cubc_type made;
    cubc_status status = CUBC_NO_MEMORY;
    for (long n = 1; status && n < 100; n++) {
        long before = mem_outstanding();
        mem_fail_at(n);
        status = cubc_type_struct(&member, 1, 4, &made);
        mem_fail_at(0);
        CHECK(status == CUBC_OK || (status == CUBC_NO_MEMORY && mem_outstanding() == before));
    }
    CHECK(status == CUBC_OK);
}

static void test_no_more_room(void)
{
    cubc_type made = CUBC_BOOL;
    cubc_status status = CUBC_OK;
    int count = 0;
    while (!status && count < 1000) {
        char name[16];
        snprintf(name, sizeof name, "x%d", count);
        cubc_member member = {name, CUBC_F32, 0, 0};
        status = cubc_type_struct(&member, 1, 4, &made);
        count += !status;
    }
    CHECK(status == CUBC_INVALID_ARGUMENT && made == CUBC_TYPE_LAST);
    CHECK_CONTAINS(cubc_error_message(), "at most 240 different structs");
    use(&layouts[1]); // what is known stays
}

static const check_test tests[] = {
    {"reduce", test_reduce},
    {"scan", test_scan},
    {"the same description is the same type", test_the_same_description_is_the_same_type},
    {"wrong descriptions", test_wrong_descriptions},
    {"failing allocations", test_failing_allocations},
    {"no more room", test_no_more_room},
};

int main(int argc, char **argv)
{
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
