// Temporary storage of a call: for the messages of its launches (kernels/grid/message.h), and
// scratch. A stream keeps one block, which has both.
//
// Messages need memory that is zero before its first launch and is then left alone: every launch
// leaves it ready for the next. So a call neither allocates nor clears. Launches that are captured
// into a graph get memory of their own, cleared first, since replays may run beside anything.
//
// Scratch has whatever was there. Up to WORKSPACE_KEPT bytes are kept with the messages on a GPU,
// under the same lock. More is allocated for the call.
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

enum { WORKSPACE_KEPT = 8 << 20 };

typedef struct workspace_bytes {
    size_t messages, scratch;
} workspace_bytes;

typedef struct workspace_lease {
    void *messages, *scratch;       // NULL where the call needs none
    workspace *owner;               // of what a stream keeps; NULL: nothing is lent from there
    bool own_messages, own_scratch; // are freed on release
} workspace_lease;

// Launches after which messages have to be cleared: their tags have 30 bits for the epoch.
enum { MESSAGE_LAUNCHES = (1 << 30) - 2 };

// Lends memory for that many launches. Until its release no other thread queues work on the same
// block. After a failure there is nothing to release.
cubc_status workspace_acquire(workspace_pool *pool, cubc_device *device, workspace_bytes bytes,
                              uint32_t launches, void *stream, workspace_lease *out);
// Takes the status of the launch: after a failure the messages are cleared before they are used
// again, because an abandoned launch has left half of them.
void workspace_release(cubc_device *device, workspace_lease *lease, void *stream,
                       cubc_status launched);
void workspace_close(workspace_pool *pool, cubc_device *device);
// Pretends, for tests, that a stream's block has seen this many launches.
void workspace_set_launches(workspace_pool *pool, uint32_t launches);

#endif
