// Shares of a segmented reduction (segmented_reduce.cu), and where results go: blocks get equal
// shares of items plus ends of segments (segments.h).
//
// The first segment of a share may have begun in earlier shares. A block sends its part of the
// segment that continues after its share. A block whose share ends the segment looks back
// (lookback.h) over the blocks without an end. The order of these additions depends on the offsets
// and the grid alone, so that a result is the same from run to run.
//
// The file that includes it has defined the input in_t.
#pragma once
#define TUNE_ORDER 0 // a block waits for earlier shares, whose blocks must have started
#define TUNE_POLL_DELAY 50
#define TUNE_FIRST_DELAY 0
#include "input.h"
#include "lookback.h"
#include "operator.h"
#include "segments.h"

static_assert(sizeof(acc_t) == TUNE_ACC_BYTES, "the descriptor has made room for these messages");

// Section of a long segment, which has `count` of them from number `first` on.
struct long_section {
    u64 segment;
    u32 first, count;
};
static_assert(sizeof(long_section) == 16, "the descriptor has made room for sections");

struct segmented_reduce_args {
    in_t in;
    out_t* out;
    segments set;
    u64* messages; // one per block; of teams: the number of sections, and of segments left over
    // Teams:
    u64 team_log2; // lanes of a team: up to a warp; more: the team is a block
    u64 turns;     // in each a warp, or the block, takes as many segments as it has teams
    u64 longest;   // most items of a segment that a team reduces
    u64 section;   // items of a longer one that a warp reduces
    u64 capacity;  // sections that there is room for
    u64* counts;   // blocks done, then the sums done of each long segment; segments left over
    long_section* sections;
    warp_words<acc_t>* sums; // of sections
    initial_t init;
    u64 has_init;
};

// Share of a block, in shared memory.
struct block_share {
    ticket block_ticket;
    place begin, end;
    acc_t first; // the share's part of its first segment
};

// Writes a segment's result from the reduction of its items. Indices count from its beginning.
FUNCTION void write_segment(const segmented_reduce_args& a, u64 segment, acc_t sum, bool empty)
{
#if defined(TUNE_ARG)
    if (sum.index >= 0) sum.index -= static_cast<i64>(segment_begin(a.set, segment));
#endif
    write_result(a, segment, sum, empty);
}

// Writes the result of a segment, but keeps the sum of the share's first segment, which needs the
// parts of earlier shares.
FUNCTION void write_or_keep(const segmented_reduce_args& a, block_share& s, u64 segment, acc_t sum,
                            bool empty)
{
    if (segment == s.begin.segment)
        s.first = sum;
    else
        write_segment(a, segment, sum, empty);
}

// Takes the block's share; shares are in the order of the tickets.
FUNCTION ticket take_share(const segmented_reduce_args& a, block_share& s)
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

// Tells the sum of the items after the share's last end, and writes the result of the segment that
// the share ends first. All threads call it; thread 0 has the sum.
FUNCTION void finish_share(const segmented_reduce_args& a, const block_share& s, ticket mine,
                           const acc_t& left)
{
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
        if (lane_id() == 0) write_segment(a, segment, sum, empty);
    }
}
