// Messages between the devices of ranks that reach no memory of each other: what carries them, as a
// table of functions. On cuda it is NCCL (cuda/cuda_nccl.c); on the cpu device the host carries
// them (lattice/grid/comm_messenger.c).
#ifndef CUBC_MESSENGER_H
#define CUBC_MESSENGER_H

#include "device/device.h"

// Bytes that go to one rank, and as many that come from one, which may be this rank itself, or
// nobody.
enum { NO_RANK = -1 };
typedef struct device_message {
    const void *from;
    void *to;
    size_t bytes;
    int to_rank, from_rank;
} device_message;

// Ranks make the same calls in the same order, each with messages of the same sizes. Work is queued
// on the stream; a recorded call is repeated at each replay.
typedef struct messenger_api {
    cubc_status (*move)(messenger *m, const device_message *list, int count, void *stream);
    // The same in two calls: what is queued on the stream between them does not wait for the
    // messages, and what comes after `end` does.
    cubc_status (*begin)(messenger *m, const device_message *list, int count, void *stream);
    cubc_status (*end)(messenger *m, void *stream);
    // Gathers `bytes` bytes of every rank, in the order of ranks; its own are in their place.
    cubc_status (*gather)(messenger *m, void *all, size_t bytes, void *stream);
    // For a thread that watches over messages and does nothing else; NULL: move and gather wait,
    // and say what has failed. check: CUBC_OK unless a message that was queued has failed. cancel
    // ends all messages that wait, and calls of other threads that are in the library; what they
    // should have brought is undefined, and later calls fail. close comes behind all calls, and
    // waits some seconds for the end.
    cubc_status (*check)(messenger *m);
    void (*cancel)(messenger *m);
    void (*close)(messenger *m);
} messenger_api;

struct messenger { // the first member of one
    const messenger_api *api;
    int rank, size;
    int late; // the rank whose message has failed to come; -1: none, or it is not known
};

#endif
