// Steps that all ranks take, or none: see rank_area.h.
#include "lattice/grid/rank_area.h"

#include <stdio.h>

// Fails if a rank does not come to the same place in time. The numbers that are sent do not matter.
// A rank that has given up takes part in no later step, of which the others may be one behind.
static cubc_status wait_for_all(cubc_ranks *r)
{
    messenger *m = r->meeting;
    if (!m) return CUBC_OK;
    TRY(ranks_failure(r));
    r->went[r->comm.rank] = CUBC_OK;
    cubc_status st = m->api->gather(m, r->went, sizeof *r->went, NULL);
    if (st != CUBC_TIMEOUT) return st;
    ranks_fail(r, rank_failure(MESSAGE_MOVED, r->comm.rank, m->late < 0 ? NOBODY : m->late),
               cubc_error_message());
    TRY(ranks_stop(r));
    return st;
}

// all_gather waits for a rank that has ended as long as it likes.
cubc_status ranks_gather(cubc_ranks *r, const void *mine, void *all, size_t bytes)
{
    cubc_status st = wait_for_all(r);
    r->apart = r->apart || st;
    TRY(st);
    if (r->comm.all_gather(r->comm.context, mine, all, bytes) == 0) return CUBC_OK;
    r->apart = true;
    FAIL(CUBC_IO_ERROR, "the ranks' all_gather has failed");
}

cubc_status ranks_agree_on(cubc_ranks *r, cubc_status mine, const char *lacks)
{
    int32_t here = (int32_t)mine;
    char why[1024]; // a failure to gather leaves another message
    snprintf(why, sizeof why, "%s", cubc_error_message());
    cubc_status st = ranks_gather(r, &here, r->went, sizeof here);
    if (mine && st) FAIL(mine, "%s", why);
    int failed = 0;
    while (!st && failed < r->comm.size && r->went[failed] == CUBC_OK) failed++;
    if (mine || st) return mine ? mine : st;
    if (failed < r->comm.size)
        FAIL(CUBC_NO_RESOURCES, "rank %d of %d %s", failed, r->comm.size, lacks);
    return CUBC_OK;
}

cubc_status ranks_agree(cubc_ranks *r, cubc_status mine)
{
    return ranks_agree_on(r, mine, "has no memory that ranks can share");
}
