// Ranks of MPI for a cubc_comm: a header alone, compiled by the caller against the MPI that the
// program has. Not a part of cubc.h.
//
//     MPI_Comm communicator = MPI_COMM_WORLD;
//     cubc_comm comm;
//     cubc_comm_of_mpi(&communicator, &comm);
//     cubc_ranks_params params = {.comm = &comm, .grid = {1, 1, 1, comm.size}};
#ifndef CUBC_RANKS_MPI_H
#define CUBC_RANKS_MPI_H

#include "cubc/lattice/ranks.h"

#include <limits.h>
#include <mpi.h>

static inline int cubc_mpi_all_gather(void *context, const void *mine, void *all, size_t bytes)
{
    const int count = (int)bytes; // of a card or a status
    return MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, *(MPI_Comm *)context) !=
           MPI_SUCCESS;
}

static inline int cubc_mpi_exchange(void *context, int to, const void *send, int from,
                                    void *receive, size_t bytes, double seconds)
{
    enum { CUBC_MPI_TAG = 20803 };
    const MPI_Comm communicator = *(MPI_Comm *)context;
    const double start = MPI_Wtime();
    MPI_Request both[2];
    int done = 0;
    if (bytes > INT_MAX) return 1;
    both[0] = both[1] = MPI_REQUEST_NULL;
    int failed =
        MPI_Irecv(receive, (int)bytes, MPI_BYTE, from, CUBC_MPI_TAG, communicator, &both[0]) ||
        MPI_Isend(send, (int)bytes, MPI_BYTE, to, CUBC_MPI_TAG, communicator, &both[1]);
    while (!failed && !done && MPI_Wtime() - start < seconds)
        failed = MPI_Testall(2, both, &done, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
    if (!failed && done) return 0;
    for (int k = 0; k < 2; k++) { // after the wait MPI reads and stores nothing
        if (both[k] == MPI_REQUEST_NULL) continue;
        MPI_Cancel(&both[k]);
        MPI_Wait(&both[k], MPI_STATUS_IGNORE);
    }
    return 1;
}

// The communicator stays the caller's, and where it is, until the ranks are closed.
static inline void cubc_comm_of_mpi(MPI_Comm *communicator, cubc_comm *out)
{
    MPI_Comm_rank(*communicator, &out->rank);
    MPI_Comm_size(*communicator, &out->size);
    out->context = communicator;
    out->all_gather = cubc_mpi_all_gather;
    out->exchange = cubc_mpi_exchange;
}

#endif
