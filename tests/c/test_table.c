// The table of loaded variants: what a call runs follows from the call and the policies, and from
// nothing that was called before. And what two threads leave of code that does not compile, and how
// they wait for each other.
#define _GNU_SOURCE
#include "cache_fixture.h"
#include "compile/claim.h"
#include "measure/workload.h"
#include "run/problem.h"
#include "run/table.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct tuned { // a benchmark with variants that differ from its base on the cpu
    const char *benchmark, *near_few, *near_many;
} tuned;

static const tuned all[] = {
    {"sort.keys", "ipt_65536.tpb_1.rb_8", "ipt_65536.tpb_1.rb_9"},
    {"transform.fill", "ipt_1024.tpb_1.ipv_4.ld_0", "ipt_2048.tpb_1.ipv_4.ld_0"},
    {"select.if", "ipt_1024.tpb_1.mb_1.ipv_3.ld_0.la_0.ord_0.ns_0.l2w_0",
     "ipt_2048.tpb_1.mb_1.ipv_3.ld_0.la_0.ord_0.ns_0.l2w_0"},
};
static const uint64_t few[POLICY_AXES] = {1 << 10}, many[POLICY_AXES] = {1 << 18};

static uint64_t random_number(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

static void open_problem(const tuned *of, uint64_t elements, problem *out)
{
    const uint64_t at[POLICY_AXES] = {elements};
    CHECK_STATUS(workload_problem_at(of->benchmark, CUBC_I32, at, out), CUBC_OK);
}

// The label of what a call runs, and of what it would if it were the first.
static void check_call(cubc_device *device, const tuned *of, uint64_t elements)
{
    uint64_t values[POLICY_AXES];
    problem p;
    table *t;
    instance *ran = NULL;
    policy_list rows;
    open_problem(of, elements, &p);
    problem_axis_values(&p, values);
    CHECK_STATUS(table_of(device, &t), CUBC_OK);
    CHECK_STATUS(table_find(t, &p, NULL, &ran), CUBC_OK);
    CHECK_STATUS(algorithm_policies(&p, "cpu", &rows), CUBC_OK);
    const char *expected = rows.rows[policy_choose(&rows, values, false)].label;
    CHECK(ran && strcmp(ran->label, expected) == 0);
    CHECK(table_has(t, &p));
    policy_list_free(&rows);
}

static void call_at_random(cubc_device *device, int calls)
{
    for (int k = 0; k < calls; k++)
        check_call(device, &all[random_number() % COUNT_OF(all)],
                   1 + random_number() % ((uint64_t)1 << (4 + random_number() % 20)));
}

static void test_random_sequences(void)
{
    cubc_device *device;
    CHECK_STATUS(cubc_device_open("cpu", &device), CUBC_OK);
    check_call(device, &all[0], 300000000); // a large call first
    call_at_random(device, 100);
    for (size_t k = 0; k < COUNT_OF(all); k++) {
        CHECK_STATUS(policy_overlay("cpu", all[k].benchmark, "I32", few, all[k].near_few), CUBC_OK);
        call_at_random(device, 100);
        CHECK_STATUS(policy_overlay("cpu", all[k].benchmark, "I32", many, all[k].near_many),
                     CUBC_OK);
        call_at_random(device, 100);
    }
    policy_clear();
    call_at_random(device, 100);
    cubc_device_close(device);
}

// The rows of shipped policies tell sorts of up to 2^22 keys from those of more.
static void test_falling_sizes(void)
{
    cubc_device *device;
    problem small, large;
    table *t;
    instance *of_small, *of_large;
    open_problem(&all[0], 50000, &small);
    open_problem(&all[0], 300000000, &large);
    CHECK_STATUS(cubc_device_open("cpu", &device), CUBC_OK);
    CHECK_STATUS(table_of(device, &t), CUBC_OK);
    CHECK_STATUS(table_find(t, &large, NULL, &of_large), CUBC_OK);
    CHECK(!table_has(t, &small));
    CHECK_STATUS(table_find(t, &small, NULL, &of_small), CUBC_OK);
    CHECK(strcmp(of_small->label, of_large->label) != 0);
    cubc_device_close(device);
}

static atomic_int asked;
static pthread_t second;

static void check_failure(cubc_device *device, const tuned *of)
{
    problem p;
    table *t;
    instance *none = NULL;
    open_problem(of, 1000, &p);
    CHECK_STATUS(table_of(device, &t), CUBC_OK);
    CHECK_STATUS(table_find(t, &p, NULL, &none), CUBC_COMPILE_ERROR);
    CHECK(!table_has(t, &p));
}

static void *fail_too(void *device)
{
    check_failure(device, &all[1]);
    return NULL;
}

// A thread that tunes does not wait for the other one, which is asked once its opening is listed.
static cubc_status call_while_tuning(const cubc_device *device, const problem *p, bool *settled)
{
    (void)p;
    *settled = true;
    if (atomic_fetch_add(&asked, 1)) return CUBC_OK;
    CHECK(pthread_create(&second, NULL, fail_too, (void *)device) == 0);
    while (atomic_load(&asked) < 2) continue;
    check_failure((cubc_device *)device, &all[1]);
    return CUBC_OK;
}

static void test_two_failures_at_once(void)
{
    cubc_device *device;
    const char *flags = getenv("CUBC_CXXFLAGS");
    char *usual = mem_strdup(flags ? flags : "");
    setenv("CUBC_CXXFLAGS", "-include /nowhere.h", 1);
    CHECK_STATUS(cubc_device_open("cpu", &device), CUBC_OK);
    table_set_tuner(call_while_tuning);
    check_failure(device, &all[0]);
    pthread_join(second, NULL);
    CHECK(atomic_load(&asked) >= 2);
    table_set_tuner(NULL);
    cubc_device_close(device);
    setenv("CUBC_CXXFLAGS", usual, 1);
    mem_free(usual);
}

// A thread makes a call on the second device, and waits for the claim of this thread, which makes
// it on the first one and is in the compiler. A signal handler then makes the thread's call.
static cubc_device *devices[2];
static double began;

static void *find_on_the_second(void *unused)
{
    problem p;
    table *t;
    instance *found = NULL;
    (void)unused;
    open_problem(&all[1], 1000, &p);
    CHECK_STATUS(table_of(devices[1], &t), CUBC_OK);
    CHECK_STATUS(table_find(t, &p, NULL, &found), CUBC_OK);
    CHECK(found);
    return NULL;
}

static bool took_long(void)
{
    return now_seconds() - began > 60;
}

static bool call_within(void)
{
    if (claim_is_held() && !atomic_load(&asked)) {
        interrupt_set_hook(took_long);
        CHECK(pthread_create(&second, NULL, find_on_the_second, NULL) == 0);
        while (atomic_load(&asked) < 1) continue; // until its opening is listed
        find_on_the_second(NULL);
    }
    return false;
}

static cubc_status note_the_second(const cubc_device *device, const problem *p, bool *settled)
{
    (void)p, (void)settled;
    if (device == devices[1]) atomic_fetch_add(&asked, 1);
    return CUBC_OK;
}

static void a_call_within_a_compilation(void)
{
    problem p;
    table *t;
    instance *found = NULL;
    began = now_seconds();
    atomic_store(&asked, 0);
    CHECK_STATUS(cubc_device_open("cpu", &devices[0]), CUBC_OK);
    CHECK_STATUS(cubc_device_open("cpu:1", &devices[1]), CUBC_OK);
    CHECK_STATUS(table_of(devices[0], &t), CUBC_OK);
    open_problem(&all[1], 1000, &p);
    table_set_tuner(note_the_second);
    interrupt_set_hook(call_within);
    CHECK_STATUS(table_find(t, &p, NULL, &found), CUBC_OK);
    CHECK(found && atomic_load(&asked) == 2);
    pthread_join(second, NULL);
    interrupt_set_hook(NULL);
    table_set_tuner(NULL);
    for (int k = 0; k < 2; k++) cubc_device_close(devices[k]);
}

static void test_a_call_within_a_compilation(void)
{
    in_child(a_call_within_a_compilation, true);
}

static const check_test tests[] = {
    {"a call within a compilation", test_a_call_within_a_compilation}, // before a cache is open
    {"two failures at once", test_two_failures_at_once},
    {"random sequences", test_random_sequences},
    {"falling sizes", test_falling_sizes},
};

int main(int argc, char **argv)
{
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
