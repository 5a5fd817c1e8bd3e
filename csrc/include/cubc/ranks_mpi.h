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

#include <mpi.h>

static inline int cubc_mpi_all_gather(void *context, const void *mine, void *all, size_t bytes)
{
    const int count = (int)bytes; // of a card or a status
    return MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, *(MPI_Comm *)context) !=
           MPI_SUCCESS;
}

// The communicator stays the caller's, and where it is, until the ranks are closed.
static inline void cubc_comm_of_mpi(MPI_Comm *communicator, cubc_comm *out)
{
    MPI_Comm_rank(*communicator, &out->rank);
    MPI_Comm_size(*communicator, &out->size);
    out->context = communicator;
    out->all_gather = cubc_mpi_all_gather;
}

#endif
