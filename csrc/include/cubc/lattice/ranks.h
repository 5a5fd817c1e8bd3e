// Lattices over several ranks: a part of lattice.h, which describes the fields.
//
// A rank is a process, or a thread of one, with its device. The whole lattice is cut into equal
// parts, one per rank, and a rank has the fields of its part. Ranks make the same calls in the same
// order. The faces of their parts, and the sums of solvers, go from device to device: where ranks
// reach each other's memory, those of a host, without the host, else as messages between launches,
// which NCCL carries for GPUs and the communicator for the cpu device.
#ifndef CUBC_PUBLIC_LATTICE_RANKS_H
#define CUBC_PUBLIC_LATTICE_RANKS_H

#include "cubc/core.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)
// cffi: begin
enum { CUBC_COMM_MESSAGES = 64 }; // that are started between two calls of finish, at most

// The ranks as the caller's library for messages knows them; of MPI, cubc/ranks_mpi.h makes one. It
// is asked when memory is made that ranks share. During a hop or a solve it is asked for messages
// alone, and of those on the cpu device only.
typedef struct cubc_comm {
    int rank, size;
    void *context;
    // Gathers `bytes` bytes of every rank, in the order of ranks; all ranks call it. Not 0: it
    // failed. Where there are start or exchange, ranks meet by these first, for `seconds` at most.
    int (*all_gather)(void *context, const void *mine, void *all, size_t bytes);
    // Sends `bytes` bytes, 2^30 at most, to rank `to`, and receives as many of rank `from`, while
    // these do. One of both may be -1, nobody.
    // Not 0: it failed, or the message has not come within `seconds`. NULL: start and finish do it,
    // or all_gather.
    int (*exchange)(void *context, int to, const void *send, int from, void *receive, size_t bytes,
                    double seconds);
    // The same in two calls, so that a rank computes while its messages are under way; both or
    // NULL. start begins to send and to receive, up to CUBC_COMM_MESSAGES times, and does not wait.
    // Messages from one rank to another come in the order of these calls. Not 0: it failed.
    int (*start)(void *context, int to, const void *send, int from, void *receive, size_t bytes);
    // Waits until all that was started has been sent and has come; then, or after `seconds`,
    // nothing of it is read or stored any more. Not 0: 1 + the rank whose message has not come, or
    // -1.
    int (*finish)(void *context, double seconds);
} cubc_comm;

// The way that faces and sums go.
typedef enum cubc_ranks_transport {
    CUBC_RANKS_ANY = 0,     // shared memory within a host, messages between hosts
    CUBC_RANKS_MEMORY = 1,  // memory that all ranks reach
    CUBC_RANKS_MESSAGES = 2 // messages, also within a host
} cubc_ranks_transport;

typedef struct cubc_ranks cubc_ranks;

typedef struct cubc_ranks_params {
    const cubc_comm *comm; // which stays the caller's, until the ranks are closed; NULL: one rank
    int grid[4];           // ranks along x, y, z, t; 1 along x. x changes fastest with the rank
    int cut;               // bit d: faces of direction d are exchanged though one rank has all of
                           // it, who is its own neighbour; for tests and measurements
    double seconds;        // that a rank waits for another before it gives up; 0: 20
    cubc_ranks_transport transport; // messages if any rank asks for them
} cubc_ranks_params;

// All ranks open them together.
cubc_status cubc_ranks_open(cubc_device *device, const cubc_ranks_params *params, cubc_ranks **out);
void cubc_ranks_close(cubc_ranks *ranks); // NULL: does nothing
// The place of this rank in the grid; 0, 0, 0, 0 without ranks.
void cubc_ranks_place(const cubc_ranks *ranks, int place[4]);
// Fails with CUBC_TIMEOUT if a rank has waited in vain since the ranks were opened: results since
// then are void. Waits for what is queued on the stream.
cubc_status cubc_ranks_check(cubc_ranks *ranks, cubc_stream stream);
// cffi: end
#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
