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
// A single thread (the CPU) keeps the accumulators of a strip of many columns in memory and adds
// row after row to them.
//
// TUNE_DETERMINISTIC 1 makes the result deterministic: `high`, `splits` and the order in which rows
// are combined are the same for every variant and device. Row r of a split goes to accumulator r %
// high. Neighbouring accumulators are combined first. 32 splits or more are divided into 32 equal
// shares, which are combined as the lanes of a warp are. The error of a sum of n rows, to first
// order:
//     |error| <= (n / (splits high) + log2(high) + splits / 32 + 6) u sum|x|
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:32:4 cpu=256:4096:256
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:64 cpu=1:1:1
// %RANGE% TUNE_ITEMS_PER_VECTOR_LOG2 ipv 0:4:1 cpu=0:0:1
// %RANGE% TUNE_LOAD ld 0:2:1 cpu=0:0:1
// %RANGE% TUNE_WAVES wav 1:8:1 cpu=1:8:1
//
// ipt   items that a thread loads before it uses them; on the CPU the columns of a strip
// ipv   items a vector load (log2), if rows begin on multiples of 16 bytes
// ld    caching of the loads, see load_bytes16
// wav   least number of blocks, in multiples of those resident at once; with fewer, blocks share
//       rows
//
// Traffic: all items are read, one item a column is written.
#include "deterministic.h"
#include "input.h"
#include "integer.h"
#include "operator.h"

DEFINE_INPUT(TUNE_IN, in_t, item_t)

enum {
    STRIP = SIMT_SINGLE_THREAD  ? TUNE_ITEMS_PER_THREAD
            : TUNE_WHOLE_CHUNKS ? 1 << TUNE_ITEMS_PER_VECTOR_LOG2
                                : 1,
    LOADS = TUNE_ITEMS_PER_THREAD / STRIP
};

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

struct axis_reduce_shared {
    acc_t acc[SIMT_THREADS * STRIP];
};

FUNCTION void write_result(const axis_reduce_args& a, u64 column, acc_t sum)
{
#if !defined(TUNE_ARG)
    if (a.has_init) sum = combine()(acc_of_value(static_cast<value_t>(a.init)), sum);
#endif
    a.out[column] = acc_result(sum);
}

// Part of the input that one block reduces: rows [begin, end) of some columns and outer slices.
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

// ---- threads together ---------------------------------------------------------------------------
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

FUNCTION void reduce_part(const axis_reduce_args& a, axis_reduce_shared& s)
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

// ---- single thread ------------------------------------------------------------------------------
enum { CHUNK = 32, ROWS = 4 }; // columns kept in registers, rows added to them at a time

// Adds COUNT rows, the first of which is `row`, to the accumulators of their columns.
template <int COUNT, class In>
FUNCTION void add_rows(acc_t* acc, const In& in, u64 stride, u64 columns, u64 row)
{
    u64 j = 0;
    for (; j + CHUNK <= columns; j += CHUNK) {
        acc_t sum[CHUNK];
        for (u64 k = 0; k < CHUNK; k++) sum[k] = acc[j + k];
        for (u64 r = 0; r < COUNT; r++) {
            item_t item[CHUNK];
            load_input<0>(in, r * stride + j, item);
            for (u64 k = 0; k < CHUNK; k++) sum[k] = accumulate(sum[k], item[k], row + r);
        }
        for (u64 k = 0; k < CHUNK; k++) acc[j + k] = sum[k];
    }
    for (; j < columns; j++)
        for (u64 r = 0; r < COUNT; r++)
            acc[j] = accumulate(acc[j], input_item(in, r * stride + j), row + r);
}

template <class In>
FUNCTION void add_all_rows(acc_t* acc, const In& in, u64 stride, u64 columns, u64 row, u64 end)
{
    for (; row + ROWS <= end; row += ROWS)
        add_rows<ROWS>(acc, input_from(in, row * stride), stride, columns, row);
    for (; row < end; row++) add_rows<1>(acc, input_from(in, row * stride), stride, columns, row);
}

