// Collectives of a block: a tile sorted by comparisons, stably, with any order.
//
// Each thread sorts its own items; then runs of neighbouring threads are merged, twice as many
// threads each time, every thread its share of the merged run. Where the shares begin is found by a
// binary search along the merge path (Green, McColl and Bader, "GPU Merge Path", ICS 2012).
#pragma once
#include "block_exchange.h"

struct less {
    template <class V>
    FUNCTION_MEMBER bool operator()(V a, V b) const
    {
        return a < b;
    }
};

// The bits of at most 64 items but for the first `count`.
FUNCTION u64 bits_behind(u32 count) { return count < 64 ? ~0ull << count : 0; }

// Sorts a thread's items, and what goes along with each: neighbours change places where they are
// out of order (odd-even transposition), so it is stable. An item whose bit is set in `apart` never
// changes places with the one before it: with bits_behind(count) the others stay, and other bits
// divide the items into stretches that are sorted each by itself.
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

// The same of all items alone.
template <class T, int N, class Op>
FUNCTION void thread_sort(T (&item)[N], Op before)
{
    struct nothing {
    } none[N];
    thread_sort_pairs(item, none, 0, before);
}

// How many of the first `diagonal` items merged of [first, middle) and [middle, end), sorted both,
// come from the first range; equal ones come from it first.
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

// The N items merged from there on, and where each was. Behind the last come items that mean
// nothing. If they are a PART of `out`, behind `skipped` others, all else in it stays.
//   Called by   any thread by itself
//   Result      out and from, in the calling thread
template <bool PART = false, class T, int N, class Op>
FUNCTION void thread_merge(const T* items, u32 first, u32 middle, u32 end, u32 diagonal,
                           T (&out)[N], u32 (&from)[N], Op before, u32 skipped = 0)
{
    const u32 crossing = merge_path(items, first, middle, end, diagonal, before);
    u32 i = first + crossing, j = middle + diagonal - crossing;
    T a{}, b{};
    if (i < middle) a = items[i];
    if (j < end) b = items[j];
    UNROLL
    for (int k = 0; k < N; k++) {
        if (PART && static_cast<u32>(k) - skipped >= end - first - diagonal) continue;
        const bool second = i >= middle || (j < end && before(b, a));
        out[k] = second ? b : a;
        from[k] = second ? j++ : i++;
        const u32 at = second ? j : i;
        T next = b;
        if (k + 1 < N && at < end) next = items[at]; // past the end others may be writing
        a = second ? a : next;
        b = second ? next : b;
    }
}

template <class T, int N>
struct block_merge_storage {
    T item[SIMT_THREADS * N];
};

// The tile in the order of before(a, b), a strict weak order; N items a thread, blocked before and
// after. For pairs T is a struct of key and value. Fill a part of a tile with what nothing comes
// after.
//   Called by   all threads of the block
//   Result      in each thread, in place
//   Storage     may be used again after the next block_sync
template <class T, int N, class Op>
FUNCTION void block_merge_sort(T (&item)[N], Op before, block_merge_storage<T, N>& s)
{
    u32 from[N];
    thread_sort(item, before);
    for (u32 width = 1; width < SIMT_THREADS; width *= 2) { // threads whose items are a sorted run
        block_sync();
        UNROLL
        for (int j = 0; j < N; j++) s.item[blocked_index<N>(j)] = item[j];
        block_sync();
        const u32 first = thread_id() & ~(2 * width - 1); // thread of the two runs
        const u32 middle = first + width < SIMT_THREADS ? first + width : SIMT_THREADS;
        const u32 end = middle + width < SIMT_THREADS ? middle + width : SIMT_THREADS;
        thread_merge(s.item, first * N, middle * N, end * N, (thread_id() - first) * N, item, from,
                     before);
    }
}
