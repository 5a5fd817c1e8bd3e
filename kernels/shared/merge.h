// Merge of two sorted ranges by blocks, each of which merges a tile in shared memory. The part of
// one thread is in block_merge.h.
#pragma once
#include "merge_path.h"

struct tile_shared {
    u64 crossing[2];
    item_t key[TILE];
    u16 index[PAIRS ? TILE : 1];
};

FUNCTION u32 my_item(int i) { return blocked_index<ITEMS>(i); }

FUNCTION void keep_mine(tile_shared& s, const item_t (&key)[ITEMS], const u32 (&index)[ITEMS])
{
    UNROLL
    for (int i = 0; i < ITEMS; i++) s.key[my_item(i)] = key[i];
    if constexpr (PAIRS) {
        UNROLL
        for (int i = 0; i < ITEMS; i++) s.index[my_item(i)] = static_cast<u16>(index[i]);
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

// Returns item i of two arrays taken as one, the first of which has `middle` items.
template <class T>
FUNCTION const T& at_either(const T* a, const T* b, u32 middle, u32 i)
{
    const u64 behind = reinterpret_cast<u64>(b) - middle * sizeof(T); // as if it began where a does
    return reinterpret_cast<const T*>(i < middle ? reinterpret_cast<u64>(a) : behind)[i];
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
    thread_merge(s.key, 0, middle, count, WHOLE || my_item(0) < count ? my_item(0) : count, key,
                 from, order());
    block_sync();
    keep_mine(s, key, from);
    block_sync();
}

// Prefetches the values of the range to the L2 cache, while the keys are merged or sorted.
FUNCTION void prefetch_values(range r)
{
    if constexpr (PAIRS) {
        const u64 begin = reinterpret_cast<u64>(r.value), end = begin + r.count * sizeof(value_t);
        NO_UNROLL
        for (u64 at = begin / 128 * 128 + thread_id() * 128; at < end; at += SIMT_THREADS * 128)
            prefetch_l2(reinterpret_cast<const void*>(at < begin ? begin / 4 * 4 : at));
    }
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
    prefetch_values(p.a);
    prefetch_values(p.b);
    block_merge_keys<WHOLE>(p, s);
    UNROLL
    for (int i = 0; i < ITEMS; i++)
        if (WHOLE || striped_index(i) < count) out.key[striped_index(i)] = s.key[striped_index(i)];
    write_merged_values<WHOLE>(p, out, s);
}

// ---- a tile of a merge --------------------------------------------------------------------------
// Writes items [first, first + TILE) of the merged ranges, or those up to their end. `found` has
// the crossings of this tile and of the next one; where it is NULL, the block searches them.
FUNCTION void merge_tile(range a, range b, u64 first, target out, const u64* found, tile_shared& s)
{
    const u64 left = a.count + b.count - first, count = left < TILE ? left : TILE;
    const parts p = found ? found_parts(a, b, first, count, found)
                          : block_parts(a, b, first, count, s.crossing);
    if (count == TILE)
        block_merge<true>(p, behind(out, first), s);
    else
        block_merge<false>(p, behind(out, first), s);
}
