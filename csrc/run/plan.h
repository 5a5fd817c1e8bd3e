// The steps of a plan: it is made of a problem and an instance, its arguments become addresses, and
// its launches are queued on a stream.
#ifndef CUBC_PLAN_H
#define CUBC_PLAN_H

#include "run/algorithm.h"

cubc_status plan_make(const problem *p, const instance *i, plan *out);
// Has arguments point into the messages and the scratch; fails if kernel and descriptor disagree.
cubc_status plan_place(plan *pl, const void *messages, const void *scratch);
// Clears what has to be clear of the scratch, and launches.
cubc_status plan_queue(cubc_device *device, const plan *pl, void *scratch, void *stream);

#endif
