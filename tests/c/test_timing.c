// The measurement loop: on a device made up for the purpose, and on the cpu.
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include "fake_device.h"

#include "base/stats.h"
#include "measure/timing.h"

#include <math.h>
#include <string.h>
#include <time.h>

static const timing_options five = {
    .min_samples = 5, .max_samples = 5, .timeout_s = 10, .warmup = 1, .cold = true};

static double median_of(const timing_series *series)
{
    double median = 0;
    CHECK_STATUS(stats_median(series->seconds, (size_t)series->count, &median), CUBC_OK);
    return median;
}

// ---- the tests ----------------------------------------------------------------------------------
static void one_sample_is_flush_hold_event_work_event_release_wait(void)
{
    reset();
    fake_work a = {.letter = 'A', .seconds = 2};
    timing_series out;
    timing_options options = five;
    options.min_samples = options.max_samples = 2;
    CHECK_STATUS(
        timing_measure(&fake, &(timing_work){run_fake, &a}, NULL, &options, NULL, &out, NULL),
        CUBC_OK);
    CHECK(strcmp(trace, "FAS"
                        "FHEAERS"
                        "FHEAERS") == 0); // the warm-up is not held
    CHECK(out.count == 2 && !out.timed_out);
    CHECK(out.count == 2 && out.seconds[0] == 2.0f && out.seconds[1] == 2.0f);
    timing_free(&out);
    CHECK(out.seconds == NULL && live_events == 0);

    reset();
    options.cold = false;
    options.warmup = 0;
    options.min_samples = options.max_samples = 1;
    CHECK_STATUS(
        timing_measure(&fake, &(timing_work){run_fake, &a}, NULL, &options, NULL, &out, NULL),
        CUBC_OK);
    CHECK(strcmp(trace, "HEAERS") == 0 && out.count == 1);
    timing_free(&out);
}

static void a_linear_drift_cancels_against_the_reference(void)
{
    reset();
    fake_work a = {.letter = 'A', .seconds = 1, .drift = 0.01};
    fake_work b = {.letter = 'B', .seconds = 1, .drift = 0.01};
    timing_series out, reference;
    timing_options options = five;
    options.min_samples = options.max_samples = 8;
    options.warmup = 0;
    options.cold = false;
    CHECK_STATUS(timing_measure(&fake, &(timing_work){run_fake, &a}, &(timing_work){run_fake, &b},
                                &options, NULL, &out, &reference),
                 CUBC_OK);
    CHECK(out.count == 8 && reference.count == 8);
    CHECK(strncmp(trace, "HEAERSHEBERSHEBERSHEAERS", 24) == 0); // A B B A
    CHECK(fabs(median_of(&out) - median_of(&reference)) < 1e-6);
    timing_free(&out);
    timing_free(&reference);
}

static void stops_when_quiet_at_the_maximum_or_at_the_deadline(void)
{
    timing_series out, reference;
    timing_options options = {.stopping = {.rule = STOP_MEDIAN, .max_noise = 0.02},
                              .min_samples = 5,
                              .max_samples = 1000,
                              .timeout_s = 60};
    reset();
    fake_work quiet = {.letter = 'A', .seconds = 1};
    timing_work work = {run_fake, &quiet};
    CHECK_STATUS(timing_measure(&fake, &work, NULL, &options, NULL, &out, NULL), CUBC_OK);
    CHECK(out.count == 5 && !out.timed_out);
    timing_free(&out);

    fake_work noisy = {.letter = 'B', .seconds = 1, .jitter = 0.1};
    timing_work other = {run_fake, &noisy};
    CHECK_STATUS(timing_measure(&fake, &work, &other, &options, NULL, &out, &reference), CUBC_OK);
    double error = 1;
    CHECK_STATUS(stats_median_error(reference.seconds, (size_t)reference.count, &error), CUBC_OK);
    CHECK(reference.count > 5 && reference.count < 1000 && error < 0.02); // both must be quiet
    CHECK(out.count == reference.count && !out.timed_out);
    timing_free(&out);
    timing_free(&reference);

    options.stopping.max_noise = 0; // never quiet enough
    options.max_samples = 333;
    CHECK_STATUS(timing_measure(&fake, &work, NULL, &options, NULL, &out, NULL), CUBC_OK);
    CHECK(out.count == 333 && !out.timed_out);
    timing_free(&out);

    options.timeout_s = 0; // still one sample each
    CHECK_STATUS(timing_measure(&fake, &work, &other, &options, NULL, &out, &reference), CUBC_OK);
    CHECK(out.count == 1 && out.timed_out && reference.count == 1 && reference.timed_out);
    timing_free(&out);
    timing_free(&reference);
}

