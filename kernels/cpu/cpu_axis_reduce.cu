// Reduction along an axis that is not the last, on the CPU: a single thread keeps the accumulators
// of many columns in memory and adds row after row to them. Where blocks share the rows, a second
// launch joins their results, each thread some of the columns.
//
// Results of TUNE_DETERMINISTIC have the order of axis_reduce.cu.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 256:4096:256
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 1:1:1
// %RANGE% TUNE_WAVES wav 1:8:1
// %GONE% ipv 0
// %GONE% ld 0
//
// ipt   most columns of a part
// wav   least number of blocks, in multiples of those resident at once; with fewer, blocks share
//       rows
//
// Traffic: all items are read, one item a column is written.
#include "deterministic.h"
#include "input.h"
#include "operator.h"

DEFINE_INPUT(TUNE_IN, in_t, item_t)

#include "axis_reduce_part.h"

enum { STRIP = TUNE_ITEMS_PER_THREAD };

struct axis_reduce_shared {
    acc_t acc[STRIP];
};

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

// Reduces a part. Groups of `high` rows are treated as one row of `high` times as many columns,
// whose accumulators are combined at the end.
KERNEL(axis_reduce_parts, axis_reduce_args, axis_reduce_shared)
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

// ---- parts to results ---------------------------------------------------------------------------
// Combines a column's partial results in the order that a warp's lanes would.
FUNCTION acc_t join_as_lanes(const axis_reduce_args& a, u64 column)
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

KERNEL(axis_reduce_join, axis_reduce_args, axis_reduce_shared)
{
    (void)s;
    const u64 columns = a.outer * a.columns;
    for (u64 column = block_id(); column < columns; column += block_count()) {
        if (TUNE_DETERMINISTIC && a.splits >= LANES) {
            write_result(a, column, join_as_lanes(a, column));
            continue;
        }
        acc_t sum = acc_identity();
        for (u64 split = 0; split < a.splits; split++)
            sum = combine()(sum, a.parts[split * columns + column]);
        write_result(a, column, sum);
    }
}
