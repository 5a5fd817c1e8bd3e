// The recording of calls on a device that only counts: which calls are counted, and which timed.
#include "check.h"
#include "run/recorded_calls.h"

struct device_event {
    bool never; // reached
};

static int made; // events
static bool fails;

static cubc_status event_create(cubc_device *device, device_event **out)
{
    (void)device;
    *out = mem_zalloc(1, sizeof **out);
    if (*out) (*out)->never = made++ < 2; // those of the first call that is timed
    return *out ? CUBC_OK : CUBC_NO_MEMORY;
}

static void event_destroy(cubc_device *device, device_event *event)
{
    (void)device;
    mem_free(event);
}

static cubc_status event_record(cubc_device *device, device_event *event, void *stream)
{
    (void)device, (void)event, (void)stream;
    return fails ? CUBC_DEVICE_ERROR : CUBC_OK;
}

static bool event_reached(cubc_device *device, device_event *event)
{
    (void)device;
    return !event->never;
}

static cubc_status event_synchronize(cubc_device *device, device_event *event)
{
    (void)device;
    CHECK(!event->never);
    return CUBC_OK;
}

static cubc_status event_elapsed(cubc_device *device, device_event *start, device_event *stop,
                                 double *seconds)
{
    (void)device, (void)start, (void)stop;
    *seconds = 1e-3;
    return CUBC_OK;
}

static bool is_capturing(cubc_device *device, void *stream)
{
    (void)device, (void)stream;
    return false;
}

static const device_api api = {.event_create = event_create,
                               .event_destroy = event_destroy,
                               .event_record = event_record,
                               .event_reached = event_reached,
                               .event_synchronize = event_synchronize,
                               .event_elapsed = event_elapsed,
                               .is_capturing = is_capturing};
static cubc_device device = {.api = &api, .info = {.name = "fake"}, .references = 1};

static const char *type = "I32";

static void call_of(uint64_t code, const char *name, cubc_status st)
{
    static const char *const axes[POLICY_AXES + 1] = {"Elements"};
    call_timer timer;
    const call_work work = {.code = code,
                            .name = name,
                            .type = type,
                            .variant = "",
                            .axes = axes,
                            .axis_values = {1000}};
    calls_begin(&device, &work, NULL, &timer);
    calls_queued(&timer, st);
}

static void test_a_call_that_is_never_over_keeps_no_other_from_its_time(void)
{
    char name[16];
    int timed = 0;
    made = 0;
    CHECK_STATUS(calls_record(false), CUBC_OK);
    for (int kind = 0; kind < 40; kind++) {
        snprintf(name, sizeof name, "sum.%d", kind);
        for (int k = 0; k < 16; k++) call_of((uint64_t)kind, name, CUBC_OK);
    }
    calls_settle(false);
    for (const recorded_call *c = calls_after(NULL); c; c = calls_after(c)) timed += c->timed;
    CHECK(timed == 40 * 16 - 1);
    calls_forget();
}

static void test_calls_of_one_name_and_place_are_one(void)
{
    made = 2;
    CHECK_STATUS(calls_record(false), CUBC_OK);
    for (uint64_t code = 0; code < 40; code++) call_of(code, code % 2 ? "odd" : "even", CUBC_OK);
    const recorded_call *even = calls_after(NULL), *odd = calls_after(even);
    CHECK(even->count == 20 && odd->count == 20 && !calls_after(odd));
    calls_forget();
}

static void test_structs_are_told_apart(void)
{
    static const char *const types[] = {"struct_0123456789abcdef", "struct_0123456789abcdee"};
    CHECK_STATUS(calls_record(false), CUBC_OK);
    for (int k = 0; k < 2; k++) {
        type = types[k];
        call_of((uint64_t)k, "sum", CUBC_OK);
    }
    type = "I32";
    const recorded_call *first = calls_after(NULL), *second = calls_after(first);
    CHECK(strcmp(first->type, types[0]) == 0);
    CHECK(second && strcmp(second->type, types[1]) == 0);
    calls_forget();
}

