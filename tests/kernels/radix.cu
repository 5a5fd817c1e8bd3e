// Ranks by a digit, and sorted tiles: keys down, keys by some bits, keys with values up.
#include "block_sort.h"

__global__ void __launch_bounds__(SIMT_THREADS) ranks(const unsigned *x, unsigned *places)
{
    __shared__ block_radix_storage<5> s;
    unsigned key[N], place[N];
    for (int j = 0; j < N; j++) key[j] = x[warp_striped_index<N>(j)];
    block_radix_rank(key, cut{3, 31}, place, s);
    for (int j = 0; j < N; j++) places[warp_striped_index<N>(j)] = place[j];
}

__global__ void __launch_bounds__(SIMT_THREADS)
    sorted(const T *x, T *down, T *some, T *up, unsigned *values)
{
    __shared__ union {
        block_sort_storage<T, N> keys;
        block_sort_storage<T, N, unsigned> pairs;
    } s;
    T a[N], b[N], c[N];
    unsigned value[N];
    for (int j = 0; j < N; j++) {
        a[j] = b[j] = c[j] = x[blocked_index<N>(j)];
        value[j] = blocked_index<N>(j);
    }
    block_sort_descending(a, s.keys);
    __syncthreads();
    block_sort(b, s.keys, 1, 4);
    __syncthreads();
    block_sort_pairs(c, value, s.pairs);
    for (int j = 0; j < N; j++) {
        down[blocked_index<N>(j)] = a[j];
        some[blocked_index<N>(j)] = b[j];
        up[blocked_index<N>(j)] = c[j];
        values[blocked_index<N>(j)] = value[j];
    }
}
