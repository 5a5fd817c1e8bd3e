// Histograms of two tiles a block: each by itself, then both together.
#include "block_histogram.h"

__global__ void __launch_bounds__(SIMT_THREADS)
    bins(const unsigned *x, unsigned *first, unsigned *both)
{
    __shared__ block_histogram_storage<BINS> s;
    const unsigned tile = SIMT_THREADS * N;
    unsigned one[N], two[N];
    for (int j = 0; j < N; j++) {
        one[j] = x[2 * blockIdx.x * tile + threadIdx.x * N + j];
        two[j] = x[(2 * blockIdx.x + 1) * tile + threadIdx.x * N + j];
    }
    block_histogram(one, s);
    for (unsigned b = threadIdx.x; b < BINS; b += SIMT_THREADS)
        first[blockIdx.x * BINS + b] = s.count[b];
    __syncthreads();
    block_histogram_add(two, s);
    __syncthreads();
    for (unsigned b = threadIdx.x; b < BINS; b += SIMT_THREADS)
        both[blockIdx.x * BINS + b] = s.count[b];
}
