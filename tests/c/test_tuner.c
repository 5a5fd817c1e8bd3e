// When the core asks whether a workload should be tuned, and what it makes of the answer.
#include "check.h"

#include "run/table.h"

static cubc_device *device;

static struct {
    int times;
    bool settles, calls;
    cubc_status status;
    char benchmark[40];
    uint64_t n;
} asked;

// Each test has types of its own, or begins anew: what has run once is not asked about again.
static cubc_status sum(cubc_device *on, cubc_type type)
{
    static const uint64_t zeros[64];
    uint64_t out;
    cubc_reduce_params params = {.in = zeros,
                                 .out = &out,
                                 .n = COUNT_OF(zeros),
                                 .type = type,
                                 .acc_type = type,
                                 .out_type = type,
                                 .op = "sum"};
    return cubc_reduce(on, &params, NULL, 0, NULL);
}

static cubc_status answer(const cubc_device *on, const problem *p, bool *settled)
{
    CHECK(*settled && on->api);
    asked.times++;
    asked.n = p->n;
    snprintf(asked.benchmark, sizeof asked.benchmark, "%s", p->benchmark);
    *settled = asked.settles;
    bool calls = asked.calls;
    asked.calls = false;
    if (calls) CHECK_STATUS(sum(device, (cubc_type)p->type), CUBC_OK);
    if (asked.status) FAIL(asked.status, "no");
    return CUBC_OK;
}

static void begin(bool settles, bool calls, cubc_status status)
{
    memset(&asked, 0, sizeof asked);
    asked.settles = settles;
    asked.calls = calls;
    asked.status = status;
    table_set_tuner(answer);
}

static void test_once(void)
{
    begin(true, false, CUBC_OK);
    for (int i = 0; i < 3; i++) CHECK_STATUS(sum(device, CUBC_I32), CUBC_OK);
    CHECK(asked.times == 1 && asked.n == 64 && strcmp(asked.benchmark, "reduce.sum") == 0);
    CHECK_STATUS(sum(device, CUBC_I64), CUBC_OK);
    CHECK(asked.times == 2);
    table_set_tuner(answer); // anew: workloads that have run are asked about as well
    CHECK_STATUS(sum(device, CUBC_I64), CUBC_OK);
    CHECK(asked.times == 3);
    table_set_tuner(NULL);
    CHECK_STATUS(sum(device, CUBC_U64), CUBC_OK);
    CHECK(asked.times == 3);
}

static void test_not_settled(void)
{
    begin(false, false, CUBC_OK);
    for (int i = 0; i < 3; i++) CHECK_STATUS(sum(device, CUBC_F32), CUBC_OK);
    CHECK(asked.times == 3);
    asked.settles = true;
    for (int i = 0; i < 3; i++) CHECK_STATUS(sum(device, CUBC_F32), CUBC_OK);
    CHECK(asked.times == 4);
    table_set_tuner(NULL);
}

static void test_a_status_ends_the_call(void)
{
    begin(true, false, CUBC_INTERRUPTED);
    CHECK_STATUS(sum(device, CUBC_F64), CUBC_INTERRUPTED);
    asked.status = CUBC_OK;
    CHECK_STATUS(sum(device, CUBC_F64), CUBC_OK);
    CHECK(asked.times == 2);
    table_set_tuner(NULL);
}

static void test_calls_from_within(void)
{
    begin(true, true, CUBC_OK);
    CHECK_STATUS(sum(device, CUBC_U32), CUBC_OK); // the same workload: it does not wait for itself
    CHECK(asked.times == 1);
    table_set_tuner(NULL);
}

// ---- graphs -------------------------------------------------------------------------------------
static bool capturing;

static bool is_capturing(cubc_device *on, void *stream)
{
    (void)on, (void)stream;
    return capturing;
}

static void test_captured_calls_are_not_tuned_and_the_next_is(void)
{
    const device_api *own = device->api;
    device_api other = *own;
    other.is_capturing = is_capturing;
    begin(true, false, CUBC_OK);
    CHECK_STATUS(sum(device, CUBC_U64), CUBC_OK);
    table_set_tuner(answer);
    asked.times = 0;
    device->api = &other;
    capturing = true;
    for (int i = 0; i < 2; i++) CHECK_STATUS(sum(device, CUBC_U64), CUBC_OK);
    CHECK(asked.times == 0);
    capturing = false;
    for (int i = 0; i < 2; i++) CHECK_STATUS(sum(device, CUBC_U64), CUBC_OK);
    CHECK(asked.times == 1);
    device->api = own;
    table_set_tuner(NULL);
}

static const check_test tests[] = {
    {"once", test_once},
    {"not settled", test_not_settled},
    {"a status ends the call", test_a_status_ends_the_call},
    {"calls from within", test_calls_from_within},
    {"captured calls are not tuned and the next is",
     test_captured_calls_are_not_tuned_and_the_next_is},
};

int main(int argc, char **argv)
{
    if (!CHECK_STATUS(cubc_device_open("cpu", &device), CUBC_OK)) return 1;
    int status = check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
    cubc_device_close(device);
    return status;
}
