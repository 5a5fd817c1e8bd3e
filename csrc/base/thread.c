// Threads of the core's own, and their naps: see base.h.
#define _POSIX_C_SOURCE 200809L
#include "base/base.h"

#include <signal.h>
#include <time.h>

// Signals are for the program's own threads, but for faults: a crash reporter is to hear of ours.
int thread_start(pthread_t *out, void *(*work)(void *), void *argument)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGABRT, SIGTRAP, SIGFPE, SIGILL};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t k = 0; k < COUNT_OF(faults); k++) sigdelset(&blocked, faults[k]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int failed = pthread_create(out, NULL, work, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

void nap(double seconds)
{
    const time_t whole = (time_t)seconds;
    nanosleep(&(struct timespec){whole, (long)(1e9 * (seconds - (double)whole))}, NULL);
}
