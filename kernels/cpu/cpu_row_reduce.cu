// Reduction of each row of a matrix on the CPU: a single thread reduces one share of a row after
// the other.
//
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 1:1:1
// %RANGE% TUNE_ITEMS_PER_VECTOR_LOG2 ipv 3:7:1
// %RANGE% TUNE_WAVES wav 1:16:1
// %GONE% lpt 1
// %GONE% mb 1
// %GONE% ld 0
//
// ipv   items of a vector (log2), see single_thread_reduce.h
// wav   most blocks, in multiples of those resident at once
//
// Traffic: all items are read, one per row is written.
#include "input.h"
#include "operator.h"

DEFINE_INPUT(TUNE_IN, in_t, item_t)

#include "row_reduce_share.h"
#include "single_thread_reduce.h"

KERNEL(row_reduce_parts, row_reduce_args, no_shared)
{
    (void)s;
    const u64 each = ceil_div(a.rows * a.splits, block_count()), first = block_id() * each;
    const u64 left = a.rows * a.splits - first, n = left < each ? left : each;
    const u64 end = first < a.rows * a.splits ? first + n : first;
    for (u64 number = first; number < end; number++) {
        const share part = share_of(a, number);
        const u64 row = part.row * a.length, begin = row + part.at;
        write_part(a, part.row, part.split,
                   single_thread_reduce(a.in, begin, begin + part.count, row));
    }
}

KERNEL(row_reduce_join, row_reduce_args, no_shared)
{
    (void)s;
    join_parts(a);
}
