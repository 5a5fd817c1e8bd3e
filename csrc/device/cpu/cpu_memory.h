// Memory of the cpu device: aligned to 256 bytes, and in large pages where the system offers them.
// A kernel that scatters items over small pages spends its time on translating addresses.
//
// The last large block that was given back is kept for the next caller. Temporary storage of a call
// is freed with the call, and the system clears each page that it hands out, which takes a visible
// part of a sort.
#ifndef CUBC_CPU_MEMORY_H
#define CUBC_CPU_MEMORY_H

#include "base/base.h"

#include <stdatomic.h>

typedef struct cpu_memory {
    _Atomic(void *) kept; // NULL: none
} cpu_memory;

// Out of memory: CUBC_NO_DEVICE_MEMORY. Any thread may give back what another took.
cubc_status cpu_memory_take(cpu_memory *m, size_t bytes, void **out);
void cpu_memory_give(cpu_memory *m, void *pointer);
void cpu_memory_close(cpu_memory *m);

#endif
