// Beginnings of segments in a tile of items, as bits in shared memory.
//
// The offsets that lie in the tile are contiguous: a warp finds the first and the last of them, and
// the block's threads mark them in parallel. So a tile costs a search and its own offsets, whether
// it has a thousand segments, none, or empty ones. Segments of equal size need neither.
#pragma once
#include "segments.h"

template <int ITEMS>
struct segment_heads {
    u64 range[2]; // first and last offset in the tile
    u32 bit[TUNE_EQUAL_SIZE ? 1 : ITEMS / 32 + 1];
};

// Marks the beginnings of segments in the tile of ITEMS items at `first`. Called by all threads of
// the block.
template <int ITEMS>
FUNCTION void mark_segment_heads(const segments& g, u64 first, segment_heads<ITEMS>& s)
{
    if constexpr (!TUNE_EQUAL_SIZE) {
        for (u32 w = thread_id(); w < ITEMS / 32 + 1; w += SIMT_THREADS) s.bit[w] = 0;
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
