// Digits of keys, and the ranking of a tile of keys by one of them: block_radix.h with the
// parameters of a variant.
//     TUNE_KEY             unsigned type of a key's size
//     TUNE_KEY_KIND        0 unsigned, 1 signed, 2 floating, 3 bool
//     TUNE_MANTISSA_BITS   of a floating key
//     TUNE_DESCENDING
#pragma once
#include "block_radix.h"

typedef TUNE_KEY key_t;

enum {
    RADIX = 1 << TUNE_RADIX_BITS,
    ITEMS = TUNE_ITEMS_PER_THREAD,
    TILE = ITEMS * SIMT_THREADS,
    BINS = radix_bins<TUNE_RADIX_BITS>(), // that a thread looks after
    KEY_BITS = 8 * sizeof(key_t),
    WARPS = SIMT_WARPS
};

typedef radix_code<TUNE_KEY_KIND, TUNE_MANTISSA_BITS, TUNE_DESCENDING, key_t> key_code;
FUNCTION key_t encode(key_t raw) { return key_code::encode(raw); }
FUNCTION key_t decode(key_t coded) { return key_code::decode(coded); }

FUNCTION u32 my_bin(int j) { return radix_bin<TUNE_RADIX_BITS>(j); }

// Items of a warp are neighbours, a row of them an item a lane.
FUNCTION u32 item_index(int i) { return warp_striped_index<ITEMS>(i); }

// A digit of each item, of 8 bits at most: four share a register.
struct digits {
    u32 four[(ITEMS + 3) / 4];
    FUNCTION_MEMBER u32 at(int i) const { return four[i / 4] >> (i % 4 * 8) & 0xffu; }
    FUNCTION_MEMBER void set(int i, u32 v) // in the order of the items
    {
        four[i / 4] = i % 4 ? four[i / 4] | v << (i % 4 * 8) : v;
    }
};

FUNCTION void count_in_warp(const key_t (&key)[ITEMS], cut c, u32 (&counts)[WARPS][RADIX])
{
    warp_radix_count<TUNE_RADIX_BITS>(key, c, counts);
}
FUNCTION void number_in_warp(const key_t (&key)[ITEMS], cut c, u32 (&counts)[WARPS][RADIX],
                             packed_places<ITEMS>& place)
{
    warp_radix_number<TUNE_RADIX_BITS>(key, c, counts, place);
}
// Places in the sorted tile, and the keys there. A barrier is before and after.
FUNCTION void rank_in_tile(const key_t (&key)[ITEMS], cut c, u32 (&counts)[WARPS][RADIX],
                           packed_places<ITEMS>& place, key_t* sorted)
{
    warp_radix_rank<TUNE_RADIX_BITS, TUNE_MATCH>(key, c, counts, place, sorted);
}

// How many items of the tile are in each of the thread's bins. A barrier is before it.
FUNCTION void tile_counts(const u32 (&counts)[WARPS][RADIX], u32 (&count)[BINS])
{
    block_radix_count<TUNE_RADIX_BITS>(counts, count);
}

// Where the thread's bins begin in the sorted tile. The warps' counts become their beginnings.
FUNCTION void tile_begins(u32 (&counts)[WARPS][RADIX], block_sum_storage<u32>& sum,
                          const u32 (&count)[BINS], u32 (&begin)[BINS])
{
    block_radix_begin<TUNE_RADIX_BITS>(counts, sum, count, begin);
}

// Numbers become places in the sorted tile. A barrier is before and after.
FUNCTION void place_in_tile(const key_t (&key)[ITEMS], cut c, const u32 (&counts)[WARPS][RADIX],
                            packed_places<ITEMS>& place)
{
    block_radix_place<TUNE_RADIX_BITS>(key, c, counts, place);
}
