// How many items of each bin the tiles before a tile have: decoupled look-back of a row of counters
// a tile (Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back",
// NVR-2016-002).
//
// What it costs is the counters that are read, RADIX of them a row back, and the more rows the more
// blocks there are. So a counter is a bare word whose highest bits are its status, without the tags
// of message.h; instead all rows are zero before the first pass.
//     TUNE_LOOK    rows that are asked at once
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

// How many items of a bin the tiles before this one have; the first tile never asks.
FUNCTION offset_t look_back(const sort_args& a, u64 tile, u32 bin)
{
    offset_t before = 0;
    for (u64 nearest = tile;;) {
        offset_t counter[TUNE_LOOK];
        UNROLL
        for (u32 q = 0; q < TUNE_LOOK;
             q++) // the first tile is complete: what is before is not used
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
