// Beginnings of segments in a tile of items, as bits in shared memory.
//
// The offsets that lie in the tile are contiguous. If the segments' lengths vary little, they are
// among those around the place that the mean length tells, which the block's threads load at once.
// Otherwise a warp finds the first and the last of them, and the threads mark them in parallel. So
// a tile costs a search and its own offsets, whether it has a thousand segments, none, or empty
// ones. Segments of equal size need neither.
#pragma once
#include "segments.h"

enum : u32 { NOT_FOUND = 0xffffffffu }; // of segment_heads::back

FUNCTION u32 striped_offset(int j) { return thread_id() + static_cast<u32>(j) * SIMT_THREADS; }

template <int ITEMS>
struct segment_heads {
    u64 range[2]; // first and last offset in the tile
    u32 bound[2]; // 1: no offset in the tile is before, behind those that the threads load
    u32 back;     // items before the tile of the segment that lies across its beginning
    u32 bit[TUNE_EQUAL_SIZE ? 1 : ITEMS / 32 + 1];
};

// Offsets [low, low + count) that a block loads, a few a thread.
struct offsets_near {
    enum { EACH = 4, LEAST = 24 }; // of a thread; on either side of where they are expected
    u64 low;
    u32 count; // 0: those of the tile are too many
};

// Returns the offsets that are expected in a tile of ITEMS items at `first`, and as many around
// them as there are threads without one.
template <int ITEMS>
FUNCTION offsets_near expected_offsets(const segments& g, u64 first)
{
    enum { MOST = offsets_near::EACH * SIMT_THREADS };
    const f32 rate = static_cast<f32>(g.count) / static_cast<f32>(g.items);
    const f32 within = static_cast<f32>(ITEMS) * rate;
    if (!(within + 2 * offsets_near::LEAST + 2 <= MOST)) return offsets_near{0, 0};
    const u32 inside = static_cast<u32>(within) + 2;
    const u32 spare = inside < SIMT_THREADS ? (SIMT_THREADS - inside) / 2 : 0;
    const u32 around = spare > offsets_near::LEAST ? spare : offsets_near::LEAST;
    const u64 at = static_cast<u64>(static_cast<f32>(first) * rate);
    const u64 low = at > around ? at - around : 0, high = at + inside + around;
    if (low > g.count) return offsets_near{0, 0};
    return offsets_near{low, static_cast<u32>((high < g.count + 1 ? high : g.count + 1) - low)};
}

// Marks the offsets near the tile, and finds the segment across its beginning. Returns false if
// these may not be all of the tile.
template <int ITEMS>
FUNCTION bool mark_offsets_near(const segments& g, u64 first, offsets_near near,
                                segment_heads<ITEMS>& s)
{
    u64 at[offsets_near::EACH], next[offsets_near::EACH]; // of the offset after it
    UNROLL
    for (int j = 0; j < offsets_near::EACH; j++) {
        const u32 k = striped_offset(j);
        at[j] = k < near.count ? segment_begin(g, near.low + k) : ~0ull;
        next[j] = ~0ull;
        if (lane_id() + 1 == SIMT_WARP && k + 1 < near.count)
            next[j] = segment_begin(g, near.low + k + 1);
    }
    UNROLL
    for (int j = 0; j < offsets_near::EACH; j++) {
        const u32 k = striped_offset(j);
        if (k == 0) s.bound[0] = near.low == 0 || at[j] < first;
        if (k + 1 == near.count)
            s.bound[1] = near.low + near.count > g.count || at[j] >= first + ITEMS;
    }
    if (thread_id() == 0) s.back = NOT_FOUND;
    block_sync();
    if (!s.bound[0] || !s.bound[1]) return false;
    UNROLL
    for (int j = 0; j < offsets_near::EACH; j++) {
        const u64 shuffled = warp_shuffle(at[j], lane_id() + 1);
        if (lane_id() + 1 < SIMT_WARP) next[j] = shuffled;
        if (at[j] <= first && next[j] > first && first - at[j] < NOT_FOUND)
            s.back = static_cast<u32>(first - at[j]);
        const u64 in_tile = at[j] - first;
        if (striped_offset(j) < near.count && in_tile < ITEMS)
            shared_or(&s.bit[in_tile / 32], 1u << in_tile % 32);
    }
    block_sync();
    return true;
}

// Marks the beginnings of segments in the tile of ITEMS items at `first`. Called by all threads of
// the block.
template <int ITEMS>
FUNCTION void mark_segment_heads(const segments& g, u64 first, segment_heads<ITEMS>& s)
{
    if constexpr (!TUNE_EQUAL_SIZE) {
        for (u32 w = thread_id(); w < ITEMS / 32 + 1; w += SIMT_THREADS) s.bit[w] = 0;
        const offsets_near near = expected_offsets<ITEMS>(g, first);
        if (near.count && mark_offsets_near(g, first, near, s)) return;
        if (thread_id() == 0) s.back = NOT_FOUND;
        for (u32 side = warp_id(); side < 2; side += SIMT_WARPS) {
            const u64 at = offsets_below(g, first + (side ? ITEMS : 0));
            if (lane_id() == 0) s.range[side] = at;
        }
        block_sync();
        for (u64 k = s.range[0] + thread_id(); k < s.range[1]; k += SIMT_THREADS) {
            const u64 at = segment_begin(g, k) - first;
            if (at < ITEMS) shared_or(&s.bit[at / 32], 1u << at % 32);
        }
        block_sync();
    }
}

// Flags the thread's items that begin a segment. The tile, which begins at `tile`, is in rows
// (rows.h), and the thread's first item is `first`.
template <int ITEMS, int ROWS, int VECTOR>
FUNCTION void find_segment_heads(const segments& g, const segment_heads<ITEMS>& s, u64 tile,
                                 u64 first, bool (&head)[ROWS][VECTOR])
{
    enum { ROW_ITEMS = SIMT_WARP * VECTOR };
    u64 rest = TUNE_EQUAL_SIZE ? first % g.size : 0; // index of the row's first item in its segment
    const u64 step = TUNE_EQUAL_SIZE ? ROW_ITEMS % g.size : 0;
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        const u32 at = static_cast<u32>(first - tile) + static_cast<u32>(r) * ROW_ITEMS;
        u64 in_segment = rest;
        UNROLL
        for (int j = 0; j < VECTOR; j++) {
            const u32 i = at + static_cast<u32>(j);
            head[r][j] = TUNE_EQUAL_SIZE ? in_segment == 0 : s.bit[i / 32] >> i % 32 & 1u;
            in_segment = in_segment + 1 == g.size ? 0 : in_segment + 1;
        }
        rest += step;
        if (rest >= g.size) rest -= g.size;
    }
    if (first == 0) head[0][0] = true;
}
