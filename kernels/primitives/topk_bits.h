// Top-k of a segment of a key or two a thread by a block, in no order, for segmented_topk.cu.
//
// The threads keep the keys in registers. The range of keys that has the k-th is halved, at first
// by the highest bit in which keys differ: a barrier that counts tells how many lie in its lower
// half. That ends when all keys of the range are among the k, are one key, or are so few that each
// is compared with all: of many rows, one has its k-th key close to the next. A result stands where
// the counts of the warps before say.
//
// The code is short. Where rows are few, it comes from cold memory.
#pragma once
#include "integer.h"
#include "segment_topk.h"
#include "topk_team.h"

template <u32 ITEMS>
struct bits_shared {
    enum : u32 {
        EACH = ceil_div(ITEMS, static_cast<u32>(SIMT_THREADS)), // keys of a thread
        COUNTS = EACH * SIMT_WARPS,
        CROWD = 8 // keys of a range of which each is compared with all
    };
    row_key some[SIMT_WARPS], unset[SIMT_WARPS]; // bits that are set in a key, that are not in one
    u32 count[COUNTS];                           // keys of a warp before the range, and in it
    keyed_item<row_key, u32> crowd[CROWD];
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

// Returns the range of all keys, of whose width all bits are set. A thread's keys have the bits
// `some` set in one, and `unset` not in one.
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

// Writes those of a range's keys, each by a lane of the calling warp, that are among the k.
template <u32 ITEMS>
FUNCTION void put_crowd(const segmented_topk_args& a, const bits_shared<ITEMS>& s, u64 segment,
                        const key_range& range)
{
    enum : u32 { AT_ONCE = 4 };
    if (lane_id() >= range.count) return;
    const keyed_item<row_key, u32> mine = s.crowd[lane_id()];
    u32 rank = range.below;
    NO_UNROLL
    for (u32 first = 0; first < range.count; first += AT_ONCE) {
        UNROLL
        for (u32 j = first; j < first + AT_ONCE; j++)
            rank += j < range.count && goes_first(s.crowd[j % bits_shared<ITEMS>::CROWD], mine);
    }
    if (rank < a.k) put_result(a, segment, rank, static_cast<key_t>(mine.key), mine.index);
}

// Selects from a segment of up to ITEMS items. Called by all threads of a block.
template <u32 ITEMS>
FUNCTION void select_by_bits(const segmented_topk_args& a, bits_shared<ITEMS>& s, u64 segment,
                             u64 begin, u32 items)
{
    typedef bits_shared<ITEMS> shared;
    const auto in = input_from(a.in, begin);
    const u32 k = static_cast<u32>(TUNE_EQUAL_SIZE ? a.k : smaller(a.k, items));
    row_key key[shared::EACH], some = 0, unset = 0;
    UNROLL
    for (u32 e = 0; e < shared::EACH; e++) {
        const u32 index = e * SIMT_THREADS + thread_id();
        key[e] = 0;
        if (index >= items) continue;
        key[e] = encode(key_item(in, static_cast<u64>(index)));
        some |= key[e];
        unset |= static_cast<row_key>(~key[e]);
    }
    const auto is_item = [items](u32 e) { return e * SIMT_THREADS + thread_id() < items; };
    key_range range = range_of_all(s, some, unset, items);
    NO_UNROLL
    while (range.width > 0 && range.count > shared::CROWD && range.below + range.count != k) {
        range.width >>= 1;
        u32 lower = 0;
        UNROLL
        for (u32 e = 0; e < shared::EACH; e++)
            lower += block_sync_count(is_item(e) && range.has(key[e]), s.count);
        const bool has_kth = range.below + lower >= k;
        range.count = has_kth ? lower : range.count - lower;
        if (has_kth) continue;
        range.below += lower;
        range.first += range.width + 1;
    }
    const bool is_crowd =
        range.width > 0 && range.count <= shared::CROWD && range.below + range.count != k;

    enum : u32 { HERE = 1 << 16 }; // weight of a key of the range in a packed count
    u32 before[shared::EACH], within[shared::EACH]; // lanes with such a key
    UNROLL
    for (u32 e = 0; e < shared::EACH; e++) {
        before[e] = warp_ballot(FULL_WARP, is_item(e) && key[e] < range.first);
        within[e] = warp_ballot(FULL_WARP, is_item(e) && range.has(key[e]));
        if (lane_id() == 0)
            s.count[e * SIMT_WARPS + warp_id()] =
                count_set(before[e]) + count_set(within[e]) * HERE;
    }
    block_sync();
    UNROLL
    for (u32 e = 0; e < shared::EACH; e++) {
        u32 passed = 0; // keys of the warps before
        UNROLL
        for (u32 c = 0; c < shared::COUNTS; c += SIMT_WARP)
            if (c + lane_id() < e * SIMT_WARPS + warp_id()) passed += s.count[c + lane_id()];
        passed = warp_sum_word(FULL_WARP, passed);
        const u32 index = e * SIMT_THREADS + thread_id(), lanes_before = (1u << lane_id()) - 1u;
        const u32 in_range = passed / HERE + count_set(within[e] & lanes_before);
        const bool is_before = (before[e] >> lane_id() & 1u) != 0;
        const bool is_within = (within[e] >> lane_id() & 1u) != 0;
        const u32 rank = is_before ? passed % HERE + count_set(before[e] & lanes_before)
                                   : range.below + in_range;
        if (is_crowd && is_within)
            s.crowd[in_range] = {key[e], index};
        else if (is_before || (is_within && rank < k))
            put_result(a, segment, rank, static_cast<key_t>(key[e]), index);
    }
    if constexpr (!TUNE_EQUAL_SIZE)
        for (u32 rank = items + thread_id(); rank < a.k; rank += SIMT_THREADS)
            put_nothing(a, segment, rank);
    if (is_crowd) {
        block_sync();
        if (warp_id() == 0) put_crowd(a, s, segment, range);
    }
    block_sync(); // before the next segment's
}
