// Collectives of a block: run-length decoding. Runs, each a value and its length, are expanded to
// items, one window at a time.
#pragma once
#include "block_exchange.h"

template <class T, int N>
struct block_run_storage {
    T value[SIMT_THREADS * N];
    u32 begin[SIMT_THREADS * N + 1]; // first item of each run; then the number of items
    block_scan_storage<u32> scan;
};

// Takes N runs a thread, blocked. Lengths may be 0; the lengths add up to less than 2^32.
//   Called by   all threads of the block
//   Result      the number of items, in each thread; the runs are in the storage, for any thread
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

// Decodes M items from item `from` + thread_id() * M on, and gives the index of each within its
// run. Items past the end are left unchanged.
//   Called by   any threads, any number of times after block_run_begin
//   Result      in the calling thread
template <class T, int N, int M>
FUNCTION void block_run_decode(const block_run_storage<T, N>& s, u32 from, T (&item)[M],
                               u32 (&within)[M])
{
    const u32 first = from + thread_id() * M;
    if (first >= s.begin[SIMT_THREADS * N]) return;
    u32 run = 0, above = SIMT_THREADS * N; // the last run that begins by `first`
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
        if (run == SIMT_THREADS * N) break; // past the last item
        item[j] = s.value[run];
        within[j] = i - s.begin[run];
    }
}
