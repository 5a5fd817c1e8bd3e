// Plans: the launches of a call. A plan is made of a problem and an instance, its arguments become
// addresses, and its launches are queued on a stream.
#ifndef CUBC_PLAN_H
#define CUBC_PLAN_H

#include "device/device.h"
#include "run/problem.h"

enum {
    MAX_LAUNCHES = 32, // of one call: 2^31 tiles are merged in 31 rounds
    MAX_ARGS = 40
};

typedef struct launch {
    host_step before; // taken before the launch, if there is one
    const device_kernel *kernel;
    launch_shape shape;
    // Bit k: argument k is an offset into the plan's messages or scratch and becomes an address.
    uint64_t message_args, scratch_args;
    size_t args_count;
    uint64_t args[MAX_ARGS];
} launch;

// Appends an argument. One that there is no room for is counted, and plan_place refuses the launch.
static inline void launch_add(launch *l, uint64_t value)
{
    if (l->args_count < MAX_ARGS) l->args[l->args_count] = value;
    l->args_count++;
}

typedef struct plan {
    size_t message_bytes; // temporary storage for messages between blocks (message.h)
    size_t scratch_bytes; // temporary storage with whatever was there, on 256 bytes
    size_t cleared_bytes; // of the scratch, from its start, that are zero before the first launch
    int launch_count;
    launch launches[MAX_LAUNCHES];
} plan;

cubc_status plan_make(const problem *p, const instance *i, plan *out);
// Plans one launch of the first kernel, with a block for each tile of the problem's items and
// without arguments; none for no items.
cubc_status plan_tiles(const problem *p, const instance *i, plan *out);
// Has arguments point into the messages and the scratch; fails if kernel and descriptor disagree.
cubc_status plan_place(plan *pl, const void *messages, const void *scratch);
// Clears what has to be clear of the scratch, and launches.
cubc_status plan_queue(cubc_device *device, const plan *pl, void *scratch, void *stream);

#endif
