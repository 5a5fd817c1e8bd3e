// The measurement loop; see timing.h.
//
// Samples of two works alternate in the order A B, B A, A B, ...: a drift that is linear over four
// samples adds the same to both. One sample costs one wait: cache flush, hold, clock marks, events
// and work are ordered by the stream alone.
#include "measure/timing.h"

#include "base/stats.h"

#include <math.h>
#include <stdio.h>

typedef struct sampler {
    cubc_device *device;
    void *stream;
    device_event *start, *stop;
    const timing_options *options;
    bool clocked; // the device tells its clock
} sampler;

typedef struct subject { // a measured work with its samples
    const timing_work *work;
    timing_series series;
    int capacity;
    stopping *stopping;
} subject;

enum {
    MAX_DISCARDED = 20, // of a work; after that a low clock is what there is
    LEAST_TO_GIVE_UP = 4,
    MAX_BATCH = 1 << 20,
};
static const double TELLING_S = 1e-3; // that a batch takes whose rate tells what a longer one takes

timing_options timing_defaults(const cubc_device *device)
{
    bool cpu = device_is_cpu(device->api->kind);
    timing_options o = {.stopping = stopping_defaults(STOP_MEDIAN),
                        .min_samples = cpu ? 5 : 10,
                        .max_samples = cpu ? 100 : 200,
                        .timeout_s = 2,
                        .warmup = cpu ? 2 : 1,
                        .cold = !cpu,
                        .throttle_below = 0.75,
                        .throttle_pause_s = 0.05};
    if (cpu) o.stopping.max_noise = 0.01;
    return o;
}

void timing_free(timing_series *series)
{
    if (!series) return;
    mem_free(series->seconds);
    mem_free(series->hertz);
    *series = (timing_series){0};
}

