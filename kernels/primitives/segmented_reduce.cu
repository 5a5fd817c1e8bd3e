// Reduction of every segment of an array, of any lengths.
//
// Segments of many items on the average are reduced by teams of lanes or by blocks (team_reduce.h),
// as the mean length and the number of segments say. A segment that is much longer is left to a
// second launch, in which warps reduce its chunks (segment_teams.h). If there is none, that launch
// returns at once. If there are so few items that a block soon reads all, no segment is too long.
//
// Short segments are reduced in a single launch. Blocks get equal shares of items plus ends of
// segments (segments.h). A block processes its share in windows of as many items as it holds. A
// window within one segment is accumulated as in reduce.cu. Any other window is transposed through
// shared memory, so that a thread has contiguous items. The thread reduces them one after the
// other; at the last item of a segment, which a bit marks, it stores the sum and starts again. A
// segmented scan of the remaining sums completes the segments that began in other threads. Then
// results are written coalesced, one thread a segment. So an item costs the same wherever the ends
// are.
//
// The first segment of a share may have begun in earlier shares. A block sends its part of the
// segment that continues after its share. A block whose share ends the segment looks back
// (lookback.h) over the blocks without an end. The order of these additions depends on the offsets
// and the grid alone, so that a result is the same from run to run.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:32:4 cpu=1024:16384:1024
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:32 cpu=1:1:1
// %RANGE% TUNE_MIN_BLOCKS mb 1:6:1 cpu=1:1:1
// %RANGE% TUNE_ITEMS_PER_VECTOR_LOG2 ipv 0:4:1 cpu=3:7:1
// %RANGE% TUNE_LOAD ld 0:2:1 cpu=0:0:1
// %RANGE% TUNE_ENDS_PER_THREAD ept 1:8:1 cpu=1:1:1
// %RANGE% TUNE_WAVES wav 1:8:1 cpu=1:16:1
// %RANGE% TUNE_LOOK lb 1:4:1 cpu=1:1:1
//
// ipt   items a thread in a window; on the CPU the least share of a block
// mb    least blocks a multiprocessor, which limits the registers a thread
// ipv   items a vector load (log2)
// ld    caching of the loads, see load_bytes16
// ept   ends of segments a thread: a window with more of them ends early
// wav   blocks, in multiples of those resident at once
// lb    tiles that a lane looks back at in one round, see lookback.h
//
// Traffic: the items and the offsets are read, one item a segment is written.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#define TUNE_ORDER 0 // a block waits for earlier shares, whose blocks must have started
#define TUNE_POLL_DELAY 50
#define TUNE_FIRST_DELAY 0
#include "block.h"
#include "input.h"
#include "lookback.h"
#include "operator.h"
#include "segments.h"
#include "single_thread_reduce.h"

DEFINE_INPUT(TUNE_IN, in_t, item_t)

enum : u32 { NONE = ~0u };
enum {
    VECTOR = 1 << TUNE_ITEMS_PER_VECTOR_LOG2,
    ITEMS = TUNE_ITEMS_PER_THREAD,
    LOADS = ITEMS / VECTOR,
    WINDOW = ITEMS * SIMT_THREADS,
    ENDS = TUNE_ENDS_PER_THREAD * SIMT_THREADS,
    WORDS = WINDOW / 32 + 2,
    // Parts of neighbouring threads are an odd number of 16 bytes apart, which avoids bank
    // conflicts.
    PART_BYTES = ITEMS * static_cast<int>(sizeof(item_t)),
    PART = PART_BYTES % 32 == 0 ? ITEMS + 16 / static_cast<int>(sizeof(item_t)) : ITEMS,
    MOST = SIMT_ACCUMULATOR_BYTES / static_cast<int>(sizeof(acc_t)),
    ACCUMULATORS = VECTOR < MOST ? VECTOR
                   : MOST > 1    ? MOST / 2 * 2
                                 : 1
};

#include "team_reduce.h"

static_assert(sizeof(acc_t) == TUNE_ACC_BYTES, "the descriptor has made room for these messages");
static_assert(SIMT_SINGLE_THREAD || ITEMS <= 32, "a bit for each item of a thread");

