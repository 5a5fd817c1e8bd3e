// Plaquettes and traces of links that are cut over ranks, added up in the order of the whole
// lattice, so that they have the same bits on any grid.
#include "base/size.h"
#include "lattice/io/field_part.h"
#include "lattice/io/links.h"

#include <string.h>

typedef struct row_sums {
    uint64_t rows; // of a part
    double (*mine)[2], (*of_ranks)[2], (*ordered)[2];
} row_sums;

static void free_rows(row_sums *r)
{
    mem_free(r->mine);
    mem_free(r->of_ranks);
    mem_free(r->ordered);
}

// Takes the extents of the whole lattice from those of a part with margins.
static cubc_status whole_of(const int extent[4], const int margins[4], const int grid[4],
                            int all[4])
{
    for (int k = 0; k < 4; k++) {
        const int64_t part = extent[k] - 2 * (int64_t)margins[k];
        if (part < 1 || part > INT32_MAX / grid[k])
            FAIL(CUBC_INVALID_ARGUMENT, "extent %d of a part is %lld, must be positive", k + 1,
                 (long long)part);
        all[k] = (int)part * grid[k];
    }
    return CUBC_OK;
}

static cubc_status check(const void *links, const int extent[4], int margin, const int grid[4],
                         const double *out)
{
    if (!links || !extent || !out)
        FAIL(CUBC_INVALID_ARGUMENT, "cubc_field_measure: %s is NULL",
             !links    ? "links"
             : !extent ? "extent"
                       : "out");
    if (margin < 1)
        FAIL(CUBC_INVALID_ARGUMENT, "cubc_field_measure: a margin of %d, must be 1 or more",
             margin);
    if (grid[0] != 1)
        FAIL(CUBC_INVALID_ARGUMENT,
             "cubc_field_measure: a grid of %d ranks along x, which is not cut", grid[0]);
    return CUBC_OK;
}

// Adds up the rows of this rank, and makes room for those of all.
static cubc_status sum_rows(const void *links, const int extent[4], int margin,
                            const cubc_field_ranks *ranks, int all[4], row_sums *out)
{
    int margins[4];
    for (int k = 0; k < 4; k++) margins[k] = ranks->grid[k] > 1 ? margin : 0;
    TRY(whole_of(extent, margins, ranks->grid, all));
    out->rows = 1;
    bool fits = true;
    for (int k = 1; k < 4; k++)
        fits = fits && size_multiply(&out->rows, (uint64_t)(all[k] / ranks->grid[k]));
    uint64_t of_all = out->rows;
    if (!fits || !size_multiply(&of_all, (uint64_t)ranks->comm->size))
        FAIL(CUBC_INVALID_ARGUMENT, "a lattice of 2^60 rows or more");
    out->mine = mem_alloc(out->rows, sizeof *out->mine);
    out->of_ranks = mem_alloc(of_all, sizeof *out->of_ranks);
    out->ordered = mem_alloc(of_all, sizeof *out->ordered);
    if (!out->mine || !out->of_ranks || !out->ordered) return CUBC_NO_MEMORY;
    return links_row_sums(links, extent, margins, out->mine);
}

// Adds up the rows of all ranks in the order of the whole lattice.
static cubc_status gather_rows(const cubc_field_ranks *ranks, const int all[4], row_sums *r,
                               double *out)
{
    const cubc_comm *comm = ranks->comm;
    if (comm->all_gather(comm->context, r->mine, r->of_ranks, r->rows * sizeof *r->mine))
        FAIL(CUBC_IO_ERROR, "the ranks' all_gather has failed");
    for (int rank = 0; rank < comm->size; rank++) {
        const int of_rows[4] = {1, all[1], all[2], all[3]},
                  grid[4] = {1, ranks->grid[1], ranks->grid[2], ranks->grid[3]};
        field_part part;
        field_part_locate(rank, grid, of_rows, &part);
        uint64_t run;
        for (uint64_t row = 0; row < r->rows; row++)
            memcpy(r->ordered[field_part_place(&part, of_rows, row, &run)],
                   r->of_ranks[(size_t)rank * r->rows + row], sizeof *r->ordered);
    }
    links_means((const double (*)[2])r->ordered, (size_t)comm->size * r->rows, all, &out[0],
                &out[1]);
    return CUBC_OK;
}

cubc_status cubc_field_measure(const void *links, const int extent[4], int margin,
                               const cubc_field_ranks *ranks, double *out)
{
    field_part steps;
    row_sums rows = {0};
    int all[4] = {0};
    if (!ranks) FAIL(CUBC_INVALID_ARGUMENT, "cubc_field_measure: ranks is NULL");
    TRY(field_part_begin_steps(ranks, &steps));
    cubc_status st = check(links, extent, margin, ranks->grid, out);
    if (!st) st = sum_rows(links, extent, margin, ranks, all, &rows);
    st = field_part_agree(&steps, st, all, sizeof all, "part");
    if (!st) st = field_part_end(&steps, gather_rows(ranks, all, &rows, out));
    field_part_free(&steps);
    free_rows(&rows);
    return st;
}
