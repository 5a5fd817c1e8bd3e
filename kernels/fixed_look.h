// What lies before a tile, in an order that the number of the tile alone lays down.
//
// Look-back (lookback.h) adds up whatever totals and prefixes it meets, which timing decides. Here
// a tile waits for certain ones: 32 tiles make a group and 32 groups a stretch; the totals of the
// tiles before it in its group are combined as lanes are, so are the totals of the groups before
// its own in the stretch, and what lies before the stretch comes as one message. The last tile of a
// group sends the group's total, the last one of a stretch what lies before the next. So nearly all
// of it is known at once, and the chain from stretch to stretch has one link in 1024 tiles.
#pragma once
#include "fixed.h"
#include "message.h"

enum { GROUP = 32, STRETCH = 32 * GROUP }; // tiles

// Where the messages of tiles, of groups and of stretches are.
struct fixed_slots {
    u64 groups, stretches;
};
FUNCTION fixed_slots slots_of(u64 tiles)
{
    const u64 groups = (tiles + GROUP - 1) / GROUP;
    return fixed_slots{tiles, tiles + groups};
}

// A value that there may not be.
template <class V>
struct perhaps {
    V value;
    bool is;
};
template <class V, class Op>
FUNCTION perhaps<V> join(perhaps<V> a, perhaps<V> b, Op op)
{
    if (!a.is) return b;
    if (!b.is) return a;
    return perhaps<V>{op(a.value, b.value), true};
}

// The first `count` messages from `slot` on combined, for all lanes of the calling warp.
template <class V, class Op>
FUNCTION perhaps<V> wait_for(const u64* messages, u64 slot, u32 count, ticket mine, Op op)
{
    if (count == 0) return perhaps<V>{V{}, false};
    V lane[LANES]{};
    UNROLL
    for (u32 l = 0; l < LANES; l++)
        if (lane_id() + l < count) lane[l] = message_wait<V>(messages, slot + lane_id() + l, mine);
    return perhaps<V>{warp_shuffle(lanes_reduce(lane, count, op), 0), true};
}

// The prefix of a tile, and the tile's contribution to those after it. One warp of the block calls
// it, all lanes with the tile's total. `first` is what comes before the first tile; the result, for
// all lanes, is what comes before this one.
template <class V, class Op>
FUNCTION perhaps<V> fixed_prefix(u64* messages, ticket mine, V total, Op op, perhaps<V> first)
{
    const u64 tile = mine.rank, group = tile / GROUP, stretch = tile / STRETCH;
    const u32 tag = message_tag(mine, MESSAGE_COMPLETE);
    const fixed_slots slots = slots_of(block_count());
    const bool ends_group = tile % GROUP == GROUP - 1, ends_stretch = tile % STRETCH == STRETCH - 1;
    const perhaps<V> own{total, true};
    if (lane_id() == 0 && !ends_group) message_send(messages, tile, total, tag);
    const perhaps<V> tiles =
        wait_for<V>(messages, group * GROUP, static_cast<u32>(tile % GROUP), mine, op);
    const perhaps<V> whole = join(tiles, own, op); // of the group, where it ends
    if (lane_id() == 0 && ends_group && !ends_stretch)
        message_send(messages, slots.groups + group, whole.value, tag);
    const perhaps<V> groups = wait_for<V>(messages, slots.groups + stretch * (STRETCH / GROUP),
                                          static_cast<u32>(group % (STRETCH / GROUP)), mine, op);
    perhaps<V> before = first;
    if (stretch > 0)
        before = perhaps<V>{message_wait<V>(messages, slots.stretches + stretch - 1, mine), true};
    before = join(before, groups, op);
    if (lane_id() == 0) {
        if (ends_stretch)
            message_send(messages, slots.stretches + stretch, join(before, whole, op).value, tag);
        if (tile + 1 == block_count()) close_tickets(messages, mine);
    }
    return join(before, tiles, op);
}
