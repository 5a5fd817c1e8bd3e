// Instances: variants of algorithms, compiled and loaded on a device.
#ifndef CUBC_INSTANCE_H
#define CUBC_INSTANCE_H

#include "run/algorithm.h"

struct instance {
    struct instance *next; // of the same compile-time workload
    problem key;           // its compile-time part, texts copied
    space space;
    variant variant;
    char label[MAX_LABEL];
    uint64_t serial;     // serial_number()
    cubc_device *device; // borrowed
    device_module *module;
    device_kernel kernels[MAX_KERNELS];
};

// The value of a parameter by label; `otherwise` if the space has no such parameter.
static inline uint64_t instance_value(const instance *i, const char *label, int otherwise)
{
    return (uint64_t)variant_value(&i->space, &i->variant, label, otherwise);
}

// Items that a block of one of its kernels takes: those of a thread (ipt), times its threads.
static inline uint64_t instance_tile(const instance *i, const device_kernel *kernel)
{
    return instance_value(i, "ipt", 1) * kernel->threads;
}

// Blocks of one of its kernels that the device runs at once.
static inline uint64_t resident_blocks(const instance *i, const device_kernel *kernel)
{
    return (uint64_t)i->device->info.sm_count * (uint64_t)kernel->info.blocks_per_sm;
}

// Blocks of as many waves (wav), each of which the device runs at once.
static inline uint64_t blocks_in_waves(const instance *i, const device_kernel *kernel)
{
    return resident_blocks(i, kernel) * instance_value(i, "wav", 1);
}

// Compiles and loads a variant, "base" or a label, for a problem.
cubc_status instance_open(cubc_device *device, const problem *p, const char *label, instance **out);
void instance_close(instance *i);

#endif
