// A solve is gone through twice. The first time nothing of it happens: its launches are listed, so
// that the variants that they need are compiled side by side, and its fields lie in memory that is
// only thought of. The second time everything is there.
#include "lattice/solver/ahead.h"

#include "base/chunks.h"

// Apart from all memory that a process has: its addresses have fewer bits.
static const uintptr_t first_place = (uintptr_t)1 << 60;
enum { ALIGNMENT = 256 }; // as what devices allocate

void *ahead_alloc(ahead *a, size_t bytes)
{
    uintptr_t place = a->next ? a->next : first_place;
    a->next = place + (bytes / ALIGNMENT + 1) * ALIGNMENT;
    return (void *)place;
}

cubc_status ahead_add(ahead *a, const problem *p)
{
    bool missing;
    TRY(algorithm_missing(a->device, p, &missing));
    for (size_t k = 0; k < a->count && missing; k++)
        missing = !problem_same_code(&a->problems[k], p);
    if (!missing) return CUBC_OK;
    if (a->count == a->capacity) {
        size_t capacity = a->capacity ? 2 * a->capacity : 16;
        problem *grown = mem_realloc(a->problems, capacity, sizeof *grown);
        if (!grown) return CUBC_NO_MEMORY;
        a->problems = grown;
        a->capacity = capacity;
    }
    a->problems[a->count++] = *p;
    return CUBC_OK;
}

static cubc_status compile_one(void *context, uint64_t first, uint64_t count, void *room)
{
    const ahead *a = context;
    size_t bytes;
    (void)count, (void)room;
    return algorithm_temp_bytes(a->device, &a->problems[first], &bytes);
}

cubc_status ahead_compile(ahead *a)
{
    cubc_status st = chunks_run(a->count, 1, 1, compile_one, a);
    if (st == CUBC_INTERRUPTED) return st;
    error_clear(); // what fails fails again in its launch, which has the compiler's whole log
    return CUBC_OK;
}

void ahead_free(ahead *a)
{
    mem_free(a->problems);
}
