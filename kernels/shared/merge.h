// Merge of two sorted ranges along their merge path, by a warp, a block or a single thread. The
// part of one thread of a block is in block_merge.h.
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

enum {
    ITEMS = TUNE_ITEMS_PER_THREAD,
    TILE = ITEMS * SIMT_THREADS,
    PAIRS = TUNE_VALUE_WIDTH > 0,
    ALONE = SIMT_THREADS == 1
};

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

struct order { // order of keys, for block_merge.h
    FUNCTION_MEMBER bool operator()(item_t a, item_t b) const { return goes_before(a, b); }
};

FUNCTION range part_of(range r, u64 first, u64 count)
{
    return range{r.key + first, PAIRS ? r.value + first : r.value, count};
}

FUNCTION target behind(target t, u64 count)
{
    return target{t.key + count, PAIRS ? t.value + count : t.value};
}

// ---- a warp -------------------------------------------------------------------------------------
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

// ---- a block ------------------------------------------------------------------------------------
enum { ROOM = ALONE ? 1 : TILE };

struct tile_shared {
    u64 crossing[2];
    item_t key[ROOM];
    u16 index[PAIRS ? ROOM : 1];
};

FUNCTION u32 own(int i) { return blocked_index<ITEMS>(i); }

FUNCTION void keep_own(tile_shared& s, const item_t (&key)[ITEMS], const u32 (&index)[ITEMS])
{
    UNROLL
    for (int i = 0; i < ITEMS; i++) s.key[own(i)] = key[i];
    if constexpr (PAIRS) {
        UNROLL
        for (int i = 0; i < ITEMS; i++) s.index[own(i)] = static_cast<u16>(index[i]);
    }
}

// Synchronises runs of `threads` threads; a warp barrier suffices within one warp.
FUNCTION void sync_threads(u32 threads)
{
    if (threads <= SIMT_WARP)
        warp_sync(FULL_WARP);
    else
        block_sync();
}

struct parts { // parts of two ranges that merge into one tile
    range a, b;
};

// Returns the parts that merge into [first, first + count). If the comparison is not a strict weak
// order, crossings may decrease; the counts are clamped so that all accesses stay in range.
FUNCTION parts block_parts(range a, range b, u64 first, u64 count, u64 (&crossing)[2])
{
    for (u32 k = warp_id(); k < 2; k += SIMT_WARPS) {
        const u64 at = warp_crossing(a, b, k ? first + count : first);
        if (lane_id() == 0) crossing[k] = at;
    }
    block_sync();
    const u64 begin = crossing[0], end = crossing[1];
    const u64 most = end > begin ? end - begin : 0, taken = most < count ? most : count;
    return parts{part_of(a, begin, taken), part_of(b, first - begin, count - taken)};
}

// Returns item i of two arrays taken as one, the first of which has `middle` items.
template <class T>
FUNCTION const T& at_either(const T* a, const T* b, u32 middle, u32 i)
{
    const T* const array = i < middle ? a : b;
    return array[i < middle ? i : i - middle];
}

// Merges the parts in shared memory: the keys, and the places of their values. The parts have TILE
// items together, or fewer if not WHOLE.
template <bool WHOLE>
FUNCTION void block_merge_keys(parts p, tile_shared& s)
{
    const u32 middle = static_cast<u32>(p.a.count);
    const u32 count = WHOLE ? TILE : middle + static_cast<u32>(p.b.count);
    item_t key[ITEMS];
    u32 from[ITEMS];
    UNROLL
    for (int i = 0; i < ITEMS; i++)
        if (WHOLE || striped_index(i) < count)
            key[i] = at_either(p.a.key, p.b.key, middle, striped_index(i));
    UNROLL
    for (int i = 0; i < ITEMS; i++)
        if (WHOLE || striped_index(i) < count) s.key[striped_index(i)] = key[i];
    block_sync();
    thread_merge(s.key, 0, middle, count, WHOLE || own(0) < count ? own(0) : count, key, from,
                 order());
    block_sync();
    keep_own(s, key, from);
    block_sync();
}

