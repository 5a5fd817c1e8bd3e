// All passes of a sort by one block, in shared memory: of few items, or of those of a bin.
//
// Keys are coded, and beside each one with a value is the item's index; values move once, at the
// end. A pass reads one array and writes another. The bits to sort by, and the number of items a
// thread, are found at run time, so that the loops are short and not unrolled.
#pragma once
#include "integer.h"
#include "sort_rank.h"
#include "sort_splitter.h"

enum {
    PACKED = PAIRS && KEY_BITS == 32, // key and index are one word
    APART = PAIRS && !PACKED,
    ROWS_AT_ONCE = 4 // items that a thread has in flight
};

template <bool>
struct item_of {
    typedef key_t type;
};
template <>
struct item_of<true> {
    typedef u64 type;
};
typedef item_of<PACKED>::type item_t;

FUNCTION key_t key_of(item_t item) { return static_cast<key_t>(item); }
FUNCTION item_t item_from(key_t key, u32 index)
{
    if constexpr (PACKED) return static_cast<item_t>(static_cast<u64>(index) << 32 | key);
    return static_cast<item_t>(key);
}

// MOST: items of a block. ARRAYS: two that passes go back and forth between, or more.
template <int MOST, int ARRAYS>
struct share_shared {
    item_t item[ARRAYS][MOST];
    u32 index[ARRAYS][APART ? MOST : 1];
    u32 count[WARPS][RADIX]; // first counts, then the place of each warp's next item
    block_sum_storage<u32> sum;
    range_shared range;
    u32 constant; // 1 + the number of the last pass whose digit all keys share
};

// The block's items, and the bits that they are sorted by.
struct block_share {
    u32 first, count;
    u32 rows;                           // items a thread
    u32 all;                            // items of all blocks that sort together
    u32 begin_bit, end_bit, digit_bits; // of key - low
    u32 digits;
    key_t low;
};

FUNCTION block_share share_of(u32 first, u32 count)
{
    block_share mine{};
    mine.first = first;
    mine.count = mine.all = count;
    mine.rows = ceil_div(count, SIMT_THREADS);
    return mine;
}

FUNCTION cut cut_of(const block_share& mine, u32 digit)
{
    const u32 low = mine.begin_bit + digit * mine.digit_bits;
    if (low >= mine.end_bit) return cut{0, 0};
    return cut{
        low,
        (1u << (mine.end_bit - low < mine.digit_bits ? mine.end_bit - low : mine.digit_bits)) - 1u};
}
FUNCTION u32 digit_in(const block_share& mine, item_t item, cut c)
{
    return digit_of(static_cast<key_t>(key_of(item) - mine.low), c);
}

FUNCTION u32 index_at(const u32* index, item_t item, u32 at)
{
    if constexpr (PACKED) return static_cast<u32>(static_cast<u64>(item) >> 32);
    return APART ? index[at] : 0;
}

// Calls f(place, n) for every few of the thread's places, which are n at most and a warp apart. The
// places of a warp follow one another, so that it can rank its items in their order.
template <class F>
FUNCTION void for_rows(const block_share& mine, F f)
{
    NO_UNROLL
    for (u32 row = 0; row < mine.rows; row += ROWS_AT_ONCE)
        f((warp_id() * mine.rows + row) * SIMT_WARP + lane_id(), mine.rows - row);
}

// Counts the digits of the block's items, and gives the count of each of the thread's bins.
template <class S>
FUNCTION void count_by_digit(S& s, const block_share& mine, cut c, u32 from, u32 (&bin_count)[BINS])
{
    const item_t* const item = s.item[from];
    u32(&count)[RADIX] = s.count[warp_id()];
    warp_radix_clear<TUNE_RADIX_BITS>(count);
    for_rows(mine, [&](u32 at, u32 rows) {
        item_t it[ROWS_AT_ONCE];
        UNROLL
        for (u32 i = 0; i < ROWS_AT_ONCE; i++)
            it[i] = i < rows && at + i * SIMT_WARP < mine.count ? item[at + i * SIMT_WARP] : 0;
        UNROLL
        for (u32 i = 0; i < ROWS_AT_ONCE; i++)
            if (i < rows && at + i * SIMT_WARP < mine.count)
                shared_add(&count[digit_in(mine, it[i], c)], 1);
    });
    block_sync();
    tile_counts(s.count, bin_count);
}

