// Memory of the cpu device, on 256 bytes, in large pages where the system has them for the asking:
// what scatters items over much memory spends its time on the addresses of small ones.
//
// The last large block that was given back is kept for whoever asks next. A call's spare memory is
// gone with the call, and a system clears each page that it hands out, which shows in a profile of
// a sort.
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
