// A C program of several ranks by MPI: links of 1 and a constant spinor, so that the Wilson hopping
// term is 8 times the spinor wherever faces arrive. test_ranks.py builds it and runs some of it.
// With an argument each two ranks are told that they have a host of their own.
#include <cubc.h>
#include <cubc/ranks_mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXTENT = 4, SITES = EXTENT * EXTENT * EXTENT * EXTENT, SPINOR = 24, MATRIX = 18 };
enum { REALS = SITES * SPINOR, LINK_REALS = 4 * SITES * MATRIX };

static int failed(const char *what)
{
    fprintf(stderr, "%s: %s\n%s", what, cubc_error_message(), cubc_error_log());
    return 1;
}

// In native order, of chunks of two numbers: a link has ones in reals 0, 8 and 16.
static void fill(double *links, double *in)
{
    for (int k = 0; k < LINK_REALS; k++) {
        int chunk = k / (2 * SITES / 2) % (MATRIX / 2), real = 2 * chunk + k % 2;
        links[k] = real % 8 == 0;
    }
    for (int k = 0; k < REALS; k++) in[k] = 1;
}

static int hop(cubc_device *device, cubc_ranks *ranks, double *links, double *in, double *out)
{
    const cubc_dslash_wilson_params params = {.sites = {.in = in,
                                                        .out = out,
                                                        .n = REALS,
                                                        .type = CUBC_F64,
                                                        .norm_type = CUBC_F32,
                                                        .lx = EXTENT,
                                                        .ly = EXTENT,
                                                        .lz = EXTENT,
                                                        .lt = EXTENT,
                                                        .parity = 2,
                                                        .ranks = ranks},
                                              .links = links,
                                              .links_n = LINK_REALS,
                                              .reconstruct = MATRIX,
                                              .a = 1,
                                              .anisotropy = 1};
    if (cubc_dslash_wilson(device, &params, NULL, 0, NULL)) return failed("dslash");
    if (cubc_ranks_check(ranks, NULL)) return failed("check");
    for (int k = 0; k < REALS; k++)
        if (out[k] != 8) {
            fprintf(stderr, "real %d is %g\n", k, out[k]);
            return 1;
        }
    return 0;
}

enum { WISH_BYTES = 16 }; // of a rank, which begin with its host

static int gather_of_hosts(void *context, const void *mine, void *all, size_t bytes)
{
    const int failed = cubc_mpi_all_gather(context, mine, all, bytes);
    int size = 0;
    MPI_Comm_size(((cubc_mpi *)context)->communicator, &size);
    for (int k = 0; k < size && bytes == WISH_BYTES; k++)
        memset((char *)all + WISH_BYTES * k, k / 2, WISH_BYTES / 2);
    return failed;
}

static int run(int of_hosts)
{
    cubc_mpi mpi = {.communicator = MPI_COMM_WORLD};
    cubc_comm comm;
    cubc_comm_of_mpi(&mpi, &comm);
    if (of_hosts) comm.all_gather = gather_of_hosts;
    const cubc_ranks_params params = {.comm = &comm, .grid = {1, 1, 1, comm.size}};
    cubc_device *device = NULL;
    cubc_ranks *ranks = NULL;
    int place[4];
    double *memory = aligned_alloc(64, (2 * REALS + LINK_REALS) * sizeof *memory);
    if (!memory) return 1;
    double *in = memory, *out = in + REALS, *links = out + REALS;
    fill(links, in);
    if (cubc_device_open("cpu", &device)) return failed("device");
    if (cubc_ranks_open(device, &params, &ranks)) return failed("ranks");
    cubc_ranks_place(ranks, place);
    int wrong = place[3] != comm.rank;
    for (int k = 0; k < 3 && !wrong; k++) wrong = hop(device, ranks, links, in, out);
    if (!wrong) printf("rank %d of %d has 8\n", comm.rank, comm.size);
    cubc_ranks_close(ranks);
    cubc_device_close(device);
    free(memory);
    return wrong;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int wrong = run(argc > 1);
    MPI_Finalize();
    return wrong;
}
