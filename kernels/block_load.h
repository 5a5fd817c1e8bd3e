// Collectives of a block: a tile of items between global memory and the threads.
//
// `p` is where the tile begins and `count` how many items there are from there on, so that the last
// tile may be a part of one. What is behind the last item is not loaded, and leaves what is in
// item[j]; nor is it stored. block_exchange.h says what blocked and striped are.
#pragma once
#include "block_exchange.h"

// In the blocked order directly: for a few items a thread, or one thread a block.
//   Called by   any threads, by themselves
//   Result      in the calling thread
template <class T, int N>
FUNCTION void block_load_blocked(const T* p, u64 count, T (&item)[N])
{
    UNROLL
    for (int j = 0; j < N; j++)
        if (blocked_index<N>(j) < count) item[j] = p[blocked_index<N>(j)];
}
template <class T, int N>
FUNCTION void block_store_blocked(T* p, u64 count, const T (&item)[N])
{
    UNROLL
    for (int j = 0; j < N; j++)
        if (blocked_index<N>(j) < count) p[blocked_index<N>(j)] = item[j];
}

// In the striped order: each row of the block is one run of memory.
//   Called by   any threads, by themselves
//   Result      in the calling thread
template <class T, int N>
FUNCTION void block_load_striped(const T* p, u64 count, T (&item)[N])
{
    UNROLL
    for (int j = 0; j < N; j++)
        if (striped_index(j) < count) item[j] = p[striped_index(j)];
}
template <class T, int N>
FUNCTION void block_store_striped(T* p, u64 count, const T (&item)[N])
{
    UNROLL
    for (int j = 0; j < N; j++)
        if (striped_index(j) < count) p[striped_index(j)] = item[j];
}

// In the blocked order, while memory sees the striped one: the items are transposed on the way.
//   Called by   all threads of the block
//   Result      in each thread
//   Storage     may be used again after the next block_sync
template <class T, int N>
FUNCTION void block_load_transposed(const T* p, u64 count, T (&item)[N],
                                    block_exchange_storage<T, N>& s)
{
    // What stays in the threads travels along. Each writes then only where it alone has read.
    if (count < static_cast<u64>(SIMT_THREADS) * N) block_blocked_to_striped(item, s);
    block_load_striped(p, count, item);
    block_striped_to_blocked(item, s);
}
template <class T, int N>
FUNCTION void block_store_transposed(T* p, u64 count, const T (&item)[N],
                                     block_exchange_storage<T, N>& s)
{
    T copy[N];
    UNROLL
    for (int j = 0; j < N; j++) copy[j] = item[j];
    block_blocked_to_striped(copy, s);
    block_store_striped(p, count, copy);
}