// Chunk of a long segment, which has `count` of them from number `first` on.
struct long_chunk {
    u64 segment;
    u32 first, count;
};
static_assert(sizeof(long_chunk) == 16, "the descriptor has made room for chunks");

struct segmented_reduce_args {
    in_t in;
    out_t* out;
    segments set;
    u64* messages; // one per block; of teams: the number of chunks
    // Teams:
    u64 team_log2; // lanes of a team: up to a warp; more: the team is a block
    u64 turns;     // in each a warp, or the block, takes as many segments as it has teams
    u64 longest;   // most items of a segment that a team reduces
    u64 chunk;     // items of a longer one that a warp reduces
    u64 capacity;  // chunks that there is room for
    u64* counts;   // blocks done, then the sums done of each long segment
    long_chunk* chunks;
    warp_words<acc_t>* sums; // of chunks
    initial_t init;
    u64 has_init;
};

union window_items {
    item_t item[SIMT_SINGLE_THREAD ? 1 : PART * SIMT_THREADS];
    bytes16 alignment;
};

struct segmented_reduce_shared {
    window_items items;
    ticket block_ticket;
    place begin, end; // block's share
    acc_t first;      // the share's part of its first segment
    block_reduce_storage<acc_t> reduce;
    // Data of a window:
    u32 last[SIMT_SINGLE_THREAD ? 1 : WORDS];     // one bit an item: the last of a piece
    u16 rank[SIMT_SINGLE_THREAD ? 1 : WINDOW];    // rank of the piece, for such an item
    acc_t sum[SIMT_SINGLE_THREAD ? 1 : ENDS + 1]; // sums of pieces; last: items before the window's
    acc_t warp_left[SIMT_WARPS];                  // remaining sum after the warp's last piece
    u32 warp_has_last[SIMT_WARPS];
    u32 ends; // number of segments that end in the window
    u32 open; // rank of the piece whose segment continues, or NONE
    u32 cut;  // end of the last segment that there is room for
};

// Writes a segment's result from the reduction of its items.
FUNCTION void write_result(const segmented_reduce_args& a, u64 segment, acc_t sum, bool empty)
{
#if defined(TUNE_ARG)
    (void)empty;
    if (sum.index >= 0) sum.index -= static_cast<i64>(segment_begin(a.set, segment));
#else
    sum = a.has_init ? combine()(acc_of_value(static_cast<value_t>(a.init)), sum)
                     : acc_of_segment(sum, empty);
#endif
    a.out[segment] = acc_result(sum);
}

// Writes the result of a segment, but keeps the sum of the share's first segment, which needs the
// parts of earlier shares.
FUNCTION void write_or_keep(const segmented_reduce_args& a, segmented_reduce_shared& s, u64 segment,
                            acc_t sum, bool empty)
{
    if (segment == s.begin.segment)
        s.first = sum;
    else
        write_result(a, segment, sum, empty);
}

// ---- windows inside a segment -------------------------------------------------------------------
// Returns the place of a window's item in shared memory.
FUNCTION u32 room_of(u32 item) { return item / ITEMS * PART + item % ITEMS; }

// Returns the first item of the thread's l-th vector of a window.
FUNCTION u32 vector_at(int l)
{
    return (static_cast<u32>(l) * SIMT_THREADS + thread_id()) * VECTOR;
}

// Reduces whole windows with a commutative operator. The result is valid in thread 0.
FUNCTION acc_t reduce_windows(const segmented_reduce_args& a, segmented_reduce_shared& s, u64 first,
                              u64 windows)
{
    acc_t acc[ACCUMULATORS];
    UNROLL
    for (int j = 0; j < ACCUMULATORS; j++) acc[j] = acc_identity();
    for (u64 w = 0; w < windows; w++, first += WINDOW) {
        item_t item[LOADS][VECTOR];
        UNROLL
        for (int l = 0; l < LOADS; l++) load_input<TUNE_LOAD>(a.in, first + vector_at(l), item[l]);
        UNROLL
        for (int l = 0; l < LOADS; l++) {
            const u64 at = first + vector_at(l);
            UNROLL
            for (int j = 0; j < VECTOR; j++) {
                acc_t& sum = acc[j % ACCUMULATORS];
                sum = accumulate(sum, item[l][j], at + static_cast<u64>(j));
            }
        }
    }
    UNROLL
    for (int j = 1; j < ACCUMULATORS; j++) acc[0] = combine()(acc[0], acc[j]);
    return block_reduce(acc[0], combine(), s.reduce);
}

