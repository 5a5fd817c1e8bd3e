// The running of a call, from its problem to launches that are queued on a stream.
#ifndef CUBC_RUN_H
#define CUBC_RUN_H

#include "run/algorithm.h"

// Queues a problem, or its steps, on the variants that the policies choose, which are compiled on
// first use. temp NULL: the workspace comes from the device's pool.
cubc_status run_problem(cubc_device *device, const problem *p, void *temp, size_t temp_bytes,
                        void *stream);
// The size of the workspace that run_problem needs.
cubc_status run_temp_bytes(cubc_device *device, const problem *p, size_t *bytes);
// Tells if run_problem would find its variant without compiling or tuning.
cubc_status run_is_ready(cubc_device *device, const problem *p, bool *ready);
// Makes the variant that run_problem would find, if there is none yet, without a launch. *was_ready
// tells if there was one.
cubc_status run_prepare(cubc_device *device, const problem *p, bool *was_ready);
// Queues a problem on an instance; the workspace comes from the device's pool.
cubc_status run_instance(instance *i, const problem *p, void *stream);

#endif
