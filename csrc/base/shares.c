// Threads that take shares: see shares.h.
#include "base/shares.h"
#include "base/environment.h"
#include "base/integer.h"

#include <stdatomic.h>
#include <stdio.h>

enum {
    MOST_THREADS = 64, // a file system is saturated long before
    LOOKS = 50,        // milliseconds between two looks at interrupts
};

typedef struct crew {
    pthread_mutex_t lock;
    unsigned forks;             // fork_count() of its process; a child has no helpers
    atomic_int helpers;         // that are at work
    char stop;                  // watched by helpers: set when the caller is interrupted
    uint64_t total, most, next; // next: the first unit that nobody has taken
    shares_step step;
    void *context;
    size_t room_bytes;
    // An interruption, else the failure of the lowest share. Shares are given out in order, so none
    // below it is left out.
    uint64_t failed_at;
    cubc_status status;
    char message[1024];
} crew;

static bool is_child(const crew *c)
{
    return c->forks != fork_count();
}

static bool take(crew *c, uint64_t *first, uint64_t *count)
{
    if (is_child(c)) return false; // the lock may be a helper's
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
    if (is_child(c)) return;
    pthread_mutex_lock(&c->lock);
    if (c->status != CUBC_INTERRUPTED &&
        (!c->status || first < c->failed_at || status == CUBC_INTERRUPTED)) {
        c->status = status;
        c->failed_at = first;
        snprintf(c->message, sizeof c->message, "%s", cubc_error_message());
    }
    pthread_mutex_unlock(&c->lock);
}

static cubc_status interruption(void)
{
    FAIL(CUBC_INTERRUPTED, "interrupted");
}

static cubc_status one_share(crew *c, uint64_t first, uint64_t count, void *room)
{
    if (interrupt_pending()) return interruption();
    return c->step(c->context, first, count, room);
}

static void work(crew *c)
{
    uint64_t first, count;
    void *room = mem_alloc(c->room_bytes, 1);
    if (!room) report(c, 0, CUBC_NO_MEMORY);
    while (room && take(c, &first, &count)) {
        cubc_status st = one_share(c, first, count, room);
        if (st) report(c, first, st);
    }
    mem_free(room);
}

static void *help(void *argument)
{
    crew *c = argument;
    interrupt_watch(&c->stop);
    work(c);
    atomic_fetch_sub(&c->helpers, 1);
    return NULL;
}

// Helpers cannot see that the caller is interrupted, and may have long shares.
static void await_helpers(crew *c)
{
    for (int waited = 0; atomic_load(&c->helpers); waited++) {
        bool look = waited % LOOKS == 0;
        if (look && interrupt_pending()) report(c, c->total, interruption());
        if (is_child(c)) return;
        pthread_mutex_lock(&c->lock);
        bool stop = c->status == CUBC_INTERRUPTED;
        pthread_mutex_unlock(&c->lock);
        if (stop) __atomic_store_n(&c->stop, 1, __ATOMIC_RELAXED);
        nap(0.001);
    }
}

static bool start_helper(crew *c, pthread_t *thread)
{
    atomic_fetch_add(&c->helpers, 1);
    if (thread_start(thread, help, c) == 0) return true;
    atomic_fetch_sub(&c->helpers, 1);
    return false;
}

cubc_status shares_run(uint64_t total, uint64_t most, size_t room_bytes, shares_step step,
                       void *context)
{
    pthread_t threads[MOST_THREADS];
    crew c = {.lock = PTHREAD_MUTEX_INITIALIZER,
              .forks = fork_count(),
              .total = total,
              .most = most,
              .step = step,
              .context = context,
              .room_bytes = room_bytes};
    uint64_t shares = ceil_div(total, most);
    int started = 0, wanted;
    TRY(environment_threads(&wanted));
    if (wanted > MOST_THREADS) wanted = MOST_THREADS;
    if ((uint64_t)wanted > shares) wanted = (int)shares;
    wanted--; // the caller's thread is one
    while (started < wanted && start_helper(&c, &threads[started])) started++;
    work(&c); // and if no thread could be started, all of it
    await_helpers(&c);
    TRY(fork_refuse(c.forks, "a call that several threads share"));
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&c.lock);
    if (c.status) FAIL(c.status, "%s", c.message);
    return CUBC_OK;
}
