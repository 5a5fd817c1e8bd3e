"""Plain CUDA C that uses a good part of the language, and how to run it without a search."""

from cubc import _core
from cubc.tuner._source import Source

KERNELS = r"""
#include <cuda_runtime.h>
struct pair { float scale; long long shift; char tag; };

/* __global__ void commented(int); */
__device__ __forceinline__ int lane_id() { return threadIdx.x % warpSize; } // a name of ours

template <class V> __global__ void not_for_launch(V) {}
static __global__ void nor_this(int) {}

extern "C" __global__ void warps(const int* x, int* out, unsigned n)
{
    const unsigned all = 0xffffffffu, i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = x[i], sum = v;
    for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(all, sum, by);
    int before = v;
    for (int by = 1; by < 32; by *= 2) {
        const int other = __shfl_up_sync(all, before, by);
        if (lane_id() >= by) before += other;
    }
    int* o = out + 8 * i;
    o[0] = sum;
    o[1] = before;
    o[2] = __shfl_down_sync(all, v, 3, 8);
    o[3] = __shfl_sync(all, v, 5);
    o[4] = __popc(__ballot_sync(all, v & 1));
    o[5] = __any_sync(all, v > 90) * 2 + __all_sync(all, v >= 0);
    o[6] = __ffs(v) * 1000 + __clz(v);
    o[7] = min(v, 7) + max(v, 50);
    __syncwarp();
}

__global__ void atomics(const int* x, int* bins, float* sum, unsigned long long* most, int n)
{
    __shared__ int mine[4], arrived;
    if (threadIdx.x < 4) mine[threadIdx.x] = 0;
    if (threadIdx.x == 4) arrived = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&mine[x[i] % 4], 1);
        atomicAdd(sum, 0.5f);
        atomicMax(most, (unsigned long long)x[i]);
    }
    atomicAdd(&arrived, 1);
    __syncthreads();
    if (threadIdx.x < 4 && arrived == blockDim.x) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

__global__ void __launch_bounds__(64) indices(uint3* out, dim3* sizes)
{
    const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    out[2 * (block * blockDim.x * blockDim.y * blockDim.z + thread)] = threadIdx;
    out[2 * (block * blockDim.x * blockDim.y * blockDim.z + thread) + 1] = blockIdx;
    if (thread == 0 && block == 0) sizes[0] = blockDim, sizes[1] = gridDim;
}

__global__ void arguments(double* out, const bool yes, signed char a, unsigned short b,
                          long long c, pair p, float f, double d, const float4* four)
{
    extern __shared__ __align__(16) double room[];
    room[threadIdx.x] = (double)yes + a + b + c + p.scale + p.shift + p.tag + f + d + four->z;
    __syncthreads();
    out[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x] + sqrtf(16.0f) + pow(2.0, 10.0);
}
"""
SOURCE = Source(KERNELS, "plain")


def program(device):
    return _core.Program(
        SOURCE.complete(_core.device_info(device)["arch"], {}), "plain kernels", device
    )
