// Large pages of memory, where the system has them for the asking: what scatters items over much
// memory spends its time on the addresses of small ones.
#ifndef CUBC_CPU_PAGES_H
#define CUBC_CPU_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static inline void cpu_pages_ask_for_large(char *block, size_t bytes)
{
    (void)block, (void)bytes;
#if defined(MADV_HUGEPAGE)
    enum { LEAST = 4 << 20 }; // what is smaller may share its pages
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), behind = (uintptr_t)block + page - 1;
    if (bytes >= LEAST) madvise((void *)(behind & ~(page - 1)), bytes - page, MADV_HUGEPAGE);
#endif
}

#endif
