// Collectives of a block: rearrangement of a tile between the blocked and striped arrangements.
//
// A tile is SIMT_THREADS * N items, N a thread. Item j of thread t is in the tile
//     blocked        item t * N + j: a thread owns neighbouring items, as sequential work needs
//     striped        item t + j * SIMT_THREADS: neighbouring threads own neighbouring items, as
//                    coalesced memory accesses need
//     warp-striped   item (w * N + j) * SIMT_WARP + l, for lane l of warp w: striped within a warp
#pragma once
#include "block.h"

template <int N>
FUNCTION u32 blocked_index(int j)
{
    return thread_id() * N + static_cast<u32>(j);
}
FUNCTION u32 striped_index(int j) { return thread_id() + static_cast<u32>(j) * SIMT_THREADS; }
template <int N>
FUNCTION u32 warp_striped_index(int j)
{
    return warp_id() * (SIMT_WARP * N) + lane_id() + static_cast<u32>(j) * SIMT_WARP;
}

template <class T, int N>
struct block_exchange_storage {
    T item[SIMT_THREADS * N + SIMT_THREADS * N / 32];
};

// Returns the place of item i in the storage. One place after 32 is left free if the lanes of a
// warp would meet in a bank of shared memory.
template <int N>
FUNCTION u32 exchange_place(u32 i)
{
    constexpr bool powers_of_two = SIMT_WARP > 1 && N > 2 && (N & (N - 1)) == 0;
    return powers_of_two ? i + i / 32 : i;
}

// Moves each item to place[j] of the tile and gives each thread the items of its blocked, striped
// or warp-striped places. The places are a permutation of the tile.
//   Called by   all threads of the block
//   Result      in each thread, in place
//   Storage     may be used again after the next block_sync
template <class T, int N>
FUNCTION void block_scatter_to_blocked(T (&item)[N], const u32 (&place)[N],
                                       block_exchange_storage<T, N>& s)
{
    UNROLL
    for (int j = 0; j < N; j++) s.item[exchange_place<N>(place[j])] = item[j];
    block_sync();
    UNROLL
    for (int j = 0; j < N; j++) item[j] = s.item[exchange_place<N>(blocked_index<N>(j))];
}
template <class T, int N>
FUNCTION void block_scatter_to_striped(T (&item)[N], const u32 (&place)[N],
                                       block_exchange_storage<T, N>& s)
{
    UNROLL
    for (int j = 0; j < N; j++) s.item[exchange_place<N>(place[j])] = item[j];
    block_sync();
    UNROLL
    for (int j = 0; j < N; j++) item[j] = s.item[exchange_place<N>(striped_index(j))];
}
template <class T, int N>
FUNCTION void block_scatter_to_warp_striped(T (&item)[N], const u32 (&place)[N],
                                            block_exchange_storage<T, N>& s)
{
    UNROLL
    for (int j = 0; j < N; j++) s.item[exchange_place<N>(place[j])] = item[j];
    block_sync();
    UNROLL
    for (int j = 0; j < N; j++) item[j] = s.item[exchange_place<N>(warp_striped_index<N>(j))];
}

// Rearranges the tile's items from one arrangement to another.
//   Called by   all threads of the block
//   Result      in each thread, in place
//   Storage     may be used again after the next block_sync
template <class T, int N>
FUNCTION void block_striped_to_blocked(T (&item)[N], block_exchange_storage<T, N>& s)
{
    u32 place[N];
    UNROLL
    for (int j = 0; j < N; j++) place[j] = striped_index(j);
    block_scatter_to_blocked(item, place, s);
}
template <class T, int N>
FUNCTION void block_blocked_to_striped(T (&item)[N], block_exchange_storage<T, N>& s)
{
    u32 place[N];
    UNROLL
    for (int j = 0; j < N; j++) place[j] = blocked_index<N>(j);
    block_scatter_to_striped(item, place, s);
}
template <class T, int N>
FUNCTION void block_blocked_to_warp_striped(T (&item)[N], block_exchange_storage<T, N>& s)
{
    u32 place[N];
    UNROLL
    for (int j = 0; j < N; j++) place[j] = blocked_index<N>(j);
    block_scatter_to_warp_striped(item, place, s);
}
