// Order statistics of timing samples. Inputs are not modified; n is at least 1 unless said.
#ifndef CUBC_STATS_H
#define CUBC_STATS_H

#include "base/base.h"

// Linear interpolation between order statistics (NumPy's default), p in [0, 1].
cubc_status stats_quantiles(const float *samples, size_t n, const double *p, size_t count,
                            double *out);
cubc_status stats_median(const float *samples, size_t n, double *out);
// Standard error of the median from the distance of order statistics around it (binomial bound,
// Conover, Practical Nonparametric Statistics, 1999, section 3.2), relative to the median.
// Infinite for n = 1.
cubc_status stats_median_error(const float *samples, size_t n, double *out);
// 99.9 % confidence bounds of the ratio x / y from n >= 2 pairs that were sampled side by side:
// Student's t on the logarithms of their ratios.
cubc_status stats_ratio_bounds(const float *x, const float *y, size_t n, double *low, double *high);

#endif
