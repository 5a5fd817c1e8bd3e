// Shares of the rows of a reduction (row_reduce.cu), and where their results go: if blocks share a
// row, a second launch joins the parts.
//
// The file that includes it has defined the input in_t.
#pragma once
#include "input.h"
#include "integer.h"
#include "operator.h"
#include "warp.h"

static_assert(sizeof(acc_t) == TUNE_ACC_BYTES, "the descriptor has made room for the parts");

struct row_reduce_args {
    in_t in;
    out_t* out;
    acc_t* parts; // [row][split], if blocks share a row
    u64 rows, length;
    u64 shift;               // items between a multiple of 16 bytes and the array's beginning
    u64 team_log2;           // threads that reduce a row: up to a warp; more: the block does
    u64 splits, share_items; // shares of a row, and most items of a share
    u64 turns;               // in each a warp, or the block, takes as many shares as it has teams
    initial_t init;
    u64 has_init;
};

FUNCTION void write_part(const row_reduce_args& a, u64 row, u64 split, acc_t sum)
{
    if (a.splits == 1)
        write_result(a, row, sum, a.length == 0);
    else
        a.parts[row * a.splits + split] = sum;
}

// Share of a row: `count` items from item `at` of the row on.
struct share {
    u64 row, split;
    u64 at;
    u32 count;
};

FUNCTION share share_of(const row_reduce_args& a, u64 number)
{
    if (a.splits == 1) return share{number, 0, 0, static_cast<u32>(a.length)};
    const u64 row = number / a.splits, split = number % a.splits, at = split * a.share_items;
    const u64 left = at < a.length ? a.length - at : 0;
    return share{row, split, at, static_cast<u32>(left < a.share_items ? left : a.share_items)};
}

// Combines the parts of each row in order: one thread a row, or one warp if there are many. All
// threads of the second launch call it.
FUNCTION void join_parts(const row_reduce_args& a)
{
    const u64 lanes = a.splits < SIMT_WARP ? 1 : SIMT_WARP;
    const u64 share = ceil_div(a.splits, lanes);
    const u64 first = thread_id() % lanes * share;
    const u64 thread = static_cast<u64>(block_id()) * SIMT_THREADS + thread_id();
    const u64 stride = static_cast<u64>(block_count()) * SIMT_THREADS / lanes;
    NO_UNROLL
    for (u64 row = thread / lanes; row < a.rows; row += stride) {
        acc_t sum = acc_identity();
        NO_UNROLL
        for (u64 split = first; split < first + share && split < a.splits; split++)
            sum = combine()(sum, a.parts[row * a.splits + split]);
        if (lanes > 1) sum = warp_reduce(sum, combine());
        if (lanes == 1 || lane_id() == 0) write_result(a, row, sum, a.length == 0);
    }
}
