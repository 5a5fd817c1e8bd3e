// The watch over messages: see ranks_watch.h.
#include "lattice/grid/ranks_watch.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const double PERIOD = 0.5; // seconds between two looks
static const double NAP = 0.02;

struct ranks_watch {
    cubc_ranks *ranks; // borrowed: they close the watch first
    void *stream;      // of its own: the ranks' streams may hang
    pthread_t thread;
    atomic_bool closing;
};

// ---- what is late -------------------------------------------------------------------------------
typedef struct snapshot {
    rank_table table;
    uint64_t *sums;  // sent so far, of each place for a mail
    char *window;    // up to the mails
    rank_mail *mail; // of all ranks
} snapshot;

// Waits until it is done, as one side is the host's memory.
static cubc_status copy(ranks_watch *w, void *to, const void *from, size_t bytes)
{
    cubc_device *device = w->ranks->device;
    return device->api->copy(device, to, from, bytes, w->stream);
}

// The numbers of what was sent are read first: what came later is no message that is late.
static cubc_status look(ranks_watch *w, const rank_area *a, snapshot *s)
{
    const cubc_ranks *r = w->ranks;
    const size_t sums = a->mails * sizeof *s->sums,
                 mails = a->mails * (size_t)r->comm.size * sizeof *s->mail;
    const char *table = a->table, *window = a->windows[r->comm.rank];
    s->sums = mem_alloc(1, sums);
    s->mail = mem_alloc(1, mails);
    s->window = mem_alloc(1, MAIL_AT);
    if (!s->sums || !s->mail || !s->window) return CUBC_NO_MEMORY;
    TRY(copy(w, &s->table, table, sizeof s->table));
    TRY(copy(w, s->sums, table + sizeof s->table, sums));
    TRY(copy(w, s->window, window, MAIL_AT));
    return copy(w, s->mail, window + MAIL_AT, mails);
}

// True if this is not the mail of that number, nor a later one.
static bool is_late(const rank_mail *mail, uint64_t number)
{
    const uint32_t tag = (uint32_t)(mail->value[0][0] >> 32), behind = (tag_of(number) - tag) << 1;
    return number && (!tag || (behind && behind < 0x80000000));
}

// Finds a message that is under way: sent here, and not received from another rank.
static uint64_t find_late(const rank_area *a, const snapshot *s, uint64_t *number)
{
    const cubc_ranks *r = a->ranks;
    uint64_t flags[FACES];
    memcpy(flags, s->window + FLAGS_AT, sizeof flags);
    *number = s->table.sent;
    for (int face = 2; face < FACES; face++)
        if (r->cut >> face / 2 & s->table.staged >> face & 1 && flags[face] < s->table.sent)
            return rank_failure(MESSAGE_FACE, r->comm.rank, face);
    for (int k = 0; k < r->comm.size; k++)
        for (uint64_t place = 0; place < a->mails; place++) {
            *number = s->sums[place];
            if (is_late(&s->mail[(uint64_t)k * a->mails + place], s->sums[place]))
                return rank_failure(MESSAGE_SUM, r->comm.rank, k);
        }
    return 0;
}

// *reason becomes that of a message that is too late, or that a kernel has left.
static cubc_status look_for_late(ranks_watch *w, rank_area *a, uint64_t *reason)
{
    snapshot s = {.sums = NULL};
    uint64_t late = 0, number = 0;
    cubc_status st = look(w, a, &s);
    if (!st) late = find_late(a, &s, &number);
    if (!st) memcpy(reason, s.window, sizeof *reason);
    mem_free(s.sums);
    mem_free(s.mail);
    mem_free(s.window);
    if (st) return st;
    if (late != a->late || number != a->late_number) a->late_since = now_seconds();
    a->late = late;
    a->late_number = number;
    if (late && now_seconds() - a->late_since > w->ranks->seconds) *reason = late;
    return CUBC_OK;
}

// ---- giving up ----------------------------------------------------------------------------------
// Kernels that come after the messages find the reason, and do not wait for them.
static void give_up(ranks_watch *w, uint64_t reason, const char *why)
{
    ranks_fail(w->ranks, reason, why); // before a launch can find it
    for (const rank_area *a = w->ranks->newest; a; a = a->older)
        copy(w, a->windows[w->ranks->comm.rank], &reason, sizeof reason);
    w->ranks->messenger->api->cancel(w->ranks->messenger);
}

static bool goes_on(ranks_watch *w)
{
    const cubc_ranks *r = w->ranks;
    char why[sizeof r->why] = "";
    uint64_t reason = 0;
    if (r->messenger->api->check(r->messenger)) {
        reason = rank_failure(MESSAGE_MOVED, r->comm.rank, NOBODY);
        snprintf(why, sizeof why, "%s", cubc_error_message());
    }
    cubc_status st = CUBC_OK;
    for (rank_area *a = r->newest; a && !st && !reason; a = a->older)
        st = look_for_late(w, a, &reason);
    if (reason) give_up(w, reason, why);
    // A device that cannot be read has its own error for its users; memory may be there next time.
    return !reason && (!st || st == CUBC_INTERRUPTED || st == CUBC_NO_MEMORY);
}

static void *watch(void *context)
{
    ranks_watch *w = context;
    const double period = w->ranks->seconds / 10 < PERIOD ? w->ranks->seconds / 10 : PERIOD;
    double looked = now_seconds();
    while (!atomic_load(&w->closing)) {
        nap(NAP);
        if (now_seconds() - looked < period) continue;
        looked = now_seconds();
        if (!goes_on(w)) break;
    }
    error_clear();
    return NULL;
}

// ---- opening ------------------------------------------------------------------------------------
cubc_status ranks_watch_open(cubc_ranks *r, ranks_watch **out)
{
    *out = NULL;
    ranks_watch *w = mem_zalloc(1, sizeof *w);
    if (!w) return CUBC_NO_MEMORY;
    w->ranks = r;
    cubc_status st = r->device->api->stream_create(r->device, &w->stream);
    if (st) {
        mem_free(w);
        return st;
    }
    if (thread_start(&w->thread, watch, w) != 0) {
        r->device->api->stream_destroy(r->device, w->stream);
        mem_free(w);
        FAIL(CUBC_NO_RESOURCES, "there is no thread to watch over messages");
    }
    *out = w;
    return CUBC_OK;
}

void ranks_watch_close(ranks_watch *w)
{
    if (!w) return;
    atomic_store(&w->closing, true);
    pthread_join(w->thread, NULL);
    w->ranks->device->api->stream_destroy(w->ranks->device, w->stream);
    mem_free(w);
}
