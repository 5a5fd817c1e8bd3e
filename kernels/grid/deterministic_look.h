// Prefix of a tile, combined in an order that depends on the tile's number alone.
//
// Decoupled look-back (lookback.h) combines the totals and prefixes that happen to be there, which
// depends on timing. Here a tile waits for certain messages. 32 tiles make a group and 32 groups a
// stretch. The totals of the tiles before it in its group are combined as lanes are, and so are the
// totals of the groups before its own in the stretch. The prefix of the stretch comes as one
// message. The last tile of a group sends the group's total, and the last tile of a stretch sends
// the prefix of the next stretch. So nearly all messages are there at once, and the serial chain
// has one link in 1024 tiles.
#pragma once
#include "deterministic.h"
#include "message.h"

enum { GROUP = 32, STRETCH = 32 * GROUP }; // tiles

// First message slots of groups and of stretches; those of tiles begin at 0.
struct deterministic_slots {
    u64 groups, stretches;
};
FUNCTION deterministic_slots slots_of(u64 tiles)
{
    const u64 groups = ceil_div(tiles, GROUP);
    return deterministic_slots{tiles, tiles + groups};
}

// Optional value.
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

// Combines the first `count` messages from `slot` on, for all lanes of the calling warp.
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

// Returns the prefix of a tile, which excludes the tile, and sends the tile's contribution to later
// tiles. One warp of the block calls it, all lanes with the tile's total, and all lanes get the
// result. `first` precedes the first tile.
template <class V, class Op>
FUNCTION perhaps<V> deterministic_prefix(u64* messages, ticket mine, V total, Op op,
                                         perhaps<V> first)
{
    const u64 tile = mine.rank, group = tile / GROUP, stretch = tile / STRETCH;
    const u32 tag = message_tag(mine, MESSAGE_COMPLETE);
    const deterministic_slots slots = slots_of(block_count());
    const bool ends_group = tile % GROUP == GROUP - 1, ends_stretch = tile % STRETCH == STRETCH - 1;
    const perhaps<V> this_tile{total, true};
    if (lane_id() == 0 && !ends_group) message_send(messages, tile, total, tag);
    const perhaps<V> tiles =
        wait_for<V>(messages, group * GROUP, static_cast<u32>(tile % GROUP), mine, op);
    const perhaps<V> whole =
        join(tiles, this_tile, op); // total of the group, if this is its last tile
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
