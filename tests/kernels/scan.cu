// A block's reduction and scans of N maps a thread, whose order matters.
#include "block.h"

struct compose { // of maps x -> p x + q
    __device__ uint2 operator()(uint2 a, uint2 b) const
    {
        return {a.x * b.x, b.x * a.y + b.y};
    }
};

// inclusive, exclusive: items; one, before_one: of each thread's first; ends: of the block
__global__ void __launch_bounds__(SIMT_THREADS)
    scans(const uint2 *x, uint2 *inclusive, uint2 *exclusive, uint2 *one, uint2 *before_one,
          uint2 *ends)
{
    __shared__ block_reduce_storage<uint2> reduce;
    __shared__ block_scan_storage<uint2> scan;
    const unsigned thread = blockIdx.x * SIMT_THREADS + threadIdx.x;
    const uint2 init = make_uint2(3, 5);
    uint2 item[N], copy[N];
    for (int j = 0; j < N; j++) item[j] = copy[j] = x[thread * N + j];

    const uint2 total = block_reduce(thread_reduce(item, compose()), compose(), reduce);
    if (threadIdx.x == 0) ends[3 * blockIdx.x] = total;
    const uint2 last = block_scan(item, compose(), scan);
    __syncthreads();
    const uint2 next = block_exclusive_scan(copy, init, compose(), scan);
    __syncthreads();
    one[thread] = block_scan(x[thread * N], compose(), scan);
    __syncthreads();
    before_one[thread] = block_exclusive_scan(x[thread * N], init, compose(), scan);
    for (int j = 0; j < N; j++) {
        inclusive[thread * N + j] = item[j];
        exclusive[thread * N + j] = copy[j];
    }
    if (threadIdx.x == SIMT_THREADS - 1) {
        ends[3 * blockIdx.x + 1] = last;
        ends[3 * blockIdx.x + 2] = next;
    }
}

__global__ void __launch_bounds__(SIMT_THREADS) sums(const unsigned *x, unsigned *before)
{
    __shared__ block_sum_storage<unsigned> s;
    const unsigned i = blockIdx.x * SIMT_THREADS + threadIdx.x;
    before[i] = block_exclusive_sum(x[i], s);
}
