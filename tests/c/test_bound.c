// Bound calls (csrc/run/bound.c): messages that an abandoned launch left half done are cleared,
// also if the next call is captured into a graph, which clears them when it runs.
#include "check.h"
#include "measure/workload.h"
#include "run/bound.h"

static bool capturing;
static cubc_status replayed;
static int fills;

static bool say_capturing(cubc_device *device, void *stream)
{
    (void)device, (void)stream;
    return capturing;
}

static cubc_status count_fill(cubc_device *device, void *to, int value, size_t bytes, void *stream)
{
    (void)device, (void)to, (void)value, (void)bytes, (void)stream;
    fills++;
    return CUBC_OK;
}

static cubc_status pass_over(cubc_device *device, const device_kernel *kernel,
                             const launch_shape *shape, const void *args, size_t bytes,
                             void *stream)
{
    (void)device, (void)kernel, (void)shape, (void)args, (void)bytes, (void)stream;
    return CUBC_OK;
}

static cubc_status fail_or_pass(cubc_device *device, device_recording *recording, void *stream)
{
    (void)device, (void)recording, (void)stream;
    return replayed ? error_set(__FILE__, __LINE__, replayed, "abandoned") : CUBC_OK;
}

static void check_queue(bound *b, bool in_graph, cubc_status expected, int expected_fills)
{
    capturing = in_graph;
    replayed = expected;
    CHECK_STATUS(bound_queue(b), expected);
    capturing = false;
    CHECK(fills == expected_fills);
}

static void test_messages_after_a_failure(void)
{
    static device_api api;
    const uint64_t at[POLICY_AXES] = {1 << 20};
    cubc_device *device;
    problem p;
    bound *b;
    CHECK_STATUS(cubc_device_open("cpu", &device), CUBC_OK);
    const device_api *own = device->api;
    api = *own;
    api.is_capturing = say_capturing;
    api.fill = count_fill;
    api.launch = pass_over;
    api.replay = fail_or_pass;
    device->api = &api;
    CHECK_STATUS(workload_problem_at("scan.inclusive.sum", CUBC_I32, at, &p), CUBC_OK);
    CHECK_STATUS(bound_open(device, NULL, &b), CUBC_OK);
    CHECK_STATUS(bound_add(b, &p), CUBC_OK);
    CHECK_STATUS(bound_end(b), CUBC_OK);
    CHECK(fills == 1);
    check_queue(b, false, CUBC_OK, 1);
    check_queue(b, false, CUBC_DEVICE_ERROR, 1);
    check_queue(b, true, CUBC_OK, 2);
    check_queue(b, false, CUBC_OK, 3);
    check_queue(b, false, CUBC_OK, 3);
    check_queue(b, true, CUBC_OK, 3);
    bound_close(b);
    device->api = own;
    cubc_device_close(device);
}

static const check_test tests[] = {
    {"messages after a failure", test_messages_after_a_failure},
};

int main(int argc, char **argv)
{
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
