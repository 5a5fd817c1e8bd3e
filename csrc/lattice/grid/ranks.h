// Ranks of a lattice that is cut, and the memory in which they leave each other faces and sums:
// kernels/grid/ranks.h.
#ifndef CUBC_LATTICE_RANKS_H
#define CUBC_LATTICE_RANKS_H

#include "cubc/lattice.h"
#include "device/device.h"

void ranks_grid(const cubc_ranks *r, int grid[4]);
int ranks_cut(const cubc_ranks *r);        // bit d: faces of direction d are exchanged
uint32_t ranks_edges(const cubc_ranks *r); // bit 2 d + (1: upper): the face is on the boundary
// Sees to it that there is room for faces of `bytes` bytes, and for the sums of each state. All
// ranks ask for the same; where there is none they make new memory together, and launches that are
// queued go on with the old one.
cubc_status ranks_reserve_faces(cubc_ranks *r, size_t bytes);
cubc_status ranks_reserve_sums(cubc_ranks *r, uint64_t states, int sums);
// INVALID_ARGUMENT for fields on another device than that of the ranks, which has their faces.
cubc_status ranks_check_device(const cubc_ranks *r, const cubc_device *fields);
// The kernels' rank_table, in the device's memory.
void *ranks_table(const cubc_ranks *r);
// Ends the waits of this rank's kernels, from any thread. Results are void.
cubc_status ranks_stop(cubc_ranks *r);
// Ranks that were stopped or have failed begin anew, once no kernel of any of them runs.
void ranks_renew(cubc_ranks *r);

// ---- messages that are moved between launches: ranks_steps.c ------------------------------------
// True if the ranks reach no memory of each other, so that sums need a launch that receives them.
bool ranks_are_staged(const cubc_ranks *r);
// The faces of a hop or an exchange, in every slot: numbers of sites of all fields and slices, and
// the bytes of a site, apart from its norm.
typedef struct rank_faces {
    uint64_t sites[4]; // by direction; 0: nothing of it is sent
    size_t bytes, norm_bytes;
} rank_faces;
// The steps before the launch that receives faces, or sums; none where memory is shared.
host_step ranks_faces_move_step(const cubc_ranks *r, const rank_faces *faces);
// The same in two steps: launches between them run while messages are under way.
host_step ranks_faces_begin_step(const cubc_ranks *r, const rank_faces *faces);
host_step ranks_faces_end_step(const cubc_ranks *r);
host_step ranks_sums_step(const cubc_ranks *r);

#endif