// Combines `high` rows of accumulators that stand side by side, neighbours first.
FUNCTION void combine_rows(acc_t* acc, u64 high, u64 columns)
{
    for (u64 d = 1; d < high; d *= 2)
        for (u64 row = 0; row + d < high; row += 2 * d)
            for (u64 j = row * columns; j < (row + 1) * columns; j++)
                acc[j] = combine()(acc[j], acc[j + d * columns]);
}

// Reduces a part on a single thread. Groups of `high` rows are treated as one row of `high` times
// as many columns, whose accumulators are combined at the end.
FUNCTION void single_thread_reduce_part(const axis_reduce_args& a, axis_reduce_shared& s)
{
    const part p = part_of(a, STRIP);
    const u64 first = p.strip * STRIP,
              last = p.outer + a.deep < a.outer ? p.outer + a.deep : a.outer;
    const u64 columns = a.columns - first < STRIP ? a.columns - first : STRIP;
    const u64 high = a.high, groups = (p.end - p.begin) / high;
    for (u64 outer = p.outer; outer < last; outer++) {
        const auto in = input_from(a.in, outer * a.rows * a.columns + first);
        u64 rest = p.begin; // the first row that is in no whole group of `high` rows
        for (u64 j = 0; j < columns * high; j++) s.acc[j] = acc_identity();
        if (high > 1) {
            add_all_rows(s.acc, input_from(in, p.begin * a.columns), a.columns * high,
                         columns * high, 0, groups);
            rest += groups * high;
        }
        if (TUNE_DETERMINISTIC && high > 1) {
            add_rows<1>(s.acc, input_from(in, rest * columns), 0, (p.end - rest) * columns, 0);
            combine_rows(s.acc, high, columns);
        } else {
            for (u64 j = columns; j < columns * high; j++)
                s.acc[j % columns] = combine()(s.acc[j % columns], s.acc[j]);
            add_all_rows(s.acc, in, a.columns, columns, rest, p.end);
        }
        for (u64 j = 0; j < columns; j++) write_part(a, p, outer * a.columns + first + j, s.acc[j]);
    }
}

KERNEL(axis_reduce_parts, axis_reduce_args, axis_reduce_shared)
{
    if constexpr (SIMT_SINGLE_THREAD)
        single_thread_reduce_part(a, s);
    else
        reduce_part(a, s);
}

// ---- parts to results ---------------------------------------------------------------------------
// Combines a column's partial results on a single thread in the order that a warp's lanes would.
FUNCTION acc_t single_thread_join(const axis_reduce_args& a, u64 column)
{
    const u64 share = ceil_div(a.splits, LANES);
    acc_t lane[LANES];
    for (u64 l = 0; l < LANES; l++) {
        lane[l] = acc_identity();
        for (u64 split = l * share; split < (l + 1) * share && split < a.splits; split++)
            lane[l] = combine()(lane[l], a.parts[split * a.outer * a.columns + column]);
    }
    return lanes_reduce(lane, LANES, combine());
}

// Combines the partial results of the splits: one thread a column, or one warp if there are many.
KERNEL(axis_reduce_join, axis_reduce_args, axis_reduce_shared)
{
    (void)s;
    const u64 columns = a.outer * a.columns, lanes = a.splits < SIMT_WARP ? 1 : SIMT_WARP;
    const u64 share = ceil_div(a.splits, lanes), first = thread_id() % lanes * share;
    const u64 thread = static_cast<u64>(block_id()) * SIMT_THREADS + thread_id();
    const u64 stride = static_cast<u64>(block_count()) * SIMT_THREADS / lanes;
    for (u64 column = thread / lanes; column < columns; column += stride) {
        if (TUNE_DETERMINISTIC && SIMT_SINGLE_THREAD && a.splits >= LANES) {
            write_result(a, column, single_thread_join(a, column));
            continue;
        }
        acc_t sum = acc_identity();
        for (u64 split = first; split < first + share && split < a.splits; split++)
            sum = combine()(sum, a.parts[split * columns + column]);
        if (lanes > 1) sum = warp_reduce(sum, combine());
        if (lanes == 1 || lane_id() == 0) write_result(a, column, sum);
    }
}
