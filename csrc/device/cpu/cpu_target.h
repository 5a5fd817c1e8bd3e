// The processor that kernels of the CPU device are compiled for: this one, or the oldest of its
// kind.
#ifndef CUBC_CPU_TARGET_H
#define CUBC_CPU_TARGET_H

#include "device/device.h"

// The compiler's option for it. CUBC_CPU_PORTABLE=1 asks for the oldest of the kind, x86-64 as it
// was at first, so that the code runs on all.
const char *cpu_target_option(void);
// Names it: "portable x86_64", or a hash of this processor.
cubc_status cpu_target_name(char name[TARGET_BYTES]);
// True if code for what has that name runs here.
bool cpu_target_runs(const char *name);

#endif
