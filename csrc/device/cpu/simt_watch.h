// The thread that interrupts long launches of a pool, and waits that last 50 ms at most.
//
// A kernel that computes for minutes in one block never polls. From 50 ms on, and every 50 ms, this
// thread makes the threads of the launch poll (simt_signal.h). A launch costs two additions for it;
// the thread sleeps when there has been none for a second.
#ifndef CUBC_SIMT_WATCH_H
#define CUBC_SIMT_WATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct simt_watch {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool started, quit;
    atomic_bool sleeps;   // until somebody wakes it
    atomic_bool asking;   // in this launch; changed under the lock
    atomic_uint launches; // begun and ended ones together: odd while one runs
    // The launch.
    pthread_t caller;
    const pthread_t *helpers;
    int helper_count;
} simt_watch;

void simt_watch_prepare(simt_watch *w); // also in a child of fork, which has no such thread
void simt_watch_close(simt_watch *w);
// By the thread that calls. Without a thread a launch is not looked after, which is no error.
void simt_watch_begin(simt_watch *w, const pthread_t *helpers, int count);
void simt_watch_end(simt_watch *w);

enum { SIMT_LOOK_MS = 50 }; // between two looks for Ctrl-C
void simt_condition_init(pthread_cond_t *condition);
void simt_wait_ms(pthread_cond_t *condition, pthread_mutex_t *lock, int ms); // at most; below 1000

#endif