static void test_only_what_ran_is_counted(void)
{
    made = 2;
    CHECK_STATUS(calls_record(false), CUBC_OK);
    CHECK_STATUS(calls_record(false), CUBC_INVALID_ARGUMENT);
    call_of(1, "sum", CUBC_NO_DEVICE_MEMORY);
    CHECK(calls_after(NULL)->count == 0);
    call_of(1, "sum", CUBC_OK);
    fails = true; // the events: the call ran
    call_of(1, "sum", CUBC_OK);
    fails = false;
    calls_settle(true);
    CHECK(calls_after(NULL)->count == 2 && calls_after(NULL)->timed == 1);
    calls_stop();
    call_of(1, "sum", CUBC_OK);
    CHECK(calls_after(NULL)->count == 2);
    calls_forget();
    CHECK(!calls_after(NULL));
}

static void test_rounds_count_with_each_replay(void)
{
    call_round round = {0};
    made = 2;
    CHECK_STATUS(calls_record(false), CUBC_OK);
    calls_round_begin(&round);
    call_of(1, "sum", CUBC_OK);
    call_of(1, "sum", CUBC_NO_DEVICE_MEMORY);
    call_of(1, "sum", CUBC_OK);
    calls_round_end();
    for (int k = 0; k < 5; k++) calls_replayed(&round);
    CHECK(calls_after(NULL)->count == 10);
    calls_forget();
    CHECK_STATUS(calls_record(false), CUBC_OK);
    calls_replayed(&round); // of a recording that has ended
    CHECK(!calls_after(NULL));
    calls_forget();
    calls_round_free(&round);
}

static void test_a_name_is_cut_between_letters(void)
{
    char name[] = "aéééééééééééééééééééééééééééééééééééé";
    made = 2;
    CHECK_STATUS(calls_record(false), CUBC_OK);
    call_of(1, name, CUBC_OK);
    call_of(2, name + 1, CUBC_OK);
    const recorded_call *first = calls_after(NULL);
    CHECK(strlen(first->name) == 63 && strlen(calls_after(first)->name) == 62);
    calls_forget();
}

enum { THREADS = 4, CALLS = 20000 };

static void *call_often(void *of)
{
    const uint64_t *kind = of;
    for (int k = 0; k < CALLS; k++)
        call_of(2 * *kind + (k % 100 == 0), *kind ? "sum" : "product", CUBC_OK);
    return NULL;
}

static void test_calls_wait_for_no_reader(void)
{
    static uint64_t kinds[2] = {0, 1};
    pthread_t threads[THREADS];
    uint64_t counted = 0;
    made = 2;
    CHECK_STATUS(calls_record(false), CUBC_OK);
    for (int t = 0; t < THREADS; t++)
        CHECK(!pthread_create(&threads[t], NULL, call_often, &kinds[t % 2]));
    while (counted < THREADS * CALLS) {
        calls_settle(false);
        counted = 0;
        for (const recorded_call *c = calls_after(NULL); c; c = calls_after(c)) counted += c->count;
    }
    for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
    for (const recorded_call *c = calls_after(NULL); c; c = calls_after(c))
        CHECK(c->count == THREADS / 2 * CALLS);
    calls_forget();
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        {"a call that is never over keeps no other from its time",
         test_a_call_that_is_never_over_keeps_no_other_from_its_time},
        {"calls of one name and place are one", test_calls_of_one_name_and_place_are_one},
        {"structs are told apart", test_structs_are_told_apart},
        {"only what ran is counted", test_only_what_ran_is_counted},
        {"rounds count with each replay", test_rounds_count_with_each_replay},
        {"calls wait for no reader", test_calls_wait_for_no_reader},
        {"a name is cut between letters", test_a_name_is_cut_between_letters},
    };
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
