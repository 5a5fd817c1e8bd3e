// The watching thread: see simt_watch.h.
#define _GNU_SOURCE
#include "device/cpu/simt_watch.h"

#include "base/base.h"
#include "device/cpu/simt_signal.h"

#include <time.h>

enum {
    SOON_MS = 1, // where a thread was outside its kernel, and will be most of the time
    IDLE = 20    // looks without a launch before it sleeps
};

// ---- waiting ------------------------------------------------------------------------------------
void simt_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

void simt_wait_ms(pthread_cond_t *condition, pthread_mutex_t *lock, int ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ms * 1000L * 1000;
    if (until.tv_nsec >= 1000 * 1000 * 1000) {
        until.tv_nsec -= 1000 * 1000 * 1000;
        until.tv_sec++;
    }
    pthread_cond_timedwait(condition, lock, &until);
}

// ---- watching -----------------------------------------------------------------------------------
static void end_asking(simt_watch *w)
{
    if (atomic_load(&w->asking)) simt_ask_end();
    atomic_store(&w->asking, false);
}

// Asks the threads of a launch that has gone on for a while whether they are to go on. It may be
// ending just now: either it sees `asking`, and waits for the lock, or its end is seen here.
static void look_after(simt_watch *w, unsigned launch)
{
    if (!atomic_load(&w->asking)) simt_ask_begin();
    atomic_store(&w->asking, true);
    if (atomic_load(&w->launches) != launch) {
        end_asking(w);
        return;
    }
    simt_signals_renew();
    simt_ask(w->caller);
    for (int i = 0; i < w->helper_count; i++) simt_ask(w->helpers[i]);
}

static void *watch_main(void *argument)
{
    simt_watch *w = argument;
    unsigned seen = 0;
    int idle = 0;
    pthread_mutex_lock(&w->lock);
    while (!w->quit) {
        unsigned now = atomic_load(&w->launches);
        bool same = now == seen;
        seen = now;
        idle = same && now % 2 == 0 ? idle + 1 : 0;
        if (same && now % 2) look_after(w, now);
        if (idle < IDLE) {
            simt_wait_ms(&w->wake, &w->lock, simt_ask_missed() ? SOON_MS : SIMT_LOOK_MS);
            continue;
        }
        atomic_store(&w->sleeps, true); // before the last look: a launch does it in reverse
        if (atomic_load(&w->launches) == now) pthread_cond_wait(&w->wake, &w->lock);
        atomic_store(&w->sleeps, false);
        idle = 0;
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

void simt_watch_begin(simt_watch *w, const pthread_t *helpers, int count)
{
    w->caller = pthread_self();
    w->helpers = helpers;
    w->helper_count = count;
    atomic_fetch_add(&w->launches, 1);
    if (!w->started) w->started = thread_start(&w->thread, watch_main, w) == 0;
    if (!atomic_load(&w->sleeps)) return;
    pthread_mutex_lock(&w->lock);
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
}

void simt_watch_end(simt_watch *w)
{
    atomic_fetch_add(&w->launches, 1);
    if (!atomic_load(&w->asking)) return;
    pthread_mutex_lock(&w->lock);
    end_asking(w);
    pthread_mutex_unlock(&w->lock);
}

// ---- open and close -----------------------------------------------------------------------------
void simt_watch_prepare(simt_watch *w)
{
    pthread_mutex_init(&w->lock, NULL);
    simt_condition_init(&w->wake);
    w->started = w->quit = false;
    atomic_store(&w->sleeps, false);
    atomic_store(&w->asking, false);
    atomic_store(&w->launches, 0);
}

void simt_watch_close(simt_watch *w)
{
    pthread_mutex_lock(&w->lock);
    w->quit = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    if (w->started) pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
}
