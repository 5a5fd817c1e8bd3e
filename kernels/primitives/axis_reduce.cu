// Reduction along an axis that is not the last: [outer][rows][columns] becomes [outer][columns].
//
// Neighbouring threads take neighbouring columns, so that their loads are contiguous, and each
// thread goes down the rows. A block's threads are laid out as `wide` column strips, `high` rows
// and `deep` outer slices. If there are few columns, several rows of threads share them, and their
// partial results are combined in shared memory. If there are too few columns to fill the device,
// several blocks share the rows, and a second, small launch combines their partial results in the
// order of the rows. The descriptor derives the layout from the shape alone, so a result is the
// same from run to run.
//
// TUNE_DETERMINISTIC 1 makes the result deterministic: `high`, `splits` and the order in which rows
// are combined are the same for every variant and device. Row r of a split goes to accumulator r %
// high. Neighbouring accumulators are combined first. 32 splits or more are divided into 32 equal
// shares, which are combined as the lanes of a warp are. The error of a sum of n rows, to first
// order:
//     |error| <= (n / (splits high) + log2(high) + splits / 32 + 6) u sum|x|
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:32:4
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:64
// %RANGE% TUNE_ITEMS_PER_VECTOR_LOG2 ipv 0:4:1
// %RANGE% TUNE_LOAD ld 0:2:1
// %RANGE% TUNE_WAVES wav 1:8:1
//
// ipt   items that a thread loads before it uses them
// ipv   items a vector load (log2), if rows begin on multiples of 16 bytes
// ld    caching of the loads, see load_bytes16
// wav   least number of blocks, in multiples of those resident at once; with fewer, blocks share
//       rows
//
// Traffic: all items are read, one item a column is written.
#include "input.h"
#include "operator.h"
#include "warp.h"

DEFINE_INPUT(TUNE_IN, in_t, item_t)

#include "axis_reduce_part.h"

enum {
    STRIP = TUNE_WHOLE_CHUNKS ? 1 << TUNE_ITEMS_PER_VECTOR_LOG2 : 1,
    LOADS = TUNE_ITEMS_PER_THREAD / STRIP
};

struct axis_reduce_shared {
    acc_t acc[SIMT_THREADS * STRIP];
};

// Adds up to LOADS rows: first, first + stride, ...
template <bool WHOLE, class In>
FUNCTION void reduce_rows(const axis_reduce_args& a, const In& in, u64 first, u64 stride, u64 end,
                          acc_t (&acc)[STRIP])
{
    item_t item[LOADS][STRIP];
    UNROLL
    for (int l = 0; l < LOADS; l++) {
        const u64 row = first + static_cast<u64>(l) * stride;
        if (WHOLE || row < end) load_input<TUNE_LOAD>(in, row * a.columns, item[l]);
    }
    UNROLL
    for (int l = 0; l < LOADS; l++) {
        const u64 row = first + static_cast<u64>(l) * stride;
        if (WHOLE || row < end) {
            UNROLL
            for (int j = 0; j < STRIP; j++) acc[j] = accumulate(acc[j], item[l][j], row);
        }
    }
}

// Reduces the rows of this row of threads: every high-th row if the operator is commutative, a
// contiguous share otherwise.
template <class In>
FUNCTION void reduce_thread(const axis_reduce_args& a, const part& p, u64 row_of_threads,
                            const In& in, acc_t (&acc)[STRIP])
{
    const u64 share = ceil_div(p.end - p.begin, a.high);
    const u64 stride = TUNE_COMMUTATIVE ? a.high : 1;
    u64 row = p.begin + row_of_threads * (TUNE_COMMUTATIVE ? 1 : share), end = p.end;
    if (!TUNE_COMMUTATIVE && row + share < end) end = row + share;
    for (; row + (LOADS - 1) * stride < end; row += LOADS * stride)
        reduce_rows<true>(a, in, row, stride, end, acc);
    if (row < end) reduce_rows<false>(a, in, row, stride, end, acc);
}

KERNEL(axis_reduce_parts, axis_reduce_args, axis_reduce_shared)
{
    const part p = part_of(a, STRIP);
    const u32 wide = static_cast<u32>(a.wide), high = static_cast<u32>(a.high);
    const u32 across = thread_id() % wide, down = thread_id() / wide % high;
    const u64 outer = p.outer + thread_id() / (wide * high), strip = p.strip + across;
    const bool active =
        thread_id() < a.wide * a.high * a.deep && outer < a.outer && strip * STRIP < a.columns;
    acc_t acc[STRIP];
    UNROLL
    for (int j = 0; j < STRIP; j++) acc[j] = acc_identity();
    if (active)
        reduce_thread(a, p, down, input_from(a.in, outer * a.rows * a.columns + strip * STRIP),
                      acc);
    for (u32 d = 1; d < high; d *= 2) { // neighbours first: keeps the order of the rows
        acc_t* const mine = s.acc + thread_id() * STRIP;
        UNROLL
        for (int j = 0; j < STRIP; j++) mine[j] = acc[j];
        block_sync();
        if (active && down % (2 * d) == 0 && down + d < high) {
            UNROLL
            for (int j = 0; j < STRIP; j++)
                acc[j] = combine()(acc[j], mine[d * wide * STRIP + static_cast<u32>(j)]);
        }
        block_sync();
    }
    if (active && down == 0) {
        UNROLL
        for (int j = 0; j < STRIP; j++)
            write_part(a, p, outer * a.columns + strip * STRIP + static_cast<u64>(j), acc[j]);
    }
}

// ---- parts to results ---------------------------------------------------------------------------
// Combines the partial results of the splits: one thread a column, or one warp if there are many.
KERNEL(axis_reduce_join, axis_reduce_args, axis_reduce_shared)
{
    (void)s;
    const u64 columns = a.outer * a.columns, lanes = a.splits < SIMT_WARP ? 1 : SIMT_WARP;
    const u64 share = ceil_div(a.splits, lanes), first = thread_id() % lanes * share;
    const u64 thread = static_cast<u64>(block_id()) * SIMT_THREADS + thread_id();
    const u64 stride = static_cast<u64>(block_count()) * SIMT_THREADS / lanes;
    for (u64 column = thread / lanes; column < columns; column += stride) {
        acc_t sum = acc_identity();
        for (u64 split = first; split < first + share && split < a.splits; split++)
            sum = combine()(sum, a.parts[split * columns + column]);
        if (lanes > 1) sum = warp_reduce(sum, combine());
        if (lanes == 1 || lane_id() == 0) write_result(a, column, sum);
    }
}