// ---- a window with ends -------------------------------------------------------------------------
// Bits of the segments whose ends a thread handles. A piece is the part of a segment in the window.
struct pieces {
    u32 any;   // the window has items of it
    u32 ends;  // the segment ends in the window
    u32 empty; // the segment is empty
};
FUNCTION bool has(u32 bits, int k) { return bits >> k & 1u; }

FUNCTION u32 my_rank(int k) { return static_cast<u32>(k) * SIMT_THREADS + thread_id(); }

FUNCTION void mark_last(segmented_reduce_shared& s, u32 item, u32 rank)
{
    s.rank[item] = static_cast<u16>(rank);
    shared_or(&s.last[item / 32], 1u << item % 32);
}

// Returns an item's index in the window, clamped to [low, high].
FUNCTION u32 index_in(u64 window, u64 item, u32 low, u32 high)
{
    const u64 index = item > window ? item - window : 0;
    return index < low ? low : index < high ? static_cast<u32>(index) : high;
}

// Finds the pieces of the ENDS segments from the window's first segment on, and marks the last item
// of each. Indices count from the window's beginning.
FUNCTION pieces find_pieces(const segmented_reduce_args& a, segmented_reduce_shared& s, place at,
                            u64 window, u32 window_end)
{
    const u64 last_segment = s.end.segment;
    const u32 first = static_cast<u32>(at.item - window);
    const u32 most = s.end.item - window > WINDOW ? WINDOW + 1 : window_end;
    pieces mine{0, 0, 0};
    UNROLL
    for (int k = 0; k < TUNE_ENDS_PER_THREAD; k++) {
        const u32 rank = my_rank(k);
        const u64 segment = at.segment + rank;
        bool ends = false;
        if (segment <= last_segment) {
            const u64 segment_first = segment_begin(a.set, segment);
            const u32 begin = index_in(window, segment_first, first, most);
            u32 end = most;
            if (segment < last_segment) {
                const u64 behind = segment_end(a.set, segment);
                end = index_in(window, behind, first, most);
                ends = end <= window_end;
                mine.ends |= static_cast<u32>(ends) << k;
                mine.empty |= static_cast<u32>(behind <= segment_first) << k;
            }
            if (ends && rank + 1 == ENDS) s.cut = end;
            if (end > window_end) end = window_end;
            if (end > begin) {
                mine.any |= 1u << k;
                mark_last(s, end - 1, rank);
                if (!ends) s.open = rank;
            }
        }
        const u32 lanes = warp_ballot(FULL_WARP, ends);
        if (lane_id() == 0 && lanes) shared_add(&s.ends, count_set(lanes));
    }
    if (first > 0 && thread_id() == 0) mark_last(s, first - 1, ENDS);
    return mine;
}

FUNCTION u32 bits_from(const u32* words, u32 first)
{
    const u64 two = words[first / 32] | static_cast<u64>(words[first / 32 + 1]) << 32;
    return static_cast<u32>(two >> first % 32) & (0xffffffffu >> (32 - ITEMS));
}

// Reduces the thread's items. Stores the sums of the pieces that end among them, and returns the
// sum of the items after the last such end.
FUNCTION acc_t reduce_part(segmented_reduce_shared& s, u64 window, u32 last)
{
    const u32 part = thread_id() * ITEMS;
    acc_t sum = acc_identity();
    UNROLL
    for (u32 l = 0; l < LOADS; l++) {
        item_t item[VECTOR];
        load_items<0>(s.items.item + thread_id() * PART + l * VECTOR, item);
        UNROLL
        for (u32 j = 0; j < VECTOR; j++) {
            const u32 i = l * VECTOR + j;
            sum = accumulate(sum, item[j], window + part + i);
            if (last >> i & 1u) {
                s.sum[s.rank[part + i]] = sum;
                sum = acc_identity();
            }
        }
    }
    return sum;
}

