// Two sorted ranges and their merge path, by which a merge is divided among blocks.
//
// The merge path crosses each diagonal of the grid of the two ranges once. The crossing of diagonal
// d tells how many of the first d merged items come from which range, and a binary search finds it.
// So the merged items are divided evenly among blocks and then among threads, whatever the ranges
// hold (Green, Odeh and Birk, "Merge Path - A Visually Intuitive Approach to Parallel Merging",
// arXiv 1406.2628; Green, McColl and Bader, "GPU Merge Path", ICS 2012). The merge is stable: equal
// items of the first range precede those of the second.
//
// The workload's macros, besides those of order.h:
//     TUNE_VALUE, TUNE_VALUE_WIDTH   a value is that many unsigned words; width 0: keys only
#pragma once
#include "block_merge.h"
#include "order.h"

enum { ITEMS = TUNE_ITEMS_PER_THREAD, TILE = ITEMS * SIMT_THREADS, PAIRS = TUNE_VALUE_WIDTH > 0 };

struct value_t {
    TUNE_VALUE word[PAIRS ? TUNE_VALUE_WIDTH : 1];
};

struct range { // sorted range in global memory
    const item_t* key;
    const value_t* value;
    u64 count;
};

struct target { // destination of merged items
    item_t* key;
    value_t* value;
};

FUNCTION range part_of(range r, u64 first, u64 count)
{
    return range{r.key + first, PAIRS ? r.value + first : r.value, count};
}

FUNCTION target behind(target t, u64 count)
{
    return target{t.key + count, PAIRS ? t.value + count : t.value};
}

// Returns how many of the first `diagonal` merged items come from a. The lanes probe SIMT_WARP
// places at once, which cuts the range into SIMT_WARP + 1 parts: few loads depend on each other.
FUNCTION u64 warp_crossing(range a, range b, u64 diagonal)
{
    u64 low = diagonal > b.count ? diagonal - b.count : 0;
    u64 high = diagonal < a.count ? diagonal : a.count;
    while (low < high) {
        const u64 step = (high - low + SIMT_WARP) / (SIMT_WARP + 1);
        const u64 probe = low + (lane_id() + 1) * step - 1;
        const bool beyond = probe >= high || goes_before(b.key[diagonal - 1 - probe], a.key[probe]);
        const u32 votes = warp_ballot(FULL_WARP, beyond);
        const u32 before = votes ? first_set(votes) : SIMT_WARP; // probes before the crossing
        const u64 next = low + (before + 1ull) * step - 1;
        if (votes && next < high) high = next;
        low += before * step;
    }
    return low;
}

// Returns the same by one thread, which probes three places at once. Many diagonals are searched by
// a thread each: in the end that reads a quarter of the memory that warps read.
FUNCTION u64 thread_crossing(range a, range b, u64 diagonal)
{
    enum { PROBES = 3 };
    u64 low = diagonal > b.count ? diagonal - b.count : 0;
    u64 high = diagonal < a.count ? diagonal : a.count;
    while (low < high) {
        const u64 step = (high - low + PROBES) / (PROBES + 1);
        u32 before = 0; // probes before the crossing
        UNROLL
        for (u32 k = PROBES; k-- > 0;) {
            const u64 probe = low + (k + 1) * step - 1, place = probe < high ? probe : high - 1;
            const bool beyond = goes_before(b.key[diagonal - 1 - place], a.key[place]);
            before = probe >= high || beyond ? k : before > k ? before : k + 1;
        }
        const u64 next = low + (before + 1ull) * step - 1;
        if (before < PROBES && next < high) high = next;
        low += before * step;
    }
    return low;
}

struct parts { // parts of two ranges that merge into one tile
    range a, b;
};

// Returns the parts between two crossings, which merge into [first, first + count). If the
// comparison is not a strict weak order, crossings may decrease; the counts are clamped so that all
// accesses stay in range.
FUNCTION parts parts_between(range a, range b, u64 first, u64 count, u64 begin, u64 end)
{
    const u64 most = end > begin ? end - begin : 0, taken = most < count ? most : count;
    return parts{part_of(a, begin, taken), part_of(b, first - begin, count - taken)};
}

// Returns the parts that merge into [first, first + count), found by the block.
FUNCTION parts block_parts(range a, range b, u64 first, u64 count, u64 (&crossing)[2])
{
    for (u32 k = warp_id(); k < 2; k += SIMT_WARPS) {
        const u64 at = warp_crossing(a, b, k ? first + count : first);
        if (lane_id() == 0) crossing[k] = at;
    }
    block_sync();
    return parts_between(a, b, first, count, crossing[0], crossing[1]);
}

// Returns the same by crossings found beforehand: found[0] of `first`, found[1] of the next tile's.
FUNCTION parts found_parts(range a, range b, u64 first, u64 count, const u64* found)
{
    const bool last = first + count == a.count + b.count;
    return parts_between(a, b, first, count, found[0], last ? a.count : found[1]);
}
