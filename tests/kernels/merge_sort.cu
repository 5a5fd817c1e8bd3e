// A tile in an order of one's own, stably: by the last digit only, from the highest.
#include "block_merge.h"

struct by_last_digit {
    __device__ bool operator()(int a, int b) const
    {
        return a % 10 > b % 10;
    }
};

__global__ void __launch_bounds__(SIMT_THREADS) sorted(const int *x, int *up, int *own)
{
    __shared__ block_merge_storage<int, N> s;
    int a[N], b[N];
    for (int j = 0; j < N; j++) a[j] = b[j] = x[blocked_index<N>(j)];
    block_merge_sort(a, less(), s);
    __syncthreads();
    block_merge_sort(b, by_last_digit(), s);
    for (int j = 0; j < N; j++) {
        up[blocked_index<N>(j)] = a[j];
        own[blocked_index<N>(j)] = b[j];
    }
}
