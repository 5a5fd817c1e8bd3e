// Temporary storage for the messages of a launch (kernels/grid/message.h), one block of it a
// stream.
//
// Messages need memory that is zero before its first launch and is then left alone: every launch
// leaves it ready for the next. So a stream keeps its block, and a call neither allocates nor
// clears. Two cases get a block of their own, cleared first: storage that the caller provides, and
// launches captured into a graph, whose replays may run beside anything.
//
// Nobody tells when a stream is gone, and programs exist that make a new one for every request. So
// past a number of streams a block is passed on from the stream that used it longest ago: the new
// one waits for an event that followed the old one's last launch. The first streams, which are all
// that most programs have, never pay for an event.
#ifndef CUBC_WORKSPACE_H
#define CUBC_WORKSPACE_H

#include "device/device.h"

typedef struct workspace workspace;
typedef struct workspace_pool { // zero-initialised
    workspace *first;
    uint64_t uses; // number of requests so far: the clock by which the oldest block is found
} workspace_pool;

typedef struct workspace_lease {
    void *memory;     // the messages
    workspace *owner; // NULL: temporary, freed on release
} workspace_lease;

// Launches after which messages have to be cleared: their tags have 30 bits for the epoch.
enum { MESSAGE_LAUNCHES = (1 << 30) - 2 };

// Lends memory for that many launches. Until its release no other thread queues work on the same
// block.
cubc_status workspace_acquire(workspace_pool *pool, cubc_device *device, size_t bytes,
                              uint32_t launches, void *stream, workspace_lease *out);
// Takes the status of the launch: after a failure the block is cleared before it is used again,
// because an abandoned launch has left half of its messages.
void workspace_release(cubc_device *device, workspace_lease *lease, void *stream,
                       cubc_status launched);
void workspace_close(workspace_pool *pool, cubc_device *device);
// Pretends, for tests, that a stream's block has seen this many launches.
void workspace_set_launches(workspace_pool *pool, uint32_t launches);

#endif