static void work_that_fails_lets_the_stream_go(void)
{
    fake_work a = {.letter = 'A', .seconds = 1, .fail_at = 3};
    timing_work work = {run_fake, &a};
    timing_series out;
    reset();
    wait_status = CUBC_OK;
    CHECK_STATUS(timing_measure(&fake, &work, NULL, &five, NULL, &out, NULL), CUBC_NO_RESOURCES);
    CHECK(strcmp(trace, "FASFHEAERSFHEARS") == 0);
    CHECK(out.seconds == NULL && out.count == 0 && live_events == 0);
    CHECK(strcmp(cubc_error_message(), "too many registers") == 0);

    // A later failure does not replace the first error.
    a.runs = 2;
    reset();
    timing_options options = five;
    options.warmup = 0;
    release_status = CUBC_TIMEOUT;
    wait_status = CUBC_KERNEL_FAULT;
    CHECK_STATUS(timing_measure(&fake, &work, NULL, &options, NULL, &out, NULL), CUBC_NO_RESOURCES);
    CHECK(strcmp(cubc_error_message(), "too many registers") == 0);
}

static void faults_and_late_releases_are_reported(void)
{
    fake_work a = {.letter = 'A', .seconds = 1};
    timing_work work = {run_fake, &a};
    timing_series out;
    timing_options options = five;
    options.warmup = 0;
    reset();
    wait_status = CUBC_KERNEL_FAULT;
    CHECK_STATUS(timing_measure(&fake, &work, NULL, &options, NULL, &out, NULL), CUBC_KERNEL_FAULT);
    CHECK(out.seconds == NULL && live_events == 0);
    reset();
    release_status = CUBC_TIMEOUT;
    CHECK_STATUS(timing_measure(&fake, &work, NULL, &options, NULL, &out, NULL), CUBC_TIMEOUT);
    CHECK(strcmp(trace, "FHEAERS") == 0);
    CHECK(strcmp(cubc_error_message(), "released late") == 0);
}

static bool always(void)
{
    return true;
}

static void can_be_interrupted(void)
{
    fake_work a = {.letter = 'A', .seconds = 1};
    timing_series out;
    reset();
    interrupt_set_hook(always);
    CHECK_STATUS(timing_measure(&fake, &(timing_work){run_fake, &a}, NULL, &five, NULL, &out, NULL),
                 CUBC_INTERRUPTED);
    interrupt_set_hook(NULL);
    CHECK(out.seconds == NULL && live_events == 0);
}

static void senseless_options_are_refused(void)
{
    fake_work a = {.letter = 'A', .seconds = 1};
    timing_work work = {run_fake, &a};
    timing_series out;
    timing_options wrong[6];
    for (size_t i = 0; i < COUNT_OF(wrong); i++) wrong[i] = five;
    wrong[0].min_samples = 0;
    wrong[1].max_samples = 4;
    wrong[2].stopping.max_noise = NAN;
    wrong[3].stopping.max_noise = -1;
    wrong[4].timeout_s = -1;
    wrong[5].warmup = -1;
    reset();
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        CHECK_STATUS(timing_measure(&fake, &work, NULL, &wrong[i], NULL, &out, NULL),
                     CUBC_INVALID_ARGUMENT);
    CHECK_STATUS(timing_measure(&fake, &work, &work, &five, NULL, &out, NULL),
                 CUBC_INVALID_ARGUMENT);
    CHECK(trace[0] == '\0' && a.runs == 0);
}

static void exhausted_memory_is_reported_and_leaks_nothing(void)
{
    fake_work a = {.letter = 'A', .seconds = 1};
    timing_work work = {run_fake, &a};
    timing_series out, reference;
    for (long n = 1; n <= 10; n++) { // two events; of both works the rule (3), and the series
        reset();
        mem_fail_at(n);
        CHECK_STATUS(timing_measure(&fake, &work, &work, &five, NULL, &out, &reference),
                     CUBC_NO_MEMORY);
        mem_fail_at(0);
        CHECK(live_events == 0 && out.seconds == NULL && reference.seconds == NULL);
    }
}

