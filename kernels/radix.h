// Digits of keys, and the ranking of a tile of keys by one of them.
//
// Keys travel as unsigned numbers of the same order. In a tile, each warp ranks its items among
// themselves: lanes with the same digit find each other by ballots or with the match instruction,
// so no atomics are needed, and counters of the warp's own say how many of a digit have come
// before. Then one thread a bin turns the warps' counts into places in the sorted tile.
//     TUNE_KEY             unsigned type of a key's size
//     TUNE_KEY_KIND        0 unsigned, 1 signed, 2 floating
//     TUNE_MANTISSA_BITS   of a floating key
//     TUNE_DESCENDING
#pragma once
#include "block.h"

typedef TUNE_KEY key_t;

enum {
    RADIX = 1 << TUNE_RADIX_BITS,
    ITEMS = TUNE_ITEMS_PER_THREAD,
    TILE = ITEMS * SIMT_THREADS,
    BINS = (RADIX + SIMT_THREADS - 1) / SIMT_THREADS, // that a thread looks after
    KEY_BITS = 8 * sizeof(key_t),
    WARPS = SIMT_WARPS
};

// ---- keys ---------------------------------------------------------------------------------------
// Floats order as sign and magnitude. NaN with a sign would come first: they wrap around to the
// end.
enum : u64 {
    SIGN = 1ull << (KEY_BITS - 1),
    FLIPPED = (TUNE_KEY_KIND == 1 ? SIGN : 0) ^ (TUNE_DESCENDING ? ~0ull : 0),
    NEGATIVE_NANS = TUNE_KEY_KIND == 2 ? (1ull << TUNE_MANTISSA_BITS) - 1 : 0
};

FUNCTION key_t encode(key_t raw)
{
    u64 key = raw;
    if (TUNE_KEY_KIND == 2) key = (key & SIGN ? ~key : key | SIGN) - NEGATIVE_NANS;
    return static_cast<key_t>(key ^ FLIPPED);
}

FUNCTION key_t decode(key_t coded)
{
    u64 key = coded ^ FLIPPED;
    if (TUNE_KEY_KIND == 2) {
        key += NEGATIVE_NANS;
        key = key & SIGN ? key ^ SIGN : ~key;
    }
    return static_cast<key_t>(key);
}

struct cut { // where a digit is in a key
    u32 shift, mask;
};

FUNCTION u32 digit_of(key_t key, cut c) { return static_cast<u32>(key >> c.shift) & c.mask; }

// ---- a tile -------------------------------------------------------------------------------------
FUNCTION u32 my_bin(int j) { return thread_id() * BINS + static_cast<u32>(j); }

// Items of a warp are neighbours, a row of them an item a lane.
FUNCTION u32 item_index(int i)
{
    return warp_id() * (SIMT_WARP * ITEMS) + lane_id() + static_cast<u32>(i) * SIMT_WARP;
}

// The item that the thread takes when all threads take neighbours.
FUNCTION u32 striped_index(int i) { return thread_id() + static_cast<u32>(i) * SIMT_THREADS; }

// A number for each of the thread's items, below 2^16: two share a register.
struct places {
    u32 two[(ITEMS + 1) / 2];
    FUNCTION_MEMBER u32 at(int i) const { return i % 2 ? two[i / 2] >> 16 : two[i / 2] & 0xffffu; }
    FUNCTION_MEMBER void set(int i, u32 v) // in the order of the items
    {
        two[i / 2] = i % 2 ? two[i / 2] | v << 16 : v;
    }
    FUNCTION_MEMBER void add(int i, u32 v) { two[i / 2] += i % 2 ? v << 16 : v; }
};

// A digit of each, of 8 bits at most.
struct digits {
    u32 four[(ITEMS + 3) / 4];
    FUNCTION_MEMBER u32 at(int i) const { return four[i / 4] >> (i % 4 * 8) & 0xffu; }
    FUNCTION_MEMBER void set(int i, u32 v) // in the order of the items
    {
        four[i / 4] = i % 4 ? four[i / 4] | v << (i % 4 * 8) : v;
    }
};

// How many items of the warp with the same digit are before each. Leaves the warp's counts.
FUNCTION void rank_in_warp(const key_t (&key)[ITEMS], cut c, u32 (&counts)[WARPS][RADIX],
                           places& place)
{
    u32* count = counts[warp_id()];
    UNROLL
    for (u32 b = 0; b < RADIX; b += SIMT_WARP)
        if (b + lane_id() < RADIX) count[b + lane_id()] = 0;
    warp_sync(FULL_WARP);
    const u32 below = (1u << lane_id()) - 1u;
    UNROLL
    for (int i = 0; i < ITEMS; i++) {
        const u32 digit = digit_of(key[i], c);
        const u32 same =
            TUNE_MATCH ? warp_match(FULL_WARP, digit) : warp_match_bits<TUNE_RADIX_BITS>(digit);
        const u32 before = count[digit] + count_set(same & below);
        place.set(i, before);
        warp_sync(FULL_WARP);
        if ((same & ~below) == below + 1u) count[digit] = before + 1u; // the highest of them
        warp_sync(FULL_WARP);
    }
}

// How many items of the tile are in each of the thread's bins. A barrier is before it.
FUNCTION void tile_counts(const u32 (&counts)[WARPS][RADIX], u32 (&count)[BINS])
{
    UNROLL
    for (int j = 0; j < BINS; j++) {
        count[j] = 0;
        if (my_bin(j) < RADIX) {
            UNROLL
            for (int w = 0; w < WARPS; w++) count[j] += counts[w][my_bin(j)];
        }
    }
}

// Where the thread's bins begin in the sorted tile. The warps' counts become their beginnings.
FUNCTION void tile_begins(u32 (&counts)[WARPS][RADIX], block_sum_storage<u32>& sum,
                          const u32 (&count)[BINS], u32 (&begin)[BINS])
{
    u32 all = 0;
    UNROLL
    for (int j = 0; j < BINS; j++) {
        begin[j] = all;
        all += count[j];
    }
    const u32 before = block_exclusive_sum(all, sum);
    UNROLL
    for (int j = 0; j < BINS; j++) {
        begin[j] += before;
        u32 next = begin[j];
        if (my_bin(j) < RADIX) {
            UNROLL
            for (int w = 0; w < WARPS; w++) {
                const u32 here = counts[w][my_bin(j)];
                counts[w][my_bin(j)] = next;
                next += here;
            }
        }
    }
}

// Places in a warp's bin become places in the sorted tile. A barrier is before and after.
FUNCTION void place_in_tile(const key_t (&key)[ITEMS], cut c, const u32 (&counts)[WARPS][RADIX],
                            places& place)
{
    const u32* begin = counts[warp_id()];
    UNROLL
    for (int i = 0; i < ITEMS; i++) place.add(i, begin[digit_of(key[i], c)]);
}
