// Parts with sites around them, and their exchanges: see part.h.
#include "lattice/gauge/part.h"

#include "base/integer.h"
#include "lattice/grid/halo.h"

cubc_status part_check(const problem *p, int cut, int margin, const cubc_ranks *ranks)
{
    const lattice_traits lattice = lattice_traits_of(p);
    if (cut < 0 || cut > 15 || cut & 1)
        FAIL(CUBC_INVALID_ARGUMENT,
             "%s: a cut of %d: it has a bit for each of y, z and t, 2, 4 and 8", p->algorithm->name,
             cut);
    if (cut ? margin < 2 || margin % 2 : margin != 0)
        FAIL(CUBC_INVALID_ARGUMENT,
             "%s: %d sites around a part: an even number from 2 on, or 0 without a cut",
             p->algorithm->name, margin);
    for (int d = 1; d < 4; d++)
        if (cut >> d & 1 && lattice.extents[d] - 2 * (int64_t)margin < margin)
            FAIL(CUBC_INVALID_ARGUMENT,
                 "a rank has %lld sites along %c, of which its neighbours need %d: cut another "
                 "direction, or into fewer parts",
                 (long long)lattice.extents[d] - 2 * (long long)margin, "xyzt"[d], margin);
    if (ranks && ranks_cut(ranks) != cut)
        FAIL(CUBC_INVALID_ARGUMENT, "%s: a cut of %d, and the ranks have one of %d",
             p->algorithm->name, cut, ranks_cut(ranks));
    return CUBC_OK;
}

uint64_t part_sites(const problem *p, int cut, int margin)
{
    const lattice_traits lattice = lattice_traits_of(p);
    uint64_t sites = 1;
    for (int d = 0; d < 4; d++)
        sites *= (uint64_t)(lattice.extents[d] - (cut >> d & 1 ? 2 * margin : 0));
    return sites / 2;
}

part_place part_place_of(const cubc_ranks *ranks, const int extents[4])
{
    part_place p = {.all_sites = (uint64_t)extents[0] / 2};
    int place[4], grid[4];
    cubc_ranks_place(ranks, place);
    ranks_grid(ranks, grid);
    for (int d = 1; d < 4; d++) {
        const uint64_t all = (uint64_t)extents[d] * (uint64_t)grid[d];
        p.first[d - 1] = (uint64_t)extents[d] * (uint64_t)place[d];
        if (d < 3) p.all[d - 1] = all;
        p.all_sites *= all;
    }
    return p;
}

// ---- exchanges ----------------------------------------------------------------------------------
enum { CHUNK = 16 };

// Sites of one parity of the slices of a direction.
static uint64_t slices(const problem *p, int d, int depth)
{
    return halo_slice_sites(lattice_traits_of(p).extents, d) * (uint64_t)depth;
}

cubc_status part_reserve(const problem *p, const part_exchange *e)
{
    uint64_t most = 0;
    for (int d = 1; d < 4; d++)
        if (e->cut >> d & 1) most = larger(most, slices(p, d, e->depth));
    return ranks_reserve_faces(e->ranks, most * e->count * CHUNK);
}

cubc_status part_exchange_launches(const problem *p, const instance *i, const part_exchange *e,
                                   int send, plan *out)
{
    TRY(ranks_check_device(e->ranks, i->device));
    for (int d = 1; d < 4; d++) {
        if (!(e->cut >> d & 1)) continue;
        const uint64_t places = 2 * slices(p, d, e->depth);
        const uint64_t args[] = {(uintptr_t)e->field->data,
                                 (uintptr_t)ranks_table(e->ranks),
                                 (uint64_t)d,
                                 e->first,
                                 e->count,
                                 (uint64_t)e->depth,
                                 places};
        rank_faces faces = {.bytes = CHUNK};
        faces.sites[d] = slices(p, d, e->depth) * e->count;
        for (int k = send; k < send + 2; k++) {
            TRY(site_map_launch(p, i, places, args, sizeof args, out));
            out->launches[out->launch_count - 1].kernel = &i->kernels[k];
        }
        out->launches[out->launch_count - 1].before = ranks_faces_move_step(e->ranks, &faces);
    }
    return CUBC_OK;
}
