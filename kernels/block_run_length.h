// Collectives of a block: runs, each a value and how often it comes, become the items they stand
// for, a window of them at a time.
#pragma once
#include "block_exchange.h"

template <class T, int N>
struct block_run_storage {
    T value[SIMT_THREADS * N];
    u32 begin[SIMT_THREADS * N + 1]; // of each run among the items; then the count of items
    block_scan_storage<u32> scan;
};

// Takes N runs a thread, blocked; lengths of 0 are fine. Fewer than 2^32 items in all.
//   Called by   all threads of the block
//   Result      the count of items, in each thread; the runs are in the storage, for any thread
//   Storage     may be used again after the next block_sync that follows the last decoding
template <class T, int N>
FUNCTION u32 block_run_begin(const T (&value)[N], const u32 (&length)[N],
                             block_run_storage<T, N>& s)
{
    u32 begin[N];
    UNROLL
    for (int j = 0; j < N; j++) begin[j] = length[j];
    const u32 total = block_exclusive_scan(begin, 0u, plus(), s.scan);
    UNROLL
    for (int j = 0; j < N; j++) {
        s.value[blocked_index<N>(j)] = value[j];
        s.begin[blocked_index<N>(j)] = begin[j];
    }
    if (thread_id() == 0) s.begin[SIMT_THREADS * N] = total;
    block_sync();
    return total;
}

// Items `from` + thread_id() * M and the M - 1 after, and how many of their run are before each.
// Behind the last item nothing is changed.
//   Called by   any threads, any number of times after block_run_begin
//   Result      in the calling thread
template <class T, int N, int M>
FUNCTION void block_run_decode(const block_run_storage<T, N>& s, u32 from, T (&item)[M],
                               u32 (&within)[M])
{
    const u32 first = from + thread_id() * M;
    if (first >= s.begin[SIMT_THREADS * N]) return;
    u32 run = 0, above = SIMT_THREADS * N; // the last run that begins at or before `first`
    while (above - run > 1) {
        const u32 middle = (run + above) / 2;
        if (s.begin[middle] <= first)
            run = middle;
        else
            above = middle;
    }
    UNROLL
    for (int j = 0; j < M; j++) {
        const u32 i = first + static_cast<u32>(j);
        while (run < SIMT_THREADS * N && s.begin[run + 1] <= i) run++;
        if (run == SIMT_THREADS * N) break; // behind the last item
        item[j] = s.value[run];
        within[j] = i - s.begin[run];
    }
}
