// Top-k of a segment of up to 2048 items by a warp, for segmented_topk.cu.
//
// The warp keeps the keys in shared memory. Their span is cut into ROW_RANGES ranges of one width,
// and the keys in each are counted; the range of the k-th is the next span, until few keys come up
// to its end, which is once for random integers and twice for random floats. If that range is a
// single key, which too many items have, the first of these are taken. The span of the keys up to
// there is cut once more: they stand by ranges then, and an item compares itself with its own
// range's.
//
// The instructions of a warp decide how long it takes; no warp waits for another.
#pragma once
#include "segment_topk.h"
#include "topk_pool.h"

enum : u32 {
    ROW_RANGE_BITS = 8,
    ROW_RANGES = 1 << ROW_RANGE_BITS,
    LANE_RANGES = ROW_RANGES / SIMT_WARP, // those whose counts a lane adds up
    ROW_MOST = TUNE_ROW_MOST,             // keys to select, and to put in order
    ROW_AT_ONCE = 8                       // keys of a lane that are under way together
};

typedef pool_codes<(sizeof(key_t) > 4)>::type row_key;

template <u32 ITEMS>
struct row_shared {
    alignas(16) u32 count[ROW_RANGES + 1]; // of each range's keys, and of those of none
    // Indices of what may be among the k: as they come, by their keys' ranges, and in order.
    u16 lowest[ROW_MOST], by_range[ROW_MOST], in_order[ROW_MOST];
    // Encoded. A stretch is a lane's, of so odd a length that no two lanes use a bank; behind the
    // row's are keys that lie behind all.
    key_t key[ITEMS + 2 * SIMT_WARP];
};

struct lower_key {
    FUNCTION_MEMBER row_key operator()(row_key a, row_key b) const { return a < b ? a : b; }
};
struct higher_key {
    FUNCTION_MEMBER row_key operator()(row_key a, row_key b) const { return a > b ? a : b; }
};

struct row_span {
    row_key low, high; // both belong to it
    // Width of its ranges, log2.
    FUNCTION_MEMBER u32 shift() const
    {
        const u32 bits = bit_length(static_cast<u64>(high - low));
        return bits > ROW_RANGE_BITS ? bits - ROW_RANGE_BITS : 0;
    }
};

// Returns the range of a key that is not below `low`; ROW_RANGES if there is none.
FUNCTION u32 row_range(row_key key, row_key low, u32 shift)
{
    const row_key range = static_cast<row_key>(key - low) >> shift;
    return range < ROW_RANGES ? static_cast<u32>(range) : static_cast<u32>(ROW_RANGES);
}

// The keys of a row up to `last`; of those that are `last`, the first `ties`.
struct row_bound {
    row_key last;
    u32 ties;
};
enum : u32 { ALL_TIES = ~0u };

FUNCTION void clear_counts(u32* count)
{
    warp_sync(FULL_WARP);
    UNROLL
    for (u32 r = 0; r < LANE_RANGES; r++) count[r * SIMT_WARP + lane_id()] = 0;
    warp_sync(FULL_WARP);
}

// Reads the counts of the lane's ranges and returns the sum of those before them.
FUNCTION u32 counts_before(const u32* count, u32 (&mine)[LANE_RANGES])
{
    warp_sync(FULL_WARP);
    u32 sum = 0;
    UNROLL
    for (u32 r = 0; r < LANE_RANGES; r++) sum += mine[r] = count[lane_id() * LANE_RANGES + r];
    return warp_scan(sum, plus()) - sum;
}

// Calls take(index, key) for each key of the lane's stretch.
template <class Take>
FUNCTION void each_row_key(const key_t* keys, u32 stretch, Take take)
{
    u32 index = lane_id() * stretch, left = stretch;
    const key_t* at = keys + index; // the compiler adds a constant j to it for nothing
    NO_UNROLL
    for (; left >= ROW_AT_ONCE; left -= ROW_AT_ONCE) {
        row_key key[ROW_AT_ONCE];
        UNROLL
        for (u32 j = 0; j < ROW_AT_ONCE; j++) key[j] = at[j];
        UNROLL
        for (u32 j = 0; j < ROW_AT_ONCE; j++) take(index + j, key[j]);
        at += ROW_AT_ONCE;
        index += ROW_AT_ONCE;
    }
    NO_UNROLL
    for (; left > 0; left--) take(index++, static_cast<row_key>(*at++));
}

