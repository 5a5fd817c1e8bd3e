// Those who select from a row together, for topk_row.h: a warp, or all threads of a block.
//
// Where each row has a warp, rows are many: the keys that a lane has under way at once decide how
// long they take. Where each has a block, rows are few: its code is fetched from memory, so that
// the shorter is the faster.
//
// All members call the same functions. A function may use the storage of the one before it after
// the next sync of the team.
#pragma once
#include "block.h"
#include "topk_pool.h"

typedef pool_codes<(sizeof(key_t) > 4)>::type row_key;

struct row_span {
    row_key low, high; // both belong to it
};

struct lower_key {
    FUNCTION_MEMBER row_key operator()(row_key a, row_key b) const { return a < b ? a : b; }
};
struct higher_key {
    FUNCTION_MEMBER row_key operator()(row_key a, row_key b) const { return a > b ? a : b; }
};
struct join_row_spans {
    FUNCTION_MEMBER row_span operator()(row_span a, row_span b) const
    {
        return row_span{lower_key()(a.low, b.low), higher_key()(a.high, b.high)};
    }
};

// Sums of a value: of the members before one, and of all.
struct team_sums {
    u32 before, all;
};

// A range of keys, and how many keys lie in those before it.
struct range_begin {
    u32 range, before;
};

struct warp_team {
    enum : u32 { SIZE = SIMT_WARP, AT_ONCE = 8, MOST_READ_AT_ONCE = 16 };
    struct storage {
    };

    FUNCTION_MEMBER u32 rank() const { return lane_id(); }
    FUNCTION_MEMBER void sync() const { warp_sync(FULL_WARP); }

    FUNCTION_MEMBER team_sums sums(u32 value) const
    {
        const u32 through = warp_scan(value, plus());
        return team_sums{through - value, warp_shuffle(through, SIMT_WARP - 1)};
    }

    FUNCTION_MEMBER row_span joined(row_span mine) const
    {
        return row_span{warp_shuffle(warp_reduce(mine.low, lower_key()), 0),
                        warp_shuffle(warp_reduce(mine.high, higher_key()), 0)};
    }

    // Returns what the first member has for which `ends` is true; for it `begins` is true as well,
    // and for none behind it.
    FUNCTION_MEMBER range_begin first_of(bool, bool ends, range_begin mine) const
    {
        const u32 owner = first_set(warp_ballot(FULL_WARP, ends));
        return range_begin{warp_shuffle(mine.range, owner), warp_shuffle(mine.before, owner)};
    }
};

struct block_team {
    enum : u32 { SIZE = SIMT_THREADS, AT_ONCE = 4, MOST_READ_AT_ONCE = 8 };
    struct storage {
        u32 sum[SIMT_WARPS];
        row_span span[SIMT_WARPS];
        range_begin first;
    };
    storage& s;

    FUNCTION_MEMBER u32 rank() const { return thread_id(); }
    FUNCTION_MEMBER void sync() const { block_sync(); }

    // As block_exclusive_sum, and the sum of all of the same reads.
    FUNCTION_MEMBER team_sums sums(u32 value) const
    {
        const u32 through = warp_scan(value, plus());
        if (lane_id() == SIMT_WARP - 1) s.sum[warp_id()] = through;
        block_sync();
        team_sums found{through - value, 0};
        UNROLL
        for (u32 w = 0; w < SIMT_WARPS; w++) {
            if (w < warp_id()) found.before += s.sum[w];
            found.all += s.sum[w];
        }
        return found;
    }

    FUNCTION_MEMBER row_span joined(row_span mine) const
    {
        mine = warp_reduce(mine, join_row_spans());
        if (lane_id() == 0) s.span[warp_id()] = mine;
        block_sync();
        mine = s.span[0];
        UNROLL
        for (u32 w = 1; w < SIMT_WARPS; w++) mine = join_row_spans()(mine, s.span[w]);
        return mine;
    }

    FUNCTION_MEMBER range_begin first_of(bool begins, bool ends, range_begin mine) const
    {
        if (begins && ends) s.first = mine;
        block_sync();
        return s.first;
    }
};
