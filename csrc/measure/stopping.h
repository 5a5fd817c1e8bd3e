// The stopping rules of a measurement, which take one sample at a time.
//
// The tuner's own rule is the error of the median (stats.h), since decisions are made on medians.
// The others are NVBench's, with its defaults, for comparison with its measurements: the relative
// standard deviation, the entropy of the samples, and a count.
#ifndef CUBC_STOPPING_H
#define CUBC_STOPPING_H

#include "base/base.h"

typedef enum stopping_rule {
    STOP_MEDIAN,  // the standard error of the median, relative to it, is below max_noise
    STOP_STDREL,  // the relative standard deviation is below max_noise, or does not change any more
    STOP_ENTROPY, // new samples no longer change the entropy of all
    STOP_COUNT,   // there are target_samples
    STOP_RULES
} stopping_rule;
extern const char *const stopping_rule_names[STOP_RULES]; // "median", "stdrel", "entropy", "count"

typedef struct stopping_options {
    stopping_rule rule;
    double max_noise;   // of median and stdrel, relative
    double min_time_s;  // of stdrel: of measured time, at least
    double max_angle;   // of entropy: degrees of the line through the last entropies, at most
    double min_r2;      // of entropy: how well that line fits, at least
    int target_samples; // of count
} stopping_options;
stopping_options stopping_defaults(stopping_rule rule);

typedef struct stopping stopping; // the state of one series
cubc_status stopping_open(const stopping_options *options, stopping **out);
void stopping_close(stopping *s);
cubc_status stopping_add(stopping *s, float seconds);
cubc_status stopping_reached(stopping *s, bool *reached);

#endif
