// Messages by a communicator: see comm_messenger.h.
#include "lattice/grid/comm_messenger.h"

#include <string.h>

typedef struct comm_messenger {
    messenger base; // first
    const cubc_comm *comm;
    double seconds;
    size_t most;    // bytes of a call of the communicator
    int started;    // messages that have not been finished
    void *gathered; // where the communicator has all_gather alone: the messages of all ranks
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
        "calls; results since then are void",
        c->base.rank, c->base.size, c->seconds, from);
}

// ---- messages that are waited for one by one ----------------------------------------------------
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
    if (m->from_rank == NO_RANK) return CUBC_OK;
    memcpy(m->to, (char *)c->gathered + (size_t)m->from_rank * m->bytes, m->bytes);
    return CUBC_OK;
}

static cubc_status gather_by_gather(comm_messenger *c, char *all, size_t bytes)
{
    const size_t most = c->most / (size_t)c->base.size + 1;
    for (size_t at = 0, n; at < bytes; at += n) {
        n = bytes - at < most ? bytes - at : most;
        TRY(gather_all(c, all + (size_t)c->base.rank * bytes + at, n, UNKNOWN));
        for (size_t k = 0; k < (size_t)c->base.size; k++)
            memcpy(all + k * bytes + at, (char *)c->gathered + k * n, n);
    }
    return CUBC_OK;
}

static cubc_status exchange(comm_messenger *c, const device_message *m)
{
    if (!c->comm->exchange) return exchange_by_gather(c, m);
    const double start = now_seconds();
    if (c->comm->exchange(c->comm->context, m->to_rank, m->from, m->from_rank, m->to, m->bytes,
                          c->seconds) == 0)
        return CUBC_OK;
    return report(c, m->from_rank, now_seconds() - start);
}

// ---- messages that are under way ----------------------------------------------------------------
static cubc_status finish(comm_messenger *c)
{
    const double start = now_seconds();
    if (!c->started) return CUBC_OK;
    c->started = 0;
    const int late = c->comm->finish(c->comm->context, c->seconds);
    if (late == 0) return CUBC_OK;
    return report(c, late > 0 && late <= c->base.size ? late - 1 : UNKNOWN, now_seconds() - start);
}

static void give_up(comm_messenger *c)
{
    if (c->started) c->comm->finish(c->comm->context, 0);
    c->started = 0;
}

static cubc_status start(comm_messenger *c, const device_message *m)
{
    if (c->started == CUBC_COMM_MESSAGES) TRY(finish(c));
    c->started++;
    if (c->comm->start(c->comm->context, m->to_rank, m->from, m->from_rank, m->to, m->bytes) == 0)
        return CUBC_OK;
    give_up(c);
    return report(c, m->from_rank, 0);
}

// Exchanges a message for another, in pieces whose bytes an int holds; with `start` it only begins.
// Without functions for two ranks it is an all_gather, which every rank has to call.
static cubc_status send(comm_messenger *c, const device_message *m)
{
    const bool alone = !c->comm->start && !c->comm->exchange;
    const size_t most = alone ? c->most / (size_t)c->base.size + 1 : c->most;
    if (!alone && m->to_rank == NO_RANK && m->from_rank == NO_RANK) return CUBC_OK;
    for (size_t at = 0; at < m->bytes; at += most) {
        device_message piece = *m;
        piece.from = (const char *)m->from + at;
        piece.to = (char *)m->to + at;
        piece.bytes = m->bytes - at < most ? m->bytes - at : most;
        TRY(c->comm->start ? start(c, &piece) : exchange(c, &piece));
    }
    return CUBC_OK;
}

// Ends the messages of an earlier call first, if nobody has: ranks count messages.
static cubc_status begin(messenger *m, const device_message *list, int count, void *stream)
{
    comm_messenger *c = (comm_messenger *)m;
    (void)stream;
    TRY(finish(c));
    for (int k = 0; k < count; k++) {
        if (m->size == 1)
            memcpy(list[k].to, list[k].from, list[k].bytes);
        else
            TRY(send(c, &list[k]));
    }
    return CUBC_OK;
}

static cubc_status end(messenger *m, void *stream)
{
    (void)stream;
    return finish((comm_messenger *)m);
}

static cubc_status move(messenger *m, const device_message *list, int count, void *stream)
{
    TRY(begin(m, list, count, stream));
    return end(m, stream);
}

// Every rank sends its part to each other one, the nearest first.
static cubc_status gather(messenger *m, void *all, size_t bytes, void *stream)
{
    comm_messenger *c = (comm_messenger *)m;
    const char *mine = (char *)all + (size_t)m->rank * bytes;
    TRY(finish(c));
    if (m->size > 1 && !c->comm->start && !c->comm->exchange)
        return gather_by_gather(c, all, bytes);
    for (int k = 1; k < m->size; k++) {
        const int to = (m->rank + k) % m->size, from = (m->rank + m->size - k) % m->size;
        const device_message one = {.from = mine,
                                    .to = (char *)all + (size_t)from * bytes,
                                    .bytes = bytes,
                                    .to_rank = to,
                                    .from_rank = from};
        TRY(send(c, &one));
    }
    return end(m, stream);
}

static void comm_close(messenger *m)
{
    comm_messenger *c = (comm_messenger *)m;
    give_up(c);
    mem_free(c->gathered);
    mem_free(c);
}

static const messenger_api api = {
    .move = move, .begin = begin, .end = end, .gather = gather, .close = comm_close};

cubc_status comm_messenger_open(const cubc_comm *comm, double seconds, size_t most, messenger **out)
{
    comm_messenger *c = mem_zalloc(1, sizeof *c);
    *out = (messenger *)c;
    if (!c) return CUBC_NO_MEMORY;
    c->base = (messenger){.api = &api, .rank = comm->rank, .size = comm->size, .late = -1};
    c->comm = comm;
    c->seconds = seconds;
    c->most = most;
    return CUBC_OK;
}