// Completes the first sum of each thread with the remaining sums of the threads before it.
FUNCTION void join_parts(segmented_reduce_shared& s, acc_t left, u32 last)
{
    const u32 lanes = warp_ballot(FULL_WARP, last != 0);
    const acc_t through = warp_segmented_scan(left, lanes, combine());
    acc_t before = warp_shuffle(through, lane_id() - 1);
    if (lane_id() == 0) before = acc_identity();
    if (lane_id() == SIMT_WARP - 1) {
        s.warp_left[warp_id()] = through;
        s.warp_has_last[warp_id()] = lanes != 0;
    }
    block_sync();
    const u32 warp = lane_id() < SIMT_WARPS ? lane_id() : 0;
    const u32 warps = warp_ballot(FULL_WARP, lane_id() < SIMT_WARPS && s.warp_has_last[warp]);
    const acc_t warps_through = warp_segmented_scan(s.warp_left[warp], warps, combine());
    const acc_t before_warp = warp_shuffle(warps_through, warp_id() - 1);
    if (last) {
        const bool reaches_back = (lanes & ((1u << lane_id()) - 1u)) == 0;
        if (reaches_back && warp_id() > 0) before = combine()(before_warp, before);
        acc_t& sum = s.sum[s.rank[thread_id() * ITEMS + first_set(last)]];
        sum = combine()(before, sum);
    }
}

// Reduces one window from `at` on. `carry`, in thread 0, is the sum of that segment's earlier
// items.
FUNCTION void reduce_window(const segmented_reduce_args& a, segmented_reduce_shared& s, place& at,
                            acc_t& carry)
{
    const u64 window = at.item / VECTOR * VECTOR, left = s.end.item - window;
    u32 window_end = left < WINDOW ? static_cast<u32>(left) : WINDOW;
    const bool has_items = window + window_end > at.item;
    item_t item[LOADS][VECTOR];
    const u64 readable = a.set.items - window, whole = readable / VECTOR * VECTOR;
    UNROLL
    for (int l = 0; l < LOADS; l++)
        if (vector_at(l) < whole) load_input<TUNE_LOAD>(a.in, window + vector_at(l), item[l]);
    for (u32 w = thread_id(); w < WORDS; w += SIMT_THREADS) s.last[w] = 0;
    if (thread_id() == 0) {
        s.ends = 0;
        s.open = NONE;
    }
    block_sync();
    const pieces mine = find_pieces(a, s, at, window, window_end);
    UNROLL
    for (int l = 0; l < LOADS; l++)
        if (vector_at(l) < whole) store_items(s.items.item + room_of(vector_at(l)), item[l]);
    if (whole < WINDOW && thread_id() < readable - whole) {
        const u32 item_behind = static_cast<u32>(whole) + thread_id();
        s.items.item[room_of(item_behind)] = input_item(a.in, window + item_behind);
    }
    block_sync();
    const u32 ends = s.ends, open = s.open;
    if (ends == ENDS) window_end = s.cut;
    if (has_items) {
        const u32 last = bits_from(s.last, thread_id() * ITEMS);
        join_parts(s, reduce_part(s, window, last), last);
    }
    block_sync();
    UNROLL
    for (int k = 0; k < TUNE_ENDS_PER_THREAD; k++) {
        if (!has(mine.ends, k)) continue;
        acc_t sum = has(mine.any, k) ? s.sum[my_rank(k)] : acc_identity();
        if (my_rank(k) == 0) sum = combine()(carry, sum);
        write_or_keep(a, s, at.segment + my_rank(k), sum, has(mine.empty, k));
    }
    const acc_t goes_on = open == NONE ? acc_identity() : s.sum[open];
    carry = ends ? goes_on : combine()(carry, goes_on);
    at = place{at.segment + ends, window + window_end};
}