// ---- on the cpu ---------------------------------------------------------------------------------
static cubc_status sleep_a_little(void *context, void *stream)
{
    long milliseconds = *(const long *)context;
    (void)stream;
    nanosleep(&(struct timespec){0, milliseconds * 1000000}, NULL);
    return CUBC_OK;
}

static void measures_seconds_on_the_cpu(void)
{
    cubc_device *cpu = NULL, *again = NULL;
    long two = 2, four = 4;
    timing_series out, reference;
    CHECK_STATUS(device_open("cpu", &cpu), CUBC_OK);
    CHECK_STATUS(device_open("cpu", &again), CUBC_OK);
    CHECK(cpu != NULL && cpu == again && cpu->references == 2);
    if (!cpu) return;
    timing_options options = timing_defaults(cpu);
    CHECK(!options.cold && options.min_samples == 5);
    options.max_samples = 10;
    CHECK_STATUS(timing_measure(cpu, &(timing_work){sleep_a_little, &two},
                                &(timing_work){sleep_a_little, &four}, &options, NULL, &out,
                                &reference),
                 CUBC_OK);
    CHECK(out.count >= 5 && reference.count == out.count);
    CHECK(median_of(&out) >= 0.002 && median_of(&reference) >= 0.004);
    CHECK(median_of(&out) < 0.5);
    timing_free(&out);
    timing_free(&reference);
    device_release(again);
    device_release(cpu);
    device_release(NULL);
}

// ---- clocks -------------------------------------------------------------------------------------
static void the_clock_is_marked_around_the_events(void)
{
    fake_work a = {.letter = 'A', .seconds = 1};
    timing_work work = {run_fake, &a};
    timing_series out;
    timing_options options = five;
    device_api api;
    cubc_device device;
    with_clock(&api, &device);
    reset();
    fake_clocks[0] = 1e9, fake_clocks[1] = 0.9e9, fake_clocks[2] = 0.8e9;
    options.warmup = 0;
    CHECK_STATUS(timing_measure(&device, &work, NULL, &options, NULL, &out, NULL), CUBC_OK);
    CHECK(strncmp(trace, "<>FH<EAE>RSFH<", 14) == 0);
    CHECK(out.count == 5 && out.hertz && out.hertz[0] == 1e9f && out.hertz[1] == 0.9e9f);
    timing_free(&out);
    CHECK(out.hertz == NULL);
}

static void throttled_samples_are_taken_again(void)
{
    fake_work a = {.letter = 'A', .seconds = 1};
    timing_work work = {run_fake, &a};
    timing_series out;
    timing_options options = five;
    device_api api;
    cubc_device device;
    with_clock(&api, &device);
    reset();
    const double clocks[] = {1e9, 0.5e9, 0.6e9, 1e9};
    memcpy(fake_clocks, clocks, sizeof clocks);
    options.warmup = 0;
    options.throttle_below = 0.75;
    CHECK_STATUS(timing_measure(&device, &work, NULL, &options, NULL, &out, NULL), CUBC_OK);
    CHECK(out.count == 5 && out.discarded == 2 && a.runs == 7);
    for (int i = 0; i < out.count; i++) CHECK(out.hertz[i] == 1e9f);
    timing_free(&out);
    // A clock that stays low is what there is: the result is never empty.
    with_clock(&api, &device);
    fake_clocks[0] = 0.1e9;
    CHECK_STATUS(timing_measure(&device, &work, NULL, &options, NULL, &out, NULL), CUBC_OK);
    CHECK(out.count == 5 && out.discarded == 20 && out.hertz[0] == 0.1e9f);
    timing_free(&out);
    with_clock(&api, &device);
    fake_clocks[0] = 0.1e9;
    options.throttle_pause_s = 0.001, options.timeout_s = 0.02; // five pauses are a quarter
    CHECK_STATUS(timing_measure(&device, &work, NULL, &options, NULL, &out, NULL), CUBC_OK);
    CHECK(out.discarded == 5);
    timing_free(&out);
    // One that was not told leaves the series without.
    with_clock(&api, &device);
    options.throttle_below = options.throttle_pause_s = 0;
    options.timeout_s = 10;
    fake_clocks[0] = 0;
    CHECK_STATUS(timing_measure(&device, &work, NULL, &options, NULL, &out, NULL), CUBC_OK);
    CHECK(out.count == 5 && !out.hertz);
    timing_free(&out);
}

