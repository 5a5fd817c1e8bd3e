// The measurement loop: cold samples of queued work, on either device.
//
// One sample: flush the device's last-level cache, hold the stream, queue start event, work, stop
// event, release, wait, read the interval: so launch latency stays out of it. This is NVBench's
// isolated measurement. When a reference is given, both are sampled alternately (A B, B A, ...), so
// that a drift of clocks or temperature moves both alike and cancels in their ratio.
#ifndef CUBC_TIMING_H
#define CUBC_TIMING_H

#include "device.h"

// What is measured: queues its work on the stream and returns.
typedef struct timing_work {
    cubc_status (*queue)(void *context, void *stream);
    void *context;
} timing_work;

typedef struct timing_options {
    int min_samples;  // of each work; at least 1
    int max_samples;  // of each work
    double max_noise; // stop once the standard error of the median, relative to it, is below this
    double timeout_s; // stop after this wall time, whatever was reached (at least one sample each)
    int warmup;       // runs of each work before the first sample
    bool cold;        // flush the cache before each sample
} timing_options;
timing_options timing_defaults(const cubc_device *device);

typedef struct timing_series {
    float *seconds; // in measured order; owned, release with timing_free
    int count;
    bool timed_out; // stopped by timeout_s before max_noise was reached
} timing_series;

// reference may be NULL. Works on the given stream; holds no lock and touches no Python.
cubc_status timing_measure(cubc_device *device, const timing_work *work,
                           const timing_work *reference, const timing_options *options,
                           void *stream, timing_series *work_out, timing_series *reference_out);
void timing_free(timing_series *series);

#endif
