// The signals of kernels on the CPU: those that their faults raise, and the one that interrupts
// them.
//
// SIGFPE and SIGILL are the core's from the beginning of a launch to its end, if its kernel has an
// instruction that raises them, and unblocked in the thread that calls. The previous handlers are
// put back at the end, by the last of several launches at once. A fault of another thread, or a
// signal that somebody sends, goes to the previous owner in the meantime. A handler that is
// installed while a launch runs is put aside within a tenth of a second and gets the signal back at
// the end. SIGURG is the core's in the same way, but only in launches that have taken 50 ms. No
// other signal is touched.
//
// SIGURG asks a thread whether it is to go on. It acts only where the processor is in a kernel's
// own code, or a function of mathematics, which hold no lock and own nothing: there the thread may
// leave, or run Python's handlers. Elsewhere, as in a function of the C library, it is left alone
// until the next tick, which then comes sooner.
#ifndef CUBC_SIMT_SIGNAL_H
#define CUBC_SIMT_SIGNAL_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

typedef struct simt_signals { // of a launch
    sigset_t mask;            // the caller's
    bool faults;              // it has the signals of faults
} simt_signals;

// Around a launch, by the thread that calls.
void simt_signals_take(simt_signals *s, bool faults);
void simt_signals_give(const simt_signals *s);
// During a launch, by any thread: the signals are the core's if somebody else has taken them.
void simt_signals_renew(void);
// During a launch, between these two, threads may be asked.
void simt_ask_begin(void);
void simt_ask(pthread_t thread);
// True if a thread was outside of its kernel when it was asked, since the last call.
bool simt_ask_missed(void);
void simt_ask_end(void);
// Opens the calling thread, one of the core that runs kernels, to their signals.
void simt_signals_listen(void);

#endif
