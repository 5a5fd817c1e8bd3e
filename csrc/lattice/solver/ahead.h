// Compiles the kernels of a solve before it begins: see ahead.c.
#ifndef CUBC_LATTICE_AHEAD_H
#define CUBC_LATTICE_AHEAD_H

#include "run/algorithm.h"

typedef struct ahead {
    cubc_device *device; // borrowed
    problem *problems;   // whose variants are not there yet, one of each
    size_t count, capacity;
    uintptr_t next; // place in memory that is only thought of
} ahead;

// Memory that nobody reads or writes, apart from all that there is.
void *ahead_alloc(ahead *a, size_t bytes);
// The texts of the problem must live as long as the list.
cubc_status ahead_add(ahead *a, const problem *p);
// Compiles all of them side by side: chunks.h.
cubc_status ahead_compile(ahead *a);
void ahead_free(ahead *a);

#endif