// ---- racing -------------------------------------------------------------------------------------
static void a_sure_loser_is_given_up(void)
{
    fake_work slow = {.letter = 'A', .seconds = 2, .jitter = 0.01},
              fast = {.letter = 'B', .seconds = 1};
    timing_work work = {run_fake, &slow}, reference = {run_fake, &fast};
    timing_series out, other;
    timing_options options = five;
    options.max_samples = options.min_samples = 100;
    options.beat = 1.0;
    reset();
    CHECK_STATUS(timing_measure(&fake, &work, &reference, &options, NULL, &out, &other), CUBC_OK);
    CHECK(out.given_up && !out.timed_out && out.count == 4 && other.count == 4);
    timing_free(&out);
    timing_free(&other);
    options.beat = 0.4; // half as fast is good enough for that
    CHECK_STATUS(timing_measure(&fake, &work, &reference, &options, NULL, &out, &other), CUBC_OK);
    CHECK(!out.given_up && out.count == 100);
    timing_free(&out);
    timing_free(&other);
}

static double fake_joules; // since before the test
static double fake_energy(cubc_device *device)
{
    (void)device;
    return fake_joules += 3; // a meter that ticks at each look
}

static void hot_runs_have_the_power_of_the_last_batch(void)
{
    fake_work a = {.letter = 'A', .seconds = 1};
    timing_runs runs;
    device_api api = fake_api;
    cubc_device device = {.api = &api};
    api.energy = fake_energy;
    fake_joules = 1;
    double begin = now_seconds();
    reset();
    CHECK_STATUS(timing_hot(&device, &(timing_work){run_fake, &a}, 7, NULL, &runs), CUBC_OK);
    CHECK(runs.count == 8 && fake_joules == 13);      // two batches, two looks at each
    CHECK(runs.watts * (now_seconds() - begin) >= 3); // 3 J in less than the time since then
    fake_joules = -3;                                 // as a meter that tells nothing
    CHECK_STATUS(timing_hot(&device, &(timing_work){run_fake, &a}, 3, NULL, &runs), CUBC_OK);
    CHECK(runs.watts == 0);
}

static void hot_runs_follow_each_other(void)
{
    fake_work a = {.letter = 'A', .seconds = 1};
    timing_runs runs;
    reset();
    CHECK_STATUS(timing_hot(&fake, &(timing_work){run_fake, &a}, 7, NULL, &runs), CUBC_OK);
    CHECK(strcmp(trace, "EAESEAAAAESEAAAAAAAAES") == 0);
    CHECK(runs.count == 8 && runs.mean_s == 1 && runs.watts == 0 && live_events == 0);
    a.runs = 0; // a batch that tells the rate is followed by the one that is long enough
    CHECK_STATUS(timing_hot(&fake, &(timing_work){run_fake, &a}, 70, NULL, &runs), CUBC_OK);
    CHECK(runs.count == 74 && a.runs == 1 + 4 + 74);
    a.fail_at = a.runs + 1;
    CHECK_STATUS(timing_hot(&fake, &(timing_work){run_fake, &a}, 7, NULL, &runs),
                 CUBC_NO_RESOURCES);
    CHECK(live_events == 0);
}

static const check_test tests[] = {
    {"the_clock_is_marked_around_the_events", the_clock_is_marked_around_the_events},
    {"throttled_samples_are_taken_again", throttled_samples_are_taken_again},
    {"a_sure_loser_is_given_up", a_sure_loser_is_given_up},
    {"hot_runs_follow_each_other", hot_runs_follow_each_other},
    {"hot_runs_have_the_power_of_the_last_batch", hot_runs_have_the_power_of_the_last_batch},
    {"one_sample_is_flush_hold_event_work_event_release_wait",
     one_sample_is_flush_hold_event_work_event_release_wait},
    {"a_linear_drift_cancels_against_the_reference", a_linear_drift_cancels_against_the_reference},
    {"stops_when_quiet_at_the_maximum_or_at_the_deadline",
     stops_when_quiet_at_the_maximum_or_at_the_deadline},
    {"work_that_fails_lets_the_stream_go", work_that_fails_lets_the_stream_go},
    {"faults_and_late_releases_are_reported", faults_and_late_releases_are_reported},
    {"can_be_interrupted", can_be_interrupted},
    {"senseless_options_are_refused", senseless_options_are_refused},
    {"exhausted_memory_is_reported_and_leaks_nothing",
     exhausted_memory_is_reported_and_leaks_nothing},
    {"measures_seconds_on_the_cpu", measures_seconds_on_the_cpu},
};

int main(int argc, char **argv)
{
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
