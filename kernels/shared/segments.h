// Segments of an array: their bounds, and their equal division among blocks.
//
// A share is a stretch of a path that passes every item and every end of a segment, one step each,
// so that equal shares are equal work whatever the segments' lengths are (Merrill and Garland,
// "Merge-based Parallel Sparse Matrix-Vector Multiplication", SC 2016). The beginning of a share is
// found by searching the offsets; without offsets it is a division.
//
// Offsets come from the caller's device memory and are not trusted: each is clamped to the array,
// and whatever they are, places and shares stay inside the arrays.
//
//     TUNE_EQUAL_SIZE  1: there are no offsets, all segments have the same size
//     TUNE_OFFSETS     type of the offsets, which may be lazy (TUNE_BOUNDS... of input.h)
//     TUNE_OWN_ENDS    1: segments have ends of their own, of the type TUNE_ENDS, which may be lazy
//                      (TUNE_LAST...); they may lie in any order, overlap and have gaps between
//                      them, so that there are no shares; an end before its beginning is the
//                      beginning
#pragma once
#include "input.h"
#include "integer.h"
#include "warp.h"

typedef TUNE_OFFSETS segment_offset_t;
#if !defined(TUNE_BOUNDS_LAZY)
#define TUNE_BOUNDS_LAZY 0
#endif
DEFINE_INPUT(TUNE_BOUNDS, segment_bounds, segment_offset_t)
#if !defined(TUNE_OWN_ENDS)
#define TUNE_OWN_ENDS 0
#endif
#if TUNE_OWN_ENDS
DEFINE_INPUT(TUNE_LAST, segment_ends, TUNE_ENDS)
#endif

struct segments {
    segment_bounds offsets; // count + 1, rising: a segment ends where the next begins
    u64 size;               // size of every segment if there are no offsets
    u64 count;
    u64 items; // items of the array
#if TUNE_OWN_ENDS
    segment_ends ends; // count; then there are as many offsets
#endif
};

// Returns a place inside the array.
FUNCTION u64 place_inside(const segments& g, i64 at)
{
    return at < 0 ? 0 : static_cast<u64>(at) < g.items ? static_cast<u64>(at) : g.items;
}

FUNCTION u64 segment_begin(const segments& g, u64 segment)
{
    if constexpr (TUNE_EQUAL_SIZE) return segment * g.size;
#if TUNE_BOUNDS_LAZY
    const i64 at = input_item(g.offsets, segment);
#else
    const i64 at = g.offsets[segment];
#endif
    return place_inside(g, at);
}

FUNCTION u64 segment_end(const segments& g, u64 segment)
{
#if TUNE_OWN_ENDS && TUNE_LAST_LAZY
    return place_inside(g, input_item(g.ends, segment));
#elif TUNE_OWN_ENDS
    return place_inside(g, g.ends[segment]);
#else
    return segment_begin(g, segment + 1);
#endif
}

FUNCTION u64 larger(u64 a, u64 b) { return a > b ? a : b; }
FUNCTION u64 smaller(u64 a, u64 b) { return a < b ? a : b; }

// Returns the number of offsets below `item`, to all lanes of the calling warp, which probe
// SIMT_WARP offsets at once.
FUNCTION u64 offsets_below(const segments& g, u64 item)
{
    if constexpr (TUNE_EQUAL_SIZE) return ceil_div(item, g.size);
    u64 low = 0, high = g.count + 1;
    while (low < high) {
        const u64 span = high - low, probe = low + span * (lane_id() + 1) / (SIMT_WARP + 1);
        const u32 below = count_set(warp_ballot(FULL_WARP, segment_begin(g, probe) < item));
        if (below < SIMT_WARP) high = low + span * (below + 1) / (SIMT_WARP + 1);
        if (below > 0) low += span * below / (SIMT_WARP + 1) + 1;
    }
    return low;
}

// Returns the number of offsets up to `item`, to the calling thread. It is between low and high.
FUNCTION u64 offsets_up_to(const segments& g, u64 item, u64 low, u64 high)
{
    while (low < high) {
        const u64 middle = low + (high - low) / 2;
        if (segment_begin(g, middle) <= item)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Place between two steps of the path: the ends of the segments before `segment` and the items
// before `item` have been passed.
struct place {
    u64 segment, item;
};

// Returns the place after a number of steps, to all lanes of the calling warp, which probe
// SIMT_WARP ends at once. An end is passed as soon as all items before it are.
FUNCTION place place_after(const segments& g, u64 steps, u64 first_item, u64 last_item)
{
    const u64 items = last_item - first_item;
    u64 low = steps > items ? steps - items : 0, high = smaller(steps, g.count);
    while (low < high) {
        const u64 probe = low + (high - low) * (lane_id() + 1) / (SIMT_WARP + 1);
        const u64 end = larger(segment_end(g, probe), first_item);
        const u32 passed = count_set(warp_ballot(FULL_WARP, end - first_item + probe < steps));
        const u64 span = high - low;
        if (passed < SIMT_WARP) high = low + span * (passed + 1) / (SIMT_WARP + 1);
        if (passed > 0) low += span * passed / (SIMT_WARP + 1) + 1;
    }
    return place{low, first_item + (steps - low)};
}

// Returns the beginning of a block's share, to all lanes of the calling warp. The share of
// block_count() begins at the end of the path.
FUNCTION place share_begin(const segments& g, u64 block)
{
    const u64 first = segment_begin(g, 0), last = larger(segment_begin(g, g.count), first);
    const u64 path = g.count + (last - first);
    const u64 share = ceil_div(path, block_count());
    const u64 steps = smaller(block * share, path);
    if constexpr (!TUNE_EQUAL_SIZE) return place_after(g, steps, first, last);
    const u64 segment = steps / (g.size + 1);
    return place{segment, steps - segment};
}