// Reads AT_ONCE keys of a lane from the beginning of `in` on, or as many of them as there are, and
// adds them to the lane's span.
template <bool WHOLE, u32 AT_ONCE, class In>
FUNCTION void read_step(const In& in, key_t* keys, u32 left, row_span& mine)
{
    key_t key[AT_ONCE];
    UNROLL
    for (u32 j = 0; j < AT_ONCE; j++)
        if (WHOLE || j * SIMT_WARP < left) key[j] = key_item(in, static_cast<u64>(j * SIMT_WARP));
    UNROLL
    for (u32 j = 0; j < AT_ONCE; j++) {
        if (!WHOLE && j * SIMT_WARP >= left) continue;
        const key_t encoded = encode(key[j]);
        mine.low = lower_key()(mine.low, encoded);
        mine.high = higher_key()(mine.high, encoded);
        keys[j * SIMT_WARP] = encoded;
    }
}

// Reads a row's keys and returns their span.
template <u32 ITEMS>
FUNCTION row_span read_row(const in_t& all, key_t* keys, u64 begin, u32 items, u32 stretch)
{
    constexpr u32 AT_ONCE = ITEMS > 512 ? 16 : 8, STEP = AT_ONCE * SIMT_WARP;
    row_span mine{static_cast<row_key>(~0ull), 0};
    u32 first = 0;
    NO_UNROLL
    for (; first + STEP <= items; first += STEP)
        read_step<true, AT_ONCE>(input_from(all, begin + first + lane_id()),
                                 keys + first + lane_id(), STEP, mine);
    if (first + lane_id() < items)
        read_step<false, AT_ONCE>(input_from(all, begin + first + lane_id()),
                                  keys + first + lane_id(), items - first - lane_id(), mine);
    for (u32 i = items + lane_id(); i < stretch * SIMT_WARP; i += SIMT_WARP)
        keys[i] = static_cast<key_t>(~0ull);
    return row_span{warp_shuffle(warp_reduce(mine.low, lower_key()), 0),
                    warp_shuffle(warp_reduce(mine.high, higher_key()), 0)};
}

// Returns a bound that k of a row's keys come up to, and of all that are kept `room` at most or,
// if too many are one key, k.
FUNCTION row_bound bound_of_row(const key_t* keys, u32 stretch, row_span over, u32 k, u32 room,
                                u32* count)
{
    u32 below = 0; // keys before the span
    NO_UNROLL
    for (;;) {
        const u32 shift = over.shift();
        clear_counts(count);
        each_row_key(keys, stretch, [&](u32, row_key key) {
            shared_add(&count[row_range(key, over.low, shift)], 1u);
        });
        u32 mine[LANE_RANGES], through = counts_before(count, mine);
        const u32 rank = k - 1 - below;
        u32 range = lane_id() * LANE_RANGES, before = through;
        UNROLL
        for (u32 r = 0; r < LANE_RANGES; r++) {
            through += mine[r];
            const bool is_behind = through <= rank;
            range += is_behind;
            before = is_behind ? through : before;
        }
        const u32 owner = first_set(warp_ballot(FULL_WARP, through > rank));
        range = warp_shuffle(range, owner);
        below += warp_shuffle(before, owner);
        over.low += static_cast<row_key>(range) << shift;
        const row_key width = static_cast<row_key>((1ull << shift) - 1);
        if (over.high - over.low > width) over.high = over.low + width;
        if (below + count[range] <= room) return row_bound{over.high, ALL_TIES};
        if (shift == 0) return row_bound{over.high, k - below};
    }
}

// Lists the keys for which takes(key) is true and returns how many there are. `takes` gives the
// same answers again when it is copied.
template <u32 ITEMS, class Takes>
FUNCTION u32 list_keys(row_shared<ITEMS>& s, u32 stretch, Takes takes)
{
    u32 mine = 0;
    Takes again = takes;
    each_row_key(s.key, stretch, [&](u32, row_key key) { mine += takes(key); });
    const u32 through = warp_scan(mine, plus());
    u16* next = s.lowest + (through - mine);
    each_row_key(s.key, stretch, [&](u32 index, row_key key) {
        if (again(key)) *next++ = static_cast<u16>(index);
    });
    return warp_shuffle(through, SIMT_WARP - 1);
}

