// Failures of ranks: a kernel that has waited in vain leaves the reason in the windows, and what
// has failed between launches is noted here.
#include "lattice/grid/rank_area.h"

#include <stdio.h>

static cubc_status report(const cubc_ranks *r, uint64_t reason)
{
    const int waited = (int)(reason >> 24 & 0xffffff), from = (int)(reason & 0xffffff);
    const uint64_t kind = reason >> 48;
    const int late = kind == MESSAGE_FACE ? ranks_neighbour(r, waited, from % FACES) : from;
    if (late == NOBODY)
        FAIL(CUBC_TIMEOUT,
             "messages of rank %d of %d have failed, another rank may have ended (%s); results "
             "since then are void",
             waited, r->comm.size, r->why);
    FAIL(CUBC_TIMEOUT,
         "rank %d of %d waited %g s for the %s of rank %d, which has ended, hangs or makes other "
         "calls; results since then are void",
         waited, r->comm.size, r->seconds,
         kind == MESSAGE_FACE  ? "face"
         : kind == MESSAGE_SUM ? "sums"
                               : "messages",
         late);
}

void ranks_fail(cubc_ranks *r, uint64_t reason, const char *why)
{
    if (atomic_exchange(&r->failing, true)) return;
    snprintf(r->why, sizeof r->why, "%s", why);
    atomic_store(&r->failed, reason);
}

cubc_status ranks_failure(const cubc_ranks *r)
{
    const uint64_t reason = atomic_load(&r->failed);
    return reason ? report(r, reason) : CUBC_OK;
}

static cubc_status leave_reason(cubc_ranks *r, void *stream)
{
    const device_api *api = r->device->api;
    const uint64_t reason = rank_failure(MESSAGE_MOVED, r->comm.rank, r->comm.rank);
    for (const rank_area *a = r->newest; a; a = a->older)
        TRY(api->copy(r->device, a->windows[r->comm.rank], &reason, sizeof reason, stream));
    return CUBC_OK;
}

// A stream of its own does not wait for kernels. A watch ends messages when it finds the reason.
cubc_status ranks_stop(cubc_ranks *r)
{
    const device_api *api = r->device->api;
    void *stream;
    TRY(api->stream_create(r->device, &stream));
    cubc_status st = leave_reason(r, stream);
    api->stream_destroy(r->device, stream);
    return st;
}

cubc_status cubc_ranks_check(cubc_ranks *r, cubc_stream stream)
{
    if (!r) FAIL(CUBC_INVALID_ARGUMENT, "cubc_ranks_check: ranks is NULL");
    const device_api *api = r->device->api;
    TRY(api->synchronize(r->device, stream));
    TRY(ranks_failure(r));
    for (const rank_area *a = r->newest; a; a = a->older) {
        uint64_t reason = 0;
        TRY(api->copy(r->device, &reason, a->windows[r->comm.rank], sizeof reason, stream));
        TRY(api->synchronize(r->device, stream));
        if (!reason) continue;
        TRY(ranks_failure(r)); // which says more
        return report(r, reason);
    }
    return CUBC_OK;
}
