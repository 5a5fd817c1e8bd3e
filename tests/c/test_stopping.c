// The stopping rules against series whose answer is known.
#include "check.h"

#include "base/stats.h"
#include "measure/stopping.h"

#include <math.h>

static stopping *opened(stopping_options options)
{
    stopping *s = NULL;
    CHECK_STATUS(stopping_open(&options, &s), CUBC_OK);
    return s;
}

// Returns how many samples of a series the rule asks for; `most` if it never has enough.
static int needed(stopping_options options, float (*sample)(int), int most)
{
    stopping *s = opened(options);
    bool reached = false;
    int n = 0;
    while (!reached && n < most) {
        CHECK_STATUS(stopping_add(s, sample(n++)), CUBC_OK);
        CHECK_STATUS(stopping_reached(s, &reached), CUBC_OK);
    }
    stopping_close(s);
    return n;
}

static float constant(int i)
{
    (void)i;
    return 0.125f;
}

// Numbers that look random, of mean 1 and deviation 0.1, on a timer that ticks every 1/64.
static float noisy(int i)
{
    uint32_t x = (uint32_t)i * 2654435761u + 12345;
    x = (x ^ x >> 15) * 2246822519u;
    x ^= x >> 13;
    double uniform = (double)(x >> 8) / (1 << 24);
    return (float)(floor((1 + 0.1 * sqrt(12) * (uniform - 0.5)) * 64) / 64);
}

static float noisier_and_noisier(int i)
{
    return 1 + 0.05f * (float)(i + 1) * (i % 2 ? 1.0f : -0.5f);
}

static void count_is_a_count(void)
{
    CHECK(needed(stopping_defaults(STOP_COUNT), noisy, 1000) == 100);
}

static void median_stops_when_its_error_is_small(void)
{
    stopping_options options = stopping_defaults(STOP_MEDIAN);
    options.max_noise = 0.02;
    CHECK(needed(options, constant, 1000) == 2); // one sample knows nothing of its error
    int n = needed(options, noisy, 1000);
    CHECK(n > 40 && n < 200); // about (0.17 / 0.02)^2, seen up to an eighth later
    options.max_noise = 0;
    CHECK(needed(options, noisy, 500) == 500);
}

static void stdrel_wants_time_and_a_low_or_steady_noise(void)
{
    stopping_options options = stopping_defaults(STOP_STDREL);
    CHECK(options.min_time_s == 0.5 && options.max_noise == 0.005); // NVBench's
    CHECK(needed(options, constant, 1000) == 5); // 5 * 0.125 s > 0.5 s, and the first noise is at 5
    options.max_noise = 0.2;
    CHECK(needed(options, noisy, 1000) == 5);
    options.max_noise = 0.005; // never that quiet, but after 64 noises it is steady
    int n = needed(options, noisy, 1000);
    CHECK(n >= 64 + 4 && n < 512 && n % 16 == 0);
    CHECK(needed(options, noisier_and_noisier, 400) == 400);
    options.min_time_s = 10;
    CHECK(needed(options, constant, 1000) == 81);
}

static void entropy_levels_off_on_a_timer_that_ticks(void)
{
    stopping_options options = stopping_defaults(STOP_ENTROPY);
    CHECK(options.max_angle == 0.048 && options.min_r2 == 0.36); // NVBench's
    CHECK(needed(options, constant, 1000) == 2);
    int n = needed(options, noisy, 5000);
    CHECK(n > 100 && n < 5000);
}

// log2(n) - sum(c log2 c) / n, through the only thing that shows it: all different, it grows for
// ever, and ever more slowly.
static float all_different(int i)
{
    return (float)(i + 1);
}

static void entropy_of_different_samples_grows(void)
{
    stopping_options options = stopping_defaults(STOP_ENTROPY);
    int n = needed(options, all_different, 5000);
    CHECK(n > 1000); // slope 1 / (n ln 2) under tan(0.048 degrees), over 299 places
    options.max_angle = 5;
    CHECK(needed(options, all_different, 5000) < n / 4);
}

static void bounds_of_a_ratio(void)
{
    float x[100], y[100];
    double low, high, narrow_low, narrow_high;
    for (int i = 0; i < 100; i++) {
        x[i] = noisy(i);
        y[i] = noisy(i + 1000) / 1.5f;
    }
    CHECK_STATUS(stats_ratio_bounds(x, y, 100, &narrow_low, &narrow_high), CUBC_OK);
    CHECK(narrow_low < 1.5 && narrow_high > 1.5 && narrow_low > 1.4 && narrow_high < 1.6);
    CHECK_STATUS(stats_ratio_bounds(x, y, 10, &low, &high), CUBC_OK);
    CHECK(low < narrow_low && high > narrow_high);
    CHECK_STATUS(stats_ratio_bounds(y, x, 10, &narrow_low, &narrow_high), CUBC_OK);
    CHECK(fabs(narrow_low * high - 1) < 1e-12 && fabs(narrow_high * low - 1) < 1e-12);
    // Equal samples: the interval is narrow but not a point.
    CHECK_STATUS(stats_ratio_bounds(x, x, 4, &low, &high), CUBC_OK);
    CHECK(low < 1 && high > 1 && low > 0.98 && high < 1.02);
    CHECK_STATUS(stats_ratio_bounds(x, y, 1, &low, &high), CUBC_INVALID_ARGUMENT);
    x[1] = 0;
    CHECK_STATUS(stats_ratio_bounds(x, y, 2, &low, &high), CUBC_INVALID_ARGUMENT);
}

static void exhausted_memory(void)
{
    long before = mem_outstanding();
    for (int rule = 0; rule < STOP_RULES; rule++)
        for (long nth = 1; nth <= 4; nth++) {
            stopping_options options = stopping_defaults((stopping_rule)rule);
            stopping *s = NULL;
            mem_fail_at(nth);
            cubc_status st = stopping_open(&options, &s);
            for (int i = 0; !st && i < 100; i++) st = stopping_add(s, all_different(i));
            mem_fail_at(0);
            CHECK(st == CUBC_OK || st == CUBC_NO_MEMORY);
            stopping_close(s);
        }
    CHECK(mem_outstanding() == before);
}

static const check_test tests[] = {
    {"count_is_a_count", count_is_a_count},
    {"median_stops_when_its_error_is_small", median_stops_when_its_error_is_small},
    {"stdrel_wants_time_and_a_low_or_steady_noise", stdrel_wants_time_and_a_low_or_steady_noise},
    {"entropy_levels_off_on_a_timer_that_ticks", entropy_levels_off_on_a_timer_that_ticks},
    {"entropy_of_different_samples_grows", entropy_of_different_samples_grows},
    {"bounds_of_a_ratio", bounds_of_a_ratio},
    {"exhausted_memory", exhausted_memory},
};

int main(int argc, char **argv)
{
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
