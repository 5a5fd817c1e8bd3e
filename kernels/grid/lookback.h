// Decoupled look-back: the prefix of a tile from the tiles before it, in a single pass.
//
// Each tile publishes its own total at once and its inclusive prefix as soon as it is known. A warp
// looks back over the published totals until it meets a prefix (Merrill and Garland, "Single-pass
// Parallel Prefix Scan with Decoupled Look-back", NVR-2016-002). Tiles are numbered by ticket. If
// the tiles are few enough to be the blocks of one cluster (cluster.h), each tile sends its total
// to all later tiles, and no tile looks back.
//
//     TUNE_LOOK         tiles that a lane looks back at in one round
//     TUNE_POLL_DELAY   nanoseconds between two polls: a thousand blocks that poll without pause
//                       slow the messages
//     TUNE_FIRST_DELAY  nanoseconds before the first poll if there are MANY_TILES
#pragma once
#include "cluster.h"
#include "warp.h"

enum { MANY_TILES = 500 }; // fewer tiles finish before their polls interfere

// Combines the values of lanes 0 to `last`, the highest lane first; valid in lane 0.
template <class V, class Op>
FUNCTION V reduce_backwards(V value, u32 last, Op op)
{
    UNROLL
    for (u32 d = 1; d < SIMT_WARP; d *= 2) {
        const V other = warp_shuffle(value, lane_id() + d);
        if (lane_id() + d <= last) value = op(other, value);
    }
    return value;
}

// Values and states of TUNE_LOOK tiles that a lane has polled, the nearest first, counted back from
// a tile `from` that all lanes share.
template <class V>
struct look {
    V value[TUNE_LOOK];
    message_status status[TUNE_LOOK];
};

template <class V>
FUNCTION look<V> look_at_nothing()
{
    look<V> l;
    UNROLL
    for (int q = 0; q < TUNE_LOOK; q++) {
        l.value[q] = V{};
        l.status[q] = MESSAGE_NONE;
    }
    return l;
}

// Polls the tiles that have not answered yet. Tiles that have are not polled again, because polls
// slow the messages that all wait for.
template <class V>
FUNCTION void look_again(look<V>& l, const u64* messages, u64 from, ticket mine)
{
    UNROLL
    for (int q = 0; q < TUNE_LOOK; q++) {
        const u64 back = lane_id() * static_cast<u64>(TUNE_LOOK) + static_cast<u64>(q) + 1;
        // Ignores places before the first tile, which is complete.
        if (l.status[q] == MESSAGE_NONE && back <= from)
            l.status[q] = message_poll(messages, from - back, mine, l.value[q]);
    }
}

// Combination of a lane's tiles.
template <class V>
struct stretch {
    V value;              // from the nearest tile up to a complete one, or to the last
    bool known, complete; // all needed tiles have answered; one was complete
};

template <class V, class Op>
FUNCTION stretch<V> stretch_of(const look<V>& l, Op op)
{
    stretch<V> s{l.value[0], l.status[0] != MESSAGE_NONE, l.status[0] == MESSAGE_COMPLETE};
    UNROLL
    for (int q = 1; q < TUNE_LOOK; q++) {
        if (s.complete || !s.known) continue;
        s.known = l.status[q] != MESSAGE_NONE;
        s.complete = l.status[q] == MESSAGE_COMPLETE;
        if (s.known) s.value = op(l.value[q], s.value);
    }
    return s;
}

// Returns the combination of all tiles before `tile`, in all lanes of the calling warp. The first
// tile never calls it.
template <class V, class Op>
FUNCTION V look_back(const u64* messages, u64 tile, ticket mine, Op op)
{
    V prefix{};
    bool have_prefix = false;
    if (TUNE_FIRST_DELAY && block_count() >= MANY_TILES) spin_pause_for(TUNE_FIRST_DELAY);
    for (u64 from = tile;; from -= SIMT_WARP * TUNE_LOOK) {
        look<V> l = look_at_nothing<V>();
        stretch<V> s;
        u32 complete, needed = FULL_WARP;
        for (;;) {
            if (needed >> lane_id() & 1u) look_again(l, messages, from, mine);
            s = stretch_of(l, op);
            complete = warp_ballot(FULL_WARP, s.complete);
            const u32 known = warp_ballot(FULL_WARP, s.known);
            // Needs the lanes up to the first complete one, or all lanes.
            const u32 first = complete & (0u - complete);
            needed = complete ? first | (first - 1u) : FULL_WARP;
            if ((known & needed) == needed) break;
            spin_pause_for(TUNE_POLL_DELAY);
        }
        const u32 last = complete ? first_set(complete) : SIMT_WARP - 1;
        const V window = warp_shuffle(reduce_backwards(s.value, last, op), 0);
        prefix = have_prefix ? op(window, prefix) : window;
        have_prefix = true;
        if (complete) return prefix;
    }
}

