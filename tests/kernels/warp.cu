// Collectives of a warp: reduce, scan, shuffle, match.
#include "warp.h"

struct compose { // of maps x -> p x + q: associative, and the order of the operands matters
    __device__ uint2 operator()(uint2 a, uint2 b) const
    {
        return {a.x * b.x, b.x * a.y + b.y};
    }
};

__global__ void __launch_bounds__(SIMT_THREADS)
    warps(const uint2 *x, uint2 *reduced, uint2 *scanned, uint2 *before, unsigned *shuffled,
          unsigned *same)
{
    const unsigned i = blockIdx.x * SIMT_THREADS + threadIdx.x;
    const uint2 first = warp_reduce(x[i], compose());
    if (lane_id() == 0) reduced[i / SIMT_WARP] = first;
    scanned[i] = warp_scan(x[i], compose());
    before[i] = warp_exclusive_scan(x[i], make_uint2(3, 5), compose());
    shuffled[i] = warp_shuffle(x[i], lane_id() * 3 + 1).y;
    same[i] = warp_match_bits<2>(x[i].y);
}
