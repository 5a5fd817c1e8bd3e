// Parts of fields in files: see field_part.h.
#include "lattice/io/field_part.h"

#include <stdio.h>
#include <string.h>

typedef struct record {
    int32_t status;
    char text[316]; // of the error
    char told[FIELD_PART_TOLD];
} record;

static cubc_status check(const cubc_field_ranks *ranks, const int all[4])
{
    const int *grid = ranks->grid;
    int64_t size = 1;
    for (int k = 0; k < 4; k++) {
        if (grid[k] < 1 || all[k] % grid[k])
            FAIL(CUBC_INVALID_ARGUMENT,
                 "a lattice of %d x %d x %d x %d sites has no equal parts on a grid of %d x %d x "
                 "%d x %d ranks",
                 all[0], all[1], all[2], all[3], grid[0], grid[1], grid[2], grid[3]);
        size = size <= INT32_MAX ? size * grid[k] : size;
    }
    if (!ranks->comm || size != ranks->comm->size || ranks->comm->rank < 0 ||
        ranks->comm->rank >= ranks->comm->size)
        FAIL(CUBC_INVALID_ARGUMENT, "a grid of %d x %d x %d x %d ranks, and there are %d", grid[0],
             grid[1], grid[2], grid[3], ranks->comm ? ranks->comm->size : 1);
    return CUBC_OK;
}

void field_part_locate(int rank, const int grid[4], const int all[4], field_part *out)
{
    for (int k = 0; k < 4; k++) {
        out->extent[k] = all[k] / grid[k];
        out->first[k] = rank % grid[k] * out->extent[k];
        rank /= grid[k];
    }
}

cubc_status field_part_begin(const cubc_field_ranks *ranks, const int all[4], field_part *out)
{
    *out = (field_part){.comm = ranks->comm};
    TRY(check(ranks, all));
    field_part_locate(ranks->comm->rank, ranks->grid, all, out);
    out->told = mem_alloc((size_t)ranks->comm->size, sizeof(record));
    return out->told ? CUBC_OK : CUBC_NO_MEMORY;
}

cubc_status field_part_begin_steps(const cubc_field_ranks *ranks, field_part *out)
{
    *out = (field_part){0};
    if (ranks->comm && !ranks->comm->all_gather)
        FAIL(CUBC_INVALID_ARGUMENT, "a communicator needs all_gather, which is NULL");
    return field_part_begin(ranks, ranks->grid, out);
}

void field_part_free(field_part *p)
{
    mem_free(p->told);
    p->told = NULL;
}

uint64_t field_part_sites(const field_part *p)
{
    uint64_t sites = 1;
    for (int k = 0; k < 4; k++) sites *= (uint64_t)p->extent[k];
    return sites;
}

uint64_t field_part_place(const field_part *p, const int all[4], uint64_t site, uint64_t *run)
{
    uint64_t place = 0, stride = 1, together = 1, rest = site;
    bool whole = true; // in all directions so far
    for (int k = 0; k < 4; k++) {
        const uint64_t extent = (uint64_t)p->extent[k];
        place += ((uint64_t)p->first[k] + rest % extent) * stride;
        stride *= (uint64_t)all[k];
        if (whole) together *= extent;
        whole = whole && p->extent[k] == all[k];
        rest /= extent;
    }
    *run = together - site % together;
    return place;
}

// ---- steps --------------------------------------------------------------------------------------
// The other ranks say who failed; an interruption is that of its rank alone.
static cubc_status fail_with(const field_part *p, const record *theirs, int rank)
{
    const bool own = theirs->status == CUBC_INVALID_ARGUMENT;
    return error_set(__FILE__, __LINE__, own ? CUBC_INVALID_ARGUMENT : CUBC_IO_ERROR,
                     "rank %d of %d: %.*s", rank, p->comm->size, (int)sizeof theirs->text,
                     theirs->text);
}

cubc_status field_part_step(field_part *p, cubc_status mine, const void *told, size_t bytes,
                            void *all)
{
    record here = {.status = (int32_t)mine}, *theirs = p->told;
    if (mine) snprintf(here.text, sizeof here.text, "%s", cubc_error_message());
    if (told) memcpy(here.told, told, bytes < sizeof here.told ? bytes : sizeof here.told);
    if (p->comm->all_gather(p->comm->context, &here, theirs, sizeof here) != 0) {
        p->failed = true;
        if (mine) return mine;
        FAIL(CUBC_IO_ERROR, "the ranks' all_gather has failed: a rank has ended, or makes other "
                            "calls");
    }
    for (int rank = 0; rank < p->comm->size; rank++) {
        if (theirs[rank].status) {
            p->failed = true;
            return mine ? mine : fail_with(p, &theirs[rank], rank);
        }
        if (all)
            memcpy((char *)all + (size_t)rank * FIELD_PART_TOLD, theirs[rank].told,
                   FIELD_PART_TOLD);
    }
    return CUBC_OK;
}

static cubc_status compare(const char *all, int size, const char *what)
{
    for (int rank = 1; rank < size; rank++)
        if (memcmp(all, all + (size_t)rank * FIELD_PART_TOLD, FIELD_PART_TOLD) != 0)
            FAIL(CUBC_INVALID_ARGUMENT,
                 "rank %d gives another %s than rank 0: those of all ranks are equal", rank, what);
    return CUBC_OK;
}

cubc_status field_part_agree(field_part *p, cubc_status mine, const void *told, size_t bytes,
                             const char *what)
{
    char *all = mem_alloc((size_t)p->comm->size, FIELD_PART_TOLD);
    if (!all && !mine) mine = CUBC_NO_MEMORY;
    cubc_status st = field_part_step(p, mine, told, bytes, all);
    if (!st) st = compare(all, p->comm->size, what); // the same on all ranks
    mem_free(all);
    return st;
}

cubc_status field_part_end(field_part *p, cubc_status mine)
{
    return p->failed ? mine : field_part_step(p, mine, NULL, 0, NULL);
}
