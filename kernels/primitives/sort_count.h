// Counts of the keys by each digit, and what follows from them: where the bins of each pass begin,
// and which passes there are.
//
// Keys are read once for all digits. The lanes of a warp count in several copies of a histogram, in
// shared memory. The last block to arrive turns the counts of all blocks into the rest.
#pragma once
#include "integer.h"
#include "sort_route.h"

enum {
    WHOLE_DIGITS = ceil_div(KEY_BITS, TUNE_RADIX_BITS),
    DIGITS = TUNE_IN_PLACE ? ceil_div(WHOLE_DIGITS, 2) * 2 : WHOLE_DIGITS, // at most
    COPIES = 1 << TUNE_COPIES_LOG2,
    SPLITS = TUNE_BIN_ITEMS > 0,
    COUNTS_SPLIT = SPLITS && SPLIT_FLOATS, // splits by what is no digit
    COUNT_VECTOR = 16 / sizeof(key_t),
    COUNT_LOADS = 4,
    COUNT_TILE = SIMT_THREADS * COUNT_VECTOR * COUNT_LOADS
};

struct count_shared {
    u32 count[DIGITS + COUNTS_SPLIT][RADIX * COPIES];
    range_shared range;
    u32 last;          // 1: this is the last block to arrive
    u32 shared_digits; // bit d: all keys have the same digit d
    u32 crowded;       // 1: a bin has more keys than a block sorts alone
};

// Counts the digits of a key. ALL: keys have DIGITS digits, which saves a branch for each.
template <bool ALL>
FUNCTION void count_key(count_shared& s, key_t raw, const cut (&cuts)[DIGITS], u32 digits,
                        bool splits, const splitter& split)
{
    const key_t key = encode(raw);
    u32* const copy = s.count[0] + lane_id() % COPIES;
    UNROLL
    for (u32 d = 0; d < DIGITS; d++)
        if (ALL || d < digits)
            shared_add(copy + digit_of(key, cuts[d]) * COPIES + d * RADIX * COPIES, 1);
    if (COUNTS_SPLIT && splits)
        shared_add(copy + digit_of(key, split) * COPIES + digits * RADIX * COPIES, 1);
}

// Counts the keys from `begin` on, which are fewer than a tile: as vectors, but for the few behind
// the last. One by one they would take as long as a dozen tiles.
FUNCTION void count_rest(const sort_args& a, count_shared& s, u64 begin, const cut (&cuts)[DIGITS],
                         u32 digits, bool splits, const splitter& split)
{
    const u64 vectors_end = a.n / COUNT_VECTOR * COUNT_VECTOR;
    NO_UNROLL
    for (u64 at = begin + thread_id() * COUNT_VECTOR; at < vectors_end;
         at += SIMT_THREADS * COUNT_VECTOR) {
        key_t key[COUNT_VECTOR];
        load_keys<0>(first_of(a), at, key);
        UNROLL
        for (int j = 0; j < COUNT_VECTOR; j++)
            count_key<false>(s, key[j], cuts, digits, splits, split);
    }
    NO_UNROLL
    for (u64 i = vectors_end + thread_id(); i < a.n; i += SIMT_THREADS)
        count_key<false>(s, key_item(first_of(a), i), cuts, digits, splits, split);
}

template <bool ALL>
FUNCTION void count_tile(const sort_args& a, count_shared& s, u64 tile, const cut (&cuts)[DIGITS],
                         u32 digits, bool splits, const splitter& split)
{
    const u64 begin = tile * COUNT_TILE;
    if (begin + COUNT_TILE > a.n) {
        count_rest(a, s, begin, cuts, digits, splits, split);
        return;
    }
    key_t key[COUNT_LOADS][COUNT_VECTOR];
    UNROLL
    for (int l = 0; l < COUNT_LOADS; l++)
        load_keys<0>(first_of(a),
                     begin + (static_cast<u64>(l) * SIMT_THREADS + thread_id()) * COUNT_VECTOR,
                     key[l]);
    UNROLL
    for (int l = 0; l < COUNT_LOADS; l++) {
        UNROLL
        for (int j = 0; j < COUNT_VECTOR; j++)
            count_key<ALL>(s, key[l][j], cuts, digits, splits, split);
    }
}

// Turns the counts into the beginnings of the bins, a warp for each digit. Finds the digits that
// all keys share.
FUNCTION void scan_bins(const sort_args& a, count_shared& s)
{
    enum { EACH = ceil_div(RADIX, SIMT_WARP) }; // bins a lane
    for (u32 d = warp_id(); d < a.digits + (COUNTS_SPLIT && a.block_items > 0); d += WARPS) {
        u64* const bins = a.bins + d * RADIX;
        u64 count[EACH], sum = 0;
        UNROLL
        for (u32 j = 0; j < EACH; j++) {
            const u32 bin = lane_id() * EACH + j;
            count[j] = bin < RADIX ? load_relaxed(bins + bin) : 0;
        }
        UNROLL
        for (u32 j = 0; j < EACH; j++) {
            if (count[j] == a.n) shared_or(&s.shared_digits, 1u << d);
            if (SPLITS && a.block_items > 0 && d == split_number(a) && count[j] > a.block_items)
                s.crowded = 1;
            sum += count[j];
        }
        sum = warp_scan(sum, plus()) - sum;
        UNROLL
        for (u32 j = 0; j < EACH; j++) {
            const u32 bin = lane_id() * EACH + j;
            if (bin < RADIX) bins[bin] = sum;
            sum += count[j];
        }
    }
    block_sync();
}

// Gives each digit's pass its route. A digit that all keys share needs no pass. One is made where
// the output would have no writer, or where the input, which is the output, would have an odd
// number of passes after it.
FUNCTION void find_routes(const sort_args& a, const count_shared& s)
{
    const u32 all = (1u << a.digits) - 1u, mine = lane_id();
    u32 passes = all & ~s.shared_digits;
    if (!passes)
        passes = TUNE_IN_PLACE ? 3 : 1;
    else if (TUNE_IN_PLACE && count_set(passes) % 2)
        passes |= ~passes & (passes + 1u); // the lowest other one
    if (mine >= a.digits) return;
    const u32 later = count_set(passes >> mine); // passes from this one on
    u32 route = 0;
    if (a.block_items > 0 && count_set(passes) > 2 && !s.crowded)
        route = ROUTE_SPLIT;
    else if (passes >> mine & 1u)
        route = ROUTE_PASS | (later == count_set(passes) ? ROUTE_FIRST : 0) |
                (later == 1 ? ROUTE_LAST : 0) | (later % 2 ? 0 : ROUTE_TO_SPARE);
    routes_of(a)[mine] = route;
}
