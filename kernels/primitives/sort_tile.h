// One tile of a pass: sorted by a digit in shared memory, and written to the bins in runs.
//
// The digit is given by what digit_of(key, c) takes: a cut of the key's bits, or a splitter.
#pragma once
#include "integer.h"
#include "sort_look.h"
#include "sort_route.h"

enum {
    // Values reuse the keys' shared memory, or this much of it, in as few rounds as possible.
    VALUES_AT_ONCE = 40960 / sizeof(value_t),
    VALUE_ROOM = !PAIRS                  ? 1
                 : VALUES_AT_ONCE < TILE ? VALUES_AT_ONCE
                                         : TILE,
    ROUNDS = ceil_div(TILE, VALUE_ROOM)
};

union tile_shared { // used in turn
    key_t key[TILE];
    u16 index[PAIRS ? TILE : 1];
    value_t value[VALUE_ROOM];
};

struct pass_shared {
    tile_shared tile;
    u32 count[WARPS][RADIX]; // first counts, then the place of each warp's next item
    offset_t base[RADIX];    // place in the output minus place in the sorted tile, for each bin
    block_sum_storage<u32> sum;
    ticket tile_ticket;
};

FUNCTION void send_counts(const sort_args& a, u64 tile, const u32 (&count)[BINS])
{
    const message_status status = tile == 0 ? MESSAGE_COMPLETE : MESSAGE_PARTIAL;
    UNROLL
    for (int j = 0; j < BINS; j++)
        if (my_bin(j) < RADIX)
            store_relaxed(row_of(a, tile) + my_bin(j), counter_of(count[j], status));
}

// Loads where the bins begin, long before find_bases needs it.
FUNCTION void load_bases(const sort_args& a, pass_shared& s, u32 digit)
{
    UNROLL
    for (int j = 0; j < BINS; j++)
        if (my_bin(j) < RADIX)
            s.base[my_bin(j)] = static_cast<offset_t>(a.bins[digit * RADIX + my_bin(j)]);
}

FUNCTION void find_bases(const sort_args& a, pass_shared& s, ticket mine, const u32 (&count)[BINS],
                         const u32 (&begin)[BINS])
{
    UNROLL
    for (int j = 0; j < BINS; j++) {
        const u32 bin = my_bin(j);
        if (bin >= RADIX) continue;
        offset_t before = 0;
        if (mine.rank > 0) {
            before = look_back(a, mine.rank, bin);
            store_relaxed(row_of(a, mine.rank) + bin,
                          counter_of(before + count[j], MESSAGE_COMPLETE));
        }
        s.base[bin] += before - begin[j];
    }
    if (mine.rank + 1 == block_count() && thread_id() == 0) close_tickets(a.messages, mine);
}

// Loads a tile's keys, and encodes them in the first pass. Places past the end get the highest
// code.
template <bool WHOLE>
FUNCTION void load_keys(const sort_args& a, u64 first, u32 count, u32 route, key_t (&key)[ITEMS])
{
    if (TUNE_IN_LAZY && route & ROUTE_FIRST) {
        UNROLL
        for (int i = 0; i < ITEMS; i++)
            key[i] =
                WHOLE || item_index(i) < count ? key_item(first_of(a), first + item_index(i)) : 0;
    } else {
        const key_t* const in = keys_from(a, route) + first;
        UNROLL
        for (int i = 0; i < ITEMS; i++)
            key[i] = WHOLE || item_index(i) < count ? in[item_index(i)] : 0;
    }
    if (route & ROUTE_FIRST) {
        UNROLL
        for (int i = 0; i < ITEMS; i++) key[i] = encode(key[i]);
    }
    UNROLL
    for (int i = 0; i < ITEMS; i++)
        if (!WHOLE && item_index(i) >= count) key[i] = static_cast<key_t>(~0ull);
}

