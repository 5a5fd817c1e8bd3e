// Messages by a communicator: see comm_messenger.h.
#include "lattice/grid/comm_messenger.h"

#include <string.h>

typedef struct comm_messenger {
    messenger base; // first
    const cubc_comm *comm;
    double seconds;
    void *gathered; // where the communicator has no exchange: the messages of all ranks
    size_t gathered_bytes;
} comm_messenger;

enum { UNKNOWN = -1 };

static cubc_status report(comm_messenger *c, int from, double waited)
{
    c->base.late = from;
    if (waited < c->seconds || from == UNKNOWN)
        FAIL(CUBC_IO_ERROR, "the ranks' exchange of messages has failed, on rank %d of %d",
             c->base.rank, c->base.size);
    FAIL(
        CUBC_TIMEOUT,
        "rank %d of %d waited %g s for a message of rank %d, which has ended, hangs or makes other "
        "calls; results since then are void, and these ranks are of no more use",
        c->base.rank, c->base.size, c->seconds, from);
}

// c->gathered becomes what all ranks give.
static cubc_status gather_all(comm_messenger *c, const void *mine, size_t bytes, int from)
{
    const size_t all = bytes * (size_t)c->base.size;
    if (all > c->gathered_bytes) {
        void *grown = mem_realloc(c->gathered, all, 1);
        if (!grown) return CUBC_NO_MEMORY;
        c->gathered = grown;
        c->gathered_bytes = all;
    }
    const double start = now_seconds();
    if (c->comm->all_gather(c->comm->context, mine, c->gathered, bytes) == 0) return CUBC_OK;
    return report(c, from, now_seconds() - start);
}

static cubc_status exchange_by_gather(comm_messenger *c, const device_message *m)
{
    TRY(gather_all(c, m->from, m->bytes, m->from_rank));
    memcpy(m->to, (char *)c->gathered + (size_t)m->from_rank * m->bytes, m->bytes);
    return CUBC_OK;
}

static cubc_status exchange(comm_messenger *c, const device_message *m)
{
    if (c->base.size == 1) {
        memcpy(m->to, m->from, m->bytes);
        return CUBC_OK;
    }
    if (!c->comm->exchange) return exchange_by_gather(c, m);
    const double start = now_seconds();
    if (c->comm->exchange(c->comm->context, m->to_rank, m->from, m->from_rank, m->to, m->bytes,
                          c->seconds) == 0)
        return CUBC_OK;
    return report(c, m->from_rank, now_seconds() - start);
}

static cubc_status move(messenger *m, const device_message *list, int count, void *stream)
{
    (void)stream;
    for (int k = 0; k < count; k++) TRY(exchange((comm_messenger *)m, &list[k]));
    return CUBC_OK;
}

// Every rank sends its part to each other one, the nearest first.
static cubc_status gather(messenger *m, void *all, size_t bytes, void *stream)
{
    comm_messenger *c = (comm_messenger *)m;
    const char *mine = (char *)all + (size_t)m->rank * bytes;
    (void)stream;
    if (m->size > 1 && !c->comm->exchange) {
        TRY(gather_all(c, mine, bytes, UNKNOWN));
        memcpy(all, c->gathered, bytes * (size_t)m->size);
        return CUBC_OK;
    }
    for (int k = 1; k < m->size; k++) {
        const int to = (m->rank + k) % m->size, from = (m->rank + m->size - k) % m->size;
        TRY(exchange(c, &(device_message){.from = mine,
                                          .to = (char *)all + (size_t)from * bytes,
                                          .bytes = bytes,
                                          .to_rank = to,
                                          .from_rank = from}));
    }
    return CUBC_OK;
}

static void comm_close(messenger *m)
{
    mem_free(((comm_messenger *)m)->gathered);
    mem_free(m);
}

static const messenger_api api = {.move = move, .gather = gather, .close = comm_close};

cubc_status comm_messenger_open(const cubc_comm *comm, double seconds, messenger **out)
{
    comm_messenger *c = mem_zalloc(1, sizeof *c);
    *out = (messenger *)c;
    if (!c) return CUBC_NO_MEMORY;
    c->base = (messenger){.api = &api, .rank = comm->rank, .size = comm->size, .late = -1};
    c->comm = comm;
    c->seconds = seconds;
    return CUBC_OK;
}
