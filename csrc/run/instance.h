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

// Blocks of one of its kernels that the device runs at once.
static inline uint64_t resident_blocks(const instance *i, const device_kernel *kernel)
{
    return (uint64_t)i->device->info.sm_count * (uint64_t)kernel->info.blocks_per_sm;
}

// Compiles and loads a variant, "base" or a label, for a problem.
cubc_status instance_open(cubc_device *device, const problem *p, const char *label, instance **out);
void instance_close(instance *i);

#endif
