// Top-k of a segment of a key or two a thread by a block, in no order, for segmented_topk.cu.
//
// The threads keep the keys in registers. The range of keys that has the k-th is halved, at first
// by the highest bit in which keys differ: a barrier that counts tells how many lie in its lower
// half. That ends when all keys of the range are among the k, or are one key, or are few. Each of
// the few is compared with all, since a row whose k-th key is close to the next would take many
// rounds. A result stands where the counts of the warps before say.
//
// The code is short, because few rows run it from a cold instruction cache.
#pragma once
#include "integer.h"
#include "segment_topk.h"
#include "topk_team.h"

template <u32 ITEMS>
struct bits_shared {
    enum : u32 {
        EACH = ceil_div(ITEMS, static_cast<u32>(SIMT_THREADS)), // keys of a thread
        COUNTS = EACH * SIMT_WARPS,
        FEW_LEFT = 8 // keys of a range of which each is compared with all
    };
    static_assert(ITEMS < 1 << 16 && SIMT_WARPS <= SIMT_WARP, "counts are packed, a lane a warp");
    row_key some[SIMT_WARPS], unset[SIMT_WARPS]; // bits that are set in a key, that are not in one
    u32 count[COUNTS];                           // keys of a warp before the range, and in it
    keyed_item<row_key, u32> few[FEW_LEFT];
};

FUNCTION row_key warp_or(row_key key)
{
    if constexpr (sizeof(row_key) == 4)
        return static_cast<row_key>(warp_or_word(FULL_WARP, static_cast<u32>(key)));
    const u64 wide = key;
    const u64 high = warp_or_word(FULL_WARP, static_cast<u32>(wide >> 32));
    return static_cast<row_key>(high << 32 | warp_or_word(FULL_WARP, static_cast<u32>(wide)));
}

// Keys from `first` to first + width: how many, and how many lie before them.
struct key_range {
    row_key first, width;
    u32 count, below;

    FUNCTION_MEMBER bool has(row_key key) const
    {
        return static_cast<row_key>(key - first) <= width;
    }
};

// Returns the range of all keys, of whose width all bits are set. `some` has the bits that are set
// in one of the thread's keys, `unset` those that are not set in one.
template <u32 ITEMS>
FUNCTION key_range range_of_all(bits_shared<ITEMS>& s, row_key some, row_key unset, u32 items)
{
    some = warp_or(some);
    unset = warp_or(unset);
    if (lane_id() == 0) {
        s.some[warp_id()] = some;
        s.unset[warp_id()] = unset;
    }
    block_sync();
    const u32 w = lane_id() < SIMT_WARPS ? lane_id() : 0;
    some = warp_or(s.some[w]);
    unset = warp_or(s.unset[w]);
    const row_key differ = some & unset, one = 1;
    const u32 bits = bit_length(static_cast<u64>(differ));
    const row_key width = bits ? static_cast<row_key>((one << (bits - 1) << 1) - 1) : row_key(0);
    return key_range{static_cast<row_key>(some & ~width), width, items, 0};
}

// Writes those of a range's few keys, each by a lane of the calling warp, that are among the k.
template <u32 ITEMS>
FUNCTION void put_few_left(const segmented_topk_args& a, const bits_shared<ITEMS>& s, u64 segment,
                           const key_range& range)
{
    enum : u32 { AT_ONCE = 4 };
    if (lane_id() >= range.count) return;
    const keyed_item<row_key, u32> mine = s.few[lane_id()];
    u32 rank = range.below;
    NO_UNROLL
    for (u32 first = 0; first < range.count; first += AT_ONCE) {
        UNROLL
        for (u32 j = first; j < first + AT_ONCE; j++)
            rank += j < range.count && goes_first(s.few[j % bits_shared<ITEMS>::FEW_LEFT], mine);
    }
    if (rank < a.k) put_result(a, segment, rank, static_cast<key_t>(mine.key), mine.index);
}

// True if the thread's e-th key is an item.
FUNCTION bool is_item(u32 e, u32 items) { return e * SIMT_THREADS + thread_id() < items; }

// Loads the thread's keys and returns the range of all.
template <u32 ITEMS, u32 EACH>
FUNCTION key_range load_keys(const segmented_topk_args& a, bits_shared<ITEMS>& s, u64 begin,
                             u32 items, row_key (&key)[EACH])
{
    const auto in = input_from(a.in, begin);
    row_key some = 0, unset = 0;
    UNROLL
    for (u32 e = 0; e < EACH; e++) {
        key[e] = 0;
        if (!is_item(e, items)) continue;
        key[e] = encode(key_item(in, static_cast<u64>(e * SIMT_THREADS + thread_id())));
        some |= key[e];
        unset |= static_cast<row_key>(~key[e]);
    }
    return range_of_all(s, some, unset, items);
}

