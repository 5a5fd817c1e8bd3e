// Reduction of each row of a matrix: along the last axis, or of segments of one size.
//
// A team of threads reduces a row: a power of two of lanes, as few as hold a row's vectors in their
// registers at once, or a block. So a warp has many short rows in flight, and needs no barrier. If
// there are too few rows for all blocks, several blocks share a row, and a second, small launch
// combines their parts. The descriptor derives the layout from the shape alone, so a result is the
// same from run to run.
//
// Rows need not begin at a multiple of a vector. A team loads the vectors that lie within its row
// as such, and the few items at both ends one by one, at the same time. So an array need not begin
// at one either: `shift` items are missing before it.
//
// %RANGE% TUNE_LOADS_PER_THREAD lpt 1:16:1
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:32
// %RANGE% TUNE_MIN_BLOCKS mb 1:8:1
// %RANGE% TUNE_ITEMS_PER_VECTOR_LOG2 ipv 0:4:1
// %RANGE% TUNE_LOAD ld 0:2:1
// %RANGE% TUNE_WAVES wav 1:16:1
//
// lpt   vectors that a thread loads before it uses them
// mb    least blocks a multiprocessor, which limits the registers a thread
// ipv   items a vector load (log2)
// ld    caching of the loads, see load_bytes16
// wav   most blocks, in multiples of those resident at once
//
// Traffic: all items are read, one per row is written.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#include "block.h"
#include "input.h"
#include "operator.h"

DEFINE_INPUT(TUNE_IN, in_t, item_t)

#include "row_reduce_share.h"

enum {
    VECTOR = 1 << TUNE_ITEMS_PER_VECTOR_LOG2,
    LOADS = TUNE_LOADS_PER_THREAD,
    // One accumulator if the order matters, otherwise enough to keep the operations independent.
    MOST = SIMT_ACCUMULATOR_BYTES / static_cast<int>(sizeof(acc_t)),
    ACCUMULATORS = !TUNE_COMMUTATIVE ? 1
                   : VECTOR < MOST   ? VECTOR
                   : MOST > 1        ? MOST / 2 * 2
                                     : 1
};

#include "team_reduce.h"

struct row_reduce_shared {
    block_reduce_storage<acc_t> reduce;
};

// A thread's vectors of a step are neighbours, and steps are combined one after the other.
FUNCTION acc_t reduce_in_order(const row_reduce_args& a, row_reduce_shared& s, const share& part,
                               member m)
{
    const u64 begin = part.row * a.length + part.at + a.shift;
    const run_ends e = ends_of_run(begin, part.count);
    const auto in = input_from(a.in, begin);
    acc_t sum = acc_identity();
    u32 k = 0;
    for (; m.rank == 0 && k < e.before; k++)
        sum = accumulate(sum, input_item(in, static_cast<u64>(k)), part.at + k);
    u32 v = m.rank * LOADS;
    for (u32 step = 0; step < a.share_items / VECTOR;
         step += m.team * LOADS) { // as often in any team
        acc_t acc[ACCUMULATORS] = {acc_identity()};
        const u32 first = e.before + v * VECTOR;
        add_vectors<false>(input_from(a.in, begin + first), part.at + first, 1,
                           v < e.vectors ? e.vectors - v : 0, acc);
        v += m.team * LOADS;
        sum = combine()(sum, team_reduce(acc[0], m, s.reduce));
    }
    for (; m.rank == 0 && k < e.all(); k++)
        sum = accumulate(sum, input_item(in, static_cast<u64>(e.at(k))), part.at + e.at(k));
    return sum;
}

KERNEL(row_reduce_parts, row_reduce_args, row_reduce_shared)
{
    const u32 log2 = static_cast<u32>(a.team_log2);
    const bool together = 1u << log2 > SIMT_WARP;
    const member m{together ? thread_id() : lane_id() & ((1u << log2) - 1u),
                   together ? SIMT_THREADS : 1u << log2};
    const u64 count = a.rows * a.splits;
    NO_UNROLL
    for (u64 turn = block_id(); turn < a.turns; turn += block_count()) {
        u64 number = turn;
        if (!together)
            number = (turn + a.turns * warp_id()) * (SIMT_WARP >> log2) + (lane_id() >> log2);
        share part{0, 0, 0, 0};
        if (number < count) part = share_of(a, number);
        acc_t sum;
        const u64 begin = part.row * a.length + part.at + a.shift;
        if constexpr (TUNE_COMMUTATIVE)
            sum =
                team_reduce(reduce_in_any_order(a.in, begin, part.count, part.at, m), m, s.reduce);
        else
            sum = reduce_in_order(a, s, part, m);
        if (m.rank == 0 && number < count) write_part(a, part.row, part.split, sum);
    }
}

KERNEL(row_reduce_join, row_reduce_args, row_reduce_shared)
{
    (void)s;
    join_parts(a);
}
