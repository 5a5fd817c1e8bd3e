// Ranks and the memory that they share: see ranks.h.
#include "lattice/grid/rank_area.h"

#include "base/integer.h"
#include "base/size.h"
#include "lattice/grid/comm_messenger.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 1 << 16 };
static const double DEFAULT_SECONDS = 20, MOST_SECONDS = 1e9;

// ---- memory -------------------------------------------------------------------------------------
static void close_windows(cubc_ranks *r, rank_area *a)
{
    const device_api *api = r->device->api;
    for (int k = 0; a->windows && k < r->comm.size; k++) {
        if (!a->cards)
            api->free(r->device, a->windows[k], NULL);
        else if (a->windows[k])
            api->share_close(r->device, k == r->comm.rank ? NULL : &a->cards[k].window,
                             a->windows[k], a->window_bytes);
    }
    mem_free(a->windows);
    mem_free(a->cards);
    a->windows = NULL;
    a->cards = NULL;
}

static void close_area(cubc_ranks *r, rank_area *a)
{
    close_windows(r, a);
    r->device->api->free(r->device, a->outbox, NULL);
    r->device->api->free(r->device, a->table, NULL);
    mem_free(a);
}

// Memory as large as a window that no other rank reaches.
static cubc_status open_own(cubc_ranks *r, const rank_area *a, void **out)
{
    const device_api *api = r->device->api;
    TRY(api->alloc(r->device, a->window_bytes, NULL, out));
    return api->fill(r->device, *out, 0, a->window_bytes, NULL);
}

static cubc_status open_others(cubc_ranks *r, rank_area *a)
{
    for (int k = 0; k < r->comm.size; k++)
        if (k != r->comm.rank && ranks_reach(r, k))
            TRY(r->device->api->share_open(r->device, &a->cards[k].window, a->window_bytes,
                                           &a->windows[k]));
    return CUBC_OK;
}

// True if another rank of this process has the same device.
static bool are_together(const cubc_ranks *r, const rank_area *a)
{
    const int rank = r->comm.rank;
    for (int k = 0; a->cards && k < r->comm.size; k++)
        if (k != rank && a->cards[k].process == a->cards[rank].process &&
            a->cards[k].device == a->cards[rank].device)
            return true;
    return false;
}

static cubc_status check_together(const cubc_ranks *r, const rank_area *a)
{
    if (are_together(r, a))
        FAIL(CUBC_INVALID_ARGUMENT, "several ranks of a process on %s: each has its own device",
             r->device->info.name);
    return CUBC_OK;
}

// Every rank shares its window, then opens those of the others, then all know that all have.
static cubc_status open_together(cubc_ranks *r, rank_area *a)
{
    const device_api *api = r->device->api;
    rank_card mine = {.process = process_token(), .device = (uintptr_t)r->device};
    a->cards = mem_alloc((size_t)r->comm.size, sizeof *a->cards);
    if (!a->cards) return ranks_agree(r, CUBC_NO_MEMORY);
    cubc_status st = ranks_agree(
        r, api->share(r->device, a->window_bytes, &mine.window, &a->windows[r->comm.rank]));
    if (!st) st = ranks_gather(r, &mine, a->cards, sizeof mine);
    if (!st) st = ranks_agree(r, check_together(r, a));
    if (!st) st = ranks_agree(r, open_others(r, a));
    api->share_end(r->device, &mine.window);
    return st;
}

// The windows in which a rank leaves its faces.
static void place_neighbours(const cubc_ranks *r, const rank_area *a, rank_table *table)
{
    table->staged = r->messenger ? UINT64_C(1) << STAGED_SUMS : 0;
    for (int face = 0; face < FACES; face++) {
        const int rank = ranks_neighbour(r, r->comm.rank, face);
        const bool reached = ranks_reach(r, rank);
        table->neighbour[face] = (uintptr_t)(reached ? a->windows[rank] : a->outbox);
        if (!reached) table->staged |= UINT64_C(1) << face;
    }
}

static cubc_status make_table(cubc_ranks *r, rank_area *a)
{
    const device_api *api = r->device->api;
    const bool staged = r->messenger != NULL;
    const int first = staged ? r->comm.rank : 0, reached = staged ? 1 : r->comm.size;
    const size_t sums = sizeof(rank_table), windows = sums + a->mails * sizeof(uint64_t),
                 bytes = windows + (size_t)reached * sizeof(uint64_t);
    char *image = mem_zalloc(1, bytes);
    if (!image) return CUBC_NO_MEMORY;
    cubc_status st = api->alloc(r->device, bytes, NULL, &a->table);
    const uintptr_t at = (uintptr_t)a->table;
    rank_table table = {.nanoseconds = (uint64_t)(1e9 * r->seconds),
                        .rank = (uint64_t)r->comm.rank,
                        .ranks = (uint64_t)r->comm.size,
                        .mails = a->mails,
                        .slots_at = a->slots_at,
                        .slot_bytes = a->slot_bytes,
                        .sums = at + sums,
                        .mine = (uintptr_t)a->windows[r->comm.rank],
                        .reached = (uint64_t)reached,
                        .windows = at + windows};
    place_neighbours(r, a, &table);
    memcpy(image, &table, sizeof table);
    for (int k = 0; k < reached; k++)
        memcpy(image + windows + (size_t)k * sizeof(uint64_t),
               &(uint64_t){(uintptr_t)a->windows[first + k]}, sizeof(uint64_t));
    if (!st) st = api->copy(r->device, a->table, image, bytes, NULL);
    if (!st) st = api->synchronize(r->device, NULL);
    mem_free(image);
    return st;
}

