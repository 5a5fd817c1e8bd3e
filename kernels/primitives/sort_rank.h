// Ranks of a tile's keys by a digit: block_radix.h with the parameters of a variant of sort.cu.
#pragma once
#include "integer.h"
#include "radix.h"

// Returns the place of the thread's i-th item in the tile: warp-striped.
FUNCTION u32 item_index(int i) { return warp_striped_index<ITEMS>(i); }

// Digits of the thread's items, of at most 8 bits each, four in a register.
struct digits {
    u32 four[ceil_div(ITEMS, 4)];
    FUNCTION_MEMBER u32 at(int i) const { return four[i / 4] >> (i % 4 * 8) & 0xffu; }
    FUNCTION_MEMBER void set(int i, u32 v) // for i = 0, 1, 2, ... in turn
    {
        four[i / 4] = i % 4 ? four[i / 4] | v << (i % 4 * 8) : v;
    }
};

template <class C>
FUNCTION void count_in_warp(const key_t (&key)[ITEMS], const C& c, u32 (&counts)[WARPS][RADIX])
{
    warp_radix_count<TUNE_RADIX_BITS>(key, c, counts);
}
template <class C>
FUNCTION void number_in_warp(const key_t (&key)[ITEMS], const C& c, u32 (&counts)[WARPS][RADIX],
                             packed_places<ITEMS>& place)
{
    warp_radix_number<TUNE_RADIX_BITS>(key, c, counts, place);
}
// Gives the places in the sorted tile, and stores the keys there. Needs a barrier before and after.
template <class C>
FUNCTION void rank_in_tile(const key_t (&key)[ITEMS], const C& c, u32 (&counts)[WARPS][RADIX],
                           packed_places<ITEMS>& place, key_t* sorted)
{
    warp_radix_rank<TUNE_RADIX_BITS>(key, c, counts, place, sorted);
}

// Adds up the tile's items in each of the thread's bins. Needs a barrier before.
FUNCTION void tile_counts(const u32 (&counts)[WARPS][RADIX], u32 (&count)[BINS])
{
    block_radix_count<TUNE_RADIX_BITS>(counts, count);
}

// Gives the beginning of each of the thread's bins in the sorted tile. Replaces the warps' counts
// with the place of each warp's first item.
FUNCTION void tile_begins(u32 (&counts)[WARPS][RADIX], block_sum_storage<u32>& sum,
                          const u32 (&count)[BINS], u32 (&begin)[BINS])
{
    block_radix_begin<TUNE_RADIX_BITS>(counts, sum, count, begin);
}

// Turns numbers of warp_radix_number into places in the sorted tile. Needs a barrier before and
// after.
template <class C>
FUNCTION void place_in_tile(const key_t (&key)[ITEMS], const C& c,
                            const u32 (&counts)[WARPS][RADIX], packed_places<ITEMS>& place)
{
    block_radix_place<TUNE_RADIX_BITS>(key, c, counts, place);
}
