// Reduction of every segment of an array, of any lengths.
//
// Segments of many items on the average are reduced by teams of lanes or by blocks (team_reduce.h),
// as the mean length and the number of segments say. A segment that is much longer is left to a
// second launch, in which warps reduce its sections (segment_teams.h). If there is none, that
// launch returns at once. If there are so few items that a block soon reads all, no segment is too
// long.
//
// Short segments are reduced in a single launch. Blocks get equal shares of items plus ends of
// segments (segmented_reduce_share.h). A block processes its share in windows of as many items as
// it holds. A window within one segment is accumulated as in reduce.cu. Any other window is
// transposed through shared memory, so that a thread has contiguous items. The thread reduces them
// one after the other; at the last item of a segment, which a bit marks, it stores the sum and
// starts again. A segmented scan of the remaining sums completes the segments that began in other
// threads. Then results are written coalesced, one thread a segment. So an item costs the same
// wherever the ends are.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:32:4
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:32
// %RANGE% TUNE_MIN_BLOCKS mb 1:6:1
// %RANGE% TUNE_ITEMS_PER_VECTOR_LOG2 ipv 0:4:1
// %RANGE% TUNE_LOAD ld 0:2:1
// %RANGE% TUNE_ENDS_PER_THREAD ept 1:8:1
// %RANGE% TUNE_WAVES wav 1:8:1
// %RANGE% TUNE_LOOK lb 1:4:1
//
// ipt   items a thread in a window
// mb    least blocks a multiprocessor, which limits the registers a thread
// ipv   items a vector load (log2)
// ld    caching of the loads, see load_bytes16
// ept   ends of segments a thread: a window with more of them ends early
// wav   blocks, in multiples of those resident at once
// lb    tiles that a lane looks back at in one round, see lookback.h
//
// Traffic: the items and the offsets are read, one item a segment is written.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#include "block.h"
#include "input.h"
#include "operator.h"

DEFINE_INPUT(TUNE_IN, in_t, item_t)

#include "segmented_reduce_share.h"

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

static_assert(ITEMS <= 32, "a bit for each item of a thread");

union window_items {
    item_t item[PART * SIMT_THREADS];
    bytes16 alignment;
};

struct segmented_reduce_shared {
    window_items items;
    block_share share;
    block_reduce_storage<acc_t> reduce;
    // Data of a window:
    u32 last[WORDS];             // one bit an item: the last of a piece
    u16 rank[WINDOW];            // rank of the piece, for such an item
    acc_t sum[ENDS + 1];         // sums of pieces; last: items before the window's
    acc_t warp_left[SIMT_WARPS]; // remaining sum after the warp's last piece
    u32 warp_has_last[SIMT_WARPS];
    u32 ends; // number of segments that end in the window
    u32 open; // rank of the piece whose segment continues, or NONE
    u32 cut;  // end of the last segment that there is room for
};

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
    const u64 last_segment = s.share.end.segment;
    const u32 first = static_cast<u32>(at.item - window);
    const u32 most = s.share.end.item - window > WINDOW ? WINDOW + 1 : window_end;
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
    const u64 window = at.item / VECTOR * VECTOR, left = s.share.end.item - window;
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
        write_or_keep(a, s.share, at.segment + my_rank(k), sum, has(mine.empty, k));
    }
    const acc_t goes_on = open == NONE ? acc_identity() : s.sum[open];
    carry = ends ? goes_on : combine()(carry, goes_on);
    at = place{at.segment + ends, window + window_end};
}

// Reduces the block's share. Returns, in thread 0, the sum of the items after its last end.
FUNCTION acc_t reduce_share(const segmented_reduce_args& a, segmented_reduce_shared& s)
{
    place at = s.share.begin;
    const place end = s.share.end;
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

KERNEL(segmented_reduce_shares, segmented_reduce_args, segmented_reduce_shared)
{
    const ticket mine = take_share(a, s.share);
    const acc_t left = reduce_share(a, s);
    block_sync();
    finish_share(a, s.share, mine, left);
}

// ---- teams --------------------------------------------------------------------------------------
#include "segment_teams.h"

KERNEL(segmented_reduce_teams, segmented_reduce_args, segment_teams_shared)
{
    clear_counts(a);
    reduce_segments(a, s);
}

KERNEL(segmented_reduce_blocks, segmented_reduce_args, segment_teams_shared)
{
    reduce_segment_of_block(a, s);
    clear_counts(a);
}

KERNEL(segmented_reduce_sections, segmented_reduce_args, segment_teams_shared)
{
    (void)s;
    const u64 taken = static_cast<u32>(load_relaxed(a.messages));
    if (taken == 0) return; // the first long segment finds room, so that none is left over either
    reduce_sections(a, taken < a.capacity ? taken : a.capacity);
    if constexpr (TUNE_OWN_ENDS) reduce_left_over(a);
    block_sync();
    if (thread_id() == 0 && atomic_add(a.counts, 1) + 1 == block_count()) { // for the next call
        const u64 word = load_relaxed(a.messages);
        store_relaxed(a.messages, ((word >> 32) + 1) << 32);
    }
}
