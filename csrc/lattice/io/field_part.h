// A field of a lattice that is cut over ranks: the sites of a rank's part in a file, and steps that
// all ranks take, or none.
#ifndef CUBC_LATTICE_FIELD_PART_H
#define CUBC_LATTICE_FIELD_PART_H

#include "base/base.h"
#include "cubc/fields.h"

typedef struct field_part {
    const cubc_comm *comm;
    int first[4], extent[4]; // of the part: X, Y, Z, T
    void *told;              // room for what the ranks tell each other
    bool failed;             // all ranks know of a failure
} field_part;

// The part of this rank, of a whole lattice of these extents. All ranks fail for the same reasons.
cubc_status field_part_begin(const cubc_field_ranks *ranks, const int all[4], field_part *out);
// The same of any lattice of one site for each rank, for steps that do not depend on its extents.
cubc_status field_part_begin_steps(const cubc_field_ranks *ranks, field_part *out);
// Sets the place of a rank's part alone.
void field_part_locate(int rank, const int grid[4], const int all[4], field_part *out);
void field_part_free(field_part *p);
uint64_t field_part_sites(const field_part *p);
// The number in the whole lattice of a site of the part; *run gets how many follow it there as they
// do in the part.
uint64_t field_part_place(const field_part *p, const int all[4], uint64_t site, uint64_t *run);

// ---- steps --------------------------------------------------------------------------------------
enum { FIELD_PART_TOLD = 64 };
// Ends a step, which went as `mine` says. Each rank tells the others `bytes` bytes. `all` gets
// those of every rank, in the order of ranks, FIELD_PART_TOLD bytes each; NULL if nobody needs
// them. If a step failed on a rank, it does so on all of them, with that one's reason.
cubc_status field_part_step(field_part *p, cubc_status mine, const void *told, size_t bytes,
                            void *all);
// The same for ranks that have to tell the same. `what` may differ, as "part", and is for the
// error.
cubc_status field_part_agree(field_part *p, cubc_status mine, const void *told, size_t bytes,
                             const char *what);
// Ends the last step, unless the ranks have failed together before.
cubc_status field_part_end(field_part *p, cubc_status mine);

#endif
