// The time, and Ctrl-C for those who wait: see base.h.
#define _POSIX_C_SOURCE 200809L
#include "base/base.h"

#include <errno.h>
#include <stdatomic.h>
#include <time.h>

double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static _Atomic(interrupt_hook) hook;

void interrupt_set_hook(interrupt_hook new_hook)
{
    atomic_store(&hook, new_hook);
}

static _Thread_local const volatile char *watched;

const volatile char *interrupt_watch(const volatile char *flag)
{
    const volatile char *before = watched;
    watched = flag;
    return before;
}

bool interrupt_pending(void)
{
    if (watched && __atomic_load_n(watched, __ATOMIC_RELAXED)) return true;
    interrupt_hook pending = atomic_load(&hook);
    return pending && pending();
}

cubc_status lock_or_interrupted(pthread_mutex_t *lock, const char *own)
{
    while (pthread_mutex_trylock(lock) != 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 50000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        int failed = pthread_mutex_timedlock(lock, &until);
        if (!failed) break;
        if (failed == EDEADLK) FAIL(CUBC_INVALID_ARGUMENT, "%s", own);
        if (interrupt_pending()) FAIL(CUBC_INTERRUPTED, "interrupted while another call was busy");
    }
    return CUBC_OK;
}