// Reduces the block's share. Returns, in thread 0, the sum of the items after its last end.
FUNCTION acc_t reduce_share(const segmented_reduce_args& a, segmented_reduce_shared& s)
{
    place at = s.begin;
    const place end = s.end;
    acc_t carry = acc_identity();
    while (at.item < end.item || at.segment < end.segment) {
        u64 inside = end.item; // items before it are in one segment
        if (at.segment < end.segment) inside = smaller(inside, segment_end(a.set, at.segment));
        if (TUNE_COMMUTATIVE && at.item % VECTOR == 0 && inside >= at.item + WINDOW) {
            const u64 windows = (inside - at.item) / WINDOW;
            carry = combine()(carry, reduce_windows(a, s, at.item, windows));
            at.item += windows * WINDOW;
        } else
            reduce_window(a, s, at, carry);
    }
    return carry;
}

// ---- single thread ------------------------------------------------------------------------------
FUNCTION acc_t single_thread_reduce_share(const segmented_reduce_args& a,
                                          segmented_reduce_shared& s)
{
    u64 item = s.begin.item;
    for (u64 segment = s.begin.segment; segment < s.end.segment; segment++) {
        const u64 end = smaller(larger(segment_end(a.set, segment), item), s.end.item);
        write_or_keep(a, s, segment, single_thread_reduce(a.in, item, end, 0), end <= item);
        item = end;
    }
    return single_thread_reduce(a.in, item, s.end.item, 0);
}

// ---- the blocks ---------------------------------------------------------------------------------
// Takes the block's share; shares are in the order of the tickets.
FUNCTION ticket take_share(const segmented_reduce_args& a, segmented_reduce_shared& s)
{
    if (thread_id() == 0) s.block_ticket = take_ticket_in_order(a.messages);
    block_sync();
    const ticket mine = s.block_ticket;
    for (u32 side = warp_id(); side < 2; side += SIMT_WARPS) { // one warp a side, if there are two
        const place at = share_begin(a.set, mine.rank + side);
        if (lane_id() == 0) (side ? s.end : s.begin) = at;
    }
    block_sync();
    return mine;
}

KERNEL(segmented_reduce_shares, segmented_reduce_args, segmented_reduce_shared)
{
    const ticket mine = take_share(a, s);
    acc_t left;
    if constexpr (SIMT_SINGLE_THREAD)
        left = single_thread_reduce_share(a, s);
    else
        left = reduce_share(a, s);
    block_sync();
    const bool has_end = s.begin.segment < s.end.segment;
    if (thread_id() == 0) {
        if (mine.rank + 1 == block_count()) close_tickets(a.messages, mine);
        message_send(
            a.messages, mine.rank, left,
            message_tag(mine, has_end || mine.rank == 0 ? MESSAGE_COMPLETE : MESSAGE_PARTIAL));
    }
    if (warp_id() == 0 && has_end) {
        acc_t sum = s.first;
        const u64 segment = s.begin.segment, first = segment_begin(a.set, segment);
        if (mine.rank > 0 && first < s.begin.item)
            sum = combine()(look_back<acc_t>(a.messages, mine.rank, mine, combine()), sum);
        const bool empty = segment_end(a.set, segment) <= first;
        if (lane_id() == 0) write_result(a, segment, sum, empty);
    }
}

// ---- teams --------------------------------------------------------------------------------------
// A single thread takes shares alone.
#include "segment_teams.h"

KERNEL(segmented_reduce_teams, segmented_reduce_args, segment_teams_shared)
{
    clear_counts(a);
    if constexpr (!SIMT_SINGLE_THREAD) reduce_segments(a, s);
}

KERNEL(segmented_reduce_blocks, segmented_reduce_args, segment_teams_shared)
{
    if constexpr (!SIMT_SINGLE_THREAD) reduce_segment_of_block(a, s);
    clear_counts(a);
}

KERNEL(segmented_reduce_chunks, segmented_reduce_args, segment_teams_shared)
{
    (void)s;
    const u64 taken = static_cast<u32>(load_relaxed(a.messages));
    if (taken == 0) return;
    if constexpr (!SIMT_SINGLE_THREAD) reduce_chunks(a, taken < a.capacity ? taken : a.capacity);
    block_sync();
    if (thread_id() == 0 && atomic_add(a.counts, 1) + 1 == block_count()) { // for the next call
        const u64 word = load_relaxed(a.messages);
        store_relaxed(a.messages, ((word >> 32) + 1) << 32);
    }
}
