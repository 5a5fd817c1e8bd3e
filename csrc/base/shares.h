// Work on consecutive shares of a field or a list, by as many threads as there are cores. A
// thread puts what it makes of its shares into a place of its own, so that no queue is needed
// between threads.
#ifndef CUBC_SHARES_H
#define CUBC_SHARES_H

#include "base/base.h"

// One share: `count` units from `first` on. `room` is memory of the thread's own. The first failure
// in the order of shares is what shares_run fails with, whatever the number of threads; but an
// interruption of the caller comes before all. A step that takes long polls interrupt_pending(),
// which is true in every thread then.
typedef cubc_status (*shares_step)(void *context, uint64_t first, uint64_t count, void *room);

// Units 0 to total - 1, `most` at a time. A caller's thread takes part, and polls for interruption.
// A child that a signal handler forks meanwhile is refused: see fork_refuse.
// Number of threads: CUBC_CPU_THREADS, else the cores; fewer if there is not so much to do.
cubc_status shares_run(uint64_t total, uint64_t most, size_t room_bytes, shares_step step,
                       void *context);

#endif
