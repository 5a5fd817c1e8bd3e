// Items change hands: out[way] is what the threads hold afterwards, in the order of thread and
// item.
#include "block_exchange.h"

__global__ void __launch_bounds__(SIMT_THREADS) orders(const T *x, const unsigned *places, T *out)
{
    __shared__ block_exchange_storage<T, N> s;
    const unsigned tile = SIMT_THREADS * N;
    unsigned place[N];
    T item[6][N];
    for (int j = 0; j < N; j++) {
        place[j] = places[blocked_index<N>(j)];
        for (int way = 0; way < 6; way++) item[way][j] = x[blocked_index<N>(j)] + way;
    }
    block_striped_to_blocked(item[0], s);
    __syncthreads();
    block_blocked_to_striped(item[1], s);
    __syncthreads();
    block_blocked_to_warp_striped(item[2], s);
    __syncthreads();
    block_scatter_to_blocked(item[3], place, s);
    __syncthreads();
    block_scatter_to_striped(item[4], place, s);
    __syncthreads();
    block_scatter_to_warp_striped(item[5], place, s);
    for (int way = 0; way < 6; way++)
        for (int j = 0; j < N; j++) out[way * tile + blocked_index<N>(j)] = item[way][j];
}
