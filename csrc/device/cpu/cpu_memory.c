// Allocation in large pages: see cpu_memory.h.
#define _GNU_SOURCE // MADV_HUGEPAGE
#include "device/cpu/cpu_memory.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    ALIGNMENT = 256,
    LARGE = 4 << 20,      // bytes; smaller blocks may share pages
    MOST_KEPT = 256 << 20 // larger blocks go back to the system
};

// Just in front of what the caller gets.
typedef struct header {
    void *block; // that mem_alloc gave
    size_t bytes;
} header;
_Static_assert(sizeof(header) <= ALIGNMENT, "it has room before the first aligned byte");

static header *header_of(void *pointer)
{
    return (header *)pointer - 1;
}

static void ask_for_large_pages(char *block, size_t bytes)
{
    (void)block, (void)bytes;
#if defined(MADV_HUGEPAGE)
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), behind = (uintptr_t)block + page - 1;
    if (bytes >= LARGE) madvise((void *)(behind & ~(page - 1)), bytes - page, MADV_HUGEPAGE);
#endif
}

static void release(void *pointer)
{
    if (pointer) mem_free(header_of(pointer)->block);
}

static void *allocate(size_t bytes)
{
    char *block = bytes <= SIZE_MAX - 2 * ALIGNMENT ? mem_alloc(bytes + 2 * ALIGNMENT, 1) : NULL;
    if (!block) return NULL;
    ask_for_large_pages(block, bytes);
    uintptr_t first = (uintptr_t)block + sizeof(header) + ALIGNMENT - 1;
    void *pointer = (void *)(first & ~(uintptr_t)(ALIGNMENT - 1));
    *header_of(pointer) = (header){block, bytes};
    return pointer;
}

cubc_status cpu_memory_take(cpu_memory *m, size_t bytes, void **out)
{
    *out = NULL;
    if (bytes >= LARGE && bytes <= MOST_KEPT) *out = atomic_exchange(&m->kept, NULL);
    if (*out) {
        size_t size = header_of(*out)->bytes;
        if (size >= bytes && size / 2 <= bytes) return CUBC_OK;
        release(*out);
    }
    *out = allocate(bytes);
    if (!*out)
        FAIL(CUBC_NO_DEVICE_MEMORY,
             "out of memory on \"cpu\": %zu bytes were asked for; free arrays, or compute parts of "
             "them one after the other",
             bytes);
    return CUBC_OK;
}

void cpu_memory_give(cpu_memory *m, void *pointer)
{
    size_t bytes = header_of(pointer)->bytes;
    release(bytes >= LARGE && bytes <= MOST_KEPT ? atomic_exchange(&m->kept, pointer) : pointer);
}

void cpu_memory_close(cpu_memory *m)
{
    release(atomic_exchange(&m->kept, NULL));
}