// Lists the keys up to a bound, counts them by the ranges of a span, and returns how many there
// are.
template <u32 ITEMS>
FUNCTION u32 list_lowest(row_shared<ITEMS>& s, u32 stretch, row_span over, row_bound bound)
{
    const row_key last = bound.last;
    u32 found;
    if (bound.ties == ALL_TIES) {
        found = list_keys(s, stretch, [last](row_key key) { return key <= last; });
    } else {
        u32 ties = 0;
        each_row_key(s.key, stretch, [&](u32, row_key key) { ties += key == last; });
        ties = warp_scan(ties, plus()) - ties;
        found = list_keys(s, stretch, [last, bound, ties](row_key key) mutable {
            return key < last || (key == last && ties++ < bound.ties);
        });
    }
    clear_counts(s.count);
    const u32 shift = over.shift();
    for (u32 i = lane_id(); i < found; i += SIMT_WARP)
        shared_add(&s.count[row_range(s.key[s.lowest[i]], over.low, shift)], 1u);
    return found;
}

// Orders the listed items, which are counted by the ranges of a span, and returns their indices.
template <u32 ITEMS>
FUNCTION const u16* order_listed(row_shared<ITEMS>& s, u32 found, row_span over)
{
    const u32 shift = over.shift();
    u32 mine[LANE_RANGES], passed = counts_before(s.count, mine);
    UNROLL
    for (u32 r = 0; r < LANE_RANGES; r++) {
        s.count[lane_id() * LANE_RANGES + r] = passed;
        passed += mine[r];
    }
    warp_sync(FULL_WARP);
    // A range's count is the place of its next item, and in the end of the next range's first.
    if (shift == 0) { // a range is a key, whose items stand in order already
        NO_UNROLL
        for (u32 first = 0; first < found; first += SIMT_WARP) {
            const bool is_one = first + lane_id() < found;
            const u16 index = is_one ? s.lowest[first + lane_id()] : static_cast<u16>(0);
            const u32 range = row_range(s.key[index], over.low, shift);
            const u32 same =
                warp_match_bits<ROW_RANGE_BITS>(range) & warp_ballot(FULL_WARP, is_one);
            const u32 place = s.count[range] + count_set(same & ((1u << lane_id()) - 1));
            warp_sync(FULL_WARP);
            if (is_one && lane_id() == first_set(same)) s.count[range] += count_set(same);
            if (is_one) s.by_range[place] = index;
            warp_sync(FULL_WARP);
        }
        return s.by_range;
    }
    NO_UNROLL
    for (u32 i = lane_id(); i < found; i += SIMT_WARP) {
        const u16 index = s.lowest[i];
        s.by_range[shared_add(&s.count[row_range(s.key[index], over.low, shift)], 1u)] = index;
    }
    warp_sync(FULL_WARP);
    NO_UNROLL
    for (u32 i = lane_id(); i < found; i += SIMT_WARP) {
        const u16 index = s.by_range[i];
        const key_t key = s.key[index];
        const u32 range = row_range(key, over.low, shift), end = s.count[range];
        u32 place = range ? s.count[range - 1] : 0;
        NO_UNROLL
        for (u32 other = place; other < end; other++) {
            const u16 its_index = s.by_range[other];
            const key_t its = s.key[its_index];
            place += (its < key) | ((its == key) & (its_index < index));
        }
        s.in_order[place] = index;
    }
    warp_sync(FULL_WARP);
    return s.in_order;
}

// Selects from a segment of up to ITEMS items; k or their number is ROW_MOST at most. Called by
// all lanes of a warp.
template <u32 ITEMS>
FUNCTION void select_row(const segmented_topk_args& a, row_shared<ITEMS>& s, u64 segment, u64 begin,
                         u32 items)
{
    const u32 k = static_cast<u32>(smaller(a.k, items));
    // The k-th's range has room for a quarter of the k, or for half of what the lanes do at once.
    const u32 room = k + static_cast<u32>(larger(SIMT_WARP / 2, k / 4));
    const u32 stretch = ((items + SIMT_WARP - 1) / SIMT_WARP) | 1u;
    row_span all = read_row<ITEMS>(a.in, s.key, begin, items, stretch);
    const row_bound bound =
        bound_of_row(s.key, stretch, all, k, room < ROW_MOST ? room : ROW_MOST, s.count);
    all.high = bound.last;
    const u32 found = list_lowest(s, stretch, all, bound);
    const u16* const order = order_listed(s, found, all);
    for (u32 rank = lane_id(); rank < k; rank += SIMT_WARP)
        put_result(a, segment, rank, s.key[order[rank]], order[rank]);
    warp_sync(FULL_WARP); // before the next segment's
}
