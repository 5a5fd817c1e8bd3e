// Sources that have stopped leave the batch of a solve: see compact.c.
#ifndef CUBC_LATTICE_COMPACT_H
#define CUBC_LATTICE_COMPACT_H

#include "lattice/solver/solver.h"

typedef struct compaction {
    uint64_t all;         // sources before the first; 0: there was none
    uint64_t (*swaps)[2]; // places that were exchanged, in their order
    uint64_t count;
} compaction;

// True if enough sources have stopped, by the states in host memory.
bool compact_pays(const solver *s);
// Moves the sources that go on to the front of all fields and states, of which there are then only
// theirs. The stream is idle, and the states in host memory are those of the device, and stay so.
cubc_status compact_sources(solver *s, uint64_t reals, compaction *c);
// Brings sources, solutions and states back to their order, when nothing iterates any more.
cubc_status compact_undo(solver *s, uint64_t reals, compaction *c);
void compact_free(compaction *c);

#endif
