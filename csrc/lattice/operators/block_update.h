// One step of block conjugate gradients on fields: kernels/lattice/block_update.cu.
#ifndef CUBC_LATTICE_BLOCK_UPDATE_H
#define CUBC_LATTICE_BLOCK_UPDATE_H

#include "run/instance.h"
#include "run/problem.h"

enum { MOST_BLOCK = 12 }; // sources of a block

typedef enum block_step {
    BLOCK_FACTOR,
    BLOCK_REFACTOR,
    BLOCK_BEGIN,
    BLOCK_LENGTH,
    BLOCK_RESIDUAL,
    BLOCK_DIRECTION
} block_step;

typedef struct block_update_params {
    block_step step;
    int normal;          // not 0: of M^+ M
    int block;           // sources of a block
    cubc_type type;      // of the fields: F64, F32
    void *q, *p, *x, *w; // of all sources, one after the other
    uint64_t n;          // reals of a field
    uint64_t sources;
    int extents[4];   // for policies
    cubc_guard guard; // states, parts, phase and ranks
    void *matrices;   // block_matrices_bytes(block) for each block; NULL: no sums and no states
                      // change
} block_update_params;

// The size of the blocks that sources are divided into, about the same for all.
int block_of(uint64_t sources);
size_t block_matrices_bytes(int block);
uint64_t block_parts(int block); // numbers of partial sums of a block of sources, at most
cubc_status block_update_problem(const block_update_params *params, problem *out);

#endif