static cubc_status open_windows(cubc_ranks *r, rank_area *a)
{
    const uint64_t mail_places = r->messenger ? 1 : 2,
                   mails = mail_places * a->mails * (uint64_t)r->comm.size;
    a->places = r->messenger && !r->hosts ? 1 : 2;
    a->slots_at = rank_slots_at(mails);
    a->slot_bytes = a->places == 1 ? a->face_bytes : 2 * a->face_bytes; // tagged words take twice
    a->window_bytes = a->slots_at + (uint64_t)a->places * SLOTS * a->slot_bytes;
    a->windows = mem_zalloc((size_t)r->comm.size, sizeof *a->windows);
    TRY(ranks_agree(r, a->windows ? CUBC_OK : CUBC_NO_MEMORY));
    void **own = &a->windows[r->comm.rank];
    if (r->comm.size == 1) return open_own(r, a, own);
    return a->places == 1 ? ranks_agree(r, open_own(r, a, own)) : open_together(r, a);
}

static cubc_status open_area(cubc_ranks *r, rank_area *a)
{
    TRY(ranks_choose_transport(r));
    cubc_status st = open_windows(r, a);
    // All ranks know of it, unless all_gather has failed. Those of a host then send messages too.
    if (st && !r->apart && r->hosts && !r->newest) {
        close_windows(r, a);
        mem_free(r->hosts);
        r->hosts = NULL;
        st = open_windows(r, a);
    }
    if (!st && r->messenger) st = ranks_agree(r, open_own(r, a, &a->outbox));
    // So that nobody sends before all can receive.
    return st ? st : ranks_agree(r, make_table(r, a));
}

static uint64_t grown(uint64_t asked, uint64_t had)
{
    return asked > had ? larger(asked, had + had / 2) : had;
}

static cubc_status reserve(cubc_ranks *r, size_t face_bytes, uint64_t mails)
{
    const rank_area *newest = r->newest;
    const size_t had = newest ? newest->face_bytes : 0;
    const uint64_t had_mails = newest ? newest->mails : 0;
    TRY(ranks_failure(r));
    if (newest && face_bytes <= had && mails <= had_mails) return CUBC_OK;
    // Ranks of which one has given up would take steps of different calls together.
    TRY(cubc_ranks_check(r, NULL));
    rank_area *a = mem_zalloc(1, sizeof *a);
    if (!a) return ranks_agree(r, CUBC_NO_MEMORY);
    a->ranks = r;
    // Older areas stay, since launches that were recorded have their places. What grows does so by
    // half at least, so that areas are few.
    a->face_bytes = round_up(grown(face_bytes, had), ALIGNMENT);
    a->mails = larger(grown(mails, had_mails), 1);
    cubc_status st = open_area(r, a);
    if (st) {
        close_area(r, a);
        return st;
    }
    a->older = r->newest;
    r->newest = a;
    return CUBC_OK;
}

cubc_status ranks_reserve_faces(cubc_ranks *r, size_t bytes)
{
    return reserve(r, bytes, 0);
}

cubc_status ranks_reserve_sums(cubc_ranks *r, uint64_t states, int sums)
{
    return reserve(r, 0, states * ceil_div((uint64_t)sums, MAIL_VALUES));
}

cubc_status ranks_check_device(const cubc_ranks *r, const cubc_device *fields)
{
    if (r->device != fields)
        FAIL(CUBC_INVALID_ARGUMENT,
             "the grid's ranks are on %s and the fields on %s: make the grid with device=\"%s\"",
             r->device->info.name, fields->info.name, fields->info.name);
    return CUBC_OK;
}

void *ranks_table(const cubc_ranks *r)
{
    return r->newest->table;
}

// ---- opening ------------------------------------------------------------------------------------
static int gather_alone(void *context, const void *mine, void *all, size_t bytes)
{
    (void)context;
    memcpy(all, mine, bytes);
    return 0;
}

// The variable CUBC_RANKS stands in for the caller where that leaves it open.
static cubc_status wanted_transport(const cubc_ranks_params *p, cubc_ranks_transport *out)
{
    const char *named = getenv("CUBC_RANKS");
    *out = p->transport;
    if (p->transport != CUBC_RANKS_ANY || !named || !*named) return CUBC_OK;
    if (strcmp(named, "memory") != 0 && strcmp(named, "messages") != 0)
        FAIL(CUBC_INVALID_ARGUMENT, "CUBC_RANKS=%.40s: expected memory or messages", named);
    *out = strcmp(named, "memory") == 0 ? CUBC_RANKS_MEMORY : CUBC_RANKS_MESSAGES;
    return CUBC_OK;
}

