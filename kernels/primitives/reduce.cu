// Reduction of n items to one, in a single launch.
//
// Each block reduces its share of the items and sends its partial result as a message (message.h;
// the blocks of a small grid may be one cluster, cluster.h). The block of the highest rank collects
// the messages in the order of the blocks. It takes its ticket before it reads its items, which
// hides the ticket's latency, and it waits only for blocks that are running. Latency dominates
// short inputs, also that of fetching instructions from memory, so that all partial steps share a
// single, short path.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:32:4 cpu=128:1024:128
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 128:1024:32 cpu=1:1:1
// %RANGE% TUNE_ITEMS_PER_VECTOR_LOG2 ipv 0:4:1 cpu=3:7:1
// %RANGE% TUNE_LOAD ld 0:2:1 cpu=0:0:1
// %RANGE% TUNE_STRIP_MINE sm 0:1:1 cpu=0:0:1
// %RANGE% TUNE_WAVES wav 1:6:1 cpu=1:16:1
// %RANGE% TUNE_MIN_STEPS ms 1:1:1 cpu=1:64:1
// %RANGE% TUNE_ORDER ord 0:2:1 cpu=0:0:1
//
// ipt   items that a thread loads before it uses them
// ipv   items a vector load (log2); each place of a vector has its own accumulator, if there is
//       room;
//       bytes are added or compared several at a time (bytes.h)
// ld    caching of the loads, see load_bytes16
// sm    1: strip mining, neighbouring blocks read neighbouring memory; 0: each block reads one
//       contiguous share, as it always does if the operator is not commutative
// wav   blocks, in multiples of those resident at once
// ms    least steps a block: with fewer, another block costs more than it helps
// ord   way of communication between blocks, see message.h
//
// Traffic: n items are read, one is written. The grid depends on n, the variant and the device
// alone, so that a result is the same from run to run.
#include "block.h"
#include "bytes.h"
#include "cluster.h"
#include "input.h"
#include "integer.h"
#include "message.h"
#include "operator.h"
#include "single_thread_arg.h"

DEFINE_INPUT(TUNE_IN, in_t, item_t)

enum {
    VECTOR = 1 << TUNE_ITEMS_PER_VECTOR_LOG2,
    LOADS = TUNE_ITEMS_PER_THREAD / VECTOR,
    STRIP_MINE = TUNE_COMMUTATIVE && TUNE_STRIP_MINE,
    // One accumulator if the order matters, otherwise enough to keep the operations independent.
    MOST = SIMT_ACCUMULATOR_BYTES / static_cast<int>(sizeof(acc_t)),
    ACCUMULATORS = !TUNE_COMMUTATIVE ? 1
                   : VECTOR < MOST   ? VECTOR
                   : MOST > 1        ? MOST / 2 * 2
                                     : 1,
    FOLD_BYTES = TUNE_BYTES && VECTOR % 4 == 0 && !SIMT_SINGLE_THREAD
};

static_assert(sizeof(acc_t) == TUNE_ACC_BYTES, "the descriptor has made room for these messages");

struct reduce_args {
    in_t in;
    out_t* out;
    u64 n;
    u64 steps;     // steps of every block
    u64* messages; // one per block
    initial_t init;
    u64 has_init;
};

struct reduce_shared {
    block_reduce_storage<acc_t> reduce;
    ticket block_ticket;
    acc_t block_sum;
    cluster_inbox<acc_t, SIMT_WARPS> inbox;
};

// Returns the index, counted in vectors, of vector `load` of this thread in a step.
FUNCTION u64 vector_index(const reduce_args& a, u64 step, int load)
{
    const u64 block = block_id();
    if constexpr (!TUNE_COMMUTATIVE) // a thread's vectors are neighbours
        return ((block * a.steps + step) * SIMT_THREADS + thread_id()) * LOADS +
               static_cast<u64>(load);
    else if constexpr (STRIP_MINE)
        return ((step * LOADS + static_cast<u64>(load)) * block_count() + block) * SIMT_THREADS +
               thread_id();
    else
        return ((block * a.steps + step) * LOADS + static_cast<u64>(load)) * SIMT_THREADS +
               thread_id();
}

// Adds the vectors of one step to the accumulators. WHOLE: all of them exist. Otherwise the items
// of a partial vector are added one by one.
template <bool WHOLE>
FUNCTION void reduce_step(const reduce_args& a, u64 step, acc_t (&acc)[ACCUMULATORS],
                          byte_fold& bytes)
{
    item_t item[LOADS][VECTOR];
    UNROLL
    for (int l = 0; l < LOADS; l++) {
        const u64 first = vector_index(a, step, l) * VECTOR;
        if (WHOLE || first + VECTOR <= a.n) load_input<TUNE_LOAD>(a.in, first, item[l]);
    }
    UNROLL
    for (int l = 0; l < LOADS; l++) {
        const u64 first = vector_index(a, step, l) * VECTOR;
        if (FOLD_BYTES && (WHOLE || first + VECTOR <= a.n))
            bytes.take(item[l]);
        else if (HAS_INDEX && SIMT_SINGLE_THREAD && (WHOLE || first + VECTOR <= a.n))
            acc[0] = accumulate_batch(acc[0], item[l], first);
        else if (WHOLE || first + VECTOR <= a.n) {
            UNROLL
            for (int j = 0; j < VECTOR; j++) {
                acc_t& sum = acc[j % ACCUMULATORS];
                sum = accumulate(sum, item[l][j], first + static_cast<u64>(j));
            }
        }
    }
    if constexpr (!WHOLE && VECTOR > 1) {
        const u64 part = a.n - a.n % VECTOR;
        u64 i = a.n;
        UNROLL
        for (int l = 0; l < LOADS; l++)
            if (vector_index(a, step, l) * VECTOR == part) i = part;
        NO_UNROLL
        for (; i < a.n; i++) acc[0] = accumulate(acc[0], input_item(a.in, i), i);
    }
}