// Writes the sorted tile's keys to their bins, and keeps their digits for the values. A batch is
// loaded before it is stored, because the compiler cannot exclude that stores alias the loads.
template <bool WHOLE, bool LAST, class C>
FUNCTION void write_keys(key_t* out, const pass_shared& s, u32 count, const C& c, digits& digit)
{
    enum { BATCH = 16 };
    UNROLL
    for (int begin = 0; begin < ITEMS; begin += BATCH) {
        key_t key[BATCH];
        offset_t to[BATCH];
        UNROLL
        for (int j = 0; j < BATCH && begin + j < ITEMS; j++)
            key[j] = s.tile.key[striped_index(begin + j)];
        UNROLL
        for (int j = 0; j < BATCH && begin + j < ITEMS; j++) {
            const u32 bin = digit_of(key[j], c);
            if constexpr (PAIRS) digit.set(begin + j, bin);
            to[j] = s.base[bin] + striped_index(begin + j);
        }
        UNROLL
        for (int j = 0; j < BATCH && begin + j < ITEMS; j++)
            if (WHOLE || striped_index(begin + j) < count)
                out[to[j]] = LAST ? decode(key[j]) : key[j];
    }
}

template <bool WHOLE>
FUNCTION void write_values(const sort_args& a, pass_shared& s, u64 first, u32 count, u32 route,
                           const packed_places<ITEMS>& place, const digits& digit)
{
    const value_t* const in = values_from(a, route);
    value_t* const out = values_to(a, route);
    UNROLL
    for (int r = 0; r < ROUNDS; r++) {
        const u32 low = static_cast<u32>(r) * VALUE_ROOM;
        block_sync();
        UNROLL
        for (int i = 0; i < ITEMS; i++)
            if ((WHOLE || item_index(i) < count) && (ROUNDS == 1 || place.at(i) - low < VALUE_ROOM))
                s.tile.value[place.at(i) - low] = TUNE_INDICES && route & ROUTE_FIRST
                                                      ? index_value(first + item_index(i))
                                                      : in[first + item_index(i)];
        block_sync();
        UNROLL
        for (int i = 0; i < ITEMS; i++) {
            const u32 at = striped_index(i);
            if ((WHOLE || at < count) && (ROUNDS == 1 || at - low < VALUE_ROOM))
                out[static_cast<offset_t>(s.base[digit.at(i)] + at)] = s.tile.value[at - low];
        }
    }
}

// Returns true if the pass must be stable. Keys with the same digit may change places in the first
// pass, if all bits are sorted by: keys equal in all bits are indistinguishable.
FUNCTION bool order_matters(const sort_args& a, u32 route)
{
    return !(route & ROUTE_FIRST) || a.begin_bit > 0 || a.end_bit < KEY_BITS;
}

// Makes the compiler find the digits again later: registers are too few to keep them.
FUNCTION void forget(cut& c) { unknown_value(c.shift); }
FUNCTION void forget(splitter& p) { unknown_value(p.scale); }

// Sorts a tile of a pass by digit number d, and stores the items where the digits' bins begin.
template <bool WHOLE, bool IN_ORDER, class C>
FUNCTION void sort_tile(const sort_args& a, pass_shared& s, ticket mine, u64 first, u32 count,
                        u32 route, C c, u32 d)
{
    key_t key[ITEMS];
    packed_places<ITEMS> place;
    digits digit;
    u32 bin_count[BINS], bin_begin[BINS];
    if constexpr (KEY_BITS == 64)
        unknown_value(route); // of known codes the compiler would keep the keys beside them
    load_keys<WHOLE>(a, first, count, route, key);
    load_bases(a, s, d);
    if constexpr (IN_ORDER)
        count_in_warp(key, c, s.count);
    else
        number_in_warp(key, c, s.count, place);
    block_sync();
    tile_counts(s.count, bin_count);
    send_counts(a, mine.rank, bin_count);
    tile_begins(s.count, s.sum, bin_count, bin_begin);
    block_sync();
    forget(c);
    if constexpr (IN_ORDER)
        rank_in_tile(key, c, s.count, place, s.tile.key);
    else {
        place_in_tile(key, c, s.count, place);
        UNROLL
        for (int i = 0; i < ITEMS; i++) s.tile.key[place.at(i)] = key[i];
    }
    find_bases(a, s, mine, bin_count, bin_begin);
    block_sync();
    if (route & ROUTE_LAST)
        write_keys<WHOLE, true>(keys_to(a, route), s, count, c, digit);
    else
        write_keys<WHOLE, false>(keys_to(a, route), s, count, c, digit);
    if constexpr (PAIRS) write_values<WHOLE>(a, s, first, count, route, place, digit);
}
