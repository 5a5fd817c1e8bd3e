// Ranks of MPI for a cubc_comm: a header alone, compiled by the caller against the MPI that the
// program has. Not a part of cubc.h.
//
//     cubc_mpi mpi = {.communicator = MPI_COMM_WORLD};
//     cubc_comm comm;
//     cubc_comm_of_mpi(&mpi, &comm);
//     cubc_ranks_params params = {.comm = &comm, .grid = {1, 1, 1, comm.size}};
#ifndef CUBC_RANKS_MPI_H
#define CUBC_RANKS_MPI_H

#include "cubc/lattice/ranks.h"

#include <limits.h>
#include <mpi.h>
#include <string.h>

typedef struct cubc_mpi {
    MPI_Comm communicator;
    int count;                                    // messages that are under way
    int from[CUBC_COMM_MESSAGES];                 // the rank that sends one
    MPI_Request requests[2 * CUBC_COMM_MESSAGES]; // its receipt, and the sending of another
} cubc_mpi;

static inline int cubc_mpi_all_gather(void *context, const void *mine, void *all, size_t bytes)
{
    const int count = (int)bytes;
    if (bytes > INT_MAX) return 1;
    return MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE,
                         ((cubc_mpi *)context)->communicator) != MPI_SUCCESS;
}

static inline int cubc_mpi_start(void *context, int to, const void *send, int from, void *receive,
                                 size_t bytes)
{
    enum { CUBC_MPI_TAG = 20803 };
    cubc_mpi *mpi = (cubc_mpi *)context;
    MPI_Request *both = mpi->requests + 2 * mpi->count;
    if (bytes > INT_MAX || mpi->count == CUBC_COMM_MESSAGES) return 1;
    both[0] = both[1] = MPI_REQUEST_NULL;
    mpi->from[mpi->count++] = from;
    if (from < 0) from = MPI_PROC_NULL;
    if (to < 0) to = MPI_PROC_NULL;
    return MPI_Irecv(receive, (int)bytes, MPI_BYTE, from, CUBC_MPI_TAG, mpi->communicator,
                     &both[0]) != MPI_SUCCESS ||
           MPI_Isend(send, (int)bytes, MPI_BYTE, to, CUBC_MPI_TAG, mpi->communicator, &both[1]) !=
               MPI_SUCCESS;
}

static inline int cubc_mpi_finish(void *context, double seconds)
{
    cubc_mpi *mpi = (cubc_mpi *)context;
    const int count = 2 * mpi->count;
    const double start = MPI_Wtime();
    int done = 0, failed = 0, left = 0, late = 0;
    while (!failed && !done && MPI_Wtime() - start < seconds)
        failed = MPI_Testall(count, mpi->requests, &done, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
    mpi->count = 0;
    if (done) return 0;
    for (int k = 0; k < count; k++) { // after the wait MPI reads and stores nothing
        if (mpi->requests[k] == MPI_REQUEST_NULL) continue;
        if (MPI_Test(&mpi->requests[k], &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done) continue;
        left = 1;
        if (!late && k % 2 == 0) late = 1 + mpi->from[k / 2];
        MPI_Cancel(&mpi->requests[k]);
        MPI_Wait(&mpi->requests[k], MPI_STATUS_IGNORE);
    }
    return late ? late : failed || left ? -1 : 0;
}

// mpi stays the caller's, and where it is, until the ranks are closed.
static inline void cubc_comm_of_mpi(cubc_mpi *mpi, cubc_comm *out)
{
    memset(out, 0, sizeof *out);
    mpi->count = 0;
    MPI_Comm_rank(mpi->communicator, &out->rank);
    MPI_Comm_size(mpi->communicator, &out->size);
    out->context = mpi;
    out->all_gather = cubc_mpi_all_gather;
    out->start = cubc_mpi_start;
    out->finish = cubc_mpi_finish;
}

#endif
