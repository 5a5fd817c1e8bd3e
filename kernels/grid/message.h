// Messages between blocks: a value passed through global memory without fences or a second kernel.
//
// A message is one 64-bit word for each 32 bits of the value: the value's bits in the low half, a
// tag in the high half. A word is written and read in one access, so that a reader that finds the
// expected tag in every word has read the value; no other ordering is needed. (Packing status and
// value into one word is due to Merrill and Garland, "Single-pass Parallel Prefix Scan with
// Decoupled Look-back", NVIDIA technical report NVR-2016-002. Splitting wide values over tagged
// words needs no 128-bit accesses.)
//
// The tag holds the launch's epoch, so that messages of earlier launches are never taken for those
// of this launch and the memory needs no clearing. A block's ticket is the epoch and the block's
// rank in the order in which blocks started. A block that waits only for lower ranks waits for
// running blocks, and cannot deadlock. TUNE_ORDER selects the source of the rank:
//     0   a counter in front of the messages: correct in whatever order blocks start
//     1   the block's index, if blocks start in order: saves the latency of an atomic
//     2   as 1, and a grid that fits a cluster sends its messages through the cluster (cluster.h)
//
// Memory: u64[1 + messages * words], zero before the first launch and then used by these kernels
// only.
#pragma once
#include "integer.h"
#include "simt.h"

enum message_status { MESSAGE_NONE = 0, MESSAGE_PARTIAL = 1, MESSAGE_COMPLETE = 2 };

enum { RANK_IS_INDEX = TUNE_ORDER && SIMT_BLOCKS_IN_ORDER };

struct ticket {
    u32 epoch;
    u32 rank;
};

// Takes the block's ticket: called by one thread a block, once a launch. Ranks are in the order of
// the calls, whatever TUNE_ORDER is, so that a block can tell that it is the last to arrive.
FUNCTION ticket take_ticket_in_order(u64* memory)
{
    const u64 t = atomic_add(memory, 1);
    return ticket{static_cast<u32>(t >> 32), static_cast<u32>(t)};
}
FUNCTION ticket take_ticket(u64* memory)
{
    if constexpr (RANK_IS_INDEX)
        return ticket{static_cast<u32>(load_relaxed(memory) >> 32), block_id()};
    return take_ticket_in_order(memory);
}

// Takes a block's ticket for all of its threads, which call it together; `shared` is in shared
// memory. If the rank is the index, only users of the epoch wait for a load.
FUNCTION ticket take_block_ticket(u64* memory, ticket& shared)
{
    if constexpr (RANK_IS_INDEX) return take_ticket(memory);
    if (thread_id() == 0) shared = take_ticket(memory);
    block_sync();
    return shared;
}

// Ends the launch's epoch, so that the next launch gets the next one. Called by one thread of the
// block of the highest rank, after it has heard of all other blocks: all tickets are taken then.
FUNCTION void close_tickets(u64* memory, ticket t)
{
    store_relaxed(memory, static_cast<u64>(t.epoch + 1u) << 32);
}

// Ends the launch's epoch where ranks are indices and no block hears of all others: each block
// calls it once, by a thread that has taken the ticket, and the last to call it ends the epoch.
FUNCTION void close_after_all(u64* memory, ticket t, u32 blocks)
{
    if (static_cast<u32>(atomic_add(memory, 1)) + 1 == blocks) close_tickets(memory, t);
}

FUNCTION u32 message_tag(ticket t, message_status status) { return t.epoch << 2 | status; }

template <class V>
FUNCTION constexpr int message_words()
{
    return static_cast<int>(ceil_div(sizeof(V), 4));
}

template <class V>
union message_bits {
    V value;
    u32 word[ceil_div(sizeof(V), 4)];
};

template <class V>
FUNCTION void message_send(u64* memory, u64 slot, V value, u32 tag)
{
    constexpr int words = message_words<V>();
    message_bits<V> bits;
    bits.word[words - 1] = 0;
    bits.value = value;
    UNROLL
    for (int w = 0; w < words; w++)
        store_relaxed(memory + 1 + slot * words + w, static_cast<u64>(tag) << 32 | bits.word[w]);
}

// Returns the status of the message in a slot, and gives its value if there is one.
template <class V>
FUNCTION message_status message_poll(const u64* memory, u64 slot, ticket t, V& value)
{
    constexpr int words = message_words<V>();
    message_bits<V> bits;
    const u64 first = load_relaxed(memory + 1 + slot * words);
    const u32 tag = static_cast<u32>(first >> 32);
    bool whole = tag >> 2 == (t.epoch & 0x3fffffffu);
    bits.word[0] = static_cast<u32>(first);
    UNROLL
    for (int w = 1; w < words; w++) {
        const u64 next = load_relaxed(memory + 1 + slot * words + w);
        whole = whole && static_cast<u32>(next >> 32) == tag;
        bits.word[w] = static_cast<u32>(next);
    }
    if (!whole) return MESSAGE_NONE;
    value = bits.value;
    return static_cast<message_status>(tag & 3u);
}

template <class V>
FUNCTION V message_wait(const u64* memory, u64 slot, ticket t)
{
    V value;
    while (message_poll(memory, slot, t, value) == MESSAGE_NONE) spin_pause();
    return value;
}
