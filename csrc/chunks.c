// Threads that share out chunks: see chunks.h.
#include "chunks.h"
#include "environment.h"

#include <stdio.h>

enum { MOST_THREADS = 64 }; // a file system is saturated long before

typedef struct crew {
    pthread_mutex_t lock;
    uint64_t total, most, next; // next: the first unit that nobody has taken
    chunks_step step;
    void *context;
    size_t room_bytes;
    // The failure of the lowest chunk. Chunks are given out in order, so none below it is left out.
    uint64_t failed_at;
    cubc_status status;
    char message[1024];
} crew;

static bool take(crew *c, uint64_t *first, uint64_t *count)
{
    pthread_mutex_lock(&c->lock);
    *first = c->next;
    *count = c->total - c->next < c->most ? c->total - c->next : c->most;
    if (c->status) *count = 0;
    c->next += *count;
    pthread_mutex_unlock(&c->lock);
    return *count > 0;
}

static void report(crew *c, uint64_t first, cubc_status status)
{
    pthread_mutex_lock(&c->lock);
    if (!c->status || first < c->failed_at) {
        c->status = status;
        c->failed_at = first;
        snprintf(c->message, sizeof c->message, "%s", cubc_error_message());
    }
    pthread_mutex_unlock(&c->lock);
}

static cubc_status one_chunk(crew *c, uint64_t first, uint64_t count, void *room)
{
    if (interrupt_pending()) FAIL(CUBC_INTERRUPTED, "interrupted");
    return c->step(c->context, first, count, room);
}

static void *work(void *argument)
{
    crew *c = argument;
    uint64_t first, count;
    void *room = mem_alloc(c->room_bytes, 1);
    if (!room) report(c, 0, CUBC_NO_MEMORY);
    while (room && take(c, &first, &count)) {
        cubc_status st = one_chunk(c, first, count, room);
        if (st) report(c, first, st);
    }
    mem_free(room);
    return NULL;
}

cubc_status chunks_run(uint64_t total, uint64_t most, size_t room_bytes, chunks_step step,
                       void *context)
{
    pthread_t threads[MOST_THREADS];
    crew c = {.lock = PTHREAD_MUTEX_INITIALIZER,
              .total = total,
              .most = most,
              .step = step,
              .context = context,
              .room_bytes = room_bytes};
    uint64_t chunks = total / most + (total % most != 0);
    int started = 0, wanted;
    TRY(environment_threads(&wanted));
    if (wanted > MOST_THREADS) wanted = MOST_THREADS;
    if ((uint64_t)wanted > chunks) wanted = (int)chunks;
    wanted--; // the caller's thread is one
    while (started < wanted && pthread_create(&threads[started], NULL, work, &c) == 0) started++;
    work(&c); // and if no thread could be started, all of it
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&c.lock);
    if (c.status) FAIL(c.status, "%s", c.message);
    return CUBC_OK;
}