// Halves the range that has the k-th key, until few keys are left in it, or one, or all are wanted.
// Returns true if few are left, some of which are not wanted.
template <u32 ITEMS, u32 EACH>
FUNCTION bool halve_range(bits_shared<ITEMS>& s, u32 items, u32 k, const row_key (&key)[EACH],
                          key_range& range)
{
    enum : u32 { FEW_LEFT = bits_shared<ITEMS>::FEW_LEFT };
    NO_UNROLL
    while (range.width > 0 && range.count > FEW_LEFT && range.below + range.count != k) {
        range.width >>= 1;
        u32 lower = 0;
        UNROLL
        for (u32 e = 0; e < EACH; e++)
            lower += block_sync_count(is_item(e, items) && range.has(key[e]), s.count);
        const bool has_kth = range.below + lower >= k;
        range.count = has_kth ? lower : range.count - lower;
        if (has_kth) continue;
        range.below += lower;
        range.first += range.width + 1;
    }
    return range.width > 0 && range.count <= FEW_LEFT && range.below + range.count != k;
}

enum : u32 { IN_RANGE = 1 << 16 }; // weight of a key of the range in a packed count

// Lanes of a warp whose keys lie before the range, and in it.
struct range_lanes {
    u32 before, within;
};

// Counts the keys of each warp, of those with the same e.
template <u32 ITEMS, u32 EACH>
FUNCTION void count_keys(bits_shared<ITEMS>& s, u32 items, const row_key (&key)[EACH],
                         const key_range& range, range_lanes (&lanes)[EACH])
{
    UNROLL
    for (u32 e = 0; e < EACH; e++) {
        const bool is_one = is_item(e, items);
        lanes[e].before = warp_ballot(FULL_WARP, is_one && key[e] < range.first);
        lanes[e].within = warp_ballot(FULL_WARP, is_one && range.has(key[e]));
        if (lane_id() == 0)
            s.count[e * SIMT_WARPS + warp_id()] =
                count_set(lanes[e].before) + count_set(lanes[e].within) * IN_RANGE;
    }
    block_sync();
}

// Returns the packed count of the keys of the warps before, and of all warps with a lower e.
template <u32 ITEMS>
FUNCTION u32 keys_before(const bits_shared<ITEMS>& s, u32 e)
{
    u32 passed = 0;
    UNROLL
    for (u32 c = 0; c < bits_shared<ITEMS>::COUNTS; c += SIMT_WARP)
        if (c + lane_id() < e * SIMT_WARPS + warp_id()) passed += s.count[c + lane_id()];
    return warp_sum_word(FULL_WARP, passed);
}

// Selects from a segment of up to ITEMS items. Called by all threads of a block.
template <u32 ITEMS>
FUNCTION void select_by_bits(const segmented_topk_args& a, bits_shared<ITEMS>& s, u64 segment,
                             u64 begin, u32 items)
{
    enum : u32 { EACH = bits_shared<ITEMS>::EACH };
    const u32 k = static_cast<u32>(TUNE_EQUAL_SIZE ? a.k : smaller(a.k, items));
    row_key key[EACH];
    range_lanes lanes[EACH];
    key_range range = load_keys(a, s, begin, items, key);
    const bool few_left = halve_range(s, items, k, key, range);
    count_keys(s, items, key, range, lanes);
    UNROLL
    for (u32 e = 0; e < EACH; e++) {
        const u32 passed = keys_before(s, e), lower_lanes = (1u << lane_id()) - 1u;
        const u32 index = e * SIMT_THREADS + thread_id();
        const u32 in_range = passed / IN_RANGE + count_set(lanes[e].within & lower_lanes);
        const bool is_before = (lanes[e].before >> lane_id() & 1u) != 0;
        const bool is_within = (lanes[e].within >> lane_id() & 1u) != 0;
        const u32 rank = is_before ? passed % IN_RANGE + count_set(lanes[e].before & lower_lanes)
                                   : range.below + in_range;
        if (few_left && is_within)
            s.few[in_range] = {key[e], index};
        else if (is_before || (is_within && rank < k))
            put_result(a, segment, rank, static_cast<key_t>(key[e]), index);
    }
    if constexpr (!TUNE_EQUAL_SIZE)
        for (u32 rank = items + thread_id(); rank < a.k; rank += SIMT_THREADS)
            put_nothing(a, segment, rank);
    if (few_left) {
        block_sync();
        if (warp_id() == 0) put_few_left(a, s, segment, range);
    }
    block_sync(); // before the next segment's
}
