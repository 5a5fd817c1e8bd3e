// Messages that are moved between launches, where ranks reach no memory of each other: see
// ranks.h, and kernels/grid/ranks.h for what the launches do. A hop begins its messages before the
// launch of sites off the faces, and ends them behind it.
//
// The outbox has the layout of a neighbour's window. A face lies in the slot of the neighbour's
// side, and its flag in the place of that side, so that each message has the same place on both
// ranks. In each direction all ranks first send to the lower side and receive from the upper one,
// then the other way: two ranks that are neighbours on both sides do not mix them up. A neighbour
// whose memory is reached gets no message and sends none, but the place in the list stays.
#include "lattice/grid/rank_area.h"

#include <string.h>

enum { MOST_MESSAGES = 24 }; // of each face: its flag, its sites, their norms

bool ranks_are_staged(const cubc_ranks *r)
{
    return r->messenger != NULL;
}

// Remembers a failure, which all later steps report. It may be that of the watch, which has ended
// the messages.
static cubc_status moved(cubc_ranks *r, cubc_status st)
{
    const messenger *m = r->messenger;
    if (!st) return CUBC_OK;
    TRY(ranks_failure(r));
    ranks_fail(r, rank_failure(MESSAGE_MOVED, m->rank, m->late < 0 ? NOBODY : m->late),
               cubc_error_message());
    return st;
}

// Fails if an earlier message has, so that no void face is sent to ranks that do not know. Whoever
// carries messages by the host has the windows there, in which kernels leave the reason.
static cubc_status check(const rank_area *a)
{
    cubc_ranks *r = a->ranks;
    uint64_t reason = 0;
    if (!r->messenger->api->check) memcpy(&reason, a->windows[r->comm.rank], sizeof reason);
    if (reason) ranks_fail(r, reason, "");
    return ranks_failure(r);
}

typedef struct message_list {
    device_message items[MOST_MESSAGES];
    int count;
} message_list;

static void add(message_list *list, const rank_area *a, int face, size_t at, size_t bytes)
{
    const cubc_ranks *r = a->ranks;
    const int to = ranks_neighbour(r, r->comm.rank, face),
              from = ranks_neighbour(r, r->comm.rank, face ^ 1);
    if (!bytes) return;
    list->items[list->count++] =
        (device_message){.from = (char *)a->outbox + at,
                         .to = (char *)a->windows[r->comm.rank] + at,
                         .bytes = bytes,
                         .to_rank = ranks_reach(r, to) ? NO_RANK : to,
                         .from_rank = ranks_reach(r, from) ? NO_RANK : from};
}

// The message to the rank behind a face, which lies on the other side there.
static void add_face(message_list *list, const rank_area *a, int face, const rank_faces *faces)
{
    const int there = face ^ 1;
    const uint64_t sites = faces->sites[face / 2];
    const size_t slot = a->slots_at + rank_slot(there, 0) * a->slot_bytes,
                 norms = rank_norms_at(a->slot_bytes, faces->bytes);
    add(list, a, face, slot, sites * faces->bytes);
    add(list, a, face, slot + norms, sites * faces->norm_bytes);
    add(list, a, face, FLAGS_AT + (size_t)there * sizeof(uint64_t), sizeof(uint64_t));
}

enum { AREA, SITES_Y, SITES_Z, SITES_T, BYTES, NORM_BYTES }; // of the arguments
_Static_assert((int)NORM_BYTES < (int)STEP_ARGS, "a step has room");

typedef cubc_status (*mover)(messenger *m, const device_message *list, int count, void *stream);

static cubc_status send_faces(const uint64_t args[STEP_ARGS], mover move, void *stream)
{
    const rank_area *a = (const rank_area *)(uintptr_t)args[AREA];
    const rank_faces faces = {.sites = {0, args[SITES_Y], args[SITES_Z], args[SITES_T]},
                              .bytes = args[BYTES],
                              .norm_bytes = args[NORM_BYTES]};
    cubc_ranks *r = a->ranks;
    message_list list = {.count = 0};
    TRY(check(a));
    for (int face = 2; face < FACES; face++) // flags of all: an exchange tells all neighbours
        if (r->cut >> face / 2 & 1) add_face(&list, a, face, &faces);
    return moved(r, move(r->messenger, list.items, list.count, stream));
}

static const messenger_api *api_of(const uint64_t args[STEP_ARGS])
{
    return ((const rank_area *)(uintptr_t)args[AREA])->ranks->messenger->api;
}

static cubc_status move_faces(const uint64_t args[STEP_ARGS], void *stream)
{
    return send_faces(args, api_of(args)->move, stream);
}

static cubc_status begin_faces(const uint64_t args[STEP_ARGS], void *stream)
{
    return send_faces(args, api_of(args)->begin, stream);
}

static cubc_status end_faces(const uint64_t args[STEP_ARGS], void *stream)
{
    const rank_area *a = (const rank_area *)(uintptr_t)args[AREA];
    cubc_ranks *r = a->ranks;
    TRY(check(a));
    return moved(r, r->messenger->api->end(r->messenger, stream));
}

static cubc_status gather_sums(const uint64_t args[STEP_ARGS], void *stream)
{
    const rank_area *a = (const rank_area *)(uintptr_t)args[AREA];
    cubc_ranks *r = a->ranks;
    char *mails = (char *)a->windows[r->comm.rank] + MAIL_AT;
    TRY(check(a));
    return moved(
        r, r->messenger->api->gather(r->messenger, mails, a->mails * sizeof(rank_mail), stream));
}

static host_step faces_step(const cubc_ranks *r, const rank_faces *faces,
                            cubc_status (*take)(const uint64_t args[STEP_ARGS], void *stream))
{
    if (!r->messenger) return (host_step){.take = NULL};
    return (host_step){.take = take,
                       .args = {[AREA] = (uintptr_t)r->newest,
                                [SITES_Y] = faces->sites[1],
                                [SITES_Z] = faces->sites[2],
                                [SITES_T] = faces->sites[3],
                                [BYTES] = faces->bytes,
                                [NORM_BYTES] = faces->norm_bytes}};
}

host_step ranks_faces_move_step(const cubc_ranks *r, const rank_faces *faces)
{
    return faces_step(r, faces, move_faces);
}

host_step ranks_faces_begin_step(const cubc_ranks *r, const rank_faces *faces)
{
    return faces_step(r, faces, begin_faces);
}

host_step ranks_faces_end_step(const cubc_ranks *r)
{
    if (!r->messenger) return (host_step){.take = NULL};
    return (host_step){.take = end_faces, .args = {[AREA] = (uintptr_t)r->newest}};
}

host_step ranks_sums_step(const cubc_ranks *r)
{
    if (!r->messenger) return (host_step){.take = NULL};
    return (host_step){.take = gather_sums, .args = {[AREA] = (uintptr_t)r->newest}};
}
