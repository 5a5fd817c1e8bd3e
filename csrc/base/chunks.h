// Work on consecutive chunks of a field or a list, by as many threads as there are cores. A
// thread puts what it makes of its chunks into a place of its own, so that no queue is needed
// between threads.
#ifndef CUBC_CHUNKS_H
#define CUBC_CHUNKS_H

#include "base/base.h"

// One chunk: `count` units from `first` on. `room` is memory of the thread's own. The first failure
// in the order of chunks is what chunks_run fails with, whatever the number of threads; but an
// interruption of the caller comes before all. A step that takes long polls interrupt_pending(),
// which is true in every thread then.
typedef cubc_status (*chunks_step)(void *context, uint64_t first, uint64_t count, void *room);

// Units 0 to total - 1, `most` at a time. A caller's thread takes part, and polls for interruption.
// Number of threads: CUBC_CPU_THREADS, else the cores; fewer if there is not so much to do.
cubc_status chunks_run(uint64_t total, uint64_t most, size_t room_bytes, chunks_step step,
                       void *context);

#endif
