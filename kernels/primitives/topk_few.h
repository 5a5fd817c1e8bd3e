// Top-k of a short segment by a warp, for segmented_topk.cu.
//
// Up to two items a lane are all put in order (warp_order.h). Of more, at least k come up to the
// k-th of the lanes' lowest items, and where k is small not many more. If a warp has a lane for
// each of them, these are put in order; if not, topk_row.h selects. Where the result may stand in
// any order, the lanes' lowest keys alone are put in order, and an item counts those before it.
#pragma once
#include "segment_topk.h"
#include "warp_order.h"

typedef keyed_item<key_t, u32> few_item;

// Writes those of the lanes' items, in order, that are among the k.
template <int N>
FUNCTION void put_few(const segmented_topk_args& a, u64 segment, u32 count,
                      const few_item (&item)[N])
{
    UNROLL
    for (int j = 0; j < N; j++) {
        const u32 rank = lane_id() * N + static_cast<u32>(j);
        if (rank < a.k && rank < count) put_result(a, segment, rank, item[j].key, item[j].index);
    }
}

// Copies the items of a lane for which `hits` has a bit, all lanes' side by side, if there are no
// more than SIMT_WARP. Returns how many there are.
template <int N>
FUNCTION u32 gather_hits(const few_item (&item)[N], u32 hits, few_item (&few)[SIMT_WARP])
{
    const u32 through = warp_scan(count_set(hits), plus());
    const u32 all = warp_shuffle(through, SIMT_WARP - 1);
    if (all > SIMT_WARP) return all;
    u32 place = through - count_set(hits);
    UNROLL
    for (int j = 0; j < N; j++)
        if (hits >> j & 1u) few[place++] = item[j];
    warp_sync(FULL_WARP);
    return all;
}

// Orders what may be among the k, SIMT_WARP at most, if a warp has a lane for each; returns false
// if not. `few` is the warp's own.
template <int N>
FUNCTION bool order_lowest(const few_item (&item)[N], u32 k, few_item (&few)[SIMT_WARP],
                           few_item (&lowest)[1])
{
    lowest[0] = item[0];
    UNROLL
    for (int j = 1; j < N; j++)
        if (goes_first(item[j], lowest[0])) lowest[0] = item[j];
    warp_order(lowest);
    const few_item last = warp_shuffle(lowest[0], k - 1);
    u32 hits = 0; // a bit an item
    UNROLL
    for (int j = 0; j < N; j++) hits |= static_cast<u32>(!goes_first(last, item[j])) << j;
    const u32 all = gather_hits(item, hits, few);
    if (all > SIMT_WARP) return false;
    lowest[0] = lane_id() < all ? few[lane_id()] : few_item{static_cast<key_t>(~0ull), ~0u};
    warp_sync(FULL_WARP); // before the next segment's
    warp_order(lowest);
    return true;
}

// Returns the key of a rank among the lanes' keys.
FUNCTION key_t key_of_rank(key_t key, u32 rank)
{
    UNROLL
    for (u32 size = 2; size <= SIMT_WARP; size *= 2) {
        UNROLL
        for (u32 stride = size / 2; stride > 0; stride /= 2) {
            const u32 lane = lane_id() ^ (stride == size / 2 ? size - 1 : stride);
            const key_t other = warp_shuffle(key, lane);
            const bool lower = other < key;
            key = lower != (lane_id() > lane) ? other : key;
        }
    }
    return warp_shuffle(key, rank);
}

// Writes the lowest k items if a warp has a lane for each that may be among them; returns false if
// not. `few` is the warp's own.
template <int N>
FUNCTION bool put_lowest(const segmented_topk_args& a, u64 segment, u32 count,
                         const few_item (&item)[N], few_item (&few)[SIMT_WARP])
{
    key_t last = item[0].key;
    UNROLL
    for (int j = 1; j < N; j++) last = item[j].key < last ? item[j].key : last;
    last = key_of_rank(last, static_cast<u32>(a.k) - 1);
    u32 hits = 0; // a bit an item
    UNROLL
    for (int j = 0; j < N; j++) hits |= static_cast<u32>(item[j].key <= last) << j;
    const u32 all = gather_hits(item, hits, few);
    if (all > SIMT_WARP) return false;
    const few_item mine = few[lane_id()];
    u32 rank = 0;
    NO_UNROLL
    for (u32 j = 0; j < all; j++) rank += goes_first(few[j], mine);
    if (lane_id() < all && rank < a.k && rank < count)
        put_result(a, segment, rank, mine.key, mine.index);
    warp_sync(FULL_WARP); // before the next segment's
    return true;
}

// Selects from a segment of up to N items a lane; returns false if it was not done. Called by all
// lanes of a warp.
template <int N>
FUNCTION bool select_few(const segmented_topk_args& a, few_item (&few)[SIMT_WARP], u64 segment,
                         u64 begin, u32 count)
{
    if (N > 2 && a.k > SIMT_WARP) return false;
    const auto in = input_from(a.in, begin);
    few_item item[N], lowest[1];
    UNROLL
    for (int j = 0; j < N; j++) {
        const u32 index = static_cast<u32>(j) * SIMT_WARP + lane_id();
        item[j] = few_item{static_cast<key_t>(~0ull), index}; // behind the segment's own items
        if (index < count) item[j].key = encode(key_item(in, static_cast<u64>(index)));
    }
    if constexpr (N > 2 && TUNE_UNORDERED) {
        return put_lowest(a, segment, count, item, few);
    } else if constexpr (N > 2) {
        if (!order_lowest(item, static_cast<u32>(a.k), few, lowest)) return false;
        put_few(a, segment, count, lowest);
    } else {
        warp_order(item);
        put_few(a, segment, count, item);
    }
    return true;
}
