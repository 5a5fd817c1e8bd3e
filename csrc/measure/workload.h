// A benchmark at one compile-time and run-time workload, set up on a device for a search.
//
// Inputs are drawn so that the exact result does not depend on the order of evaluation (floats are
// small integers, factors are 1 or -1), so a variant's output must equal the base's bit for bit.
#ifndef CUBC_WORKLOAD_H
#define CUBC_WORKLOAD_H

#include "run/instance.h"

typedef struct workload workload;

// A benchmark's problem without pointers: enough to compile for, not to run. at has POLICY_AXES
// values, of the axes that the benchmark declares: numbers, not exponents.
cubc_status workload_problem_at(const char *benchmark, cubc_type type, const uint64_t *at,
                                problem *out);
// The same with arrays; the seed selects the random inputs. keys: what those of an algorithm that
// has some are to be like, as keys_sketch gives it; NULL, or all 0: as the benchmark has them.
cubc_status workload_open(cubc_device *device, const char *benchmark, cubc_type type,
                          const uint64_t *at, const uint64_t *keys, uint64_t seed, workload **out);
void workload_close(workload *w);
cubc_device *workload_device(const workload *w);
const problem *workload_problem(const workload *w);
double workload_bytes(const workload *w); // compulsory traffic
double workload_flops(const workload *w); // 0: not counted
// Compiles and loads a variant for the workload; release with instance_close before the workload.
cubc_status workload_variant(workload *w, const char *label, instance **out);
// Queues the work of an instance on a stream.
cubc_status workload_queue(const workload *w, instance *i, void *stream);
// Poisons the outputs, so that what the next run leaves unwritten differs from the base's outputs.
cubc_status workload_poison(workload *w);
// *wrong: values of the outputs, as the last run has left them, that differ from the base's. Those
// that may stand in any order are put in one first.
cubc_status workload_compare(workload *w, uint64_t *wrong);
// Poisons, runs the instance and compares.
cubc_status workload_verify(workload *w, instance *i, uint64_t *wrong);

#endif
