// A device made up for the tests of the measurement loop: its clock is a counter, and it records
// what it is asked. Works on it take the seconds that they are told.
#ifndef FAKE_DEVICE_H
#define FAKE_DEVICE_H

#include "base/base.h"
#include "measure/timing.h"

#include <string.h>

struct device_event {
    double at;
};

// The events, a letter each: F flush, H hold, E event, A and B the works, R release, S wait.
static char trace[4096];
static double clock_s;
static int live_events;
static cubc_status release_status, wait_status;

static void note(char what)
{
    size_t length = strlen(trace);
    if (length + 1 < sizeof trace) trace[length] = what;
}

static cubc_status fake_flush(cubc_device *device, void *stream)
{
    (void)device, (void)stream;
    note('F');
    clock_s += 5;
    return CUBC_OK;
}
static cubc_status fake_hold(cubc_device *device, void *stream)
{
    (void)device, (void)stream;
    note('H');
    return CUBC_OK;
}
static cubc_status fake_release(cubc_device *device)
{
    (void)device;
    note('R');
    return release_status ? error_set(__FILE__, __LINE__, release_status, "released late")
                          : CUBC_OK;
}
static cubc_status fake_synchronize(cubc_device *device, void *stream)
{
    (void)device, (void)stream;
    note('S');
    return wait_status ? error_set(__FILE__, __LINE__, wait_status, "fault in a kernel") : CUBC_OK;
}
static cubc_status fake_event_create(cubc_device *device, device_event **out)
{
    (void)device;
    *out = mem_zalloc(1, sizeof **out);
    live_events += *out != NULL;
    return *out ? CUBC_OK : CUBC_NO_MEMORY;
}
static void fake_event_destroy(cubc_device *device, device_event *event)
{
    (void)device;
    live_events -= event != NULL;
    mem_free(event);
}
static cubc_status fake_event_record(cubc_device *device, device_event *event, void *stream)
{
    (void)device, (void)stream;
    note('E');
    event->at = clock_s;
    return CUBC_OK;
}
static cubc_status fake_event_elapsed(cubc_device *device, device_event *start, device_event *stop,
                                      double *seconds)
{
    (void)device;
    *seconds = stop->at - start->at;
    return CUBC_OK;
}

// The clock that the device tells of its next samples, in hertz: the last one stays.
static double fake_clocks[64];
static int fake_clock;

static cubc_status fake_clock_mark(cubc_device *device, int which, void *stream)
{
    (void)device, (void)stream;
    note(which ? '>' : '<');
    return CUBC_OK;
}
static double fake_clock_hertz(cubc_device *device)
{
    (void)device;
    double hertz = fake_clocks[fake_clock];
    if (fake_clocks[fake_clock + 1] > 0) fake_clock++;
    return hertz;
}

static const device_api fake_api = {
    .kind = "fake",
    .flush = fake_flush,
    .hold = fake_hold,
    .release = fake_release,
    .synchronize = fake_synchronize,
    .event_create = fake_event_create,
    .event_destroy = fake_event_destroy,
    .event_record = fake_event_record,
    .event_elapsed = fake_event_elapsed,
};
static cubc_device fake = {.api = &fake_api};

static void with_clock(device_api *api, cubc_device *device)
{
    *api = fake_api;
    api->clock_mark = fake_clock_mark;
    api->clock_hertz = fake_clock_hertz;
    *device = (cubc_device){.api = api, .info.clock_khz = 1000000};
    fake_clock = 0;
    memset(fake_clocks, 0, sizeof fake_clocks);
}

static void reset(void)
{
    memset(trace, 0, sizeof trace);
    clock_s = 0;
    release_status = wait_status = CUBC_OK;
}

// Takes `seconds`, and `drift` more with each run of any work; fails in run `fail_at`.
typedef struct fake_work {
    char letter;
    double seconds, drift, jitter;
    int runs, fail_at;
} fake_work;
static int all_runs;

static cubc_status run_fake(void *context, void *stream)
{
    fake_work *w = context;
    (void)stream;
    note(w->letter);
    if (++w->runs == w->fail_at) FAIL(CUBC_NO_RESOURCES, "too many registers");
    clock_s += w->seconds + w->drift * all_runs++ + w->jitter * (w->runs * 7 % 5);
    return CUBC_OK;
}

#endif