// ---- messages of a tile -------------------------------------------------------------------------
// Returns the ticket with this block's tile. All threads call it once, and call cluster_ready
// before the total is sent.
template <class V>
FUNCTION ticket open_tile(u64* messages, ticket& of_block, cluster_inbox<V>& inbox)
{
    if (!in_one_cluster()) return take_block_ticket(messages, of_block);
    inbox_open(inbox, block_id());
    return ticket{0, block_id()};
}

// Publishes the tile's total, held by lane 0. One warp calls it, as soon as the total is known. A
// total is complete if no tile before it makes a difference to those after it.
template <class V>
FUNCTION void send_total(u64* messages, ticket mine, V total, bool complete = false)
{
    if (mine.rank > 0 && lane_id() == 0)
        message_send(messages, mine.rank, total,
                     message_tag(mine, complete ? MESSAGE_COMPLETE : MESSAGE_PARTIAL));
}
template <class V>
FUNCTION void send_total(u64* messages, ticket mine, V total, cluster_inbox<V>& inbox,
                         bool complete = false)
{
    if (!in_one_cluster()) {
        send_total(messages, mine, total, complete);
        return;
    }
    total = warp_shuffle(total, 0);
    if (lane_id() > mine.rank && lane_id() < block_count()) inbox_send(inbox, lane_id(), total);
}

// Returns the combination of the totals of all tiles before this one, of which there is at least
// one.
template <class V, class Op>
FUNCTION V totals_before(const cluster_inbox<V>& inbox, u32 tiles, Op op)
{
    inbox_wait(inbox);
    const V total = inbox_value(inbox, lane_id() < tiles ? tiles - 1 - lane_id() : 0);
    return warp_shuffle(reduce_backwards(total, tiles - 1, op), 0);
}

// Ends the launch's epoch, if this tile is the last to know its prefix; called by one lane. With
// RUNS a tile may know it before it hears of all others.
template <bool RUNS>
FUNCTION void close_tile(u64* messages, ticket mine)
{
    if constexpr (RUNS && RANK_IS_INDEX)
        close_after_all(messages, mine, block_count());
    else if (mine.rank + 1ull == block_count())
        close_tickets(messages, mine);
}

// Computes the exclusive prefix of a tile and publishes its inclusive prefix to tiles that look
// back. Called by the warp that has sent the total. `prefix` holds the value before the first tile
// if has_prefix is true, and becomes the value before this tile. Returns true if there is such a
// value. With RUNS totals may have been complete when they were sent: the last tile then hears of
// some tiles only, and the last to arrive ends the epoch.
template <bool RUNS = false, class V, class Op>
FUNCTION bool tile_prefix(u64* messages, ticket mine, V total, Op op, V& prefix, bool has_prefix,
                          const cluster_inbox<V>& inbox, bool complete = false)
{
    const u64 tile = mine.rank;
    if (in_one_cluster()) {
        if (tile == 0) return has_prefix;
        const V before = totals_before(inbox, mine.rank, op);
        prefix = has_prefix ? op(prefix, before) : before;
        return true;
    }
    if (tile > 0) {
        prefix = look_back<V>(messages, tile, mine, op);
        has_prefix = true;
    }
    if (lane_id() == 0) {
        close_tile<RUNS>(messages, mine);
        if (!complete || tile == 0)
            message_send(messages, tile, has_prefix ? op(prefix, total) : total,
                         message_tag(mine, MESSAGE_COMPLETE));
    }
    return has_prefix;
}
