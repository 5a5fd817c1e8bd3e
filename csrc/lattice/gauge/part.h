// A rank's part of a lattice with sites of its neighbours around it (kernels/lattice/part.h): the
// problem's extents are those of all of it.
#ifndef CUBC_LATTICE_PART_H
#define CUBC_LATTICE_PART_H

#include "lattice/grid/ranks.h"
#include "lattice/operators/site_map.h"

// Fails unless there are sites left of the part, and ranks (NULL: none) are cut as it is.
cubc_status part_check(const problem *p, int cut, int margin, const cubc_ranks *ranks);
uint64_t part_sites(const problem *p, int cut, int margin); // of one parity
// The place of a rank's part in the whole lattice, as kernels take it.
typedef struct part_place {
    uint64_t first[3];  // site along y, z, t
    uint64_t all[2];    // extents of the whole lattice along y, z
    uint64_t all_sites; // of one parity
} part_place;
part_place part_place_of(const cubc_ranks *ranks, const int extents[4]);

typedef struct part_exchange {
    cubc_ranks *ranks;
    int cut;
    const operand *field;  // arrays of 16 bytes for each site of one parity
    uint64_t first, count; // of its arrays that are exchanged
    int depth;             // slices around the part
} part_exchange;

// Sees to it that there is room for an exchange; all ranks call it.
cubc_status part_reserve(const problem *p, const part_exchange *e);
// Adds the launches, by the instance's kernel number `send` and the one after it.
cubc_status part_exchange_launches(const problem *p, const instance *i, const part_exchange *e,
                                   int send, plan *out);

#endif
