// Tiles come and go in every order; the last one is a part of one. The items that the threads
// hold of it are written down, blocked.
#include "block_load.h"

__global__ void __launch_bounds__(SIMT_THREADS)
    tiles(const T *x, T *held, T *y, unsigned long long n)
{
    __shared__ block_exchange_storage<T, N> s;
    const unsigned long long first = blockIdx.x * (unsigned long long)(SIMT_THREADS * N);
    T item[N];
    for (int j = 0; j < N; j++) item[j] = (T)(blocked_index<N>(j) % 100);
#if HOW == 0
    block_load_blocked(x + first, n - first, item);
    block_store_blocked(y + first, n - first, item);
#elif HOW == 1
    block_load_striped(x + first, n - first, item);
    block_store_striped(y + first, n - first, item);
#else
    block_load_transposed(x + first, n - first, item, s);
    __syncthreads();
    block_store_transposed(y + first, n - first, item, s);
#endif
    for (int j = 0; j < N; j++) held[first + blocked_index<N>(j)] = item[j];
}