static cubc_status check_functions(const cubc_comm *comm)
{
    if (!comm) return CUBC_OK;
    if (!comm->all_gather)
        FAIL(CUBC_INVALID_ARGUMENT, "a communicator needs all_gather, which is NULL");
    if (!comm->start != !comm->finish)
        FAIL(CUBC_INVALID_ARGUMENT,
             "a communicator with %s: start and finish come together, or both are NULL",
             comm->start ? "start and no finish" : "finish and no start");
    return CUBC_OK;
}

static cubc_status check(const cubc_ranks_params *p)
{
    const int size = p->comm ? p->comm->size : 1, rank = p->comm ? p->comm->rank : 0;
    uint64_t all = 1;
    for (int d = 0; d < 4; d++) {
        if (p->grid[d] < 1 || p->grid[d] > MOST_RANKS)
            FAIL(CUBC_INVALID_ARGUMENT, "a grid with %d ranks along %c", p->grid[d], "xyzt"[d]);
        if (!size_multiply(&all, (uint64_t)p->grid[d])) all = 0;
    }
    if (p->grid[0] != 1 || p->cut & 1)
        FAIL(CUBC_INVALID_ARGUMENT, "lattices are cut along y, z and t, not along x");
    if (p->cut < 0 || p->cut > 15)
        FAIL(CUBC_INVALID_ARGUMENT, "a cut of %d: it has a bit for each direction", p->cut);
    if (all != (uint64_t)size)
        FAIL(CUBC_INVALID_ARGUMENT,
             "a grid of %dx%dx%dx%d is one of %llu ranks, and there are %d: give a communicator of "
             "as many, as MPI.COMM_WORLD under mpiexec",
             p->grid[0], p->grid[1], p->grid[2], p->grid[3], (unsigned long long)all, size);
    if (rank < 0 || rank >= size || size > MOST_RANKS)
        FAIL(CUBC_INVALID_ARGUMENT, "rank %d of %d", rank, size);
    if (!(p->seconds >= 0) || p->seconds > MOST_SECONDS)
        FAIL(CUBC_INVALID_ARGUMENT, "ranks that wait for %g s", p->seconds);
    if (p->transport < CUBC_RANKS_ANY || p->transport > CUBC_RANKS_MESSAGES)
        FAIL(CUBC_INVALID_ARGUMENT, "there is no transport %d of ranks", (int)p->transport);
    return CUBC_OK;
}

cubc_status cubc_ranks_open(cubc_device *device, const cubc_ranks_params *p, cubc_ranks **out)
{
    if (!device || !p || !out) FAIL(CUBC_INVALID_ARGUMENT, "cubc_ranks_open: NULL argument");
    cubc_ranks_transport wanted;
    *out = NULL;
    TRY(check(p));
    TRY(check_functions(p->comm));
    TRY(wanted_transport(p, &wanted));
    cubc_ranks *r = mem_zalloc(1, sizeof *r);
    if (!r) return CUBC_NO_MEMORY;
    r->comm = p->comm ? *p->comm : (cubc_comm){.size = 1, .all_gather = gather_alone};
    r->seconds = p->seconds > 0 ? p->seconds : DEFAULT_SECONDS;
    r->wanted = wanted;
    r->cut = p->cut;
    memcpy(r->grid, p->grid, sizeof r->grid);
    for (int d = 0; d < 4; d++)
        if (p->grid[d] > 1) r->cut |= 1 << d;
    ranks_place_of(r, r->comm.rank, r->place);
    r->device = device;
    device_retain(device);
    cubc_status st = CUBC_OK;
    if (r->comm.size > 1 && (r->comm.start || r->comm.exchange))
        st = comm_messenger_open(&r->comm, r->seconds, COMM_MOST_BYTES, &r->meeting);
    r->went = mem_alloc((size_t)r->comm.size, sizeof *r->went);
    if (!r->went) st = CUBC_NO_MEMORY;
    if (st) {
        cubc_ranks_close(r);
        return st;
    }
    *out = r;
    return CUBC_OK;
}

static void close_memory(cubc_ranks *r)
{
    ranks_close_messenger(r);
    while (r->newest) {
        rank_area *older = r->newest->older;
        close_area(r, r->newest);
        r->newest = older;
    }
    mem_free(r->hosts);
    r->hosts = NULL;
}

void ranks_renew(cubc_ranks *r)
{
    close_memory(r);
    r->apart = false;
    r->failed = 0;
    r->failing = false;
}

void cubc_ranks_close(cubc_ranks *r)
{
    if (!r) return;
    close_memory(r);
    if (r->meeting) r->meeting->api->close(r->meeting);
    device_release(r->device);
    mem_free(r->went);
    mem_free(r);
}
