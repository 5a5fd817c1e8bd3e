// Collectives of a block: stable merge sort of a tile by comparisons, with any order.
//
// Each thread sorts its own items. Then runs of neighbouring threads are merged pairwise, and the
// runs double in length each time; every thread merges an equal share of the merged run. A binary
// search along the merge path finds the beginning of each share (Green, McColl and Bader, "GPU
// Merge Path", ICS 2012).
#pragma once
#include "block_exchange.h"

struct less {
    template <class V>
    FUNCTION_MEMBER bool operator()(V a, V b) const
    {
        return a < b;
    }
};

// Returns a mask of 64 items with the bits of all but the first `count` set.
FUNCTION u64 bits_behind(u32 count) { return count < 64 ? ~0ull << count : 0; }

// Sorts a thread's items, with a value for each, by odd-even transposition, which is stable. An
// item whose bit is set in `apart` never changes places with the one before it. With
// bits_behind(count) the items from `count` on stay where they are; other masks divide the items
// into stretches that are sorted separately.
//   Called by   any thread by itself; before(a, b) is a strict weak order
//   Result      in place
template <class T, class V, int N, class Op>
FUNCTION void thread_sort_pairs(T (&item)[N], V (&value)[N], u64 apart, Op before)
{
    UNROLL
    for (int round = 0; round < N; round++) {
        UNROLL
        for (int i = round % 2; i + 1 < N; i += 2)
            if (!(apart >> (i + 1) & 1u) && before(item[i + 1], item[i])) {
                const T low = item[i + 1];
                const V of_low = value[i + 1];
                item[i + 1] = item[i];
                value[i + 1] = value[i];
                item[i] = low;
                value[i] = of_low;
            }
    }
}

// Sorts a thread's items, without values.
template <class T, int N, class Op>
FUNCTION void thread_sort(T (&item)[N], Op before)
{
    struct nothing {
    } none[N];
    thread_sort_pairs(item, none, 0, before);
}

// Returns the number of items that come from the first range among the first `diagonal` items of
// the merge of [first, middle) and [middle, end), both sorted. Equal items come from the first
// range first.
//   Called by   any thread by itself
template <class T, class Op>
FUNCTION u32 merge_path(const T* items, u32 first, u32 middle, u32 end, u32 diagonal, Op before)
{
    u32 low = diagonal > end - middle ? diagonal - (end - middle) : 0;
    u32 high = diagonal < middle - first ? diagonal : middle - first;
    while (low < high) {
        const u32 probe = (low + high) / 2;
        if (before(items[middle + diagonal - 1 - probe], items[first + probe]))
            high = probe;
        else
            low = probe + 1;
    }
    return low;
}

// Merges N items from that diagonal on, and gives the index of each in `items`. Past the end of the
// input the items are undefined. With PART the first `skipped` items of `out` and those past the
// end keep their values.
//   Called by   any thread by itself
//   Result      out and from, in the calling thread
template <bool PART = false, class T, int N, class Op>
FUNCTION void thread_merge(const T* items, u32 first, u32 middle, u32 end, u32 diagonal,
                           T (&out)[N], u32 (&from)[N], Op before, u32 skipped = 0)
{
    const u32 crossing = merge_path(items, first, middle, end, diagonal, before);
    u32 i = first + crossing, j = middle + diagonal - crossing;
    const u32 both = i + j; // and one more with every item: j follows from i
    T a{}, b{};
    if (i < middle) a = items[i];
    if (j < end) b = items[j];
    UNROLL
    for (int k = 0; k < N; k++) {
        if (PART && static_cast<u32>(k) - skipped >= end - first - diagonal) continue;
        const bool second = i >= middle || (j < end && before(b, a));
        out[k] = second ? b : a;
        from[k] = second ? j : i;
        i += !second;
        j = PART ? j + second : both + static_cast<u32>(k) + 1 - i;
        const u32 at = second ? j : i;
        T next = b;
        // Past the end other threads may be writing. A part may be empty.
        if (PART && k + 1 < N && at < end) next = items[at];
        if (!PART && k + 1 < N) next = items[at < end - 1 ? at : end - 1];
        a = second ? a : next;
        b = second ? next : b;
    }
}

template <class T, int N>
struct block_merge_storage {
    T item[SIMT_THREADS * N];
};

// Sorts the tile by before(a, b), a strict weak order; N items a thread, blocked before and after.
// For pairs T is a struct of key and value. Fill a partial tile up with items that come after all
// others.
//   Called by   all threads of the block
//   Result      in each thread, in place
//   Storage     may be used again after the next block_sync
template <class T, int N, class Op>
FUNCTION void block_merge_sort(T (&item)[N], Op before, block_merge_storage<T, N>& s)
{
    u32 from[N];
    thread_sort(item, before);
    for (u32 width = 1; width < SIMT_THREADS; width *= 2) { // threads that hold one sorted run
        block_sync();
        UNROLL
        for (int j = 0; j < N; j++) s.item[blocked_index<N>(j)] = item[j];
        block_sync();
        const u32 first = thread_id() & ~(2 * width - 1); // the first thread of the two runs
        const u32 middle = first + width < SIMT_THREADS ? first + width : SIMT_THREADS;
        const u32 end = middle + width < SIMT_THREADS ? middle + width : SIMT_THREADS;
        thread_merge(s.item, first * N, middle * N, end * N, (thread_id() - first) * N, item, from,
                     before);
    }
}
