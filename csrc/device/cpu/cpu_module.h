// A compiled variant of the CPU device: a shared object in memory, loaded by the dynamic linker.
// Checks first that a binary is a whole file for this machine: it may come from a cache.
#ifndef CUBC_CPU_MODULE_H
#define CUBC_CPU_MODULE_H

#include "device/device.h"

struct device_module {
    void *library;
    char *kept;       // the file it was loaded from if that must stay; else NULL
    const char *code; // its instructions
    size_t code_bytes;
    bool may_trap;
};

// Entries of the device_api (device.h).
cubc_status cpu_module_check(const binary *code);
cubc_status cpu_module_load(cubc_device *device, const binary *code, device_module **out);
void cpu_module_unload(cubc_device *device, device_module *module);

#endif
