// The places of ranks in their grid: see ranks.h.
#include "lattice/grid/rank_area.h"

static int rank_at(const cubc_ranks *r, const int place[4])
{
    int rank = 0;
    for (int d = 3; d >= 0; d--) rank = rank * r->grid[d] + place[d];
    return rank;
}

void ranks_place_of(const cubc_ranks *r, int rank, int place[4])
{
    for (int d = 0; d < 4; d++) {
        place[d] = rank % r->grid[d];
        rank /= r->grid[d];
    }
}

int ranks_neighbour(const cubc_ranks *r, int rank, int face)
{
    int place[4], d = face / 2;
    ranks_place_of(r, rank, place);
    place[d] = (place[d] + (face % 2 ? 1 : r->grid[d] - 1)) % r->grid[d];
    return rank_at(r, place);
}

bool ranks_reach(const cubc_ranks *r, int rank)
{
    return !r->messenger || (r->hosts && r->hosts[rank] == r->hosts[r->comm.rank]);
}

void ranks_grid(const cubc_ranks *r, int grid[4])
{
    memcpy(grid, r->grid, sizeof r->grid);
}

int ranks_cut(const cubc_ranks *r)
{
    return r->cut;
}

uint32_t ranks_edges(const cubc_ranks *r)
{
    uint32_t edges = 0;
    for (int d = 0; d < 4; d++) {
        if (r->place[d] == 0) edges |= 1u << 2 * d;
        if (r->place[d] == r->grid[d] - 1) edges |= 2u << 2 * d;
    }
    return edges;
}

void cubc_ranks_place(const cubc_ranks *r, int place[4])
{
    for (int d = 0; place && d < 4; d++) place[d] = r ? r->place[d] : 0;
}
