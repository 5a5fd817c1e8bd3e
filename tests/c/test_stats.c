// Order statistics against values worked out by hand.
#include "base/stats.h"

#include "check.h"

#include <math.h>

static bool near(double x, double y)
{
    return fabs(x - y) <= 1e-12 * fmax(fabs(x), fabs(y));
}

static void quantiles(void)
{
    const float x[] = {40, 10, 30, 20};
    const double p[] = {0.0, 0.25, 0.5, 0.9, 1.0};
    double q[5];
    CHECK_STATUS(stats_quantiles(x, 4, p, 5, q), CUBC_OK);
    CHECK(q[0] == 10.0 && near(q[1], 17.5) && near(q[2], 25.0) && near(q[3], 37.0) && q[4] == 40.0);
    CHECK(x[0] == 40.0f && x[3] == 20.0f); // the input stays as it was
    double median;
    CHECK_STATUS(stats_median(x, 3, &median), CUBC_OK);
    CHECK(median == 30.0);
    CHECK_STATUS(stats_median(x, 1, &median), CUBC_OK);
    CHECK(median == 40.0);
}

static void bad_input(void)
{
    const float x[] = {1, NAN};
    const double beyond[] = {1.5}, unknown[] = {NAN};
    double out;
    CHECK_STATUS(stats_median(x, 0, &out), CUBC_INVALID_ARGUMENT);
    CHECK_STATUS(stats_median(x, 2, &out), CUBC_INVALID_ARGUMENT);
    CHECK_STATUS(stats_quantiles(x, 1, beyond, 1, &out), CUBC_INVALID_ARGUMENT);
    CHECK_STATUS(stats_quantiles(x, 1, unknown, 1, &out), CUBC_INVALID_ARGUMENT);
    CHECK_STATUS(stats_median_error(x, 0, &out), CUBC_INVALID_ARGUMENT);
}

static void median_error(void)
{
    float x[100];
    double error;
    for (int i = 0; i < 100; i++) x[i] = (float)(1 + (i * 37) % 100); // 1 to 100, shuffled
    // 95 % bounds: ranks ceil(50 - 9.8) = 41 and 60. One rank is worth 1 there, its deviation is
    // sqrt(100) / 2 = 5 ranks, the median 50.5.
    CHECK_STATUS(stats_median_error(x, 100, &error), CUBC_OK);
    CHECK(near(error, 5.0 / 50.5));
    const float pair[] = {1, 3}; // ranks 1 and 2: 2 * sqrt(2) / 2 over the median 2
    CHECK_STATUS(stats_median_error(pair, 2, &error), CUBC_OK);
    CHECK(near(error, sqrt(0.5)));
    CHECK_STATUS(stats_median_error(pair, 1, &error), CUBC_OK);
    CHECK(isinf(error));
    const float same[] = {2, 2, 2};
    CHECK_STATUS(stats_median_error(same, 3, &error), CUBC_OK);
    CHECK(error == 0.0);
}

// The estimate is right on average: compared with the spread of many medians of uniform samples,
// whose true standard error is 1 / (2 sqrt(n + 2)) (a beta distribution's).
static void median_error_is_calibrated(void)
{
    enum { ROUNDS = 4000, N = 41 };
    uint64_t state = 88172645463325252u;
    double sum = 0.0;
    for (int round = 0; round < ROUNDS; round++) {
        float x[N];
        double relative, median;
        for (int i = 0; i < N; i++) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17; // xorshift64
            x[i] = (float)((double)(state >> 11) * 0x1p-53);
        }
        if (stats_median_error(x, N, &relative) || stats_median(x, N, &median)) break;
        sum += relative * median;
    }
    double ratio = sum / ROUNDS * 2.0 * sqrt(N + 2.0);
    CHECK(ratio > 0.95 && ratio < 1.1);
}

static void no_memory(void)
{
    const float x[] = {3, 1, 2};
    double out = -1.0;
    mem_fail_at(1);
    CHECK_STATUS(stats_median(x, 3, &out), CUBC_NO_MEMORY);
    mem_fail_at(1);
    CHECK_STATUS(stats_median_error(x, 3, &out), CUBC_NO_MEMORY);
    mem_fail_at(0);
    CHECK(out == -1.0 && mem_outstanding() == 0);
}

int main(int argc, char **argv)
{
    const check_test tests[] = {
        {"quantiles", quantiles},       {"bad_input", bad_input},
        {"median_error", median_error}, {"median_error_is_calibrated", median_error_is_calibrated},
        {"no_memory", no_memory},
    };
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