FUNCTION bool step_is_whole(const reduce_args& a, u64 step)
{
    const u64 tile = static_cast<u64>(SIMT_THREADS) * LOADS * VECTOR;
    const u64 last = STRIP_MINE ? (step + 1) * block_count() : block_id() * a.steps + step + 1;
    return last * tile <= a.n;
}

// Collects the blocks' sums with warp 0, without barriers, if there are few blocks. The block's own
// sum is not sent.
FUNCTION void collect_few(const reduce_args& a, ticket mine, acc_t sum)
{
    if (warp_id() != 0) return; // no barrier follows
    mine = warp_shuffle(mine, 0);
    sum = warp_shuffle(sum, 0);
    if (mine.rank + 1 != block_count()) return;
    if (lane_id() >= block_count())
        sum = acc_identity();
    else if (lane_id() != block_id())
        sum = message_wait<acc_t>(a.messages, lane_id(), mine);
    sum = warp_reduce(sum, combine());
    if (lane_id() == 0) {
        close_tickets(a.messages, mine);
        write_result(a, 0, sum);
    }
}

// Collects the warps' sums of a grid that is one cluster, without barriers and without combining
// each block's sums first.
FUNCTION void collect_in_cluster(const reduce_args& a, reduce_shared& s, acc_t sum)
{
    const u32 last = block_count() - 1, count = block_count() * SIMT_WARPS;
    sum = warp_reduce(sum, combine());
    if (lane_id() == 0) inbox_send(s.inbox, last, sum, warp_id());
    if (block_id() != last || warp_id() != 0) return;
    const u32 share = ceil_div(count, SIMT_WARP), first = lane_id() * share;
    sum = acc_identity();
    inbox_wait(s.inbox);
    NO_UNROLL
    for (u32 w = first; w < first + share && w < count; w++)
        sum = combine()(sum, inbox_value(s.inbox, w));
    sum = warp_reduce(sum, combine());
    if (lane_id() == 0) write_result(a, 0, sum);
}

FUNCTION void collect_many(const reduce_args& a, reduce_shared& s, ticket mine, acc_t sum)
{
    if (thread_id() == 0) {
        s.block_ticket = mine;
        s.block_sum = sum;
    }
    block_sync();
    mine = s.block_ticket;
    const bool last = mine.rank + 1 == block_count();
    const u64 share = ceil_div(block_count(), SIMT_THREADS);
    const u64 first = thread_id() * share;
    sum = acc_identity();
    NO_UNROLL
    for (u64 b = first; last && b < first + share && b < block_count(); b++)
        sum = combine()(sum,
                        b == block_id() ? s.block_sum : message_wait<acc_t>(a.messages, b, mine));
    if (last) sum = block_reduce(sum, combine(), s.reduce);
    if (last && thread_id() == 0) {
        close_tickets(a.messages, mine);
        write_result(a, 0, sum);
    }
}

KERNEL(reduce_blocks, reduce_args, reduce_shared)
{
    ticket mine{}; // in a register of thread 0: no load of the items waits for it
    const bool clustered = in_one_cluster();
    if (clustered)
        inbox_open(s.inbox, block_id() + 1 == block_count() ? block_count() * SIMT_WARPS : 0);
    else if (thread_id() == 0)
        mine = take_ticket(a.messages);

    acc_t acc[ACCUMULATORS];
    UNROLL
    for (int j = 0; j < ACCUMULATORS; j++) acc[j] = acc_identity();
    byte_fold bytes;
    bytes.begin();
    acc_t sum = acc_identity();
    for (u64 step = 0; step < a.steps; step++) {
        if (step_is_whole(a, step))
            reduce_step<true>(a, step, acc, bytes);
        else
            reduce_step<false>(a, step, acc, bytes);
        if constexpr (!TUNE_COMMUTATIVE) { // the next step's items follow those of all threads
            sum = combine()(sum, block_reduce(acc[0], combine(), s.reduce)); // in thread 0
            acc[0] = acc_identity();
            block_sync();
        }
    }
    cluster_ready();
    if constexpr (TUNE_COMMUTATIVE) {
        if constexpr (FOLD_BYTES) sum = bytes.result();
        UNROLL
        for (int j = 0; j < ACCUMULATORS; j++) sum = combine()(sum, acc[j]);
    } else if (thread_id() != 0) {
        sum = acc_identity();
    }
    if (clustered) {
        collect_in_cluster(a, s, sum);
        return;
    }
    if constexpr (TUNE_COMMUTATIVE) sum = block_reduce(sum, combine(), s.reduce);
    if (block_count() == 1) {
        if (thread_id() == 0) {
            close_tickets(a.messages, mine);
            write_result(a, 0, sum);
        }
        return;
    }
    if (thread_id() == 0)
        message_send(a.messages, block_id(), sum, message_tag(mine, MESSAGE_COMPLETE));
    if (!SIMT_SINGLE_THREAD && block_count() <= SIMT_WARP) // a lane has no others to collect from
        collect_few(a, mine, sum);
    else
        collect_many(a, s, mine, sum);
}
