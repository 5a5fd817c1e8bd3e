// Tiles of a scan along an axis (axis_scan.cu), and their places in memory. A tile is a band of
// the rows of some columns; tiles are numbered along the rows first and then down, so that those
// above one start before it. Columns are in strips, which have a message for each band.
//
// The file that includes it has defined the input in_t and included operator.h.
#pragma once
#include "input.h"
#include "integer.h"
#include "message.h"
#include "operator.h"

struct axis_scan_args {
    in_t in;
    out_t* out;
    u64 outer, rows, columns;
    u64 wide, high, deep; // layout of a block; of a single thread columns, rows, slices
    u64* messages;        // [band][outer][strip], if a column has several tiles
    initial_t init;
    u64 has_init;
};

// Tile of a block: a band of rows, column strips and outer slices.
struct tile {
    u64 strips;       // of a row
    u64 band, bands;  // of the column's tiles
    u64 strip, outer; // the first
    ticket mine;
};

FUNCTION tile take_tile(const axis_scan_args& a, ticket& shared, u64 strip_columns, u64 tile_rows)
{
    tile t;
    t.strips = ceil_div(a.columns, strip_columns);
    t.bands = ceil_div(a.rows, tile_rows);
    t.mine = t.bands > 1 ? take_block_ticket(a.messages, shared) : ticket{0, block_id()};
    const u64 across = ceil_div(t.strips, a.wide), sideways = across * ceil_div(a.outer, a.deep);
    const u64 rest = t.mine.rank % sideways;
    t.band = t.mine.rank / sideways;
    t.strip = rest % across * a.wide;
    t.outer = rest / across * a.deep;
    return t;
}

// Ends the launch's epoch; called once by one thread of each block. Where ranks are indices, the
// last block to call it does, else that of the highest rank.
FUNCTION void end_tile(const axis_scan_args& a, const tile& t)
{
    if (t.bands == 1) return;
    if constexpr (RANK_IS_INDEX)
        close_after_all(a.messages, t.mine, block_count());
    else if (t.mine.rank + 1ull == block_count())
        close_tickets(a.messages, t.mine);
}

FUNCTION u64 message_of(const axis_scan_args& a, const tile& t, u64 band, u64 outer, u64 strip)
{
    return (band * a.outer + outer) * t.strips + strip;
}