static cubc_status check_options(const timing_options *o)
{
    if (o->min_samples < 1)
        FAIL(CUBC_INVALID_ARGUMENT, "min_samples is %d, must be at least 1", o->min_samples);
    if (o->max_samples < o->min_samples)
        FAIL(CUBC_INVALID_ARGUMENT, "max_samples is %d, less than min_samples, %d", o->max_samples,
             o->min_samples);
    if (!(o->stopping.max_noise >= 0))
        FAIL(CUBC_INVALID_ARGUMENT, "max_noise is %g, must not be negative", o->stopping.max_noise);
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

static cubc_status queue_sample(const sampler *s, const timing_work *work)
{
    const device_api *api = s->device->api;
    if (s->clocked) TRY(api->clock_mark(s->device, 0, s->stream));
    TRY(queue_timed(s, work));
    return s->clocked ? api->clock_mark(s->device, 1, s->stream) : CUBC_OK;
}

static cubc_status take_sample(const sampler *s, const timing_work *work, double *seconds,
                               double *hertz)
{
    const device_api *api = s->device->api;
    if (s->options->cold) TRY(api->flush(s->device, s->stream));
    TRY(api->hold(s->device, s->stream));
    TRY(finish(s, queue_sample(s, work)));
    *hertz = s->clocked ? api->clock_hertz(s->device) : 0;
    return api->event_elapsed(s->device, s->start, s->stop, seconds);
}

// A multiprocessor that runs well below its clock is being throttled (heat, power): such a sample
// says nothing about the work. It is taken again after a pause, unless that does not help; all the
// pauses of a work take a quarter of the time-out at most.
static cubc_status take_unthrottled(const sampler *s, subject *x, double *seconds, double *hertz)
{
    const timing_options *o = s->options;
    double least = o->throttle_below * 1e3 * (double)s->device->info.clock_khz;
    for (;;) {
        TRY(take_sample(s, x->work, seconds, hertz));
        if (!(*hertz > 0 && *hertz < least) || x->series.discarded == MAX_DISCARDED) return CUBC_OK;
        if ((x->series.discarded + 1) * o->throttle_pause_s > o->timeout_s / 4) return CUBC_OK;
        x->series.discarded++;
        nap(o->throttle_pause_s);
        if (interrupt_pending())
            FAIL(CUBC_INTERRUPTED, "interrupted while the device is throttled");
    }
}

// Holds no stream back: the first run of a kernel may have to wait for the device to load it.
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

static cubc_status grow(const sampler *s, subject *x)
{
    int capacity = x->capacity ? 2 * x->capacity : 64;
    if (capacity > s->options->max_samples) capacity = s->options->max_samples;
    float *seconds = mem_realloc(x->series.seconds, (size_t)capacity, sizeof *seconds);
    if (!seconds) return CUBC_NO_MEMORY;
    x->series.seconds = seconds;
    if (s->clocked) {
        float *hertz = mem_realloc(x->series.hertz, (size_t)capacity, sizeof *hertz);
        if (!hertz) return CUBC_NO_MEMORY;
        x->series.hertz = hertz;
    }
    x->capacity = capacity;
    return CUBC_OK;
}

static cubc_status add_sample(const sampler *s, subject *x)
{
    double seconds = 0, hertz = 0;
    if (x->series.count == x->capacity) TRY(grow(s, x));
    TRY(take_unthrottled(s, x, &seconds, &hertz));
    x->series.seconds[x->series.count] = (float)seconds;
    if (s->clocked) x->series.hertz[x->series.count] = (float)hertz;
    x->series.count++;
    return stopping_add(x->stopping, (float)seconds);
}

// A clock that could not be read is 0; with one of those the series has no clocks.
static void drop_unknown_clocks(timing_series *series)
{
    for (int i = 0; series->hertz && i < series->count; i++)
        if (!(series->hertz[i] > 0)) {
            mem_free(series->hertz);
            series->hertz = NULL;
        }
}

// ---- the loop ---------------------------------------------------------------------------------
// All must have stopped at the same time: a rule may be met by chance and not be met later.
static cubc_status all_reached(const subject *subjects, int count, bool *reached)
{
    *reached = true;
    for (int i = 0; i < count; i++) {
        bool one;
        TRY(stopping_reached(subjects[i].stopping, &one));
        *reached = *reached && one;
    }
    return CUBC_OK;
}

static cubc_status cannot_win(const sampler *s, const subject *subjects, int count, bool *lost)
{
    double low, high;
    int n = subjects[0].series.count;
    *lost = false;
    if (count < 2 || s->options->beat <= 0 || n < LEAST_TO_GIVE_UP) return CUBC_OK;
    TRY(stats_ratio_bounds(subjects[1].series.seconds, subjects[0].series.seconds, (size_t)n, &low,
                           &high));
    *lost = high < s->options->beat;
    return CUBC_OK;
}

static cubc_status sample_until_enough(const sampler *s, subject *subjects, int count)
{
    const timing_options *o = s->options;
    double deadline = now_seconds() + o->timeout_s;
    for (int n = 1; n <= o->max_samples; n++) {
        bool reached = false, lost;
        for (int i = 0; i < count; i++) // A B on odd rounds, B A on even ones
            TRY(add_sample(s, &subjects[n % 2 ? i : count - 1 - i]));
        if (n >= o->min_samples) TRY(all_reached(subjects, count, &reached));
        if (reached) return CUBC_OK;
        TRY(cannot_win(s, subjects, count, &lost));
        if (lost) {
            subjects[0].series.given_up = true;
            return CUBC_OK;
        }
        if (now_seconds() >= deadline && n < o->max_samples) {
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
    for (int i = 0; i < count; i++)
        TRY(stopping_open(&s->options->stopping, &subjects[i].stopping));
    if (s->clocked) { // the first marks build their kernel, which a held stream would wait for
        TRY(api->clock_mark(s->device, 0, s->stream));
        TRY(api->clock_mark(s->device, 1, s->stream));
    }
    for (int i = 0; i < count; i++) TRY(warm_up(s, subjects[i].work));
    return sample_until_enough(s, subjects, count);
}

cubc_status timing_measure(cubc_device *device, const timing_work *work,
                           const timing_work *reference, const timing_options *options,
                           void *stream, timing_series *work_out, timing_series *reference_out)
{
    subject subjects[2] = {{.work = work}, {.work = reference}};
    sampler s = {.device = device,
                 .stream = stream,
                 .options = options,
                 .clocked = device->api->clock_mark != NULL};
    *work_out = (timing_series){0};
    if (reference_out) *reference_out = (timing_series){0};
    TRY(check_options(options));
    if (reference && !reference_out)
        FAIL(CUBC_INVALID_ARGUMENT, "a reference needs a place for its samples");

    cubc_status st = measure(&s, subjects, reference ? 2 : 1);
    stopping_close(subjects[0].stopping);
    stopping_close(subjects[1].stopping);
    device->api->event_destroy(device, s.stop);
    device->api->event_destroy(device, s.start);
    if (st) {
        timing_free(&subjects[0].series);
        timing_free(&subjects[1].series);
        return st;
    }
    drop_unknown_clocks(&subjects[0].series);
    drop_unknown_clocks(&subjects[1].series);
    if (device->api->sensors)
        device->api->sensors(device, &subjects[0].series.celsius, &subjects[0].series.watts);
    *work_out = subjects[0].series;
    if (reference_out) *reference_out = subjects[1].series;
    return CUBC_OK;
}

// ---- other ways to run --------------------------------------------------------------------------
static cubc_status run_batch(const sampler *s, const timing_work *work, int runs, double *seconds)
{
    const device_api *api = s->device->api;
    TRY(api->event_record(s->device, s->start, s->stream));
    for (int i = 0; i < runs; i++) TRY(work->queue(work->context, s->stream));
    TRY(api->event_record(s->device, s->stop, s->stream));
    TRY(api->synchronize(s->device, s->stream));
    return api->event_elapsed(s->device, s->start, s->stop, seconds);
}

static double joules(const sampler *s)
{
    const device_api *api = s->device->api;
    return api->energy ? api->energy(s->device) : 0;
}

// Runs of the next batch: twice as many, or what takes a little more than `seconds` at the rate of
// a batch that took long enough to tell it.
static int next_count(int count, double took, double seconds)
{
    double likely = took > TELLING_S ? 1.05 * count * seconds / took : 0;
    return (int)fmin(MAX_BATCH, fmax(2.0 * count, ceil(likely)));
}

static cubc_status run_batches(sampler *s, const timing_work *work, double seconds,
                               timing_runs *out)
{
    const device_api *api = s->device->api;
    double took = 0;
    TRY(api->event_create(s->device, &s->start));
    TRY(api->event_create(s->device, &s->stop));
    TRY(run_batch(s, work, 1, &took)); // warms up
    for (out->count = 4;; out->count = next_count(out->count, took, seconds)) {
        double before = joules(s), begin = now_seconds();
        TRY(run_batch(s, work, out->count, &took));
        double used = joules(s) - before, passed = now_seconds() - begin;
        out->watts = before > 0 && used > 0 && passed > 0 ? used / passed : 0;
        if (took >= seconds || out->count >= MAX_BATCH) break;
        if (interrupt_pending()) FAIL(CUBC_INTERRUPTED, "interrupted while measuring");
    }
    out->mean_s = took / out->count;
    return CUBC_OK;
}

cubc_status timing_hot(cubc_device *device, const timing_work *work, double seconds, void *stream,
                       timing_runs *out)
{
    sampler s = {.device = device, .stream = stream};
    *out = (timing_runs){0};
    cubc_status st = run_batches(&s, work, seconds, out);
    device->api->event_destroy(device, s.stop);
    device->api->event_destroy(device, s.start);
    return st;
}
