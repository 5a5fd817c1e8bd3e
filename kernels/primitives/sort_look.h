// Number of items of each bin in the tiles before a tile: decoupled look-back over a row of
// counters a tile (Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled
// Look-back", NVR-2016-002).
//
// The cost is the counters read: RADIX of them a row, and more rows the more blocks there are. So a
// counter is a single word whose highest bits are its status, without the tags of message.h;
// instead all rows are zero before the first pass.
//     TUNE_LOOK   rows that are read at once
#pragma once
#include "message.h"
#include "sort.h"

enum { STATUS_BIT = 8 * sizeof(offset_t) - 2 };

FUNCTION offset_t counter_of(offset_t count, message_status status)
{
    return count | static_cast<offset_t>(status) << STATUS_BIT;
}
FUNCTION u32 status_of(offset_t counter) { return static_cast<u32>(counter >> STATUS_BIT); }
FUNCTION offset_t count_of(offset_t counter)
{
    return counter & ((static_cast<offset_t>(1) << STATUS_BIT) - 1);
}

FUNCTION offset_t* row_of(const sort_args& a, u64 tile) { return a.rows + tile * RADIX; }

// Returns the number of items of a bin in the tiles before this one. The first tile never calls it.
FUNCTION offset_t look_back(const sort_args& a, u64 tile, u32 bin)
{
    offset_t before = 0;
    for (u64 nearest = tile;;) {
        offset_t counter[TUNE_LOOK];
        UNROLL
        for (u32 q = 0; q < TUNE_LOOK;
             q++) // rows before the first tile, which is complete, are not used
            counter[q] = load_relaxed(row_of(a, nearest > q ? nearest - 1 - q : 0) + bin);
        u32 known = 0;
        bool complete = false;
        UNROLL
        for (u32 q = 0; q < TUNE_LOOK; q++)
            if (!complete && known == q && status_of(counter[q]) != MESSAGE_NONE) {
                before += count_of(counter[q]);
                known++;
                complete = status_of(counter[q]) == MESSAGE_COMPLETE;
            }
        if (complete) return before;
        if (!known) spin_pause();
        nearest -= known;
    }
}
