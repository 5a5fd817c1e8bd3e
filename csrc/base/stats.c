// Order statistics of timing samples: see stats.h.
//
// Timings have a hard floor and a long tail, so the tuner decides on medians. Samples are floats (a
// clock tick is far above their resolution), every sum and interpolation is in double.
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Samples that agree to the last tick of a timer are not as exact as they look.
static const double least_noise = 0.002;

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static cubc_status sorted_copy(const float *samples, size_t n, float **out)
{
    if (n == 0) FAIL(CUBC_INVALID_ARGUMENT, "no samples: an order statistic needs at least one");
    for (size_t i = 0; i < n; i++)
        if (isnan(samples[i])) FAIL(CUBC_INVALID_ARGUMENT, "sample %zu is not a number", i);
    float *sorted = mem_alloc(n, sizeof *sorted);
    if (!sorted) return CUBC_NO_MEMORY;
    memcpy(sorted, samples, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_floats);
    *out = sorted;
    return CUBC_OK;
}

// Between two neighbours, from the nearer one, so that the ends come out exact (as NumPy does).
static double quantile_of_sorted(const float *sorted, size_t n, double p)
{
    double rank = (double)(n - 1) * p;
    size_t below = (size_t)rank;
    double low = sorted[below], high = sorted[below + 1 < n ? below + 1 : below];
    double weight = rank - (double)below;
    return weight < 0.5 ? low + (high - low) * weight : high - (high - low) * (1.0 - weight);
}

cubc_status stats_quantiles(const float *samples, size_t n, const double *p, size_t count,
                            double *out)
{
    float *sorted;
    for (size_t i = 0; i < count; i++)
        if (!(p[i] >= 0.0 && p[i] <= 1.0))
            FAIL(CUBC_INVALID_ARGUMENT, "quantile %g is outside 0 to 1", p[i]);
    TRY(sorted_copy(samples, n, &sorted));
    for (size_t i = 0; i < count; i++) out[i] = quantile_of_sorted(sorted, n, p[i]);
    mem_free(sorted);
    return CUBC_OK;
}

cubc_status stats_median(const float *samples, size_t n, double *out)
{
    const double half = 0.5;
    return stats_quantiles(samples, n, &half, 1, out);
}

// The number of samples below the true median is binomial(n, 1/2): its standard deviation is
// sqrt(n)/2 ranks. The seconds of a rank are read off between the ranks that bound the
// median with 95 % confidence. On normal samples this is 0.95 to 1.2 times the true error from
// n = 2 upwards; reading it off one standard deviation apart would be half as precise again.
cubc_status stats_median_error(const float *samples, size_t n, double *out)
{
    float *sorted;
    TRY(sorted_copy(samples, n, &sorted));
    double root = sqrt((double)n), median = quantile_of_sorted(sorted, n, 0.5);
    double bound = ceil(0.5 * ((double)n - 1.96 * root)); // 1-based rank of the lower bound
    size_t low = bound > 1.0 ? (size_t)bound - 1 : 0, high = n - 1 - low;
    if (n < 2)
        *out = INFINITY; // one sample says nothing about its own error
    else if (sorted[high] <= sorted[low])
        *out = 0.0;
    else
        *out =
            ((double)sorted[high] - sorted[low]) / (double)(high - low) * 0.5 * root / fabs(median);
    mem_free(sorted);
    return CUBC_OK;
}

// Quantiles of Student's t by degrees of freedom; between rows the row above serves, which widens
// the interval.
static double student_t(size_t freedom) // at 0.9995, one-sided
{
    static const struct {
        size_t freedom;
        double t;
    } table[] = {{1, 636.6},  {2, 31.60},  {3, 12.92},  {4, 8.610},   {5, 6.869},   {6, 5.959},
                 {7, 5.408},  {8, 5.041},  {9, 4.781},  {10, 4.587},  {12, 4.318},  {15, 4.073},
                 {20, 3.850}, {30, 3.646}, {60, 3.460}, {120, 3.373}, {1000, 3.300}};
    size_t row = 0;
    while (row + 1 < COUNT_OF(table) && table[row + 1].freedom <= freedom) row++;
    return table[row].t;
}

cubc_status stats_ratio_bounds(const float *x, const float *y, size_t n, double *low, double *high)
{
    double mean = 0, squares = 0;
    if (n < 2) FAIL(CUBC_INVALID_ARGUMENT, "bounds of a ratio need two pairs at least, not %zu", n);
    for (size_t i = 0; i < n; i++) {
        double log_ratio = log((double)x[i] / y[i]), before = log_ratio - mean;
        if (!isfinite(log_ratio))
            FAIL(CUBC_INVALID_ARGUMENT, "pair %zu is not of positive numbers", i);
        mean += before / (double)(i + 1);
        squares += before * (log_ratio - mean);
    }
    double deviation = fmax(sqrt(squares / (double)(n - 1)), least_noise);
    double margin = student_t(n - 1) * deviation / sqrt((double)n);
    *low = exp(mean - margin);
    *high = exp(mean + margin);
    return CUBC_OK;
}