template <bool WHOLE>
FUNCTION void write_merged_values(parts p, target out, const tile_shared& s)
{
    const u32 middle = static_cast<u32>(p.a.count);
    const u32 count = WHOLE ? TILE : middle + static_cast<u32>(p.b.count);
    if constexpr (PAIRS) {
        UNROLL
        for (int i = 0; i < ITEMS; i++)
            if (WHOLE || striped_index(i) < count)
                out.value[striped_index(i)] =
                    at_either(p.a.value, p.b.value, middle, s.index[striped_index(i)]);
    }
}

template <bool WHOLE>
FUNCTION void block_merge(parts p, target out, tile_shared& s)
{
    const u32 count = WHOLE ? TILE : static_cast<u32>(p.a.count + p.b.count);
    block_merge_keys<WHOLE>(p, s);
    UNROLL
    for (int i = 0; i < ITEMS; i++)
        if (WHOLE || striped_index(i) < count) out.key[striped_index(i)] = s.key[striped_index(i)];
    write_merged_values<WHOLE>(p, out, s);
}

// ---- single thread ------------------------------------------------------------------------------
FUNCTION void put(target out, u64 to, range in, u64 from)
{
    out.key[to] = in.key[from];
    if constexpr (PAIRS) out.value[to] = in.value[from];
}

// Returns one of two addresses without a branch, which would often be mispredicted.
template <class T>
FUNCTION const T* choose(bool second, const T* a, const T* b)
{
    const u64 first = reinterpret_cast<u64>(a), other = first ^ reinterpret_cast<u64>(b);
    return reinterpret_cast<const T*>(first ^ (other & (0ull - second)));
}

// Remaining parts of two ranges that items leave at both ends.
struct ends {
    u64 i, j; // items that have left at the fronts
    u64 x, y; // ends of the parts that remain
};

// Writes one item at the front and one at the back. The two chains of loads and comparisons are
// independent of each other.
FUNCTION void merge_step(range a, range b, target out, ends& e)
{
    const bool second = goes_before(b.key[e.j], a.key[e.i]);
    const bool first = goes_before(b.key[e.y - 1], a.key[e.x - 1]);
    const u64 front = e.i + e.j, back = e.x + e.y - 1;
    out.key[front] = *choose(second, a.key + e.i, b.key + e.j);
    out.key[back] = *choose(!first, a.key + e.x - 1, b.key + e.y - 1);
    if constexpr (PAIRS) {
        out.value[front] = *choose(second, a.value + e.i, b.value + e.j);
        out.value[back] = *choose(!first, a.value + e.x - 1, b.value + e.y - 1);
    }
    e.i += !second;
    e.j += second;
    e.x -= first;
    e.y -= !first;
}

// Merges two ranges on a single thread. Steps do not check for the end of a range as long as
// neither can be used up: for half of the shorter range at a time, or for all of ranges of equal
// length. Ranges that are in order already are only copied.
FUNCTION void merge_alone(range a, range b, target out)
{
    ends e = {0, 0, a.count, b.count};
    const bool mixed = a.count && b.count && goes_before(b.key[0], a.key[a.count - 1]);
    if (mixed && a.count == b.count) {
        for (u64 step = 0; step < a.count; step++) merge_step(a, b, out, e);
        return;
    }
    while (mixed) {
        const u64 least = e.x - e.i < e.y - e.j ? e.x - e.i : e.y - e.j;
        if (least < 2) break;
        for (u64 step = 0; step < least / 2; step++) merge_step(a, b, out, e);
    }
    while (mixed && e.i < e.x && e.j < e.y) {
        const bool second = goes_before(b.key[e.j], a.key[e.i]);
        put(out, e.i + e.j, second ? b : a, second ? e.j : e.i);
        e.i += !second;
        e.j += second;
    }
    for (; e.i < e.x; e.i++) put(out, e.i + e.j, a, e.i);
    for (; e.j < e.y; e.j++) put(out, e.i + e.j, b, e.j);
}

// ---- a tile of a merge --------------------------------------------------------------------------
// Writes items [first, first + TILE) of the merged ranges, or those up to their end.
FUNCTION void merge_tile(range a, range b, u64 first, target out, tile_shared& s)
{
    const u64 left = a.count + b.count - first, count = left < TILE ? left : TILE;
    const parts p = block_parts(a, b, first, count, s.crossing);
    if constexpr (ALONE)
        merge_alone(p.a, p.b, behind(out, first));
    else if (count == TILE)
        block_merge<true>(p, behind(out, first), s);
    else
        block_merge<false>(p, behind(out, first), s);
}
