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

// Sorts a thread's items: neighbours change places where they are out of order (odd-even
// transposition), so it is stable.
//   Called by   any thread by itself; before(a, b) is a strict weak order
//   Result      in place
template <class T, int N, class Op>
FUNCTION void thread_sort(T (&item)[N], Op before)
{
    UNROLL
    for (int round = 0; round < N; round++) {
        UNROLL
        for (int i = round % 2; i + 1 < N; i += 2) {
            const T low = item[i], high = item[i + 1];
            const bool swap = before(high, low);
            item[i] = swap ? high : low;
            item[i + 1] = swap ? low : high;
        }
    }
}

// How many of the first `diagonal` items merged come from [a, a + count_a), the others from [b, b +
// count_b); equal ones come from a first.
//   Called by   any thread by itself
template <class T, class Op>
FUNCTION u32 merge_path(const T* a, u32 count_a, const T* b, u32 count_b, u32 diagonal, Op before)
{
    u32 low = diagonal > count_b ? diagonal - count_b : 0;
    u32 high = diagonal < count_a ? diagonal : count_a;
    while (low < high) {
        const u32 middle = (low + high) / 2;
        if (before(b[diagonal - 1 - middle], a[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// The N items merged from there on, which exist.
//   Called by   any thread by itself
//   Result      out, in the calling thread
template <class T, int N, class Op>
FUNCTION void thread_merge(const T* a, u32 count_a, const T* b, u32 count_b, u32 diagonal,
                           T (&out)[N], Op before)
{
    u32 i = merge_path(a, count_a, b, count_b, diagonal, before), j = diagonal - i;
    UNROLL
    for (int k = 0; k < N; k++) {
        const bool from_b = i == count_a || (j < count_b && before(b[j], a[i]));
        out[k] = from_b ? b[j] : a[i];
        i += !from_b;
        j += from_b;
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
    thread_sort(item, before);
    for (u32 width = 1; width < SIMT_THREADS; width *= 2) { // threads whose items are a sorted run
        block_sync();
        UNROLL
        for (int j = 0; j < N; j++) s.item[blocked_index<N>(j)] = item[j];
        block_sync();
        const u32 first = thread_id() & ~(2 * width - 1); // thread of the two runs
        const u32 middle = first + width < SIMT_THREADS ? first + width : SIMT_THREADS;
        const u32 end = middle + width < SIMT_THREADS ? middle + width : SIMT_THREADS;
        thread_merge(s.item + first * N, (middle - first) * N, s.item + middle * N,
                     (end - middle) * N, (thread_id() - first) * N, item, before);
    }
}
