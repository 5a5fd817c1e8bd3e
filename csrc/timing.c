// The measurement loop; see timing.h.
//
// Samples of two works alternate in the order A B, B A, A B, ...: a drift that is linear over four
// samples adds the same to both. One sample costs one wait: cache flush, hold, events and work are
// ordered by the stream alone.
#include "timing.h"

#include "stats.h"

#include <stdio.h>
#include <string.h>

typedef struct sampler {
    cubc_device *device;
    void *stream;
    device_event *start, *stop;
    const timing_options *options;
} sampler;

typedef struct subject { // what is measured, with its samples
    const timing_work *work;
    timing_series series;
    int capacity;
} subject;

timing_options timing_defaults(const cubc_device *device)
{
    if (strcmp(device->api->kind, "cpu") == 0)
        return (timing_options){.min_samples = 5,
                                .max_samples = 100,
                                .max_noise = 0.01,
                                .timeout_s = 2,
                                .warmup = 2,
                                .cold = false};
    return (timing_options){.min_samples = 10,
                            .max_samples = 200,
                            .max_noise = 0.005,
                            .timeout_s = 2,
                            .warmup = 1,
                            .cold = true};
}

void timing_free(timing_series *series)
{
    if (!series) return;
    mem_free(series->seconds);
    *series = (timing_series){0};
}

static cubc_status check_options(const timing_options *o)
{
    if (o->min_samples < 1)
        FAIL(CUBC_INVALID_ARGUMENT, "min_samples is %d, must be at least 1", o->min_samples);
    if (o->max_samples < o->min_samples)
        FAIL(CUBC_INVALID_ARGUMENT, "max_samples is %d, less than min_samples, %d", o->max_samples,
             o->min_samples);
    if (!(o->max_noise >= 0))
        FAIL(CUBC_INVALID_ARGUMENT, "max_noise is %g, must not be negative", o->max_noise);
    if (!(o->timeout_s >= 0))
        FAIL(CUBC_INVALID_ARGUMENT, "timeout_s is %g, must not be negative", o->timeout_s);
    if (o->warmup < 0) FAIL(CUBC_INVALID_ARGUMENT, "warmup is %d, must not be negative", o->warmup);
    return CUBC_OK;
}

// ---- one sample -------------------------------------------------------------------------------
static cubc_status queue_timed(const sampler *s, const timing_work *work)
{
    const device_api *api = s->device->api;
    TRY(api->event_record(s->device, s->start, s->stream));
    TRY(work->queue(work->context, s->stream));
    return api->event_record(s->device, s->stop, s->stream);
}

// Lets the stream go and waits for it, whatever has happened before. The first failure is the one
// that counts: a later one must not replace its message.
static cubc_status finish(const sampler *s, cubc_status before)
{
    const device_api *api = s->device->api;
    char message[1024];
    if (before) snprintf(message, sizeof message, "%s", cubc_error_message());
    cubc_status released = api->release(s->device);
    if (!before && released) {
        before = released;
        snprintf(message, sizeof message, "%s", cubc_error_message());
    }
    cubc_status waited = api->synchronize(s->device, s->stream);
    if (!before) return waited;
    if (released != CUBC_OK || waited != CUBC_OK) FAIL(before, "%s", message);
    return before;
}

static cubc_status take_sample(const sampler *s, const timing_work *work, double *seconds)
{
    const device_api *api = s->device->api;
    if (s->options->cold) TRY(api->flush(s->device, s->stream));
    TRY(api->hold(s->device, s->stream));
    TRY(finish(s, queue_timed(s, work)));
    return api->event_elapsed(s->device, s->start, s->stop, seconds);
}

// Without a hold: the first run of a kernel may have to wait for the device to load it.
static cubc_status warm_up(const sampler *s, const timing_work *work)
{
    const device_api *api = s->device->api;
    for (int i = 0; i < s->options->warmup; i++) {
        if (s->options->cold) TRY(api->flush(s->device, s->stream));
        TRY(work->queue(work->context, s->stream));
        TRY(api->synchronize(s->device, s->stream));
    }
    return CUBC_OK;
}

