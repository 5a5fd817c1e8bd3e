// The transport of ranks: the memory that they share, messages, or, on several hosts, both.
#include "lattice/grid/comm_messenger.h"
#include "lattice/grid/rank_area.h"
#include "lattice/grid/ranks_watch.h"

void ranks_close_messenger(cubc_ranks *r)
{
    ranks_watch_close(r->watch);
    if (r->messenger) r->messenger->api->close(r->messenger);
    r->watch = NULL;
    r->messenger = NULL;
}

static cubc_status open_here(cubc_ranks *r, const unsigned char id[MESSENGER_ID_BYTES])
{
    const device_api *api = r->device->api;
    if (!api->messenger_open)
        return comm_messenger_open(&r->comm, r->seconds, COMM_MOST_BYTES, &r->messenger);
    TRY(api->messenger_open(r->device, id, r->comm.rank, r->comm.size, r->seconds, &r->messenger));
    return r->messenger->api->cancel ? ranks_watch_open(r, &r->watch) : CUBC_OK;
}

// Rank 0 makes an id, where the device's messages need one.
static cubc_status open_messenger(cubc_ranks *r)
{
    static const char lacks[] = "cannot send messages";
    const device_api *api = r->device->api;
    unsigned char mine[MESSENGER_ID_BYTES] = {0}, (*ids)[MESSENGER_ID_BYTES];
    cubc_status st =
        api->messenger_id ? api->messenger_id(r->comm.rank == 0 ? mine : NULL) : CUBC_OK;
    TRY(ranks_agree_on(r, st, lacks));
    ids = mem_alloc((size_t)r->comm.size, sizeof *ids);
    st = ranks_agree_on(r, ids ? CUBC_OK : CUBC_NO_MEMORY, lacks);
    if (!st) st = ranks_gather(r, mine, ids, sizeof mine);
    if (!st) st = ranks_agree_on(r, open_here(r, ids[0]), lacks);
    if (st) ranks_close_messenger(r);
    mem_free(ids);
    return st;
}

typedef struct wish {
    uint64_t host, transport;
} wish;

// Messages if a rank wants them; memory if one wants it, or all share a host. Else ANY, which is
// memory within a host and messages between hosts.
static cubc_ranks_transport choose(const wish *all, int count)
{
    bool memory = false, differ = false;
    for (int k = 0; k < count; k++) {
        if (all[k].transport == CUBC_RANKS_MESSAGES) return CUBC_RANKS_MESSAGES;
        memory = memory || all[k].transport == CUBC_RANKS_MEMORY;
        differ = differ || all[k].host != all[0].host;
    }
    return differ && !memory ? CUBC_RANKS_ANY : CUBC_RANKS_MEMORY;
}

static bool share_hosts(const wish *all, int count)
{
    for (int k = 1; k < count; k++)
        for (int other = 0; other < k; other++)
            if (all[k].host == all[other].host) return true;
    return false;
}

// Hosts are remembered where ranks of one reach each other's memory.
static cubc_ranks_transport choose_of_all(cubc_ranks *r, const wish *all)
{
    const cubc_ranks_transport chosen = choose(all, r->comm.size);
    if (chosen != CUBC_RANKS_ANY || !share_hosts(all, r->comm.size)) {
        mem_free(r->hosts);
        r->hosts = NULL;
    }
    for (int k = 0; r->hosts && k < r->comm.size; k++) r->hosts[k] = all[k].host;
    return chosen;
}

cubc_status ranks_choose_transport(cubc_ranks *r)
{
    const wish mine = {host_token(), r->wanted};
    cubc_ranks_transport chosen = choose(&mine, 1);
    if (r->newest || r->messenger) return CUBC_OK;
    if (r->comm.size > 1) {
        wish *all = mem_alloc((size_t)r->comm.size, sizeof *all);
        if (!r->hosts) r->hosts = mem_alloc((size_t)r->comm.size, sizeof *r->hosts);
        cubc_status st = ranks_agree(r, all && r->hosts ? CUBC_OK : CUBC_NO_MEMORY);
        if (!st) st = ranks_gather(r, &mine, all, sizeof mine);
        if (!st) chosen = choose_of_all(r, all);
        mem_free(all);
        TRY(st);
    }
    return chosen == CUBC_RANKS_MEMORY ? CUBC_OK : open_messenger(r);
}
