// The measurement loop: samples of queued work, on either device.
//
// One cold sample: flush the device's last-level cache, hold the stream, queue clock mark, start
// event, work, stop event, clock mark, release, wait, read the interval: so launch latency stays
// out of it. This is NVBench's isolated measurement. When a reference is given, both are sampled
// alternately (A B, B A, ...), so that a drift of clocks or temperature moves both alike and
// cancels in their ratio; and a work that is sure to lose is given up early.
#ifndef CUBC_TIMING_H
#define CUBC_TIMING_H

#include "device/device.h"
#include "measure/stopping.h"

// The measured work: queues itself on the stream and returns.
typedef struct timing_work {
    cubc_status (*queue)(void *context, void *stream);
    void *context;
} timing_work;

typedef struct timing_options {
    stopping_options stopping; // each work's own; all must have stopped
    int min_samples;           // of each work; at least 1
    int max_samples;           // of each work
    double timeout_s;          // stop after this wall time, but not before one sample each
    int warmup;                // runs of each work before the first sample
    bool cold;                 // flush the cache before each sample
    double beat;               // least reference / work, below which it is given up; 0: never
    double throttle_below;     // of the device's clock: slower samples are taken again; 0: never
    double throttle_pause_s;   // before a sample is taken again
} timing_options;
timing_options timing_defaults(const cubc_device *device);

typedef struct timing_series {
    float *seconds; // in measured order; owned, release with timing_free
    float *hertz;   // of the multiprocessors' clock during each; NULL where that is not known
    int count;
    int discarded;         // samples taken again because the clock was low
    bool timed_out;        // stopped by timeout_s before the rule was met
    bool given_up;         // stopped because it cannot beat `beat`
    double celsius, watts; // of the device at the end; 0 if unknown
} timing_series;

// reference may be NULL. Works on the given stream; holds no lock and touches no Python.
cubc_status timing_measure(cubc_device *device, const timing_work *work,
                           const timing_work *reference, const timing_options *options,
                           void *stream, timing_series *work_out, timing_series *reference_out);
void timing_free(timing_series *series);

typedef struct timing_runs { // that follow each other without a flush or a pause, as in a loop
    double mean_s;
    int count;
    double watts; // of the device while they ran; 0 if unknown
} timing_runs;

// Measures growing batches of runs until one takes at least `seconds`. *out is of that batch.
cubc_status timing_hot(cubc_device *device, const timing_work *work, double seconds, void *stream,
                       timing_runs *out);

#endif
