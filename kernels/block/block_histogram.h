// Collectives of a block: histogram of items over BINS bins, counted in shared memory.
#pragma once
#include "block.h"

template <int BINS>
struct block_histogram_storage {
    u32 count[BINS];
};

// Sets all bins to zero.
//   Called by   all threads of the block
//   Result      in the storage, for any thread
template <int BINS>
FUNCTION void block_histogram_begin(block_histogram_storage<BINS>& s)
{
    for (u32 b = thread_id(); b < BINS; b += SIMT_THREADS) s.count[b] = 0;
    block_sync();
}

// Counts N items by their bins; items whose bin is BINS or more are ignored.
//   Called by   any threads, any number of times after block_histogram_begin
//   Result      in s.count, after the next block_sync
template <int BINS, int N>
FUNCTION void block_histogram_add(const u32 (&bin)[N], block_histogram_storage<BINS>& s)
{
    UNROLL
    for (int j = 0; j < N; j++)
        if (bin[j] < BINS) shared_add(&s.count[bin[j]], 1);
}

// Computes the histogram of one tile: block_histogram_begin, then block_histogram_add.
//   Called by   all threads of the block
//   Result      in s.count, for any thread
//   Storage     may be used again after the next block_sync
template <int BINS, int N>
FUNCTION void block_histogram(const u32 (&bin)[N], block_histogram_storage<BINS>& s)
{
    block_histogram_begin(s);
    block_histogram_add(bin, s);
    block_sync();
}
