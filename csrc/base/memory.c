// Allocations that are counted, and that tests make fail: see base.h. Beside this file error.c
// alone calls malloc's functions, as an allocation that fails sets an error.
#include "base/base.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_long fail_countdown; // 0: off
static atomic_long outstanding;

static bool should_fail(void)
{
    if (atomic_load_explicit(&fail_countdown, memory_order_relaxed) == 0) return false;
    return atomic_fetch_sub(&fail_countdown, 1) == 1;
}

static bool checked_size(size_t count, size_t size, size_t *bytes)
{
    *bytes = count * size;
    if (size && count > SIZE_MAX / size) return false;
    if (*bytes == 0) *bytes = 1; // NULL means failure and nothing else
    return true;
}

static void *out_of_memory(size_t count, size_t size)
{
    error_set(__FILE__, __LINE__, CUBC_NO_MEMORY, "out of host memory: %zu times %zu bytes", count,
              size);
    return NULL;
}

void *mem_alloc(size_t count, size_t size)
{
    return mem_realloc(NULL, count, size);
}

void *mem_zalloc(size_t count, size_t size)
{
    void *pointer = NULL;
    size_t bytes;
    if (checked_size(count, size, &bytes) && !should_fail()) pointer = calloc(1, bytes);
    if (!pointer) return out_of_memory(count, size);
    atomic_fetch_add_explicit(&outstanding, 1, memory_order_relaxed);
    return pointer;
}

void *mem_realloc(void *old, size_t count, size_t size)
{
    void *pointer = NULL;
    size_t bytes;
    if (checked_size(count, size, &bytes) && !should_fail()) pointer = realloc(old, bytes);
    if (!pointer) return out_of_memory(count, size);
    if (!old) atomic_fetch_add_explicit(&outstanding, 1, memory_order_relaxed);
    return pointer;
}

void *mem_grow(void *list, size_t count, size_t *room, size_t size)
{
    const size_t more = count ? 2 * count : 16;
    if (count < *room) return list;
    void *grown = mem_realloc(list, more, size);
    if (grown) *room = more;
    return grown;
}

char *mem_strdup(const char *string)
{
    size_t bytes = strlen(string) + 1;
    char *copy = mem_alloc(bytes, 1);
    if (copy) memcpy(copy, string, bytes);
    return copy;
}

void mem_free(void *pointer)
{
    if (!pointer) return;
    atomic_fetch_sub_explicit(&outstanding, 1, memory_order_relaxed);
    free(pointer);
}

void mem_fail_at(long nth)
{
    atomic_store(&fail_countdown, nth > 0 ? nth : 0);
}

long mem_outstanding(void)
{
    return atomic_load(&outstanding);
}
