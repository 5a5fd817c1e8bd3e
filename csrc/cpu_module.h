// A compiled variant of the CPU device: a shared object in memory, loaded by the dynamic linker.
// What comes from a cache or from elsewhere is first checked to be a whole file for this machine.
#ifndef CUBC_CPU_MODULE_H
#define CUBC_CPU_MODULE_H

#include "device.h"

struct device_module {
    void *library;
    char *kept;       // the file it was loaded from if that must stay; else NULL
    const char *code; // its instructions
    size_t code_bytes;
    bool may_trap;
};

// As in device.h.
cubc_status cpu_module_check(const binary *code);
cubc_status cpu_module_load(cubc_device *device, const binary *code, device_module **out);
void cpu_module_unload(cubc_device *device, device_module *module);

#endif