// Sorts the block's items stably by the digit that was counted, from one array to another. Gives
// the beginning of each of the thread's bins. Needs a barrier afterwards.
template <class S>
FUNCTION void sort_by_digit(S& s, const block_share& mine, cut c, u32 from, u32 to,
                            const u32 (&bin_count)[BINS], u32 (&bin_begin)[BINS])
{
    const item_t* const item = s.item[from];
    u32* const count = s.count[warp_id()];
    const u32 below = (1u << lane_id()) - 1u;
    tile_begins(s.count, s.sum, bin_count, bin_begin);
    block_sync();
    for_rows(mine, [&](u32 at, u32 rows) {
        item_t it[ROWS_AT_ONCE];
        u32 index[ROWS_AT_ONCE];
        UNROLL
        for (u32 i = 0; i < ROWS_AT_ONCE; i++) {
            const bool there = i < rows && at + i * SIMT_WARP < mine.count;
            it[i] = there ? item[at + i * SIMT_WARP] : 0;
            index[i] = APART && there ? s.index[from][at + i * SIMT_WARP] : 0;
        }
        // Places past the end are the last of their warp: what they do to its bins is not read.
        UNROLL
        for (u32 i = 0; i < ROWS_AT_ONCE; i++)
            if (i < rows) {
                const u32 digit = digit_in(mine, it[i], c);
                const u32 same = warp_match_bits<TUNE_RADIX_BITS>(digit);
                const u32 place = count[digit] + count_set(same & below);
                warp_sync(FULL_WARP);
                if ((same & ~below) == below + 1u) count[digit] = place + 1u; // highest lane
                warp_sync(FULL_WARP);
                if (at + i * SIMT_WARP < mine.count) {
                    s.item[to][place] = it[i];
                    if constexpr (APART) s.index[to][place] = index[i];
                }
            }
    });
}

// Loads the share's items into the first array: code(i) is the coded key of item i of all. Needs a
// barrier afterwards. Gives the lowest and the highest of the thread's keys.
template <class S, class F>
FUNCTION void load_share(S& s, const block_share& mine, key_t& low, key_t& high, F code)
{
    low = static_cast<key_t>(~0ull);
    high = 0;
    for_rows(mine, [&](u32 at, u32 rows) {
        key_t key[ROWS_AT_ONCE];
        UNROLL
        for (u32 i = 0; i < ROWS_AT_ONCE; i++) {
            const u32 place = at + i * SIMT_WARP;
            key[i] = i < rows && place < mine.count ? code(mine.first + place) : 0;
        }
        UNROLL
        for (u32 i = 0; i < ROWS_AT_ONCE; i++) {
            const u32 place = at + i * SIMT_WARP;
            if (i < rows && place < mine.count) {
                s.item[0][place] = item_from(key[i], mine.first + place);
                if constexpr (APART) s.index[0][place] = mine.first + place;
                low = key[i] < low ? key[i] : low;
                high = key[i] > high ? key[i] : high;
            }
        }
    });
}

// Sorts the items in the first array by all digits, alone. Returns the array where they end, which
// all threads may read.
template <class S>
FUNCTION u32 sort_alone(S& s, const block_share& mine)
{
    u32 from = 0;
    if (thread_id() == 0) s.constant = 0;
    block_sync();
    for (u32 d = 0; d < mine.digits; d++) {
        const cut c = cut_of(mine, d);
        u32 count[BINS], begin[BINS];
        count_by_digit(s, mine, c, from, count);
        UNROLL
        for (int j = 0; j < BINS; j++)
            if (count[j] == mine.count) s.constant = d + 1;
        block_sync();
        if (s.constant == d + 1) continue;
        sort_by_digit(s, mine, c, from, 1 - from, count, begin);
        block_sync();
        from = 1 - from;
    }
    return from;
}

// Sorts the items in the first array, which are all that have these keys, by the bits in which the
// keys differ; low and high: those of the thread's keys.
template <class S>
FUNCTION u32 sort_range(S& s, block_share mine, key_t low, key_t high)
{
    block_range(low, high, s.range);
    mine.low = low;
    mine.end_bit = bits_of_range(low, high);
    mine.digits = ceil_div(mine.end_bit, TUNE_RADIX_BITS);
    mine.digit_bits = mine.digits ? ceil_div(mine.end_bit, mine.digits) : 1;
    return sort_alone(s, mine);
}