static cubc_status add_sample(const sampler *s, subject *x)
{
    double seconds = 0;
    if (x->series.count == x->capacity) {
        int capacity = x->capacity ? 2 * x->capacity : 64;
        if (capacity > s->options->max_samples) capacity = s->options->max_samples;
        float *grown = mem_realloc(x->series.seconds, (size_t)capacity, sizeof *grown);
        if (!grown) return CUBC_NO_MEMORY;
        x->series.seconds = grown;
        x->capacity = capacity;
    }
    TRY(take_sample(s, x->work, &seconds));
    x->series.seconds[x->series.count++] = (float)seconds;
    return CUBC_OK;
}

// ---- the loop ---------------------------------------------------------------------------------
static cubc_status is_quiet(const sampler *s, const subject *subjects, int count, bool *quiet)
{
    *quiet = true;
    for (int i = 0; i < count && *quiet; i++) {
        const timing_series *series = &subjects[i].series;
        double error = 0;
        TRY(stats_median_error(series->seconds, (size_t)series->count, &error));
        *quiet = error < s->options->max_noise;
    }
    return CUBC_OK;
}

// Sorting all samples after each one would be quadratic: the next look comes an eighth later.
static int next_look(int samples)
{
    return samples + (samples < 8 ? 1 : samples / 8);
}

static cubc_status sample_until_quiet(const sampler *s, subject *subjects, int count)
{
    const timing_options *o = s->options;
    double deadline = now_seconds() + o->timeout_s;
    int look = o->min_samples;
    for (int n = 1; n <= o->max_samples; n++) {
        for (int i = 0; i < count; i++) // A B on odd rounds, B A on even ones
            TRY(add_sample(s, &subjects[n % 2 ? i : count - 1 - i]));
        bool late = now_seconds() >= deadline, quiet = false;
        if (n >= o->min_samples && (late || n >= look)) {
            TRY(is_quiet(s, subjects, count, &quiet));
            look = next_look(n);
        }
        if (quiet) return CUBC_OK;
        if (late && n < o->max_samples) {
            for (int i = 0; i < count; i++) subjects[i].series.timed_out = true;
            return CUBC_OK;
        }
        if (interrupt_pending()) FAIL(CUBC_INTERRUPTED, "interrupted while measuring");
    }
    return CUBC_OK;
}

static cubc_status measure(sampler *s, subject *subjects, int count)
{
    const device_api *api = s->device->api;
    TRY(api->event_create(s->device, &s->start));
    TRY(api->event_create(s->device, &s->stop));
    for (int i = 0; i < count; i++) TRY(warm_up(s, subjects[i].work));
    return sample_until_quiet(s, subjects, count);
}

cubc_status timing_measure(cubc_device *device, const timing_work *work,
                           const timing_work *reference, const timing_options *options,
                           void *stream, timing_series *work_out, timing_series *reference_out)
{
    subject subjects[2] = {{.work = work}, {.work = reference}};
    sampler s = {.device = device, .stream = stream, .options = options};
    *work_out = (timing_series){0};
    if (reference_out) *reference_out = (timing_series){0};
    TRY(check_options(options));
    if (reference && !reference_out)
        FAIL(CUBC_INVALID_ARGUMENT, "a reference needs a place for its samples");

    cubc_status st = measure(&s, subjects, reference ? 2 : 1);
    device->api->event_destroy(device, s.stop);
    device->api->event_destroy(device, s.start);
    if (st) {
        timing_free(&subjects[0].series);
        timing_free(&subjects[1].series);
        return st;
    }
    *work_out = subjects[0].series;
    if (reference_out) *reference_out = subjects[1].series;
    return CUBC_OK;
}
