// Parts of a reduction along an axis (axis_reduce.cu), and where their results go. A part is rows
// of some columns and outer slices, which a block reduces; where blocks share the rows, a second
// launch joins their results.
//
// The file that includes it has defined the input in_t and included operator.h.
#pragma once
#include "input.h"
#include "integer.h"
#include "operator.h"

static_assert(sizeof(acc_t) == TUNE_ACC_BYTES, "the descriptor has made room for the parts");

struct axis_reduce_args {
    in_t in;
    out_t* out;
    acc_t* parts; // [split][outer][columns], if blocks share the rows
    u64 outer, rows, columns;
    u64 wide, high, deep; // layout of a block's threads
    u64 splits;           // shares of the rows
    initial_t init;
    u64 has_init;
};

// Rows [begin, end) of some columns and outer slices.
struct part {
    u64 split, strip, outer; // the first of the block's column strips and outer slices
    u64 begin, end;
};

FUNCTION part part_of(const axis_reduce_args& a, u64 unit_columns)
{
    const u64 across = ceil_div(ceil_div(a.columns, unit_columns), a.wide);
    const u64 share = ceil_div(a.rows, a.splits), rest = block_id() / a.splits;
    part p{block_id() % a.splits, rest % across * a.wide, rest / across * a.deep, 0, 0};
    p.begin = p.split * share < a.rows ? p.split * share : a.rows;
    p.end = p.begin + share < a.rows ? p.begin + share : a.rows;
    return p;
}

FUNCTION void write_part(const axis_reduce_args& a, const part& p, u64 column, acc_t sum)
{
    if (a.splits == 1)
        write_result(a, column, sum);
    else
        a.parts[p.split * a.outer * a.columns + column] = sum;
}
