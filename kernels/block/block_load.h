// Collectives of a block: load and store a tile of items in global memory.
//
// `p` is the beginning of the tile and `count` the number of items from there on, so that the last
// tile may be partial. Items past the end are not loaded, which leaves item[j] as it was, and not
// stored. The blocked and striped arrangements are defined in block_exchange.h.
#pragma once
#include "block_exchange.h"

// Loads in the blocked arrangement, for a few items a thread or for one thread a block.
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

// Loads in the striped arrangement, with coalesced accesses.
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

// Loads striped, with coalesced accesses, and transposes the items to the blocked arrangement.
//   Called by   all threads of the block
//   Result      in each thread
//   Storage     may be used again after the next block_sync
template <class T, int N>
FUNCTION void block_load_transposed(const T* p, u64 count, T (&item)[N],
                                    block_exchange_storage<T, N>& s)
{
    // Items past the end keep their values: they are transposed both ways, with the same storage.
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
